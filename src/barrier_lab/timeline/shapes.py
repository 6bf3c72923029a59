"""The marks of a timeline as plain data, in points from the top left corner of the plot."""

from dataclasses import dataclass, field

WIDTH = 720.0  # of the whole figure
LEAST = 2.0  # a bar narrower than this is merged
NOTCH = 4.0  # … but a call is never drawn narrower than this
INK, GREY, RED = "#222222", "#707070", "#C4122F"
TINT = 0.13  # opacity of the colour behind a hatch
HATCHES = {"barrier": "//", "collective": "..", "wait": "--", "p2p": "\\\\", "many": "|||"}


@dataclass(slots=True)
class Shape:
    """A filled polygon with a tooltip."""

    corners: list[tuple[float, float]]
    colour: str
    title: str
    tint: bool = False  # light
    edge: bool = False  # outlined in its colour


@dataclass(slots=True)
class Label:
    """A line of text, vertically centred at y."""

    x: float
    y: float
    text: str
    size: float
    colour: str = INK
    align: str = "left"
    bold: bool = False


@dataclass(slots=True)
class Line:
    """A straight line."""

    x0: float
    y0: float
    x1: float
    y1: float
    colour: str
    width: float = 1.0
    dashed: bool = False


@dataclass(slots=True)
class Drawing:
    """All marks of one timeline."""

    left: float
    plot: float  # width of the plot: from t = 0 to ``end``
    height: float  # of the plot
    end: float  # seconds
    bars: list[Shape] = field(default_factory=list)
    prints: list[Shape] = field(default_factory=list)
    hatches: dict[tuple[str, str], list[tuple[float, float, float, float]]] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)


@dataclass(slots=True)
class Grid:
    """Heights of a row and its lanes."""

    bar: float
    size: float  # font size on bars; 0: no text
    above: float = 0.0
    prints: float = 0.0
    flight: float = 0.0  # of one lane
    lanes: int = 0  # most lanes in a row
    gap: float = 0.0
    tops: list[float] = field(default_factory=list)  # top edge of the bars of each row
