"""What was measured at one place, and its points: the medians that claims are tested by.

A point is one kernel, mode, size and placement; it is tested by the medians of its launches or
passes, never by single samples, since samples of one pass agree more than the machine does.
"""

from __future__ import annotations

import json
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pandas as pd

from switchpoint.records.rank_layout import layout_of
from switchpoint.tables.columns import identity_columns, none_for_nulls
from switchpoint.tables.curves import summarise
from switchpoint.tables.identity import IDENTITY
from switchpoint.tables.measurements import Measurements

if TYPE_CHECKING:
    from switchpoint.records.header import Header

#: With at least this many launches, launches are resampled, otherwise passes.
LAUNCHES = 5

#: Fewer units do not show their scatter.
LEAST_UNITS = 3

#: What is known of each run from its record.
FACTS = ("ranks", "nodes", "machines", "oversubscribed")

#: The fix if runs for several studies are missing.
_MEASURED_BY = {"pingpong": "make measure TAG=sweep"}

_MACHINE_WIDE = ("check",)  # names the check, not the measurement


class NotTestableError(Exception):
    """A claim that the available data cannot decide.

    Parameters
    ----------
    reason
        What is missing.
    fix
        How to measure it; None if the study's own checks do.
    """

    def __init__(self, reason: str, fix: str | None = None) -> None:
        self.reason = reason
        self.fix = fix
        super().__init__(reason)


@dataclass(frozen=True)
class Point:
    """Medians of the launches, or of the passes, of one point; time in us."""

    name: str
    medians: pd.Series[float]

    @property
    def runs(self) -> tuple[str, ...]:
        """The IDs of its runs."""
        return tuple(sorted(set(self.medians.index.get_level_values("run_id"))))

    @property
    def value(self) -> float:
        """Median over the units in us."""
        return float(self.medians.median())


@dataclass
class Data:
    """The measurements of one place: a site's partition with one MPI, or with all of them.

    Attributes
    ----------
    passes : DataFrame
        One row per curve, size and pass: the identity, `size_bytes`, `pass`, `time_us` (median),
        and for its run `ranks`, their `nodes`, the number of `machines` (operating systems), and
        `oversubscribed`: whether there were more ranks than cores on a machine.
    facts : DataFrame
        The same per run, by `run_id`, and the `header` of its record as JSON text: parsed, those of
        thousands of runs need gigabytes.
    samples : DataFrame
        The samples as they were read.
    """

    passes: pd.DataFrame
    facts: pd.DataFrame
    samples: pd.DataFrame = field(repr=False)

    @cached_property
    def curves(self) -> pd.DataFrame:
        """Medians and scatter per curve and size, as from `summarise`."""
        return summarise(self.samples)

    def header(self, run_id: Hashable) -> Header:
        """Return the header of a run's record."""
        header: Header = json.loads(self.header_text(run_id))
        return header

    def header_text(self, run_id: Hashable) -> str:
        """Return the same as JSON text."""
        return self._headers[run_id]

    @cached_property
    def _headers(self) -> dict[Hashable, str]:
        return dict(self.facts["header"])

    def at(self, kernel: str, **wanted: Any) -> pd.DataFrame:
        """Rows of `passes` of a kernel whose columns have the wanted values.

        Raises
        ------
        NotTestableError
            It names the first column that leaves nothing.
        """
        return narrowed(self._of(kernel), f"kernel {kernel}", wanted)

    def point(self, kernel: str, mode: str, size_bytes: int, **wanted: Any) -> Point:
        """Return one point's medians. If curves differ in other labels, use the most measured one.

        Raises
        ------
        NotTestableError
            If it was not measured, or has too few passes.
        """
        rows = self.at(kernel, mode=mode, **wanted)
        rows = narrowed(rows, f"mode {mode} of kernel {kernel}", {"size_bytes": size_bytes})
        return point_of(rows, " ".join([kernel, mode, *map(str, wanted.values())]))

    def _of(self, kernel: str) -> pd.DataFrame:
        rows: pd.DataFrame = self.passes[self.passes["kernel"] == kernel]
        if rows.empty:
            raise NotTestableError(f"no run of kernel {kernel}", _MEASURED_BY.get(kernel))
        return rows


