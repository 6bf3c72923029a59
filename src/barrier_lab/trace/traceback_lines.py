"""Tell user-code lines of a printed traceback from those of installed code."""

import re
from collections.abc import Iterable, Iterator

from barrier_lab.frames import owner

_FRAME = re.compile(r'^(?:\[rank\d+\]: )?  File "(?P<file>[^"]*)", line \d+')
_CODE = re.compile(r"^(?:\[rank\d+\]: )?    ")


def owners(lines: Iterable[str]) -> Iterator[str | None]:
    """For each line, the owner of its frame if that is library code, such as "torch"; None for all other lines."""
    whose = None
    for line in lines:
        if frame := _FRAME.match(line):
            whose = owner(frame["file"])
        elif not _CODE.match(line):
            whose = None
        yield whose
