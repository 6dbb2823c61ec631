"""Recognises and reads what other tools wrote, one reader per file, each told by content.

A reader is a module here with `NAME`, `recognises(head)` and `read(path, around)`; `READERS` lists
them.
"""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Protocol

from switchpoint.errors import InputError, NotRecognisedError, Reason
from switchpoint.importing import imb, labels, lock, netpipe, osu, record, reframe, tidy
from switchpoint.importing.labels import FolderLabels, Surroundings
from switchpoint.importing.layout import PathPattern, names_by_pattern, reframe_names
from switchpoint.records.record import open_maybe_gzip
from switchpoint.spack.lock import NAME as LOCK
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


@dataclass(frozen=True)
class Found:
    """A file to read.

    Attributes
    ----------
    path : Path
    names : dict or None
        What a `--path` pattern reads from where it lies, None where none matches.
    """

    path: Path
    names: dict[str, str] | None = None


@dataclass
class Files:
    """What lies under the paths that were given: files to read, and what cannot be one."""

    found: list[Found] = field(default_factory=list)
    failures: list[InputError] = field(default_factory=list)

    @property
    def count(self) -> int:
        """How many files were there, those that cannot be read too."""
        return len(self.found) + len(self.failures)


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


def find_files(
    paths: Iterable[str | os.PathLike[str]],
    patterns: Sequence[PathPattern] = (),
    without: Iterable[Path] = (),
) -> Files:
    """Replace each folder by the files under it, in order of name.

    Hidden files and folders, links to folders, and what is read together with another file, are
    left out.

    Parameters
    ----------
    paths
        Files and folders.
    patterns
        How to name a file by its path below its folder; of a file that was given itself, by its
        path below the current folder.
    without
        Folders to leave out where they lie below one of the paths, such as the store's own.

    Raises
    ------
    InputError
        If a pattern matches no file.
    """
    placed: list[tuple[Path, PurePath]] = []
    failures: list[InputError] = []
    left_out = {folder.resolve() for folder in without}
    for path in map(Path, paths):
        if not path.is_dir():
            absolute = path.absolute()
            here = Path.cwd()
            below = absolute.relative_to(here if absolute.is_relative_to(here) else "/")
            placed.append((path, below))
            continue
        placed += ((file, file.relative_to(path)) for file in _walk(path, failures, left_out))
    if not patterns:
        return Files([Found(path) for path, _ in placed], failures)
    names = names_by_pattern(placed, patterns)
    return Files([Found(path, names.get(path)) for path, _ in placed], failures)


def _walk(root: Path, failures: list[InputError], left_out: set[Path]) -> Iterator[Path]:
    """Files under a folder, in order of name; folders that cannot be opened become failures."""

    def refuse(error: OSError) -> None:
        failures.append(InputError(error.filename or root, f"{error.strerror}; check the path"))

    for folder, folders, names in os.walk(root, onerror=refuse):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".")
            and not (left_out and Path(folder, name).resolve() in left_out)
        )
        failures += (
            NotRecognisedError(Path(folder, name), "is a link to a folder; give that", Reason.LINK)
            for name in folders
            if Path(folder, name).is_symlink()
        )
        skipped = _REFRAMES_OWN if _kept_curves(Path(folder), names) else ()
        yield from (
            Path(folder, name)
            for name in sorted(names)
            if not name.startswith((".", *skipped)) and not name.endswith((labels.SUFFIX, LOCK))
        )


#: Beginnings of what ReFrame itself writes of a test's job and build.
_REFRAMES_OWN = ("rfm_job.", "rfm_build.")


def _kept_curves(folder: Path, names: list[str]) -> bool:
    """Whether a check of ours kept its curves in a folder: what its job printed is no other one.

    Other projects' checks may keep nothing but what the job printed.
    """
    for name in names:
        if name.startswith(_REFRAMES_OWN):
            continue
        if name.endswith(".record"):
            return True
        if name.endswith(".out"):
            try:
                with Path(folder, name).open("rb") as stream:
                    if stream.read(len(labels.COMMENT)) == labels.COMMENT:
                        return True
            except OSError:
                continue
    return False


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
