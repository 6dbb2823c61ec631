"""The sessions of single values: those of runs that they are near, and sessions of their own.

A value has a time, and no session. It belongs to the nearest session of runs. Values that are near
none, such as those of a site without runs, are divided into sessions by the pauses between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from switchpoint.data_warnings import DataWarning
from switchpoint.errors import InputError
from switchpoint.gating.policy import Maintenance, maintenance_at
from switchpoint.gating.sessions import (
    NoSession,
    Sessions,
    no_session,
    of_the_future,
    select_sessions,
)
from switchpoint.store.ledger import now_utc
from switchpoint.store.store import Store
from switchpoint.tables.sweeps import Floats, Indices

#: A value belongs to no session that is further away, and after such a pause a new session begins.
#: Half a day: so what people start by day belongs to the session that is nearer.
PAUSE_H = 12.0

#: A session without a pause ends after a day, less what rounding costs: tests that run all day.
LONGEST_H = 24.0 - 1e-6


@dataclass(frozen=True)
class Calendar:
    """The sessions of runs, and those of single values.

    Attributes
    ----------
    sessions : Sessions
        The current session and its baseline sessions. Without runs, they are the sessions of the
        values.
    values : DataFrame
        Single values (`VALUE_COLUMNS`), oldest first, with `session` and `excused`: whether the
        value is of a day of maintenance, and its session is not.
    starts_utc : list of str
        The start of each session of the values, oldest first; the last is judged.
    """

    sessions: Sessions
    values: pd.DataFrame
    starts_utc: list[str]

    @property
    def sites(self) -> list[str]:
        """The names of the sites of what is judged."""
        runs = self.sessions.runs_of(self.sessions.current)
        current = self.values["session_number"] == len(self.starts_utc) - 1
        sites = (runs if len(runs) else self.values[current])["site"].dropna()
        return sorted(map(str, sites.unique()))

    @property
    def site(self) -> str | None:
        """The site of what is judged; None if it has none, or several."""
        return self.sites[0] if len(self.sites) == 1 else None


def calendar(
    store: Store,
    single: pd.DataFrame,
    session: str | None,
    site: str | None,
    history: int,
    maintenance: Sequence[Maintenance] = (),
) -> Calendar:
    """Choose the session to judge, and the sessions before it: by the runs, or by the values.

    Parameters
    ----------
    store
        Where the runs are.
    single
        As from `Store.single_values`.
    session, site, history, maintenance
        As for `select_sessions`. A session of values without runs is named by its first day in UTC.

    Raises
    ------
    InputError
        If there is no such session.
    """
    values = dated(single)
    sessions = _sessions_of_runs(store, values, session, site, history, maintenance)
    if sessions is None:
        return _without_runs(store, values, session, history, maintenance)
    of_site = values["site"].isin(sessions.runs["site"]) | values["site"].isna()
    of_site &= ~values["test"].astype(str).str.split(" ").str[0].isin(sessions.other_checks)
    alone = _not_judged({*values.loc[~of_site, "site"]} - sessions.sites)
    values = values[of_site].reset_index(drop=True)
    after = hours_of(values) > _end(sessions, values)
    ahead = after & (hours_of(values) > now_h())
    if session is None and sessions.until_utc is None and (after & ~ahead).any():
        what = (
            f"the newest runs, of the session {sessions.session}, are older than the newest single"
            f" values: only these are judged; judge the runs with --session {sessions.session}"
        )
        chosen = _without_runs(store, values, None, history, maintenance)
        more = [DataWarning("not_judged", what), *chosen.sessions.warnings]
    else:
        chosen = _with_runs(sessions, values, history, maintenance)
        _, names, starts = own_sessions(values[ahead])
        more = of_the_future(pd.Series(starts, names, dtype="str"))
    warned = replace(chosen.sessions, warnings=[*sessions.warnings, *alone, *more])
    return replace(chosen, sessions=warned)


def site_of(store: Store, session: str | None) -> str | None:
    """Return the site of the session to judge; None if it has none, or several.

    Raises
    ------
    InputError
        If there is no such session.
    """
    return calendar(store, store.single_values(), session, None, 1).site


def _sessions_of_runs(
    store: Store,
    values: pd.DataFrame,
    session: str | None,
    site: str | None,
    history: int,
    maintenance: Sequence[Maintenance],
) -> Sessions | None:
    """Return the sessions of the runs; None if only single values are of that site or session."""
    if len(values) and not store.files.below("runs"):
        return None
    try:
        return select_sessions(store, session, site, history, maintenance)
    except NoSession as error:
        names = [name for of_site in _by_site(values).values() for name in own_sessions(of_site)[1]]
        others = error.source == "--session" and session not in names
        if values.empty or others:  # runs have other sessions
            raise
    return None


def _not_judged(sites: Iterable[str]) -> list[DataWarning]:
    """Name the sites whose values are left out."""
    return [
        DataWarning(
            "not_judged",
            f"the single values of the site '{site}' are not judged with those of other sites;"
            f" judge them with --site {site}",
        )
        for site in sorted(sites)
    ]


def _usual(starts: Sequence[str], maintenance: Sequence[Maintenance]) -> npt.NDArray[np.bool_]:
    """Return which sessions or days did not begin in a maintenance window."""
    return np.array([maintenance_at(start, maintenance) is None for start in starts], dtype=bool)


def _by_site(values: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the values of each site, with those that have none."""
    whose = values["site"]
    sites = sorted(map(str, whose.dropna().unique()))
    by_site = {site: values[whose.isna() | (whose == site)] for site in sites}
    return by_site or {"": values}


