"""Draw the releases and the mismatched calls of a timeline into a :class:`Drawing`."""

from barrier_lab.english import ordinal as nth
from barrier_lab.english import who
from barrier_lab.timeline.releases import Mismatch, Release, called
from barrier_lab.timeline.shapes import GREY, INK, RED, WIDTH, Drawing, Grid, Label, Line
from barrier_lab.timeline.text_width import Taken, width_of

SIZE = 10.0  # font size in points
CLOSE = 10.0  # points between release lines; closer together they would be indistinguishable
Pass = tuple[float, int, str]  # a release line: x, last row that it reaches, colour


def label_releases(
    drawing: Drawing, grid: Grid, released: list[Release], mismatched: list[Mismatch], scale: float
) -> list[Pass]:
    """Label the releases above the first row.  Returns their lines."""
    passes: list[Pass] = []
    places = [-1e9, *(release.t * scale for release in released), 1e9]
    for release, before, x, after in zip(released, places, places[1:], places[2:], strict=False):
        if x - before >= CLOSE or after - x >= CLOSE:
            passes.append((x, max(release.ranks), GREY))
    y = grid.tops[0] - grid.above
    for begin, end, middle, text in _release_words(released, scale, 4 - drawing.left, WIDTH - drawing.left - 2):
        drawing.labels.append(Label(middle, y - 14, text, SIZE, INK, "center"))
        if end > begin:
            drawing.lines.append(Line(begin, y - 6.5, end, y - 6.5, GREY, 0.8))
    for mismatch in mismatched[:1]:
        kinds = ", ".join(f"{name} on {who(ranks)}" for name, ranks in mismatch.kinds.items())
        text = f"the {nth(mismatch.seq)} {mismatch.what} do not match"
        if width_of(f"{text}: {kinds}", SIZE, bold=True) < drawing.plot:
            text = f"{text}: {kinds}"
        half = width_of(text, SIZE, bold=True) / 2
        x = max(mismatch.t * scale, 0.0)
        middle = min(max(x, half), max(drawing.plot - half, half))
        drawing.labels.append(Label(middle, 7, text, SIZE, RED, "center", True))
        passes.append((x, max(max(ranks) for ranks in mismatch.kinds.values()), RED))
    return passes


def _release_words(
    released: list[Release], scale: float, low: float, high: float
) -> list[tuple[float, float, float, str]]:
    """Begin, end, middle and text of release labels: full texts if all fit, else shorter ones, else shared labels."""
    places = [r.t * scale for r in released]
    names = [called(r.name, r.ordinal, r.of) for r in released]
    alike = len({(r.name, r.of) for r in released}) == 1
    for form in ("{} released", "{}", "{1}")[: 3 if alike else 2]:
        texts = [form.format(name, r.ordinal) for name, r in zip(names, released, strict=True)]
        texts[:1] = names[:1] if form == "{1}" else texts[:1]
        placed = _side_by_side([(x, x, text) for x, text in zip(places, texts, strict=True)], low, high)
        if len(placed) == len(released):
            return placed
    return _side_by_side(_gathered(places, released), low, high)


def _side_by_side(
    words: list[tuple[float, float, str]], low: float, high: float
) -> list[tuple[float, float, float, str]]:
    """Place the texts that have room between ``low`` and ``high`` and next to the previous ones."""
    placed: list[tuple[float, float, float, str]] = []
    free = low
    for begin, end, text in words:
        half = width_of(text, SIZE) / 2
        middle = min(max((begin + end) / 2, low + half), high - half)
        if middle - half >= free:
            placed.append((begin, end, middle, text))
            free = middle + half + 8
    return placed


def _gathered(places: list[float], released: list[Release]) -> list[tuple[float, float, str]]:
    """Give releases close to each other a shared label."""
    groups: list[list[int]] = []
    for i, x in enumerate(places):
        if groups and x - places[groups[-1][-1]] < 130:
            groups[-1].append(i)
        else:
            groups.append([i])
    words = []
    for group in groups:
        first, last = released[group[0]], released[group[-1]]
        plain = len({(released[i].name, released[i].of) for i in group}) == 1
        text = f"{first.name}s {first.ordinal}–{last.ordinal} released" if plain else f"{len(group)} barriers released"
        single = f"{called(first.name, first.ordinal, first.of)} released"
        words.append((places[group[0]], places[group[-1]], text if len(group) > 1 else single))
    return words


def draw_passes(drawing: Drawing, grid: Grid, passes: list[Pass], blocked: list[Taken]) -> None:
    """Draw the dashed lines, leaving out the rows where they would cross a ``blocked`` stretch: a bar or a label."""
    for x, last, colour in passes:
        below = grid.tops[0] - grid.above - 7
        begin = below if colour == GREY or _is_named(drawing, x, below - 7) else 14.0
        for top, stretches in zip(grid.tops[: last + 1], blocked, strict=False):
            if any(a < x < b for a, b in stretches):
                drawing.lines.append(Line(x, begin, x, top, colour, 1.0, dashed=True))
                begin = top + grid.bar
        end = drawing.height if last == len(blocked) - 1 else grid.tops[last] + grid.bar
        if end > begin:
            drawing.lines.append(Line(x, begin, x, end, colour, 1.0, dashed=True))


def _is_named(drawing: Drawing, x: float, y: float) -> bool:
    """Whether there is a release label at this position."""
    return any(
        abs(label.y - y) < 1 and abs(label.x - x) < width_of(label.text, label.size) / 2 + 1 for label in drawing.labels
    )
