"""Summarises samples into curves: one row per curve and size, with the median and its interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from switchpoint.tables.columns import CURVE_COLUMNS, identity_columns
from switchpoint.tables.measurements import Measurements, sweeps_of
from switchpoint.tables.sweeps import Floats, Indices, Sweeps

#: Relative standard error of a curve's typical median from which it is called noisy.
_TOO_NOISY = 0.1

#: Fewer sizes do not tell a slow pass from slow sizes.
_FEWEST_SIZES = 6

#: By the number of values, from 0: the standard error of their median over their median absolute
#: deviation, times the root of their number. In the middle of a million draws of normal values
#: each, for of few values the deviation is far too small as often as not; 1.86 for many.
_ERROR_PER_MAD = np.array(
    [0, 0, 2.09, 3.21, 2.42, 2.38, 2.13, 2.18, 2.03, 2.09, 1.97, 2.03, 1.95, 2.00, 1.93, 1.98, 1.92]
)


def summarise(source: Measurements | pd.DataFrame) -> pd.DataFrame:
    """Summarise samples per curve and message size, those of the kernel `zoom` left out.

    Parameters
    ----------
    source
        Measurements or their samples table.

    Returns
    -------
    DataFrame
        The identity columns and, ordered by size within a curve:
        `size_bytes`; `time_us`, the median; `low_us` and `high_us`, its distribution-free 95 %
        confidence interval from order statistics (Hoefler and Belli 2015, section 3.1.3; of fewer
        than six samples their range); `mad_us`, the median absolute deviation; `error_us`, the
        median's standard error beside the curve's other sizes: from the scatter of samples or of
        the passes' medians, whichever says more, once what makes a pass slower at all sizes alike
        is taken out, 0 where one sample leaves it unknown; `trimmed_us`, the mean without the best
        and the worst sample (Hariri et al., study 004), of two or less the mean; `count` of
        samples; `bandwidth_MBps` = size_bytes / time_us (10^6 B/s).
    """
    sweeps = sweeps_of(source)
    if not len(sweeps.curve):
        return pd.DataFrame(columns=[*sweeps.identity, *CURVE_COLUMNS])
    return summarise_passes(sweeps, compare_passes(sweeps))


@dataclass
class Passes:
    """How the passes over each curve compare, in logarithms of time.

    Attributes
    ----------
    point : array of int
        Of each sample: which size of which curve it is of, from 0 in the order of the summary.
    point_curve : array of int
        Of each size of each curve: its curve.
    turn : array of int
        Of each sample: which pass of which curve it is of, from 0.
    curve, number : array of int
        Of each pass: its curve, from 0 in the order of the summary, and its number there.
    slower : array of float
        Of each pass: the median over sizes of how much slower it is than the curve's median.
    scatter : array of float
        Of each pass: median absolute deviation of its curve's passes from that, over sizes.
    sizes : array of int
        Of each pass: how many sizes it measured.
    cell_point, cell_slower
        Of each size and pass of a curve: the point, and how much slower it was than the pass.
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


def compare_passes(sweeps: Sweeps) -> Passes:
    """Compare the passes over each curve, size by size; there is at least one sample."""
    curve = sweeps.curve
    point = _numbered(curve, sweeps.size_bytes)
    point_curve = np.empty(point.max() + 1, dtype=np.intp)
    point_curve[point] = curve
    turn = _numbered(curve, sweeps.number)
    cell = _numbered(point, turn)
    _, of_cell = np.unique(cell, return_index=True)
    _, of_turn = np.unique(turn, return_index=True)
    cell_point, cell_turn = point[of_cell], turn[of_cell]
    logs = np.log(median_by(cell, sweeps.time_us.astype(float)))
    logs -= median_by(cell_point, logs)[cell_point]
    slower, sizes = median_by(cell_turn, logs), np.bincount(cell_turn)
    logs -= np.where(sizes >= _FEWEST_SIZES, slower, 0.0)[cell_turn]
    scatter = median_by(curve[of_turn][cell_turn], np.abs(logs))
    return Passes(
        point=point,
        point_curve=point_curve,
        turn=turn,
        curve=curve[of_turn],
        number=sweeps.number[of_turn],
        slower=np.where(sizes >= _FEWEST_SIZES, slower, 0.0),
        scatter=scatter[curve[of_turn]],
        sizes=sizes,
        cell_point=cell_point,
        cell_slower=logs,
    )


