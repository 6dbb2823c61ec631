"""Distinguishes runs that have the same names but differ by far more than launches of one curve do.

Only runs of other tools, whose files say little about where they were measured.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import numpy.typing as npt
import pandas as pd

from switchpoint.data_warnings import DataWarning
from switchpoint.tables.builds import tell_builds
from switchpoint.tables.collectives import is_collective
from switchpoint.tables.columns import identity_columns
from switchpoint.tables.measurements import Measurements, repeated

#: The identity column that numbers such runs.
UNLIKE = "series"

#: Two tables differ by a factor if so many of their sizes differ by it, all in one direction.
_SHARE = 0.9

#: Two runs with the same names are curves of their own if they differ by this factor. It separates
#: 1.1 % of 1,311 pairs of launches of one curve, on machines that other work disturbed, but 57 % of
#: 3,600 pairs of other transports and 67 % of 1,200 pairs of other placements
#: (`bench/detection/apart.py`).
LAUNCHES = 1.5

#: The same for what is rarely repeated: passes within a file, and collectives whose number of
#: processes is not known. It separates 0.15 % of 6,519 pairs of passes of one launch, and 65 % and
#: 75 % of the pairs of other curves.
TABLES = 1.2

#: A table of few sizes can show these factors by noise alone, so it needs this one. A single size
#: of 2.5 % of the passes and of 8 % of the launches shows it, and of 56 % and 68 % of the others.
_LEAST_SIZES = 3
_FACTOR_OF_FEW = 3.0

#: A run joins one of so many groups; data with more are no launches in any case.
_MOST_GROUPS = 16

#: Formats of our own, whose records say what was measured.
_OURS = ("record", "bundle")


def tell_apart(measurements: Measurements) -> Measurements:
    """Add the identity columns `build` and `series` where other columns distinguish too little."""
    return tell_unlike(tell_builds(measurements))


def tell_unlike(measurements: Measurements) -> Measurements:
    """Add the identity column `series` where runs of one curve and day cannot be its launches.

    It numbers groups of runs that agree. It is absent if all runs of each curve agree. A warning
    names each such curve.
    """
    runs = measurements.runs
    foreign = runs.loc[~runs["format"].isin(_OURS), ["run_id", "date"]]
    if UNLIKE in measurements.samples or len(foreign) < 2:
        return measurements
    numbers: dict[tuple[str, ...], str] = {}
    warnings: list[DataWarning] = []
    times = _times(measurements, foreign)
    names = [str(name) for name in times if name not in ("run_id", "size_bytes", "time_us")]
    curve = ["run_id", *(name for name in names if name != "date")]
    several = times.groupby(names, dropna=False, observed=True)["run_id"].transform("nunique") > 1
    kernels = times["kernel"] if "kernel" in times else pd.Series("", index=times.index)
    for _, rows in times[several].groupby(names, dropna=False, observed=True, sort=False):
        kernel = str(kernels[rows.index[0]])
        unknown = is_collective(kernel) and (
            "processes" not in rows or bool(rows["processes"].isna().all())
        )
        groups, largest = _groups(rows, TABLES if unknown else LAUNCHES)
        if len(groups) < 2:
            continue
        number_of = {run: str(n) for n, members in enumerate(groups, start=1) for run in members}
        numbers |= {
            key: number_of[str(run)]
            for key, run in zip(_keys(rows, curve), rows["run_id"], strict=True)
        }
        warnings.append(_warning(kernel, sum(map(len, groups)), len(groups), largest, unknown))
    if not numbers:
        return measurements
    return _numbered(measurements, curve, numbers, warnings)


def _times(measurements: Measurements, foreign: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each run, curve and size, with the day of the run."""
    table = measurements.points if len(measurements.points) else measurements.samples
    table = table[table["run_id"].isin(foreign["run_id"])]
    names = identity_columns(table)
    by = [*names, "size_bytes"]
    middle = table.groupby(by, dropna=False, observed=True, sort=False)["time_us"].median()
    days = foreign.set_index("run_id")["date"].astype(object)
    times = middle.reset_index()
    times["run_id"] = times["run_id"].astype(object)
    return times.assign(date=times["run_id"].map(days).fillna(""))


