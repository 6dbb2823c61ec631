"""The tables that every reader and the store produce: samples with their curve, and runs.

A curve is a metric against message size for one site, MPI, kernel, mode and placement, in one run.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api.types import union_categoricals

from switchpoint.printable import path_text
from switchpoint.tables.columns import (
    CURVE_COLUMNS,
    IDENTITY,
    MEASURES,
    PASSING_LABELS,
    RESERVED,
    RUN_COLUMNS,
    VALUE_COLUMNS,
)
from switchpoint.tables.mpi_names import mpi_name
from switchpoint.tables.sweeps import Sweeps

if TYPE_CHECKING:
    from switchpoint.records.record import Facts, Record


@dataclass
class Measurements:
    """Samples of any number of curves, with their runs.

    Attributes
    ----------
    samples : DataFrame
        Columns `MEASURES` and, as categories, the curve's identity; always with `run_id`.
    runs : DataFrame
        Columns `RUN_COLUMNS`; `header` and `footer` are JSON texts or null.
    not_taken : list of str
        What else the files contained, one sentence each; a store does not keep it.
    single_values : DataFrame
        Columns `VALUE_COLUMNS`: single values of other projects' tests, which make no curve.
    points : DataFrame
        The summary of curves whose samples are not here, such as those of a bundle: identity
        columns and `CURVE_COLUMNS`.
    """

    samples: pd.DataFrame
    runs: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=RUN_COLUMNS))
    not_taken: list[str] = field(default_factory=list)
    single_values: pd.DataFrame = field(default_factory=lambda: no_values())
    points: pd.DataFrame = field(default_factory=lambda: no_points())

    @property
    def warnings(self) -> list[str]:
        """Warnings of the readers over all runs and files, in order, each once."""
        texts = self.runs["warnings"].dropna()
        of_runs = (line for text in texts for line in text.splitlines())
        return list(dict.fromkeys([*of_runs, *self.not_taken]))

    def facts(self, run_id: str) -> tuple[dict[str, Any], dict[str, Any] | None]:
        """Return header and footer of one run. The header is empty if it is not a run record."""
        rows = self.runs[self.runs["run_id"] == run_id]
        if rows.empty or not isinstance(rows["header"].iloc[0], str):
            return {}, None
        footer = rows["footer"].iloc[0]
        return json.loads(rows["header"].iloc[0]), (
            json.loads(footer) if isinstance(footer, str) else None
        )

    @functools.cached_property
    def sweeps(self) -> Sweeps:
        """The samples sorted into curves."""
        return Sweeps.of(self.samples)


def sweeps_of(source: Measurements | pd.DataFrame) -> Sweeps:
    """Sort measurements, or a table of samples, into curves."""
    return source.sweeps if isinstance(source, Measurements) else Sweeps.of(source)


def concat(parts: Iterable[Measurements]) -> Measurements:
    """Join measurements from several sources. A repeated run counts once."""
    parts = list(parts)
    if len(parts) == 1:
        return parts[0]
    seen: set[str] = set()
    samples = []
    for part in [part for part in parts if len(part.samples)] or parts[:1]:
        again = part.samples["run_id"].isin(seen)
        samples.append(part.samples[~again] if again.any() else part.samples)
        seen.update(part.samples["run_id"].unique())
    runs = pd.concat([part.runs for part in parts], ignore_index=True)
    return Measurements(
        _concat_samples(samples),
        runs.drop_duplicates("run_id", ignore_index=True),
        [sentence for part in parts for sentence in part.not_taken],
        concat_values([part.single_values for part in parts]),
        _concat_points([part.points for part in parts], seen),
    )


def of_values(values: pd.DataFrame, not_taken: list[str]) -> Measurements:
    """Return measurements with single values only: no run and no sample."""
    empty: dict[str, Any] = {"run_id": constant(None, 0)}
    empty |= {name: pd.Series(dtype="int64") for name in MEASURES}
    return Measurements(pd.DataFrame(empty), not_taken=not_taken, single_values=values)


def no_points() -> pd.DataFrame:
    """Return an empty table of points."""
    return pd.DataFrame(columns=["run_id", *CURVE_COLUMNS])


def no_values() -> pd.DataFrame:
    """Return an empty table of single values."""
    return pd.DataFrame(columns=VALUE_COLUMNS)


def concat_values(tables: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Join tables of single values. A repeated value counts once."""
    filled = [table for table in tables if len(table)]
    if not filled:
        return no_values()
    return pd.concat(filled, ignore_index=True).drop_duplicates("value_id", ignore_index=True)


