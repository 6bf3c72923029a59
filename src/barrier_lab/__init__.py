"""Barrier Lab: run a small distributed PyTorch program and see what every rank did."""

import importlib

from barrier_lab.script import unused_worker

_HOME = {
    "run": "api",
    "run_many": "api",
    "load": "api",
    "Run": "result",
    "check": "exercises.check",
    "main": "cli",
}


def __getattr__(name: str):
    """Import lazily, so that reading traces does not require torch and ranks start quickly."""
    if name in _HOME:
        return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


unused_worker.watch()

__all__ = list(_HOME)
