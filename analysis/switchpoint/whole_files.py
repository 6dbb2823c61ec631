"""Writes files and folders completely or not at all, and removes what killed commands left.

What is being written is hidden beside its place. Its writer holds a lock on it, which the system
drops when the writer ends, however it ends. Files are created, not followed: nothing is written
through a link, or into a pipe or a device that somebody laid in the way.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import shutil
import stat
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

#: The end of the name of everything that is being written.
SUFFIX = ".switchpoint"

#: Names of what is being written.
_HIDDEN = re.compile(rf"\..+\.[0-9a-f]{{32}}{re.escape(SUFFIX)}", re.DOTALL)

#: On file systems without locks, what is this old was left by a writer that was killed.
LEFT_AFTER_S = 3600.0

#: Streams that the caller has opened for its output.
_STREAM = re.compile(r"/dev/(stdout|stderr|null|fd/[0-9]+)")


def write_whole(path: Path, content: bytes, *, swept: bool = False) -> None:
    """Write a file completely or not at all; it is on the disk when this returns.

    An open stream of the caller, such as `/dev/stdout`, is written to, and not replaced. `swept`
    says that the caller has called `sweep` for its folder, which takes long for thousands of files.

    Raises
    ------
    OSError
        If it cannot be written, or if there is something else than a file. Then the file is as it
        was.
    """
    if _STREAM.fullmatch(os.fspath(path)):
        with path.open("wb") as stream:
            stream.write(content)
        return
    with hidden_beside(path, swept=swept) as hidden:
        with hidden.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        hidden.replace(path)


def append_text(path: Path, text: str) -> None:
    """Append to a file, completely or not at all. It is created if it does not exist.

    Raises
    ------
    OSError
        If it cannot be written, or if there is something else than a file.
    """
    _refuse_others_than_files(path)
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    file = os.open(path, flags, 0o666)
    try:
        before = os.fstat(file).st_size
        left = text.encode()
        try:
            while left:
                left = left[os.write(file, left) :]
        except OSError:  # on a full disk, a part of a line would spoil the next one
            os.ftruncate(file, before)
            raise
    finally:
        os.close(file)


def _refuse_others_than_files(path: Path) -> None:
    """Raise OSError if a path is that of a link, pipe, socket or device."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if stat.S_ISLNK(mode):
        raise OSError(errno.ELOOP, "it is a symbolic link", os.fspath(path))
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise OSError(errno.EINVAL, "it is a pipe, socket or device", os.fspath(path))


@contextlib.contextmanager
def hidden_beside(path: Path, *, folder: bool = False, swept: bool = False) -> Iterator[Path]:
    """Yield a new hidden file or folder, to be filled and moved to its place.

    At the end it is removed if it was not moved. What killed writers left in the same folder is
    removed at the start, unless the caller `swept` it.

    Raises
    ------
    OSError
        If it cannot be created, or if its place is that of a link, pipe, socket or device.
    """
    if not path.name:  # the current folder, as an empty path, or the root
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    _refuse_others_than_files(path)
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
            if not _HIDDEN.fullmatch(left.name):
                continue
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
        lock = _opened(hidden)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        abandoned = False
    except OSError:  # no locks here
        abandoned = _is_old(lock)
    else:
        return lock
    if abandoned:
        return lock
    os.close(lock)
    return None


def _opened(hidden: Path, new: int = 0) -> int:
    """Open a hidden file or folder to lock it. NFS locks only what is open for writing.

    `new` are the flags that create a file.
    """
    plain = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        return os.open(hidden, os.O_RDWR | plain | new, 0o666)
    except (IsADirectoryError, PermissionError):
        if new:
            raise
        return os.open(hidden, os.O_RDONLY | plain)


def _is_old(lock: int) -> bool:
    try:
        return time.time() - os.fstat(lock).st_mtime > LEFT_AFTER_S
    except OSError:  # another machine has just removed it
        return False


def _created(path: Path, folder: bool) -> tuple[Path, int]:
    """Create a hidden file or folder, and return it with its lock."""
    while True:
        hidden = path.with_name(f".{path.name}.{uuid.uuid4().hex}{SUFFIX}")
        try:
            if folder:
                hidden.mkdir()
            new = 0 if folder else os.O_CREAT | os.O_EXCL
            lock = _opened(hidden, new)
        except FileNotFoundError:
            if not folder or not path.parent.is_dir():
                raise
            continue  # another process swept it before it was locked
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
