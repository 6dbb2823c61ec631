"""Each launch's change of latency and of time per byte, in each segment of its curve.

With the baseline's line t = a + b m of a segment, a launch whose latency is exp(x) times and whose
time per byte is exp(y) times the baseline's has times whose logarithms differ by
r(m) = log(w(m) exp(x) + (1 - w(m)) exp(y)), with the share w = a / (a + b m) of latency. A robust
regression of r gives x and y, by Gauss-Newton steps: about given x and y, r is linear in both, with
w' = w exp(x) / (w exp(x) + (1 - w) exp(y)) and 1 - w'.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from switchpoint.gating.by_session import LaunchesBySession, launches_by_session, row_medians
from switchpoint.gating.points import Points
from switchpoint.gating.shapes import Shapes
from switchpoint.tables.curves import median_by
from switchpoint.tables.student import SD_PER_MAD
from switchpoint.tables.sweeps import Floats, Indices

#: A parameter is known if its variance is at most this many times that of the segment's level.
_MOST_INFLATION = 16.0

#: No point is known better than this, relative.
_LEAST_ERROR = 0.005


#: What a parameter is.
METRICS = LATENCY, BANDWIDTH, NOISE = "latency", "bandwidth", "noise"

#: The regression's weights are those of Tukey's biweight with this many standard deviations
#: (95 % efficient for normal noise), after so many steps.
_BIWEIGHT = 4.685
_STEPS = 5

#: Then levels are fitted where the sizes cannot tell both, unless latency and time per byte differ
#: by this many standard errors.
_STEPS_OF_LEVELS = 3
_SURE = 5.0

#: A line whose share of latency varies less than this, as a standard deviation, is a level.
_LEAST_SPREAD = 0.02

#: No step changes the logarithm of a parameter by more than this, so that none goes too far.
_LONGEST_STEP = 1.0


@dataclass(frozen=True)
class Parameters:
    """Parameters of curves, one row each, and their values in every launch and session.

    Attributes
    ----------
    table : DataFrame
        `curve`, `metric`, `segment` as in `Shapes`, `first_size_bytes`, `last_size_bytes`, and
        `smallest_bytes` and `largest_bytes` of the curve's sizes. `rest` is the share of the time
        that the other metric has, where the sizes do not tell both, and otherwise 0.
    launches : LaunchesBySession
        The logarithm of the ratio to the baseline's shape. More is worse: that of bandwidth is the
        change of time per byte.
    current : DataFrame
        One row for each launch of the last session and each segment that it measured: `run_id`,
        `curve`, `first_size_bytes`, `last_size_bytes`, `latency_us`, `time_per_byte_us`, and
        `noise`, the typical relative scatter of the launch's samples. NaN where it is not known.
    """

    table: pd.DataFrame
    launches: LaunchesBySession
    current: pd.DataFrame = field(default_factory=pd.DataFrame)

    @property
    def per_session(self) -> Floats:
        """Medians over the launches of each session, shape (parameters, sessions)."""
        return self.launches.per_session

    def by_segment(self, segments: int) -> tuple[Floats, Floats]:
        """Return latency and time per byte of each segment, shape (segments, sessions).

        NaN where the segment's sizes do not tell it.
        """
        levels = []
        for metric in (LATENCY, BANDWIDTH):
            rows = self.table.index[self.table["metric"] == metric]
            level = np.full((segments, self.per_session.shape[1]), np.nan)
            level[self.table["segment"].to_numpy()[rows]] = self.per_session[rows]
            levels.append(level)
        return levels[0], levels[1]

    def numbered_from(self, segments: int) -> Parameters:
        """Number the segments from here on; the noise belongs to none."""
        segment = self.table["segment"]
        return replace(self, table=self.table.assign(segment=segment + segments * (segment >= 0)))

    @classmethod
    def joined(cls, parts: list[Parameters]) -> Parameters:
        """Join several."""
        return cls(
            pd.concat([part.table for part in parts], ignore_index=True),
            LaunchesBySession.joined([part.launches for part in parts]),
            pd.concat([part.current for part in parts], ignore_index=True),
        )


def parameters_of(points: Points, shapes: Shapes, left_out: npt.NDArray[np.bool_]) -> Parameters:
    """Fit latency and time per byte of each segment, and the noise of each curve.

    Parameters
    ----------
    points, shapes
        Of all sessions.
    left_out : array of bool
        Of each point: whether it is not used, because a switch moved across its size.
    """
    lines = _fit_lines(points, shapes, (shapes.place >= 0) & ~left_out)
    noise, scatter = _noise(points)
    launch = lines.current.pop("launch")
    lines.current["noise"] = scatter[launch]
    return Parameters.joined([lines, noise])


def relative(metric: str, logarithm: float) -> float:
    """Return the relative change of a metric from the logarithm of the change of time."""
    return math.expm1(-logarithm if metric == BANDWIDTH else logarithm)


def ratios(points: Points, shapes: Shapes) -> Floats:
    """Return how much slower each point is than the baseline, as a logarithm; NaN if not known."""
    ratio = points.log_time - shapes.log_time[shapes.place] if len(shapes.log_time) else None
    missing = np.full(len(points.log_time), np.nan)
    return missing if ratio is None else np.where(shapes.place >= 0, ratio, np.nan)


def main_segments(table: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Return which parameters are of the segment where their metric counts most.

    What adds to the latency of all messages shows most in the first segment of a curve, what adds
    to the time per byte in the last one.
    """
    of_curve = table.groupby(["curve", "metric"], observed=True)
    first = table["first_size_bytes"] == of_curve["first_size_bytes"].transform("min")
    last = table["last_size_bytes"] == of_curve["last_size_bytes"].transform("max")
    return np.asarray(np.where(table["metric"] == BANDWIDTH, last, first), dtype=bool)


