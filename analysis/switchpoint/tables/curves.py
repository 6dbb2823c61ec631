"""Summarises samples as curves: one row per curve and size, with the median and its interval."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from switchpoint.data_warnings import DataWarning
from switchpoint.limits import LONGEST_US, SHORTEST_US
from switchpoint.tables.columns import CURVE_COLUMNS, identity_columns
from switchpoint.tables.measurements import Measurements
from switchpoint.tables.naming import curve_name
from switchpoint.tables.sweeps import Floats, Indices, Sweeps
from switchpoint.tables.visits import Visits, compare_visits

#: A curve is noisy if the relative standard error of its typical median is at least this.
_TOO_NOISY = 0.1

#: Fewer sizes cannot separate a slow pass from slow sizes.
_FEWEST_SIZES = 6

#: Pairs are numbered through a table of all that are possible, if these are at most so many times
#: the samples. Otherwise the table would need more memory than they do, and pairs are sorted.
_FEW_POSSIBLE = 4

#: For each number of values, from 0: the standard error of their median divided by their median
#: absolute deviation, times the square root of their number. Each is the median of a million draws
#: of normal values, because the deviation of few values is often much too small. 1.86 for many.
_ERROR_PER_MAD = np.array(
    [0, 0, 2.09, 3.21, 2.42, 2.38, 2.13, 2.18, 2.03, 2.09, 1.97, 2.03, 1.95, 2.00, 1.93, 1.98, 1.92]
)

#: What distinguishes the points of a run record.
_POINT = ["run_id", "mode", "size_bytes"]

#: A point of which a record keeps fewer samples than were taken: one of more than one.
_THINNED = re.compile(r'"stride":\s*(?!1\b)\d')


def summarise(source: Measurements | pd.DataFrame) -> pd.DataFrame:
    """Summarise samples per curve and message size, without those of the kernel `zoom`.

    Parameters
    ----------
    source
        Measurements or their samples table.

    Returns
    -------
    DataFrame
        The identity columns and, ordered by size within a curve:
        `size_bytes`; `time_us`, the median; `low_us` and `high_us`, its distribution-free 95 %
        confidence interval from order statistics (Hoefler and Belli 2015, section 3.1.3; the range
        for fewer than six samples); `mad_us`, the median absolute deviation; `error_us`, the
        median's standard error relative to the curve's other sizes. It comes from the scatter of
        samples or of the passes' medians, whichever is larger, after removing what makes a pass
        slower at all sizes; it is 0 if a single sample leaves it unknown. `trimmed_us`, the mean
        without the best and the worst sample (Hariri et al., study 004), or the mean of at most
        two samples; `min_us`, the smallest, also of those that a run record left out; `count` of
        samples; `bandwidth_MBps` = size_bytes / time_us (10^6 B/s).
        Measurements' `points`, whose samples are not here, come last.
    """
    if isinstance(source, Measurements):
        return summary_of(source).copy()
    return _points_of(Sweeps.of(source))


def summary_of(measurements: Measurements, table: pd.DataFrame | None = None) -> pd.DataFrame:
    """Summarise measurements once, see `summarise`. The table stays as it is: nobody changes it.

    Parameters
    ----------
    measurements
        They keep the table.
    table
        The points of their samples, if they are known already.
    """
    if measurements.summary is None:
        table = _points_of(measurements.sweeps) if table is None else table
        measurements.summary = _with_points(table, measurements)
    return measurements.summary


def _with_points(table: pd.DataFrame, measurements: Measurements) -> pd.DataFrame:
    """Add what the points of samples leave out: times that records left out, and other points."""
    if table.empty:
        return table if measurements.points.empty else measurements.points
    table = _with_minima_of_records(table, measurements.runs)
    if measurements.points.empty:
        return table
    joined = pd.concat([table, measurements.points], ignore_index=True)
    return joined[[*identity_columns(joined), *CURVE_COLUMNS]]


def _points_of(sweeps: Sweeps) -> pd.DataFrame:
    if not len(sweeps.curve):
        return pd.DataFrame(columns=[*sweeps.identity, *CURVE_COLUMNS])
    return summarise_passes(sweeps, compare_passes(sweeps))


def _with_minima_of_records(points: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Return points with the smallest of all times, also of those that a record left out."""
    minima = pd.DataFrame(_minima_of_records(runs), columns=[*_POINT, "least_us"])
    if minima.empty or "mode" not in points:
        return points
    keys = points[_POINT].astype({"run_id": object, "mode": object})
    least = keys.merge(minima.drop_duplicates(_POINT), on=_POINT, how="left")["least_us"]
    return points.assign(min_us=np.fmin(points["min_us"].to_numpy(float), least.to_numpy(float)))


def _minima_of_records(runs: pd.DataFrame) -> Iterator[tuple[str, str, int, float]]:
    """Yield run, mode, size and smallest time of the points of records that left samples out."""
    for run_id, footer in zip(runs["run_id"], runs["footer"], strict=True):
        if not isinstance(footer, str) or not _THINNED.search(footer):
            continue
        for point in json.loads(footer).get("points", []):
            least = point.get("min_us")
            if isinstance(least, int | float) and SHORTEST_US <= least <= LONGEST_US:
                yield run_id, point["mode"], point["size_bytes"], float(least)


