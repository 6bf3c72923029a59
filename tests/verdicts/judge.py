"""Read what the headers of the programs ask of a verdict, run the programs, and judge what the library says of them.

``README.md`` beside this file describes the headers.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
AT_ONCE = 12  # runs that mostly sleep until their deadline
OUTCOMES = ("completed", "failed", "hung")
# Seconds: a program that hangs takes all of them; one that does not may be slow to end on a busy machine.
DEADLINE, LONG = 4.0, 40.0

# What the verdict of each kind of program has to contain, besides ranks and lines.
KINDS = {
    "absent-call": r"\bnot (called|made|reached|come|arrived)|\bhad called ",
    "early-exit": r"\b(finished|returned|exited|left|ended)\b",
    "killed": r"\bSIG[A-Z]+\b",
    "exception": r"“",
    "skipped-call": r"\bdiffer|\bdifferent|\bpaired|\bnot called|\bhad called",
    "mismatch": r"\bdiffer|\bdifferent|\bpaired",
    "several-files": r"\bnot called|\bhad called|\bdiffer|\bis waiting",
    "hidden": r"\b(all_reduce|broadcast|all_gather|new_group|scatter|barrier)\b",
    "in-flight": r"\b(in flight|wait)",
    "message": r"\b(send|recv|isend|irecv)\b[^.]*\brank \d",
    "cycle": r"\beach (waits |is waiting |waiting )?(for|other)|\bcycle|\bone another|\bthe other",
    "group": r"\bgroup",
    "thread": r"\bthread",
    "silence": r"\b[Nn]o (rank|collective)|\bexpected",
    "healthy": r"\bfinished|\bcompleted|\bcame to the end",
    "slow": r"\bfinished|\bcompleted|\blongest wait",
}

_RANKS = re.compile(r"\b[Rr]anks? (\d+(?:-\d+)?(?:(?:, | and |, and )\d+(?:-\d+)?)*)")
# "recv from rank 0", "the group of ranks 0 and 2": these ranks are not what the sentence speaks of …
_OBJECT = re.compile(r"\b(from|to|for|of|with|by|on|than|and|after|before) $")
_RELATIVE = re.compile(r"^,? (which|who|that) ")  # … unless a clause about them follows
_ACCUSES = re.compile(
    r"\b(had|has|have) (not|never) (\w+ )?(called|made|reached|arrived|come|joined|waited|left|posted|sent)\b"
    r"|\bhad called (\d+ of|\w+ (once|twice|\d+ times))|\bnever (called|arrived|came|joined)\b"
    r"|\b(finished|returned|exited|left|raised|skipped|absent|missing)\b|\bkilled by\b|\bended (with|without)\b"
    r"|\bdid not (call|make|arrive|come|join)\b|\b(is|are|was|were) (waiting|in|at)\b"
)
# What an innocent rank may be told too: where it waits; in a run that ended well also that it finished.
MAY_WAIT = re.compile(r"\b(is|are|was|were) (waiting|in|at)\b")
MAY_FINISH = re.compile(MAY_WAIT.pattern + r"|\b(finished|returned|exited|left)\b")
DIFFER = re.compile(r"\b(differ|different|differs|paired|met|meets)\b")
_MARKER = re.compile(r"#\s([A-Z][A-Z0-9_]*)(?::.*)?$")
_HEADER = re.compile(r"^# (run|outcome|guilty|also|lines|differ|not|says|kind):(.*)$")


class HeaderError(ValueError):
    """A header asks for something that cannot be read or found."""


@dataclass
class Case:
    """One run of one program, and what is asked of its verdict."""

    path: Path
    number: int
    options: dict[str, object]
    outcome: str
    kind: str
    guilty: set[int] | None = None  # None: not asked
    also: set[int] = field(default_factory=set)  # may be accused too: they are missing because they wait themselves
    lines: list[tuple[int | None, str]] = field(default_factory=list)  # (rank, "file.py:12")
    differ: list[tuple[int, str]] = field(default_factory=list)
    avoided: list[tuple[int | None, str]] = field(default_factory=list)
    unsaid: list[str] = field(default_factory=list)
    says: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """``several_files-case=ddp``: the program and how it is run."""
        own = [f"{k}={v}" for k, v in self.options.items() if k not in ("deadline", "timeout")]
        return "-".join([self.path.stem, *own])


def cases() -> list[Case]:
    """All cases of this folder, by file.  ``HeaderError`` for a header that cannot be read."""
    programs = [path for path in sorted(HERE.rglob("*.py")) if re.search(r"^# run:", path.read_text(), re.M)]
    found = [case for path in programs for case in read_cases(path)]
    names = [case.name for case in found]
    if twice := {name for name in names if names.count(name) > 1}:
        raise HeaderError(f"Two cases have one name: {', '.join(sorted(twice))}.")
    return found


def read_cases(path: Path) -> list[Case]:
    """The cases of one program: each ``# run:`` line begins one."""
    blocks: list[list[tuple[str, str]]] = []
    for line in path.read_text().splitlines():
        if found := _HEADER.match(line):
            if found[1] == "run":
                blocks.append([])
            if not blocks:
                raise HeaderError(f"{path.name}: {line!r} stands before any '# run:' line.")
            blocks[-1].append((found[1], found[2].strip()))
    places = markers(path)
    return [_case(path, number, block, places) for number, block in enumerate(blocks)]


