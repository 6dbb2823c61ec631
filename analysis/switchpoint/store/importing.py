"""Imports files into a store. Reads them on all cores and stores them in parts."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import pandas as pd

from switchpoint.cores import workers
from switchpoint.data_warnings import DataWarning
from switchpoint.errors import InputError
from switchpoint.importing.files import Files, Found, find_files
from switchpoint.importing.layout import PathPattern
from switchpoint.importing.reading import read_found, unforeseen
from switchpoint.store.batches import Encoded
from switchpoint.store.compaction import join_if_many
from switchpoint.store.grown import Earlier, earlier_runs, without_earlier
from switchpoint.store.not_taken import not_taken_of
from switchpoint.store.store import Store
from switchpoint.tables.measurements import concat_values, no_values

#: Files and bytes that are read and then stored together. More needs memory and saves no time.
_PART_FILES = 50
_PART_BYTES = 2**25

#: Fewer files are read faster than processes start.
_WORTH_A_POOL = 500

#: Encoded runs are written together up to this size: fewer files, and not too much memory.
_BATCH_BYTES = 2**28

#: More reading processes would wait for the one that writes.
_MOST_READERS = 8


@dataclass
class Imported:
    """The result of an import.

    Attributes
    ----------
    added, already_stored : int
        Runs.
    values_added, values_already_stored, values_tests : int
        Single values, and the number of tests with added values.
    warnings : list of DataWarning
    failures : list of InputError
        Each file that could not be read.
    """

    added: int = 0
    already_stored: int = 0
    values_added: int = 0
    values_already_stored: int = 0
    values_tests: int = 0
    warnings: list[DataWarning] = field(default_factory=list)
    failures: list[InputError] = field(default_factory=list)

    @property
    def nothing(self) -> bool:
        """Whether no file contained anything to store, now or earlier."""
        runs = self.added + self.already_stored
        earlier = any(warning.kind == "imported_before" for warning in self.warnings)
        return not earlier and runs + self.values_added + self.values_already_stored == 0


def import_files(
    paths: Iterable[str | os.PathLike[str]],
    store: Store,
    progress: Callable[[], object] = lambda: None,
    patterns: Sequence[PathPattern] = (),
) -> Imported:
    """Store every run of many files, and of all files below folders. A run counts once.

    Parameters
    ----------
    paths
        Files of any known formats, and folders with such files.
    store
        The store to write to.
    progress
        Called after each file.
    patterns
        How to take names from the files' paths, see `importing.find_files`.

    Returns
    -------
    Imported
        It lists bad files. They do not affect the others.

    Raises
    ------
    InputError
        If the store cannot be written, or a pattern matches no file.
    """
    return import_found(find_files(paths, patterns, store.own), store, progress)


def import_found(
    files: Files, store: Store, progress: Callable[[], object] = lambda: None
) -> Imported:
    """Store the files that `find_files` found, as `import_files` does."""
    parts = list(_parts(files.found))
    encode = functools.partial(_encode, store.url, earlier_runs(store, files.found))
    outcome = Imported(failures=list(files.failures))
    said: dict[str, list[DataWarning]] = {}
    waiting = _Waiting(store)
    values = []
    with workers(worthwhile=len(files.found) >= _WORTH_A_POOL, most=_MOST_READERS) as apply:
        for part, encoded in zip(parts, apply(encode, parts), strict=True):
            for batch in encoded.batches:
                said.update(batch.warnings())
                waiting.add(batch)
            outcome.warnings += encoded.warnings
            outcome.failures += encoded.failures
            values.append(encoded.single_values)
            for _ in part:
                progress()
    added = waiting.written()
    # What was said when a run was stored is not said again.
    before = {warning for run in said.keys() - added for warning in said[run]}
    outcome.warnings = [warning for warning in outcome.warnings if warning not in before]
    outcome.added = len(added)
    outcome.warnings += waiting.not_taken
    outcome.already_stored = len(said) - outcome.added
    _keep_values(store, concat_values(values), outcome)
    outcome.warnings = list(dict.fromkeys(outcome.warnings))
    join_if_many(store)
    return outcome


class _Waiting:
    """Encoded runs that are written together, because a batch is four files."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._parts: list[Encoded] = []
        self._written: set[str] = set()
        #: Which files of the store could not be read.
        self.not_taken: list[DataWarning] = []

    def add(self, part: Encoded) -> None:
        """Add runs, and write what waits if it is large."""
        self._parts.append(part)
        if sum(one.size_bytes for one in self._parts) > _BATCH_BYTES:
            self.written()

    def written(self) -> set[str]:
        """Write what waits, and return every run that was new."""
        if self._parts:
            written, not_taken = self._store.keep(Encoded.joined(self._parts))
            self._written.update(written)
            self.not_taken += not_taken
            self._parts = []
        return self._written


def _keep_values(store: Store, values: pd.DataFrame, outcome: Imported) -> None:
    fresh = store.keep_values(values)
    outcome.warnings += not_taken_of(fresh)
    outcome.values_added = len(fresh)
    outcome.values_already_stored = len(values) - len(fresh)
    outcome.values_tests = len(fresh[["site", "partition", "environ", "test"]].drop_duplicates())


@dataclass
class _Encoded:
    """The encoded contents of some files, with their warnings and failures."""

    batches: list[Encoded]
    single_values: pd.DataFrame
    warnings: list[DataWarning]
    failures: list[InputError]


def _encode(store_url: str, earlier: Earlier, part: list[Found]) -> _Encoded:
    """Read some files together, or one at a time if they cannot be encoded together."""
    try:
        return _encode_together(store_url, earlier, part)
    except InputError:  # of the store
        raise
    except Exception as error:
        if len(part) > 1:
            return _joined([_encode(store_url, earlier, [file]) for file in part])
        return _Encoded([], no_values(), [], [unforeseen(part[0].path, error)])


def _encode_together(store_url: str, earlier: Earlier, part: list[Found]) -> _Encoded:
    gathered = read_found(part)
    if gathered.measurements is None:
        return _Encoded([], no_values(), [], gathered.failures)
    measurements = without_earlier(gathered.measurements, store_url, earlier)
    batches = [Encoded.of(measurements)] if len(measurements.runs) else []
    return _Encoded(batches, measurements.single_values, measurements.warnings, gathered.failures)


def _joined(parts: list[_Encoded]) -> _Encoded:
    return _Encoded(
        [batch for part in parts for batch in part.batches],
        concat_values([part.single_values for part in parts]),
        [warning for part in parts for warning in part.warnings],
        [failure for part in parts for failure in part.failures],
    )


def _parts(files: list[Found]) -> Iterator[list[Found]]:
    """Group neighbouring files that are read together."""
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
