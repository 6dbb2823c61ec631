"""Says which lines of a file are not read, and why: one sentence for each reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from switchpoint.data_warnings import DataWarning

#: What is said of a title without results.
NO_ROWS = "the title has no table with rows: measure again"

#: Why rows are not read.
SAME_ROW = "the same row again: it counts once"
ODD_ROW = "has other decimals than the other rows: it is skipped"

REST_OF_ROW = "it may be the rest of the row before, which is cut: it is skipped"

#: Why the last row of a file is not read.
CUT_ROW = "the file or line ends within this row, which is skipped: its last number may be cut"


@dataclass(frozen=True)
class Problem:
    """Why a line, or a table that begins there, is not read."""

    line: int
    what: str
    kernel: str = ""


def warnings_of(problems: Iterable[Problem]) -> Iterator[DataWarning]:
    """Return one warning for each kernel and reason, with the lines that it concerns."""
    lines: dict[tuple[str, str], list[int]] = {}
    for problem in problems:
        lines.setdefault((problem.kernel, problem.what), []).append(problem.line)
    for (kernel, what), numbers in lines.items():
        of_kernel = f"{kernel}: " if kernel else ""
        yield DataWarning("rows", f"{of_kernel}{_lines(numbers)}: {what}")


def _lines(numbers: list[int]) -> str:
    """Name lines.

    >>> _lines([5]), _lines([5, 7]), _lines([1, 2, 3, 4, 5])
    ('line 5', 'lines 5 and 7', 'lines 1, 2, 3 and 2 more')
    """
    if len(numbers) == 1:
        return f"line {numbers[0]}"
    shown, more = (numbers[:3], len(numbers) - 3) if len(numbers) > 4 else (numbers[:-1], 0)
    last = f"{more} more" if more else str(numbers[-1])
    return f"lines {', '.join(map(str, shown))} and {last}"
