"""Write what a rank does into its trace file: the recorder, and the hooks that see collectives, messages and sleeps."""
