"""Measures how often what one run shows comes again in another, and fits the confidence on it.

`.venv/bin/python bench/detection/recurrence.py STORE STORE...` searches the newest session of each
store, such as that of `make run STORE=first`, and prints for each range of confidence how many
findings come again in the same curve of the other sessions, and how many of the lines that `detect`
shows. No label is needed: a boundary comes again if another session has one in the same direction
between sizes that overlap. Each pair of stores counts in both directions. If there is an hour or
more between some of the sessions, only pairs with such a gap count: what lasts minutes is no
property of the machine.

Without a STORE it reads recorded sessions (`sessions.parquet`) and the launches of the other
recordings in this folder, and prints the tables of the docs. What a finding is compared with, and
every curve of its place, are left out when the weights for its confidence are fitted.

`--write` fits the weights on all of these, but for the recordings that nobody looks at, and updates
`analysis/switchpoint/detection/recurrence.yaml`. `--keep FILE` writes the sweeps of STOREs to FILE.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from switchpoint import Measurements, Store, detect
from switchpoint.detection import recurrence
from switchpoint.detection.launches import detect_launches
from switchpoint.errors import InputError
from switchpoint.reporting.digest import Line, digest, worth_a_line
from switchpoint.tables.columns import identity_columns, none_for_nulls, rows_by, values_of
from switchpoint.tables.curves import summarise

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import logistic
from arguments import parser
from labelled import Curve, curves, launches, unseen

FOLDER = Path(__file__).parent
SESSIONS = FOLDER / "sessions.parquet"
WEIGHTS = Path(recurrence.__file__).with_name("recurrence.yaml")

#: Bounds of the ranges of confidence.
RANGES = [0.0, 0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0]

#: What a confidence is computed from.
FEATURES = [*recurrence.weights()]

#: More evidence never makes a finding less sure.
NEVER_NEGATIVE = ("real", "log_effect", "siblings", "launches")

#: Recordings of two launches of each curve, which the weights are fitted on, and others.
FITTED = ("unseen.parquet", "idle.parquet")
HELD = ("held.parquet", "later.parquet", "latest.parquet")

#: Sessions with this between them are of different periods.
APART = pd.Timedelta("1h")

#: What of a sweep is kept in a recording.
KEPT = ["mpi", "placement", "mode", "size_bytes", "pass", "sample", "iterations", "time_us"]

#: What distinguishes the curves of recorded sessions, but for the session.
PLACE = ["mpi", "placement"]


@dataclass
class Session:
    """The sweeps of one session, and what `detect` finds in them.

    Attributes
    ----------
    name : str
    period : int
        The same number for sessions with less than an hour between them.
    source : Measurements or DataFrame
    findings : DataFrame
    """

    name: str
    period: int
    source: Measurements | pd.DataFrame
    findings: pd.DataFrame

    @classmethod
    def of(cls, name: str, period: int, source: Measurements | pd.DataFrame) -> Session:
        """Search a session's curves."""
        return cls(name, period, source, detect(source))

    @property
    def names(self) -> list[str]:
        """What distinguishes its curves."""
        return [name for name in identity_columns(self.findings) if name != "run_id"]

    def rows(self) -> list[dict[Any, Any]]:
        """Return what its curves show, without what compares them."""
        own = self.findings["kind"].isin(recurrence.OF_A_CURVE)
        return none_for_nulls(self.findings[own]).to_dict("records")

    def lines(self) -> list[Line]:
        """Return the lines that `detect` shows of it."""
        own = self.findings[self.findings["kind"].isin(recurrence.OF_A_CURVE)]
        return worth_a_line(digest(own, summarise(self.source)))


def periods(starts: Sequence[pd.Timestamp]) -> list[int]:
    """Number the periods of sessions that started at these times."""
    order = pd.Series(starts).sort_values()
    return [*(order.diff() > APART).cumsum().sort_index()]


def recorded_sessions() -> dict[tuple[int, int], pd.DataFrame]:
    """Return the samples of each recorded session, by its number and its period."""
    table = pd.read_parquet(SESSIONS)
    run = table[["session", *PLACE]].astype(str).agg(" ".join, axis=1).astype("category")
    table = table.assign(time_us=table.pop("time_ns") / 1e3, kernel="pingpong", run_id=run)
    return {
        (int(number), int(period)): part.drop(columns=["session", "period"])
        for (number, period), part in table.groupby(["session", "period"], observed=True)
    }


def newest(stores: Sequence[str]) -> list[tuple[Measurements, int]]:
    """Return the newest session of each store and its period."""
    sessions = [Store(store).latest(1) for store in stores]
    starts = [pd.to_datetime(session.runs["start_utc"], utc=True).min() for session in sessions]
    return [*zip(sessions, periods(starts), strict=True)]


