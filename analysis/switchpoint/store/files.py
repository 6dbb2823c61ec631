"""The files of a store, on any file system that fsspec knows: written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import BinaryIO

import fsspec
from fsspec.implementations.local import LocalFileSystem

from switchpoint.errors import InputError
from switchpoint.limits import JSON_BYTES
from switchpoint.regular_files import open_regular, read_limited
from switchpoint.whole_files import LEFT_AFTER_S, SUFFIX, is_abandoned, write_whole

#: A file system without locks says one of these, such as Lustre that is mounted without `flock`.
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}

#: What is this old, and incomplete, was left by a writer that was killed.
LEFT_AFTER = timedelta(seconds=LEFT_AFTER_S)


class Rewritten(Exception):  # noqa: N818  no error: the reader lists the files again
    """Another command has joined or removed a file since it was listed."""


class StoreFiles:
    """The folder of a store.

    Parameters
    ----------
    url
        A folder, or any URL that fsspec supports.

    Attributes
    ----------
    system : fsspec.AbstractFileSystem
    root : str
        Path of the store in this file system.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        if not url.strip():
            raise InputError("--store", "the name is empty; give a folder or a URL")
        try:
            self.system, self.root = fsspec.url_to_fs(url)
        except Exception as error:  # whatever a back end of fsspec raises
            reason = first_line(error)
            raise InputError(url, f"cannot be a store ({reason}); give a folder") from None
        try:
            self.root.encode()
        except UnicodeEncodeError:
            problem = "its path is not in UTF-8, which Parquet files need; give another --store"
            raise InputError(url, problem) from None

    @property
    def local(self) -> bool:
        """Whether the store is a folder of this machine."""
        return isinstance(self.system, LocalFileSystem)

    def below(self, folder: str) -> list[str]:
        """Return the Parquet files below a folder of the store, sorted; none if it is missing."""
        start = f"{self.root}/{folder}"
        self.check_access(start)
        with self._refusals("{}; choose another --store"):
            if self.local:
                paths = _files_below(start)
            else:
                self.system.invalidate_cache()  # others write too
                paths = self.system.find(start) if self.system.isdir(start) else []
        return sorted(
            path
            for path in paths
            if path.endswith(".parquet") and not path.rpartition("/")[2].startswith(".")
        )

    def size(self, path: str) -> int:
        """Return a file's bytes; 0 if another command has just removed it, or it is not known."""
        try:
            return int(self.system.size(path))
        except OSError:
            return 0

    def exists(self, path: str) -> bool:
        """Whether there is such a file, or a link of this name that leads nowhere.

        A file about which nothing is known is an error: it would look removed otherwise.
        """
        with self._refusals("{}; choose another --store"):
            if not self.local:
                return bool(self.system.exists(path))
            try:
                Path(path).lstat()
            except (FileNotFoundError, NotADirectoryError):
                return False
            return True

    def leads_nowhere(self, path: str) -> bool:
        """Whether a file is only a link, and what it names cannot be found."""
        return self.local and Path(path).is_symlink() and not os.path.exists(path)  # noqa: PTH110

    def open(self, path: str) -> BinaryIO:
        """Open a file to read its bytes; OSError if it cannot be opened."""
        return open_regular(path) if self.local else self.system.open(path, "rb")

    def read(self, path: str) -> bytes:
        """Return the content of a file."""
        with self._refusals("{}; choose another --store"):
            if self.local:
                return read_limited(path, JSON_BYTES)
            with self.system.open(path, "rb") as stream:
                content = bytes(stream.read(JSON_BYTES + 1))
            if len(content) > JSON_BYTES:
                raise InputError(path, f"is larger than {JSON_BYTES // 2**20} MiB; remove it")
            return content

    def write(self, path: str, content: bytes) -> None:
        """Write one file completely or not at all; it is on the disk when this returns."""
        folder = path.rpartition("/")[0]
        with self._refusals("cannot be written ({}); choose another --store"):
            self.system.makedirs(folder, exist_ok=True)
            if not self.local:  # object stores show an object only when it is complete
                self.system.pipe_file(path, content)
                return
            write_whole(Path(path), content)
            _sync_folder(folder)

    def remove(self, paths: list[str]) -> None:
        """Remove files; those that are gone already do not matter."""
        with self._refusals("cannot be changed ({}); choose another --store"):
            for path in paths:
                with contextlib.suppress(FileNotFoundError):
                    self.system.rm_file(path)

    def leftovers(self) -> list[str]:
        """Return hidden files that writers left which were killed."""
        if not self.local:
            return []
        hidden = Path(self.root).rglob(".*.parquet.*")
        return [
            str(path)
            for path in hidden
            if path.is_file()
            and (is_abandoned(path) if path.name.endswith(SUFFIX) else self.is_old(str(path)))
        ]

    def is_old(self, path: str) -> bool:
        """Whether a file is too old to belong to a writer that still runs."""
        modified = self.modified(path)
        return modified is not None and datetime.now(timezone.utc) > modified + LEFT_AFTER

    def modified(self, path: str) -> datetime | None:
        """Return when a file was written; None if it is gone, or it is not known."""
        try:
            written: datetime = self.system.modified(path)
        except OSError:
            return None
        return written

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Let no other process rewrite the store's files; writers of new ones need not wait.

        Where there are no locks, nothing keeps others away. Then nothing is lost either, but one of
        two may find that its files are gone.
        """
        with self._lock() if self.local else contextlib.nullcontext():
            try:
                yield
            except Rewritten:
                raise self._busy() from None

    @contextlib.contextmanager
    def _lock(self) -> Iterator[None]:
        with self._refusals("cannot be changed ({}); choose another --store"):
            lock = _opened_lock(self.root)
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except (BlockingIOError, PermissionError):
                raise self._busy() from None
            except OSError as error:
                if error.errno not in _NO_LOCKS:
                    problem = f"cannot be locked ({error.strerror}); choose another --store"
                    raise InputError(self.url, problem) from None
            yield
        finally:
            os.close(lock)

    def _busy(self) -> InputError:
        problem = "is being rewritten by another command; run this one again later"
        return InputError(self.url, problem)

    def check_access(self, folder: str) -> None:
        """Raise InputError if a folder is not readable: it would look empty otherwise."""
        with self._refusals("{}; choose another --store"):
            if self.system.isfile(self.root):
                raise InputError(self.url, "is a file, not a store; give a folder as --store")
            if self.local:
                with contextlib.suppress(FileNotFoundError):
                    os.scandir(folder).close()

    @contextlib.contextmanager
    def _refusals(self, problem: str) -> Iterator[None]:
        """Turn what a file system refuses into InputError; `problem` has a place for the reason."""
        try:
            yield
        except InputError:
            raise
        except OSError as error:
            reason = error.strerror or first_line(error)
            raise InputError(self.url, problem.format(reason)) from None
        except Exception as error:
            if self.local:
                raise
            # Back ends of fsspec raise what their libraries raise, such as botocore's own errors.
            raise InputError(self.url, problem.format(first_line(error))) from None


def _files_below(folder: str) -> list[str]:
    """Return the files below a folder, without those below links to folders.

    Raises
    ------
    InputError
        If a folder cannot be read: its files would look removed otherwise.
    """
    files = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    files += _files_below(entry.path)
                else:
                    files.append(entry.path)
    except FileNotFoundError:  # another command has just removed it
        return []
    except OSError as error:
        problem = f"{error.strerror}; make the folder readable, or choose another --store"
        raise InputError(folder, problem) from None
    return files


def _opened_lock(root: str) -> int:
    """Open the file that is locked, which only those can do who may write to the store."""
    store = Path(root).stat().st_mode
    rights = 0o600 | (0o060 if store & stat.S_IWGRP else 0) | (0o006 if store & stat.S_IWOTH else 0)
    lock = os.open(
        f"{root}/.rewriting", os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, rights
    )
    with contextlib.suppress(OSError):  # it belongs to somebody else
        os.fchmod(lock, rights)
    return lock


def first_line(error: Exception) -> str:
    """Return the first line of what an exception says, or its name if it says nothing."""
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def _sync_folder(folder: str) -> None:
    """Make the names of new files last; some network file systems cannot, and need not."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
