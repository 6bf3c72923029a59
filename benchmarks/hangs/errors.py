"""What the ranks' own error messages say, under TORCH_DISTRIBUTED_DEBUG=DETAIL or with monitored barriers."""

import re
from pathlib import Path

from benchmarks.hangs.cases import Case, ranks

DETAIL, MONITORED = "DETAIL", "monitored_barrier"
_CONSEQUENCE = re.compile(r"Connection (closed|reset)|[Tt]imed out|timeout|Broken pipe|Connection refused")
_MISSING = re.compile(r"Ranks? ([\d, ]+) failed to pass monitoredBarrier")
_DIFFER = re.compile(r"Rank (\d+) is running collective: (.+?), but Rank (\d+) is running collective: (.+?)(?:\.|$)")
_OPERATION = re.compile(r"OpType=(\w+)")


def text(case: Case, folder: Path) -> str:
    """The findings of all ranks, in the words of the verdict; empty if no rank says anything but a consequence."""
    said = [tell for rank in range(ranks(case)) if (tell := _tell(case, folder, rank))]
    return " ".join(dict.fromkeys(said))


def _tell(case: Case, folder: Path, rank: int) -> str:
    message, place = _last_error(case, folder, rank)
    if not message:
        return ""
    if found := _DIFFER.search(message):
        parts = [f"{_operation(found[i + 1])}{_last_error(case, folder, int(found[i]))[1]}" for i in (1, 3)]
        return f"The calls differ: {parts[0]} on rank {found[1]}, {parts[1]} on rank {found[3]}."
    if found := _MISSING.search(message):
        return f"Ranks {found[1].strip(' ,')} had not called it; rank {rank} is waiting in{place}."
    if _CONSEQUENCE.search(message):
        return f"Rank {rank} is waiting in{place}." if place else ""
    return f"Rank {rank} raised “{message}”{place}."


def _operation(fingerprint: str) -> str:
    found = _OPERATION.search(fingerprint)
    return found[1].lower() if found else fingerprint


def _last_error(case: Case, folder: Path, rank: int) -> tuple[str, str]:
    """The last uncaught error of a rank: its message, and the innermost line of the program in its traceback."""
    path = folder / f"log_{rank}"
    whole = path.read_text(errors="replace") if path.exists() else ""
    whole = re.sub(r"^\[rank\d+\]: ?", "", whole, flags=re.MULTILINE)  # put before each line by torch
    _, found, last = whole.rpartition("Traceback (most recent call last):")
    if not found:
        return "", ""
    lines = re.findall(rf'File "[^"]*{re.escape(case.path.name)}", line (\d+)', last)
    message = re.split(r"^(?=\S)", last.strip("\n"), maxsplit=1, flags=re.MULTILINE)[-1].strip()
    return " ".join(message.split())[:600], f" ({case.path.name}:{lines[-1]})" if lines else ""