def data_of(measurements: Measurements) -> Data:
    """Reduce measurements to the data for claims: our records, which prove where the ranks were."""
    runs = measurements.runs
    read = map(_facts, runs["run_id"], runs["header"])
    facts = pd.DataFrame([row for row in read if row], columns=["run_id", *FACTS, "header"])
    facts = facts.astype({"header": object}).set_index("run_id")
    samples = measurements.samples
    samples = samples[samples["run_id"].isin(facts.index)]
    identity = identity_columns(samples)
    keys = [*identity, "size_bytes", "pass"]
    passes = samples.groupby(keys, dropna=False, observed=True)["time_us"].median().reset_index()
    passes[identity] = none_for_nulls(passes[identity])
    passes = passes.reindex(columns=[*dict.fromkeys([*IDENTITY, *passes])])
    claimed = [
        name for name in FACTS if name in passes
    ]  # these are labels; the record's proof is used instead
    passes = passes.drop(columns=claimed).join(facts[[*FACTS]], on="run_id")
    return Data(passes, facts, samples)


def _facts(run_id: str, text: Any) -> tuple[Any, ...] | None:
    """Return the run, its `FACTS` and its header; None if that describes no ranks.

    Another tool's output does not.
    """
    header: Header | None = json.loads(text) if isinstance(text, str) else None
    if not header or not header.get("ranks"):
        return None
    layout = layout_of(header)
    nodes, machines = len(set(layout.nodes)), len(set(layout.machines))
    return run_id, len(layout.nodes), nodes, machines, layout.oversubscribed, text


def narrowed(rows: pd.DataFrame, what: str, wanted: dict[str, Any]) -> pd.DataFrame:
    """Rows with the wanted values; raises NotTestableError naming what leaves nothing."""
    for name, value in wanted.items():
        rows = rows[rows[name] == value] if name in rows else rows.iloc[:0]
        if rows.empty:
            raise NotTestableError(f"no run of {what} with {name.replace('_', ' ')} {value}")
    return rows


def not_oversubscribed(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows of runs whose ranks had a core each; raises NotTestableError if none had."""
    quiet = rows[~rows["oversubscribed"].astype(bool)]
    if quiet.empty:
        ranks = int(rows["ranks"].min())
        raise NotTestableError(
            f"from {ranks} ranks on there are more ranks than cores, which times the scheduler",
            f"use a site whose placements have a core for each of {ranks} ranks or more",
        )
    return quiet


def most_ranks(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of the runs with the most ranks."""
    chosen: pd.DataFrame = rows[rows["ranks"] == rows["ranks"].max()]
    return chosen


def one_variant(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows of the most measured label values: different curves are never combined."""
    known = [*IDENTITY, *_MACHINE_WIDE, "size_bytes", "pass", "time_us", *FACTS]
    own = [name for name in rows if name not in known]
    if not own or rows.empty:
        return rows
    groups = rows.groupby(own, dropna=False, observed=True, sort=True)
    code = groups.ngroup()
    return rows[code == code.value_counts(sort=False).idxmax()]


def point_of(rows: pd.DataFrame, name: str) -> Point:
    """Test rows of one size as one point."""
    rows = one_variant(rows)
    by_pass = rows.groupby(["run_id", "pass"])["time_us"].median()
    by_launch = by_pass.groupby(level="run_id").median()
    medians = by_launch if len(by_launch) >= LAUNCHES else by_pass
    if len(medians) < LEAST_UNITS:
        raise NotTestableError(
            f"{len(medians)} passes of {name} are too few for an interval",
            "measure with more passes: reframe ... -S passes=5",
        )
    return Point(name, medians)
