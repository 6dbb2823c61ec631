"""Writes files and folders completely or not at all, and removes what killed commands left.

What is being written is hidden beside its place. Its writer holds a lock on it, which the system
drops when the writer ends, however it ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

#: The end of the name of everything that is being written.
SUFFIX = ".switchpoint"

#: On file systems without locks, what is this old was left by a writer that was killed.
LEFT_AFTER_S = 3600.0


def write_whole(path: Path, content: bytes, *, swept: bool = False) -> None:
    """Write a file completely or not at all; it is on the disk when this returns.

    A device or a pipe, such as `/dev/stdout`, is written to, and not replaced. What a link names is
    replaced, and not the link. `swept` says that the caller has called `sweep` for its folder,
    which takes long for thousands of files.

    Raises
    ------
    OSError
        If it cannot be written. Then the file is as it was.
    """
    if _is_device(path):
        with path.open("wb") as stream:
            stream.write(content)
        return
    path = Path(os.path.realpath(path))
    with hidden_beside(path, swept=swept) as hidden:
        with hidden.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        hidden.replace(path)


def _is_device(path: Path) -> bool:
    """Return whether a path names no place on a disk. `/dev/stdout` may lead to an open file."""
    special = path.exists() and not (path.is_file() or path.is_dir())
    return special or Path("/dev") in path.absolute().parents


@contextlib.contextmanager
def hidden_beside(path: Path, *, folder: bool = False, swept: bool = False) -> Iterator[Path]:
    """Yield a new hidden file or folder, to be filled and moved to its place.

    At the end it is removed if it was not moved. What killed writers left in the same folder is
    removed at the start, unless the caller `swept` it.
    """
    if not swept:
        sweep(path.parent)
    hidden, lock = _created(path, folder)
    try:
        yield hidden
    finally:
        os.close(lock)
        _remove(hidden)


def sweep(folder: Path) -> None:
    """Remove what killed writers left in a folder."""
    with contextlib.suppress(OSError):
        for left in folder.glob(f".*{SUFFIX}"):
            if (lock := _lock_of_abandoned(left)) is not None:
                _remove(left)
                os.close(lock)


def is_abandoned(hidden: Path) -> bool:
    """Return whether nobody writes to a hidden file or folder any more."""
    lock = _lock_of_abandoned(hidden)
    if lock is not None:
        os.close(lock)
    return lock is not None


def _lock_of_abandoned(hidden: Path) -> int | None:
    """Lock what nobody writes to any more; while it is locked nobody begins to write to it."""
    try:
        lock = os.open(hidden, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    except OSError:  # no locks here
        if time.time() - os.fstat(lock).st_mtime <= LEFT_AFTER_S:
            os.close(lock)
            return None
    return lock


def _created(path: Path, folder: bool) -> tuple[Path, int]:
    """Create a hidden file or folder, and return it with its lock."""
    while True:
        hidden = path.with_name(f".{path.name}.{uuid.uuid4().hex}{SUFFIX}")
        if folder:
            hidden.mkdir()
        else:
            hidden.touch()
        try:
            lock = os.open(hidden, os.O_RDONLY)
        except FileNotFoundError:  # another process swept it before it was locked
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # another process is about to sweep it
            os.close(lock)
            continue
        except OSError:  # no locks here
            return hidden, lock
        if hidden.exists():
            return hidden, lock
        os.close(lock)


def _remove(hidden: Path) -> None:
    with contextlib.suppress(OSError):
        if hidden.is_dir():
            shutil.rmtree(hidden, ignore_errors=True)
        else:
            hidden.unlink(missing_ok=True)
