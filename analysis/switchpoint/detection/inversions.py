"""Finds where one curve is slower than another that should be no faster.

A nearer placement slower than a farther one (`placement_inversion`), `ssend` faster than `send`
(`mode_inversion`), and two directions that differ (`asymmetry`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from switchpoint.tables.columns import identity_columns

#: Placements, nearest first.
NEARNESS = ["one_node", "one_node_network", "two_nodes_one_host", "two_nodes_two_hosts"]

#: Modes of which the first cannot be faster than the second, for it waits for the receiver as well.
SLOWER_MODES = {"ssend": "send", "sstream": "stream"}

#: Pairs of columns that name a direction, where a table has them.
DIRECTIONS = [("from", "to"), ("source", "target"), ("sender", "receiver")]

#: Smaller differences are not reported, relative, nor shorter stretches of sizes.
SMALLEST = 0.05
FEWEST_SIZES = 3

#: A size counts when the difference is so many standard errors.
_ERRORS = 2.0

#: Relative standard deviation of a curve from launch to launch of the same job: what two launches
#: differ by without a cause. `bench/detection/calibrate.py` prints it.
LAUNCH_SCATTER = 0.19


def inversions(curves: pd.DataFrame) -> list[dict[str, Any]]:
    """Compare curves that differ in one thing only.

    Parameters
    ----------
    curves
        As from `summarise`.

    Returns
    -------
    list of dict
        Findings with the identity of the slower curve; `evidence` names the `other` by what
        differs, and the stretch of sizes.
    """
    identity = identity_columns(curves)
    found = []
    for kind, slow, fast, differs in _pairs(curves, identity):
        scatter = 0.0 if kind == "mode_inversion" else LAUNCH_SCATTER
        for finding in _slower_stretches(slow, fast, scatter):
            first = slow.iloc[0]
            named = {name: first[name] for name in identity}
            finding["evidence"] |= {"other": {name: fast.iloc[0][name] for name in differs}}
            found.append(named | {"kind": kind} | finding)
    return found


def _pairs(
    curves: pd.DataFrame, identity: list[str]
) -> Iterator[tuple[str, pd.DataFrame, pd.DataFrame, list[str]]]:
    """Each pair: kind, the curve that ought not to be slower, the other, what differs."""
    yield from _by_column(curves, identity, "placement", "placement_inversion", NEARNESS)
    for slower, faster in SLOWER_MODES.items():
        yield from _by_column(curves, identity, "mode", "mode_inversion", [faster, slower])
    for source, target in DIRECTIONS:
        if {source, target} <= set(identity):
            yield from _by_direction(curves, identity, source, target)


def _by_column(
    curves: pd.DataFrame, identity: list[str], column: str, kind: str, order: list[str]
) -> Iterator[tuple[str, pd.DataFrame, pd.DataFrame, list[str]]]:
    """Pairs of curves alike but for a column, the earlier in the order first.

    Placements are different runs; modes are compared within a run.
    """
    if column not in identity:
        return
    among = curves[curves[column].isin(order)]
    passing = {column, "run_id"} if column == "placement" else {column}
    for group in _groups(among, [name for name in identity if name not in passing]):
        parts = {str(value): part for value, part in group.groupby(column, observed=True)}
        for first, second in itertools.combinations([name for name in order if name in parts], 2):
            for slow, fast in itertools.product(_curves(parts[first]), _curves(parts[second])):
                yield kind, slow, fast, [name for name in identity if name in passing]


def _by_direction(
    curves: pd.DataFrame, identity: list[str], source: str, target: str
) -> Iterator[tuple[str, pd.DataFrame, pd.DataFrame, list[str]]]:
    """Pairs of curves between the same two ends, both ways round."""
    alike = [name for name in identity if name not in {source, target, "run_id"}]
    for group in _groups(curves, alike):
        ways = {
            (str(one), str(other)): part
            for (one, other), part in group.groupby([source, target], observed=True)
        }
        for (one, other), part in ways.items():
            if (other, one) in ways and one != other:
                for slow, fast in itertools.product(_curves(part), _curves(ways[other, one])):
                    yield "asymmetry", slow, fast, [source, target]


def _groups(table: pd.DataFrame, names: list[str]) -> Iterator[pd.DataFrame]:
    if not names:
        yield table
        return
    for _, group in table.groupby(names, dropna=False, observed=True, sort=False):
        yield group


def _curves(part: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Each run's curve of a table in which nothing else differs."""
    yield from _groups(part, ["run_id"] if "run_id" in part else [])


def _slower_stretches(
    slow: pd.DataFrame, fast: pd.DataFrame, scatter: float
) -> Iterator[dict[str, Any]]:
    """Describe each stretch of common sizes at which the first curve is slower than the second."""
    names = ["size_bytes", "time_us", "error_us"]
    both = slow[names].merge(fast[names], on="size_bytes", suffixes=("", "_other"))
    both = both[both["size_bytes"] > 0].sort_values("size_bytes", ignore_index=True)
    if len(both) < FEWEST_SIZES:
        return
    ratio = both["time_us"] / both["time_us_other"] - 1
    own = np.hypot(
        both["error_us"] / both["time_us"], both["error_us_other"] / both["time_us_other"]
    )
    counts = (ratio >= SMALLEST) & (np.log1p(ratio) >= _ERRORS * own)
    stretch = (counts != counts.shift()).cumsum()
    for _, places in both.index[counts].to_series().groupby(stretch[counts]):
        if len(places) < FEWEST_SIZES:
            continue
        first, last = int(places.iloc[0]), int(places.iloc[-1])
        typical = float(ratio[places].median())
        # Sizes of one launch are off together: their number does not make that scatter smaller.
        error = math.hypot(float(own[places].median()) / math.sqrt(len(places)), scatter * 2**0.5)
        confidence = math.erf(math.log1p(typical) / max(error, 1e-3) / 2**0.5)
        yield {
            "size_bytes": int(both["size_bytes"][first]),
            "last_size_before": int(both["size_bytes"][first - 1]) if first else 0,
            "magnitude": typical,
            "confidence": confidence,
            "evidence": {
                "first_size_bytes": int(both["size_bytes"][first]),
                "last_size_bytes": int(both["size_bytes"][last]),
                "sizes": len(places),
                "largest": float(ratio[places].max()),
                "launch_scatter": scatter,
            },
        }