def from_record(record: Record, labels: dict[str, str] | None = None) -> Measurements:
    """Add the identity of their curve to a run record's samples.

    A kernel's phase columns stay in the record; they are not part of a curve of `time_us`.

    Parameters
    ----------
    record
        A record that was read.
    labels
        The record's labels, completed from its path and folders; by default only its own.
    """
    samples = record.samples
    labels = record.header["labels"] if labels is None else labels
    run = describe_run(record, labels)
    told = {name: run.get(name) for name in IDENTITY} | own_labels(labels)
    columns: dict[str, Any] = {name: constant(text, len(samples)) for name, text in told.items()}
    modes = samples["mode"].array
    in_order = sorted(modes.categories)  # not in the order of the seed
    columns["mode"] = modes.reorder_categories(in_order)
    columns |= _definition(record.header["plan"], columns["mode"])
    columns |= {name: samples[name].array for name in MEASURES}
    described = pd.DataFrame([run], columns=RUN_COLUMNS)
    return Measurements(pd.DataFrame(columns, copy=False), described)


def _definition(plan: dict[str, Any], modes: pd.Categorical) -> dict[str, pd.Categorical]:
    """Return the columns that say what a time means, as far as a kernel could define it otherwise.

    Old records do not say it, and their curves do not have the columns.
    """
    columns = {}
    if windows := plan.get("windows"):
        columns["window_size"] = _by_mode(modes, windows)
    if start := plan.get("start"):
        columns["start"] = constant(start, len(modes))
        columns["time_of"] = _by_mode(modes, plan.get("time_of", {}))
    return columns


def _by_mode(modes: pd.Categorical, values: dict[str, Any]) -> pd.Categorical:
    """Return the value of each sample's mode, null where the mode has none."""
    texts = [str(values[mode]) if mode in values else None for mode in modes.categories]
    return repeated(texts, [1] * len(texts)).take(modes.codes)


def own_labels(labels: dict[str, str]) -> dict[str, str]:
    """Return labels that distinguish a run's curves within a kernel, such as its grain.

    The check's name is not one: a smoke run and a sweep measure the same curve.
    """
    not_own = RESERVED | PASSING_LABELS | {*IDENTITY, "check"}
    return {name: value for name, value in labels.items() if name not in not_own}


def repeated(
    values: Sequence[str | None], counts: Sequence[int] | npt.NDArray[np.int64]
) -> pd.Categorical:
    """Return an identity column that repeats each value, or null."""
    known = sorted({value for value in values if value is not None})
    places: dict[str | None, int] = {value: place for place, value in enumerate(known)}
    codes = np.array([places.get(value, -1) for value in values], dtype="int32")
    return pd.Categorical.from_codes(
        np.repeat(codes, counts), categories=pd.Index(known, dtype="str")
    )


