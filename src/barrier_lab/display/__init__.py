"""Show a run: in the terminal, in a notebook, as HTML."""