def _case(path: Path, number: int, block: list[tuple[str, str]], places: dict[str, str]) -> Case:
    asked = {key: " ".join(value for name, value in block if name == key) for key, _ in block}
    outcome, kind = asked.get("outcome", ""), asked.get("kind", "")
    if outcome not in OUTCOMES or kind not in KINDS:
        raise HeaderError(f"{path.name}: outcome {outcome!r} or kind {kind!r} is not known.")
    guilty = asked.get("guilty", "any")
    avoided = re.sub(r'"[^"]*"', "", asked.get("not", ""))
    return Case(
        path=path,
        number=number,
        options={"deadline": DEADLINE if outcome == "hung" else LONG} | _options(asked["run"]),
        outcome=outcome,
        kind=kind,
        guilty=None if guilty == "any" else _numbers("" if guilty == "none" else guilty),
        also=_numbers(asked.get("also", "")),
        lines=[_marked(path, word, places) for word in asked.get("lines", "").split()],
        differ=[(int(r), p) for r, p in (_marked(path, word, places) for word in asked.get("differ", "").split())],
        avoided=[_marked(path, word, places) for word in avoided.split()],
        unsaid=re.findall(r'"([^"]*)"', asked.get("not", "")),
        says=re.findall(r'"([^"]*)"', asked.get("says", "")),
    )


def _options(text: str) -> dict[str, object]:
    """``world_size=3 case="ddp"`` as a dict."""
    return {key: ast.literal_eval(value) for key, value in re.findall(r'(\w+)=("[^"]*"|\S+)', text)}


def _numbers(text: str) -> set[int]:
    return {int(word) for word in text.split()}


def _marked(path: Path, word: str, places: dict[str, str]) -> tuple[int | None, str]:
    """``1:Q`` as (1, "file.py:12"); ``Q`` as (None, "file.py:12")."""
    rank, colon, marker = word.rpartition(":")
    if marker not in places:
        raise HeaderError(f"{path.name}: the marker {marker} stands on no line.")
    return (int(rank) if colon else None), places[marker]


def markers(path: Path) -> dict[str, str]:
    """Where each marker stands in a program and in the files of this folder that it imports."""
    places: dict[str, str] = {}
    for file in _files(path):
        for number, line in enumerate(file.read_text().splitlines(), 1):
            found = _MARKER.search(line)
            if found and not line.startswith("#"):
                if found[1] in places:
                    raise HeaderError(f"{path.name}: the marker {found[1]} stands on two lines.")
                places[found[1]] = f"{file.name}:{number}"
    return places


def _files(path: Path) -> list[Path]:
    """A program and the files that it imports from this folder, directly or not."""
    files, todo = [], [path]
    while todo:
        file = todo.pop()
        files.append(file)
        todo += [other for other in _imports(file) if other not in files and other not in todo]
    return files


def _imports(file: Path) -> Iterator[Path]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        for name in names:
            for folder in (HERE, HERE / "some_barrier_lab_project"):  # the second is put on the path by its program
                other = folder.joinpath(*name.split(".")).with_suffix(".py")
                if other.is_file():
                    yield other


def run_all(chosen: list[Case]) -> Iterator[tuple[Case, str, str]]:
    """Run cases, several at a time, and give each with its outcome and its verdict."""
    from barrier_lab import run_many

    # Programs with DDP first, the first of them alone: the forkserver then imports torch's slow parts once, for all.
    # Then those together that last equally long.
    chosen = sorted(chosen, key=lambda c: ("DistributedDataParallel" not in c.path.read_text(), c.outcome))
    batches = [chosen[:1], *(chosen[i : i + AT_ONCE] for i in range(1, len(chosen), AT_ONCE))]
    for batch in batches:
        for case, run in zip(batch, run_many([{"experiment": c.path, **c.options} for c in batch]), strict=True):
            yield case, run.outcome, run.verdict


