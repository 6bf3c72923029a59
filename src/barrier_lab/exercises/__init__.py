"""Check solutions of the exercises and explain what is wrong with them."""
