"""Check what a learner hands in, and say what is wrong with it."""
