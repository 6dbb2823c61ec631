"""Findings about places of curves: switches that moved, and sizes that changed by themselves."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from switchpoint.history.night import Draft, Night
from switchpoint.history.odd_sizes import OddSizes
from switchpoint.history.shapes import Shapes
from switchpoint.history.switches import MovedSwitch
from switchpoint.history.words import counted, effect_text, named, range_words, shared_by
from switchpoint.tables.units import size_text


def of_switches(night: Night, shapes: Shapes, moved: list[MovedSwitch]) -> Iterator[Draft]:
    """Yield a finding for all curves whose switch moved from the same place to the same place."""
    places: dict[tuple[int, int], list[MovedSwitch]] = {}
    for one in moved:
        places.setdefault((_octave(one.first_after), _octave(one.new_first_after)), []).append(one)
    for same in places.values():
        curves = np.unique([one.curve for one in same])
        shared = shared_by(night.curves, curves)
        before, after = (
            _most_common([getattr(one, name) for one in same])
            for name in ("first_after", "new_first_after")
        )
        typical = same[np.argsort([one.effect for one in same])[len(same) // 2]]
        to = f"to {size_text(after)}" if after else "beyond the measured sizes"
        number = "" if len(curves) == 1 else f" ({counted(len(curves), 'curve')})"
        effect = math.expm1(typical.effect)
        sizes = [int(size) for one in same for size in shapes.size[one.places]]
        between = range_words(min(sizes), max(sizes), 0, 2 * max(sizes) + 1)
        yield Draft(
            "moved_switch",
            "switch",
            f"the switch of {named(night.curves, curves, shared)} moved from {size_text(before)}"
            f" {to}{number}; time{between} {100 * effect:+.0f} %",
            curves,
            (before, after),
            shared,
            min(sizes),
            max(sizes),
            effect,
            math.expm1(typical.low),
            math.expm1(typical.high),
        )


def of_sizes(night: Night, odd: list[OddSizes]) -> Iterator[Draft]:
    """Yield a finding for all curves in which the same sizes changed in the same direction."""
    places: dict[tuple[int, int, bool], list[OddSizes]] = {}
    for one in odd:
        key = _octave(one.first_size), _octave(one.last_size), one.effect > 0
        places.setdefault(key, []).append(one)
    for same in places.values():
        curves = np.unique([one.curve for one in same])
        shared = shared_by(night.curves, curves)
        typical = same[np.argsort([one.effect for one in same])[len(same) // 2]]
        first, last = min(one.first_size for one in same), max(one.last_size for one in same)
        effect, low, high = (
            math.expm1(value) for value in (typical.effect, typical.low, typical.high)
        )
        number = "" if len(curves) == 1 else f" ({counted(len(curves), 'curve')})"
        yield Draft(
            "regression" if effect > 0 else "improvement",
            "time",
            f"time of {named(night.curves, curves, shared)}"
            f"{range_words(first, last, 0, 2 * last + 1)} {effect_text(effect, low, high)}{number};"
            " latency and bandwidth do not explain it",
            curves,
            (first, last),
            shared,
            first,
            last,
            effect,
            low,
            high,
        )


def _octave(size: int) -> int:
    return round(math.log2(max(size, 1)))


def _most_common(values: list[int]) -> int:
    return max(sorted(set(values)), key=values.count)
