"""Code that runs in a rank's process, around the experiment's own code."""
