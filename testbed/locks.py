"""Locks that show which process is alive: a POSIX lock names its process and ends with it.

So no code relies on a file that a dead process left.
"""

from __future__ import annotations

import fcntl
import os
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# struct flock of <fcntl.h> with 64-bit offsets: l_type, l_whence, l_start, l_len, l_pid
_FLOCK = struct.Struct("hhqqi")


def hold(file: Path) -> None:
    """Lock `file` for as long as this process lives; OSError if another one holds it."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    request = _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
    fcntl.fcntl(descriptor, fcntl.F_SETLK, request)


def holder(file: Path) -> int | None:
    """Return the id of the process that holds the lock on `file`, as seen from here."""
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        request = _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        kind, _, _, _, pid = _FLOCK.unpack(fcntl.fcntl(descriptor, fcntl.F_GETLK, request))
    finally:
        os.close(descriptor)
    return None if kind == fcntl.F_UNLCK else pid


#: The mode of a testbed's folder: whoever can open it can hold its lock, and read its logs.
ONLY_OWNER = 0o700

#: After so long a command says for what it waits.
_SILENT_S = 3.0
_POLL_S = 0.05


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Prevent other commands from starting or removing a testbed in `folder`.

    Makes the folder, and makes it again if another command has just removed it.
    """
    while True:
        folder.mkdir(ONLY_OWNER, parents=True, exist_ok=True)
        try:
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        try:
            _lock(descriptor, folder)
            if _is_still(folder, descriptor):
                yield
                return
        finally:
            os.close(descriptor)


def _lock(descriptor: int, folder: Path) -> None:
    silent_until = time.monotonic() + _SILENT_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pass
        else:
            return
        if time.monotonic() > silent_until:
            said = f"testbed: waiting for another `testbed up` or `down` to release {folder}"
            print(said, file=sys.stderr, flush=True)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            return
        time.sleep(_POLL_S)


def _is_still(folder: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(folder.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
