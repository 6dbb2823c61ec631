"""Summarises samples into curves: one row per curve and size, with the median and its interval."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from switchpoint.measurements import Measurements, identity_columns

#: Columns that `summarise` adds to the identity.
CURVE_COLUMNS = [
    "size_bytes", "time_us", "low_us", "high_us", "mad_us", "count", "bandwidth_MBps",
]  # fmt: skip

Floats = npt.NDArray[np.float64]


def summarise(source: Measurements | pd.DataFrame) -> pd.DataFrame:
    """Summarise samples per curve and message size.

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
        of the samples where there are fewer than six); `mad_us`, the median absolute deviation;
        `count` of samples; `bandwidth_MBps` = size_bytes / time_us (10^6 B/s).
    """
    samples = source.samples if isinstance(source, Measurements) else source
    identity = identity_columns(samples)
    keys = [*identity, "size_bytes"]
    if samples.empty:
        return pd.DataFrame(columns=[*identity, *CURVE_COLUMNS])
    codes = samples.groupby(keys, dropna=False, observed=True, sort=True).ngroup().to_numpy()
    time = samples["time_us"].to_numpy(dtype=float)
    order = np.lexsort((time, codes))
    sorted_time, sorted_codes = time[order], codes[order]
    starts = np.flatnonzero(np.r_[True, np.diff(sorted_codes) > 0])
    counts = np.diff(np.r_[starts, len(sorted_codes)])

    median = _median_of_sorted(sorted_time, starts, counts)
    deviation = np.abs(sorted_time - np.repeat(median, counts))
    mad = _median_of_sorted(
        deviation[np.lexsort((deviation, sorted_codes))], starts, counts
    )
    below = _interval_rank(counts)
    table = samples.iloc[order[starts]][keys].reset_index(drop=True)
    table["time_us"] = median
    table["low_us"] = sorted_time[starts + below]
    table["high_us"] = sorted_time[starts + counts - 1 - below]
    table["mad_us"] = mad
    table["count"] = counts
    table["bandwidth_MBps"] = table["size_bytes"] / table["time_us"]
    return table


def _median_of_sorted(values: Floats, starts: npt.NDArray[np.intp], counts: npt.NDArray[np.intp]) -> Floats:
    return (values[starts + (counts - 1) // 2] + values[starts + counts // 2]) / 2


def _interval_rank(counts: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """How many order statistics to step in from each end for a 95 % interval of the median."""
    rank = np.floor((counts - 1.96 * np.sqrt(counts)) / 2).astype(int)
    return np.where(counts < 6, 0, np.clip(rank, 0, None))
