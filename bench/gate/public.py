"""Scores `switchpoint gate` on public series whose changes are labelled, beside others.

Usage: .venv/bin/python bench/gate/public.py [--peers NAME,...] [--without RULE,...] FOLDER...
           (default: the fixed percentage and Apache Otava, which .venv/bin/uv installs into an
           environment of its own; --peers= runs none; with --without only the gate, whole and
           without each of these of `rules.RULES`)

FOLDER is one of

- `hana/small_2021` of https://github.com/SAP/performance-regression-data-set: 25 series of SAP
  HANA's tests, of which five have a regression. A build is a session: the median of its values.
- what `otava-gen generate --output-dir FOLDER --no-combinations` of the PyPI package
  otava-test-data wrote: patterns with noise. A value is a session.

Each session is judged with those before it, from the eleventh on; the gate and the baseline judge
all series together, as those of one site, with one false discovery rate. A change is found if it is
reported within 14 sessions; the delay counts from 0. A report is false if it is no such report, and
names no session near a labelled one; what goes on is reported again every fourth session. Of SAP's
series only what becomes slower counts, since only that is labelled.
"""

from __future__ import annotations

import csv
import itertools
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from statistics import median

import numpy as np
import pandas as pd
from scipy import stats

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import baseline
from arguments import parser, several_of
from peers import FIRST, PEERS, SAME, elsewhere
from rules import RULES, without

#: A change that is reported this many sessions later is missed.
PATIENCE = 14

#: The baseline compares with so many earlier sessions, as the gate does by default.
SESSIONS = 30

Report = tuple[int, int]  # the session that reports, and the one from which on the change is


@dataclass(frozen=True)
class Series:
    """Values of sessions, and the changes that are labelled.

    Attributes
    ----------
    sessions : list of float
        A value each.
    changes : list of (int, str)
        The first session of each, and its type.
    only_worse : bool
        Whether only larger values are labelled.
    """

    sessions: list[float]
    changes: list[tuple[int, str]]
    only_worse: bool

    def counted(self, told: list[Report]) -> list[Report]:
        """Return the reports of what became worse, or all if both are labelled."""
        if not self.only_worse:
            return told
        return [
            (session, place)
            for session, place in told
            if place and median(self.sessions[place : session + 1]) > median(self.sessions[:place])
        ]


def sap(folder: Path) -> Iterator[Series]:
    """Read SAP's small data set."""
    with (folder / "metadata/dataset_details.csv").open(encoding="utf-8-sig") as lines:
        labels = [*csv.DictReader(lines, delimiter=";")]
    for label in labels:
        with (folder / "data" / label["Dataset"].strip()).open(encoding="utf-8-sig") as lines:
            rows = [*csv.DictReader(lines)]
        values, changes = [], []
        last = int(label["Change Point"])  # the last one without the regression
        for number, (_, build) in enumerate(itertools.groupby(rows, lambda row: row["GHC"])):
            own = [*build]
            values.append(median(float(row["Measurement"]) for row in own))
            if last and not changes and int(own[-1]["Index"]) > last:
                changes.append((number, "regression"))
        yield Series(values, changes, only_worse=True)


def patterns(folder: Path) -> Iterator[Series]:
    """Read what otava-gen wrote."""
    for entry in json.loads((folder / "manifest.json").read_text(encoding="utf-8")):
        with (folder / entry["filename"]).open(encoding="utf-8") as lines:
            values = [float(row["value"]) for row in csv.DictReader(lines)]
        changes = zip(entry["change_point_indices"], entry["change_point_types"], strict=True)
        yield Series(values, [*changes], only_worse=False)


#: What each kind of folder contains, and who reads it.
READERS = {"metadata/dataset_details.csv": sap, "manifest.json": patterns}


def read(folder: Path) -> list[Series]:
    """Read the series of a folder."""
    for name, reader in READERS.items():
        if (folder / name).is_file():
            return [*reader(folder)]
    known = " or ".join(READERS)
    raise FileNotFoundError(f"{folder}: contains no {known}; see --help for the folders")


def with_gate(every: list[list[float]]) -> set[int]:
    """Judge the last session of series of durations with the gate; return which changed."""
    from switchpoint.gating import values as single
    from switchpoint.gating.policy import Policy

    policy = Policy()
    nights = min(policy.baseline_sessions + 1, len(every[0]))
    newest = np.array([one[-nights:] for one in every])
    test, night = (axis.ravel() for axis in np.indices(newest.shape))
    table = pd.DataFrame(
        {"value": newest.ravel(), "session_number": night, "test": test.astype(str)}
    )
    table = table.assign(
        site="public", partition="cpu", environ="gnu", variable="t", unit="s", result="pass",
        lower=np.nan, upper=np.nan, reference=0.0, excused=False, value_id="", time_utc="",
        labels=None, source="",
    )  # fmt: skip
    days = [date(2026, 1, 1) + timedelta(days=day) for day in range(nights)]
    found = single.drafts(table, [f"{day}T03:00:00.000000Z" for day in days], policy, ())
    kinds = {"regression", "improvement", "slow_drift"}
    return {int(one.shared["test"]) for one in found if one.kind in kinds}


