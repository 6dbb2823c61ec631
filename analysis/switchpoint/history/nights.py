"""Which session is judged, and the earlier sessions, called nights, that it is compared with."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from switchpoint.errors import InputError
from switchpoint.store.store import Store
from switchpoint.store.stored_runs import StoredRuns
from switchpoint.tables.columns import lasting_labels
from switchpoint.tables.sweeps import ZOOM

#: Columns that say what a run measured. Nights that have none of them in common are not compared.
_MEASURED = ["format", "site", "partition", "environ", "kernel", "placement"]

#: A session is named in messages with so many others.
_NAMED = 3


@dataclass(frozen=True)
class Nights:
    """The judged session and its history.

    Attributes
    ----------
    runs : DataFrame
        Runs of all nights as from `Store.runs`, with `night`: 0 is the oldest, the judged session
        is the last.
    sessions : list of str
        Names of the nights, oldest first.
    starts_utc : list of str
        Start of the first run of each.
    clock_back : list of str
        Sessions that were stored before the judged one, but start after it.
    warnings : list of str
        What the store could not read, one sentence each.
    """

    runs: pd.DataFrame
    sessions: list[str]
    starts_utc: list[str]
    clock_back: list[str]
    warnings: list[str]

    @property
    def tonight(self) -> int:
        """The number of the judged session."""
        return len(self.sessions) - 1

    @property
    def session(self) -> str:
        """The name of the judged session."""
        return self.sessions[-1]

    def runs_of(self, night: int) -> pd.DataFrame:
        """Return the runs of one night."""
        return self.runs[self.runs["night"] == night]


def select_nights(store: Store, session: str | None, site: str | None, history: int) -> Nights:
    """Choose the session to judge, and the newest nights before it that measured the same.

    Parameters
    ----------
    store
        Where the runs are.
    session
        The label `session` of the runs to judge. The default is the session that was stored last.
        Runs without this label are one session for each day.
    site
        Use only runs of this site.
    history
        Number of earlier nights.

    Raises
    ------
    InputError
        If there is no such session.
    """
    stored, damaged = store.stored(**({} if site is None else {"site": site}))
    runs = _sessions(stored)
    if runs.empty:
        where = f"no dated run of the site '{site}'" if site else "no dated run"
        raise InputError(store.url, damaged[0] if damaged else f"contains {where}; import some")
    starts = runs.groupby("session")["start_utc"].min().sort_values()
    last_batch = runs.groupby("session")["batch"].max()
    judged = _judged(store, session, starts, last_batch)
    own = runs[runs["session"] == judged]
    alike = runs[runs["measured"].isin(own["measured"])]
    start = starts[judged]
    earlier = [name for name in alike["session"].unique() if starts[name] < start]
    chosen = [*sorted(earlier, key=lambda name: str(starts[name]))[-history:], judged]
    number = {name: night for night, name in enumerate(chosen)}
    runs = runs[runs["session"].isin(chosen) & runs["site"].isin(own["site"])]
    later = starts[(starts > start) & (last_batch[starts.index] < own["batch"].min())]
    return Nights(
        runs.assign(night=runs["session"].map(number)).reset_index(drop=True),
        chosen,
        [str(starts[name]) for name in chosen],
        [str(name) for name in later.index if name in set(alike["session"])],
        damaged,
    )


def nights_of_values(
    store: Store, values: pd.DataFrame, session: str | None, history: int
) -> Nights:
    """Return the nights of a store that has single values only: their days in UTC.

    Raises
    ------
    InputError
        If there is no value of the day `session`.
    """
    days = values["time_utc"].dropna().astype(str).str[:10]
    every = sorted(days.unique())
    if session is not None and session not in every:
        raise InputError(
            "--session",
            f"the store {store.url} has no session '{session}'; the newest are"
            f" {', '.join(every[-_NAMED:])}",
        )
    last = len(every) if session is None else every.index(session) + 1
    chosen = every[max(last - 1 - history, 0) : last]
    runs = pd.DataFrame(columns=["run_id", "night", "session", "complete"])
    return Nights(runs, chosen, chosen, [], [])


def _sessions(stored: StoredRuns) -> pd.DataFrame:
    """Return dated runs, each with its session, and with what it measured as one number."""
    runs = stored.runs[stored.runs["start_utc"].notna() & (stored.runs["kernel"] != ZOOM)]
    runs = runs.assign(
        session=runs["session"].fillna(runs["date"]),
        # The name of a batch begins with the time when it was written.
        batch=runs["batch"].fillna("").str.split("/").str[-1],
    )
    measured = runs[_MEASURED].assign(labels=runs["labels"].map(lasting_labels))
    return runs.assign(measured=measured.groupby([*measured], dropna=False).ngroup())


def _judged(
    store: Store, session: str | None, starts: pd.Series[str], last_batch: pd.Series[str]
) -> str:
    if session is None:
        newest = last_batch[last_batch == last_batch.max()].index
        return str(starts[newest].sort_values().index[-1])
    if session not in starts.index:
        names = ", ".join(map(str, starts.index[-_NAMED:]))
        raise InputError(
            "--session", f"the store {store.url} has no session '{session}'; the newest are {names}"
        )
    return session
