"""Start, supervise and terminate the ranks of a run."""
