"""How slow a launch is over the sizes of a finding, as one number relative to baseline sessions.

Launches are compared by the mean over sizes of the logarithm of the time relative to what is usual
for that size. So a launch that measures only some sizes can be compared with complete ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from switchpoint.gating.baseline import USUAL_SCATTER
from switchpoint.gating.levels import LEAST_SCATTER
from switchpoint.gating.trials import LABEL
from switchpoint.tables.columns import BUILD, identity_columns
from switchpoint.tables.student import t975
from switchpoint.tables.sweeps import Floats

#: A job: what distinguishes its curves from those of other jobs, without their mode.
Job = frozenset[tuple[str, str]]

#: Columns that differ between launches of one job, or that its environment decides.
_NOT_OF_JOB = frozenset({"run_id", "mode", "mpi", BUILD, LABEL})

#: The columns of `levels`.
LEVELS = ["job", "mode", "run_id", "size_bytes", "level"]


def job_of(identity: Mapping[Any, Any]) -> Job:
    """Return the job of a curve from its identity columns."""
    return frozenset(
        (str(name), str(value))
        for name, value in identity.items()
        if name not in _NOT_OF_JOB and value is not None and value == value
    )


def levels(points: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return `LEVELS`: the logarithm of each point's time, or of its scatter for noise.

    Parameters
    ----------
    points
        As from `Store.curves`.
    metric
        `noise`, or anything else for the time.
    """
    names = identity_columns(points)
    identities = points[names].drop_duplicates()
    jobs = pd.Series(
        [job_of(row) for row in identities.to_dict("records")], identities.index, dtype=object
    )
    whose = points[names].merge(identities.assign(job=jobs), on=names, how="left")["job"]
    measure = points["mad_us"] / points["time_us"] if metric == "noise" else points["time_us"]
    with np.errstate(divide="ignore", invalid="ignore"):
        level = np.log(measure.to_numpy(dtype=float))
    table = points[["run_id", "size_bytes"]].assign(
        job=whose.to_numpy(), mode=points["mode"].astype(object), level=level
    )
    known: pd.DataFrame = table.loc[np.isfinite(level), LEVELS]
    return known.reset_index(drop=True)


def usual_levels(table: pd.DataFrame, session: Mapping[str, int]) -> pd.Series[float]:
    """Return the usual level of each job, mode and size: the median over sessions."""
    per_session = table.assign(session_number=table["run_id"].map(session))
    by_session = per_session.groupby(["job", "mode", "size_bytes", "session_number"])[
        "level"
    ].median()
    usual: pd.Series[float] = by_session.groupby(["job", "mode", "size_bytes"]).median()
    return usual


def slower_by_group(
    table: pd.DataFrame,
    usual: pd.Series[float],
    group: Callable[[str], object],
    moved: tuple[int, int] | None = None,
) -> pd.Series[float]:
    """Return how much slower each group of runs was than usual, as a logarithm.

    Parameters
    ----------
    table
        `LEVELS`.
    usual
        As from `usual_levels`; other sizes do not count.
    group
        The group of a run ID; None leaves the run out. Curves count alike in a group, however many
        launches they have.
    moved : tuple of int, optional
        The first and last size across which a switch moved. What the other sizes show is then
        subtracted: a curve that is slower as a whole has not moved its switches.
    """
    where = pd.MultiIndex.from_frame(table[["job", "mode", "size_bytes"]])
    off = table["level"] - usual.reindex(where).to_numpy()
    known = table.assign(off=off, group=table["run_id"].map(group)).dropna(subset=["off", "group"])
    names = ["group", "job", "mode", "run_id"]
    if moved is None:
        launches = known.groupby(names)["off"].mean()
    else:
        inside = known["size_bytes"].between(*moved)
        across = known[inside].groupby(names)["off"].mean()
        beside = known[~inside].groupby(names)["off"].mean()
        launches = across - beside.reindex(across.index).fillna(0.0)
    curves = launches.groupby(["group", "job", "mode"]).median()
    result: pd.Series[float] = curves.groupby("group").mean()
    return result


@dataclass(frozen=True)
class Slowdown:
    """A difference of means as a logarithm, with its 95 % interval."""

    effect: float
    low: float
    high: float

    def times(self, sign: float) -> Slowdown:
        """Return it in the other direction if the sign is negative."""
        return self if sign > 0 else Slowdown(-self.effect, -self.high, -self.low)

    def __str__(self) -> str:
        effect, low, high = (
            math.expm1(logarithm) * 100 for logarithm in (self.effect, self.low, self.high)
        )
        return f"{effect:+,.0f} % [{low:,.0f}, {high:,.0f}]"


def slowdown(ones: Floats, others: Floats) -> Slowdown:
    """Return how much larger some values are than others (Welch 1947, Biometrika 34).

    A single value has the usual scatter.
    """
    parts = [
        (_variance(values) / len(values), max(len(values) - 1, 1)) for values in (ones, others)
    ]
    total = sum(variance for variance, _ in parts)
    freedom = total**2 / sum(variance**2 / degrees for variance, degrees in parts)
    half = math.sqrt(total) * float(t975(np.array(freedom)))
    effect = float(np.mean(ones) - np.mean(others))
    return Slowdown(effect, effect - half, effect + half)


def _variance(values: Floats) -> float:
    scatter = float(np.std(values, ddof=1)) if len(values) > 1 else USUAL_SCATTER
    return max(scatter, LEAST_SCATTER) ** 2
