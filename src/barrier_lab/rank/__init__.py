"""Everything that happens in the process of a rank, around the experiment's own code."""
