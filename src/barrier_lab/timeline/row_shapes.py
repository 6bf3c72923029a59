"""Draw the rows of a timeline into a :class:`Drawing`."""

from barrier_lab.timeline.bar_text import Bar
from barrier_lab.timeline.bars import Row
from barrier_lab.timeline.callouts import Flag, draw_flags
from barrier_lab.timeline.release_lines import Pass
from barrier_lab.timeline.shapes import GREY, HATCHES, INK, RED, WIDTH, Drawing, Grid, Label, Line, Shape
from barrier_lab.timeline.text_width import Taken, is_free, place, width_of


def fits(bar: Bar, width: float, grid: Grid) -> str | None:
    """The longest text that fits on a bar of this width, or None."""
    if not grid.size or width < 16:
        return None
    bold = bar.look == "work" or bar.stuck
    margin = 8 if bar.look == "work" else 26  # leaves the hatch visible on both sides of the text
    if bar.name == "works" and grid.size < 9 and not bar.open:
        return None  # a crowded figure labels only calls
    words = bar.words if grid.above else [*bar.words, *bar.flag[-1:]]
    return next((w for w in words if width_of(w, grid.size, bold) <= width - margin), None)


def spread(flights: list[Bar]) -> list[list[Bar]]:
    """Distribute calls alongside the main thread over lanes without overlap, with separate lanes for each thread."""
    lanes: list[list[Bar]] = []
    for bar in sorted(flights, key=lambda bar: bar.begin):
        free = (lane for lane in lanes if lane[-1].end <= bar.begin and lane[-1].thread == bar.thread)
        lane = next(free, None)
        if lane is None:
            lanes.append([bar])
        else:
            lane.append(bar)
    return lanes


def draw_row(
    drawing: Drawing, grid: Grid, number: int, row: Row, spots: list[list[float]], colour: str, passes: list[Pass]
) -> Taken:
    """Draw the row of one rank.  Returns the stretches that release lines must not cross."""
    y = grid.tops[number]
    crossing = [(x - 1, x + 1) for x, last, _ in passes if number <= last]
    words = [fits(bar, b - a, grid) for bar, (a, b) in zip(row.bars, spots, strict=True)]
    if grid.above:
        flags = [
            Flag([bar], [(a, b)])
            for bar, (a, b), said in zip(row.bars, spots, words, strict=True)
            if bar.flag and not said
        ]
        named = [id(bar) for bar in draw_flags(drawing, grid, y, flags, colour, crossing)]
        for i, (bar, (a, b)) in enumerate(zip(row.bars, spots, strict=True)):
            if bar.flag and not words[i] and id(bar) not in named and width_of(bar.flag[-1], grid.size) < b - a - 8:
                words[i] = bar.flag[-1]
    for i, (bar, (a, b)) in enumerate(zip(row.bars, spots, strict=True)):
        apart = 0.9 if i + 1 < len(spots) and b - a > 3 and _is_cut(row.bars[i : i + 2], words[i : i + 2]) else 0.0
        _draw_bar(drawing, grid, y, bar, a, b - apart, colour, words[i])
    for t, title in row.prints if grid.prints else []:
        x, top = t * drawing.plot / drawing.end, y + grid.bar + 1.5
        drawing.prints.append(_rectangle(x - 0.9, x + 0.9, top, top + min(5.5, grid.prints), INK, title))
    _draw_flights(drawing, grid, y + grid.bar + grid.prints, row, colour, crossing)
    end = spots[-1][1] if spots else 0.0
    crossed = row.raised and any(bar.error and b > end - 12 for bar, (_, b) in zip(row.bars, spots, strict=True))
    label = _draw_ending(drawing, grid, y, row, end, crossing, cross=row.raised and not crossed)
    if grid.gap >= 5:
        return [(spots[0][0], end + 2), label] if spots else [label]
    return [(a + 1.5, b - 1.5) for bar, (a, b) in zip(row.bars, spots, strict=True) if bar.look != "work"] + [label]


def _is_cut(bars: list[Bar], words: list[str | None]) -> bool:
    """Whether to leave a gap between two bars: not between solid ones, unless both have a label."""
    return all(words) or any(bar.look != "work" for bar in bars)


def _rectangle(a: float, b: float, top: float, bottom: float, colour: str, title: str) -> Shape:
    return Shape([(a, top), (b, top), (b, bottom), (a, bottom)], colour, title)


