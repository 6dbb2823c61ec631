"""What the gate suspects, with all that is needed to measure it again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from switchpoint.gating.accepted import identity_text
from switchpoint.gating.baseline import DISTURBED, USUAL_SCATTER
from switchpoint.gating.kinds import CHANGES, SUSPECTED, GateFinding
from switchpoint.gating.points import POINT_COLUMNS
from switchpoint.gating.relative_times import Job, job_of, levels, slower_by_group, usual_levels
from switchpoint.gating.sessions import Sessions
from switchpoint.gating.switches import BESIDE
from switchpoint.gating.trials import Trial, trial_of
from switchpoint.importing.lock import unpack
from switchpoint.records.mpi_environment import mpi_settings
from switchpoint.store.store import Store
from switchpoint.store.wanted import Query
from switchpoint.tables.columns import Run, records
from switchpoint.tables.mpi_names import mpi_name
from switchpoint.tables.student import SD_PER_MAD
from switchpoint.tables.sweeps import Floats, Indices
from switchpoint.untrusted.settings import may_be_set

if TYPE_CHECKING:
    from switchpoint.records.header import Header

#: So many jobs stand for all curves of a finding, and so many sizes for all of its sizes.
_MOST_JOBS, _MOST_SIZES = 2, 12

#: So many sizes of the whole curve are measured with them: what was sent before a message changes
#: its time. On TCP, messages just above one segment are twice as slow if no other size is sent.
_MOST_COMPANIONS = 48

#: So many sessions before the change say what is usual. Of fewer than so many, the launches tell
#: how much that scatters.
_SESSIONS = 10
_FEW_SESSIONS = 3

#: Settings that are taken back one at a time.
_MOST_SETTINGS = 4

_VARIABLE = re.compile(r"[A-Za-z_]\w*")

#: Open MPI takes each control variable from an environment variable with this prefix. MPICH's
#: control variables have the name of theirs.
_OPEN_MPI = "OMPI_MCA_"


@dataclass(frozen=True)
class Suspect:
    """A finding to measure again.

    Attributes
    ----------
    finding_id, metric : str
        Of the finding.
    trials : list of Trial
        Jobs that measure it as the current session; they stand for all of its curves.
    usual : Series
        The usual level of each job, mode and size, see `usual_levels`.
    sessions : array of float
        How slow each session before was, see `slower_by_group`; of few sessions, how slow each
        launch was.
    current : float
        How slow the current session was.
    settings : list of Setting
        What was set otherwise before.
    untried : list of Setting
        The same of settings that may not be set because a record says so.
    lock_before : str
        The Spack lock of the sessions before, if the current session has another; otherwise empty.
    moved : tuple of int or None
        The sizes across which a switch moved, see `slower_by_group`.
    jobs : list of Suspect
        The same of each of its jobs alone, if there are several.
    where : str
        Of one of several jobs: what it measures.
    """

    finding_id: str
    metric: str
    trials: list[Trial]
    usual: pd.Series[float]
    sessions: Floats
    current: float
    settings: list[Setting] = field(default_factory=list)
    untried: list[Setting] = field(default_factory=list)
    lock_before: str = ""
    moved: tuple[int, int] | None = None
    jobs: list[Suspect] = field(default_factory=list)
    where: str = ""


def suspects_of(findings: pd.DataFrame, store: Store, sessions: Sessions) -> list[Suspect]:
    """Return the findings that measuring again may refute or explain.

    These are suspected changes that fail the gate, of curves of our own kernels.

    Parameters
    ----------
    findings
        `GATE_COLUMNS`.
    store, sessions
        What the gate compared.
    """
    rows = findings[
        findings["fails"].astype(bool)
        & (findings["state"] == SUSPECTED)
        & findings["kind"].isin(CHANGES)
    ]
    suspects = (_suspect(row, store, sessions) for row in records(rows, GateFinding))
    return [suspect for suspect in suspects if suspect is not None]


def _suspect(finding: GateFinding, store: Store, sessions: Sessions) -> Suspect | None:
    curves = _parsed(finding["curves"])
    first, last = finding["first_size_bytes"], finding["last_size_bytes"]
    if not curves or first is None or last is None:
        return None
    sizes = int(first), int(last)
    chosen = _representatives(curves)
    points = _points(store, sessions, chosen, finding["metric"])
    sound = sessions.sound(map(identity_text, curves))
    before = _sessions_before(sessions, sound, finding["since_utc"])
    suspect = _suspect_of(finding, sizes, store, sessions, before, chosen, points)
    if suspect is None or len(chosen) == 1:
        return suspect
    alone = (
        _suspect_of(
            finding, sizes, store, sessions, before, {job: modes}, points[points["job"] == job]
        )
        for job, modes in chosen.items()
    )
    jobs = [replace(job, where=_words_of(job.trials[0])) for job in alone if job is not None]
    return replace(suspect, jobs=jobs)


def _words_of(trial: Trial) -> str:
    return " ".join(f"`{word}`" for word in (trial.placement, *trial.modes))


def _suspect_of(
    finding: GateFinding,
    sizes: tuple[int, int],
    store: Store,
    sessions: Sessions,
    before: Sequence[int],
    chosen: Mapping[Job, Sequence[str]],
    whole: pd.DataFrame,
) -> Suspect | None:
    """Return what some jobs tell of a finding, from their points in all sessions."""
    metric = finding["metric"]
    moved = sizes if metric == "switch" else None
    judged = _judged(np.unique(whole["size_bytes"]), *sizes, moved)
    table = whole[whole["size_bytes"].isin(judged)]
    session_of = dict(zip(sessions.runs["run_id"], sessions.runs["session_number"], strict=True))
    usual = usual_levels(table[table["run_id"].map(session_of).isin(before)], session_of)
    by_session = slower_by_group(table, usual, session_of.get, moved)
    current = by_session.get(sessions.current)
    if current is None or not current:
        return None
    of_current = whole[whole["run_id"].map(session_of) == sessions.current]
    trials, now = _trials(store, of_current, chosen, usual, current, moved)
    if not trials:
        return None
    past = _undisturbed(by_session[by_session.index.isin(before)])
    if len(past) < _FEW_SESSIONS:
        rounds = _rounds(table[table["run_id"].map(session_of).isin(past.index)], session_of)
        past = slower_by_group(table, usual, rounds.get, moved)
    runs_before = table.loc[table["run_id"].map(session_of).isin(before[-2:]), "run_id"].unique()
    then = recorded(store, runs_before)
    changed = changed_settings([*then.headers.values()], [*now.headers.values()])
    return Suspect(
        str(finding["finding_id"]),
        metric,
        trials,
        usual,
        np.asarray(past, dtype=np.float64),
        float(current),
        [setting for setting in changed if _may_be_taken_back(setting)][:_MOST_SETTINGS],
        [setting for setting in changed if not _may_be_taken_back(setting)],
        "" if then.locks & now.locks or not trials[0].lock else then.lock,
        moved,
    )


def _may_be_taken_back(setting: Setting) -> bool:
    """Return whether a setting may be made as the records before say: nobody reads them first."""
    return may_be_set(setting.environment, setting.before)


def _undisturbed(past: pd.Series[float]) -> pd.Series[float]:
    """Leave out sessions that are far from the others: they do not tell what is usual."""
    off = (past - past.median()).abs()
    scale = max(SD_PER_MAD * float(off.median()), USUAL_SCATTER)
    usual: pd.Series[float] = past[off <= DISTURBED * scale]
    return usual


def _judged(there: Indices, first: int, last: int, moved: tuple[int, int] | None) -> Indices:
    """Return the sizes of a finding, with some on either side if a switch moved across them."""
    inside = np.flatnonzero((there >= first) & (there <= last))
    if moved is None or not len(inside):
        return there[inside]
    return there[max(inside[0] - BESIDE, 0) : inside[-1] + 1 + BESIDE]


def _rounds(table: pd.DataFrame, session_of: Mapping[str, int]) -> dict[str, int]:
    """Number the launches of each job; return the numbers by run ID, newest sessions last."""
    runs = table[["job", "run_id"]].drop_duplicates()
    runs = runs.assign(session_number=runs["run_id"].map(session_of)).sort_values(
        "session_number", kind="stable"
    )
    return dict(zip(runs["run_id"], runs.groupby("job").cumcount(), strict=True))


def _trials(
    store: Store,
    current: pd.DataFrame,
    chosen: Mapping[Job, Sequence[str]],
    usual: pd.Series[float],
    slower: float,
    moved: tuple[int, int] | None,
) -> tuple[list[Trial], Recorded]:
    """Return a trial for each job that repeats the worst of its launches, and their records."""
    trials, records = [], Recorded()
    for job in chosen:
        part = current[current["job"] == job]
        of_job = recorded(store, part["run_id"].unique())
        known = usual.index[usual.index.get_level_values("job") == job]
        modes = [mode for mode in chosen[job] if mode in known.get_level_values("mode")]
        there = np.unique(known.get_level_values("size_bytes"))
        measured = np.unique(part.loc[part["mode"].isin(modes), "size_bytes"])
        if of_job.headers and modes and len(there):
            records.headers.update(of_job.headers)
            records.locks.update(of_job.locks)
            worst = _worst(part, usual, slower, of_job.headers, moved)
            sizes = {*_thinned(there, _MOST_SIZES), *_thinned(measured, _MOST_COMPANIONS)}
            trials.append(trial_of(of_job.headers[worst], modes, sorted(sizes), of_job.lock))
    return trials, records


def _parsed(value: Any) -> list[dict[str, Any]]:
    return list(json.loads(value) if isinstance(value, str) else value)


def _representatives(curves: Sequence[Mapping[str, Any]]) -> dict[Job, list[str]]:
    """Return a few jobs with their modes, far from each other in the order of their names."""
    modes: dict[Job, list[str]] = {}
    for curve in curves:
        modes.setdefault(job_of(curve), []).append(str(curve.get("mode")))
    jobs = sorted(modes, key=sorted)
    ends = np.unique(np.linspace(0, len(jobs) - 1, _MOST_JOBS).round().astype(int))
    return {jobs[place]: modes[jobs[place]] for place in ends}


def _points(
    store: Store, sessions: Sessions, chosen: Mapping[Job, Sequence[str]], metric: str
) -> pd.DataFrame:
    """Return the levels of some curves in all sessions."""
    parts = []
    for job, modes in chosen.items():
        known = dict(job)
        wanted: dict[str, Query] = {
            name: known[name]
            for name in ("site", "environ", "kernel", "placement")
            if name in known
        }
        points = store.curves(POINT_COLUMNS, since=sessions.starts_utc[0], **wanted)
        points = points[points["run_id"].astype(str).isin(sessions.runs["run_id"])]
        table = levels(points.assign(run_id=points["run_id"].astype(str)), metric)
        parts.append(table[(table["job"] == job) & table["mode"].isin(modes)])
    return pd.concat(parts, ignore_index=True)


def _sessions_before(sessions: Sessions, sound: list[int], since_utc: object) -> list[int]:
    """Return the newest of some sessions that are before the change."""
    before = [
        session
        for session in sound
        if not isinstance(since_utc, str) or sessions.starts_utc[session] < since_utc
    ]
    return (before or sound)[-_SESSIONS:]


def _worst(
    table: pd.DataFrame,
    usual: pd.Series[float],
    current: float,
    headers: Mapping[str, Any],
    moved: tuple[int, int] | None,
) -> str:
    """Return the run in which the change is largest: others may have run on other nodes."""
    of_runs = slower_by_group(table, usual, lambda run: run if run in headers else None, moved)
    change = of_runs * np.sign(current)
    return str(change.idxmax()) if len(change) else [*headers][-1]


def _thinned(sizes: Indices, most: int) -> list[int]:
    """Return some of many sizes, with the first and the last."""
    places = np.unique(np.linspace(0, len(sizes) - 1, most).round().astype(int))
    return [int(sizes[place]) for place in places]


@dataclass
class Recorded:
    """Headers and locks of some runs.

    Attributes
    ----------
    headers : dict
        Of run records, by run ID.
    locks : set of str
        The texts of the Spack locks that were imported with them.
    """

    headers: dict[str, Header] = field(default_factory=dict)
    locks: set[str] = field(default_factory=set)

    @property
    def lock(self) -> str:
        """Their common lock; empty if there is none or several."""
        return min(self.locks) if len(self.locks) == 1 else ""


def recorded(store: Store, run_ids: Iterable[str]) -> Recorded:
    """Return what is known of the runs with these IDs."""
    known = Recorded()
    for run_id in run_ids:
        for run in records(store.facts(run_id=str(run_id)), Run):
            if isinstance(run["header"], str):
                known.headers[str(run_id)] = json.loads(run["header"])
            if isinstance(run["lock"], str) and (lock := unpack(run["lock"])) is not None:
                known.locks.add(lock)
    return known


@dataclass(frozen=True)
class Setting:
    """A setting that changed between baseline sessions and the current session.

    Attributes
    ----------
    name : str
        Of a control variable, or of an environment variable.
    environment : str
        The environment variable that sets it.
    before, current : str or None
        Its values; None if it was not set.
    """

    name: str
    environment: str
    before: str | None
    current: str | None

    def __str__(self) -> str:
        return f"{self.name} = {_shown(self.current)}, before {_shown(self.before)}"


def changed_settings(before: Sequence[Header], current: Sequence[Header]) -> list[Setting]:
    """Return the settings with one value in all runs before and another in all current runs.

    A value that differs between the runs of one session, such as a job's number, was not set by
    anybody.

    Parameters
    ----------
    before, current
        Headers of run records.
    """
    variables = list(_control_variables(before, current))
    known = {setting.environment for setting in variables}
    others = (
        Setting(name, name, *values)
        for name, values in _changed(
            [mpi_settings(header["mpi"].get("environment", {})) for header in before],
            [mpi_settings(header["mpi"].get("environment", {})) for header in current],
        )
    )
    return [*variables, *(setting for setting in others if setting.environment not in known)]


def _control_variables(before: Sequence[Header], current: Sequence[Header]) -> Iterator[Setting]:
    libraries = {mpi_name(header["mpi"].get("library", "")) for header in [*before, *current]}
    if len(libraries) != 1:  # another library has other defaults, which nobody set
        return
    prefix = _OPEN_MPI if libraries.pop().startswith("Open MPI") else ""
    for name, (old, new) in _changed(
        [header["mpi"].get("cvars") or {} for header in before],
        [header["mpi"].get("cvars") or {} for header in current],
    ):
        if old is not None and new is not None:
            yield Setting(name, prefix + name, old, new)


def _changed(
    before: Sequence[Mapping[str, Any]], current: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, tuple[str | None, str | None]]]:
    """Yield name and both values of each entry that is constant on either side and differs."""
    names = dict.fromkeys(name for variables in [*before, *current] for name in variables)
    for name in filter(_VARIABLE.fullmatch, names):
        old, new = (
            {_text(variables.get(name)) for variables in side} for side in (before, current)
        )
        if len(old) == len(new) == 1 and old != new:
            yield name, (old.pop(), new.pop())


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _shown(value: str | None) -> str:
    return "not set" if value is None else value or "empty"
