"""Imports files into a store: read on all cores, a part of them at a time, kept as they come."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from switchpoint.cores import workers
from switchpoint.errors import InputError
from switchpoint.importing import find_files, read_found
from switchpoint.store import EncodedRun, Store

#: Files and bytes that are read and then stored together; more saves nothing and takes memory.
_PART_FILES = 50
_PART_BYTES = 2**25

#: Fewer files are read sooner than processes for it have started.
_WORTH_A_POOL = 500

#: More cores that read would wait for the one that writes.
_MOST_READERS = 8


@dataclass
class Imported:
    """What became of the files: how many runs they held, and each file that could not be read."""

    added: int = 0
    already_stored: int = 0
    warnings: list[str] = field(default_factory=list)
    failures: list[InputError] = field(default_factory=list)


def import_files(
    paths: Iterable[str | os.PathLike[str]],
    store: Store,
    progress: Callable[[], object] = lambda: None,
) -> Imported:
    """Keep every run of many files, and of all files under folders; a run counts once.

    Parameters
    ----------
    paths
        Files of any known formats, and folders of such.
    store
        Where to keep them.
    progress
        Called after each file.

    Returns
    -------
    Imported
        A bad file is listed there and does no harm to the others.

    Raises
    ------
    InputError
        If the store cannot be written.
    """
    return import_found(find_files(paths), store, progress)


def import_found(
    files: list[Path], store: Store, progress: Callable[[], object] = lambda: None
) -> Imported:
    """Keep as `import_files` what `find_files` returned, without looking for folders again."""
    parts = list(_parts(files))
    outcome = Imported()
    runs: set[str] = set()
    added: set[str] = set()
    with workers(worthwhile=len(files) >= _WORTH_A_POOL, most=_MOST_READERS) as apply:
        done = apply(functools.partial(_encode, store), parts)
        for part, (encoded, warnings, failures) in zip(parts, done, strict=True):
            runs.update(run.place["run_id"] for run in encoded)
            added.update(run.place["run_id"] for run in encoded if store.keep(run))
            outcome.warnings += warnings
            outcome.failures += failures
            for _ in part:
                progress()
    outcome.added = len(added)
    outcome.already_stored = len(runs - added)
    outcome.warnings = list(dict.fromkeys(outcome.warnings))
    return outcome


def _encode(store: Store, part: list[Path]) -> tuple[list[EncodedRun], list[str], list[InputError]]:
    """Read some files: their runs as the store will have them, warnings, and the bad files."""
    gathered = read_found(part)
    if gathered.measurements is None:
        return [], [], gathered.failures
    encoded = list(store.encode(gathered.measurements))
    return encoded, gathered.measurements.warnings, gathered.failures


def _parts(files: list[Path]) -> Iterator[list[Path]]:
    """Neighbouring files, as many as are read together."""
    part: list[Path] = []
    size_bytes = 0
    for path in files:
        own = path.stat().st_size if path.is_file() else 0
        if part and (len(part) == _PART_FILES or size_bytes + own > _PART_BYTES):
            yield part
            part, size_bytes = [], 0
        part.append(path)
        size_bytes += own
    if part:
        yield part
