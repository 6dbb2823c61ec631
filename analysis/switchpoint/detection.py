"""Finds steps and changes of slope in curves of time against message size.

What timing shows is a `step` or a `slope_change`; that a step is a switch of protocol needs proof.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from switchpoint.curves import summarise
from switchpoint.measurements import Measurements
from switchpoint.segments import MIN_SIZES, PIECE_PARAMETERS, PieceTable, cut
from switchpoint.shapes import FINDING_COLUMNS, identity_columns
from switchpoint.suspects import suspects_of_run

Floats = npt.NDArray[np.float64]

#: Effects smaller than this are not reported: relative change of time.
SMALLEST_STEP = 0.05
SMALLEST_SLOPE_CHANGE = 0.25

#: A finding must be at least this probable.
LEAST_CONFIDENCE = 0.5

#: From these on a finding is shown first; a suspect lifts a smaller one.
PROMINENT_MAGNITUDE = 0.2
PROMINENT_CONFIDENCE = 0.95

#: Noise never counts as smaller than this, relative: below it curves are not made of lines.
NOISE_FLOOR = 0.005

#: Scatter is read at this quantile of absolute values, and its place in a normal distribution.
_QUANTILE = 0.4
_NORMAL_QUANTILE = 0.5244

#: Multiple of the Bayesian information criterion's penalty for one more piece.
PENALTY_FACTOR = 2.0


def detect(
    source: Measurements | pd.DataFrame, progress: Callable[[], object] = lambda: None
) -> pd.DataFrame:
    """Find steps and changes of slope in every curve.

    Parameters
    ----------
    source
        Measurements or their samples table.
    progress
        Called after each curve.

    Returns
    -------
    DataFrame
        One row per finding, the curve's identity columns and:

        kind
            `step`: the time jumps between two neighbouring sizes. `slope_change`: the time per
            byte changes without a jump.
        size_bytes, last_size_before
            First measured size on the far side and last on the near side.
        magnitude
            Relative change of time, positive when slower: of a step, both lines compared at
            `size_bytes`; of a slope change, compared one octave past it.
        confidence
            Posterior probability, from 0 to 1, that the boundary exists and lies between exactly
            these two sizes, against none there and against every other place within the two pieces
            around it; equal prior odds, Gaussian noise estimated from the repeats and from the
            scatter of neighbouring sizes. It says nothing of the cause.
        evidence
            Dictionary: the two lines (`intercept_us`, `per_byte_us`), `jump_us`, relative `noise`,
            `sizes`.
        suspects
            List of dictionaries: settings whose value lies in the bracket. Never proof.
    """
    table = summarise(source)
    identity = identity_columns(table)
    rows: list[dict[str, Any]] = []
    suspects_by_run: dict[str, Callable[[int, int], list[dict[str, Any]]]] = {}
    for curve, points in _each_curve(table, identity):
        found = detect_curve(
            points["size_bytes"].to_numpy(dtype=float),
            points["time_us"].to_numpy(dtype=float),
            (points["error_us"] / points["time_us"]).to_numpy(dtype=float),
        )
        run_id = curve.get("run_id")
        if found and isinstance(source, Measurements) and isinstance(run_id, str):
            if run_id not in suspects_by_run:
                suspects_by_run[run_id] = suspects_of_run(*source.facts(run_id))
            for finding in found:
                finding["suspects"] = suspects_by_run[run_id](
                    finding["last_size_before"], finding["size_bytes"]
                )
        rows += [curve | finding for finding in found]
        progress()
    return pd.DataFrame(rows, columns=[*identity, *FINDING_COLUMNS]).reset_index(drop=True)


def _each_curve(table: pd.DataFrame, identity: list[str]) -> Any:
    if not identity:
        yield {}, table
        return
    for values, points in table.groupby(identity, dropna=False, observed=True, sort=False):
        yield dict(zip(identity, values, strict=True)), points


def prominent(findings: pd.DataFrame) -> pd.Series[bool]:
    """Tell the findings that a reader wants first: large and sure, or with a suspect."""
    large = findings["magnitude"].abs() >= PROMINENT_MAGNITUDE
    sure = findings["confidence"] >= PROMINENT_CONFIDENCE
    return (large & sure) | findings["suspects"].map(bool)


def detect_curve(size: Floats, time: Floats, standard_error: Floats) -> list[dict[str, Any]]:
    """Find steps and changes of slope in one curve.

    Parameters
    ----------
    size, time, standard_error : array of float, shape (n,)
        Bytes, ascending, each once; median time in microseconds; its relative standard error.

    Returns
    -------
    list of dict
        `FINDING_COLUMNS` without suspects, by size.
    """
    if len(size) < 2 * MIN_SIZES:
        return []
    noise = point_noise(size, time, standard_error)
    penalty = PENALTY_FACTOR * PIECE_PARAMETERS * float(np.log(len(size)))
    table = PieceTable(size, time, noise)
    pieces = cut(table, penalty)
    bounds = pieces.bounds
    found = (
        _judge(table, left, right, penalty, float(np.median(noise)))
        for left, right in itertools.pairwise(bounds)
    )
    return [finding for finding in found if finding is not None]


def point_noise(size: Floats, time: Floats, standard_error: Floats) -> Floats:
    """Relative noise of each point: the repeats' own and what differs from size to size.

    The second is read from how far each point lies from the straight line between its neighbours,
    at a low quantile because both sides of every step are far from it. A point that alone is off a
    line through two neighbours on either side is given the noise that it shows.
    """
    off, left, right = _off_the_neighbours(size, time)
    variance = np.maximum(standard_error, _typical_around(standard_error)) ** 2 + NOISE_FLOOR**2
    # For each guess of the scatter, how far the points are off in units of the noise it implies.
    guesses = np.r_[0.0, np.geomspace(NOISE_FLOOR, 1.0, 40)][:, None]
    total = variance + guesses**2
    expected = np.sqrt(total[:, 1:-1] + left**2 * total[:, :-2] + right**2 * total[:, 2:])
    off_in_noise = np.quantile(np.abs(off) / expected, _QUANTILE, axis=1)
    scatter = float(np.interp(0.0, _NORMAL_QUANTILE - off_in_noise, guesses[:, 0]))
    noise = np.sqrt(variance + scatter**2)
    noise[2:-2] = np.maximum(noise[2:-2], _lone_outliers(size, time, noise))
    return np.asarray(noise)


def _typical_around(values: Floats) -> Floats:
    """Median of each point and up to four on either side.

    Errors estimated from few repeats are now and then far too small; no point may count as surer
    than those around it usually are.
    """
    reach = 4
    padded = np.pad(values, reach, constant_values=np.nan)
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1)
    return np.asarray(np.nanmedian(windows, axis=1))


def _off_the_neighbours(size: Floats, time: Floats) -> tuple[Floats, Floats, Floats]:
    """Relative distance of inner points from the chord of their neighbours, and its two weights."""
    share = np.diff(size)[1:] / (size[2:] - size[:-2])
    left = share * time[:-2] / time[1:-1]
    right = (1 - share) * time[2:] / time[1:-1]
    return 1 - left - right, left, right


def _lone_outliers(size: Floats, time: Floats, noise: Floats) -> Floats:
    """For each point but two at either end, its relative distance where it alone is off, else 0."""
    n = len(size)
    around = np.stack([np.arange(n - 4) + shift for shift in (0, 1, 3, 4)], axis=1)
    x, y = size[around], time[around]
    centre, mean = x.mean(1, keepdims=True), y.mean(1, keepdims=True)
    slope = ((x - centre) * (y - mean)).sum(1) / ((x - centre) ** 2).sum(1)
    line = mean + slope[:, None] * (x - centre)
    aside = np.abs((y - line) / y).max(1)
    here = slice(2, n - 2)
    own = np.abs(time[here] / (mean[:, 0] + slope * (size[here] - centre[:, 0])) - 1)
    alone = (own > 5 * noise[here]) & (aside < 2 * np.median(noise[around], axis=1))
    return np.where(alone, own, 0.0)


def _judge(
    table: PieceTable, left: tuple[int, int], right: tuple[int, int], penalty: float, noise: float
) -> dict[str, Any] | None:
    """Describe the boundary between two pieces, or None where it is too small or too uncertain."""
    last_before, first_after = float(table.size[left[1]]), float(table.size[right[0]])
    before, before_error = table.line(*left, first_after)
    after, after_error = table.line(*right, first_after)
    jump = after - before
    jump_error = float(np.hypot(before_error, after_error))
    kind, magnitude = "step", jump / before
    no_jump = abs(jump) < 3 * jump_error or abs(magnitude) < SMALLEST_STEP
    if no_jump or _lines_meet(table, left, right):
        bend = _change_an_octave_on(table, left, right)
        if abs(bend) >= SMALLEST_SLOPE_CHANGE:
            kind, magnitude = "slope_change", bend
        elif no_jump:
            return None
    confidence = _posterior(table, left, right, penalty)
    if confidence < LEAST_CONFIDENCE:
        return None
    return {
        "kind": kind,
        "size_bytes": int(first_after),
        "last_size_before": int(last_before),
        "magnitude": magnitude,
        "confidence": confidence,
        "evidence": {
            "before": _line_as_words(table, left),
            "after": _line_as_words(table, right),
            "jump_us": jump,
            "noise": noise,
            "sizes": right[1] - left[0] + 1,
        },
        "suspects": [],
    }


def _change_an_octave_on(table: PieceTable, left: tuple[int, int], right: tuple[int, int]) -> float:
    """Relative change of time at twice the first size past a boundary, one line to the other."""
    octave = 2 * float(table.size[right[0]])
    return table.line(*right, octave)[0] / table.line(*left, octave)[0] - 1


def _lines_meet(table: PieceTable, left: tuple[int, int], right: tuple[int, int]) -> bool:
    """Whether two pieces' lines cross within one size of their boundary, and so make a bend."""
    steeper = table.slope[right] - table.slope[left]
    if steeper == 0:
        return False
    crossing = (table.intercept[left] - table.intercept[right]) / steeper
    return bool(table.size[left[1] - 1] <= crossing <= table.size[right[0] + 1])


def _posterior(
    table: PieceTable, left: tuple[int, int], right: tuple[int, int], penalty: float
) -> float:
    """Probability of a boundary exactly here among all places in the two pieces and none at all.

    Places next to either end count too: what looks like a step may be one odd first size.
    """
    first, last = left[0], right[1]
    places = np.arange(first + 1, last + 1)
    misfits = table.misfit[first, places - 1] + table.misfit[places, last] + penalty
    logs = -0.5 * np.r_[misfits, table.misfit[first, last]]
    odds = np.exp(logs - logs.max())
    return float(odds[right[0] - first - 1] / odds.sum())


def _line_as_words(table: PieceTable, piece: tuple[int, int]) -> dict[str, float]:
    return {
        "first_size_bytes": int(table.size[piece[0]]),
        "last_size_bytes": int(table.size[piece[1]]),
        "intercept_us": float(table.intercept[piece]),
        "per_byte_us": float(table.slope[piece]),
    }
