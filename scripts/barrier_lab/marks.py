"""Draw the rows of a timeline, and its releases, into a :class:`Drawing`."""

from .bars import Bar, Row
from .drawing import GREY, HATCHES, INK, RED, WIDTH, Drawing, Grid, Label, Line, Shape
from .labels import Taken, is_free, place, width_of
from .releases import Mismatch, Release
from .words import ordinal as nth
from .words import who

CLOSE = 10.0  # points between release lines: closer together they would be a curtain
Pass = tuple[float, int, str]  # a release line: its x, the last row that it reaches, its colour


def fits(bar: Bar, width: float, grid: Grid) -> str | None:
    """The longest words that stand on a bar of this width."""
    if not grid.size or width < 16:
        return None
    bold = bar.look == "work" or bar.stuck
    if bar.name == "works" and grid.size < 9 and not bar.open:
        return None  # in a crowded figure only what a rank does in a call is said
    words = bar.words if grid.above or not bar.short else [*bar.words, bar.short]
    return next((w for w in words if width_of(w, grid.size, bold) <= width - 8), None)


def spread(flights: list[Bar]) -> list[list[Bar]]:
    """Calls in flight, spread so that those in one lane do not overlap."""
    lanes: list[list[Bar]] = []
    for bar in sorted(flights, key=lambda bar: bar.begin):
        lane = next((lane for lane in lanes if lane[-1].end <= bar.begin), None)
        if lane is None:
            lanes.append([bar])
        else:
            lane.append(bar)
    return lanes


def draw_row(
    drawing: Drawing, grid: Grid, number: int, row: Row, spots: list[list[float]], colour: str, passes: list[Pass]
) -> tuple[float, float]:
    """Draw all of one rank; return the stretch behind its last bar that release lines may cross."""
    y = grid.lane(number)
    crossing = [(x - 1, x + 1) for x, last, _ in passes if number <= last]
    taken = crossing.copy()
    for i, (bar, (a, b)) in enumerate(zip(row.bars, spots, strict=True)):
        words = fits(bar, b - a, grid)
        if not words and grid.above and bar.flag and not _flag(drawing, grid, y, bar, a, b, colour, taken):
            words = bar.short if bar.short and width_of(bar.short, grid.size) < b - a - 4 else None
        _draw_bar(drawing, grid, y, bar, a, b - (0.9 if i + 1 < len(spots) and b - a > 3 else 0.0), colour, words)
    for t, title in row.prints if grid.prints else []:
        x, top = t * drawing.plot / drawing.end, y + grid.bar + 1.5
        drawing.prints.append(_rectangle(x - 0.7, x + 0.7, top, top + min(5.0, grid.prints), GREY, title))
    _draw_flights(drawing, grid, y + grid.bar + grid.prints, row, colour, crossing)
    return _draw_ending(drawing, grid, y, row, spots[-1][1] if spots else row.end, crossing)


def _flag(drawing: Drawing, grid: Grid, y: float, bar: Bar, a: float, b: float, colour: str, taken: Taken) -> bool:
    """Name a call above its bar, with a short line from the words to the bar; False if there is no room."""
    notch = b - a <= 8
    for text in bar.flag if notch else [*bar.words[:1], *bar.flag[-1:]]:
        for x in ((a + b) / 2,) if notch else (a + 1, (a + b) / 2, b - 2):
            # The words of a call that returned at once may stand on either side of the release that ended it.
            others = [box for box in taken if not (notch and abs((box[0] + box[1]) / 2 - x) < 4)]
            left = place(text, x, grid.size, others, drawing.plot + 16, left_first=notch)
            if left is not None:
                taken += [(left, left + width_of(text, grid.size)), (x - 1, x + 1)]
                drawing.lines.append(Line(x, y - grid.above + 3, x, y, RED if bar.stuck else colour))
                ink = RED if bar.stuck else INK
                drawing.labels.append(Label(left, y - grid.above / 2 - 0.5, text, grid.size, ink))
                return True
    return False


