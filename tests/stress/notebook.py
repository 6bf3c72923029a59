"""Execute one notebook as the book does, and say which of its cells failed: one JSON list.

python -m tests.stress.notebook notebooks/ordering.md
"""

import json
import re
import sys
from pathlib import Path

import jupytext
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError

CELL_LIMIT = 120  # seconds for a cell, as in _config.yml, unless the notebook says otherwise
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def failures(path: Path) -> list[str]:
    """Execute every cell, also after one that failed: a sentence for each that did."""
    notebook = jupytext.read(path)
    client = NotebookClient(
        notebook,
        timeout=notebook.metadata.get("execution", {}).get("timeout", CELL_LIMIT),
        allow_errors=True,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
    )
    try:
        client.execute()
    except (CellTimeoutError, DeadKernelError) as error:
        return [f"{type(error).__name__}: {str(error).splitlines()[0]}"]
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [said for number, cell in enumerate(cells, 1) if (said := _failure(number, cell))]


def _failure(number: int, cell) -> str | None:
    """What a cell raised, unless it is tagged to raise."""
    errors = [output for output in cell.outputs if output.output_type == "error"]
    if not errors or "raises-exception" in cell.metadata.get("tags", []):
        return None
    error = errors[0]
    trace = COLOURS.sub("", "\n".join(error.traceback))
    line = next((line for line in trace.splitlines() if line.startswith("---->")), "")
    return f"cell {number}: {error.ename}: {error.evalue.strip()[:300]} | {line.strip()}"


if __name__ == "__main__":
    print(json.dumps(failures(Path(sys.argv[1]))))
