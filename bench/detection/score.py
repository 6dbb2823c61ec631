# /// script
# requires-python = ">=3.10"
# dependencies = ["switchpoint", "ruptures==1.1.10", "pwlf==2.7.0"]
# [tool.uv.sources]
# switchpoint = { path = "../..", editable = true }
# ///
"""Scores `detect` and its peers on the labelled curves; prints the tables that the docs show.

`Switchpoint` gets all launches of a curve at once, as from `detect`; `one launch`, like the peers,
each alone. A boundary is exact if it lies between the right two sizes and is called a step. Peers
do not name the kind; the lines of their pieces are compared in the same way as ours.

`.venv/bin/uv run bench/detection/score.py [--ours] [--missed] [--passes=N] [--grid=NAME] [FILE...]`
uses a separate environment, because the peers are not dependencies of Switchpoint. `--ours` skips
the peers and also runs in `.venv`. FILEs are of `record_unseen.py`; the default is
`curves.parquet`, of which `--passes=N` takes the first passes only: with one, sizes have no
repeats. `--grid=NAME` scores one grid. `--missed` prints the times around each cliff that is in no
bracket; curves that it shows are no longer unseen. `--without=RULE` switches rules off
(`ablation.py`), and `--ablate` prints how each of them changes the scores of `detect` with repeats
and without: of `curves.parquet` its first passes. `--each=N` takes one of N curves for this.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from switchpoint.detection.bends import bend
from switchpoint.detection.brackets import LEAST_PROBABILITY
from switchpoint.detection.doubts import doubtful
from switchpoint.detection.launches import detect_launches
from switchpoint.detection.noise import point_noise
from switchpoint.detection.segments import PieceTable
from switchpoint.tables.findings import BOUNDARIES

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import ablation
from arguments import count, one_of, parser
from labelled import GRIDS, Curve, Witnesses, curves, launches, pool, unseen, whole
from peers import PEERS, Detector

#: Peers that take seconds per curve are scored on one curve of this many.
SLOW = {"pwlf, continuous, BIC": 12}


@dataclass(frozen=True)
class Found:
    """A boundary that a detector reports.

    Attributes
    ----------
    first, last : int
        Indices of the first and the last size that may be the first one past it.
    is_step : bool
        Whether the time jumps there; otherwise its slope changes.
    """

    first: int
    last: int
    is_step: bool


@dataclass
class Result:
    """What a detector reports in one curve: boundaries; of ours also outliers and warnings."""

    curve: Curve
    found: list[Found]
    seconds: float
    outliers: list[int] = field(default_factory=list)
    doubted: list[int] = field(default_factory=list)

    @property
    def near(self) -> bool:
        """Whether a boundary is reported around the switch or within one grid step of it."""
        return any(one.first - 1 <= self.truth <= one.last + 1 for one in self.found)

    @property
    def contained(self) -> bool:
        """Whether a reported bracket contains the switch."""
        return any(one.first <= self.truth <= one.last for one in self.found)

    @property
    def exact(self) -> bool:
        """Whether a step is reported between exactly the two sizes around the switch."""
        return Found(self.truth, self.truth, is_step=True) in self.found

    @property
    def truth(self) -> int:
        """Index of the first size past the switch, which this curve must have."""
        assert self.curve.truth is not None
        return self.curve.truth


def ours(same: list[Curve]) -> Iterator[Result]:
    """Run `detect`'s search on launches of one curve."""
    start = time.perf_counter()
    several = detect_launches(same[0].size, [(curve.level, curve.level_error) for curve in same])
    seconds = (time.perf_counter() - start) / len(same)
    for curve, findings in zip(same, several, strict=True):
        found = [
            Found(
                int(np.searchsorted(curve.size, finding["last_size_before"])) + 1,
                int(np.searchsorted(curve.size, finding["size_bytes"])),
                is_step=finding["kind"] == "step",
            )
            for finding in findings
            if finding["kind"] in BOUNDARIES
        ]
        outliers = [
            int(np.searchsorted(curve.size, finding["size_bytes"]))
            for finding in findings
            if finding["kind"] == "outlier"
        ]
        doubted = doubtful(curve.size, curve.time, curve.error, findings)
        yield Result(curve, found, seconds, outliers, doubted)


def run(detector: Detector, every: Iterable[Curve]) -> Iterator[Result]:
    """Run a detector on every curve."""
    for curve in every:
        start = time.perf_counter()
        places = sorted({place for place in detector(curve.size, curve.time, curve.error) if place})
        seconds = time.perf_counter() - start
        yield Result(curve, list(with_kinds(curve, places)), seconds)