def summarise_passes(sweeps: Sweeps, passes: Passes) -> pd.DataFrame:
    """Summarise samples whose passes were compared: see `summarise`."""
    time = sweeps.time_us.astype(float)
    order, starts, counts = _order_by(passes.point, time)
    sorted_time = time[order]
    below = _interval_rank(counts)
    median = _median_of_sorted(sorted_time, starts, counts)
    within = _error_of_median(passes.point, np.log(time) - passes.slower[passes.turn])
    between = _error_of_median(passes.cell_point, passes.cell_slower)
    table = sweeps.curves.iloc[passes.point_curve].reset_index(drop=True)
    table["size_bytes"] = sweeps.size_bytes[order[starts]]
    table["time_us"] = median
    table["low_us"] = sorted_time[starts + below]
    table["high_us"] = sorted_time[starts + counts - 1 - below]
    table["mad_us"] = median_by(passes.point, np.abs(time - median[passes.point]))
    table["error_us"] = np.maximum(within, between) * median
    table["trimmed_us"] = _mean_within_extremes(sorted_time, starts, counts)
    table["count"] = counts
    table["bandwidth_MBps"] = table["size_bytes"] / table["time_us"]
    return table


def noise_warnings(curves: pd.DataFrame) -> list[str]:
    """Name each curve whose medians are too uncertain to see a step of that size.

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
        f"{_curve_name(curve)}: too noisy to show steps under {300 * share:.0f} %;"
        " measure again with more passes on quieter cores"
        for curve, share in noise.items()
        if share > _TOO_NOISY
    ]


def few_sizes_warning(curves: pd.DataFrame, least: int) -> list[str]:
    """Say so where no curve has the sizes that looking for a step takes.

    Parameters
    ----------
    curves
        As from `summarise`.
    least
        How many sizes that are.
    """
    identity = identity_columns(curves)
    sizes = (
        curves.groupby(identity, dropna=False, observed=True)["size_bytes"].nunique()
        if identity
        else pd.Series([curves["size_bytes"].nunique()])
    )
    if (sizes >= least).any():
        return []
    return [f"no curve has the {least} sizes that a step takes; measure more sizes"]


def _curve_name(key: object) -> str:
    return ", ".join(v for v in (key if isinstance(key, tuple) else (key,)) if isinstance(v, str))


def _error_of_median(codes: Indices, values: Floats) -> Floats:
    """Standard error of the median of the values of each code, by median absolute deviations."""
    deviation = median_by(codes, np.abs(values - median_by(codes, values)[codes]))
    counts = np.bincount(codes)
    return _ERROR_PER_MAD[np.minimum(counts, len(_ERROR_PER_MAD) - 1)] * deviation / counts**0.5


def _numbered(major: Indices, minor: Indices) -> Indices:
    """Number the pairs that occur from 0, in order."""
    _, minor_code = np.unique(minor, return_inverse=True)
    _, code = np.unique(major * (minor_code.max(initial=0) + 1) + minor_code, return_inverse=True)
    return np.asarray(code)


def median_by(codes: Indices, values: Floats) -> Floats:
    """Median of the values of each code; all codes from 0 to the largest occur."""
    order, starts, counts = _order_by(codes, values)
    return _median_of_sorted(values[order], starts, counts)


def _order_by(codes: Indices, values: Floats) -> tuple[Indices, Indices, Indices]:
    """Order by code and within it by value; where the run of each code starts, and its length.

    As `lexsort`, but runs of the same length are sorted as rows of one array, which is many times
    as fast: nearly all have as many repeats as the next.
    """
    order = np.argsort(codes, kind="stable")
    starts, counts = _runs(codes[order])
    for count in np.unique(counts):
        rows = starts[counts == count][:, None] + np.arange(count)
        of_code = order[rows]
        by_value = np.argsort(values[of_code], axis=1)
        order[rows] = np.take_along_axis(of_code, by_value, axis=1)
    return order, starts, counts


def _runs(sorted_codes: Indices) -> tuple[Indices, Indices]:
    """Where each run of equal codes starts and how long it is."""
    starts = np.flatnonzero(np.r_[True, np.diff(sorted_codes) > 0])
    return starts, np.diff(np.r_[starts, len(sorted_codes)])


def _mean_within_extremes(values: Floats, starts: Indices, counts: Indices) -> Floats:
    """Mean of each run of sorted values without its first and last, as long as any is left."""
    sums = np.add.reduceat(values, starts)
    extremes = values[starts] + values[starts + counts - 1]
    trimmed = np.where(counts > 2, sums - extremes, sums)
    return np.asarray(trimmed / np.where(counts > 2, counts - 2, counts))


def _median_of_sorted(values: Floats, starts: Indices, counts: Indices) -> Floats:
    return np.asarray((values[starts + (counts - 1) // 2] + values[starts + counts // 2]) / 2)


def _interval_rank(counts: Indices) -> Indices:
    """How many order statistics to step in from each end for a 95 % interval of the median."""
    rank = np.floor((counts - 1.96 * np.sqrt(counts)) / 2).astype(int)
    return np.where(counts < 6, 0, np.clip(rank, 0, None))
