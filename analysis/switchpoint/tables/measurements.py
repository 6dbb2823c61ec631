"""The tables that every reader and the store produce: samples with their curve, and runs.

A curve is a metric against message size for one site, MPI, kernel, mode and placement, in one run.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api.types import union_categoricals

from switchpoint.data_warnings import DataWarning, warnings_of_text
from switchpoint.errors import InputError
from switchpoint.records.core_use import disturbance
from switchpoint.records.run_facts import damaged_payloads
from switchpoint.tables.columns import (
    CURVE_COLUMNS,
    MEASURES,
    RUN_COLUMNS,
    VALUE_COLUMNS,
)
from switchpoint.tables.sweeps import Sweeps

if TYPE_CHECKING:
    from switchpoint.records.footer import Footer
    from switchpoint.records.header import Header

#: The runs whose facts stay parsed, 0.3 MB each.
_RUNS_KEPT = 256

#: Header and footer of a run record.
Facts: TypeAlias = "tuple[Header, Footer | None]"

#: Those of other formats. Who needs a field of the header asks first whether there is one.
_NO_FACTS: Facts = cast("Header", {}), None


@dataclass
class Measurements:
    """Samples of any number of curves, with their runs.

    Attributes
    ----------
    samples : DataFrame
        Columns `MEASURES` and, as categories, the curve's identity; always with `run_id`.
    runs : DataFrame
        Columns `RUN_COLUMNS`; `header` and `footer` are JSON texts or null.
    not_taken : list of DataWarning
        What else the files contained; a store does not keep it.
    single_values : DataFrame
        Columns `VALUE_COLUMNS`: single values of other projects' tests, which make no curve.
    points : DataFrame
        The summary of curves whose samples are not here, such as those of a bundle: identity
        columns and `CURVE_COLUMNS`.
    summary : DataFrame or None
        The points of all curves, once `tables.curves.summary_of` was asked for them.
    """

    samples: pd.DataFrame
    runs: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=RUN_COLUMNS))
    not_taken: list[DataWarning] = field(default_factory=list)
    single_values: pd.DataFrame = field(default_factory=lambda: no_values())
    points: pd.DataFrame = field(default_factory=lambda: no_points())
    summary: pd.DataFrame | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def warnings(self) -> list[DataWarning]:
        """Warnings of the readers over all runs and files, in order, each once."""
        of_runs = chain.from_iterable(map(warnings_of_text, self.runs["warnings"]))
        return list(dict.fromkeys([*of_runs, *self.not_taken]))

    def facts(self, run_id: str) -> Facts:
        """Return header and footer of one run. The header is empty if it is not a run record."""
        texts = self._texts.get(run_id)
        return _NO_FACTS if texts is None else facts_of(texts)

    @functools.cached_property
    def _texts(self) -> dict[str, dict[str, Any]]:
        """Header and footer of each run, as JSON texts or null."""
        columns = [self.runs[name].tolist() for name in ("run_id", "header", "footer")]
        texts: dict[str, dict[str, Any]] = {}
        for run_id, header, footer in zip(*columns, strict=True):
            texts.setdefault(run_id, {"header": header, "footer": footer})
        return texts

    @functools.cached_property
    def disturbances(self) -> dict[str, float]:
        """How much of its cores' time other work took from each run that it disturbed."""
        taken = {run_id: disturbance(*self.facts(run_id)) for run_id in self._texts}
        return {run_id: share for run_id, share in taken.items() if share is not None}

    @functools.cached_property
    def curves(self) -> pd.DataFrame:
        """The identity of each curve, with samples or without."""
        identity = [str(name) for name in self.points if name not in CURVE_COLUMNS]
        without = self.points[identity].drop_duplicates()
        if without.empty:
            return self.sweeps.curves
        return pd.concat([self.sweeps.curves, without], ignore_index=True)

    @functools.cached_property
    def sweeps(self) -> Sweeps:
        """The samples sorted into curves."""
        return Sweeps.of(self.samples)


def facts_of(run: Mapping[str, Any] | pd.Series[Any]) -> Facts:
    """Return header and footer of a row of the runs table, as `Measurements.facts` does."""
    if not isinstance(run["header"], str):
        return _NO_FACTS
    footer = run["footer"]
    return _parsed(run["header"], footer if isinstance(footer, str) else None)


@functools.lru_cache(_RUNS_KEPT)
def _parsed(header: str, footer: str | None) -> Facts:
    """Parse the facts of a run once, for all who ask; nobody changes them."""
    return json.loads(header), None if footer is None else json.loads(footer)


def without_damaged(measurements: Measurements, source: str) -> tuple[Measurements, list[str]]:
    """Leave out the runs whose payloads arrived damaged; return the others, and a note if any did.

    Raises
    ------
    InputError
        If no run is left; it names the source.
    """
    runs = measurements.runs
    damaged = [run for run in runs["run_id"] if damaged_payloads(measurements.facts(str(run))[1])]
    if not damaged:
        return measurements, []
    count = f"{len(damaged)} launch{'es'[: 2 * (len(damaged) != 1)]}"
    if len(damaged) == len(runs):
        raise InputError(source, f"payloads arrived damaged in all of {count}; measure again")
    kept = dataclasses.replace(
        measurements,
        samples=measurements.samples[~measurements.samples["run_id"].isin(damaged)],
        runs=runs[~runs["run_id"].isin(damaged)],
    )
    return kept, [f"left out {count} whose payloads arrived damaged"]


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
        [warning for part in parts for warning in part.not_taken],
        concat_values([part.single_values for part in parts]),
        _concat_points([part.points for part in parts], seen),
    )


def of_values(values: pd.DataFrame, not_taken: list[DataWarning]) -> Measurements:
    """Return measurements with single values only: no run and no sample."""
    return Measurements(no_samples(), not_taken=not_taken, single_values=values)


def no_samples() -> pd.DataFrame:
    """Return an empty table of samples."""
    empty: dict[str, Any] = {"run_id": constant(None, 0)}
    return pd.DataFrame(empty | {name: pd.Series(dtype="int64") for name in MEASURES})


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
