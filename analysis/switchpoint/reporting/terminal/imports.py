"""Words what became of files: imported, skipped, unreadable, or read with a warning."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from switchpoint.errors import InputError, NotRecognisedError, Reason
from switchpoint.importing.suggestions import shown
from switchpoint.tables.units import counted

if TYPE_CHECKING:
    from switchpoint.data_warnings import DataWarning
    from switchpoint.importing.suggestions import Suggestion
    from switchpoint.store.importing import Imported

#: The number of printed lines about unreadable files, and of printed suffixes.
_LINES = 12
_SUFFIXES = 6

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def suggestion_lines(suggestions: Iterable[Suggestion], folders: Iterable[Path]) -> list[str]:
    """Return a command with the proposed patterns, and what each part of them stands for."""
    suggestions = list(suggestions)
    given = " ".join(shlex.quote(str(folder)) for folder in folders)
    options = " ".join(f"--path {shlex.quote(each.pattern)}" for each in suggestions)
    lines = [f"switchpoint import {given} {options}"]
    for each in suggestions:
        lines.append(f"  {each.pattern}  {counted(each.files, 'result')}")
        lines += [f"    {level.part} = {shown(level)}" for level in each.levels]
    lines.append("Rename what is in braces as you like; {_} skips a folder.")
    return lines


def import_lines(outcome: Imported, store: str) -> list[str]:
    """Return lines with the number of stored runs and single values."""
    again = f"; {outcome.already_stored:,} already stored" if outcome.already_stored else ""
    lines = [f"{counted(outcome.added, 'run')} added to {store}{again}"]
    if outcome.values_added or outcome.values_already_stored:
        tests = f" of {counted(outcome.values_tests, 'test')}" if outcome.values_added else ""
        known = outcome.values_already_stored
        again = f"; {known:,} already stored" if known else ""
        lines.append(f"{counted(outcome.values_added, 'single value')}{tests} added{again}")
    return lines


def failure_lines(
    failures: Iterable[InputError], given: Iterable[Path], *, verbose: bool = False
) -> list[str]:
    """Return a line for each unreadable file, and one line for all files that are not results.

    A folder of results also contains scripts and logs. They are counted by reason, except files
    that the user named. Lines beyond `_LINES` are counted too, unless `verbose`.
    """
    asked = {str(path) for path in given}
    lines: dict[str, int] = {}
    skipped: dict[Reason, Counter[str]] = {}
    near: dict[str, list[str]] = {}
    for failure in failures:
        reason = failure.reason if isinstance(failure, NotRecognisedError) else None
        if reason is None or verbose or failure.source in asked:
            lines[str(failure)] = lines.get(str(failure), 0) + 1
        elif isinstance(failure, NotRecognisedError) and failure.looks_like:
            near.setdefault(failure.looks_like, []).append(failure.source)
        else:
            skipped.setdefault(reason, Counter())[Path(failure.source).suffix] += 1
    words = [
        f"{line} ({counted(number, 'file')})" if number > 1 else line
        for line, number in lines.items()
    ]
    if len(words) > _LINES and not verbose:
        more = sum(list(lines.values())[_LINES:])
        words[_LINES:] = [
            f"and {counted(more, 'more file')} that cannot be read; --verbose lists them"
        ]
    words += [_near(looks_like, files) for looks_like, files in near.items()]
    if skipped:
        reasons = [_skipped(reason, skipped[reason]) for reason in Reason if reason in skipped]
        words.append(f"skipped: {', '.join(reasons)}")
    return words


def _near(looks_like: str, files: list[str]) -> str:
    """Say what files look like that are nearly results, and name the first."""
    verb = "looks" if len(files) == 1 else "look"
    first = files[0] if len(files) == 1 else f"the first is {files[0]}"
    return f"skipped: {counted(len(files), 'file')} {verb} like {looks_like} ({first})"


def _skipped(reason: Reason, suffixes: Counter[str]) -> str:
    """Count the files that are skipped for one reason, with their suffixes."""
    one, several = reason.value
    number = suffixes.total()
    words = f"{number:,} {one if number == 1 else several}"
    names = [suffix for suffix, _ in suffixes.most_common() if suffix]
    if reason not in {Reason.NO_RESULT, Reason.BINARY} or not names:
        return words
    more = ", ..." if len(names) > _SUFFIXES else ""
    return f"{words} ({', '.join(names[:_SUFFIXES])}{more})"


def warning_lines(warnings: Iterable[DataWarning], *, verbose: bool = False) -> list[str]:
    """Return one line for all warnings that say the same: the first, and the number of others.

    They have the same kind and the same message, except for numbers, about any place.
    """
    if verbose:
        return [*map(str, warnings)]
    alike: dict[tuple[str, str], list[DataWarning]] = {}
    for warning in warnings:
        alike.setdefault((warning.kind, _NUMBER.sub("", warning.message)), []).append(warning)
    return [
        str(some[0]) if len(some) == 1 else f"{some[0]} ({len(some) - 1:,} more of this kind)"
        for some in alike.values()
    ]
