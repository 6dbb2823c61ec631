"""Scores `switchpoint gate` beside `baseline.py` on a disturbed site.

Usage: .venv/bin/python bench/gate/yardstick.py [--held-out] [--baseline] [--processes N]
           [--kinds KIND,...] [--without RULE,...] [--first SEED] [SEEDS]
           (default: both, one process for each core, all kinds of `disturbed.KINDS`, 2 seeds of
           each from seed 0 on; with --held-out from seed 1000 on, which nobody looks at while
           tuning; with --without also the gate without each of these of `rules.RULES`, or `all`)

A history has 60 curves and 38 sessions; six sessions are judged in turn, with a change in the third
of them. `first` is the share of the changed curves that a failing finding names in the
first session that has the change, `second` in the first two, `metric` how many of them with the
right metric, `findings` how many fail in that session (the aim is one). `false` counts curves in
failing findings that name no curve which is off in that session, in 1,000 curve-sessions. `covers`
is the share of failing findings whose 95 % interval holds the true effect.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import baseline
from arguments import count, parser, several_of
from baseline import Found
from disturbed import CHANGED, JUDGED, KINDS, History, history
from rules import RULES, without

#: Seeds from here on are held out.
HELD_OUT = 1000

#: What a change of all sizes may be called.
RIGHT = {"time": {"latency", "bandwidth", "time"}}


@dataclass
class Score:
    """What a detector says of a history."""

    first: list[float] = field(default_factory=list)
    second: list[float] = field(default_factory=list)
    right: list[float] = field(default_factory=list)
    findings: list[int] = field(default_factory=list)
    covers: list[bool] = field(default_factory=list)
    false: int = 0
    false_sessions: int = 0
    sessions: int = 0
    curve_sessions: int = 0

    def add(self, other: Score) -> None:
        """Add that of another history."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


@cache
def _before(kind: str, seed: int) -> tempfile.TemporaryDirectory[str]:
    """Return a store of the sessions that are not judged."""
    from switchpoint import Store

    folder = tempfile.TemporaryDirectory()
    Store(f"{folder.name}/store").add(history(kind, seed).measurements(range(JUDGED.start)))
    return folder


def ours(made: History, rule: str | None = None) -> Iterator[tuple[int, list[Found]]]:
    """Judge each session with `switchpoint gate`; better does not fail, and does not count."""
    from switchpoint import Store, gate
    from switchpoint.gating.points import texts_of

    number = {
        (one["environ"], one["placement"], one["mode"], one["nodes"]): curve
        for curve, one in enumerate(texts_of(made.curves.assign(environ=made.curves["mpi"])))
    }
    with tempfile.TemporaryDirectory() as folder, without(rule):
        shutil.copytree(_before(made.kind, made.seed).name, folder, dirs_exist_ok=True)
        store = Store(f"{folder}/store")
        for session in JUDGED:
            store.add(made.measurements(range(session, session + 1)))
            verdict = gate(store, session=f"s{session:03}", keep=True)
            rows = verdict.findings[verdict.findings["fails"]].to_dict("records")
            yield session, [
                Found(
                    row["metric"],
                    frozenset(
                        number[one["environ"], one["placement"], one["mode"], one["nodes"]]
                        for one in row["curves"]
                    ),
                    *(np.log1p(row[name]) * (-1) ** (row["metric"] == "bandwidth")
                      for name in ("effect", "low", "high")),
                )
                for row in rows
            ]  # fmt: skip


def simple(made: History) -> Iterator[tuple[int, list[Found]]]:
    """Judge each session with the baseline; only what is slower fails."""
    for session in JUDGED:
        first = max(session - 30, 0)
        found = baseline.findings(made.curves, made.log_time[:, first : session + 1])
        yield session, [one for one in found if not one.effect < 0]


DETECTORS = {
    "gate": ours,
    "baseline": simple,
    **{f"gate without {rule}": partial(ours, rule=rule) for rule in RULES},
}


def score(work: tuple[str, str, int]) -> tuple[str, str, Score]:
    """Score a detector on a history."""
    detector, kind, seed = work
    made, total = history(kind, seed), Score()
    named: dict[int, list[Found]] = {}
    for session, found in DETECTORS[detector](made):
        named[session] = found
        true = made.true(session)
        off = frozenset().union(*(one[1] for one in true))
        wrong = [one for one in found if not one.curves & off]
        total.false += sum(max(len(one.curves), 1) for one in wrong)
        total.false_sessions += bool(wrong)
        total.sessions += 1
        total.curve_sessions += len(made.curves)
        for one in found:
            for metric, curves, effect in true:
                if one.curves <= curves and one.metric == metric and effect == effect:
                    real = np.log1p(effect) if metric != "bandwidth" else -np.log1p(effect)
                    low, high = sorted((one.low, one.high))
                    total.covers.append(bool(low <= real <= high))
    for metric, curves, _ in made.true(CHANGED):
        hit = [_named(named[one]) & curves for one in (CHANGED, CHANGED + 1)]
        right = [one for one in named[CHANGED] if one.metric in RIGHT.get(metric, {metric})]
        total.first.append(len(hit[0]) / len(curves))
        total.second.append(len(hit[0] | hit[1]) / len(curves))
        total.right.append(len(_named(right) & curves) / len(curves))
        total.findings.append(len(named[CHANGED]))
    return detector, kind, total


def _named(found: list[Found]) -> frozenset[int]:
    return frozenset().union(*(one.curves for one in found))


def _row(name: str, of: Score) -> str:
    def share(values: list[float] | list[bool]) -> str:
        return f"{100 * np.mean(values):.0f} %" if values else "-"

    findings = f"{np.mean(of.findings):.1f}" if of.findings else "-"
    false = f"{1000 * of.false / of.curve_sessions:.2f}"
    return (
        f"| {name} | {share(of.first)} | {share(of.second)} | {share(of.right)} | {findings}"
        f" | {of.false_sessions} of {of.sessions} | {false} | {share(of.covers)} |"
    )


def main() -> None:
    """Print a table for each detector."""
    options = parser(__doc__)
    options.add_argument("--held-out", action="store_true")
    options.add_argument("--baseline", action="store_true", help="only the baseline")
    options.add_argument("--processes", type=count, default=os.cpu_count())
    options.add_argument("--kinds", type=several_of("kind", KINDS), default="all")
    options.add_argument("--without", type=several_of("rule", RULES), default="")
    options.add_argument("--first", type=int, default=0)
    options.add_argument("seeds", type=count, nargs="?", default=2)
    given = options.parse_args()
    first = given.first + (HELD_OUT if given.held_out else 0)
    left_out = [f"gate without {rule}" for rule in given.without]
    detectors = ["baseline"] if given.baseline else ["gate", "baseline", *left_out]
    work = [
        (detector, kind, seed)
        for kind in given.kinds
        for seed in range(first, first + given.seeds)
        for detector in detectors
    ]
    scores = {(detector, kind): Score() for detector in detectors for kind in given.kinds}
    with ProcessPoolExecutor(given.processes, mp_context=get_context("spawn")) as pool:
        for detector, kind, one in pool.map(score, work, chunksize=len(detectors)):
            scores[detector, kind].add(one)
    for detector in detectors:
        print(
            f"\n| {detector} | first | second | metric | findings | false sessions | false | covers"
            " |\n|---|---|---|---|---|---|---|---|"
        )
        total = Score()
        for kind in given.kinds:
            print(_row(kind, scores[detector, kind]))
            total.add(scores[detector, kind])
        print(_row("all", total), flush=True)


if __name__ == "__main__":
    main()
