"""Judges the boundaries between the pieces of a curve: steps and changes of slope.

What timing shows is a `step` or a `slope_change`; that a step is a switch of protocol needs proof.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from switchpoint.detection import confidence
from switchpoint.detection.segments import Piece, PieceTable
from switchpoint.tables.sweeps import Floats

#: Effects smaller than this are not reported: relative change of time.
SMALLEST_STEP = 0.05
SMALLEST_SLOPE_CHANGE = 0.25

#: A boundary must be at least this probable, before calibration.
LEAST_POSTERIOR = 0.1

#: A jump between two lines is one from so many standard errors on, or where the fit wants the
#: boundary with such a posterior: a piece of few sizes aims its line badly.
_JUMP_ERRORS = 2.0
_SURE_POSTERIOR = 0.9


def boundaries(table: PieceTable, pieces: list[Piece], price: Floats) -> list[dict[str, Any]]:
    """Describe the boundaries between pieces that are large and certain enough."""
    found = (_judge(table, left, right, price) for left, right in itertools.pairwise(pieces))
    return [finding for finding in found if finding is not None]


def _judge(table: PieceTable, left: Piece, right: Piece, price: Floats) -> dict[str, Any] | None:
    """Describe the boundary between two pieces, or None where it is too small or too uncertain."""
    posterior = _posterior(table, left, right, price)
    if posterior < LEAST_POSTERIOR:
        return None
    last_before, first_after = float(table.size[left[1]]), float(table.size[right[0]])
    before, before_error = table.line(*left, first_after)
    after, after_error = table.line(*right, first_after)
    jump = after - before
    clear = abs(jump) >= _JUMP_ERRORS * np.hypot(before_error, after_error)
    jumps = abs(jump) >= SMALLEST_STEP * before and (clear or posterior >= _SURE_POSTERIOR)
    kind, magnitude = "step", jump / before
    if not jumps or _lines_meet(table, left, right):
        bend = _change_an_octave_on(table, left, right)
        if abs(bend) >= SMALLEST_SLOPE_CHANGE:
            kind, magnitude = "slope_change", bend
        elif not jumps:
            return None
    return {
        "kind": kind,
        "size_bytes": int(first_after),
        "last_size_before": int(last_before),
        "magnitude": magnitude,
        "confidence": confidence.confidence(kind, posterior, last_before, first_after),
        "evidence": {
            "before": _line_as_words(table, left),
            "after": _line_as_words(table, right),
            "jump_us": jump,
            "noise": float(np.median(table.noise)),
            "sizes": right[1] - left[0] + 1,
            "posterior": posterior,
        },
    }


def _change_an_octave_on(table: PieceTable, left: Piece, right: Piece) -> float:
    """Relative change of time at twice the first size past a boundary, one line to the other."""
    octave = 2 * float(table.size[right[0]])
    return table.line(*right, octave)[0] / table.line(*left, octave)[0] - 1


def _lines_meet(table: PieceTable, left: Piece, right: Piece) -> bool:
    """Whether two pieces' lines cross within one size of their boundary, and so make a bend."""
    steeper = table.slope[right] - table.slope[left]
    if steeper == 0:
        return False
    crossing = (table.intercept[left] - table.intercept[right]) / steeper
    return bool(table.size[left[1] - 1] <= crossing <= table.size[right[0] + 1])


def _posterior(table: PieceTable, left: Piece, right: Piece, price: Floats) -> float:
    """Probability of a boundary exactly here among all places in the two pieces and none at all.

    Places next to either end count too: what looks like a step may be one odd first size.
    """
    first, last = left[0], right[1]
    places = np.arange(first + 1, last + 1)
    misfits = table.misfit[first, places - 1] + table.misfit[places, last] + price[places]
    logs = -0.5 * np.r_[misfits, table.misfit[first, last]]
    odds = np.exp(logs - logs.max())
    return float(odds[right[0] - first - 1] / odds.sum())


def _line_as_words(table: PieceTable, piece: Piece) -> dict[str, float]:
    return {
        "first_size_bytes": int(table.size[piece[0]]),
        "last_size_bytes": int(table.size[piece[1]]),
        "intercept_us": float(table.intercept[piece]),
        "per_byte_us": float(table.slope[piece]),
    }
