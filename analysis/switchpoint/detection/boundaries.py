"""Tests the boundaries between the pieces of a curve: steps and changes of slope.

Timing shows a `step` or a `slope_change`. Only a proof makes a step a protocol switch.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from switchpoint.detection.bends import Bend
from switchpoint.detection.brackets import LEAST_PROBABILITY, Bracket, Probable, probable
from switchpoint.detection.cliffs import CERTAIN, CERTAIN_ALONE, SMALLEST_CLIFF, cliffs
from switchpoint.detection.confidence import confidence, features
from switchpoint.detection.divisions import Divisions
from switchpoint.detection.outliers import Odd, odd_between, odd_end
from switchpoint.detection.segments import Piece, PieceTable
from switchpoint.tables.findings import Anomaly, Evidence, Line

#: Effects smaller than this are not reported: relative change of time.
SMALLEST_STEP = 0.05
SMALLEST_SLOPE_CHANGE = 0.25

#: Without repeats the noise is not known, and a boundary must change the time by this many times
#: what is taken for it; one with a single size before or after it, at an end of the curve, by more.
_LEAST_ERRORS_ALONE = 1.25
_LEAST_ERRORS_OF_END = 4.0

#: A single size at an end that takes more than this many times as long was probably disturbed, also
#: with repeats: of 20 last sizes of bench/detection, other launches show two. The largest step that
#: a setting makes in the labelled curves with repeats multiplies the time by 5.7.
_LARGEST_STEP_OF_ONE_SIZE = 6.0

#: What a single size at an end of the curve leaves open.
_ONE_SIZE = "only one size lies {} it: a step, or one odd size; measure more sizes there"

#: What sizes that are far apart leave open, and how probable the other kind then is.
_EITHER_KIND = (
    "the sizes are too far apart to distinguish a step from a change of slope; measure more sizes"
    " between {:,} and {:,} B"
)
_POSSIBLE = 0.1

#: What two sizes between two boundaries leave open: another step between them looks like a line.
_TWO_SIZES = (
    "only two sizes lie {} it up to the next boundary, so that another step between them looks like"
    " a slope; measure more sizes between {:,} and {:,} B"
)

#: What noise leaves open over several sizes.
_SOMEWHERE = "the noise hides at which of these sizes; measure them again with more passes"

#: The lines beside a cliff that no bracket contains are those of this many sizes.
_SIZES_BESIDE_CLIFF = 3


@dataclass(frozen=True)
class Judged:
    """A boundary that is large enough, between two pieces.

    Attributes
    ----------
    bracket, left, right
        Where it is, and the pieces before and after it.
    kind, magnitude
        As in findings.
    bend : float
        The probability that the two lines meet, rather than that the time jumps.
    """

    bracket: Bracket
    left: Piece
    right: Piece
    kind: str
    magnitude: float
    bend: float


def boundaries(
    table: PieceTable,
    divisions: Divisions,
    others: Sequence[Probable],
    *,
    recurs: npt.NDArray[np.bool_],
    has_repeats: bool,
) -> tuple[list[Anomaly], list[Odd]]:
    """Describe the boundaries of a curve that are probable and large enough, and all cliffs.

    Two boundaries around a single size, beside which the lines agree, are no boundaries: the size
    is odd. These are returned too. `others` are the probable boundaries of the other launches, and
    `recurs` says where one of them jumps as well.
    """
    found = [_judge(table, one, others) for one in probable(table, divisions)]
    judged = [
        one for one in found
        if one and (has_repeats or recurs[one.bracket.last] or _exceeds_noise(table, one))
    ]  # fmt: skip
    reported = np.zeros(len(table.size), dtype=bool)
    for one in judged:
        reported[one.bracket.first : one.bracket.last + 1] = True
    errors = CERTAIN if has_repeats else CERTAIN_ALONE
    missed = cliffs(table.size, table.time, table.noise, reported, errors=errors)
    judged += [_cliff(table, divisions, place, reported) for place in missed]
    judged.sort(key=lambda one: one.bracket.first)
    odd = [*_odd_sizes(table, judged, has_repeats=has_repeats)]
    odd = [one for one in odd if not recurs[one.place]]
    around = {place for one in odd for place in (one.place, one.place + 1)}
    return [
        _described(table, one, has_repeats=has_repeats)
        for one in judged
        if one.bracket.last not in around
    ], odd


def _odd_sizes(table: PieceTable, judged: list[Judged], *, has_repeats: bool) -> Iterator[Odd]:
    """Yield the single sizes that are off between boundaries, and before or after them."""
    for rise, fall in itertools.pairwise(judged):
        place = rise.bracket.last
        alone = rise.bracket.first == place and fall.bracket.first == fall.bracket.last == place + 1
        if alone and (found := odd_between(table, rise.left, place, fall.right)):
            yield found
    for one in judged:
        found = odd_end(table, one.left, one.right)
        if found and not _may_be_step(one, found, has_repeats=has_repeats):
            yield found


def _may_be_step(judged: Judged, end: Odd, *, has_repeats: bool) -> bool:
    """Say whether the single size at an end of the curve may be before or after a step.

    What was measured once can be none that makes messages faster: the first ones of a run are slow.
    """
    moderate = end.change + 1 <= _LARGEST_STEP_OF_ONE_SIZE
    return moderate and (has_repeats or judged.magnitude > 0)


def _exceeds_noise(table: PieceTable, judged: Judged) -> bool:
    """Say whether a boundary of a curve without repeats changes the time by enough."""
    at_end = odd_end(table, judged.left, judged.right)
    least = _LEAST_ERRORS_OF_END if at_end else _LEAST_ERRORS_ALONE
    change = abs(np.log(max(1 + judged.magnitude, 1e-3)))
    return bool(change >= least * np.median(table.noise))


def _judge(table: PieceTable, one: Probable, others: Sequence[Probable]) -> Judged | None:
    """Test the boundary between two pieces; None if it is too small."""
    bracket, left, right = one.bracket, one.left, one.right
    elsewhere = [other.meets for other in others if other.have_slopes and other.overlaps(one)]
    meets = one.meets.with_others(elsewhere)
    if meets.probability > 0.5:
        found = _bend(table, bracket, left, right, meets)
        if found or not _jumps_beyond_slopes(table, one):
            return found
    before, after = _times_across(table, left, right, bracket)
    jump = after / before - 1
    # Lines that meet do not explain a boundary if their slopes agree, or if one of them is a
    # single size, which has no slope.
    if abs(jump) >= SMALLEST_STEP and meets.probability <= 1 - _POSSIBLE:
        return Judged(bracket, left, right, "step", jump, meets.probability)
    return _slope_change(table, bracket, left, right, meets.probability)


def _jumps_beyond_slopes(table: PieceTable, one: Probable) -> bool:
    """Say whether the time jumps further than the slopes just beside it explain.

    On a smooth curve the line across a gap is never steeper or flatter than those of the octaves on
    both sides of it, however far the lines of longer pieces are apart there.
    """
    if not one.have_slopes:
        return False
    before, after = one.bracket.first - 1, one.bracket.last
    low, high = float(table.size[before]), float(table.size[after])
    octave = np.searchsorted(table.size, [low / 2, 2 * high], side="left")
    left = max(min(int(octave[0]), before - 1), one.left[0]), before
    right = after, min(max(int(octave[1]), after + 1), one.right[1])
    slopes = np.array([table.slope(left), table.slope(right)])
    change = table.line(right, high)[0] / (table.line(left, low)[0] + slopes * (high - low)) - 1
    return bool((change >= SMALLEST_STEP).all() or (change <= -SMALLEST_STEP).all())


def _bend(
    table: PieceTable, bracket: Bracket, left: Piece, right: Piece, meets: Bend
) -> Judged | None:
    """Test a boundary at which two lines meet, with the bracket of the place where they meet."""
    share, first, last = meets.probability * meets.share, meets.first, meets.last
    if meets.probability <= 1 - _POSSIBLE or share < LEAST_PROBABILITY:
        # Where the time jumps, if it does, is too probable to be left out.
        share += 1 - meets.probability
        first, last = min(first, bracket.first), max(last, bracket.last)
    bracket = Bracket(first, last, bracket.probability * share)
    left, right = (left[0], bracket.first - 1), (bracket.last, right[1])
    return _slope_change(table, bracket, left, right, meets.probability)


def _slope_change(
    table: PieceTable, bracket: Bracket, left: Piece, right: Piece, meets: float
) -> Judged | None:
    """Test a change of slope; None if it is too small, or if a piece is a single size."""
    octave_on = _change(table, left, right, 2 * float(table.size[bracket.last]))
    has_slopes = left[1] > left[0] and right[1] > right[0]
    if not has_slopes or abs(octave_on) < SMALLEST_SLOPE_CHANGE:
        return None
    return Judged(bracket, left, right, "slope_change", octave_on, meets)


def _cliff(
    table: PieceTable, divisions: Divisions, place: int, reported: npt.NDArray[np.bool_]
) -> Judged:
    """Test a cliff that no other boundary contains, by the sizes just beside it.

    `reported` says before which sizes other boundaries are: no piece reaches beyond one.
    """
    before = (reported[1:place].nonzero()[0] + 1).tolist()
    after = (reported[place + 1 :].nonzero()[0] + place).tolist()
    left = max([place - _SIZES_BESIDE_CLIFF, 0, *before]), place - 1
    right = place, min([place + _SIZES_BESIDE_CLIFF - 1, len(table.size) - 1, *after])
    only = Bracket(place, place, float(divisions.here[place]))
    without, with_jump = _times_across(table, left, right, only)
    return Judged(only, left, right, "step", with_jump / without - 1, 0.0)


def _change(table: PieceTable, left: Piece, right: Piece, size: float) -> float:
    """Return the relative difference of two lines at a size."""
    return table.line(right, size)[0] / table.line(left, size)[0] - 1


def _times_across(
    table: PieceTable, left: Piece, right: Piece, bracket: Bracket
) -> tuple[float, float]:
    """Return the times without and with a jump, at the first size after it, where it is paid.

    A single size before it has no slope: times beyond it grow as those after the jump do, but no
    faster than their sizes.
    """
    size = float(table.size[bracket.last])
    before, after = table.line(left, size)[0], table.line(right, size)[0]
    if left[0] == left[1]:
        from_size, before = float(table.size[left[0]]), float(table.time[left[0]])
        grown = before + table.slope(right) * (size - from_size)
        before = min(grown, before * size / from_size) if from_size else grown
    return before, after


def _described(table: PieceTable, judged: Judged, *, has_repeats: bool) -> Anomaly:
    """Convert a boundary to a finding."""
    left, right = judged.left, judged.right
    last_before = int(table.size[judged.bracket.first - 1])
    first_after = float(table.size[judged.bracket.last])
    before, after = _times_across(table, left, right, judged.bracket)
    evidence: Evidence = {
        "before": _line_as_words(table, left),
        "after": _line_as_words(table, right),
        "jump_us": after - before,
        "noise": float(np.median(table.noise)),
        "sizes": right[1] - left[0] + 1,
        "posterior": judged.bracket.probability,
        "bend": judged.bend,
    }
    if left == (0, 0) or right == (len(table.size) - 1,) * 2:
        evidence["caveat"] = _ONE_SIZE.format("before" if left == (0, 0) else "after")
    elif _POSSIBLE <= judged.bend <= 1 - _POSSIBLE:
        evidence["caveat"] = _EITHER_KIND.format(last_before, int(first_after))
    elif hides := _may_hide_a_step(table, judged):
        evidence["caveat"] = hides
    elif judged.bracket.last > judged.bracket.first and first_after > 2 * last_before:
        evidence["caveat"] = _SOMEWHERE
    finding: Anomaly = {
        "kind": judged.kind,
        "size_bytes": int(first_after),
        "last_size_before": last_before,
        "magnitude": judged.magnitude,
        "confidence": 0.0,
        "evidence": evidence,
    }
    finding["confidence"] = confidence(features(finding, has_repeats=has_repeats))
    return finding


def _may_hide_a_step(table: PieceTable, judged: Judged) -> str:
    """Return the caveat of a piece of two sizes that are far apart and differ; empty if none."""
    for side, (first, last) in (("before", judged.left), ("after", judged.right)):
        is_inner = 0 < first == last - 1 < len(table.size) - 2
        far_apart = table.size[last] >= 2 * table.size[first]
        if is_inner and far_apart and table.time[last] >= (1 + SMALLEST_CLIFF) * table.time[first]:
            return _TWO_SIZES.format(side, int(table.size[first]), int(table.size[last]))
    return ""


def _line_as_words(table: PieceTable, piece: Piece) -> Line:
    return {
        "first_size_bytes": int(table.size[piece[0]]),
        "last_size_bytes": int(table.size[piece[1]]),
        "intercept_us": table.line(piece, 0.0)[0],
        "per_byte_us": table.slope(piece),
    }
