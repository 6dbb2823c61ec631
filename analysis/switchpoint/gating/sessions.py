"""Which session is judged, and the baseline sessions that it is compared with."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pandas as pd

from switchpoint.data_warnings import DataWarning
from switchpoint.errors import InputError
from switchpoint.gating.accepted import confirmed as confirmed_changes
from switchpoint.gating.policy import Maintenance, maintenance_at
from switchpoint.store.batches import UNDATED, batch_of
from switchpoint.store.ledger import now_utc
from switchpoint.store.store import Store
from switchpoint.store.stored_runs import StoredRuns
from switchpoint.store.tables import STORED_AS
from switchpoint.store.wanted import Query
from switchpoint.tables.columns import lasting_labels
from switchpoint.tables.sweeps import ZOOM
from switchpoint.tables.units import counted

#: Columns that say what a run measured. Sessions that have none of them in common are not compared.
_MEASURED = ["format", "site", "partition", "environ", "kernel", "placement"]

#: Messages name no more sessions.
_MOST_NAMED = 3


class NoSession(InputError):  # noqa: N818  an error of its own only for who can do without
    """There is no such session, or no dated run of such a site."""


@dataclass(frozen=True)
class Sessions:
    """The current session and its baseline sessions.

    Attributes
    ----------
    runs : DataFrame
        Runs of all sessions as from `Store.runs`, with `session`: 0 is the oldest, the current
        session is the last.
    names : list of str
        Names of the sessions, oldest first.
    starts_utc : list of str
        Start of the first run of each.
    clock_back : list of str
        Sessions that were stored before the judged one, but start after it.
    warnings : list of DataWarning
        What the store could not read, and what does not count because its start is in the future.
    confirmed : dict
        As from `accepted.confirmed`.
    until_utc : str or None
        When the next session began, if the judged one is not the last.
    sites : frozenset of str
        All sites of the runs that were read.
    elsewhere : DataFrame
        If the session is the first of its site: runs of the newest session of each other site that
        measured one of its kernels before.
    left_out : DataFrame
        Runs of the earlier sessions that began during maintenance, at the same site.
    other_checks : frozenset of str
        Checks that other sessions ran and the judged one did not: another command, not a lack.
    """

    runs: pd.DataFrame
    names: list[str]
    starts_utc: list[str]
    clock_back: list[str]
    warnings: list[DataWarning]
    confirmed: Mapping[str, Sequence[str]] = field(default_factory=dict)
    until_utc: str | None = None
    sites: frozenset[str] = frozenset()
    elsewhere: pd.DataFrame = field(default_factory=pd.DataFrame)
    left_out: pd.DataFrame = field(default_factory=pd.DataFrame)
    other_checks: frozenset[str] = frozenset()

    @property
    def current(self) -> int:
        """The number of the current session."""
        return len(self.names) - 1

    @property
    def session(self) -> str:
        """The name of the current session."""
        return self.names[-1]

    def runs_of(self, session: int) -> pd.DataFrame:
        """Return the runs of one session."""
        return self.runs[self.runs["session_number"] == session]

    def sound(self, curves: Iterable[str] | None = None) -> list[int]:
        """Return the baseline sessions without a confirmed change; all, if each has one.

        Parameters
        ----------
        curves
            Only changes of these curves count, named by `identity_text`. The default is all.
        """
        names = self.confirmed if curves is None else curves
        changed = {start for name in names for start in self.confirmed.get(name, ())}
        earlier = range(self.current)
        return [session for session in earlier if self.starts_utc[session] not in changed] or [
            *earlier
        ]


def select_sessions(
    store: Store,
    session: str | None,
    site: str | None,
    history: int,
    maintenance: Sequence[Maintenance] = (),
) -> Sessions:
    """Choose the session to judge, and the newest sessions before it that measured the same.

    If there are none, these are the sessions that measured the site's kernels under other names.

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
        Number of baseline sessions.
    maintenance
        Earlier sessions that began in one of these windows are left out.

    Raises
    ------
    InputError
        If there is no such session.
    """
    for read in _reading_back(store, session, site):
        earlier = usual(read.earlier, read.starts, maintenance)
        if len(earlier) > history:  # the oldest one may have begun before what was read
            break
    starts, current = read.starts, read.current_runs
    if not read.earlier:
        earlier = usual(read.renamed, starts, maintenance)
    chosen = [*earlier[-history:], read.judged]
    number = {name: session for session, name in enumerate(chosen)}
    of_sites = read.runs[read.runs["site"].isin(current["site"])]
    runs = of_sites[of_sites["session"].isin(chosen)]
    before = starts[starts < starts[read.judged]].index
    left_out = before.difference(usual(before, starts, maintenance))
    everywhere = read.runs if site is None or len(chosen) > 1 else _sessions(store.stored()[0])
    stored_before = read.last_batch[starts.index] < current[STORED_AS].min()
    later = starts[starts > starts[read.judged]]
    later = later[later.index.isin(read.comparable["session"])]
    later, ahead = later[later <= now_utc()], later[later > now_utc()]
    back = later[stored_before[later.index]]
    return Sessions(
        runs.assign(session_number=runs["session"].map(number)).reset_index(drop=True),
        chosen,
        [str(starts[name]) for name in chosen],
        [str(name) for name in back.index],
        [*read.damaged, *of_the_future(ahead)],
        confirmed_changes(store),
        None if later.empty else str(later.min()),
        frozenset(read.runs["site"].dropna()),
        _elsewhere(read, everywhere),
        of_sites[of_sites["session"].isin(left_out)],
        read.checks - frozenset(current["check"].dropna()),
    )


def span_of(runs: pd.DataFrame) -> dict[str, Query]:
    """Return when some runs started, as a query of the store."""
    last = datetime.fromisoformat(runs["start_utc"].max().replace("Z", "+00:00"))
    return {"since": runs["start_utc"].min(), "until": last + timedelta(seconds=1)}


def no_session(store: Store, session: str, names: Sequence[str]) -> NoSession:
    """Return the error that names the newest of the sessions that exist."""
    newest = ", ".join(map(str, names[-_MOST_NAMED:]))
    problem = f"the store {store.url} has no session '{session}'; the newest are {newest}"
    return NoSession("--session", problem)


@dataclass(frozen=True)
class _Read:
    """Runs of some time.

    Attributes
    ----------
    runs : DataFrame
        As from `_sessions`.
    starts, last_batch : Series
        By session: the start of its first run, and the batch as which its newest run was stored.
    judged : str
        The session to judge.
    damaged : list of DataWarning
        What could not be read.
    checks : frozenset of str
        The checks that measured them, and those that searched a switch at that time.
    """

    runs: pd.DataFrame
    starts: pd.Series[str]
    last_batch: pd.Series[str]
    judged: str
    damaged: list[DataWarning]
    checks: frozenset[str]

    @property
    def current_runs(self) -> pd.DataFrame:
        """The runs of the current session."""
        return self.runs[self.runs["session"] == self.judged]

    @property
    def comparable(self) -> pd.DataFrame:
        """The runs that measured the same as one of them."""
        return self.runs[self.runs["measured"].isin(self.current_runs["measured"])]

    @property
    def earlier(self) -> list[str]:
        """The sessions before it that measured the same."""
        return self._before(self.comparable)

    @property
    def renamed(self) -> list[str]:
        """The sessions before it that measured one of its kernels at the same site.

        What another check measured is no session of this one under another name.
        """
        current = self.current_runs
        alike = self.runs["site"].isin(current["site"].dropna())
        alike &= self.runs["kernel"].isin(current["kernel"].dropna())
        if current["check"].notna().all():
            alike &= self.runs["check"].isna() | self.runs["check"].isin(current["check"])
        return self._before(self.runs[alike])

    def _before(self, runs: pd.DataFrame) -> list[str]:
        """Return the sessions of some runs that began before the judged one."""
        start = self.starts[self.judged]
        return [name for name in runs["session"].unique() if self.starts[name] < start]


def _elsewhere(read: _Read, runs: pd.DataFrame) -> pd.DataFrame:
    """Return those of some runs that are `Sessions.elsewhere`."""
    current = read.current_runs
    starts = runs["session"].map(runs.groupby("session")["start_utc"].min())
    before = runs[(starts < read.starts[read.judged]) & (runs["session"] != read.judged)]
    if current["site"].isna().any() or before["site"].isin(current["site"]).any():
        return before.iloc[:0]
    alike = before[before["kernel"].isin(current["kernel"]) & before["site"].notna()]
    newest = alike.sort_values("start_utc").groupby("site", observed=True)["session"].last()
    return alike[alike["session"].isin(newest)]


def _reading_back(store: Store, session: str | None, site: str | None) -> Iterator[_Read]:
    """Yield the newest runs, each time more of the past; the current session is in all of them."""
    for since, unread in _begins(store):
        stored, damaged = store.stored(since=since, site=site)
        runs = _sessions(stored)
        starts = runs.groupby("session")["start_utc"].min().sort_values()
        last_batch = runs.groupby("session")[STORED_AS].max()
        if runs.empty and not since:
            where = f"no dated run of the site '{site}'" if site else "no dated run"
            if damaged:
                raise InputError(store.url, str(damaged[0]))
            fix = "import some"
            if number := len(stored.runs):
                fix = (
                    f"{counted(number, 'run')} without a start: import them again with `--path` and"
                    " a pattern with {start_utc} and {session}, or with a label file that gives"
                    " both"
                )
            raise NoSession(store.url, f"contains {where}; {fix}")
        elsewhere = runs.empty or (
            last_batch.max() < unread if session is None else session not in starts.index
        )
        if since and elsewhere:
            continue
        judged = _judged(store, session, starts, last_batch)
        yield _Read(runs, starts, last_batch, judged, damaged, _checks(stored.runs))


def _begins(store: Store) -> Iterator[tuple[str | None, str]]:
    """Yield from when on to read runs, further and further back; at last, None for all.

    The newest sessions of a store that has years are in few of its months. With each comes the name
    of the newest batch of the months that are not read.
    """
    newest: dict[str, str] = {}
    for path in store.files_of_runs():
        month, name = batch_of(path).removeprefix("month=").split("/")
        newest[month] = max(newest.get(month, ""), name)
    months = sorted({*newest} - {UNDATED})
    back = 2
    while back < len(months):
        yield f"{months[-back]}-01", max(newest[month] for month in months[:-back])
        back *= 2
    yield None, ""


def _sessions(stored: StoredRuns) -> pd.DataFrame:
    """Return dated runs, each with its session, and with what it measured as one number."""
    runs = stored.runs[stored.runs["start_utc"].notna() & (stored.runs["kernel"] != ZOOM)]
    runs = runs.assign(session=runs["session"].fillna(runs["date"]))
    lasting = {labels: lasting_labels(labels) for labels in runs["labels"].unique()}
    measured = runs[_MEASURED].assign(labels=runs["labels"].map(lasting))
    return runs.assign(
        measured=measured.groupby([*measured], dropna=False).ngroup(),
        check=runs["labels"].map(_check),
    )


def _checks(runs: pd.DataFrame) -> frozenset[str]:
    """Return the checks that some runs are of, whatever their kernels."""
    return frozenset(check for labels in runs["labels"].unique() if (check := _check(labels)))


def _check(labels: object) -> str | None:
    """Return the check that a run with these labels is of."""
    check = json.loads(labels).get("check") if isinstance(labels, str) else None
    return None if check is None else str(check)


def _judged(
    store: Store, session: str | None, starts: pd.Series[str], last_batch: pd.Series[str]
) -> str:
    if session is None:
        newest = last_batch[last_batch == last_batch.max()].index
        return str(starts[newest].sort_values().index[-1])
    if session not in starts.index:
        raise no_session(store, session, [*starts.index])
    return session


def usual(
    sessions: Iterable[str], starts: pd.Series[str], maintenance: Sequence[Maintenance]
) -> list[str]:
    """Return the sessions outside of maintenance, oldest first."""
    usual = [name for name in sessions if maintenance_at(str(starts[name]), maintenance) is None]
    return sorted(usual, key=lambda name: str(starts[name]))


def of_the_future(starts: pd.Series[str]) -> list[DataWarning]:
    """Say which sessions do not count, because their start is yet to come."""
    if starts.empty:
        return []
    names = ", ".join(f"`{name}`" for name in starts.index[:_MOST_NAMED])
    more = f" and {len(starts) - _MOST_NAMED} more" if len(starts) > _MOST_NAMED else ""
    what = (
        f"sessions in the future do not count: {names}{more}, from {str(starts.min())[:10]} on; the"
        " clock that dated them was ahead"
    )
    return [DataWarning("future_session", what)]