def with_kinds(curve: Curve, places: list[int]) -> Iterator[Found]:
    """Say of each boundary whether the lines beside it jump or meet, as `detect` does."""
    noise = point_noise(curve.size, curve.time, curve.error)[0]
    table = PieceTable(curve.size, curve.time, noise)
    for before, place, after in zip(
        [0, *places], places, [*places[1:], len(curve.size)], strict=False
    ):
        meets = bend(table, before, after - 1, slice(place, place + 1), LEAST_PROBABILITY)
        yield Found(place, place, is_step=meets.probability <= 0.5)


def real_shares(results: list[Result]) -> tuple[float, float]:
    """Share of reported boundaries that are real, and the same at random places.

    Real: around the switch or another change that a setting makes (`PLACES`), or within one grid
    step of it, or confirmed by other curves (`Witnesses`), in the bracket itself or in one that is
    a grid step wider on either side.
    """
    rng = np.random.default_rng(1)
    real, chance = [], []
    for result in results:
        curve = result.curve
        if not result.found:
            continue
        witnesses = Witnesses(curve, pool(curve.recording))
        for found in result.found:
            own = [curve.change(*_sizes(curve, found, wider)) for wider in (0, 1)]
            shift = int(rng.integers(2, len(curve.size) - 3)) - found.first
            elsewhere = Found(found.first + shift, found.last + shift, is_step=True)
            real.append(_is_real(found, own, witnesses))
            chance.append(_is_real(elsewhere, own, witnesses))
    return float(np.mean(real)), float(np.mean(chance))


def _is_real(found: Found, own: list[float], witnesses: Witnesses) -> bool:
    curve = witnesses.curve
    places = np.searchsorted(curve.size, curve.changes_by_setting)
    if any(found.first - 1 <= place <= found.last + 1 for place in places):
        return True
    return any(
        witnesses.confirm(*_sizes(curve, found, wider), change) for wider, change in enumerate(own)
    )


def _sizes(curve: Curve, found: Found, wider: int) -> tuple[float, float]:
    """Return the sizes around a bracket, or around one that is so many sizes wider."""
    ends = np.clip([found.first - 1 - wider, found.last + wider], 0, len(curve.size) - 1)
    return float(curve.size[ends[0]]), float(curve.size[ends[1]])


def row(name: str, results: list[Result], *, with_real: bool = True) -> str:
    """One line of the table."""
    switches = [one for one in results if one.curve.truth is not None]
    visible = [one for one in switches if one.curve.visible]
    cliffs = [one for one in visible if one.curve.is_cliff]
    real, chance = real_shares(results) if with_real else (np.nan, np.nan)
    cells = [
        f"{_share(one.near for one in visible):.1%}",
        f"{_share(one.contained for one in visible):.1%}",
        f"{_share(one.exact for one in visible):.1%}",
        f"{_share(one.contained for one in cliffs):.1%}",
        f"{real:.1%}",
        f"{chance:.0%}",
        f"{np.mean([len(one.found) for one in results]):.1f}",
        f"{1e3 * np.median([one.seconds for one in results]):.1f}",
        f"{len(visible)} of {len(switches)}",
    ]
    return f"| {name} | " + " | ".join(cells).replace("nan%", "-") + " |"


def missed_cliffs(name: str, results: list[Result], *, show: bool) -> Iterator[str]:
    """Say how many cliffs are in no bracket, how many something else names, and where each is."""
    switches = [one for one in results if one.curve.truth is not None and not one.contained]
    missed = [one for one in switches if one.curve.is_cliff]
    if missed:
        beside = sum(bool({one.truth - 1, one.truth} & {*one.outliers}) for one in missed)
        named = sum(one.truth in one.doubted for one in missed)
        yield (
            f"\n{name}: {len(missed)} cliffs in no bracket, of which {beside} beside an outlier and"
            f" {named} named by a warning"
        )
        yield from (_missed(one.curve) for one in missed if show)


def _missed(curve: Curve) -> str:
    """Say where a cliff is, and how large beside the noise that its curve shows by itself."""
    assert curve.truth is not None
    around = slice(curve.truth - 1, curve.truth + 2)
    places = zip(curve.size[around], curve.time[around], strict=True)
    times = ", ".join(f"{time_us:.2f} us at {size_bytes:,.0f} B" for size_bytes, time_us in places)
    noise = np.hypot(*point_noise(curve.size, curve.time, curve.error)[0][around][:2])
    errors = curve.beyond_slopes(curve.truth) / noise
    return (
        f"  {curve.grid}, {curve.transport}, limit {curve.limit:,} B: {times};"
        f" {errors:.1f} times the noise beyond its slope"
    )


