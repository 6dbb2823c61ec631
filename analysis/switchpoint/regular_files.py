"""Opens files that others made: regular files only, and no more of them than a limit.

A pipe, a socket or a device in place of a file could keep a reader waiting, or never end.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from pathlib import Path


class NotRegularError(OSError):
    """A path leads to a folder, a pipe, a socket or a device."""


def open_regular(path: str | os.PathLike[str]) -> io.BufferedReader:
    """Open a file to read its bytes.

    Raises
    ------
    OSError
        If it cannot be opened, or is anything but a regular file (NotRegularError).
    """
    _check_kind(path, Path(path).stat().st_mode)  # to open a device may do something
    # Without waiting, if another program has put a pipe there meanwhile.
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        _check_kind(path, os.fstat(descriptor).st_mode)
        return os.fdopen(descriptor, "rb")
    except OSError:
        os.close(descriptor)
        raise


def read_limited(path: str | os.PathLike[str], most_bytes: int) -> bytes:
    """Return the content of a file.

    Raises
    ------
    OSError
        As `open_regular`, and if it has more bytes than the limit; no more of it is in memory then.
    """
    with open_regular(path) as stream:
        content = stream.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise OSError(errno.EFBIG, f"it is larger than {most_bytes // 2**20} MiB", os.fspath(path))
    return content


def _check_kind(path: str | os.PathLike[str], mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = "folder" if stat.S_ISDIR(mode) else "pipe, socket or device"
        raise NotRegularError(errno.EINVAL, f"it is a {kind}, not a file", os.fspath(path))
