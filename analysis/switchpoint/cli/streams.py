"""A command's standard streams, and how it ends if it fails unexpectedly; `testbed` uses it too.

It loads little, so that it works whatever else cannot be loaded.
"""

from __future__ import annotations

import errno
import fcntl
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper

from switchpoint.printable import printable

_PROGRAM = "switchpoint"

#: What the system says if a disk or a quota is full.
_FULL = {errno.ENOSPC, errno.EDQUOT}

#: The exit code for bad usage or bad data.
BAD = 2

#: The exit code of a failure that nobody expected. It is not 1, which means a finding or a problem.
UNEXPECTED = 3


@contextmanager
def failures_in_words(program: str = _PROGRAM) -> Iterator[None]:
    """Turn an exception into one line and an exit code, and its traceback if nobody expected it."""
    try:
        yield
    except MemoryError:
        say("needs more memory than there is: read less at once, such as with --since", program)
        sys.exit(UNEXPECTED)
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _FULL:
            where = f" for {error.filename}" if error.filename else ""
            say(f"{error.strerror}{where}: free some space and run the command again", program)
            code = BAD
        else:
            what = type(error).__name__ + (f": {error}" if str(error) else "")
            say(f"unexpected failure ({what}); please report it with these lines:", program)
            _print_traceback()
            code = UNEXPECTED
        _flush_or_discard()
        sys.exit(code)


def check_streams(program: str = _PROGRAM) -> None:
    """Let the standard streams take any text; end with one line if the output cannot be written.

    A closed stream becomes the null device: the next file that is opened would be written to
    otherwise.
    """
    missing = [stream for stream in range(3) if not _is_open(stream)]
    for stream in missing:
        null = os.open(os.devnull, os.O_RDWR)
        if null != stream:
            os.dup2(null, stream)
            os.close(null)
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if 1 in missing or _is_read_only(1):
        say("standard output is closed; redirect it to a file, or to /dev/null", program)
        sys.exit(BAD)
    for output in (sys.stdout, sys.stderr):
        if isinstance(output, TextIOWrapper):
            output.reconfigure(errors="backslashreplace")  # what ASCII and Latin-1 do not have


def say(message: str, program: str = _PROGRAM) -> None:
    """Print one line on standard error, with control characters escaped."""
    with suppress(OSError):
        print(f"{program}: {printable(message)}", file=sys.stderr)


def _print_traceback() -> None:
    with suppress(OSError):
        for line in traceback.format_exc().splitlines():
            print(printable(line), file=sys.stderr)


def _flush_or_discard() -> None:
    """Write what is buffered for standard output, or discard it, so that nobody tries it again."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _is_open(stream: int) -> bool:
    try:
        os.fstat(stream)
    except OSError:
        return False
    return True


def _is_read_only(stream: int) -> bool:
    return fcntl.fcntl(stream, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY
