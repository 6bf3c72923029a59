"""Measure words, and find room for them beside others."""

from functools import lru_cache

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

Taken = list[tuple[float, float]]  # what already stands in a lane: left and right edges


@lru_cache(maxsize=20_000)
def width_of(text: str, size: float, bold: bool = False) -> float:
    """Width of a line of text in points, in the font of the style file (a wide one: others need less)."""
    prop = FontProperties(family="DejaVu Sans", size=size, weight="bold" if bold else "normal")
    return text_to_path.get_text_width_height_descent(text, prop, ismath=False)[0]


def is_free(left: float, right: float, taken: Taken, apart: float = 4.0) -> bool:
    """Nothing stands between two edges."""
    return all(right + apart <= begin or end + apart <= left for begin, end in taken)


def place(text: str, x: float, size: float, taken: Taken, high: float, left_first: bool = False) -> float | None:
    """Where a text has room beside a mark at ``x``: its left edge; None if it has not."""
    width = width_of(text, size)
    sides = (x + 5, x - 5 - width)
    for left in reversed(sides) if left_first else sides:
        if left >= 0 and left + width <= high and is_free(left, left + width, taken):
            return left
    return None
