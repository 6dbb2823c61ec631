"""The columns of every table, stage by stage: samples, runs, curves; `findings` has its own.

A curve is a metric against message size for one site, MPI, kernel, mode and placement, in one run.
Every column that is not a measured one is part of its identity.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypedDict, TypeVar, overload

import pandas as pd

from switchpoint.records.run_facts import LINK
from switchpoint.tables.findings import FINDING_COLUMNS, Finding
from switchpoint.tables.identity import IDENTITY, CurveIdentity

AnyRow = TypeVar("AnyRow", bound=Mapping[Any, Any])

#: The identity column that exists only if builds differ, see `builds`.
BUILD = "build"

#: Samples: the identity and the measured values.
MEASURES = ["size_bytes", "pass", "sample", "iterations", "time_us"]

#: Label of a run that repeats another one: the identity of that run.
REPRODUCES = "reproduces"

#: Labels that say when and from which build a run was made, not what it measured. Every other
#: label, such as a kernel's grain, is part of the identity of its curves.
PASSING_LABELS = frozenset(
    [
        "session", "start_utc", "builder", "spec_hash", "spack_spec", "spack_hash", "base_run",
        "did_not_start", "launch", "scheduler_options", "modules", "container_image", LINK,
    ]
)  # fmt: skip


class Run(TypedDict):
    """A row of the runs table. Texts are null if they are not known."""

    #: the identity: of a record its own, of other formats a hash
    run_id: str
    #: `record`, `tidy`, `reframe`, `osu`, `imb`, `netpipe` or another format's name
    format: str
    #: the file it came from
    source: str
    #: the label `site`
    site: str | None
    #: the day of the start in UTC, whose month is the folder
    date: str | None
    #: when it started
    start_utc: str | None
    #: from the header and its labels; `mpi` is shortened, for example to `Open MPI 4.1.4`
    partition: str | None
    mpi: str | None
    environ: str | None
    kernel: str | None
    placement: str | None
    session: str | None
    #: false if the record was truncated
    complete: bool
    #: which program measured it, and its version
    tool: str | None
    #: what a kernel says of its own build: version, commit, builder, compiler, flags
    program: str | None
    #: what built it (`cmake`, `spack`; `site` if it was installed already), and Spack's hash of our
    #: kernels
    builder: str | None
    spec_hash: str | None
    #: the concrete spec from the lock, its hash, the start of the lock's SHA-256, and the lock. For
    #: our kernels a label alone does not count: the program has to name the same hash
    spack_spec: str | None
    spack_hash: str | None
    lock_hash: str | None
    lock: str | None
    #: all labels, and the names from the run's path
    labels: str | None
    #: those of the record
    header: str | None
    footer: str | None
    #: what to know before you trust the numbers: a list of objects with `kind`, `message` and
    #: `place`; of runs that earlier versions stored, a text with one per line
    warnings: str | None


RUN_COLUMNS = [*Run.__annotations__]


class PointValues(TypedDict):
    """What is known of a curve at one size, see `curves.summarise`."""

    size_bytes: int
    time_us: float
    low_us: float
    high_us: float
    mad_us: float
    error_us: float
    trimmed_us: float
    min_us: float
    count: int
    bandwidth_MBps: float


class Point(PointValues, CurveIdentity):
    """A row of the curves' table."""


#: Curves: the identity and one row per size.
CURVE_COLUMNS = [*PointValues.__annotations__]


class Value(TypedDict):
    """A single value of another project's test, which has no message size."""

    value_id: str
    site: str | None
    partition: str | None
    environ: str | None
    test: str
    variable: str
    unit: str | None
    time_utc: str
    value: float
    reference: float | None
    lower: float | None
    upper: float | None
    result: str | None
    labels: str | None
    source: str


VALUE_COLUMNS = [*Value.__annotations__]

#: Columns that distinguish series of single values.
VALUE_SERIES = ["site", "partition", "environ", "test", "variable", "unit"]

#: Findings in a report: what is known of each, as sentences.
NOTES: Final = "notes"


class NotedFinding(Finding):
    """A finding in a report."""

    notes: list[str]


#: Names that no column of a curve's identity may have.
RESERVED = frozenset([*MEASURES, *CURVE_COLUMNS, *FINDING_COLUMNS, NOTES])

#: Names that labels and `--path` patterns must not use, because the tables use them.
NO_LABELS = RESERVED | ({*RUN_COLUMNS} - {*IDENTITY} - PASSING_LABELS) | {"run_id"}


def identity_columns(table: Iterable[Any]) -> list[str]:
    """Return the columns of a table that distinguish curves: ours in their order, then others."""
    own = [name for name in table if name not in RESERVED]
    return [name for name in IDENTITY if name in own] + [
        name for name in own if name not in IDENTITY
    ]


def lasting_labels(labels: Any) -> str:
    """Return the labels of a run that are part of the identity of its curves, as JSON."""
    entries = json.loads(labels) if isinstance(labels, str) else {}
    return json.dumps({k: v for k, v in sorted(entries.items()) if k not in PASSING_LABELS})


def values_of(row: Mapping[Any, Any], names: Iterable[str]) -> tuple[Any, ...]:
    """Return some values of a row as a key to group by, with all nulls equal."""
    return tuple(None if pd.isna(row.get(name)) else row[name] for name in names)


def rows_by(rows: Iterable[AnyRow], names: Iterable[str]) -> dict[tuple[Any, ...], list[AnyRow]]:
    """Group rows by their values in some columns, as `values_of` returns them."""
    names = list(names)
    groups: dict[tuple[Any, ...], list[AnyRow]] = {}
    for row in rows:
        groups.setdefault(values_of(row, names), []).append(row)
    return groups


@overload
def records(table: pd.DataFrame) -> list[dict[str, Any]]: ...
@overload
def records(table: pd.DataFrame, of: type[AnyRow]) -> list[AnyRow]: ...
def records(table: pd.DataFrame, of: type[Any] = dict) -> list[Any]:
    """Return the rows of a table as dictionaries, with Python values and None for nulls.

    Parameters
    ----------
    table
        Any table. It may have more columns than the rows' type names, such as labels.
    of
        The `TypedDict` of a row, so that the type checker knows its columns. Without it, rows are
        of columns that are only known when the program runs.

    Raises
    ------
    KeyError
        If the table has rows, but lacks a column that such a row has to have.
    """
    missing: frozenset[str] = getattr(of, "__required_keys__", frozenset()).difference(table)
    if missing and len(table):
        raise KeyError(f"a table of {of.__name__} has no column {min(missing)}")
    if not table.shape[1]:  # pandas 2 returns no rows at all
        return [{} for _ in range(len(table))]
    return none_for_nulls(table).to_dict("records")


def none_for_nulls(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with Python values and None for nulls, for rows as dictionaries."""
    return table.astype(object).where(table.notna(), None)
