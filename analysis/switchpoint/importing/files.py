"""Finds the files to read under the paths that a user gives."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from switchpoint.errors import InputError, NotRecognisedError, Reason
from switchpoint.importing import labels
from switchpoint.importing.choices import Choices
from switchpoint.importing.layout import PathPattern, names_by_pattern
from switchpoint.regular_files import open_regular
from switchpoint.spack.lock import NAME as LOCK

#: The file at the top of a store. What lies in a store is not read as a benchmark's output.
STORE_MARK = "store.json"


@dataclass(frozen=True)
class Found:
    """A file to read.

    Attributes
    ----------
    path : Path
    names : dict or None
        What a `--path` pattern reads from its path; None if no pattern matches.
    choices : Choices
        What the user says about its columns.
    """

    path: Path
    names: dict[str, str] | None = None
    choices: Choices = field(default_factory=Choices)


@dataclass
class Files:
    """What lies below the given paths: files to read, and failures."""

    found: list[Found] = field(default_factory=list)
    failures: list[InputError] = field(default_factory=list)

    @property
    def count(self) -> int:
        """The number of files, including those that cannot be read."""
        return len(self.found) + len(self.failures)


def find_files(
    paths: Iterable[str | os.PathLike[str]],
    patterns: Sequence[PathPattern] = (),
    without: Iterable[Path] = (),
    choices: Choices | None = None,
) -> Files:
    """Replace each folder by the files below it, sorted by name.

    Hidden files and folders, links to folders, stores, and files that are read together with
    another file are skipped.

    Parameters
    ----------
    paths
        Files and folders.
    patterns
        How to name a file from its path below the given folder. If the file itself is given, from
        its path below the current folder.
    without
        Folders and files to skip if they lie below one of the paths, such as the store's own.
    choices
        What the user says about the columns of all files.

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
    chosen = choices or Choices()
    names = names_by_pattern(placed, patterns) if patterns else {}
    return Files([Found(path, names.get(path), chosen) for path, _ in placed], failures)


def _walk(root: Path, failures: list[InputError], left_out: set[Path]) -> Iterator[Path]:
    """Return files below a folder, sorted by name. Unreadable folders become failures."""

    def refuse(error: OSError) -> None:
        failures.append(InputError(error.filename or root, f"{error.strerror}; check the path"))

    names_left_out = {path.name for path in left_out}
    for folder, folders, names in os.walk(root, onerror=refuse):
        if STORE_MARK in names and Path(folder, STORE_MARK).resolve() not in left_out:
            failures.append(
                NotRecognisedError(
                    folder, f"is a store; give it with --store {folder}", Reason.STORE
                )
            )
            folders.clear()
            continue
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".")
            and not (left_out and Path(folder, name).resolve() in left_out)
        )
        failures += (
            NotRecognisedError(
                Path(folder, name), "is a link to a folder; give the folder", Reason.LINK
            )
            for name in folders
            if Path(folder, name).is_symlink()
        )
        skipped = _REFRAMES_OWN if _kept_curves(Path(folder), names) else ()
        yield from (
            Path(folder, name)
            for name in sorted(names)
            if not name.startswith((".", *skipped))
            and not name.endswith((labels.SUFFIX, LOCK))
            and not (name in names_left_out and Path(folder, name).resolve() in left_out)
        )


#: The start of names of ReFrame's own files for a test's job and build.
_REFRAMES_OWN = ("rfm_job.", "rfm_build.")


def _kept_curves(folder: Path, names: list[str]) -> bool:
    """Return whether one of our checks left curves in a folder, so its job output is not needed.

    Checks of other projects may only leave their job output.
    """
    for name in names:
        if name.startswith(_REFRAMES_OWN):
            continue
        if name.endswith(".record"):
            return True
        if name.endswith(".out"):
            try:
                with open_regular(Path(folder, name)) as stream:
                    if stream.read(len(labels.COMMENT)) == labels.COMMENT:
                        return True
            except OSError:
                continue
    return False
