"""Counts how often `detect` reports anything in curves that contain only noise.

`.venv/bin/python bench/detection/noise.py [--warnings] [CURVES]` prints, for each grid and each
number of repeats, how many of 100 such curves show a finding, once alone and once as two launches
of one curve, which `detect` searches together. The docs show these tables. `--warnings` counts the
curves of which a warning says that a step or noise changes their time. `--without=RULE` switches
rules off (`ablation.py`), and `--ablate` prints how each of them changes the number of curves in
100 that show a finding, with repeats and without.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from switchpoint import detect, summarise
from switchpoint.detection.doubts import doubt_warnings
from switchpoint.detection.search import find_in_curves

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import ablation
from arguments import add_count, parser
from labelled import GRIDS

NOISES = [0.01, 0.05, 0.2, 0.3]
REPEATS = [1, 2, 3, 5, 10]
LAUNCHES = [1, 2]
OCTAVES = 22

#: The grids and noises of which `--ablate` counts findings, and the repeats of each kind.
ABLATED_GRIDS = ["3 an octave", "powers of two"]
ABLATED_NOISES = [0.05, 0.2]
ABLATED_REPEATS = {ablation.REPEATS: [3, 10], ablation.ONE_TABLE: [1]}


def samples(
    sizes: np.ndarray, noise: float, repeats: int, curves: int, launches: int
) -> pd.DataFrame:
    """Return samples of curves: a straight line of time against bytes with normal noise.

    Groups of `launches` of them are launches of one curve.
    """
    rng = np.random.default_rng(1)
    factors = 1 + rng.normal(0, noise, (curves, repeats, len(sizes)))
    curve, turn, place = (axis.ravel() for axis in np.indices(factors.shape))
    return pd.DataFrame(
        {
            "curve": pd.Categorical(curve // launches),
            "run_id": pd.Categorical(curve),
            "size_bytes": sizes[place],
            "pass": turn,
            "sample": 0,
            "iterations": 1,
            "time_us": np.abs(factors * (2 + 3e-4 * sizes)).ravel(),
        }
    )


def grid(per_octave: int) -> np.ndarray:
    """Return sizes with so many an octave."""
    return np.unique((2.0 ** (np.arange(OCTAVES * per_octave + 1) / per_octave)).astype(int))


def ablate(curves: int, names: list[str]) -> None:
    """Print how each rule changes how many curves show a finding."""
    tables = {
        kind: [
            samples(grid(GRIDS[name]), noise, number, curves, launches)
            for name in ABLATED_GRIDS
            for noise in ABLATED_NOISES
            for number in repeats
            for launches in LAUNCHES
        ]
        for kind, repeats in ABLATED_REPEATS.items()
    }

    def measure(rule: ablation.Rule | None) -> dict[str, float]:
        return {
            f"findings in noise, {kind}": 100
            * float(
                np.mean([find_in_curves(one)["run_id"].nunique() / curves for one in tables[kind]])
            )
            for kind in ablation.kinds(rule)
        }

    ablation.table(measure, names)


def alarms(
    per_octave: int, curves: int, launches: int, *, warnings: bool
) -> Iterator[tuple[float, int, float]]:
    """Percentage of curves with a finding or warning, for each noise and number of repeats."""
    sizes = grid(per_octave)
    for noise in NOISES:
        for repeats in REPEATS:
            table = samples(sizes, noise, repeats, curves, launches)
            findings = detect(table)
            shown = findings["run_id"].nunique()
            if warnings:
                shown = len(doubt_warnings(summarise(table), findings))
            yield noise, repeats, 100 * shown / curves


def main(curves: int, *, warnings: bool) -> None:
    """Print the tables."""
    print(f"of 100 curves ({curves} each)")
    for launches in LAUNCHES:
        print(f"\nlaunches of one curve: {launches}\n")
        print("| grid | noise | " + " | ".join(f"{n} repeats" for n in REPEATS) + " |")
        print("|---" * (len(REPEATS) + 2) + "|")
        for grid, per_octave in GRIDS.items():
            shares = alarms(per_octave, curves, launches, warnings=warnings)
            table = pd.DataFrame(shares, columns=["noise", "repeats", "share"])
            for noise, row in table.groupby("noise"):
                cells = " | ".join(f"{share:.1f}" for share in row["share"])
                print(f"| {grid} | {noise:.0%} | {cells} |", flush=True)


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument("--warnings", action="store_true", help="count warnings")
    ablation.add_rules(options)
    add_count(options, "curves", 400)
    given = options.parse_args()
    if given.ablate:
        ablate(given.curves, names=given.without)
    else:
        with ablation.without(*given.without):
            main(given.curves, warnings=given.warnings)