def _rectangle(a: float, b: float, top: float, bottom: float, colour: str, title: str) -> Shape:
    return Shape([(a, top), (b, top), (b, bottom), (a, bottom)], colour, title)


def _draw_bar(
    drawing: Drawing, grid: Grid, y: float, bar: Bar, a: float, b: float, colour: str, words: str | None
) -> None:
    light = bar.look != "work"
    shown = RED if bar.stuck else colour
    shape = _rectangle(a, b, y, y + grid.bar, shown, bar.title)
    shape.tint = light
    if light and b - a > 3:  # the edge is drawn inside the bar
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
    if light and b - a > 5:
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
        taken = crossing + [(bar.begin * scale, bar.end * scale) for bar in bars]
        for bar in bars:
            a, b = bar.begin * scale, max(bar.end * scale, bar.begin * scale + 1.5)
            gaps: list[tuple[float, float]] = []
            if grid.size and grid.flight > 6:
                text = next((w for w in bar.words[:2] if width_of(w, grid.size) <= b - a - 24), None)
                if text:
                    width = width_of(text, grid.size)
                    left = (a + b - width) / 2
                    if not is_free(left, left + width, crossing):
                        left = a + 10
                    gaps = [(left - 4, left + width + 4)]
                    drawing.labels.append(Label(left, middle, text, grid.size))
                else:
                    others = [box for box in taken if box != (bar.begin * scale, bar.end * scale)]
                    for words in bar.words:
                        left = place(words, b, grid.size, others, drawing.plot + 16)
                        if left is not None:
                            drawing.labels.append(Label(left, middle, words, grid.size))
                            taken.append((left, left + width_of(words, grid.size)))
                            break
                ends = (a,) if bar.open else (a, b)
                drawing.lines += [Line(x, middle - 3, x, middle + 3, colour, 1.4) for x in ends]
            stretches = [(a, gaps[0][0]), (gaps[0][1], b)] if gaps else [(a, b)]
            drawing.bars += [_rectangle(c, d, middle - 0.8, middle + 0.8, colour, bar.title) for c, d in stretches]


def _draw_ending(drawing: Drawing, grid: Grid, y: float, row: Row, x: float, crossing: Taken) -> tuple[float, float]:
    """The thin line behind the last bar and how the rank ended."""
    middle, high = y + grid.bar / 2, drawing.plot
    start = x + 8
    if row.raised:
        _cross(drawing, x + 1, middle, min(grid.bar / 3, 5.0))
        start += 5
    if grid.size and row.after:
        limit = WIDTH - drawing.left - 2
        starts = [start, *(right + 5 for _, right in crossing if right + 5 > start)]
        found = ((w, s) for w in row.after for s in starts if _free_from(w, s, limit, grid.size, crossing))
        text, left = next(found, (row.after[-1] if row.bad else "", start))
        if text:
            drawing.labels.append(Label(left, middle, text, grid.size, RED if row.bad else GREY))
            if left - start > 12:
                drawing.lines.append(Line(start - 4, middle, left - 5, middle, GREY, 0.8))
            start = left + width_of(text, grid.size) + 6
    if start < high and row.end < drawing.end and (row.after or not row.bars or not row.bars[-1].open):
        drawing.lines.append(Line(start, middle, high, middle, GREY, 0.8))
    return x + 2, start


def _free_from(text: str, left: float, limit: float, size: float, taken: Taken) -> bool:
    right = left + width_of(text, size)
    return right <= limit and is_free(left, right, taken)


def draw_names(drawing: Drawing, grid: Grid, found: list[Row], colours: list[str]) -> None:
    """The rank of every row, or of as many as have room."""
    size = min(max(grid.size, 8.5) + 0.5, 11.0)
    step = 1
    while step * grid.pitch < size + 2:
        step *= 2
    for number in range(0, len(found), step):
        y = grid.lane(number) + grid.bar / 2
        drawing.labels.append(Label(-10, y, f"rank {number}", size, colours[number % len(colours)], "right", True))


