"""Switches that moved, and sizes that changed by themselves: what follows from a change, or not.

A link at half its speed limits from a smaller size on, so the place where the curve changes its
slope moves, and sizes near it are further off than two lines say. These are not causes of their
own: they belong in the finding of the change.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from switchpoint.gating.current import Current, Draft
from switchpoint.gating.factors import first_fit, of_same_sizes
from switchpoint.gating.odd_sizes import OddSizes
from switchpoint.gating.parameters import NOISE
from switchpoint.gating.search import Change
from switchpoint.gating.shapes import Shapes
from switchpoint.gating.switches import MovedSwitch
from switchpoint.gating.words import effect_text, named, range_words, several, shared_by
from switchpoint.tables.sweeps import Indices
from switchpoint.tables.units import counted, size_text

#: A sentence that lists more than this many consequences of a change is not read.
_MOST_CLAUSES = 3


def words_of(current: Current, moved: list[MovedSwitch], odd: list[OddSizes]) -> list[str]:
    """Write what follows from a change of latency or bandwidth, a clause each."""
    clauses = [_where_moved(current, same) for same in _moved_together(moved)]
    largest = sorted(_odd_together(odd), key=lambda same: -abs(math.log1p(_effect(same)[0])))
    clauses += (
        f"{_where_odd(current, same)} {100 * _effect(same)[0]:+.0f} % beyond that"
        for same in largest
    )
    if len(clauses) > _MOST_CLAUSES:
        clauses[_MOST_CLAUSES:] = [counted(len(clauses) - _MOST_CLAUSES, "more consequence")]
    return clauses


def of_switches(current: Current, shapes: Shapes, moved: list[MovedSwitch]) -> Iterator[Draft]:
    """Yield a finding for all curves whose switch moved from the same place to the same place."""
    for same in _moved_together(moved):
        sizes = [int(size) for switch in same for size in shapes.size[switch.places]]
        first, last = min(sizes), max(sizes)
        between = range_words(first, last, 0, 2 * last + 1)
        sentence = (
            f"{_where_moved(current, same)}{several(_curves_of(same))};"
            f" time{between} {100 * _effect(same)[0]:+.0f} %"
        )
        yield _draft(same, "moved_switch", "switch", sentence, _from_to(same), (first, last))


def of_sizes(current: Current, odd: list[OddSizes]) -> Iterator[Draft]:
    """Yield a finding for all curves in which the same sizes changed in the same direction."""
    for same in _odd_together(odd):
        effect = _effect(same)
        sentence = (
            f"{_where_odd(current, same)} {effect_text(*effect)}{several(_curves_of(same))},"
            " beyond what latency and bandwidth explain"
        )
        kind = "regression" if effect[0] > 0 else "improvement"
        yield _draft(same, kind, "time", sentence, _range(same), _range(same))


def _draft(
    same: Sequence[MovedSwitch | OddSizes],
    kind: str,
    metric: str,
    sentence: str,
    key: tuple[int, int],
    sizes: tuple[int, int],
) -> Draft:
    return Draft(kind, metric, sentence, _curves_of(same), key, {}, *sizes, *_effect(same))


def _moved_together(moved: Sequence[MovedSwitch]) -> list[list[MovedSwitch]]:
    """Group switches that moved from about the same place to about the same place."""
    return of_same_sizes(moved, lambda switch: (switch.first_after, switch.new_first_after))


def _odd_together(odd: Sequence[OddSizes]) -> list[list[OddSizes]]:
    """Group about the same sizes that changed in the same direction."""
    return of_same_sizes(odd, lambda run: (run.first_size, run.last_size))


def _where_moved(current: Current, same: Sequence[MovedSwitch]) -> str:
    """Write which switch moved from where to where."""
    curves = _curves_of(same)
    before, after = _from_to(same)
    whose = named(current.curves, curves, shared_by(current.curves, curves))
    return f"the switch of {whose} moved from {size_text(before)} to {size_text(after)}"


def _where_odd(current: Current, same: Sequence[OddSizes]) -> str:
    """Write the time of which curves and sizes is meant."""
    curves = _curves_of(same)
    first, last = _range(same)
    whose = named(current.curves, curves, shared_by(current.curves, curves))
    return f"time of {whose}{range_words(first, last, 0, 2 * last + 1)}"


def _from_to(same: Sequence[MovedSwitch]) -> tuple[int, int]:
    """Return the first size after the switch, before and now."""
    return _most_common([switch.first_after for switch in same]), _most_common(
        [switch.new_first_after for switch in same]
    )


def _range(same: Sequence[OddSizes]) -> tuple[int, int]:
    return min(run.first_size for run in same), max(run.last_size for run in same)


def _curves_of(same: Sequence[MovedSwitch | OddSizes]) -> Indices:
    return np.unique([change.curve for change in same])


def _effect(same: Sequence[MovedSwitch | OddSizes]) -> tuple[float, float, float]:
    """Return the relative effect of the one with the median effect, with its interval."""
    typical = sorted(same, key=lambda change: change.effect)[len(same) // 2]
    return math.expm1(typical.effect), math.expm1(typical.low), math.expm1(typical.high)


def _most_common(values: list[int]) -> int:
    return max(sorted(set(values)), key=values.count)


def causes_of(changes: Iterable[Change]) -> list[list[Change]]:
    """Group changes of which one explains the others; the one that explains them comes first.

    These are both metrics of the same curves in the same direction. If one metric changed in some
    curves only, or in some by more than in others, and the other in all of them by more, it is the
    same change.
    """
    largest_first = sorted(changes, key=lambda change: (-len(change.curves), change.p))
    return first_fit(largest_first, lambda group, change: _explains(group[0], change))


def _explains(main: Change, change: Change) -> bool:
    if NOISE in (main.metric, change.metric) or main.metric == change.metric:
        return False
    share = change.effect / main.effect
    inside = bool(np.isin(change.curves, main.curves).all())
    return inside and share > 0 and (share <= 1 or len(change.curves) == len(main.curves))


def follows_from(cause: Sequence[Change]) -> Callable[[MovedSwitch | OddSizes], bool]:
    """Return what says whether a moved switch or an odd size follows from changes of one finding.

    Whatever else changed in the same direction in the same curves does.
    """
    curves = {int(curve) for change in cause for curve in change.curves if change.metric != NOISE}

    def follows(changed: MovedSwitch | OddSizes) -> bool:
        return changed.curve in curves and (changed.effect > 0) == (cause[0].effect > 0)

    return follows
