"""Measure text, and find room for it next to other text."""

from functools import lru_cache
from unicodedata import east_asian_width

from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.ft2font import LoadFlags

Taken = list[tuple[float, float]]  # occupied intervals of a lane: left and right edges


def width_of(text: str, size: float, bold: bool = False) -> float:
    """Width of a line of text in points, in the font of the style file, which is wider than most."""
    return sum(_advance(letter, bold) for letter in text) * size


@lru_cache(maxsize=4096)
def _advance(letter: str, bold: bool) -> float:
    """Width of a character relative to the font size."""
    if east_asian_width(letter) in "WF":
        return 1.0  # not in this font; drawn with a fallback font
    font = get_font(findfont(FontProperties(family="DejaVu Sans", weight="bold" if bold else "normal")))
    font.set_size(100, 72)
    return font.load_char(ord(letter), flags=LoadFlags.NO_HINTING).linearHoriAdvance / 65536 / 100


def is_free(left: float, right: float, taken: Taken, apart: float = 4.0) -> bool:
    """Whether the interval between two edges is free, with a margin of ``apart`` points."""
    return all(right + apart <= begin or end + apart <= left for begin, end in taken)


def place(text: str, begin: float, end: float, size: float, taken: Taken, high: float) -> float | None:
    """Left edge for a text to the right or left of a line from ``begin`` to ``end``; None if there is no room."""
    width = width_of(text, size)
    for left in (end + 5, begin - 5 - width):
        if left >= 0 and left + width <= high and is_free(left, left + width, taken):
            return left
    return None
