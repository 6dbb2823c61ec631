"""Exit codes, and errors that a user can fix, which become one line on stderr and a code.

0: done. 1: problems of a site, findings that fail a gate. 2: bad usage or bad data.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from switchpoint.errors import InputError
from switchpoint.printable import printable

FAILED = 1
BAD = 2


@contextmanager
def user_mistakes() -> Iterator[None]:
    """Turn an error that a user can fix into one line and exit code 2."""
    try:
        yield
    except InputError as error:
        say(str(error))
        raise typer.Exit(BAD) from None


def say(message: str) -> None:
    """Print one line on stderr, with control characters escaped."""
    print(f"switchpoint: {printable(message)}", file=sys.stderr)


def show(line: object) -> None:
    """Print one line on stdout, with control characters escaped."""
    print(printable(str(line)))
