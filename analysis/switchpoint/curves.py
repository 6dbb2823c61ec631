"""Summarises samples into curves: one row per curve and size, with the median and its interval."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from switchpoint.measurements import Measurements, swept
from switchpoint.shapes import CURVE_COLUMNS, identity_columns

#: Relative standard error of a curve's typical median from which it is called noisy.
_TOO_NOISY = 0.1

_NORMAL_SD_PER_MAD = 1.4826
#: By the number of values, from 0: what makes the deviation of few unbiased (Croux and Rousseeuw
#: 1992, table 2); nearly 1 beyond.
_MAD_CORRECTION = np.array([0, 0, 1.196, 1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107, 1.08])
_MEDIAN_PER_MEAN_ERROR = 1.2533  # of normal samples, sqrt(pi / 2)

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.integer[Any]]


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
        median's standard error, from the scatter of samples or of the passes' medians, whichever
        says more, 0 where one sample leaves it unknown; `trimmed_us`, the mean without the best and
        the worst sample (Hariri et al., study 004), of two or less the mean; `count` of samples;
        `bandwidth_MBps` = size_bytes / time_us (10^6 B/s).
    """
    samples = swept(source.samples if isinstance(source, Measurements) else source)
    identity = identity_columns(samples)
    keys = [*identity, "size_bytes"]
    if samples.empty:
        return pd.DataFrame(columns=[*identity, *CURVE_COLUMNS])
    codes = samples.groupby(keys, dropna=False, observed=True, sort=True).ngroup().to_numpy()
    time = samples["time_us"].to_numpy(dtype=float)
    order = np.lexsort((time, codes))
    sorted_time = time[order]
    starts, counts = _runs(codes[order])

    median, mad, within = _robust_summary(codes, time)
    between = _error_between_passes(codes, samples["pass"].to_numpy(), time)
    below = _interval_rank(counts)
    table = samples.iloc[order[starts]][keys].reset_index(drop=True)
    table["time_us"] = median
    table["low_us"] = sorted_time[starts + below]
    table["high_us"] = sorted_time[starts + counts - 1 - below]
    table["mad_us"] = mad
    table["error_us"] = np.maximum(within, between)
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


def _error_between_passes(codes: Indices, passes: Indices, time: Floats) -> Floats:
    """Standard error of each curve point from its medians over passes, 0 for one pass.

    A machine's state often lasts for a pass; samples of one pass then agree and prove little. A
    pass spoilt by another job is outvoted, for the scatter is a median absolute deviation too.
    """
    cells = codes * (int(passes.max()) + 1) + passes
    order = np.lexsort((time, cells))
    starts, counts = _runs(cells[order])
    medians = _median_of_sorted(time[order], starts, counts)
    return _robust_summary(codes[order][starts], medians)[2]


def _robust_summary(codes: Indices, values: Floats) -> tuple[Floats, Floats, Floats]:
    """Median of the values of each code, their median absolute deviation, the median's error."""
    order = np.lexsort((values, codes))
    starts, counts = _runs(codes[order])
    median = _median_of_sorted(values[order], starts, counts)
    deviation = np.abs(values - median[codes])
    order = np.lexsort((deviation, codes))
    mad = _median_of_sorted(deviation[order], starts, counts)
    sd = _NORMAL_SD_PER_MAD * mad * _MAD_CORRECTION[np.minimum(counts, len(_MAD_CORRECTION) - 1)]
    return median, mad, _MEDIAN_PER_MEAN_ERROR * sd / np.sqrt(counts)


def median_by(codes: Indices, values: Floats) -> Floats:
    """Median of the values of each code; all codes from 0 to the largest occur."""
    order = np.lexsort((values, codes))
    return _median_of_sorted(values[order], *_runs(codes[order]))


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
