"""Words what became of files: imported, skipped, unreadable, or read with a warning."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from switchpoint.errors import InputError, NotRecognisedError, Reason
from switchpoint.reporting.terminal.words import counted

if TYPE_CHECKING:
    from switchpoint.store.importing import Imported

#: So many lines of files that cannot be read, and so many ends of names, are printed.
_LINES = 12
_SUFFIXES = 6

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def import_lines(outcome: Imported, store: str) -> list[str]:
    """Say how many runs and single values were kept."""
    again = f"; {outcome.already_stored:,} already there" if outcome.already_stored else ""
    lines = [f"{counted(outcome.added, 'run')} added to {store}{again}"]
    if outcome.values_added or outcome.values_already_stored:
        tests = f" of {counted(outcome.values_tests, 'test')}" if outcome.values_added else ""
        known = outcome.values_already_stored
        again = f"; {known:,} already there" if known else ""
        lines.append(f"{counted(outcome.values_added, 'single value')}{tests} kept{again}")
    return lines


def failure_lines(
    failures: Iterable[InputError], given: Iterable[Path], *, verbose: bool = False
) -> list[str]:
    """Word what could not be read: a line for each file, but one for all that is no result.

    A folder of results holds scripts and logs too: those are counted by the reason, and what a user
    named is not. Of more than `_LINES` lines the rest is counted as well, unless `verbose`.
    """
    asked = {str(path) for path in given}
    lines: dict[str, int] = {}
    skipped: dict[Reason, Counter[str]] = {}
    for failure in failures:
        reason = failure.reason if isinstance(failure, NotRecognisedError) else None
        if reason is None or verbose or failure.source in asked:
            lines[str(failure)] = lines.get(str(failure), 0) + 1
        else:
            skipped.setdefault(reason, Counter())[Path(failure.source).suffix] += 1
    words = [
        f"{line} ({counted(number, 'file')})" if number > 1 else line
        for line, number in lines.items()
    ]
    if len(words) > _LINES and not verbose:
        more = sum(list(lines.values())[_LINES:])
        words[_LINES:] = [f"and {counted(more, 'file')} more that cannot be read; see --verbose"]
    if skipped:
        reasons = [_skipped(reason, skipped[reason]) for reason in Reason if reason in skipped]
        words.append(f"skipped: {', '.join(reasons)}")
    return words


def _skipped(reason: Reason, suffixes: Counter[str]) -> str:
    """Count the files that are no results for one reason, with the ends of their names."""
    one, several = reason.value
    number = suffixes.total()
    words = f"{number:,} {one if number == 1 else several}"
    names = [suffix for suffix, _ in suffixes.most_common() if suffix]
    if reason not in {Reason.NO_RESULT, Reason.BINARY} or not names:
        return words
    more = ", ..." if len(names) > _SUFFIXES else ""
    return f"{words} ({', '.join(names[:_SUFFIXES])}{more})"


def warning_lines(warnings: Iterable[str], *, verbose: bool = False) -> list[str]:
    """Give each kind of warning one line: the first, with how many more there are.

    Warnings are of one kind if they differ in nothing but numbers and what stands before the first
    colon, which names a file or a curve.
    """
    warnings = list(warnings)
    if verbose:
        return warnings
    kinds: dict[str, list[str]] = {}
    for warning in warnings:
        kind = _NUMBER.sub("", warning.partition(": ")[2] or warning)
        kinds.setdefault(kind, []).append(warning)
    return [
        some[0] if len(some) == 1 else f"{some[0]} ({len(some) - 1:,} more of this kind)"
        for some in kinds.values()
    ]
