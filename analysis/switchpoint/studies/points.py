"""What was measured at one place, and its points: the medians that claims are judged by.

A point is one kernel, mode, size and placement; it is judged by the medians of its launches or
passes, never by single samples, since samples of one pass agree more than the machine does.
"""

from __future__ import annotations

import json
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pandas as pd

from switchpoint.tables.columns import IDENTITY, identity_columns, none_for_nulls
from switchpoint.tables.curves import summarise
from switchpoint.tables.measurements import Measurements

#: From so many launches on the launch is the unit that is resampled, below it the pass.
LAUNCHES = 5

#: Fewer units say nothing about their scatter.
LEAST_UNITS = 3

#: What is known of each run from its record.
FACTS = ("ranks", "nodes", "machines", "crowded")

#: What other studies' claims lean on too.
_MEASURED_BY = {"pingpong": "make measure TAG=sweep"}

_MACHINE_WIDE = ("check",)  # says who measured, not what


class NotTestableError(Exception):
    """A claim that the data at hand cannot decide.

    Parameters
    ----------
    reason
        What is missing.
    mend
        What would supply it; None where the study's own checks would.
    """

    def __init__(self, reason: str, mend: str | None = None) -> None:
        self.reason = reason
        self.mend = mend
        super().__init__(reason)


@dataclass(frozen=True)
class Point:
    """Medians of the launches, or of the passes, of one point; time in us."""

    name: str
    medians: pd.Series[float]

    @property
    def runs(self) -> tuple[str, ...]:
        """Identities of the runs behind it."""
        return tuple(sorted(set(self.medians.index.get_level_values("run_id"))))

    @property
    def value(self) -> float:
        """Median over the units in us."""
        return float(self.medians.median())


@dataclass
class Data:
    """What was measured at one place: a site's partition with one MPI, or with all of them.

    Attributes
    ----------
    passes : DataFrame
        One row per curve, size and pass: the identity, `size_bytes`, `pass`, `time_us` (median),
        and of its run `ranks`; `nodes` that they were on; `machines` with a kernel of their own;
        `crowded`, whether ranks outnumbered the cores of a machine.
    facts : DataFrame
        The same per run, by `run_id`, and its record's `header`.
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

    def at(self, kernel: str, **wanted: Any) -> pd.DataFrame:
        """Rows of `passes` of a kernel whose columns have the wanted values.

        Raises
        ------
        NotTestableError
            Naming the first column that leaves nothing.
        """
        return narrowed(self._of(kernel), f"kernel {kernel}", wanted)

    def point(self, kernel: str, mode: str, size_bytes: int, **wanted: Any) -> Point:
        """One point's medians; where curves differ in further labels, the most measured one.

        Raises
        ------
        NotTestableError
            Where nothing of it was measured, or too few passes.
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
    """Reduce measurements to what claims are judged by."""
    samples = measurements.samples
    keys = [*identity_columns(samples), "size_bytes", "pass"]
    passes = samples.groupby(keys, dropna=False, observed=True)["time_us"].median().reset_index()
    identity = identity_columns(passes)
    passes[identity] = none_for_nulls(passes[identity])
    facts = pd.DataFrame(
        [_facts(run) for run in measurements.runs.to_dict("records")],
        columns=["run_id", *FACTS, "header"],
    ).set_index("run_id")
    claimed = [name for name in FACTS if name in passes]  # labels; what the record proves counts
    passes = passes.drop(columns=claimed).join(facts[[*FACTS]], on="run_id")
    return Data(passes, facts, samples)


def _facts(run: dict[Hashable, Any]) -> dict[str, Any]:
    header = json.loads(run["header"]) if isinstance(run["header"], str) else {}
    ranks = pd.DataFrame(header.get("ranks", []), columns=["host", "boot_id", "cores_online"])
    machine = ranks["boot_id"].where(ranks["boot_id"].notna(), ranks["host"])
    crowd = ranks.groupby(machine)["cores_online"].agg(["size", "min"])
    return {
        "run_id": run["run_id"],
        "ranks": len(ranks),
        "nodes": ranks["host"].nunique(),
        "machines": machine.nunique(),
        "crowded": bool((crowd["size"] > crowd["min"]).any()),
        "header": header,
    }


def narrowed(rows: pd.DataFrame, what: str, wanted: dict[str, Any]) -> pd.DataFrame:
    """Rows with the wanted values; raises NotTestableError naming what leaves nothing."""
    for name, value in wanted.items():
        rows = rows[rows[name] == value] if name in rows else rows.iloc[:0]
        if rows.empty:
            raise NotTestableError(f"no run of {what} with {name.replace('_', ' ')} {value}")
    return rows


def uncrowded(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of runs whose ranks had a core each; raises NotTestableError where none had."""
    quiet = rows[~rows["crowded"].astype(bool)]
    if quiet.empty:
        ranks = int(rows["ranks"].min())
        raise NotTestableError(
            f"ranks outnumber cores from {ranks} ranks on, which times the scheduler",
            f"a site whose placements have a core for each of {ranks} ranks or more",
        )
    return quiet


def most_ranks(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of the runs with the most ranks."""
    chosen: pd.DataFrame = rows[rows["ranks"] == rows["ranks"].max()]
    return chosen


def one_variant(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of the label values that were measured most: curves that differ are never pooled."""
    told = [*IDENTITY, *_MACHINE_WIDE, "size_bytes", "pass", "time_us", *FACTS]
    own = [name for name in rows if name not in told]
    if not own or rows.empty:
        return rows
    groups = rows.groupby(own, dropna=False, observed=True, sort=True)
    code = groups.ngroup()
    return rows[code == code.value_counts(sort=False).idxmax()]


def point_of(rows: pd.DataFrame, name: str) -> Point:
    """Judge rows of one size as one point."""
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