def judge(case: Case, outcome: str, verdict: str) -> list[str]:
    """What is missing in a verdict, or wrong; nothing if it is right."""
    said = sentences(verdict)
    faults = [] if outcome == case.outcome else [f"the outcome is {outcome}, not {case.outcome}"]
    if not re.search(KINDS[case.kind], verdict):
        faults.append(f"no words of a case of kind {case.kind}")
    faults += guilt_faults(case, said)
    faults += [f"{asked_for(r, p)} is not named" for r, p in case.lines if not named(said, r, p)]
    faults += [f"{asked_for(r, p)} must not be named" for r, p in case.avoided if named(said, r, p)]
    if case.differ and not any(tells_difference(sentence, case.differ) for sentence in said):
        faults.append(f"no difference of {' and '.join(asked_for(r, p) for r, p in case.differ)} is told")
    faults += [f"it does not say {phrase!r}" for phrase in case.says if not re.search(phrase, verdict)]
    faults += [f"it must not say {phrase!r}" for phrase in case.unsaid if re.search(phrase, verdict)]
    return faults


def guilt_faults(case: Case, said: list[str]) -> list[str]:
    if case.guilty is None:
        return []
    blamed = {rank for sentence in said for rank in accused(sentence)}
    allowed = MAY_WAIT if case.outcome != "completed" else MAY_FINISH
    strictly = {rank for sentence in said for rank in accused(sentence, allowed)}
    faults = [f"nothing is said of what rank {rank} did" for rank in sorted(case.guilty - blamed)]
    return faults + [f"rank {rank} is accused" for rank in sorted(strictly - case.guilty - case.also)]


def sentences(verdict: str) -> list[str]:
    """The sentences of a verdict; one that begins with "It" or "They" belongs to the sentence before."""
    found: list[str] = []
    for sentence in re.split(r"(?<=[.!?”])\s+(?=[A-Z“])", " ".join(verdict.split())):
        if found and re.match(r"(It|They|Its|Their)\b", sentence):
            found[-1] += f" {sentence}"
        else:
            found.append(sentence)
    return found


def expand(numbers: str) -> set[int]:
    """ "0-2 and 5" as {0, 1, 2, 5}."""
    found: set[int] = set()
    for first, last in re.findall(r"(\d+)(?:-(\d+))?", numbers):
        found |= set(range(int(first), int(last or first) + 1))
    return found


def accused(sentence: str, allowed: re.Pattern | None = None) -> set[int]:
    """The ranks of which a sentence says what they did or had not done, other than in words that are ``allowed``."""
    subjects = [found for found in _RANKS.finditer(sentence) if _is_subject(sentence, found)]
    ends = [*(found.start() for found in subjects[1:]), len(sentence)] if subjects else []
    ranks: set[int] = set()
    for found, end in zip(subjects, ends, strict=True):
        words = sentence[found.end() : end]
        if allowed:
            words = allowed.sub("", words)
        if _ACCUSES.search(words):
            ranks |= expand(found[1])
    return ranks


def _is_subject(sentence: str, found: re.Match) -> bool:
    return not _OBJECT.search(sentence[: found.start()]) or bool(_RELATIVE.search(sentence[found.end() :]))


def named(said: list[str], rank: int | None, place: str) -> bool:
    """Whether a place stands in the verdict; with a rank: in a sentence that names this rank."""
    here = [sentence for sentence in said if re.search(rf"(?<![\w.]){re.escape(place)}\b", sentence)]
    if rank is None:
        return bool(here)
    return any(rank in mentioned(sentence) for sentence in here)


def mentioned(sentence: str) -> set[int]:
    ranks = {rank for found in _RANKS.finditer(sentence) for rank in expand(found[1])}
    if re.search(
        r"\b(Both|both|All|all|Each|each|Every|every|Neither|neither|No|no)\b( \d+)? ranks?\b|\bboth\b", sentence
    ):
        ranks |= set(range(64))
    return ranks


def tells_difference(sentence: str, pair: list[tuple[int, str]]) -> bool:
    """Whether a sentence says that two calls met although they are different ones."""
    return bool(DIFFER.search(sentence)) and all(named([sentence], rank, place) for rank, place in pair)


def asked_for(rank: int | None, place: str) -> str:
    return place if rank is None else f"{place} for rank {rank}"
