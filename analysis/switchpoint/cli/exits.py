"""Exit codes, and errors that a user can fix, which become one line on stderr and a code.

0: done. 1: problems of a site, findings that fail a gate. 2: bad usage or bad data.
3: a failure that nobody expected, see `streams`.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from switchpoint.cli.streams import BAD, say
from switchpoint.errors import InputError
from switchpoint.printable import printable

__all__ = ["BAD", "FAILED", "INTERRUPTED", "say", "show", "user_mistakes"]

FAILED = 1

#: As a shell says of a command that Ctrl-C ended.
INTERRUPTED = 130


@contextmanager
def user_mistakes() -> Iterator[None]:
    """Turn an error that a user can fix into one line and exit code 2."""
    try:
        yield
    except InputError as error:
        say(str(error))
        raise typer.Exit(BAD) from None
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        say(f"{error.filename}: {error.strerror}; check the path")
        raise typer.Exit(BAD) from None


def show(*lines: object) -> None:
    """Print lines on stdout, with control characters escaped."""
    for line in lines:
        print(printable(str(line)))
