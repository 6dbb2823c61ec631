"""Finds the lines in a site's files that a user must edit: they have the mark ``# <-``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from switchpoint.limits import YAML_BYTES
from switchpoint.regular_files import read_limited

#: A comment that begins with an arrow. The text after it says what belongs there.
MARK = "# <-"
_MARKED = re.compile(r"#\s*<-\s*(.*)$")


@dataclass(frozen=True)
class MarkedPlace:
    """One line that is still to be edited.

    Attributes
    ----------
    file : Path
        The file of the line.
    line : int
        Its number, counted from 1.
    wanted : str
        What belongs there, in words.
    """

    file: Path
    line: int
    wanted: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def marked_places(file: Path) -> Iterator[MarkedPlace]:
    """Find the marked lines of a file; a missing file has none."""
    try:
        text = read_limited(file, YAML_BYTES).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return
    for number, line in enumerate(text.splitlines(), start=1):
        if marked := _MARKED.search(line):
            yield MarkedPlace(file, number, marked[1].strip())
