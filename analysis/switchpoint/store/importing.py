"""Imports files into a store: read on all cores, a part of them at a time, kept as they come."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import pandas as pd

from switchpoint.cores import workers
from switchpoint.errors import InputError
from switchpoint.importing.files import Files, Found, find_files
from switchpoint.importing.layout import PathPattern
from switchpoint.importing.reading import read_found, unforeseen
from switchpoint.store.store import EncodedRun, Store
from switchpoint.tables.measurements import concat_values, no_values

#: Files and bytes that are read and then stored together; more saves nothing and takes memory.
_PART_FILES = 50
_PART_BYTES = 2**25

#: Fewer files are read sooner than processes for it have started.
_WORTH_A_POOL = 500

#: More cores that read would wait for the one that writes.
_MOST_READERS = 8


@dataclass
class Imported:
    """What became of the files.

    Attributes
    ----------
    added, already_stored : int
        Runs.
    values_added, values_already_stored, values_tests : int
        Single values, and of how many tests those were that were added.
    warnings : list of str
    failures : list of InputError
        Each file that could not be read.
    """

    added: int = 0
    already_stored: int = 0
    values_added: int = 0
    values_already_stored: int = 0
    values_tests: int = 0
    warnings: list[str] = field(default_factory=list)
    failures: list[InputError] = field(default_factory=list)

    @property
    def nothing(self) -> bool:
        """Whether no file held anything to keep."""
        runs = self.added + self.already_stored
        return runs + self.values_added + self.values_already_stored == 0


def import_files(
    paths: Iterable[str | os.PathLike[str]],
    store: Store,
    progress: Callable[[], object] = lambda: None,
    patterns: Sequence[PathPattern] = (),
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
    patterns
        How to name files by where they lie, see `importing.find_files`.

    Returns
    -------
    Imported
        A bad file is listed there and does no harm to the others.

    Raises
    ------
    InputError
        If the store cannot be written, or a pattern matches no file.
    """
    return import_found(find_files(paths, patterns, store.folders), store, progress)


def import_found(
    files: Files, store: Store, progress: Callable[[], object] = lambda: None
) -> Imported:
    """Keep as `import_files` what `find_files` found, without looking for folders again."""
    parts = list(_parts(files.found))
    outcome = Imported(failures=list(files.failures))
    runs: set[str] = set()
    added: set[str] = set()
    values = []
    with workers(worthwhile=len(files.found) >= _WORTH_A_POOL, most=_MOST_READERS) as apply:
        done = apply(functools.partial(_encode, store), parts)
        for part, encoded in zip(parts, done, strict=True):
            runs.update(run.place["run_id"] for run in encoded.runs)
            added.update(run.place["run_id"] for run in encoded.runs if store.keep(run))
            outcome.warnings += encoded.warnings
            outcome.failures += encoded.failures
            values.append(encoded.single_values)
            for _ in part:
                progress()
    outcome.added = len(added)
    outcome.already_stored = len(runs - added)
    outcome.warnings = list(dict.fromkeys(outcome.warnings))
    _keep_values(store, concat_values(values), outcome)
    return outcome


def _keep_values(store: Store, values: pd.DataFrame, outcome: Imported) -> None:
    fresh = store.keep_values(values)
    outcome.values_added = len(fresh)
    outcome.values_already_stored = len(values) - len(fresh)
    outcome.values_tests = len(fresh[["site", "partition", "environ", "test"]].drop_duplicates())


@dataclass
class _Encoded:
    """Some files as the store will have them, and what is to be said of them."""

    runs: list[EncodedRun]
    single_values: pd.DataFrame
    warnings: list[str]
    failures: list[InputError]


def _encode(store: Store, part: list[Found]) -> _Encoded:
    """Read some files together; one at a time where together they cannot be encoded."""
    try:
        return _encode_together(store, part)
    except InputError:  # of the store
        raise
    except Exception as error:
        if len(part) > 1:
            return _joined([_encode(store, [file]) for file in part])
        return _Encoded([], no_values(), [], [unforeseen(part[0].path, error)])


def _encode_together(store: Store, part: list[Found]) -> _Encoded:
    gathered = read_found(part)
    found = gathered.measurements
    if found is None:
        return _Encoded([], no_values(), [], gathered.failures)
    encoded = list(store.encode(found))
    return _Encoded(encoded, found.single_values, found.warnings, gathered.failures)


def _joined(parts: list[_Encoded]) -> _Encoded:
    return _Encoded(
        [run for part in parts for run in part.runs],
        concat_values([part.single_values for part in parts]),
        [warning for part in parts for warning in part.warnings],
        [failure for part in parts for failure in part.failures],
    )


def _parts(files: list[Found]) -> Iterator[list[Found]]:
    """Neighbouring files, as many as are read together."""
    part: list[Found] = []
    size_bytes = 0
    for file in files:
        own = file.path.stat().st_size if file.path.is_file() else 0
        if part and (len(part) == _PART_FILES or size_bytes + own > _PART_BYTES):
            yield part
            part, size_bytes = [], 0
        part.append(file)
        size_bytes += own
    if part:
        yield part
