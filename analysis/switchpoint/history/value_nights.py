"""The nights of single values: the sessions of runs that they are near, and nights of their own.

A value has a time, and no session. It belongs to the nearest session of runs. Values that are near
none, such as those of a site without runs, are divided into nights by the pauses between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from switchpoint.history.nights import Nights, NoSession, no_session, select_nights
from switchpoint.history.policy import Maintenance, maintenance_at
from switchpoint.store.store import Store
from switchpoint.tables.sweeps import Floats, Indices

#: A value belongs to no session that is further away, and after such a pause a new night begins.
#: Half a day: so what people start by day belongs to the night that is nearer.
_PAUSE_H = 12.0

#: A night without a pause ends after a day, less what rounding costs: tests that run all day.
_LONGEST_H = 24.0 - 1e-6


@dataclass(frozen=True)
class Calendar:
    """The nights of runs, and those of single values.

    Attributes
    ----------
    nights : Nights
        The judged session and its history. Without runs, they are the nights of the values.
    values : DataFrame
        Single values (`VALUE_COLUMNS`) with `night`, oldest first.
    starts_utc : list of str
        The start of each night of the values, oldest first; the last is judged.
    """

    nights: Nights
    values: pd.DataFrame
    starts_utc: list[str]


def calendar(
    store: Store,
    single: pd.DataFrame,
    session: str | None,
    site: str | None,
    history: int,
    maintenance: Sequence[Maintenance] = (),
) -> Calendar:
    """Choose the session to judge, and the nights before it: by the runs, or by the values.

    Parameters
    ----------
    store
        Where the runs are.
    single
        As from `Store.single_values`.
    session, site, history, maintenance
        As for `select_nights`. A night of values without runs is named by its first day in UTC.

    Raises
    ------
    InputError
        If there is no such session.
    """
    values = _dated(single)
    nights = _nights_of_runs(store, values, session, site, history, maintenance)
    if nights is None:
        return _without_runs(store, values, session, history, maintenance)
    own = values["site"].isin(nights.runs["site"]) | values["site"].isna()
    alone = sorted({*values.loc[~own, "site"]} - nights.sites)
    others = [
        f"the single values of the site '{one}' are not judged with the runs of other sites; judge"
        f" them with --site {one}"
        for one in alone
    ]
    nights = replace(nights, warnings=[*nights.warnings, *others])
    values = values[own].reset_index(drop=True)
    newer = nights.until_utc is None and (_hours(values) > _end(nights, values)).any()
    if session is None and newer:
        told = (
            f"the newest runs, of the session {nights.session}, are older than the newest single"
            f" values: only these are judged; judge the runs with --session {nights.session}"
        )
        found = _without_runs(store, values, None, history, maintenance)
        warned = replace(found.nights, warnings=[*nights.warnings, told])
        return replace(found, nights=warned)
    return _with_runs(nights, values, history, maintenance)


def _nights_of_runs(
    store: Store,
    values: pd.DataFrame,
    session: str | None,
    site: str | None,
    history: int,
    maintenance: Sequence[Maintenance],
) -> Nights | None:
    """Return the nights of the runs; None if only single values are of that site or session."""
    if len(values) and not store.files.below("runs"):
        return None
    try:
        return select_nights(store, session, site, history, maintenance)
    except NoSession as error:
        others = error.source == "--session" and session not in _own_nights(values)[1]
        if values.empty or others:  # runs have other sessions
            raise
    return None


def _dated(single: pd.DataFrame) -> pd.DataFrame:
    """Return the values with a time, in its order."""
    times = _parsed(single["time_utc"])
    dated = single.assign(time=times)[times.notna()]
    return dated.sort_values("time", kind="stable", ignore_index=True)


def _parsed(texts: pd.Series[str]) -> pd.Series[pd.Timestamp]:
    times = pd.to_datetime(texts, format="ISO8601", utc=True, errors="coerce")
    return times.dt.tz_localize(None)


def _hours(values: pd.DataFrame) -> Floats:
    """Return the time of each value in hours since 1970."""
    return _in_hours(values["time"])


def _in_hours(times: pd.Series[pd.Timestamp]) -> Floats:
    return times.to_numpy("datetime64[us]").astype(np.int64) / 3.6e9


def _texts(values: pd.DataFrame, rows: Indices) -> list[str]:
    """Return the times of some values as the store writes them."""
    times = values["time"].to_numpy("datetime64[us]")[rows]
    return [f"{time}Z" for time in np.datetime_as_string(times, unit="us")]


def _begins(hours: Floats) -> Indices:
    """Return which of some ordered times begin a night."""
    pauses = np.append(np.flatnonzero(np.diff(hours) >= _PAUSE_H) + 1, len(hours))
    begins = []
    at = 0
    while at < len(hours):
        begins.append(at)
        longest = int(np.searchsorted(hours, hours[at] + _LONGEST_H))
        at = min(int(pauses[np.searchsorted(pauses, at, side="right")]), longest)
    return np.array(begins, dtype=np.intp)


def _own_nights(values: pd.DataFrame) -> tuple[Indices, list[str], list[str]]:
    """Return which values begin a night, and the names and starts of these nights."""
    begins = _begins(_hours(values))
    starts = _texts(values, begins)
    names = [
        start[:16] if start[:10] == before[:10] else start[:10]
        for before, start in zip(["", *starts], starts, strict=False)
    ]
    return begins, names, starts


def _usual(starts: Sequence[str], maintenance: Sequence[Maintenance]) -> npt.NDArray[np.bool_]:
    """Return which nights did not begin in a maintenance window."""
    return np.array([maintenance_at(start, maintenance) is None for start in starts], dtype=bool)


def _without_runs(
    store: Store,
    values: pd.DataFrame,
    session: str | None,
    history: int,
    maintenance: Sequence[Maintenance],
) -> Calendar:
    """Return the nights of the values by themselves."""
    begins, names, starts = _own_nights(values)
    if session is not None and session not in names:
        raise no_session(store, session, names)
    last = len(names) - 1 if session is None else names.index(session)
    earlier = np.flatnonzero(_usual(starts[:last], maintenance))
    chosen = [*earlier[max(len(earlier) - history, 0) :].tolist(), last]
    number = np.full(len(starts), -1)
    number[chosen] = np.arange(len(chosen))
    night = number[np.searchsorted(begins, np.arange(len(values)), side="right") - 1]
    nights = Nights(
        pd.DataFrame(columns=["run_id", "night", "session", "complete"]),
        [names[one] for one in chosen],
        [starts[one] for one in chosen],
        [],
        [],
        until_utc=starts[last + 1] if last + 1 < len(starts) else None,
    )
    return Calendar(nights, _numbered(values, night >= 0, night), nights.starts_utc)


def _with_runs(
    nights: Nights, values: pd.DataFrame, history: int, maintenance: Sequence[Maintenance]
) -> Calendar:
    """Return the nights of the runs, and between them those of values that are near no run."""
    hours, tonight = _hours(values), nights.tonight
    first, last = _spans(nights)
    last[tonight] = _end(nights, values)
    after = [] if nights.until_utc is None else [nights.until_utc]
    later = _in_hours(_parsed(pd.Series(after, dtype="str")))
    night = _nearest(hours, np.append(first, later), np.append(last, later))
    apart = np.flatnonzero((night < 0) & (hours < first[tonight]))
    begins = _begins(hours[apart])
    usual = _usual(_texts(values, apart[begins]), maintenance)
    own = np.searchsorted(begins, np.arange(len(apart)), side="right") - 1
    number = np.where(usual, tonight + np.cumsum(usual), -1)
    night[apart] = number[own] if len(apart) else -1
    begins = begins[usual]
    night[(night > tonight) & (hours >= first[tonight])] = -1  # of a later session
    # Both kinds of nights are numbered in the order of time; tonight is the last.
    order = np.argsort(np.append(first, hours[apart[begins]]), kind="stable")
    number = np.argsort(order) - max(len(order) - 1 - history, 0)
    texts = [*nights.starts_utc, *_texts(values, apart[begins])]
    starts = [texts[one] for one in order][-1 - history :]
    number = np.append(number, -1)[night]
    return Calendar(nights, _numbered(values, number >= 0, number), starts)


def _numbered(values: pd.DataFrame, taken: npt.NDArray[np.bool_], night: Indices) -> pd.DataFrame:
    """Return the taken values with the numbers of their nights."""
    return values[taken].assign(night=night[taken]).drop(columns="time").reset_index(drop=True)


def _spans(nights: Nights) -> tuple[Floats, Floats]:
    """Return the first and last start of each session's runs, in hours."""
    newest = nights.runs.groupby("night")["start_utc"].max()
    first = _in_hours(_parsed(pd.Series(nights.starts_utc)))
    last = _in_hours(_parsed(newest))
    of_a_day = (newest.str.len() == len("2026-11-20")).to_numpy()  # at any time of that day
    return first, last + _LONGEST_H * of_a_day


def _end(nights: Nights, values: pd.DataFrame) -> float:
    """Return when the judged session ended: values may go on for a day, without a pause."""
    last = float(_spans(nights)[1][-1])
    if nights.until_utc is not None:
        return last
    hours = _hours(values)
    chain = np.append(last, hours[(hours > last) & (hours < last + _LONGEST_H)])
    pauses = np.flatnonzero(np.diff(chain) > _PAUSE_H)
    return float(chain[pauses[0]] if len(pauses) else chain[-1])


def _nearest(hours: Floats, first: Floats, last: Floats) -> Indices:
    """Return the nearest session of each time; -1 if none is near."""
    before = np.searchsorted(first, hours, side="right") - 1
    since = np.maximum(hours - np.append(last, -np.inf)[before], 0.0)
    until = np.append(first, np.inf)[before + 1] - hours
    nearest = np.where(since <= until, before, before + 1)
    return np.where(np.minimum(since, until) <= _PAUSE_H, nearest, -1)
