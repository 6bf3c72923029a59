"""Hang bench: programs with a known fault, and what the verdict and PyTorch's own means say of them."""
