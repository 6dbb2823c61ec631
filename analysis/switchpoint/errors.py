"""What a user can fix: the one exception that the command prints as a single line.

Everything else that escapes is a defect of ours and may show its traceback.
"""

from __future__ import annotations

import os
from enum import Enum


class InputError(Exception):
    """A file, option or value that Switchpoint cannot use; its text says how to fix it.

    Parameters
    ----------
    source
        File, URL or option at fault; it begins the message.
    problem
        What is wrong, then the fix, in one line.
    line
        Line of the file, from 1, where that is known.
    """

    def __init__(
        self, source: str | os.PathLike[str], problem: str, line: int | None = None
    ) -> None:
        self.source = os.fspath(source)
        self.problem = problem
        self.line = line
        place = self.source if line is None else f"{self.source}: line {line}"
        super().__init__(f"{place}: {problem}")

    def __reduce__(self) -> tuple[type[InputError], tuple[object, ...]]:
        """Let it come back whole from another process."""
        return type(self), (self.source, self.problem, self.line)


class RecordError(InputError):
    """A run record that cannot be read."""


class Reason(Enum):
    """Why a file holds nothing for us, as one says of one such file and of several."""

    NO_RESULT = "file that is no result", "files that are no results"
    EMPTY = "empty file", "empty files"
    BINARY = "binary file", "binary files"
    UTF_16 = "file in UTF-16 (save it as UTF-8)", "files in UTF-16 (save them as UTF-8)"
    NO_SIZES = "table without message sizes", "tables without message sizes"
    NO_VALUES = "log without values", "logs without values"
    LINK = "link to a folder", "links to folders"
    SPECIAL = "pipe, socket or device", "pipes, sockets or devices"


class NotRecognisedError(InputError):
    """A file of no known format, or of a known one that holds neither curves nor values.

    Parameters
    ----------
    source, problem
        As for `InputError`.
    reason
        Under what such files are counted.
    """

    def __init__(
        self,
        source: str | os.PathLike[str],
        problem: str,
        reason: Reason = Reason.NO_RESULT,
    ) -> None:
        super().__init__(source, problem)
        self.reason = reason

    def __reduce__(self) -> tuple[type[InputError], tuple[object, ...]]:
        """Let it come back whole from another process."""
        return type(self), (self.source, self.problem, self.reason)


class SpackError(InputError):
    """Something that Spack lacks or refuses, with the fix."""

    def __init__(self, problem: str) -> None:
        super().__init__("spack", problem)

    def __reduce__(self) -> tuple[type[InputError], tuple[str, str, int | None]]:
        """Let it come back from another process, as what it is of."""
        return InputError, ("spack", self.problem, None)
