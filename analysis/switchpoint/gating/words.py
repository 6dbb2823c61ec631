"""The sentences of the gate's findings, and what names a group of curves in few words."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from switchpoint.gating.factors import NODE
from switchpoint.tables.sweeps import Indices
from switchpoint.tables.units import counted, size_text

#: The order in which columns name a group.
_NAMING = ["placement", "mpi", "mode", "kernel", "environ", "partition", "site"]


def shared_by(curves: pd.DataFrame, rows: Indices, node: str | None = None) -> dict[str, str]:
    """Return the identity columns in which some curves agree, with the value."""
    chosen = curves.iloc[rows]
    shared = {
        str(name): str(chosen[name].iloc[0])
        for name in chosen
        if chosen[name].notna().all() and len(set(chosen[name])) == 1
    }
    return shared | ({NODE: node} if node else {})


def named(curves: pd.DataFrame, rows: Indices, shared: Mapping[str, str]) -> str:
    """Name a group of curves by as few of its shared values as distinguish it.

    Its placement is always named.
    """
    inside = np.zeros(len(curves), dtype=bool)
    inside[rows] = True
    matching = np.ones(len(curves), dtype=bool)
    words = []
    order = [*_NAMING, *(name for name in shared if name not in _NAMING)]
    for name in order:
        if name not in shared or name == NODE or name not in curves:
            continue
        narrower = matching & (curves[name] == shared[name]).to_numpy()
        if name == "placement" or (narrower & ~inside).sum() < (matching & ~inside).sum():
            matching = narrower
            words.append(f"`{shared[name]}`")
    if NODE in shared:
        words.append(f"node `{shared[NODE]}`")
    if not words:
        return "all curves" if inside.all() else f"{inside.sum():,} curves"
    return " ".join(words)


def several(curves: Indices) -> str:
    """Write how many curves are meant; empty if it is one."""
    return "" if len(curves) == 1 else f" ({counted(len(curves), 'curve')})"


def effect_text(effect: float, low: float, high: float) -> str:
    """Write a relative change in percent with its interval.

    >>> effect_text(0.12, 0.09, 0.15), effect_text(-0.021, -0.034, -0.008)
    ('+12 % [9, 15]', '-2.1 % [-3.4, -0.8]')
    """
    digits = 0 if abs(effect) >= 0.05 else 1
    if not (math.isfinite(low) and math.isfinite(high)):
        return f"{100 * effect:+.{digits}f} %"
    return f"{100 * effect:+.{digits}f} % [{100 * low:.{digits}f}, {100 * high:.{digits}f}]"


def range_words(first: int, last: int, smallest: int, largest: int) -> str:
    """Write which part of a curve's sizes is meant; empty if it is all of them.

    >>> range_words(1, 32768, 1, 1048576), range_words(65536, 1048576, 1, 1048576)
    (' up to 32 KiB', ' from 64 KiB')
    """
    if first <= smallest and last >= largest:
        return ""
    if first == last:
        return f" at {size_text(first)}"
    if first <= smallest:
        return f" up to {size_text(last)}"
    if last >= largest:
        return f" from {size_text(first)}"
    return f" from {size_text(first)} to {size_text(last)}"


def finding_id(kind: str, metric: str, key: Sequence[int | str], shared: Mapping[str, str]) -> str:
    """Return an ID that the same finding has in every session.

    Sizes count to the nearest octave, because the segments of a curve may differ by a grid step.
    """
    coarse = [round(math.log2(max(one, 1))) if isinstance(one, int) else one for one in key]
    text = json.dumps([kind, metric, coarse, sorted(shared.items())])
    return hashlib.sha256(text.encode()).hexdigest()[:12]
