"""Splits what benchmarks print into lines: tags of ranks, glued lines, a last line that is cut."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from switchpoint.importing.external import text_lines
from switchpoint.limits import ROW_CHARACTERS

#: The tag with which Open MPI names the rank of a line, perhaps after a time stamp.
_OPEN_MPI_TAG = (
    r"(?:\w{3} \w{3} [ \d]\d [\d:]{8} \d{4}|\d{4}-\d\d-\d\d[T ][\d:.]{8,15})?"
    r"(?P<open_mpi>\[[^]\s]{1,64}\])<std\w{1,8}>:"
)

#: A time stamp in brackets, or of a CI system, which names no rank.
_STAMP = (
    r"(?:\[[\d:.,TZ+-]*\d:\d\d[\d:.,TZ+-]*\](?=\s)[ \t]*"
    r"|\d{4}-\d\d-\d\dT[\d:.]{8,20}Z(?: \d\d[OE])?(?=[ \t])[ \t]*)?"
)

#: Colours of terminals, and marks of quotations in mails.
_COLOUR = r"\x1b\[[\d;]*[mK]"
_COLOURS = re.compile(_COLOUR)
_QUOTED = r"(?:>[ \t]?){0,4}"

#: The start of a line: blanks, a time stamp, and the tag with which a launcher names the rank
#: (`srun -l`, `mpiexec -l` and `--tag-output`).
_START = (
    rf"{_QUOTED}{_STAMP}"
    rf"(?:{_OPEN_MPI_TAG}|(?P<rank>\[[^]\s]+\])(?=\s)|[ \t]*(?P<number>\d+):(?=\s))?[ \t]*"
)

_TAG = re.compile(_START)

#: What may be before a title in the first bytes of a file: the start of a line, or another line
#: that was cut short.
BEFORE_TITLE = (
    rb"(?:^(?:\xef\xbb\xbf)?(?:"
    + _COLOUR.encode()
    + rb")*"
    + _START.encode()
    + rb"|(?<=[\d>])[ \t:]*)"
)

#: Where another line begins within a line: one that has a tag, or a title or comment behind a row.
_TAG_WITHIN = re.compile(_OPEN_MPI_TAG)
_GLUED = re.compile(r"(?<=[\d.])#|#\s+(?=\S)|#(?:OSU MPI|Benchmarking\s)")

#: Lines are rarely glued together, and not so many of them; more are not separated.
_MOST_PARTS = 8

_CUT = " [...]"


@dataclass(frozen=True)
class Line:
    """A line, or a part of one if several lines were glued together.

    Attributes
    ----------
    number : int
        In the file, counted from 1.
    text : str
        Without tag and outer blanks.
    rank : str
        The rank that its tag names, or nothing.
    ended : bool
        Whether a line end follows. If not, the rest of the line may be lost.
    """

    number: int
    text: str
    rank: str = ""
    ended: bool = True


def printed_lines(path: Path, data: bytes, *, tagged: bool = True) -> Iterator[Line]:
    """Return the lines of a text.

    A line that is longer than any row or heading is cut, so that it is neither.

    Parameters
    ----------
    path, data
        The file, and its unpacked content.
    tagged
        Whether the start of a line may be a tag.
    """
    lines = text_lines(path, data)
    for number, line in enumerate(lines, start=1):
        ended = number < len(lines) or data.endswith((b"\n", b"\r"))
        text = line if len(line) <= ROW_CHARACTERS else line[:ROW_CHARACTERS] + _CUT
        if "\x1b" in text:
            text = _COLOURS.sub("", text)
        for part, last in _split(text, _TAG_WITHIN):
            tag = _TAG.match(part) if tagged else None
            rank = next((name for name in tag.groups() if name), "") if tag else ""
            rest = part[tag.end() :] if tag else part
            for piece, last_piece in _split(rest, _GLUED):
                yield Line(number, piece.strip(), rank, last and last_piece and ended)


def _split(line: str, within: re.Pattern[str]) -> Iterator[tuple[str, bool]]:
    """Return the parts of a line, and whether each is the last."""
    if "#" not in line and "<std" not in line:
        yield line, True
        return
    places = [match.start() for match in itertools.islice(within.finditer(line), _MOST_PARTS)]
    places = [place for place in places if line[:place].strip()]
    for start, end in zip([0, *places], [*places, None], strict=True):
        yield line[start:end], end is None