def times_before(columns: Iterable[Any]) -> npt.NDArray[np.int64]:
    """Count for each row the equal rows before it: 0, 1, ...; nulls are equal too.

    The result is that of grouping and `cumcount`, in a tenth of the time for few rows.
    """
    code = np.zeros(1, dtype="int64")
    for column in columns:
        values = column.codes if isinstance(column, pd.Categorical) else np.asarray(column)
        _, own = np.unique(values, return_inverse=True)
        _, code = np.unique(code * (own.max(initial=0) + 1) + own, return_inverse=True)
    order = np.argsort(code, kind="stable")
    starts = np.flatnonzero(np.diff(code[order], prepend=-1))
    counts = np.diff([*starts, len(order)])
    before = np.empty(len(order), dtype="int64")
    before[order] = np.arange(len(order)) - np.repeat(starts, counts)
    return before


def constant(value: str | None, count: int) -> pd.Categorical:
    """Return an identity column with one value, or null, `count` times."""
    codes = np.full(count, -1 if value is None else 0, dtype="int8")
    return pd.Categorical.from_codes(codes, dtype=_only(value), validate=False)


@functools.lru_cache
def _only(value: str | None) -> pd.CategoricalDtype:
    """Return a column's type with one category or none; cached, because creating it is slow."""
    return pd.CategoricalDtype(pd.Index([] if value is None else [value], dtype="str"))


def describe_run(facts: Facts, labels: dict[str, str]) -> dict[str, Any]:
    """Return a row of the runs table from a record's header and footer and the run's labels."""
    header = facts.header
    kernel = header["kernel"]
    proved = kernel.get("spec_hash") and labels.get("spack_hash") == kernel["spec_hash"]
    return {
        "run_id": facts.run_id,
        "format": "record",
        "source": path_text(facts.path),
        "site": labels.get("site"),
        "date": header["start_utc"][:10],
        "start_utc": header["start_utc"],
        "partition": labels.get("partition"),
        "mpi": mpi_name(header["mpi"].get("library", "")),
        "environ": labels.get("environ"),
        "kernel": kernel.get("name"),
        "placement": labels.get("placement"),
        "session": labels.get("session"),
        "complete": facts.complete,
        "tool": f"{kernel.get('name')} {kernel.get('version')}",
        "program": json.dumps(kernel),
        "builder": kernel.get("builder"),
        "spec_hash": kernel.get("spec_hash"),
        # A label is a claim, and the program's own hash proves it.
        "spack_spec": labels.get("spack_spec") if proved else None,
        "spack_hash": kernel.get("spec_hash"),
        "lock_hash": None,  # the files beside a record are read with it, see `importing.lock`
        "lock": None,
        "labels": json.dumps(labels),
        "header": json.dumps(header),
        "footer": None if facts.footer is None else json.dumps(facts.footer),
        "warnings": "\n".join(facts.warnings) or None,
    }


def _concat_points(tables: Iterable[pd.DataFrame], sampled: set[str]) -> pd.DataFrame:
    """Join points. Those of a repeated run, or of a run with samples, count once."""
    seen = set(sampled)
    joined = []
    for table in tables:
        own = table[~table["run_id"].isin(seen)]
        seen.update(own["run_id"].unique())
        joined += [own] if len(own) else []
    return pd.concat(joined, ignore_index=True) if joined else no_points()


def _concat_samples(samples: list[pd.DataFrame]) -> pd.DataFrame:
    if len(samples) == 1:
        return samples[0]
    names: list[str] = list(dict.fromkeys(str(name) for part in samples for name in part))
    columns: dict[str, Any] = {}
    for name in names:
        if name in MEASURES:
            columns[name] = pd.concat([part[name] for part in samples], ignore_index=True)
        else:  # merged categories stay small; strings would be copied for every sample
            columns[name] = union_categoricals(
                [_categories(part, name) for part in samples], sort_categories=True
            )
    return pd.DataFrame(columns)


def _categories(samples: pd.DataFrame, name: str) -> pd.Categorical:
    """Return an identity column with text categories, all null if the samples do not have it."""
    if name not in samples:
        return constant(None, len(samples))
    column: pd.Categorical = samples[name].array
    if column.categories.dtype == "str":
        return column
    return pd.Categorical.from_codes(column.codes, categories=column.categories.astype("str"))
