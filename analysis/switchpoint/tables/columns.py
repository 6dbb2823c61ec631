"""The columns of every table, stage by stage: samples, runs, curves; `findings` has its own.

A curve is a metric against message size for one site, MPI, kernel, mode and placement, in one run.
Every column that is not a measured one is part of its identity.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import pandas as pd

from switchpoint.records.run_facts import LINK
from switchpoint.tables.findings import FINDING_COLUMNS

AnyRow = TypeVar("AnyRow", bound=Mapping[Any, Any])

#: Columns that distinguish the curves of run records, in the order in which people read them.
IDENTITY = ["site", "partition", "mpi", "environ", "kernel", "placement", "mode", "run_id"]

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

#: Runs: their columns, and what each says.
RUN_FIELDS = [
    (["run_id"], "the identity: of a record its own, of other formats a hash"),
    (["format"], "`record`, `tidy`, `reframe`, `osu`, `imb`, `netpipe` or another format's name"),
    (["source"], "the file it came from"),
    (["site"], "the label `site`"),
    (["date"], "the day of the start in UTC, whose month is the folder"),
    (["start_utc"], "when it started"),
    (["partition", "mpi", "environ", "kernel", "placement", "session"],
     "from the header and its labels; `mpi` is shortened, for example to `Open MPI 4.1.4`"),
    (["complete"], "false if the record was truncated"),
    (["tool"], "which program measured it, and its version"),
    (["program"], "what a kernel says of its own build: version, commit, builder, compiler, flags"),
    (["builder", "spec_hash"],
     "what built it (`cmake`, `spack`; `site` if it was installed already), and Spack's hash of our"
     " kernels"),
    (["spack_spec", "spack_hash", "lock_hash", "lock"],
     "the concrete spec from the lock, its hash, the start of the lock's SHA-256, and the lock. For"
     " our kernels a label alone does not count: the program has to name the same hash"),
    (["labels"], "all labels, and the names from the run's path"),
    (["header", "footer"], "those of the record"),
    (["warnings"], "what to know before you trust the numbers, one per line"),
]  # fmt: skip
RUN_COLUMNS = [name for names, _ in RUN_FIELDS for name in names]

#: Curves: the identity and one row per size.
CURVE_COLUMNS = [
    "size_bytes", "time_us", "low_us", "high_us", "mad_us", "error_us", "trimmed_us", "min_us",
    "count", "bandwidth_MBps",
]  # fmt: skip

#: Single values of other projects' tests, which have no message size: first the columns that
#: distinguish series of values, then the value, its time, its reference and its labels.
VALUE_SERIES = ["site", "partition", "environ", "test", "variable", "unit"]
VALUE_COLUMNS = [
    "value_id", *VALUE_SERIES, "time_utc", "value", "reference", "lower", "upper", "result",
    "labels", "source",
]  # fmt: skip

#: Findings in a report: what is known of each, as sentences.
NOTES = "notes"

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


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as dictionaries, with Python values and None for nulls."""
    rows: list[dict[str, Any]] = none_for_nulls(table).to_dict("records")  # type: ignore[assignment]
    return rows


def none_for_nulls(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with Python values and None for nulls, for rows as dictionaries."""
    return table.astype(object).where(table.notna(), None)
