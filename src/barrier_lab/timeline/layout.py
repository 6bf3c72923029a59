"""Lay out a timeline: margins, row heights, and bar edges."""

from itertools import pairwise

from barrier_lab.timeline.bar_text import Bar
from barrier_lab.timeline.bars import Row
from barrier_lab.timeline.model import SHORTEST, Story
from barrier_lab.timeline.release_lines import draw_passes, label_releases
from barrier_lab.timeline.row_shapes import draw_names, draw_row, fits, spread
from barrier_lab.timeline.shapes import LEAST, NOTCH, WIDTH, Drawing, Grid
from barrier_lab.timeline.text_width import width_of
from barrier_lab.trace.model import Trace


def lay_out(trace: Trace, story: Story, colours: list[str]) -> Drawing:
    """Lay out the timeline of a trace."""
    end = max(trace.end, SHORTEST)
    many = trace.world_size > 64
    left = 15 + width_of(f"rank {trace.world_size - 1}", 11.0, bold=True)
    found = story.rows
    drawing = Drawing(left, WIDTH - left - _right(found, end, left, many), 0.0, end)
    scale = drawing.plot / end
    edges = [_edges(row.bars, scale) for row in found]
    grid = _grid(found, edges)
    drawing.height = _stack(grid, found, (22.0 if story.released else 6.0) + (16.0 if story.mismatched else 0.0))
    passes = label_releases(drawing, grid, story.released, story.mismatched, scale)
    colours = colours[:1] if many else colours  # colours of rows this thin would blend into grey
    blocked = []
    for number, (row, spots) in enumerate(zip(found, edges, strict=True)):
        blocked.append(draw_row(drawing, grid, number, row, spots, colours[number % len(colours)], passes))
    draw_passes(drawing, grid, passes, blocked)
    draw_names(drawing, grid, found, colours)
    return drawing


def _right(found: list[Row], end: float, left: float, many: bool) -> float:
    """The right margin: room for open ends, and for texts on how ranks ended that do not fit in their rows."""
    margin = 20.0
    for row in found:
        if row.bad and not many:
            share = row.end / end
            need = width_of(row.after[-1], 10) + 22
            if share > 0:
                margin = max(margin, min((need - (WIDTH - left) * (1 - share)) / share, 170.0))
    return margin


def _edges(bars: list[Bar], scale: float) -> list[list[float]]:
    """Left and right edges of each bar.  Neighbours touch, and short calls take room from their neighbours."""
    spots = [[bar.begin * scale, bar.end * scale] for bar in bars]
    for here, after in pairwise(spots):
        here[1] = after[0]
    for i, bar in enumerate(bars):
        need = NOTCH - (spots[i][1] - spots[i][0])
        if need <= 0 or (bar.look == "work" and len(bars) > 1):
            continue
        if i and spots[i - 1][1] - spots[i - 1][0] >= need + (LEAST if bars[i - 1].look == "work" else NOTCH):
            spots[i][0] -= need
            spots[i - 1][1] -= need
        elif i + 1 == len(bars) or spots[i + 1][1] - spots[i + 1][0] >= need + NOTCH:
            spots[i][1] += need
            if i + 1 < len(bars):
                spots[i + 1][0] += need
    return spots


def _stack(grid: Grid, found: list[Row], y: float) -> float:
    """Stack the rows from ``y`` downwards.  Returns the total height."""
    for row in found:
        grid.tops.append(y + grid.above)
        lanes = min(len(spread(row.flights)), grid.lanes) if row.flights else 0
        y += grid.above + grid.bar + grid.prints + grid.flight * lanes + grid.gap
    return y + 4 - grid.gap / 2


def _grid(found: list[Row], edges: list[list[list[float]]]) -> Grid:
    count = len(found)
    if count > 64:
        pitch = max(960 / count, 1.5)
        return Grid(bar=pitch * 0.86, size=0.0, gap=pitch * 0.14)
    if count > 16:
        grid = Grid(bar=12.0, size=8.5, gap=3.0)
    elif count > 8:
        grid = Grid(bar=17.0, size=9.5, gap=6.0)
    else:
        grid = Grid(bar=28.0 if count <= 4 else 23.0, size=10.5, gap=9.0 if count <= 4 else 7.0)
    if count <= 16:
        grid.above = grid.size + 4
        flags = any(
            bar.flag and not fits(bar, b - a, grid)
            for r, s in zip(found, edges, strict=True)
            for bar, (a, b) in zip(r.bars, s, strict=True)
        )
        grid.above = grid.above if flags else 0.0
        grid.lanes = min(max((len(spread(row.flights)) for row in found), default=0), 3 if count <= 8 else 1)
        grid.flight = grid.size + 4
        grid.prints = 8.0 if any(row.prints for row in found) else 0.0
    else:
        grid.lanes, grid.flight = int(any(row.flights for row in found)), 3.0
        grid.prints = 3.0 if any(row.prints for row in found) and count <= 32 else 0.0
    return grid
