"""Label calls whose names do not fit on their bars: above the bar, with a short line from the text to the bar."""

from collections.abc import Iterator
from dataclasses import dataclass

from barrier_lab.timeline.bar_text import Bar
from barrier_lab.timeline.releases import failing, together
from barrier_lab.timeline.shapes import INK, RED, WIDTH, Drawing, Grid, Label, Line
from barrier_lab.timeline.text_width import Taken, is_free, width_of

# Strategies for labelling the calls of a row, best first: number of the longest texts to skip, largest distance in
# points between calls that share a label, and whether to pack the texts to the left.  The first that fits all is used.
WAYS = (
    (0, 0.0, False),
    (1, 0.0, False),
    (1, 0.0, True),
    (2, 0.0, False),
    (2, 0.0, True),
    (0, 24.0, True),
    (0, 60.0, True),
    (1, 130.0, True),
    (1, 260.0, True),
)


@dataclass(slots=True)
class Flag:
    """One bar, or several that share a label; edges in points."""

    bars: list[Bar]
    edges: list[tuple[float, float]]

    @property
    def marks(self) -> list[float]:
        """x positions of the lines to the bars."""
        return [(a + b) / 2 for a, b in self.edges]

    @property
    def shared(self) -> bool:
        """Whether the label names several calls."""
        return sum(len(bar.calls) for bar in self.bars) > 1

    @property
    def narrow(self) -> bool:
        """Whether the text is placed beside the lines to the bars, not centred above the bar."""
        return self.edges[-1][1] - self.edges[0][0] <= (60 if self.shared else 8) or len(self.bars) > 1

    @property
    def texts(self) -> list[str]:
        """Possible texts, longest first."""
        if len(self.bars) > 1:
            calls = [call for bar in self.bars for call in bar.calls]
            return [failing(text, sum(bar.error for bar in self.bars)) for text in together(calls)]
        bar = self.bars[0]
        return bar.flag if self.narrow else list(dict.fromkeys([bar.words[0], *bar.flag[1:]]))


Placed = list[tuple[Flag, str, float, float]]  # flag, text, left edge of the text, and the mark next to it


def draw_flags(drawing: Drawing, grid: Grid, y: float, flags: list[Flag], colour: str, crossing: Taken) -> list[Bar]:
    """Label as many calls of a row as there is room for.  Returns the labelled bars."""
    best: Placed = []
    for skip, near, packed in WAYS:
        wanted = _gathered(flags, near)
        placed = _placed(wanted, skip, packed, grid.size, crossing, WIDTH - drawing.left - 2)
        if _count(placed) > _count(best):
            best = placed
        if len(placed) == len(wanted):
            break
    for flag, text, left, mark in best:
        stuck = any(bar.stuck for bar in flag.bars)
        ink = RED if stuck else colour
        if flag.shared:
            right = left + width_of(text, grid.size)
            near, far = (left - 1, flag.marks[0]) if left > mark else (right + 1, flag.marks[-1])
            drawing.lines.append(Line(near, y - 3.5, far, y - 3.5, ink))
            drawing.lines += [Line(x, y - 3.5, x, y, ink) for x in flag.marks]
        else:
            drawing.lines.append(Line(mark, y - grid.above + 3, mark, y, ink))
        drawing.labels.append(Label(left, y - grid.above / 2 - 0.5, text, grid.size, RED if stuck else INK))
    return [bar for flag, *_ in best for bar in flag.bars]


def _count(placed: Placed) -> int:
    return sum(len(flag.bars) for flag, *_ in placed)


def _gathered(flags: list[Flag], near: float) -> list[Flag]:
    """Merge flags within ``near`` points of each other.  Calls that did not return keep their own."""
    found: list[Flag] = []
    for flag in flags:
        close = found and flag.edges[0][0] - found[-1].edges[-1][1] < near
        if close and not any(bar.stuck or not bar.calls for bar in (*found[-1].bars, *flag.bars)):
            found[-1] = Flag(found[-1].bars + flag.bars, found[-1].edges + flag.edges)
        else:
            found.append(flag)
    return found


def _placed(flags: list[Flag], skip: int, packed: bool, size: float, crossing: Taken, high: float) -> Placed:
    """Place the flags that have room, skipping the ``skip`` longest texts of each."""
    taken: Taken = []
    placed: Placed = []
    for flag in flags:
        for text in flag.texts[min(skip, len(flag.texts) - 1) :]:
            width = width_of(text, size)
            rooms = [(left, x) for left, x in _rooms(flag, width, taken, crossing) if 0 <= left <= high - width]
            if rooms:
                left, mark = min(rooms) if packed else rooms[0]
                placed.append((flag, text, left, mark))
                lines = flag.marks if flag.shared else [mark]
                taken += [(left, left + width), (lines[0] - 1, lines[-1] + 1)]
                break
    return placed


def _rooms(flag: Flag, width: float, taken: Taken, crossing: Taken) -> Iterator[tuple[float, float]]:
    """Possible positions of a text of this width: its left edge, and the mark next to it."""
    a, b = flag.edges[0][0], flag.edges[-1][1]
    marks = (flag.marks[0], flag.marks[-1]) if flag.narrow else (a + 1, (a + b) / 2, b - 2)
    reach = 14 if flag.shared else 4
    for x in marks:
        # The text may be on either side of the releases that ended the calls.
        near = [box for box in crossing if abs(box[0] + 1 - x) < reach]
        others = taken + [box for box in crossing if box not in near]
        edges = [x, *(edge for box in near for edge in box)] if flag.shared else [x]
        sides = (min(edges) - 5 - width, max(edges) + 5)
        for left in sides if flag.narrow else reversed(sides):
            between = flag.shared and left + width > flag.marks[0] and left < flag.marks[-1]
            if not between and is_free(left, left + width, others):
                yield left, x
