"""Imports files into a store: read on all cores, a part of them at a time, kept as they come."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from switchpoint.cores import workers
from switchpoint.errors import InputError
from switchpoint.importing import find_files, read_files
from switchpoint.store import Store

#: Files and bytes that are read and then stored together; more saves nothing and takes memory.
_PART_FILES = 50
_PART_BYTES = 2**25

#: Fewer files are read sooner than processes for it have started.
_WORTH_A_POOL = 500


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
    files = find_files(paths)
    parts = list(_parts(files))
    outcome = Imported()
    runs: set[str] = set()
    with workers(worthwhile=len(files) >= _WORTH_A_POOL) as apply:
        for part, gathered in zip(parts, apply(read_files, parts), strict=True):
            outcome.failures += gathered.failures
            if gathered.measurements is not None:
                runs.update(gathered.measurements.runs["run_id"])
                outcome.added += store.add(gathered.measurements)
                outcome.warnings += gathered.measurements.warnings
            for _ in part:
                progress()
    # A run that came truncated and then whole was written twice.
    outcome.added = min(outcome.added, len(runs))
    outcome.already_stored = len(runs) - outcome.added
    outcome.warnings = list(dict.fromkeys(outcome.warnings))
    return outcome


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