@dataclass
class Passes:
    """The comparison of the passes over each curve, in logarithms of time.

    Attributes
    ----------
    point : array of int
        For each sample: its curve and size, numbered from 0 in the order of the summary.
    point_curve : array of int
        Of each size of each curve: its curve.
    turn : array of int
        For each sample: its curve and pass, numbered from 0.
    curve, number : array of int
        For each pass: its curve, numbered from 0 in the order of the summary, and its number there.
    slower : array of float
        For each pass: the median over sizes of how much slower it is than the curve's median.
    scatter : array of float
        For each pass: median absolute deviation of its curve's passes from this, over sizes.
    sizes : array of int
        For each pass: how many sizes it measured.
    cell_point, cell_slower
        For each size and pass of a curve: the point, and how much slower it was than the pass.
    error : array of float
        For each point: the relative standard error of its median, as its own samples and passes
        show it.
    visits : Visits
        What the passes at a size and at its neighbours say of each point.
    """

    point: Indices
    point_curve: Indices
    turn: Indices
    curve: Indices
    number: Indices
    slower: Floats
    scatter: Floats
    sizes: Indices
    cell_point: Indices
    cell_slower: Floats
    error: Floats
    visits: Visits


def compare_passes(sweeps: Sweeps) -> Passes:
    """Compare the passes over each curve, size by size; there is at least one sample."""
    curve = sweeps.curve
    point = _numbered(curve, sweeps.size_bytes)
    point_curve = np.empty(point.max() + 1, dtype=np.intp)
    point_curve[point] = curve
    turn = _numbered(curve, sweeps.number)
    cell = _numbered(point, sweeps.number)
    of_cell, of_turn = _first_of_each(cell), _first_of_each(turn)
    cell_point, cell_turn = point[of_cell], turn[of_cell]
    logs = np.log(median_by(cell, sweeps.time_us.astype(float)))
    logs -= median_by(cell_point, logs)[cell_point]
    slower, sizes = median_by(cell_turn, logs), np.bincount(cell_turn)
    slower = np.where(sizes >= _FEWEST_SIZES, slower, 0.0)
    logs -= slower[cell_turn]
    scatter = median_by(curve[of_turn][cell_turn], np.abs(logs))
    within = _error_of_median(point, np.log(sweeps.time_us.astype(float)) - slower[turn])
    own = np.maximum(within, _error_of_median(cell_point, logs))
    return Passes(
        point=point,
        point_curve=point_curve,
        turn=turn,
        curve=curve[of_turn],
        number=sweeps.number[of_turn],
        slower=slower,
        scatter=scatter[curve[of_turn]],
        sizes=sizes,
        cell_point=cell_point,
        cell_slower=logs,
        error=own,
        visits=compare_visits(cell_point, logs, own, point_curve),
    )


def summarise_passes(sweeps: Sweeps, passes: Passes) -> pd.DataFrame:
    """Summarise samples with compared passes, see `summarise`."""
    time = sweeps.time_us.astype(float)
    sorted_time, starts, counts = _sorted_by(passes.point, time)
    below = _interval_rank(counts)
    median = _median_of_sorted(sorted_time, starts, counts)
    identity = sweeps.curves.iloc[passes.point_curve]
    columns: dict[str, Any] = {name: identity[name].array for name in sweeps.identity}
    columns["size_bytes"] = size = sweeps.size_bytes[_first_of_each(passes.point)]
    columns["time_us"] = median
    columns["low_us"] = sorted_time[starts + below]
    columns["high_us"] = sorted_time[starts + counts - 1 - below]
    columns["mad_us"] = median_by(passes.point, np.abs(time - median[passes.point]))
    columns["error_us"] = passes.visits.error * median
    columns["trimmed_us"] = _mean_within_extremes(sorted_time, starts, counts)
    columns["min_us"] = sorted_time[starts]
    columns["count"] = counts
    columns["bandwidth_MBps"] = size / median
    return pd.DataFrame(columns, copy=False)


def with_levels(table: pd.DataFrame, passes: Passes) -> pd.DataFrame:
    """Return a summary with the time that stands for each size, which is not always the median.

    Where visits have two states, it is that of the state which most visits of all sizes show best.
    """
    visits = passes.visits
    time = table["time_us"] * np.exp(visits.fastest)
    known = visits.error_of_fastest > 0
    error = np.where(known, visits.error_of_fastest * time, table["error_us"])
    return table.assign(time_us=time, error_us=error)


