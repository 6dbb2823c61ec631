"""Recognises and reads what other tools wrote, one reader per file, each told by content.

A reader is a module here with `NAME`, `recognises(head)` and `read(path, around)`; `READERS` lists
them.
"""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from switchpoint.errors import InputError, NotRecognisedError, Reason
from switchpoint.importing import imb, lock, netpipe, osu, record, reframe, tidy
from switchpoint.importing.files import Found, find_files
from switchpoint.importing.labels import FolderLabels, Surroundings
from switchpoint.importing.layout import PathPattern, reframe_names
from switchpoint.records.lines import open_maybe_gzip
from switchpoint.tables import measurements
from switchpoint.tables.measurements import Measurements


class Reader(Protocol):
    """What a module of this package offers."""

    NAME: str

    def recognises(self, head: bytes) -> bool:
        """Tell whether a file that begins with `head` is of this format."""

    def read(self, path: Path, around: Surroundings) -> Measurements:
        """Read such a file, named by what stands around it; raises InputError."""


#: Tried in this order; the first that recognises the beginning of a file reads it.
READERS: list[Reader] = [record, tidy, reframe, netpipe, osu, imb]

_HEAD_BYTES = 2**16


@dataclass
class Gathered:
    """What could be read from several files, and each file that could not."""

    measurements: Measurements | None
    failures: list[InputError]


def read(path: str | os.PathLike[str]) -> Measurements:
    """Read one file of any known format, with what stands around it: labels, Spack's lock.

    Raises
    ------
    InputError
        If no reader recognises the file, or the one that does cannot read it.
    """
    path = Path(path)
    if path.is_dir():
        raise InputError(path, "is a folder; give a file, such as one of its *.record")
    return _read(Found(path), FolderLabels())


def read_files(
    paths: Iterable[str | os.PathLike[str]],
    progress: Callable[[], object] = lambda: None,
    patterns: Sequence[PathPattern] = (),
) -> Gathered:
    """Read many files and all files under folders; a bad one is kept as its error.

    Parameters
    ----------
    paths
        Files of any known formats, and folders of such.
    progress
        Called after each file.
    patterns
        As for `find_files`.
    """
    files = find_files(paths, patterns)
    gathered = read_found(files.found, progress)
    return Gathered(gathered.measurements, files.failures + gathered.failures)


def read_found(files: Iterable[Found], progress: Callable[[], object] = lambda: None) -> Gathered:
    """Read as `read_files` what `find_files` found, without looking for folders again."""
    parts, failures = [], []
    above = FolderLabels()
    for file in files:
        try:
            parts.append(_read(file, above))
        except InputError as error:
            failures.append(error)
        progress()
    return Gathered(measurements.concat(parts) if parts else None, failures)


def _read(file: Found, above: FolderLabels) -> Measurements:
    """Read one file; whatever is wrong with it becomes an InputError that names it."""
    path = file.path
    try:
        head = _head(path)
        for reader in READERS:
            if reader.recognises(head):
                place = path.absolute()
                layout = reframe_names(place) if file.names is None else {}
                said = (file.names or {}) | above.of(place.parent)
                found = reader.read(path, Surroundings(said, layout))
                return lock.attach(found, path.parent)
    except InputError:
        raise
    except Exception as error:  # what no reader foresaw costs this file and no other
        raise unforeseen(path, error) from error
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise NotRecognisedError(path, "is UTF-16 text; save it as UTF-8", Reason.UTF_16)
    if b"\0" in head:
        raise NotRecognisedError(path, "is a binary file; give text: " + _known(), Reason.BINARY)
    raise NotRecognisedError(path, "is not recognised; known are " + _known())


def unforeseen(path: Path, error: Exception) -> InputError:
    """Word an exception that no reader foresaw as what is wrong with its file."""
    what = (str(error).splitlines() or ["no more is known"])[0][:120]
    kind = f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("builtins.")
    return InputError(path, f"cannot be read ({kind}: {what}); leave it out")


def _head(path: Path) -> bytes:
    """Beginning of a file, unpacked; raises InputError."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise InputError(path, f"{error.strerror}; check the path") from None
    if not stat.S_ISREG(mode):  # to open a pipe would wait for ever
        raise NotRecognisedError(path, "is no file but a pipe, socket or device", Reason.SPECIAL)
    with open_maybe_gzip(path) as stream:
        try:
            head = stream.read(_HEAD_BYTES)
        except (OSError, EOFError) as error:
            raise InputError(path, f"cannot be read ({error}); copy it again") from None
    if not head.strip():
        raise NotRecognisedError(path, "is empty; measure again, or remove it", Reason.EMPTY)
    return head


def _known() -> str:
    return ", ".join(reader.NAME for reader in READERS)
