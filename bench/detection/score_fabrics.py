"""Scores `detect` on curves as fabrics make them (`fabrics.py`), whose truth is known.

`.venv/bin/python bench/detection/score_fabrics.py [--held] [--fabrics] [--grid=NAME] [CURVES]`
draws so many curves of each fabric (default 12), with a fixed seed, and prints a line for each grid
and noise. `--held` draws the other half, which nothing was tuned on. `--fabrics` prints a line for
each fabric too. `--grid=NAME` scores one grid. `--without=RULE` switches rules off (`ablation.py`),
and `--ablate` prints how each of them changes the scores.

A change of the law counts if it can be seen: a jump of 10 % or more, or a change of slope of 25 %
an octave later, by five standard errors of the medians around it. It is found if a boundary is
reported around it or within one grid step of it. A boundary is false if no change, seen or not, is
there.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from switchpoint.detection.launches import detect_launches
from switchpoint.detection.search import find_in_curves
from switchpoint.tables.curves import compare_passes, summarise_passes, with_levels
from switchpoint.tables.findings import ANOMALY_COLUMNS, BOUNDARIES
from switchpoint.tables.sweeps import Floats, Sweeps

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import ablation
from arguments import add_count, one_of, parser
from fabrics import DESIGNS, NOISES, Change, FabricCurve, curves

#: Which noises are scored on a grid: without passes there are no visits to see states in.
ROWS = [
    *((design, noise) for design in list(DESIGNS)[:3] for noise in NOISES),
    *((design, noise) for design in list(DESIGNS)[3:] for noise in ("calm", "heavy tails")),
]

#: Changes that a curve must show, relative, and in standard errors: as in `labelled.py`.
VISIBLE_JUMP, VISIBLE_BEND, VISIBLE_ERRORS = 0.1, 0.25, 5

TUNING, HELD = 20261128, 8211026


@dataclass
class Score:
    """What is counted over curves."""

    curves: int = 0
    steps: int = 0
    steps_found: int = 0
    bends: int = 0
    bends_found: int = 0
    kinds_right: int = 0
    kinds: int = 0
    doubted: int = 0
    false: dict[str, list[float]] = field(default_factory=lambda: {kind: [] for kind in BOUNDARIES})
    odd: int = 0
    impossible: int = 0

    def add(self, curve: FabricCurve, findings: pd.DataFrame, errors: float) -> None:
        """Count one launch of a curve, whose medians have this relative standard error."""
        self.curves += 1
        free = dict(enumerate(curve.truth))
        self.odd += int((findings["kind"] == "outlier").sum())
        self.impossible += int((findings["magnitude"] <= -1).sum())
        boundaries = findings[findings["kind"].isin(BOUNDARIES)]
        matched: dict[int, dict] = {}
        rows = [(*_places(curve, row), row) for row in boundaries.to_dict("records")]
        for wider in (0, 1):
            for first, last, row in rows:
                here = [n for n, one in free.items() if first - wider <= one.place <= last + wider]
                if here and "taken" not in row:
                    best = max(here, key=lambda n: _size_of(free[n]))
                    matched[best] = row
                    row["taken"] = free.pop(best)
        for _, _, row in rows:
            if "taken" not in row:
                self.false[row["kind"]].append(row["confidence"])
        for number, change in enumerate(curve.truth):
            if not _visible(change, errors):
                continue
            self.steps += change.kind == "step"
            self.bends += change.kind == "slope_change"
            if number in matched:
                self.steps_found += change.kind == "step"
                self.bends_found += change.kind == "slope_change"
                self.kinds += 1
                is_right = matched[number]["kind"] == change.kind
                self.kinds_right += is_right
                self.doubted += not is_right and "caveat" in matched[number]["evidence"]

    def shares(self) -> dict[str, float]:
        """Return what an ablation compares."""
        return {
            "recall of steps": self.steps_found / self.steps,
            "of bends": self.bends_found / self.bends,
            "kinds": self.kinds_right / self.kinds,
            "false steps": len(self.false["step"]) / self.curves,
            "false bends": len(self.false["slope_change"]) / self.curves,
            "outliers": self.odd / self.curves,
        }

    def cells(self) -> Iterator[str]:
        """Yield the cells of a line of the table."""
        yield f"{self.curves}"
        yield _share(self.steps_found, self.steps)
        yield _share(self.bends_found, self.bends)
        yield _share(self.kinds_right, self.kinds)
        for kind in ("step", "slope_change"):
            yield f"{len(self.false[kind]) / self.curves:.2f}"
        sure = self.false["step"]
        yield f"{sum(one >= 0.8 for one in sure) / self.curves:.2f}"
        yield f"{self.odd / self.curves:.2f}"


HEADING = (
    "| curves | recall of steps | of bends | kinds right | false steps | false bends"
    " | false steps of 80 % and more | outliers |\n"
)


def _places(curve: FabricCurve, finding: dict) -> tuple[int, int]:
    ends = finding["last_size_before"], finding["size_bytes"]
    before, after = np.searchsorted(curve.sizes, ends)
    return int(before) + 1, int(after)


def _size_of(change: Change) -> float:
    return abs(np.log1p(change.shown or change.bend))


def _visible(change: Change, error: float) -> bool:
    least = VISIBLE_JUMP if change.jump else VISIBLE_BEND
    large = abs(change.shown or change.bend) >= least
    return large and _size_of(change) >= VISIBLE_ERRORS * error


def _share(of: int, all_: int) -> str:
    return f"{of / all_:.1%}" if all_ else "-"


def scores(design: str, noise: str, number: int, seed: int) -> dict[str, Score]:
    """Return the score of each fabric."""
    found: dict[str, Score] = {}
    for curve in curves(design, noise, number, seed):
        samples = pd.concat(
            [one.assign(run_id=str(launch)) for launch, one in enumerate(curve.launches)]
        ).astype({"run_id": "category"})
        findings = find_in_curves(samples)
        score = found.setdefault(curve.fabric, Score())
        for launch, one in enumerate(curve.launches):
            score.add(curve, findings[findings["run_id"] == str(launch)], _error(curve, one))
    return found


def _error(curve: FabricCurve, samples: pd.DataFrame) -> float:
    """Return the typical relative error of the median of three sizes, against the law."""
    medians = samples.groupby("size_bytes")["time_us"].median().to_numpy()
    off = np.log(medians / curve.times)
    return 1.4826 * float(np.median(np.abs(off - np.median(off)))) * np.sqrt(2 / 3)


def total(several: Iterable[Score]) -> Score:
    """Return the sum of scores."""
    whole = Score()
    for one in several:
        for name in vars(whole):
            if name != "false":
                setattr(whole, name, getattr(whole, name) + getattr(one, name))
        for kind, sure in one.false.items():
            whole.false[kind] += sure
    return whole


@dataclass(frozen=True)
class Drawn:
    """A drawn curve: times and errors of its launches, and the errors of their medians."""

    curve: FabricCurve
    launches: list[tuple[Floats, Floats]]
    errors: list[float]


def draw(kind: str, grid: str | None, number: int, seed: int) -> list[Drawn]:
    """Draw and summarise the curves of all grids with repeats, or of those that are one table."""
    drawn = []
    for design, noise in ROWS:
        if not design.endswith(kind) or grid not in (None, design):
            continue
        for curve in curves(design, noise, number, seed):
            launches = []
            for samples in curve.launches:
                sweeps = Sweeps.of(samples)
                passes = compare_passes(sweeps)
                levels = with_levels(summarise_passes(sweeps, passes), passes)
                time = levels["time_us"].to_numpy(float)
                launches.append((time, levels["error_us"].to_numpy(float) / time))
            errors = [_error(curve, samples) for samples in curve.launches]
            drawn.append(Drawn(curve, launches, errors))
    return drawn


def measures(every: list[Drawn]) -> dict[str, float]:
    """Return the scores in percent, and false findings in 100 curves."""
    whole = Score()
    for one in every:
        found = detect_launches(one.curve.sizes, one.launches)
        for findings, error in zip(found, one.errors, strict=True):
            whole.add(one.curve, pd.DataFrame(findings, columns=ANOMALY_COLUMNS), error)
    return {name: 100 * value for name, value in whole.shares().items()}


def ablate(number: int, *, held: bool, grid: str | None, names: list[str]) -> None:
    """Print how each rule changes the scores."""

    def read(kind: str) -> list[Drawn]:
        return draw(kind, grid, number, HELD if held else TUNING)

    once = {kind: read(kind) for kind in ablation.kinds(None)}

    def measure(rule: ablation.Rule | None) -> dict[str, float]:
        found = {}
        for kind in ablation.kinds(rule):
            if every := read(kind) if rule and rule.reads else once[kind]:
                found |= {f"{name}, {kind}": value for name, value in measures(every).items()}
        return found

    ablation.table(measure, names)


def main(number: int, *, held: bool, by_fabric: bool, grid: str | None) -> None:
    """Print the table."""
    print("| grid | noise " + HEADING + "|---" * 10 + "|")
    every = []
    for design, noise in ROWS:
        if grid not in (None, design):
            continue
        found = scores(design, noise, number, HELD if held else TUNING)
        whole = total(found.values())
        every.append(whole)
        for name, one in [("", whole), *(found.items() if by_fabric else ())]:
            label = f"{noise}: {name}" if name else noise
            print(f"| {design} | {label} | " + " | ".join(one.cells()) + " |", flush=True)
    whole = total(every)
    wrong = whole.kinds - whole.kinds_right
    print(f"\nwrong kinds: {wrong}, of which {whole.doubted} have a caveat")
    print(f"magnitudes of -100 % and less: {whole.impossible}")


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument("--held", action="store_true")
    options.add_argument("--fabrics", action="store_true")
    options.add_argument("--grid", type=one_of("grid", DESIGNS))
    ablation.add_rules(options)
    add_count(options, "curves", 12)
    given = options.parse_args()
    if given.ablate:
        ablate(given.curves, held=given.held, grid=given.grid, names=given.without)
    else:
        with ablation.without(*given.without):
            main(given.curves, held=given.held, by_fabric=given.fabrics, grid=given.grid)