def _share(of: Iterable[bool]) -> float:
    values = list(of)
    return float(np.mean(values)) if values else np.nan


def measures(rule: ablation.Rule | None, every: list[Curve], each: int) -> dict[str, float]:
    """Return the scores of `detect` in percent, and its boundaries in 100 curves, without a rule.

    Of the curves with several launches each so manieth is taken, and searched with all launches
    together and with each alone.
    """
    found = {}
    for kind in ablation.kinds(rule):
        part = [curve for curve in every if curve.has_repeats == (kind == ablation.REPEATS)]
        some = launches(part)[::each]
        results = [one for same in some for one in [*ours(same), *alone(same)]]
        if not results:
            continue
        visible = [one for one in results if one.curve.truth is not None and one.curve.visible]
        shares = {
            "recall": _share(one.near for one in visible),
            "in bracket": _share(one.contained for one in visible),
            "exact": _share(one.exact for one in visible),
            "cliffs": _share(one.contained for one in visible if one.curve.is_cliff),
            "real": real_shares(results)[0],
            "boundaries": float(np.mean([len(one.found) for one in results])),
        }
        found |= {f"{name}, {kind}": 100 * value for name, value in shares.items()}
    return found


def alone(same: list[Curve]) -> Iterator[Result]:
    """Run `detect`'s search on each launch of a curve by itself."""
    for curve in same:
        yield from ours([curve])


def ablate(files: list[Path], grid: str | None, each: int, names: list[str]) -> None:
    """Print how each rule changes the scores."""

    def read() -> list[Curve]:
        whole.cache_clear()
        pool.cache_clear()
        every = [one for path in files for one in unseen(path)]
        every = every or [one for passes in (None, 1) for one in curves(passes)]
        return [curve for curve in every if grid in (None, curve.grid)]

    once = read()
    ablation.table(
        lambda rule: measures(rule, read() if rule and rule.reads else once, each), names
    )


def main(
    *, only_ours: bool, show_missed: bool, passes: int | None, grid: str | None, files: list[Path]
) -> None:
    """Print a table for each grid or recipe, and of several recipes some for all of them."""
    every = [curve for path in files for curve in unseen(path)] if files else list(curves(passes))
    every = [curve for curve in every if grid in (None, curve.grid)]
    grids = list(dict.fromkeys(curve.grid for curve in every))
    parts = {grid: [curve for curve in every if curve.grid == grid] for grid in grids}
    if files:
        parts["all with repeats"] = [curve for curve in every if curve.has_repeats]
        parts["all without repeats"] = [curve for curve in every if not curve.has_repeats]
        parts["all"] = every
    for grid, part in parts.items():
        if not part:
            continue
        print(f"\n{grid}: {len(part)} curves\n")
        print(
            "| detector | recall | in bracket | exact | cliffs | real | by chance | a curve | ms"
            " | switches |\n|---|---|---|---|---|---|---|---|---|---|"
        )
        table(part, {} if only_ours else PEERS, with_held_out=not files, show_missed=show_missed)


def table(
    part: list[Curve], peers: dict[str, Detector], *, with_held_out: bool, show_missed: bool
) -> None:
    """Print the lines of one table, and below it which cliffs no finding contains."""
    own = {"Switchpoint": launches(part), "Switchpoint, one launch": [[one] for one in part]}
    missed = []
    for name, several in own.items():
        results = [result for same in several for result in ours(same)]
        print(row(name, results), flush=True)
        missed += missed_cliffs(name, results, show=show_missed)
        if with_held_out:
            held = [one for one in results if one.curve.held_out]
            print(row(f"{name}, held out", held), flush=True)
    for name, detector in peers.items():
        results = list(run(detector, part[:: SLOW.get(name, 1)]))
        print(row(name, results, with_real=name not in SLOW), flush=True)
    for line in missed:
        print(line)


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument("--ours", action="store_true")
    options.add_argument("--missed", action="store_true")
    options.add_argument("--passes", type=count)
    options.add_argument("--grid", type=one_of("grid", GRIDS))
    ablation.add_rules(options)
    options.add_argument(
        "--each", type=count, default=1, metavar="N", help="of N curves, ablate one"
    )
    options.add_argument("files", type=Path, nargs="*")
    given = options.parse_args()
    if given.ablate:
        ablate(given.files, given.grid, given.each, names=given.without)
    else:
        with ablation.without(*given.without):
            main(
                only_ours=given.ours,
                show_missed=given.missed,
                passes=given.passes,
                grid=given.grid,
                files=given.files,
            )
