"""Recognises and reads what other tools wrote, one reader per file, each told by content.

A reader is a module here with `NAME`, `recognises(head)` and `read(path)`; `READERS` lists them.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from switchpoint import measurements
from switchpoint.errors import InputError, NotRecognisedError
from switchpoint.importing import imb, labels, lock, netpipe, osu, record, reframe, tidy
from switchpoint.measurements import Measurements
from switchpoint.record import open_maybe_gzip
from switchpoint.spack_lock import NAME as LOCK


class Reader(Protocol):
    """What a module of this package offers."""

    NAME: str

    def recognises(self, head: bytes) -> bool:
        """Tell whether a file that begins with `head` is of this format."""

    def read(self, path: Path) -> Measurements:
        """Read such a file; raises InputError."""


#: Tried in this order; the first that recognises the beginning of a file reads it.
READERS: list[Reader] = [record, tidy, reframe, netpipe, osu, imb]

_HEAD_BYTES = 2**16


@dataclass
class Gathered:
    """What could be read from several files, and each file that could not."""

    measurements: Measurements | None
    failures: list[InputError]


def read(path: str | os.PathLike[str]) -> Measurements:
    """Read one file of any known format, with what lies beside it: labels, Spack's lock.

    Raises
    ------
    InputError
        If no reader recognises the file, or the one that does cannot read it.
    """
    path = Path(path)
    if path.is_dir():
        raise InputError(path, "is a folder; give a file, such as one of its *.record")
    with open_maybe_gzip(path) as stream:
        try:
            head = stream.read(_HEAD_BYTES)
        except (OSError, EOFError) as error:
            raise InputError(path, f"cannot be read ({error}); copy it again") from None
    if not head.strip():
        raise NotRecognisedError(path, "is empty; measure again, or remove it")
    for reader in READERS:
        if reader.recognises(head):
            return lock.attach(reader.read(path), path.parent)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise NotRecognisedError(path, "is UTF-16 text; save it as UTF-8")
    if b"\0" in head:
        raise NotRecognisedError(path, "is a binary file; give text: " + _known())
    raise NotRecognisedError(path, "is not recognised; known are " + _known())


def find_files(paths: Iterable[str | os.PathLike[str]]) -> list[Path]:
    """Replace each folder by the files under it, in order of name.

    Hidden files and folders, and what is read together with another file, are left out.
    """
    found: list[Path] = []
    for path in map(Path, paths):
        if not path.is_dir():
            found.append(path)
            continue
        for folder, folders, names in os.walk(path):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            found += [
                Path(folder, name)
                for name in sorted(names)
                if not name.startswith(".") and not name.endswith((labels.SUFFIX, LOCK))
            ]
    return found


def read_files(
    paths: Iterable[str | os.PathLike[str]], progress: Callable[[], object] = lambda: None
) -> Gathered:
    """Read many files and all files under folders; a bad one is kept as its error.

    Parameters
    ----------
    paths
        Files of any known formats, and folders of such.
    progress
        Called after each file.
    """
    return read_found(find_files(paths), progress)


def read_found(files: Iterable[Path], progress: Callable[[], object] = lambda: None) -> Gathered:
    """Read as `read_files` what `find_files` returned, without looking for folders again."""
    parts, failures = [], []
    for path in files:
        try:
            parts.append(read(path))
        except InputError as error:
            failures.append(error)
        progress()
    return Gathered(measurements.concat(parts) if parts else None, failures)


def _known() -> str:
    return ", ".join(reader.NAME for reader in READERS)
