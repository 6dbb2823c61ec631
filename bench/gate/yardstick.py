"""Scores `switchpoint gate` beside `baseline.py` and other detectors on a disturbed site.

Usage: .venv/bin/python bench/gate/yardstick.py [--held-out] [--baseline] [--processes N]
           [--kinds KIND,...] [--without RULE,...] [--first SEED] [--earlier SESSIONS]
           [--peers NAME,...] [--before FOLDER] [--public FOLDER] [SEEDS]
           (default: both, one process for each core, all kinds of `disturbed.KINDS`, 2 seeds of
           each from seed 0 on; with --held-out from seed 1000 on, which nobody looks at while
           tuning; with --without only the gate, whole and without each of these of `rules.RULES`,
           or `all`, in the first and the third session of the change; with --earlier each session
           is compared with so many before it; with --peers also these of `peers.PEERS`, or `all`,
           on the medians over a third of the sizes of each curve; with --before also the gate of
           another version, whose folder `analysis` it is; with --public also the tables of
           `public.py` for this folder)

A history has 60 curves and 38 sessions; six sessions are judged in turn, with a change from the
third of them on. `first` is the share of the changed curves that a failing finding names in the
first session that has the change, `third` in the first three, `metric` how many of them with the
right metric, `findings` how many fail in that session (the aim is one). `false` counts curves in
failing findings that name no curve which is off in that session, in 1,000 curve-sessions. `covers`
is the share of failing findings whose 95 % interval holds the true effect.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import baseline
import public
from arguments import count, parser, several_of
from baseline import Found
from disturbed import CHANGED, JUDGED, KINDS, SIZES, History, history
from peers import PEERS, elsewhere
from rules import RULES, ReadOnce, without

if TYPE_CHECKING:
    from switchpoint import Store
    from switchpoint.gating.verdict import Verdict

#: Seeds from here on are held out.
HELD_OUT = 1000

#: What a change of all sizes may be called.
RIGHT = {"time": {"latency", "bandwidth", "time"}}


@dataclass
class Score:
    """What a detector says of a history."""

    first: list[float] = field(default_factory=list)
    third: list[float] = field(default_factory=list)
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


def compared(kind: str, seed: int, earlier: int | None) -> History:
    """Return a history whose sessions are compared with so many before; None for the usual."""
    made = history(kind, seed)
    made.before = earlier or made.before
    return made


@cache
def _before(kind: str, seed: int) -> tempfile.TemporaryDirectory[str]:
    """Return a store of the sessions that are not judged."""
    from switchpoint import Store

    folder = tempfile.TemporaryDirectory()
    Store(f"{folder.name}/store").add(history(kind, seed).measurements(range(JUDGED.start)))
    return folder


def ours(made: History) -> Iterator[tuple[int, list[Found]]]:
    """Judge each session with `switchpoint gate`; better does not fail, and does not count."""
    from switchpoint import Store, gate

    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(_before(made.kind, made.seed).name, folder, dirs_exist_ok=True)
        store = Store(f"{folder}/store")
        for session in JUDGED:
            store.add(made.measurements(range(session, session + 1)))
            verdict = gate(store, session=f"s{session:03}", history=made.before, keep=True)
            yield session, _failing(made, verdict)


def leaving_out(made: History, rule: str | None) -> Iterator[tuple[int, list[Found]]]:
    """Judge the first and the third session of a change without a rule.

    What all rules have in common is read once.
    """
    from switchpoint import gate

    store, whole = _whole(made.kind, made.seed)
    with whole, without(rule):
        for session in (CHANGED, CHANGED + 2):
            verdict = gate(store, session=f"s{session:03}", history=made.before)
            yield session, _failing(made, verdict)


@lru_cache(1)
def _whole(kind: str, seed: int) -> tuple[Store, ReadOnce]:
    """Return a store of all sessions, and what reads each session once."""
    from switchpoint import Store

    store = Store(f"{tempfile.mkdtemp()}/store")
    atexit.register(shutil.rmtree, Path(store.url).parent)
    store.add(history(kind, seed).measurements(range(JUDGED.stop)))
    return store, ReadOnce()


def _failing(made: History, verdict: Verdict) -> list[Found]:
    """Return the failing findings of what was measured."""
    keys = made.curves[["mpi", "placement", "mode", "nodes"]].itertuples(index=False, name=None)
    number = {key: curve for curve, key in enumerate(keys)}
    failing = verdict.findings[verdict.findings["fails"] & verdict.findings["effect"].notna()]
    failing = failing[failing["metric"] != ""]
    return [
        Found(
            row["metric"],
            frozenset(
                number[one["environ"], one["placement"], one["mode"], one["nodes"]]
                for one in row["curves"]
            ),
            *(np.log1p(row[name]) * (-1) ** (row["metric"] == "bandwidth")
              for name in ("effect", "low", "high")),
        )
        for row in failing.to_dict("records")
    ]  # fmt: skip


def simple(made: History) -> Iterator[tuple[int, list[Found]]]:
    """Judge each session with the baseline; only what is slower fails."""
    for session in JUDGED:
        first = max(session - made.before, 0)
        found = baseline.findings(made.curves, made.log_time[:, first : session + 1])
        yield session, [one for one in found if not one.effect < 0]


def of_peer(made: History, name: str) -> Iterator[tuple[int, list[Found]]]:
    """Judge each session with a peer: each curve by itself, by its small and its large sizes."""
    third = len(SIZES) // 3
    parts = {"latency": slice(None, third), "bandwidth": slice(-third, None)}
    skipped = max(JUDGED.start - 1 - made.before, 0)
    log_time = made.log_time[:, skipped : JUDGED.stop]
    values = {
        metric: np.exp(np.median(np.median(log_time[..., part], axis=3), axis=2))
        for metric, part in parts.items()
    }
    each = [(metric, curve) for metric in parts for curve in range(len(made.curves))]
    series = [values[metric][curve].tolist() for metric, curve in each]
    told = elsewhere(name, series, first=JUDGED.start - 1 - skipped)
    for session in JUDGED:
        yield (
            session,
            [
                Found(metric, frozenset([curve]))
                for (metric, curve), own, reports in zip(each, series, told, strict=True)
                for when, place in reports
                if when == session - skipped
                and np.median(own[place : when + 1]) > np.median(own[:place])
            ],
        )


def of_version(made: History, folder: str) -> Iterator[tuple[int, list[Found]]]:
    """Judge each session with the gate of another version, in a process of its own."""
    done = subprocess.run(
        [sys.executable, Path(__file__).resolve(), "--as-json", "--kinds", made.kind,
         "--first", f"{made.seed}", "--earlier", f"{made.before}"],
        capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": folder},
    )  # fmt: skip
    for session, found in json.loads(done.stdout):
        yield session, [Found(metric, frozenset(curves), *rest) for metric, curves, *rest in found]


DETECTORS: dict[str, Callable[..., Iterator[tuple[int, list[Found]]]]] = {
    "gate": ours,
    "baseline": simple,
    "all rules": partial(leaving_out, rule=None),
    **{rule: partial(leaving_out, rule=rule) for rule in RULES},
    **{name: partial(of_peer, name=name) for name in PEERS},
}


def score(work: tuple[str, str, int], earlier: int | None) -> tuple[str, str, Score]:
    """Score a detector on a history."""
    detector, kind, seed = work
    made, total = compared(kind, seed, earlier), Score()
    named: dict[int, list[Found]] = {}
    version = detector.removeprefix("gate of ")
    judge = partial(of_version, folder=version) if version != detector else DETECTORS[detector]
    for session, found in judge(made):
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
                matches = one.curves <= curves and one.metric == metric
                if matches and np.isfinite([effect, one.low]).all():
                    real = np.log1p(effect) if metric != "bandwidth" else -np.log1p(effect)
                    low, high = sorted((one.low, one.high))
                    total.covers.append(bool(low <= real <= high))
    for metric, curves, _ in made.true(CHANGED):
        hit = [_named(named.get(one, [])) & curves for one in range(CHANGED, CHANGED + 3)]
        right = [one for one in named[CHANGED] if one.metric in RIGHT.get(metric, {metric})]
        total.first.append(len(hit[0]) / len(curves))
        total.third.append(len(frozenset().union(*hit)) / len(curves))
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
        f"| {name} | {share(of.first)} | {share(of.third)} | {share(of.right)} | {findings}"
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
    options.add_argument("--peers", type=several_of("peer", PEERS), default="")
    options.add_argument("--before", metavar="FOLDER", help="`analysis` of another version")
    options.add_argument("--public", type=Path, metavar="FOLDER", action="append", default=[])
    options.add_argument("--as-json", action="store_true", help="print the findings of one seed")
    options.add_argument("--first", type=int, default=0)
    options.add_argument("--earlier", type=count, help="baseline sessions")
    options.add_argument("seeds", type=count, nargs="?", default=2)
    given = options.parse_args()
    first = given.first + (HELD_OUT if given.held_out else 0)
    if given.as_json:
        told = [
            (session, [[one.metric, [*one.curves], one.effect, one.low, one.high] for one in found])
            for session, found in ours(compared(given.kinds[0], first, given.earlier))
        ]
        print(json.dumps(told))
        return
    detectors = ["baseline"] if given.baseline else ["gate", "baseline"]
    detectors += given.peers + ([f"gate of {given.before}"] if given.before else [])
    if given.without:
        detectors = ["all rules", *given.without]
    work = [
        (detector, kind, seed)
        for kind in given.kinds
        for seed in range(first, first + given.seeds)
        for detector in detectors
    ]
    scores = {(detector, kind): Score() for detector in detectors for kind in given.kinds}
    with ProcessPoolExecutor(given.processes, mp_context=get_context("spawn")) as pool:
        judge = partial(score, earlier=given.earlier)
        for detector, kind, one in pool.map(judge, work, chunksize=len(detectors)):
            scores[detector, kind].add(one)
    if given.without:
        _print_losses({kind: scores["all rules", kind] for kind in given.kinds}, scores)
        return
    totals: list[str] = []
    for detector in detectors:
        print(
            f"\n| {detector} | first | third | metric | findings | false sessions | false | covers"
            " |\n|---|---|---|---|---|---|---|---|"
        )
        total = Score()
        for kind in given.kinds:
            print(_row(kind, scores[detector, kind]))
            total.add(scores[detector, kind])
        print(_row("all", total), flush=True)
        totals.append(_row(detector, total))
    print("\n| all kinds | first | third | metric | findings | false sessions | false | covers |")
    print("|---|---|---|---|---|---|---|---|", *totals, sep="\n")
    for folder in given.public:
        public.print_table(folder, public.read(folder), given.peers)


def _print_losses(whole: dict[str, Score], scores: dict[tuple[str, str], Score]) -> None:
    """Print what each rule buys: in all kinds, and where leaving it out changes most."""
    names = ("without", "what it does", *_NUMBERS, "most in")
    print(f"| {' | '.join(names)} |\n{'|---' * len(names)}|")
    for rule in dict.fromkeys(rule for rule, _ in scores):
        total, worst = Score(), []
        for kind, one in whole.items():
            own = scores[rule, kind]
            total.add(own)
            lost = [a - b for a, b in zip(_numbers(one), _numbers(own), strict=True)]
            if any(abs(value) >= 0.05 for value in lost):
                changed = ", ".join(
                    f"{name} {-value:+.1f}"
                    for name, value in zip(_NUMBERS, lost, strict=True)
                    if abs(value) >= 0.05
                )
                worst.append((max(map(abs, lost)), f"{kind}: {changed}"))
        most = "; ".join(words for _, words in sorted(worst, reverse=True)[:3])
        cells = " | ".join(f"{value:.1f}" for value in _numbers(total))
        what = RULES[rule].what if rule in RULES else ""
        print(f"| {rule} | {what} | {cells} | {most} |", flush=True)


_NUMBERS = ("first", "third", "metric", "findings", "false")


def _numbers(of: Score) -> list[float]:
    """Return shares in percent, findings, and false ones in 1,000 curve-sessions."""
    shares = [100 * float(np.mean(one or [np.nan])) for one in (of.first, of.third, of.right)]
    findings = float(np.mean(of.findings or [np.nan]))
    return [*shares, findings, 1000 * of.false / max(of.curve_sessions, 1)]


if __name__ == "__main__":
    main()