def _groups(rows: pd.DataFrame, factor: float) -> tuple[list[list[str]], float]:
    """Return groups of runs that agree, and the largest typical factor between them."""
    table = rows.pivot_table(index="size_bytes", columns="run_id", values="time_us", observed=True)
    logs = np.log(table)
    groups: list[list[str]] = []
    largest = 0.0
    for run in logs:
        for group in groups[:_MOST_GROUPS]:
            ratio = (logs[run] - logs[group[0]]).dropna().to_numpy(dtype=float)
            if not differ(ratio, factor):
                group.append(str(run))
                break
            largest = max(largest, abs(float(np.median(ratio))))
        else:
            groups.append([str(run)])
    return groups, math.exp(largest)


def differ(log_ratios: npt.NDArray[np.float64], factor: float) -> bool:
    """Return whether two tables differ by a factor at nearly all sizes, in one direction.

    Parameters
    ----------
    log_ratios
        The logarithm of the ratio of their times at each size that both have.
    factor
        `LAUNCHES` or `TABLES`.
    """
    if len(log_ratios) < _LEAST_SIZES:
        factor = max(factor, _FACTOR_OF_FEW)
    return bool(math.exp(gap(log_ratios)) > factor)


def gap(log_ratios: npt.NDArray[np.float64]) -> float:
    """Return the logarithm of the factor by which nearly all sizes differ; 0 or less if by none.

    >>> gap(np.log([2.0, 2.0, 2.0])), gap(np.log([0.5, 2.0, 2.0])) < 0
    (0.6931471805599453, True)
    """
    if len(log_ratios) == 0:
        return 0.0
    least, most = np.quantile(log_ratios, [1 - _SHARE, _SHARE])
    return float(max(least, -most))


def _warning(kernel: str, runs: int, groups: int, largest: float, unknown: bool) -> DataWarning:
    of = "of an unknown number of processes " if unknown else ""
    label = "processes" if unknown else "fabric"
    return DataWarning(
        "separate_curves",
        f"{runs} runs {of}have the same names and differ by up to a factor of {largest:.3g}, so"
        f" they are {groups} curves (series = 1, 2, ...), not launches of one: put what differs"
        f" into labels, such as {label}",
        kernel or "curve",
    )


def _keys(table: pd.DataFrame, columns: list[str]) -> list[tuple[str, ...]]:
    """Return what identifies the curve and run of each row."""
    texts = [table[name].astype(object).fillna("").astype(str) for name in columns]
    return list(zip(*texts, strict=True))


def _numbered(
    measurements: Measurements,
    curve: list[str],
    numbers: dict[tuple[str, ...], str],
    warnings: list[DataWarning],
) -> Measurements:
    """Return the measurements with the column of groups, and the warnings."""
    runs = {key[0] for key in numbers}

    def column(table: pd.DataFrame) -> pd.Categorical:
        texts: list[str | None] = [None] * len(table)
        mine = np.flatnonzero(table["run_id"].isin(runs)) if len(table) else np.array([], dtype=int)
        for place, key in zip(mine.tolist(), _keys(table.iloc[mine], curve), strict=True):
            texts[place] = numbers.get(key)
        return repeated(texts, np.ones(len(texts), dtype="int64"))

    samples = measurements.samples.copy(deep=False)
    samples[UNLIKE] = column(samples) if len(samples) else repeated([], [])
    points = measurements.points
    if len(points):
        points = points.assign(**{UNLIKE: column(points).astype(object)})
    return dataclasses.replace(
        measurements,
        samples=samples,
        points=points,
        not_taken=[*measurements.not_taken, *warnings],
    )
