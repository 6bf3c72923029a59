"""Validate the arguments of a run and build a plan from them."""