def noise_warnings(curves: pd.DataFrame) -> list[DataWarning]:
    """Name each curve whose medians are too uncertain to show a step of this size.

    Parameters
    ----------
    curves
        As from `summarise`.
    """
    identity = identity_columns(curves)
    noise = (
        (curves["error_us"] / curves["time_us"])
        .groupby([curves[name] for name in identity], dropna=False, observed=True)
        .median()
        if identity
        else pd.Series([(curves["error_us"] / curves["time_us"]).median()], index=[()])
    )
    return [
        DataWarning(
            "too_noisy",
            f"too noisy to show steps under {300 * share:.0f} %; measure again with more passes on"
            " quieter cores",
            curve_name(identity, curve),
        )
        for curve, share in noise.items()
        if share > _TOO_NOISY
    ]


def few_sizes_warning(curves: pd.DataFrame, least: int) -> list[DataWarning]:
    """Warn if there are curves, but none has enough sizes for the search for steps.

    Parameters
    ----------
    curves
        As from `summarise`.
    least
        The number of sizes that the search needs.
    """
    if curves.empty or (_sizes_of_curves(curves) >= least).any():
        return []
    what = f"no curve has {least} sizes, which the search for steps needs; measure more sizes"
    return [DataWarning("few_sizes", what)]


def many_sizes_warnings(curves: pd.DataFrame, most: int) -> list[DataWarning]:
    """Name each curve with more sizes than the search for steps takes.

    Parameters
    ----------
    curves
        As from `summarise`.
    most
        The number of sizes that are searched.
    """
    sizes, identity = _sizes_of_curves(curves), identity_columns(curves)
    return [
        DataWarning(
            "many_sizes",
            f"of its {number:,} sizes {most:,} are searched; to look closer, measure the sizes"
            " around a step alone, or run zoom there",
            curve_name(identity, curve),
        )
        for curve, number in sizes[sizes > most].items()
    ]


def _sizes_of_curves(curves: pd.DataFrame) -> pd.Series[int]:
    """Return how many sizes each curve has, by its identity."""
    identity = identity_columns(curves)
    if not identity:
        return pd.Series([curves["size_bytes"].nunique()], index=[()])
    return curves.groupby(identity, dropna=False, observed=True)["size_bytes"].nunique()


def _error_of_median(codes: Indices, values: Floats) -> Floats:
    """Return the standard error of the median per code, from median absolute deviations."""
    deviation = median_by(codes, np.abs(values - median_by(codes, values)[codes]))
    counts = np.bincount(codes)
    return _ERROR_PER_MAD[np.minimum(counts, len(_ERROR_PER_MAD) - 1)] * deviation / counts**0.5


def _numbered(major: Indices, minor: Indices) -> Indices:
    """Number the existing pairs from 0, in order."""
    minor_code, minors = pd.factorize(minor, sort=True)
    pair = major * len(minors) + minor_code
    possible = int(pair.max()) + 1
    if possible > _FEW_POSSIBLE * len(pair):
        return np.asarray(pd.factorize(pair, sort=True)[0])
    exists = np.zeros(possible, dtype=bool)
    exists[pair] = True
    number: Indices = np.cumsum(exists) - 1
    return np.asarray(number[pair])


def _first_of_each(codes: Indices) -> Indices:
    """Return where each code from 0 to the largest occurs first."""
    first = np.empty(codes.max() + 1, dtype=np.intp)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    return first


def median_by(codes: Indices, values: Floats) -> Floats:
    """Return the median of the values per code; all codes from 0 to the largest must occur."""
    return _median_of_sorted(*_sorted_by(codes, values))


def _sorted_by(codes: Indices, values: Floats) -> tuple[Floats, Indices, Indices]:
    """Sort values by code and then by value; also return start and length of each code's run.

    Runs of the same length are sorted as rows of one array, which is many times faster than
    `lexsort`, because nearly all runs have the same number of repeats.
    """
    order = np.argsort(codes, kind="stable")
    found = values[order]
    starts, counts = _runs(codes[order])
    for count in np.unique(counts):
        rows = starts[counts == count][:, None] + np.arange(count)
        found[rows] = np.sort(found[rows], axis=1)
    return found, starts, counts


def _runs(sorted_codes: Indices) -> tuple[Indices, Indices]:
    """Return start and length of each run of equal codes."""
    starts = np.flatnonzero(np.r_[True, np.diff(sorted_codes) > 0])
    return starts, np.diff(np.r_[starts, len(sorted_codes)])


def _mean_within_extremes(values: Floats, starts: Indices, counts: Indices) -> Floats:
    """Return the mean of each run of sorted values without its first and last, if any remain."""
    sums = np.add.reduceat(values, starts)
    extremes = values[starts] + values[starts + counts - 1]
    trimmed = np.where(counts > 2, sums - extremes, sums)
    return np.asarray(trimmed / np.where(counts > 2, counts - 2, counts))


def _median_of_sorted(values: Floats, starts: Indices, counts: Indices) -> Floats:
    return np.asarray((values[starts + (counts - 1) // 2] + values[starts + counts // 2]) / 2)


def _interval_rank(counts: Indices) -> Indices:
    """Return how many order statistics the 95 % interval of the median omits at each end."""
    rank = np.floor((counts - 1.96 * np.sqrt(counts)) / 2).astype(int)
    return np.where(counts < 6, 0, np.clip(rank, 0, None))