def keep(stores: Sequence[str], path: Path) -> None:
    """Write the sweeps of the newest session of each store to a file."""
    parts = []
    for number, (store, period) in enumerate(newest(stores)):
        sweep = store.samples[store.samples["kernel"] == "pingpong"][KEPT]
        parts.append(sweep.assign(session=np.int8(number), period=np.int8(period)))
    whole = pd.concat(parts, ignore_index=True)
    whole["time_ns"] = (whole.pop("time_us") * 1e3).round().astype("int32")
    small = dict.fromkeys(["size_bytes", "iterations"], "int32") | {
        "pass": "int8",
        "sample": "int8",
    }
    texts = dict.fromkeys(["mpi", "placement", "mode"], "category")
    whole.astype(small | texts).to_parquet(path, index=False, compression="zstd")


def recurring(one: Session, other: Session) -> Iterator[dict[str, Any]]:
    """Yield the features of each finding, and whether the other session has it, too."""
    there = rows_by(other.rows(), other.names)
    for row in one.rows():
        yield {
            "place": str(values_of(row, PLACE)),
            "before": row["evidence"]["real"],
            "confidence": row["confidence"],
            "again": recurrence.comes_again(row, there.get(values_of(row, other.names), [])),
            **recurrence.features(row),
        }


def of_sessions(recorded: dict[tuple[int, int], pd.DataFrame]) -> pd.DataFrame:
    """Return the findings of each session, and of each two of a period, with others' findings."""
    searched = {
        (number,): Session.of(str(number), period, part)
        for (number, period), part in recorded.items()
    }
    for one, other in itertools.combinations(recorded, 2):
        if one[1] == other[1]:
            both = pd.concat([recorded[one], recorded[other]], ignore_index=True)
            searched[one[0], other[0]] = Session.of(f"{one[0]}, {other[0]}", one[1], both)
    alone = [some for some in searched if len(some) == 1]
    rows = [
        {"sessions": frozenset([*some, *other]), "together": len(some), **row}
        for some, session in searched.items()
        for other in alone
        if searched[other] in compared(session, [searched[one] for one in alone])
        for row in recurring(session, searched[other])
    ]
    return pd.DataFrame(rows)


def compared(session: Session, others: Sequence[Session]) -> list[Session]:
    """Return the sessions of other periods or, if there is one period, all others."""
    elsewhere = [other for other in others if other.period != session.period]
    return elsewhere or [other for other in others if other is not session]


def of_recording(every: Iterable[Curve]) -> pd.DataFrame:
    """Return what each launch of a recording shows alone, and whether the other one has it."""
    rows = []
    for both in launches(every):
        found = [detect_launches(one.size, [(one.level, one.level_error)])[0] for one in both]
        for finding in itertools.chain(*found):
            alone = {"launches": 1, "of_launches": 1, "siblings": 0, "of_siblings": 0}
            finding["evidence"] |= {"real": finding["confidence"], **alone}
        rows += [
            {
                "place": both[0].transport,
                "again": recurrence.comes_again(finding, other),
                **recurrence.features(finding),
            }
            for some, other in itertools.permutations(found, 2)
            for finding in some
        ]
    return pd.DataFrame(rows)


def fitted(sessions: pd.DataFrame, recordings: Sequence[pd.DataFrame]) -> dict[str, float]:
    """Fit the weights. Sessions count twice as much as all recordings, and each of these the same.

    Sessions have siblings and several launches, and minutes pass between them. Recordings have
    other limits, grids and noise.
    """
    alone = sessions["together"] == 1
    groups = [sessions[alone], sessions[~alone], *recordings]
    shares = [1.0, 1.0, *[1 / len(recordings)] * len(recordings)]
    counted = [(group, share) for group, share in zip(groups, shares, strict=True) if len(group)]
    whole = pd.concat([group for group, _ in counted], ignore_index=True)
    counts = np.concatenate([np.full(len(group), share / len(group)) for group, share in counted])
    again = whole["again"].to_numpy(dtype=float)
    return logistic.fit(whole[FEATURES], again, counts * len(whole) / counts.sum(), NEVER_NEGATIVE)


def held_out(tables: dict[str, pd.DataFrame], name: str) -> pd.Series[float]:
    """Return the confidence of each finding of a table by weights that do not know it.

    They are fitted without its recording; or without the curves of its place in all sessions and,
    if one session was searched alone, without this one and the one that it is compared with.
    """
    table, sessions = tables[name], tables["sessions"]
    recordings = [part for key, part in tables.items() if key not in ("sessions", name, *HELD)]
    if name != "sessions":
        return chances(table, fitted(sessions, recordings))
    parts = []
    for place, of_place in table.groupby("place"):
        elsewhere = sessions[sessions["place"] != place]
        several = of_place["together"] > 1
        parts.append(chances(of_place[several], fitted(elsewhere, recordings)))
        for own, part in of_place[~several].groupby("sessions"):
            apart = [own.isdisjoint(others) for others in elsewhere["sessions"]]
            parts.append(chances(part, fitted(elsewhere[apart], recordings)))
    return pd.concat(parts)


def chances(table: pd.DataFrame, weights: dict[str, float]) -> pd.Series[float]:
    """Return the confidence of each finding of a table by these weights."""
    rows = table[FEATURES].to_dict("records")
    return pd.Series([recurrence.chance(row, weights) for row in rows], index=table.index)


