"""The files of a store, on any file system that fsspec knows: written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

import fsspec
from fsspec.implementations.local import LocalFileSystem

from switchpoint.errors import InputError
from switchpoint.whole_files import LEFT_AFTER_S, SUFFIX, is_abandoned, write_whole

#: A file system without locks says one of these, such as Lustre that is mounted without `flock`.
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}


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
        except (ValueError, ImportError) as error:
            raise InputError(url, f"cannot be a store ({error})") from None

    @property
    def local(self) -> bool:
        """Whether the store is a folder of this machine."""
        return isinstance(self.system, LocalFileSystem)

    def below(self, folder: str) -> list[str]:
        """Return the Parquet files below a folder of the store, sorted; none if it is missing."""
        start = f"{self.root}/{folder}"
        self.check_access(start)
        with self._refusals("{}; choose another --store"):
            self.system.invalidate_cache()  # others write too
            found = self.system.find(start) if self.system.isdir(start) else []
        return sorted(
            path
            for path in found
            if path.endswith(".parquet") and not path.rpartition("/")[2].startswith(".")
        )

    def size(self, path: str) -> int:
        """Return a file's bytes; 0 if another command has just removed it."""
        try:
            return int(self.system.size(path))
        except FileNotFoundError:
            return 0

    def exists(self, path: str) -> bool:
        """Whether there is such a file."""
        with self._refusals("{}; choose another --store"):
            return bool(self.system.exists(path))

    def read(self, path: str) -> bytes:
        """Return the content of a file."""
        with self._refusals("{}; choose another --store"):
            return bytes(self.system.cat_file(path))

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
        modified = self.system.modified(path)
        return bool((datetime.now(timezone.utc) - modified).total_seconds() > LEFT_AFTER_S)

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
            lock = os.open(f"{self.root}/.rewriting", os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o666)
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
            reason = error.strerror or str(error).splitlines()[0]
            raise InputError(self.url, problem.format(reason)) from None
        except Exception as error:
            if self.local:
                raise
            # Back ends of fsspec raise what their libraries raise, such as botocore's own errors.
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise InputError(self.url, problem.format(reason)) from None


def _sync_folder(folder: str) -> None:
    """Make the names of new files last; some network file systems cannot, and need not."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