def _site_to_judge(store: Store, values: pd.DataFrame, session: str | None) -> str:
    """Return the site that has a session of this name, by default that of the newest value."""
    if session is None:
        begun = values[hours_of(values) <= now_h()]
        sites = (begun if len(begun) else values)["site"].dropna()
        return str(sites.iloc[-1]) if len(sites) else next(iter(_by_site(values)))
    names = {site: own_sessions(of_site)[1] for site, of_site in _by_site(values).items()}
    named = [site for site, of_site in names.items() if session in of_site]
    if not named:
        raise no_session(store, session, sorted({name for some in names.values() for name in some}))
    if len(named) > 1:
        problem = f"the sites {', '.join(named)} have a session '{session}'; name one with --site"
        raise InputError("--session", problem)
    return named[0]


def _without_runs(
    store: Store,
    values: pd.DataFrame,
    session: str | None,
    history: int,
    maintenance: Sequence[Maintenance],
) -> Calendar:
    """Return the sessions of the values by themselves: of one site, since each has its own."""
    site, by_site = _site_to_judge(store, values, session), _by_site(values)
    others = _not_judged({*by_site} - {site}) if session is None else []
    values, now = by_site[site], now_utc()
    begins, names, starts = own_sessions(values)
    begun = sum(start <= now for start in starts) or len(starts)
    last = begun - 1 if session is None else names.index(session)
    earlier = np.flatnonzero(_usual(starts[:last], maintenance))
    chosen = [*earlier[max(len(earlier) - history, 0) :].tolist(), last]
    number = np.full(len(starts), -1)
    number[chosen] = np.arange(len(chosen))
    session_number = number[np.searchsorted(begins, np.arange(len(values)), side="right") - 1]
    later = pd.Series(starts[last + 1 :], names[last + 1 :], dtype="str")
    sessions = Sessions(
        pd.DataFrame(columns=["run_id", "session_number", "session", "complete"]),
        [names[number] for number in chosen],
        [starts[number] for number in chosen],
        [],
        [*others, *of_the_future(later[later > now])],
        until_utc=next(iter(later[later <= now]), None),
    )
    numbered = _numbered(values, session_number, sessions.starts_utc, maintenance)
    return Calendar(sessions, numbered, sessions.starts_utc)


def _with_runs(
    sessions: Sessions, values: pd.DataFrame, history: int, maintenance: Sequence[Maintenance]
) -> Calendar:
    """Return the sessions of the runs, and between them those of values that are near no run."""
    hours, current = hours_of(values), sessions.current
    first, last, whose = _sessions(sessions, values)
    nearest = _nearest(hours, first, last)
    session_number = np.append(whose, -1)[nearest]
    first = first[whose >= 0]
    apart = np.flatnonzero((nearest < 0) & (hours < first[current]))
    begins = begins_of(hours[apart])
    usual = _usual(texts_of_times(values, apart[begins]), maintenance)
    group = np.searchsorted(begins, np.arange(len(apart)), side="right") - 1
    number = np.where(usual, current + np.cumsum(usual), -1)
    session_number[apart] = number[group] if len(apart) else -1
    begins = begins[usual]
    # Both kinds of sessions are numbered in the order of time; the current session is the last.
    order = np.argsort(np.append(first, hours[apart[begins]]), kind="stable")
    number = np.argsort(order) - max(len(order) - 1 - history, 0)
    texts = [*sessions.starts_utc, *texts_of_times(values, apart[begins])]
    starts = [texts[place] for place in order][-1 - history :]
    session_number = np.append(number, -1)[session_number]
    return Calendar(sessions, _numbered(values, session_number, starts, maintenance), starts)


def _numbered(
    values: pd.DataFrame,
    session_number: Indices,
    starts_utc: list[str],
    maintenance: Sequence[Maintenance],
) -> pd.DataFrame:
    """Return the values that have a session, as `Calendar.values`."""
    values, session_number = values[session_number >= 0], session_number[session_number >= 0]
    days, which = days_of(hours_of(values))
    excused = ~_usual(days, maintenance)[which] & _usual(starts_utc, maintenance)[session_number]
    numbered = values.assign(session_number=session_number, excused=excused)
    return numbered.drop(columns="time").reset_index(drop=True)