def label_releases(
    drawing: Drawing, grid: Grid, released: list[Release], mismatched: list[Mismatch], scale: float
) -> list[Pass]:
    """Name the releases above the first row; return the lines that belong to them."""
    passes: list[Pass] = []
    places = [-1e9, *(release.t * scale for release in released), 1e9]
    for release, before, x, after in zip(released, places, places[1:], places[2:], strict=False):
        if x - before >= CLOSE or after - x >= CLOSE:
            passes.append((x, max(release.ranks), GREY))
    if grid.size:
        for begin, end, text in _release_words(released, scale):
            half = width_of(text, 10) / 2
            middle = min(max((begin + end) / 2, half - drawing.left + 4), WIDTH - drawing.left - half - 2)
            drawing.labels.append(Label(middle, grid.top - 14, text, 10, INK, "center"))
            if end > begin:
                drawing.lines.append(Line(begin, grid.top - 6.5, end, grid.top - 6.5, GREY, 0.8))
    for mismatch in mismatched[:1]:
        kinds = ", ".join(f"{name} on {who(ranks)}" for name, ranks in mismatch.kinds.items())
        text = f"≠ {nth(mismatch.seq)} collective: {kinds}"
        half = width_of(text, 10, bold=True) / 2
        x = max(mismatch.t * scale, 0.0)
        middle = min(max(x, half), max(drawing.plot - half, half))
        drawing.labels.append(Label(middle, 7, text, 10, RED, "center", True))
        passes.append((x, len(range(max(max(ranks) for ranks in mismatch.kinds.values()))), RED))
    return passes


def _release_words(released: list[Release], scale: float) -> list[tuple[float, float, str]]:
    """From, to and words of the releases: full words if all have room, else shorter ones, else one for several releases."""
    places = [r.t * scale for r in released]
    names = [r.name if r.group == "default" else f"{r.name} of group {r.group}" for r in released]
    one = len(set(names)) == 1
    forms = ["{} {} released", "{} {}", "{1}"] if one else ["{} {} released", "{} {}"]
    for form in forms:
        texts = [form.format(name, r.ordinal) for name, r in zip(names, released, strict=True)]
        texts[:1] = [f"{names[0]} {released[0].ordinal}"] if form == "{1}" else texts[:1]
        halves = [width_of(text, 10) / 2 for text in texts]
        gaps = zip(places, places[1:], halves, halves[1:], strict=False)
        if all(b - a >= g + h + 8 for a, b, g, h in gaps):
            return [(x, x, text) for x, text in zip(places, texts, strict=True)]
    return _gathered(places, released)


def _gathered(places: list[float], released: list[Release]) -> list[tuple[float, float, str]]:
    """Releases that follow each other closely, under one name."""
    groups: list[list[int]] = []
    for i, x in enumerate(places):
        if groups and x - places[groups[-1][-1]] < 130:
            groups[-1].append(i)
        else:
            groups.append([i])
    words = []
    for group in groups:
        first, last = released[group[0]], released[group[-1]]
        plain = len({(released[i].name, released[i].group) for i in group}) == 1
        text = f"{first.name}s {first.ordinal}–{last.ordinal} released" if plain else f"{len(group)} barriers released"
        single = f"{first.name} {first.ordinal} released"
        words.append((places[group[0]], places[group[-1]], text if len(group) > 1 else single))
    return words


def draw_passes(drawing: Drawing, grid: Grid, passes: list[Pass], free: list[tuple[float, float]]) -> None:
    """The dashed lines, behind no bar and through no label; ``free``: the stretch behind each row's bars that holds a label."""
    for x, last, colour in passes:
        begin = grid.top - 7 if colour == GREY else 14.0
        for number in range(len(free)):
            bottom = grid.lane(number)
            beyond, label_end = free[number]
            crosses = x >= beyond and not beyond <= x <= label_end
            if grid.gap >= 5 and not crosses:
                drawing.lines.append(Line(x, begin, x, bottom, colour, 1.0, dashed=True))
                begin = bottom + grid.bar
            if number == last:
                break
        end = drawing.height if last == len(free) - 1 else grid.lane(last)
        if end > begin:
            drawing.lines.append(Line(x, begin, x, end, colour, 1.0, dashed=True))
