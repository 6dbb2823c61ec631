"""Recognises and reads the files of all tools. The content of a file selects its reader.

A reader is a module here with `NAME`, `recognises(head)` and `read(path, around)`. `READERS` lists
them, with those of `benchmarks.BENCHMARKS`.
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
from switchpoint.importing import bundle, drawn, embedded, lock, nccl_json, record, reframe, tidy
from switchpoint.importing.benchmarks import BENCHMARKS
from switchpoint.importing.files import Found, find_files
from switchpoint.importing.labels import FolderLabels, Surroundings
from switchpoint.importing.layout import PathPattern, reframe_names
from switchpoint.importing.near_misses import near_miss
from switchpoint.printable import printable
from switchpoint.records.lines import guarded, open_maybe_gzip
from switchpoint.tables import measurements
from switchpoint.tables.measurements import Measurements
from switchpoint.tables.unlike import tell_apart
from switchpoint.tables.validity import problem_of


class Reader(Protocol):
    """The interface of a reader module."""

    NAME: str

    def recognises(self, head: bytes) -> bool:
        """Return whether a file that begins with `head` has this format."""

    def read(self, path: Path, around: Surroundings) -> Measurements:
        """Read such a file, with names from its path and folders; raises InputError."""


#: All readers. The first one that recognises the start of a file reads it.
READERS: list[Reader] = [
    record, bundle, tidy, reframe, nccl_json, embedded, *BENCHMARKS, drawn,
]  # fmt: skip

_HEAD_BYTES = 2**16


@dataclass
class Gathered:
    """The measurements of several files, and a failure for each file that cannot be read."""

    measurements: Measurements | None
    failures: list[InputError]


def read(path: str | os.PathLike[str]) -> Measurements:
    """Read one file of any known format, with labels and Spack's lock from its folder.

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
    """Read many files and all files below folders. A bad file becomes a failure.

    Runs with the same names that cannot be launches of one curve are separated (`tables.unlike`).

    Parameters
    ----------
    paths
        Files of any known formats, and folders with such files.
    progress
        Called after each file.
    patterns
        As for `find_files`.
    """
    files = find_files(paths, patterns)
    gathered = read_found(files.found, progress)
    measurements = gathered.measurements
    return Gathered(measurements and tell_apart(measurements), files.failures + gathered.failures)


def read_found(files: Iterable[Found], progress: Callable[[], object] = lambda: None) -> Gathered:
    """Read the files that `find_files` found, as `read_files` does, but compare no runs."""
    parts, failures = [], []
    above = FolderLabels()
    for file in files:
        try:
            parts.append(_read(file, above))
        except InputError as error:
            failures.append(_bare(error))
        progress()
    return Gathered(measurements.concat(parts) if parts else None, failures)


def _bare(error: InputError) -> InputError:
    """Return an error without its traceback, whose frames would keep each bad file in memory."""
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)


def _read(file: Found, above: FolderLabels) -> Measurements:
    """Read one file. Any problem becomes an InputError that names the file."""
    path = file.path
    try:
        head = _head(path)
        for reader in READERS:
            chosen = reader in (tidy, drawn) and reader.has_chosen(head, file.choices)
            if chosen or reader.recognises(head):
                place = path.absolute()
                layout = reframe_names(place) if file.names is None else {}
                said = (file.names or {}) | above.of(place.parent)
                measured = reader.read(path, Surroundings(said, layout, file.choices))
                if reader is not bundle:  # its runs were not built beside it
                    measured = lock.attach(measured, path.parent)
                if problem := problem_of(measured):
                    raise InputError(path, f"{problem}; measure again, or correct it")
                return measured
    except InputError:
        raise
    except Exception as error:  # an unexpected error affects only this file
        raise unforeseen(path, error) from error
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise NotRecognisedError(path, "is UTF-16 text; save it as UTF-8", Reason.UTF_16)
    if b"\0" in head:
        raise NotRecognisedError(path, "is a binary file; give text: " + _known(), Reason.BINARY)
    if looks_like := near_miss(head):
        raise NotRecognisedError(path, f"looks like {looks_like}", looks_like=looks_like)
    raise NotRecognisedError(path, "is not recognised; known are " + _known())


def is_recognised(path: Path) -> bool:
    """Return whether a reader recognises the start of a file."""
    try:
        head = _head(path)
    except InputError:
        return False
    return any(reader.recognises(head) for reader in READERS)


def unforeseen(path: Path, error: Exception) -> InputError:
    """Describe an unexpected exception as the problem of its file."""
    what = (printable(str(error)).splitlines() or ["no details"])[0][:120]
    kind = f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("builtins.")
    return InputError(path, f"cannot be read ({kind}: {what}); do not import it")


def _head(path: Path) -> bytes:
    """Return the unpacked start of a file; raises InputError."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise InputError(path, f"{error.strerror}; check the path") from None
    if not stat.S_ISREG(mode):  # opening a pipe would wait for ever
        raise NotRecognisedError(path, "is not a file but a pipe, socket or device", Reason.SPECIAL)
    with open_maybe_gzip(path) as stream:
        head = guarded(path, stream.read, _HEAD_BYTES)
    if not head.strip():
        raise NotRecognisedError(path, "is empty; measure again, or remove it", Reason.EMPTY)
    return head


def _known() -> str:
    return ", ".join(reader.NAME for reader in READERS)
