"""Draw the releases of a timeline, and calls that do not match, into a :class:`Drawing`."""

from .drawing import GREY, INK, RED, WIDTH, Drawing, Grid, Label, Line
from .labels import width_of
from .releases import Mismatch, Release
from .words import ordinal as nth
from .words import who

CLOSE = 10.0  # points between release lines: closer together they would be a curtain
Pass = tuple[float, int, str]  # a release line: its x, the last row that it reaches, its colour


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
    """From, to and words of the releases: full ones if all have room, else shorter ones, else some for several."""
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
    """The dashed lines, behind no bar and through no label; ``free``: the stretch behind each row's bars."""
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
