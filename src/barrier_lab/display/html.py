"""Render a run as HTML for a lesson or a notebook: output, timeline and verdict."""

import html
from itertools import groupby

from barrier_lab.diagnose.lesson import lesson
from barrier_lab.trace.model import Output, Trace
from barrier_lab.trace.traceback_lines import owners

SHOWN_LINES = 60  # of output


def to_html(trace: Trace, outcome: str, verdict: str) -> str:
    """The complete run: output, timeline and verdict."""
    from barrier_lab import timeline  # matplotlib takes half a second to import

    said = f'<p class="bl-verdict bl-{outcome}"><strong>{outcome}</strong> {html.escape(verdict)}</p>'
    name = lesson(trace) if outcome != "completed" else None
    more = f'<p class="bl-more">More about this: <a href="../notebooks/{name}.md">{name}</a></p>' if name else ""
    return f'<div class="bl-run">{output_html(trace)}{timeline.html(trace)}{said}{more}</div>'


def output_html(trace: Trace) -> str:
    """The output of all ranks, sorted by time; a long line wraps with a hanging indent."""
    pairs = [(rank.rank, line) for rank in trace.ranks for line in folded(rank.output)]
    pairs.sort(key=lambda pair: pair[1].t)
    shown = [
        f'<span class="bl-line bl-r{rank % 4}"><span class="bl-t">{line.t:8.3f} s</span>  rank {rank} | '
        f"{html.escape(line.text)}\n</span>"
        for rank, line in pairs[:SHOWN_LINES]
    ]
    if len(pairs) > SHOWN_LINES:
        shown.append(f"… and {len(pairs) - SHOWN_LINES} more lines")
    label = "what the ranks printed, in order of time"
    return f'<pre class="bl-output" tabindex="0" aria-label="{label}">{"".join(shown)}</pre>' if shown else ""


def folded(output: list[Output]) -> list[Output]:
    """A rank's output, with library frames of tracebacks collapsed to one line each."""
    kept: list[Output] = []
    pairs = zip(owners(line.text for line in output), output, strict=True)
    for foreign, group in groupby(pairs, key=lambda pair: pair[0] is not None):
        whose, lines = zip(*group, strict=True)
        if foreign:
            note = f"  … {len(lines)} lines inside {' and '.join(dict.fromkeys(whose))}"
            lines = (Output(lines[0].t, lines[0].stream, note),)
        kept += lines
    return kept
