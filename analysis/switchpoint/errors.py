"""Errors that a user can fix. The command prints them as a single line.

Any other exception is a defect of Switchpoint and may show its traceback.
"""

from __future__ import annotations

import os
from enum import Enum

#: What a message quotes may be as long as a file. Of a longer problem the middle is left out, since
#: it begins with what is wrong and ends with the fix.
_MOST_CHARACTERS = 1000


class InputError(Exception):
    """A file, option or value that Switchpoint cannot use. The text says how to fix it.

    Parameters
    ----------
    source
        The file, URL or option; the message starts with it.
    problem
        What is wrong, then the fix, in one line.
    line
        Line of the file, counted from 1, if it is known.
    """

    def __init__(
        self, source: str | os.PathLike[str], problem: str, line: int | None = None
    ) -> None:
        half = _MOST_CHARACTERS // 2
        if len(problem) > _MOST_CHARACTERS:
            problem = f"{problem[:half]} ... {problem[-half:]}"
        self.source = os.fspath(source)
        self.problem = problem
        self.line = line
        place = self.source if line is None else f"{self.source}: line {line}"
        super().__init__(f"{place}: {problem}")

    def __reduce__(self) -> tuple[type[InputError], tuple[object, ...]]:
        """Pickle it completely, so that another process can return it."""
        return type(self), (self.source, self.problem, self.line)


class RecordError(InputError):
    """A run record that cannot be read."""


class Reason(Enum):
    """A reason to skip a file, in words for one such file and for several."""

    NO_RESULT = "file that is not a result", "files that are not results"
    EMPTY = "empty file", "empty files"
    BINARY = "binary file", "binary files"
    UTF_16 = "file in UTF-16 (save it as UTF-8)", "files in UTF-16 (save them as UTF-8)"
    NO_SIZES = "table without message sizes", "tables without message sizes"
    NO_VALUES = "log without values", "logs without values"
    LINK = "link to a folder", "links to folders"
    SPECIAL = "pipe, socket or device", "pipes, sockets or devices"
    STORE = "store (give it with --store)", "stores (give them with --store)"


class NotRecognisedError(InputError):
    """A file without a known format, or without curves and values.

    Parameters
    ----------
    source, problem
        As for `InputError`.
    reason
        The reason under which such files are counted.
    looks_like
        What it looks like and why it is not read, if that is known. Such files are counted by it.
    """

    def __init__(
        self,
        source: str | os.PathLike[str],
        problem: str,
        reason: Reason = Reason.NO_RESULT,
        looks_like: str = "",
    ) -> None:
        super().__init__(source, problem)
        self.reason = reason
        self.looks_like = looks_like

    def __reduce__(self) -> tuple[type[InputError], tuple[object, ...]]:
        """Pickle it completely, so that another process can return it."""
        return type(self), (self.source, self.problem, self.reason, self.looks_like)


class SpackError(InputError):
    """Something that Spack needs or refuses, with the fix."""

    def __init__(self, problem: str) -> None:
        super().__init__("spack", problem)

    def __reduce__(self) -> tuple[type[InputError], tuple[str, str, int | None]]:
        """Pickle it with its own class, so that another process can return it."""
        return InputError, ("spack", self.problem, None)