def reliability(
    confidence: Iterable[float] | pd.Series[float], again: Iterable[bool] | pd.Series[bool]
) -> str:
    """Markdown table: of the findings in each range of confidence, how many came again."""
    table = pd.DataFrame({"confidence": confidence, "again": again}).astype(float)
    ranges = pd.cut(table["confidence"], RANGES, right=False, include_lowest=True)
    rows = ["| confidence | findings | mean confidence | come again |", "|---|---|---|---|"]
    for within, part in [*table.groupby(ranges, observed=True), (None, table)]:
        bounds = "all" if within is None else f"{within.left:.0%} to {within.right:.0%}"
        rows.append(
            f"| {bounds} | {len(part):,} | {part['confidence'].mean():.0%}"
            f" | {part['again'].mean():.0%} |"
        )
    return "\n".join(rows)


def lines_again(sessions: Sequence[Session]) -> str:
    """Markdown table: of the lines that `detect` shows of a session, how many come again.

    In each other session: whether any finding is like it, and whether `detect` shows one.
    """
    lines = {session.name: session.lines() for session in sessions}
    rows = [
        "| session | lines | mean confidence | found again | shown again | first shown again |",
        "|---|---|---|---|---|---|",
    ]
    for session in sessions:
        shown, others = lines[session.name], compared(session, sessions)
        found = [is_there(line, other) for line in shown for other in others]
        again = [
            any(same_line(line, one) for one in lines[other.name])
            for line in shown
            for other in others
        ]
        sure = [line.confidence for line in shown]
        rows.append(
            f"| {session.name} | {len(shown)} | {share(sure)} | {share(found)}"
            f" | {share(again)} | {share(again[: len(others)])} |"
        )
    return "\n".join(rows)


def is_there(line: Line, session: Session) -> bool:
    """Return whether a session has a finding like a line."""
    return any(same_line(line, one) for one in digest(session.findings, summarise(session.source)))


def same_line(one: Line, other: Line) -> bool:
    """Return whether two lines say the same of a place."""
    alike = (one.place, one.kind, one.magnitudes[0] > 0) == (
        other.place,
        other.kind,
        other.magnitudes[0] > 0,
    )
    low = max(one.last_size_before, other.last_size_before)
    return alike and low < min(one.size_bytes, other.size_bytes)


def share(values: Sequence[float]) -> str:
    """Write the mean of shares."""
    return f"{np.mean(values):.0%}" if len(values) else "-"


def write(weights: dict[str, float]) -> None:
    """Write the fitted weights where the analysis reads them."""
    comment = WEIGHTS.read_text(encoding="utf-8").split("constant:")[0]
    lines = [f"{name}: {weight:.4f}\n" for name, weight in weights.items()]
    WEIGHTS.write_text(comment + "".join(lines), encoding="utf-8")
    recurrence.weights.cache_clear()


def show_stores(stores: Sequence[str]) -> None:
    """Print the tables of the newest sessions of stores."""
    sessions = [
        Session.of(store, period, session)
        for store, (session, period) in zip(stores, newest(stores), strict=True)
    ]
    pairs = [(one, other) for one in sessions for other in compared(one, sessions)]
    table = pd.DataFrame([row for one, other in pairs for row in recurring(one, other)])
    print(f"{len(sessions)} sessions\n\n{reliability(table['confidence'], table['again'])}\n")
    print(lines_again(sessions))


def show_recorded(*, update: bool) -> None:
    """Print the tables of what is recorded in this folder."""
    recorded = recorded_sessions()
    tables = {"sessions": of_sessions(recorded)}
    tables |= {
        "curves.parquet": of_recording(curves()),
        "curves.parquet, one pass": of_recording(curves(passes=1)),
    }
    tables |= {name: of_recording(unseen(FOLDER / name)) for name in (*FITTED, *HELD)}
    if update:
        recordings = [part for name, part in tables.items() if name not in ("sessions", *HELD)]
        write(fitted(tables["sessions"], recordings))
    for name, table in tables.items():
        known = held_out(tables, name)
        parts = table.groupby("together") if "together" in table else [(1, table)]
        for together, part in parts:
            of = f", {together} searched together" if together > 1 else ""
            print(f"{name}{of}\n\n{reliability(known[part.index], part['again'])}\n")
    alone = tables["sessions"][tables["sessions"]["together"] == 1]
    print("sessions, by the probability of being real\n")
    print(f"{reliability(alone['before'], alone['again'])}\n")
    sessions = [
        Session.of(f"{number + 1}", period, part) for (number, period), part in recorded.items()
    ]
    print(lines_again(sessions))


def main() -> int:
    """Print the tables, after an update if requested."""
    options = parser(__doc__)
    options.add_argument("--write", action="store_true")
    options.add_argument("--keep", type=Path, metavar="FILE")
    options.add_argument("stores", nargs="*", metavar="STORE")
    given = options.parse_args()
    if len(given.stores) == 1 or (given.keep and not given.stores):
        options.error("STORE: two or more are needed, one a session")
    try:
        if given.keep:
            keep(given.stores, given.keep)
        elif given.stores:
            show_stores(given.stores)
        else:
            show_recorded(update=given.write)
    except InputError as error:
        options.error(str(error))
    return 0


if __name__ == "__main__":
    sys.exit(main())