def _fit_lines(points: Points, shapes: Shapes, used: npt.NDArray[np.bool_]) -> Parameters:
    place = shapes.place[used]
    segment, share = shapes.segment[place], shapes.latency_share[place]
    both, mean = _known(shapes)
    error = np.hypot(points.error[used], _LEAST_ERROR)
    error = np.hypot(error, SD_PER_MAD * shapes.scatter[place])
    ratio = ratios(points, shapes)[used]
    launch = points.launch[used]
    cells, cell = np.unique(launch * len(shapes.segment_curve) + segment, return_inverse=True)
    weight = 1 / error**2
    latency, per_byte, free = _line_changes(cell, len(cells), ratio, share, weight, both[segment])
    of_launch, of_segment = np.divmod(cells, max(len(shapes.segment_curve), 1))
    session = points.launches["session_number"].to_numpy()[of_launch]
    sizes = _sizes(shapes)
    both_known = both.copy()
    both_known[of_segment[free & (session == points.sessions - 1)]] = True
    parts = []
    for values, metric, there, rest in (
        (latency, LATENCY, both | (mean >= 0.5), 1 - mean),
        (per_byte, BANDWIDTH, both | ~(mean >= 0.5), mean),
    ):
        chosen = there[of_segment] & np.isfinite(values)
        segments = np.flatnonzero(there)
        row = np.searchsorted(segments, of_segment[chosen])
        table = sizes.iloc[segments].reset_index(drop=True)
        table.insert(1, "metric", metric)
        table["rest"] = np.where(both_known, 0.0, rest)[segments]
        parts.append(_collect(table, row, session[chosen], values[chosen], points.sessions))
    current = _current(points, shapes, cells, latency, per_byte)
    return replace(Parameters.joined(parts), current=current)


def _current(
    points: Points, shapes: Shapes, cells: Indices, latency: Floats, per_byte: Floats
) -> pd.DataFrame:
    """Return `Parameters.current` with the number of the launch, without the noise.

    The changes of latency and of time per byte are those of cells: a launch and a segment each.
    """
    launch, segment = np.divmod(cells, max(len(shapes.segment_curve), 1))
    now = points.launches["session_number"].to_numpy()[launch] == points.sessions - 1
    launch, segment = launch[now], segment[now]
    names = ["first_size_bytes", "last_size_bytes"]
    sizes: pd.DataFrame = _sizes(shapes)[names].iloc[segment]
    return sizes.reset_index(drop=True).assign(
        launch=launch,
        run_id=points.launches["run_id"].to_numpy()[launch],
        curve=points.launches["curve"].to_numpy()[launch],
        latency_us=shapes.latency_us[segment] * np.exp(latency[now]),
        time_per_byte_us=shapes.per_byte_us[segment] * np.exp(per_byte[now]),
    )


def _known(shapes: Shapes) -> tuple[npt.NDArray[np.bool_], Floats]:
    """Return whether the sizes of each segment tell both parameters, and the share of latency.

    They do if the share of latency varies enough within the segment.
    """
    count = len(shapes.segment_curve)
    number = np.bincount(shapes.segment, minlength=count)
    mean = np.bincount(shapes.segment, shapes.latency_share, minlength=count) / np.maximum(
        number, 1
    )
    off = shapes.latency_share - mean[shapes.segment] if count else shapes.latency_share
    spread = np.bincount(shapes.segment, off**2, minlength=count) / number
    with np.errstate(divide="ignore"):
        inflation = 1 + np.maximum(mean, 1 - mean) ** 2 / spread
    return (inflation <= _MOST_INFLATION) & (number >= 3), mean


