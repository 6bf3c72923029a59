"""Start the ranks of a run, watch over them, and end them all."""
