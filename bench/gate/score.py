"""Scores `switchpoint gate` and its peers on histories with known truth; prints the docs' table.

Usage: .venv/bin/python bench/gate/score.py [--ours | --peers] [--held-out] [--noise PERCENT]
           [--effect PERCENT] [--pairs PAIRS] [--processes N] [--first SEED] [--nights N]
           [HISTORIES]
           (default: both, 3 %, 10 %, 12 pairs of nodes for each transport, one process for each
           core, 30 histories from seed 0 on; --nights judges the last nights only, to try the
           command: what changed before them counts as missed)

Histories are `recorded.histories`: real noise of recorded launches, scaled, with changes put in. A
third of them is held out: without --held-out nobody sees them, with it only they are scored. Each
night is judged with the nights before it. Peers get three series of each curve: the nightly median
of its launches at the smallest, the largest and a middle size. Each peer has an environment of its
own.

A change of a curve is found if the curve is in a report of the seven nights from the change on; the
delay counts from 0. The kind is right if the metric is: latency, bandwidth or switch. A report of
no changed curve in its time is false, counted for a month of 5,000 curves: a finding of ours, or a
curve in a night of a peer.

Ours have two lines: all findings, better and worse, as the peers' reports are; and only those that
fail the gate, so without what got better. Below is how many of all changes each finds in time, and
how many within the 14 nights after which the gate takes a change for normal.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))
from arguments import count, parser
from ideal import finds
from peers import FIRST, PEERS, elsewhere
from recorded import NIGHTS, PAIRS, Curve, History, Truth, histories, session, transports

#: A change that is reported this many nights later is missed.
PATIENCE = 7

#: What the kinds of changes are called by the metric that they change.
METRIC = {"latency": "latency", "drift": "latency", "bandwidth": "bandwidth", "switch": "switch"}

#: Curves and nights of the month for which false reports are counted.
MONTH = 5000 * 30

#: Peers see so many changed curves of a history, and so many others.
CURVES_OF_PEERS = 8


@dataclass(frozen=True)
class Report:
    """What a detector says in a night.

    Attributes
    ----------
    history : int
        Seed of the history.
    night : int
        When it says so.
    curves : frozenset
        Of which curves.
    metric : str
        `latency`, `bandwidth`, `switch` or another.
    fails : bool
        Whether it fails a gate; all reports of peers would.
    """

    history: int
    night: int
    curves: frozenset[Curve]
    metric: str
    fails: bool = True


def ours(history: History, effect: float, nights: int) -> list[Report]:
    """Run the gate on every night, as each night after the others; a finding counts when new.

    Half of the effect matters: with the default policy, of changes of 10 %.
    """
    return list(_ours(history, effect, nights))


def _ours(history: History, effect: float, nights: int) -> Iterator[Report]:
    from switchpoint import Store, gate
    from switchpoint.gating.policy import MinimumEffect, Policy

    least = MinimumEffect(latency=effect / 2, bandwidth=effect / 2, time=effect)
    policy = Policy(minimum_effect=least)
    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder)
        store.add(history.measurements())
        known: set[tuple[str, bool]] = set()
        for night in range(max(FIRST, NIGHTS - nights), NIGHTS):
            findings = gate(store, session=session(night), policy=policy, keep=True).findings
            for finding in findings.to_dict("records"):
                told = (finding["finding_id"], finding["fails"])
                if told in known:
                    continue
                known.add(told)
                curves = frozenset(
                    (f"{one['environ']}-{one['placement']}", int(one["nodes"].removeprefix("pair")))
                    for one in finding["curves"]
                )
                metric = "switch" if finding["kind"] == "moved_switch" else finding["metric"]
                yield Report(history.seed, night, curves, metric, finding["fails"])


def peer(name: str, every: list[History]) -> Iterator[Report]:
    """Run a peer on all series of all histories."""
    series, keys = [], []
    for history in every:
        for curve in seen_by_peers(history):
            times = np.median(history.times_us(curve), axis=(1, 2))
            size = transports()[curve[0]].size
            middle = int(np.searchsorted(size, 45000))
            for metric, place in (("latency", 0), ("bandwidth", -1), ("switch", middle)):
                series.append(times[:, place].tolist())
                keys.append((history.seed, curve, metric))
    try:
        reported = elsewhere(name, series)
    except RuntimeError as error:
        sys.exit(str(error))
    for (seed, curve, metric), told in zip(keys, reported, strict=True):
        for night, _ in told:
            yield Report(seed, night, frozenset([curve]), metric)


def seen_by_peers(history: History) -> list[Curve]:
    """Choose curves for the peers, some of which take seconds for each: changed ones and others."""
    changed = {curve for truth in history.truths for curve in truth.curves}
    chosen = random.Random(history.seed).sample(history.curves(), len(history.curves()))
    return [
        *[curve for curve in chosen if curve in changed][:CURVES_OF_PEERS],
        *[curve for curve in chosen if curve not in changed][:CURVES_OF_PEERS],
    ]


def row(name: str, reports: Iterable[Report], every: list[History]) -> str:
    """One line of the table."""
    reports = list(reports)
    is_ours = name not in PEERS
    seen = {
        history.seed: history.curves() if is_ours else seen_by_peers(history) for history in every
    }
    hits = [hit for history in every for hit in _hits(history, reports, seen[history.seed])]
    false = [one for one in reports if not _is_true(one, every)]
    if not is_ours:  # several series of a curve may tell the same
        false = list({(one.history, one.night, one.curves): one for one in false}.values())
    nights = sum(map(len, seen.values())) * (NIGHTS - FIRST)
    cells = [_share(hits, metric) for metric in ("latency", "bandwidth", "switch", "drift")]
    delays = [hit.delay for hit in hits if hit.delay is not None and hit.truth.kind != "drift"]
    right = [hit.right for hit in hits if hit.delay is not None]
    cells += [
        f"{np.median(delays):.0f}" if delays else "-",
        f"{np.mean(right):.0%}" if right else "-",
        f"{len(false) * MONTH / nights:.1f}",
    ]
    return f"| {name} | " + " | ".join(cells) + " |"


@dataclass(frozen=True)
class Hit:
    """Whether and how a change of one curve was found: after so many nights, as the right kind."""

    truth: Truth
    delay: int | None
    right: bool


def _hits(
    history: History, reports: list[Report], seen: list[Curve], nights: int = PATIENCE
) -> Iterator[Hit]:
    own = [one for one in reports if one.history == history.seed]
    for truth in history.truths:
        patience = 20 + nights if truth.kind == "drift" else nights
        near = [one for one in own if truth.night <= one.night < truth.night + patience]
        for curve in truth.curves & {*seen}:
            telling = [one for one in near if curve in one.curves]
            if not telling:
                yield Hit(truth, None, right=False)
                continue
            first = min(one.night for one in telling)
            right = any(one.metric == METRIC[truth.kind] for one in telling if one.night == first)
            yield Hit(truth, first - truth.night, right)


def _is_true(report: Report, every: list[History]) -> bool:
    """Whether one of its curves changed before; a late report of a change is not false."""
    [history] = [one for one in every if one.seed == report.history]
    return any(
        report.curves & truth.curves and report.night >= truth.night for truth in history.truths
    )


def overall(name: str, reports: list[Report], every: list[History]) -> str:
    """One line of our findings: how many changes of all kinds they contain, soon and at all."""
    from switchpoint.gating.policy import Policy

    told = []
    for nights in (PATIENCE, Policy().settled_after_sessions):
        hits = [hit for one in every for hit in _hits(one, reports, one.curves(), nights)]
        found = sum(hit.delay is not None for hit in hits)
        told.append(f"{found} within {nights} nights ({found / len(hits):.1%})")
    return f"{name}: of {len(hits)} changes {' and '.join(told)}"


def _share(hits: list[Hit], kind: str) -> str:
    found = [hit.delay is not None for hit in hits if hit.truth.kind == kind]
    return f"{np.mean(found):.0%} of {len(found)}" if found else "-"


def ideal(every: list[History]) -> str:
    """One line about what a test could find that knows each change but for whether it is there."""
    found: dict[str, list[bool]] = {"latency": [], "bandwidth": []}
    for history in every:
        for truth in history.truths:
            if truth.kind in found:
                known = finds(history, truth, PATIENCE, 1 / MONTH)
                found[truth.kind] += [known] * len(truth.curves)
    told = " and ".join(
        f"{np.mean(hits):.0%} of {len(hits)} ({name})" for name, hits in found.items()
    )
    return f"a test that knows when, where and how these curves changed finds {told}"


def main() -> None:
    """Print the table."""
    options = parser(__doc__)
    options.add_argument("--ours", action="store_true")
    options.add_argument("--peers", action="store_true")
    options.add_argument("--held-out", action="store_true")
    options.add_argument("--noise", type=float, default=3.0)
    options.add_argument("--effect", type=float, default=10.0)
    options.add_argument("--pairs", type=count, default=PAIRS)
    options.add_argument("--processes", type=count, default=os.cpu_count())
    options.add_argument("--first", type=int, default=0)
    options.add_argument("--nights", type=count, default=NIGHTS)
    options.add_argument("histories", type=count, nargs="?", default=30)
    given = options.parse_args()
    every = [
        history
        for history in histories(
            range(given.first, given.first + given.histories),
            given.noise / 100,
            given.effect / 100,
            given.pairs,
        )
        if history.held_out == given.held_out
    ]
    print(
        f"changes of {given.effect:g} %, launches scatter by {given.noise:g} %, {len(every)}"
        f" histories of {NIGHTS} nights and {given.pairs * len(transports())} curves"
        f"{' that were held out' if given.held_out else ''}\n"
    )
    print(
        "| detector | latency | bandwidth | switch | drift | delay in nights | right kind"
        " | false a month |\n|---|---|---|---|---|---|---|---|"
    )
    if not given.peers:
        with ProcessPoolExecutor(given.processes, mp_context=get_context("spawn")) as pool:
            judged = pool.map(partial(ours, effect=given.effect / 100, nights=given.nights), every)
            found = [one for reports in judged for one in reports]
        by_name = {
            "Switchpoint, all findings": found,
            "Switchpoint, findings that fail": [one for one in found if one.fails],
        }
        for name, reports in by_name.items():
            print(row(name, reports, every), flush=True)
    for name in [] if given.ours else PEERS:
        print(row(name, peer(name, every), every), flush=True)
    if not given.peers:
        lines = [overall(name, reports, every) for name, reports in by_name.items()]
        print("\n" + "\n".join([*lines, ideal(every)]))


if __name__ == "__main__":
    main()
