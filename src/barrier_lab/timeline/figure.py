"""Draw the per-rank timeline of a run with matplotlib: as a figure, SVG, HTML or file."""

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

from matplotlib import rc_context, rc_params_from_file
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from barrier_lab.timeline.inline_svg import boxed, inline
from barrier_lab.timeline.layout import lay_out
from barrier_lab.timeline.model import Story, tell
from barrier_lab.timeline.shapes import GREY, TINT, WIDTH, Drawing, Shape
from barrier_lab.timeline.text_alternative import describe, headline
from barrier_lab.trace.model import Trace

STYLE = rc_params_from_file(Path(__file__).with_name("timeline.mplstyle"), use_default_template=False)


def draw(trace: Trace, title: str | None = None) -> Figure:
    """Draw what every rank did, one row per rank, over seconds since the common start."""
    return _figure(trace, tell(trace), title)[0]


def svg(trace: Trace, title: str | None = None, prefix: str | None = None) -> str:
    """The timeline as inline SVG.  All ids start with ``prefix`` (default: a unique one)."""
    story = tell(trace)
    figure, drawing = _figure(trace, story, title)
    out = StringIO()
    with _style():
        figure.savefig(out, format="svg", facecolor="none", metadata={"Date": None, "Creator": None})
    titles = {"bars": [s.title for s in drawing.bars], "prints": [s.title for s in drawing.prints]}
    return inline(
        out.getvalue(), titles, title or headline(trace), describe(trace, story), trace.directory.name, prefix
    )


def html(trace: Trace, title: str | None = None, prefix: str | None = None) -> str:
    """The SVG in a box that scrolls horizontally on narrow screens instead of shrinking the text."""
    return boxed(svg(trace, title, prefix), title or headline(trace))


def save(trace: Trace, path: str | Path, title: str | None = None) -> None:
    """Write the timeline to ``path``, whose suffix, ``.svg`` or ``.png``, selects the format."""
    path = Path(path)
    if path.suffix == ".svg":
        path.write_text(
            '<?xml version="1.0" encoding="utf-8"?>\n' + svg(trace, title, prefix="timeline"), encoding="utf-8"
        )
        return
    with _style():
        draw(trace, title).savefig(path)


@contextmanager
def _style() -> Iterator[None]:
    """Apply the style file, without warnings about glyphs missing from the font: browsers have fallback fonts."""
    with rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


def _figure(trace: Trace, story: Story, title: str | None) -> tuple[Figure, Drawing]:
    with _style():
        colours = STYLE["axes.prop_cycle"].by_key()["color"]
        drawing = lay_out(trace, story, [colour if colour.startswith("#") else f"#{colour}" for colour in colours])
        head, foot = 26.0 if title else 4.0, 52.0
        height = head + drawing.height + foot
        figure = Figure(figsize=(WIDTH / 72, height / 72))
        axes = figure.add_axes(
            (drawing.left / WIDTH, foot / height, drawing.plot / WIDTH, drawing.height / height),
            xlim=(0, drawing.end),
            ylim=(drawing.height, 0),
        )
        _set_axis(axes, drawing)
        _add_marks(axes, drawing)
        if title:
            figure.text(4 / WIDTH, 1 - 12 / height, title, size=13, weight="bold", va="center", parse_math=False)
        facts, key = _small_print(trace), _key(drawing)
        for text, x, align in ((facts, 4, "left"), (key, WIDTH - 4, "right")):
            figure.text(x / WIDTH, 8 / height, text, size=9, color=GREY, va="center", ha=align, parse_math=False)
        return figure, drawing


def _set_axis(axes, drawing: Drawing) -> None:
    axes.set_yticks([])
    axes.patch.set_visible(False)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=8, steps=[1, 2, 5, 10]))
    brief = drawing.end < 0.2
    if brief:
        axes.xaxis.set_major_formatter(FuncFormatter(lambda t, _: f"{t * 1e3:g}"))
    axes.set_xlabel(f"{'milliseconds' if brief else 'seconds'} since the common start", parse_math=False, labelpad=2)


def _add_marks(axes, drawing: Drawing) -> None:
    """Add the marks to the axes with few artists, regardless of the number of bars.  x is in seconds."""
    scale = drawing.end / drawing.plot
    for gid, shapes in (("bars", drawing.bars), ("prints", drawing.prints)):
        if shapes:
            axes.add_collection(_polygons(gid, shapes, scale), autolim=False)
    for i, ((pattern, colour), boxes) in enumerate(drawing.hatches.items()):
        outlines = [[(a * scale, t), (b * scale, t), (b * scale, u), (a * scale, u)] for a, b, t, u in boxes]
        hatch = PolyCollection(outlines, facecolor="none", edgecolor=colour, linewidth=0, hatch=pattern, clip_on=False)
        hatch.set_gid(f"hatch{i}")
        axes.add_collection(hatch, autolim=False)
    for dashed in (True, False):
        lines = [line for line in drawing.lines if line.dashed == dashed]
        if lines:
            collection = LineCollection(
                [[(line.x0 * scale, line.y0), (line.x1 * scale, line.y1)] for line in lines],
                colors=[line.colour for line in lines],
                linewidths=[line.width for line in lines],
                linestyles=(0, (3, 2.5)) if dashed else "solid",
                zorder=0.5 if dashed else 2.5,
                clip_on=False,
            )
            collection.set_gid("releases" if dashed else "lines")
            axes.add_collection(collection, autolim=False)
    for label in drawing.labels:
        axes.text(
            label.x * scale,
            label.y,
            label.text,
            size=label.size,
            color=label.colour,
            ha=label.align,
            va="center_baseline",
            weight="bold" if label.bold else "normal",
            parse_math=False,
        )


def _polygons(gid: str, shapes: list[Shape], scale: float) -> PolyCollection:
    collection = PolyCollection(
        [[(x * scale, y) for x, y in shape.corners] for shape in shapes],
        facecolors=[
            to_rgba(shape.colour, (TINT if shape.edge else 2 * TINT) if shape.tint else 1.0) for shape in shapes
        ],
        edgecolors=[to_rgba(shape.colour, 1.0 if shape.edge else 0.0) for shape in shapes],
        linewidths=[1.0 if shape.edge else 0.0 for shape in shapes],
        clip_on=False,
    )
    collection.set_gid(gid)
    return collection


def _small_print(trace: Trace) -> str:
    reason = f", because {trace.backend_reason}" if trace.backend and trace.backend_reason else ""
    ranks = f"{trace.world_size} rank{'s' if trace.world_size != 1 else ''}"
    parts = [trace.experiment, ranks, f"{trace.backend or ''}{reason}", f"torch {trace.torch}" if trace.torch else ""]
    return "  ·  ".join(part for part in parts if part)


def _key(drawing: Drawing) -> str:
    """The key to line numbers and to the ticks below the bars."""
    line = next((found[1] for label in drawing.labels if (found := re.search(r"\(:(\d+)\)", label.text))), None)
    parts = [f"(:{line}) is line {line}" if line else "", "ticks: printed lines" if drawing.prints else ""]
    return "  ·  ".join(part for part in parts if part)
