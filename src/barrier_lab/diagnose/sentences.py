"""Build sentences that are shared by all ranks to which they apply."""

import re
from dataclasses import dataclass

from barrier_lab.diagnose.durations import duration
from barrier_lab.english import who

MOST = 4  # sentences of one kind; any further ranks are only counted


@dataclass(frozen=True, slots=True)
class Phrase:
    """A predicate without its subject.

    ``text`` is a template: {was}, {is}, {its}, {it} adapt to one or several ranks, {t} becomes "at 2.00 s", and {when}
    the clause of the sentence.
    """

    text: str
    t: float | None = None


def sentences(said: list[tuple[int, Phrase]], when: str = "") -> list[str]:
    """Build one sentence per distinct phrase, for all its ranks, in the given order.  The first one gets ``when``."""
    groups: dict[str, list[tuple[int, float | None]]] = {}
    for rank, phrase in said:
        groups.setdefault(phrase.text, []).append((rank, phrase.t))
    found = []
    for text, ranks in list(groups.items())[:MOST]:
        numbers = [rank for rank, _ in ranks]
        moments = [t for _, t in ranks if t is not None]
        clause = f" {when}" if when and not found else ""
        body = filled(text if "{when}" in text else f"{text}{{when}}", len(numbers), moments, clause)
        found.append(closed(f"{who(numbers).capitalize()} {body}"))
    left = sum(len(ranks) for ranks in list(groups.values())[MOST:])
    return [*found, f"{left} more {'rank' if left == 1 else 'ranks'} stood elsewhere."] if left else found


def filled(text: str, ranks: int, moments: list[float], when: str = "") -> str:
    """Fill in the template of a phrase, for this number of ranks and their times."""
    words = {"was": "was", "is": "is", "its": "its", "it": "it"}
    if ranks > 1:
        words = {"was": "were", "is": "are", "its": "their", "it": "they"}
    latest = duration(max(moments)) if moments else ""
    same = moments and latest == duration(min(moments))
    words |= {"t": f"{'at' if same else 'by'} {latest}" if moments else "at an unknown moment", "when": when}
    return re.sub(r"\{(was|is|its|it|t|when)\}", lambda match: words[match[1]], text).replace("\0", "{")


def quoted(text: str) -> str:
    """Put a message in quotation marks and escape its braces."""
    return f"“{text.replace('{', chr(0))}”"


def closed(text: str) -> str:
    """Add a full stop to a sentence if it has none."""
    text = text.rstrip()
    return text if text.endswith((".", "!", "?")) else f"{text}."
