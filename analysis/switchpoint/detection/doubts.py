"""Names the changes of time that may be a cliff or noise, so that none is dropped without a word.

What no finding covers, although the times of neighbouring sizes differ by much, is no finding: in
noise such differences occur by chance. But only another measurement can decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt
import pandas as pd

from switchpoint.data_warnings import DataWarning
from switchpoint.detection.cliffs import POSSIBLE, SMALLEST_CLIFF, cliffs
from switchpoint.detection.launches import FEWEST_SIZES
from switchpoint.detection.noise import point_noise
from switchpoint.tables.columns import identity_columns, records, rows_by, values_of
from switchpoint.tables.findings import BOUNDARIES, Anomaly
from switchpoint.tables.naming import curve_name
from switchpoint.tables.sweeps import Floats
from switchpoint.tables.units import percent, range_text

#: The column that numbers the curves.
_NUMBER = "number of the curve"


def doubtful(
    size: Floats, time: Floats, standard_error: Floats, findings: Iterable[Anomaly]
) -> list[int]:
    """Find the first size after each change that may be a cliff or noise, in one launch.

    Parameters
    ----------
    size, time, standard_error : array of float, shape (n,)
        Bytes, ascending, each once; median microseconds; relative standard errors.
    findings : iterable of mappings
        What `detect` finds in this curve. What a bracket contains, or is beside an outlier, is
        reported already.

    Returns
    -------
    list of int
        Indices. Beyond such a place the time falls, or it grows by more than the size, which no
        change of slope explains.
    """
    reported = np.zeros(len(size) + 1, dtype=bool)
    for finding in findings:
        if finding["kind"] in BOUNDARIES:
            ends = finding["last_size_before"], finding["size_bytes"]
            first, last = np.searchsorted(size, ends)
            reported[first + 1 : last + 1] = True
        elif finding["kind"] == "outlier":
            place = int(np.searchsorted(size, finding["size_bytes"]))
            reported[place : place + 2] = True
    noise = point_noise(size, time, standard_error)[0]
    possible = cliffs(size, time, noise, reported[:-1], errors=POSSIBLE)
    no_slope = _no_slope(size, time)
    return [place for place in possible if no_slope[place - 1]]


def doubt_warnings(curves: pd.DataFrame, findings: pd.DataFrame) -> list[DataWarning]:
    """Name each curve whose noise may hide a cliff, and where its times differ most.

    Parameters
    ----------
    curves, findings
        As from `summarise` and `detect`, of the same measurements.
    """
    names = identity_columns(curves)
    by_curve = rows_by(records(findings, Anomaly), names)
    warnings: list[DataWarning] = []
    for curve in _with_large_changes(curves, names):
        size, time = curve["size_bytes"].to_numpy(float), curve["time_us"].to_numpy(float)
        identity = values_of(curve.iloc[0].to_dict(), names)
        error = curve["error_us"].to_numpy(float) / time
        if places := doubtful(size, time, error, by_curve.get(identity, [])):
            what = f"the time changes by {_changes(size, time, places)}"
            warnings.append(DataWarning("step_or_noise", what, curve_name(names, identity)))
    return warnings


def _changes(size: Floats, time: Floats, places: list[int]) -> str:
    """Return the largest of some changes in words, and what to do."""
    largest = max(places, key=lambda place: abs(np.log(time[place] / time[place - 1])))
    change = percent(time[largest] / time[largest - 1] - 1)
    where = range_text(int(size[largest - 1]), int(size[largest]))
    others = len(places) - 1
    elsewhere = f", and at {others} other place{'s' * (others > 1)}" if others else ""
    difference = f"{change} from {where}{elsewhere}: a step or noise"
    return f"{difference}; measure again, with more sizes there"


def _with_large_changes(curves: pd.DataFrame, names: list[str]) -> Iterator[pd.DataFrame]:
    """Yield the curves in which the times of neighbouring sizes differ by half or more."""
    curves = curves[curves["size_bytes"] > 0]  # `detect` does not search 0 bytes
    number = curves.groupby(names, dropna=False, observed=True, sort=False).ngroup() if names else 0
    curves = curves.assign(**{_NUMBER: number}).sort_values([_NUMBER, "size_bytes"])
    of_curve, time = curves[_NUMBER].to_numpy(), curves["time_us"].to_numpy(float)
    large = np.abs(np.diff(np.log(time))) >= np.log1p(SMALLEST_CLIFF)
    large &= _no_slope(curves["size_bytes"].to_numpy(float), time)
    large &= of_curve[1:] == of_curve[:-1]
    for _, curve in curves[np.isin(of_curve, of_curve[1:][large])].groupby(_NUMBER):
        if len(curve) >= FEWEST_SIZES:
            yield curve


def _no_slope(size: Floats, time: Floats) -> npt.NDArray[np.bool_]:
    """Say of each size but the first whether the time falls, or grows by more than the size."""
    growth = time[1:] / time[:-1]
    return np.asarray((growth < 1) | (growth > size[1:] / np.maximum(size[:-1], 1.0)))
