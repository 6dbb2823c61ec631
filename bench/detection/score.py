# /// script
# requires-python = ">=3.10"
# dependencies = ["switchpoint", "ruptures==1.1.10", "pwlf==2.7.0"]
# [tool.uv.sources]
# switchpoint = { path = "../..", editable = true }
# ///
"""Scores `detect` and its peers on the labelled curves; prints the tables that the docs show.

`Switchpoint` gets both launches of a curve at once, as from `detect`; `one launch`, like the peers,
each alone.

`.venv/bin/uv run bench/detection/score.py [--ours]`: an environment of its own, since the peers are
no dependencies of Switchpoint. `--ours` leaves the peers out and runs in `.venv` too.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from switchpoint.detection.launches import detect_launches
from switchpoint.tables.findings import BOUNDARIES

sys.path.insert(0, str(Path(__file__).resolve().parent))
from labelled import GRIDS, Curve, curves, launches
from peers import PEERS, Detector

#: Peers that take seconds a curve are scored on one curve of so many.
SLOW = {"pwlf, continuous, BIC": 12}


@dataclass
class Result:
    """Boundaries that a detector reports in one curve: indices of the first size past each."""

    curve: Curve
    found: list[int]
    seconds: float

    @property
    def near(self) -> bool:
        """Whether a boundary is reported within one grid step of the switch."""
        return any(abs(place - self.truth) <= 1 for place in self.found)

    @property
    def exact(self) -> bool:
        """Whether one is reported between exactly the two sizes around the switch."""
        return self.truth in self.found

    @property
    def truth(self) -> int:
        """Index of the first size past the switch, which this curve must have."""
        assert self.curve.truth is not None
        return self.curve.truth


def ours(same: list[Curve]) -> Iterator[Result]:
    """Run `detect`'s search on launches of one curve; steps and changes of slope count."""
    start = time.perf_counter()
    several = detect_launches(same[0].size, [(curve.time, curve.error) for curve in same])
    seconds = (time.perf_counter() - start) / len(same)
    for curve, findings in zip(same, several, strict=True):
        sizes = {f["size_bytes"] for f in findings if f["kind"] in BOUNDARIES}
        yield Result(curve, [int(n) for n in np.searchsorted(curve.size, sorted(sizes))], seconds)


def run(detector: Detector, every: Iterable[Curve]) -> Iterator[Result]:
    """Run a detector on every curve."""
    for curve in every:
        start = time.perf_counter()
        found = detector(curve.size, curve.time, curve.error)
        yield Result(curve, found, time.perf_counter() - start)


def real_shares(results: list[Result], every: list[Result]) -> tuple[float, float]:
    """Share of reported boundaries that are real, and the same for boundaries put at random.

    Real: within one grid step of the truth; or within one grid step, or a third of an octave where
    the grid is finer, of a boundary in at least two siblings: curves of the same transport and
    grid with another limit.
    """
    rng = np.random.default_rng(1)
    real, chance = [], []
    for result in results:
        mine = result.curve
        siblings = [
            one for one in every
            if one.curve.transport == mine.transport and one.curve.limit != mine.limit
        ]  # fmt: skip
        inner = np.arange(3, len(mine.size) - 2)
        for place in result.found:
            real.append(_is_real(place, result, siblings))
            chance.append(_is_real(int(rng.choice(inner)), result, siblings))
    return float(np.mean(real)), float(np.mean(chance))


def _is_real(place: int, result: Result, siblings: list[Result]) -> bool:
    if result.curve.truth is not None and abs(place - result.truth) <= 1:
        return True
    reach = max(1, GRIDS[result.curve.grid] // 3)
    byte = result.curve.size[place]
    recurring = sum(
        any(abs(np.searchsorted(one.curve.size, byte) - other) <= reach for other in one.found)
        for one in siblings
    )
    return recurring >= 2


def row(name: str, results: list[Result], every: list[Result]) -> str:
    """One line of the table."""
    switches = [one for one in results if one.curve.truth is not None]
    visible = [one for one in switches if one.curve.visible]
    real, chance = real_shares(results, every) if every else (np.nan, np.nan)
    cells = [
        f"{np.mean([one.near for one in visible]):.1%}",
        f"{np.mean([one.exact for one in visible]):.1%}",
        f"{np.mean([one.near for one in switches]):.1%}",
        f"{real:.1%}",
        f"{chance:.0%}",
        f"{np.mean([len(one.found) for one in results]):.1f}",
        f"{1e3 * np.median([one.seconds for one in results]):.1f}",
        f"{len(visible)} of {len(switches)}",
    ]
    return f"| {name} | " + " | ".join(cells).replace("nan%", "-") + " |"


def main(only_ours: bool) -> None:
    """Print a table for each grid."""
    every = list(curves())
    peers: dict[str, Detector] = {} if only_ours else PEERS
    for grid in GRIDS:
        part = [curve for curve in every if curve.grid == grid]
        print(f"\n{grid}: {len(part)} curves\n")
        print(
            "| detector | recall | exact | recall, all | real | by chance | a curve | ms"
            " | switches |\n|---|---|---|---|---|---|---|---|---|"
        )
        own = {"Switchpoint": launches(part), "Switchpoint, one launch": [[one] for one in part]}
        for name, several in own.items():
            results = [result for same in several for result in ours(same)]
            print(row(name, results, results))
            held = [one for one in results if one.curve.held_out]
            print(row(f"{name}, held out", held, results), flush=True)
        for name, detector in peers.items():
            results = list(run(detector, part[:: SLOW.get(name, 1)]))
            print(row(name, results, [] if name in SLOW else results), flush=True)


if __name__ == "__main__":
    main("--ours" in sys.argv)
