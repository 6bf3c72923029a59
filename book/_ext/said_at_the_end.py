"""What ``make book`` says when the build is over: where the book is, and which cells failed.

python said_at_the_end.py BUILD_FOLDER EXIT_CODE_OF_THE_BUILD
"""

import json
import sys
from pathlib import Path

LIST = "failed_cells.json"  # as in barrier_lab_failed.py


def main(build: Path, code: int) -> int:
    """Print it.  1 if the build failed in any way."""
    page, listed = build / "html" / "index.html", build / LIST
    failed = json.loads(listed.read_text()) if listed.exists() else []
    for one in failed:
        print(f"Cell {one['cell']} of {one['page']} ({one['title']}) failed: {one['error']}")
    if not page.exists():
        print("The book was not built; the messages above say why.")
        return 1
    where = page.resolve().as_uri()
    if failed:
        pages = len({one["page"] for one in failed})
        print(f"{pages} {'page says' if pages == 1 else 'pages say'} so at the top; the others are ready. Open {where}")
    elif code:
        print(f"All cells ran, but the build had warnings; the messages above name them. The pages: {where}")
    else:
        print(f"The book is ready. Open {where}")
    return 1 if failed or code else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2])))