def _noise(points: Points) -> tuple[Parameters, Floats]:
    """Return the typical scatter of each curve's samples, as a logarithm; and of each launch."""
    repeated = points.spread > 0
    measured, cell = np.unique(points.launch[repeated], return_inverse=True)
    launches = points.launches.iloc[measured]
    values = np.log(median_by(cell, points.spread[repeated])) if len(cell) else np.zeros(0)
    curves = np.unique(launches["curve"].to_numpy())
    sizes = pd.DataFrame({"curve": points.curve, "size": points.size}).groupby("curve")["size"]
    low, high = sizes.min().reindex(curves), sizes.max().reindex(curves)
    table = pd.DataFrame(
        {
            "curve": curves,
            "metric": NOISE,
            "segment": -1,
            "first_size_bytes": low.to_numpy(),
            "last_size_bytes": high.to_numpy(),
            "smallest_bytes": low.to_numpy(),
            "largest_bytes": high.to_numpy(),
            "rest": 0.0,
        }
    )
    row = np.searchsorted(curves, launches["curve"].to_numpy())
    noise = _collect(table, row, launches["session_number"].to_numpy(), values, points.sessions)
    past = noise.per_session[:, :-1]
    typical = row_medians(past)
    scatter = np.full(len(points.launches), np.nan)
    scatter[measured] = np.exp(values)
    usual = np.broadcast_to(typical[:, None], noise.per_session.shape)
    return replace(noise, launches=noise.launches.less(usual)), scatter


def _sizes(shapes: Shapes) -> pd.DataFrame:
    """Return the sizes of each segment, and of its curve."""
    count = len(shapes.segment_curve)
    segments = np.arange(count)
    first = np.searchsorted(shapes.segment, segments)
    last = np.searchsorted(shapes.segment, segments, side="right") - 1
    curve_first = np.searchsorted(shapes.curve, shapes.segment_curve)
    curve_last = np.searchsorted(shapes.curve, shapes.segment_curve, side="right") - 1
    return pd.DataFrame(
        {
            "curve": shapes.segment_curve,
            "segment": segments,
            "first_size_bytes": shapes.size[first],
            "last_size_bytes": shapes.size[last],
            "smallest_bytes": shapes.size[curve_first],
            "largest_bytes": shapes.size[curve_last],
        }
    )


def _collect(
    table: pd.DataFrame, row: Indices, session: Indices, values: Floats, sessions: int
) -> Parameters:
    """Arrange the values of launches by session."""
    return Parameters(table, launches_by_session(row, session, values, (len(table), sessions)))


def _line_changes(
    cell: Indices,
    count: int,
    ratio: Floats,
    share: Floats,
    weight: Floats,
    both: npt.NDArray[np.bool_],
) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
    """Return the change of latency and of time per byte of each cell, as logarithms.

    Return also whether the cell tells both.

    Parameters
    ----------
    cell : array of int, shape (points,)
        What the points belong to: a launch and a segment.
    count : int
        How many cells there are.
    ratio, share, weight : array of float, shape (points,)
        How much slower each is than the baseline, as a logarithm; w of the baseline's line; and the
        inverse of its variance.
    both : array of bool, shape (points,)
        Whether the sizes of its segment can tell both. If not, both are the same level, unless the
        cell shows for sure that they are not: a much higher latency is no lower bandwidth.
    """

    def total(values: npt.NDArray[Any]) -> Floats:
        return np.asarray(np.bincount(cell, values, minlength=count), dtype=float)

    level = median_by(cell, ratio) if count else np.zeros(0)
    latency, per_byte = level, level
    free = np.ones(count, dtype=bool)
    for step in range(_STEPS + _STEPS_OF_LEVELS):
        latency_part = share * np.exp(latency[cell])
        whole = latency_part + (1 - share) * np.exp(per_byte[cell])
        own_share = latency_part / whole
        off = ratio - np.log(whole)
        linear = off + own_share * latency[cell] + (1 - own_share) * per_byte[cell]
        deviation = np.abs(off) * np.sqrt(weight)
        scale = np.maximum(SD_PER_MAD * median_by(cell, deviation), 1.0) if count else level
        robust = np.clip(1 - (deviation / (_BIWEIGHT * scale[cell])) ** 2, 0, None) ** 2
        # The first step starts from a median, which an accurate line may be far from at its ends.
        used = weight * (np.maximum(robust, 0.05) if step == 0 else robust)
        w = total(used)
        mean_s, mean_r = total(used * own_share) / w, total(used * linear) / w
        off_s = own_share - mean_s[cell]
        spread = total(used * off_s**2)
        moment = total(used * off_s * linear)
        tells = spread > _LEAST_SPREAD**2 * w
        slope = np.where(tells, moment / np.where(tells, spread, 1), 0.0)
        if step == _STEPS:
            free = (total(both) > 0) | (np.abs(slope) * np.sqrt(spread) > _SURE * scale)
        slope = np.where(free, slope, 0.0)
        to = mean_r + slope * (1 - mean_s), mean_r - slope * mean_s
        latency, per_byte = (
            old + np.clip(new - old, -_LONGEST_STEP, _LONGEST_STEP)
            for old, new in zip((latency, per_byte), to, strict=True)
        )
    return latency, per_byte, free
