"""What a user can fix: the one exception that the command prints as a single line.

Everything else that escapes is a defect of ours and may show its traceback.
"""

from __future__ import annotations

import os


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

    def __reduce__(self) -> tuple[type[InputError], tuple[str, str, int | None]]:
        """Let it come back whole from another process."""
        return type(self), (self.source, self.problem, self.line)


class RecordError(InputError):
    """A run record that cannot be read."""


class NotRecognisedError(InputError):
    """A file of no known format, or of a known one that holds no curve."""
