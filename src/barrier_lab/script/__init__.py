"""What a script says of itself, read without running it."""
