"""The per-rank timeline of a run: ``describe`` it in words, or ``draw`` it as a figure, ``svg``, ``html`` or file."""

from barrier_lab.timeline.text_alternative import describe

__all__ = ["describe", "draw", "html", "save", "svg"]


def __getattr__(name: str):
    """Import what draws at its first use: matplotlib takes half a second to import, and need not be installed."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from barrier_lab.timeline import figure

    return getattr(figure, name)
