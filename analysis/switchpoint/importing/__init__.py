"""Recognises and reads what other tools wrote, one reader per file, each told by content.

A reader is a module here with `NAME`, `recognises(head)` and `read(path)`; `READERS` lists them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from switchpoint import measurements
from switchpoint.errors import InputError
from switchpoint.importing import netpipe, record, tidy
from switchpoint.measurements import Measurements
from switchpoint.record import open_maybe_gzip


class Reader(Protocol):
    """What a module of this package offers."""

    NAME: str

    def recognises(self, head: bytes) -> bool:
        """Tell whether a file that begins with `head` is of this format."""

    def read(self, path: Path) -> Measurements:
        """Read such a file; raises InputError."""


#: Tried in this order; the first that recognises the beginning of a file reads it.
READERS: list[Reader] = [record, tidy, netpipe]

_HEAD_BYTES = 2**16


@dataclass
class Gathered:
    """What could be read from several files, and each file that could not."""

    measurements: Measurements | None
    failures: list[InputError]


def read(path: str | os.PathLike[str]) -> Measurements:
    """Read one file of any known format.

    Raises
    ------
    InputError
        If no reader recognises the file, or the one that does cannot read it.
    """
    path = Path(path)
    if path.is_dir():
        raise InputError(path, "is a folder; give files, such as its *.record")
    with open_maybe_gzip(path) as stream:
        try:
            head = stream.read(_HEAD_BYTES)
        except (OSError, EOFError) as error:
            raise InputError(path, f"cannot be read ({error}); copy it again") from None
    if not head.strip():
        raise InputError(path, "is empty; measure again, or remove it")
    for reader in READERS:
        if reader.recognises(head):
            return reader.read(path)
    if b"\0" in head:
        raise InputError(path, "is a binary file; give text: " + _known())
    raise InputError(path, "is not recognised; known are " + _known())


def read_files(
    paths: Iterable[str | os.PathLike[str]], progress: Callable[[], object] = lambda: None
) -> Gathered:
    """Read many files; a bad one is kept as its error and the rest goes on.

    Parameters
    ----------
    paths
        Files of any known formats.
    progress
        Called after each file.
    """
    parts, failures = [], []
    for path in paths:
        try:
            parts.append(read(path))
        except InputError as error:
            failures.append(error)
        progress()
    return Gathered(measurements.concat(parts) if parts else None, failures)


def _known() -> str:
    return ", ".join(reader.NAME for reader in READERS)