def with_baseline(every: list[list[float]]) -> set[int]:
    """Judge the last session of series with SciPy in few lines; return which changed."""
    newest = np.log(np.maximum([one[-1 - SESSIONS :] for one in every], 1e-9))
    # Each by itself: they are of different tests, whose scatter is not alike.
    tests = [baseline.compare(one[None, :, None]) for one in newest]
    effect, _, p = (np.concatenate(parts) for parts in zip(*tests, strict=True))
    sure = stats.false_discovery_control(p) <= baseline.RATE
    return set(np.flatnonzero(sure & (np.abs(effect) >= np.log1p(baseline.LEAST))).tolist())


OURS: dict[str, Callable[[list[list[float]]], set[int]]] = {
    "gate": with_gate,
    "baseline": with_baseline,
}


def of_ours(name: str, every: list[list[float]]) -> list[list[Report]]:
    """Judge each session of all series together, as those of one site."""
    told: list[list[Report]] = [[] for _ in every]
    for session in range(FIRST, max(map(len, every))):
        there = [number for number, one in enumerate(every) if len(one) > session]
        for which in sorted(OURS[name]([every[number][: session + 1] for number in there])):
            own = told[there[which]]
            if not own or session - own[-1][1] > SAME:
                own.append((session, session))
    return told


def row(name: str, every: list[Series], told: list[list[Report]]) -> str:
    """One line of the table."""
    by_type: dict[str, list[int | None]] = {}
    false = sessions = 0
    for series, reported in zip(every, told, strict=True):
        own = series.counted(reported)
        right = set()
        for first, kind in series.changes:
            if first < FIRST:
                continue
            patience = 1 if kind == "outlier" else PATIENCE
            hits = {
                one
                for one in own
                if first <= one[0] < first + patience
                or (abs(one[1] - first) <= SAME and one[0] >= first)
            }
            right |= hits
            soon = [session - first for session, _ in hits if session < first + PATIENCE]
            by_type.setdefault(kind, []).append(min(soon, default=None))
        false += len({*own} - right)
        sessions += max(len(series.sessions) - FIRST, 0)
    delays = [delay for found in by_type.values() for delay in found if delay is not None]
    total = sum(map(len, by_type.values()))
    of_types = ", ".join(
        f"{kind} {len(found) - found.count(None)} of {len(found)}"
        for kind, found in by_type.items()
    )
    return (
        f"| {name} | {len(delays)} of {total} | {np.median(delays) if delays else np.nan:.0f}"
        f" | {1000 * false / max(sessions, 1):.1f} | {of_types} |"
    )


def main() -> None:
    """Print a table for each folder."""
    options = parser(__doc__)
    options.add_argument(
        "--peers", type=several_of("peer", PEERS), default="fixed percentage,Apache Otava"
    )
    options.add_argument("--without", type=several_of("rule", RULES), default="")
    options.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    given = options.parse_args()
    try:
        every = {folder: read(folder) for folder in given.folders}
    except (OSError, KeyError, TypeError, ValueError) as error:
        options.error(str(error))
    for folder, series in every.items():
        print_table(folder, series, given.peers, given.without)


def print_table(
    folder: Path, series: list[Series], peers: list[str], rules: list[str] | None = None
) -> None:
    """Print what each detector finds in the series of a folder, or the gate without rules."""
    values = [one.sessions for one in series]
    sessions = sum(map(len, values))
    print(f"\n{folder.resolve().name}: {len(series)} series, {sessions:,} sessions\n")
    print("| detector | found | delay | false in 1,000 sessions | by type |")
    print("|---|---|---|---|---|")
    for rule in [None, *rules] if rules else ():
        with without(rule):
            print(row(rule or "all rules", series, of_ours("gate", values)), flush=True)
    if rules:
        return
    for name in OURS:
        print(row(name, series, of_ours(name, values)), flush=True)
    for name in peers:
        try:
            told = elsewhere(name, values)
        except RuntimeError as error:
            print(f"| {name} | not installed: {str(error).splitlines()[-1]} | | | |")
            continue
        print(row(name, series, told), flush=True)


if __name__ == "__main__":
    main()