def _sessions(sessions: Sessions, values: pd.DataFrame) -> tuple[Floats, Floats, Indices]:
    """Return begin and end of all sessions of runs in their order, and the number of each session.

    The number of a session that does not count, because of maintenance or as a later one, is -1.
    """
    current, later = sessions.current, [sessions.until_utc] if sessions.until_utc else []
    newest = [*sessions.runs.groupby("session_number")["start_utc"].max()]
    first = [*sessions.starts_utc]
    if len(sessions.left_out):
        left_out = sessions.left_out.groupby("session")["start_utc"]
        first, newest = [*first, *left_out.min()], [*newest, *left_out.max()]
    begins = in_hours([*first, *later])
    ends = _ends([*newest, *later])
    ends[current] = _end(sessions, values)
    number = np.where(np.arange(len(begins)) <= current, np.arange(len(begins)), -1)
    order = np.argsort(begins, kind="stable")
    return begins[order], ends[order], number[order]


def _ends(newest: list[str]) -> Floats:
    """Return when sessions ended, in hours, from the newest start of the runs of each."""
    of_a_day = np.array(
        [len(start) == len("2026-11-20") for start in newest]
    )  # any time of that day
    return in_hours(newest) + LONGEST_H * of_a_day


def _end(sessions: Sessions, values: pd.DataFrame) -> float:
    """Return when the current session ended: values may go on for a day, without a pause."""
    last = float(_ends([sessions.runs_of(sessions.current)["start_utc"].max()])[0])
    if sessions.until_utc is not None:
        return last
    hours = hours_of(values)
    chain = np.append(last, hours[(hours > last) & (hours < last + LONGEST_H)])
    pauses = np.flatnonzero(np.diff(chain) > PAUSE_H)
    return float(chain[pauses[0]] if len(pauses) else chain[-1])


def _nearest(hours: Floats, first: Floats, last: Floats) -> Indices:
    """Return the nearest session of each time; -1 if none is near."""
    before = np.searchsorted(first, hours, side="right") - 1
    since = np.maximum(hours - np.append(last, -np.inf)[before], 0.0)
    until = np.append(first, np.inf)[before + 1] - hours
    nearest = np.where(since <= until, before, before + 1)
    return np.where(np.minimum(since, until) <= PAUSE_H, nearest, -1)


def dated(single: pd.DataFrame) -> pd.DataFrame:
    """Return the values with a time, in its order, with the column `time`."""
    times = _parsed(single["time_utc"])
    known = single.assign(time=times)[times.notna()]
    return known.sort_values("time", kind="stable", ignore_index=True)


def hours_of(values: pd.DataFrame) -> Floats:
    """Return the time of each value in hours since 1970."""
    return _in_hours(values["time"])


def in_hours(texts: list[str]) -> Floats:
    """Return times (ISO 8601, UTC) in hours since 1970."""
    return _in_hours(_parsed(pd.Series(texts, dtype="str")))


def now_h() -> float:
    """Return the time of now in hours since 1970."""
    return float(in_hours([now_utc()])[0])


def days_of(hours: Floats) -> tuple[list[str], Indices]:
    """Return the different days (UTC) of some times, and which of these each is."""
    days, which = np.unique(hours // 24, return_inverse=True)
    texts = np.datetime_as_string(days.astype(np.int64).astype("datetime64[D]"))
    return texts.tolist(), which


def begins_of(hours: Floats) -> Indices:
    """Return which of some ordered times begin a session."""
    pauses = np.append(np.flatnonzero(np.diff(hours) >= PAUSE_H) + 1, len(hours))
    begins = []
    at = 0
    while at < len(hours):
        begins.append(at)
        longest = int(np.searchsorted(hours, hours[at] + LONGEST_H))
        at = min(int(pauses[np.searchsorted(pauses, at, side="right")]), longest)
    return np.array(begins, dtype=np.intp)


def own_sessions(values: pd.DataFrame) -> tuple[Indices, list[str], list[str]]:
    """Return which values begin a session, and the names and starts of these sessions."""
    begins = begins_of(hours_of(values))
    starts = texts_of_times(values, begins)
    names = [
        start[:16] if start[:10] == before[:10] else start[:10]
        for before, start in zip(["", *starts], starts, strict=False)
    ]
    return begins, names, starts


def texts_of_times(values: pd.DataFrame, rows: Indices) -> list[str]:
    """Return the times of some values as the store writes them."""
    times = values["time"].to_numpy("datetime64[us]")[rows]
    return [f"{time}Z" for time in np.datetime_as_string(times, unit="us")]


def _parsed(texts: pd.Series[str]) -> pd.Series[pd.Timestamp]:
    times = pd.to_datetime(texts, format="ISO8601", utc=True, errors="coerce")
    return times.dt.tz_localize(None)


def _in_hours(times: pd.Series[pd.Timestamp]) -> Floats:
    return times.to_numpy("datetime64[us]").astype(np.int64) / 3.6e9