def _draw_bar(
    drawing: Drawing, grid: Grid, y: float, bar: Bar, a: float, b: float, colour: str, words: str | None
) -> None:
    light = bar.look != "work"
    shown = RED if bar.stuck else colour
    shape = _rectangle(a, b, y, y + grid.bar, shown, bar.title)
    shape.tint, shape.edge = light, light and grid.bar > 6
    if shape.edge and b - a > 3:  # draw the edge inside the bar
        shape.corners = [(x + (0.5 if x == a else -0.5), h + (0.5 if h == y else -0.5)) for x, h in shape.corners]
    if bar.open:
        (left, top), _, (right, bottom), _ = shape.corners
        teeth = max(round(grid.bar / 4.5), 2)
        step = (bottom - top) / (2 * teeth)
        torn = [(right + (5.0 if i % 2 else 0.0), top + i * step) for i in range(2 * teeth + 1)]
        shape.corners = [(left, top), *torn, (left, bottom)]
    drawing.bars.append(shape)
    middle = y + grid.bar / 2
    width = width_of(words, grid.size, not light or bar.stuck) if words else 0.0
    if shape.edge and b - a > 2:
        clear = [((a + b - width) / 2 - 4, (a + b + width) / 2 + 4)] if words else []
        stretches = [(a, clear[0][0]), (clear[0][1], b)] if clear else [(a, b)]
        key = ("xx" if bar.stuck else HATCHES[bar.look], shown)
        drawing.hatches.setdefault(key, []).extend(
            (left, right, y, y + grid.bar) for left, right in stretches if right - left > 2
        )
    if words:
        ink = RED if bar.stuck else INK if light else "white"
        drawing.labels.append(Label((a + b) / 2, middle, words, grid.size, ink, "center", not light or bar.stuck))
    if bar.error:
        _cross(drawing, b, middle, min(grid.bar / 3, 5.0))


def _cross(drawing: Drawing, x: float, y: float, r: float) -> None:
    drawing.lines += [Line(x - r, y - r, x + r, y + r, RED, 2.0), Line(x - r, y + r, x + r, y - r, RED, 2.0)]


def _draw_flights(drawing: Drawing, grid: Grid, y: float, row: Row, colour: str, crossing: Taken) -> None:
    scale = drawing.plot / drawing.end
    for lane, bars in enumerate(spread(row.flights)[: grid.lanes]):
        middle = y + (lane + 0.5) * grid.flight
        spots = [(bar.begin * scale, max(bar.end * scale, bar.begin * scale + 1.5)) for bar in bars]
        taken = crossing + spots
        for bar, (a, b) in zip(bars, spots, strict=True):
            stretches = [(a, b)]
            if grid.size and grid.flight > 6:
                label = _name_flight(bar, a, b, grid.size, drawing.plot + 16, crossing, taken)
                if label:
                    left, text = label
                    right = left + width_of(text, grid.size)
                    drawing.labels.append(Label(left, middle, text, grid.size))
                    taken.append((left, right))
                    if a < left < b:
                        stretches = [(a, left - 4), (right + 4, b)]
                ends = (a,) if bar.open else (a, b)
                drawing.lines += [Line(x, middle - 3, x, middle + 3, colour, 1.4) for x in ends]
            drawing.bars += [_rectangle(c, d, middle - 0.8, middle + 0.8, colour, bar.title) for c, d in stretches]


def _name_flight(
    bar: Bar, a: float, b: float, size: float, high: float, crossing: Taken, taken: Taken
) -> tuple[float, str] | None:
    """Left edge and text of a call in flight: in a gap of its line if there is room, else next to it."""
    for words in bar.words[:2]:
        width = width_of(words, size)
        if width <= b - a - 24:
            left = (a + b - width) / 2
            return (left if is_free(left, left + width, crossing) else a + 10), words
    for words in bar.words:
        left = place(words, a, b, size, taken, high)
        if left is not None:
            return left, words
    return None


def _draw_ending(
    drawing: Drawing, grid: Grid, y: float, row: Row, x: float, crossing: Taken, cross: bool
) -> tuple[float, float]:
    """Draw the thin line after the last bar and how the rank ended.  Returns the extent of the text."""
    middle, high = y + grid.bar / 2, drawing.plot
    start = x + (13 if row.raised else 8)
    label = (start, start)
    if cross:
        _cross(drawing, x + 1, middle, min(grid.bar / 3, 5.0))
    if grid.size and row.after:
        limit = WIDTH - drawing.left - 2
        starts = [start, *(right + 5 for _, right in crossing if right + 5 > start)]
        found = ((w, s) for w in row.after for s in starts if _free_from(w, s, limit, grid.size, crossing))
        text, left = next(found, (row.after[-1] if row.bad else "", start))
        if text:
            drawing.labels.append(Label(left, middle, text, grid.size, RED if row.bad else GREY))
            if left - start > 12:
                drawing.lines.append(Line(start - 4, middle, left - 5, middle, GREY, 0.8))
            label = (left - 2, left + width_of(text, grid.size) + 2)
            start = label[1] + 4
    if start + 12 < high and row.end < drawing.end and (row.after or not row.bars or not row.bars[-1].open):
        drawing.lines.append(Line(start, middle, high, middle, GREY, 0.8))
    return label


def _free_from(text: str, left: float, limit: float, size: float, taken: Taken) -> bool:
    right = left + width_of(text, size)
    return right <= limit and is_free(left, right, taken)


def draw_names(drawing: Drawing, grid: Grid, found: list[Row], colours: list[str]) -> None:
    """Draw the rank number of every row, or of as many as have room."""
    size = min(max(grid.size, 8.5) + 0.5, 11.0)
    step = 1
    pitch = (grid.tops[-1] - grid.tops[0]) / max(len(found) - 1, 1)
    while len(found) > 1 and step * pitch < size + 2:
        step *= 2
    for number in range(0, len(found), step):
        y = grid.tops[number] + grid.bar / 2
        drawing.labels.append(Label(-10, y, f"rank {number}", size, colours[number % len(colours)], "right", True))
