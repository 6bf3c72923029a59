"""What is given for a run, checked, and made into a plan."""
