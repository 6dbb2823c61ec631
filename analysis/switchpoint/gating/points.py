"""The points of all sessions' curves as flat arrays: a curve, a launch, a session and a size each.

A curve of the gate is the same curve in every session: its identity without the run, and without
the version of an MPI library that its environment names.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from switchpoint.gating.accepted import Acceptance, identity_text
from switchpoint.tables.columns import identity_columns
from switchpoint.tables.sweeps import Floats, Indices

_VERSION = re.compile(r" \d[\w.]*$")


#: What of a curve's points is compared.
POINT_COLUMNS = ["size_bytes", "time_us", "error_us", "mad_us"]


@dataclass(frozen=True)
class Points:
    """Points of launches.

    Attributes
    ----------
    curves : DataFrame
        The identity of each curve, one row each.
    launches : DataFrame
        One row for each launch of each curve: `curve`, `run_id`, `session`. Ordered by curve.
    sessions : int
        Number of sessions, the judged one included, which is the last.
    launch, size : array of int
        Of each point: its row in `launches`, in this order, and its message size in bytes.
    log_time, error, spread : array of float
        Natural logarithm of the time in microseconds; relative standard error of the time; its
        median absolute deviation relative to it.
    """

    curves: pd.DataFrame
    launches: pd.DataFrame
    sessions: int
    launch: Indices
    size: Indices
    log_time: Floats
    error: Floats
    spread: Floats

    def parts(self, points: int) -> list[Points]:
        """Divide the curves into parts of about so many points; there is at least one part.

        Curves keep their numbers.
        """
        of_launch = self.launches["curve"].to_numpy()
        begins = np.flatnonzero(np.diff(of_launch, prepend=-1))
        starts = np.searchsorted(self.launch, begins)  # the first point of each curve
        cuts = np.unique(np.searchsorted(starts, np.arange(points, len(self.launch), points)))
        cuts = cuts[cuts < len(starts)]
        launch_edges = [0, *begins[cuts].tolist(), len(of_launch)]
        point_edges = [0, *starts[cuts].tolist(), len(self.launch)]
        edges = zip(itertools.pairwise(launch_edges), itertools.pairwise(point_edges), strict=True)
        return [
            self._only(slice(*launches), slice(*points), self.launch[slice(*points)] - launches[0])
            for launches, points in edges
        ]

    def of_launches(self, kept: npt.NDArray[np.bool_]) -> Points:
        """Return some launches with their points."""
        number = np.cumsum(kept) - 1
        used = kept[self.launch]
        return self._only(kept, used, number[self.launch[used]])

    def _only(self, launches: Any, points: Any, launch: Indices) -> Points:
        """Return some launches and points; `launch` is what launch each of these is of."""
        names = ("size", "log_time", "error", "spread")
        arrays = {name: getattr(self, name)[points] for name in names}
        kept = self.launches[launches].reset_index(drop=True)
        return replace(self, launches=kept, launch=launch, **arrays)

    @property
    def curve(self) -> Indices:
        """The curve of each point."""
        return np.asarray(self.launches["curve"].to_numpy()[self.launch])

    @property
    def session(self) -> Indices:
        """The session of each point."""
        return np.asarray(self.launches["session_number"].to_numpy()[self.launch])


#: No curve at all.
NO_POINTS = Points(
    pd.DataFrame(index=range(0)),
    pd.DataFrame({"curve": [], "run_id": [], "session_number": []}, dtype=int),
    1,
    *np.zeros((2, 0), dtype=int),
    *np.zeros((3, 0)),
)


def points_of(tables: Iterable[pd.DataFrame], runs: pd.DataFrame, sessions: int) -> Points:
    """Sort the points of curves by curve and launch.

    Parameters
    ----------
    tables
        As from `Store.curves`, such as one for each of some spans of time. Each is needed only
        until the next one is taken.
    runs
        With `run_id` and `session`; points of other runs are left out.
    sessions
        Number of sessions.
    """
    session = runs.drop_duplicates("run_id").set_index("run_id")["session_number"]
    parts, identities = [], []
    number = 0
    for table in tables:
        usable = table["run_id"].isin(session.index) & (table["time_us"] > 0)
        launch, identity = _numbered(table.loc[usable, identity_columns(table)])
        size, time, error, spread = (table.loc[usable, name].to_numpy() for name in POINT_COLUMNS)
        parts.append(
            (
                (launch + number).astype(np.int32),
                size,
                np.log(time),
                (error / time).astype(np.float32),
                (spread / time).astype(np.float32),
            )
        )
        identities.append(identity)
        number += len(identity)
    if not number:
        return replace(NO_POINTS, sessions=sessions)
    identity = pd.concat(identities, ignore_index=True)
    curve, curves = _curves(identity)
    run_id = identity["run_id"]
    in_order = np.lexsort((pd.factorize(run_id, sort=True)[0], curve))
    launches = pd.DataFrame(
        {"curve": curve, "run_id": run_id, "session_number": run_id.map(session)}
    )
    place = np.empty(number, dtype=np.int32)
    place[in_order] = np.arange(number)
    launch = place[np.concatenate([part[0] for part in parts])]
    order = np.argsort(launch, kind="stable")
    size, log_time, error, spread = (
        np.concatenate([part[which] for part in parts])[order] for which in range(1, 5)
    )
    launches = launches.iloc[in_order].reset_index(drop=True)
    return Points(curves, launches, sessions, launch[order], size, log_time, error, spread)


def since_accepted(
    points: Points, acceptances: Iterable[Acceptance], starts_utc: Sequence[str]
) -> Points:
    """Leave out what curves were before a change that someone accepted in a baseline session."""
    first: dict[str, str] = {}
    for acceptance in acceptances:
        if acceptance.is_new_normal and acceptance.session_utc < starts_utc[-1]:
            for curve in acceptance.curves:  # of several changes, the latest counts
                first[curve] = max(first.get(curve, ""), acceptance.began_utc)
    if not first:
        return points
    begins = [first.get(identity_text(curve), "") for curve in texts_of(points.curves)]
    starts = np.array(starts_utc)[points.launches["session_number"]]
    return points.of_launches(starts >= np.array(begins)[points.launches["curve"]])


def without_repaired(
    points: Points, confirmed: Mapping[str, Iterable[str]], starts_utc: Sequence[str]
) -> Points:
    """Leave out sessions whose change was confirmed and went away again.

    They do not tell how a curve usually is, and the change is a surprise if it comes back. Sessions
    just before the current session stay: their change may last.

    Parameters
    ----------
    points
        Of all sessions.
    confirmed
        As from `accepted.confirmed`.
    starts_utc
        The start of each session.
    """
    number = {start: session for session, start in enumerate(starts_utc)}
    changed = np.zeros((len(points.curves), points.sessions), dtype=bool)
    for curve, text in enumerate(texts_of(points.curves) if confirmed else ()):
        sessions = [
            number[start] for start in confirmed.get(identity_text(text), ()) if start in number
        ]
        changed[curve, sessions] = True
    past = changed[:, :-1]
    lasting = np.logical_and.accumulate(past[:, ::-1], axis=1)[:, ::-1]
    left_out = np.c_[past & ~lasting, np.zeros(len(changed), dtype=bool)]
    if not left_out.any():
        return points
    launches = points.launches
    return points.of_launches(~left_out[launches["curve"], launches["session_number"]])


def texts_of(curves: pd.DataFrame) -> list[dict[str, str]]:
    """Return the identities of curves without what they do not have."""
    return [
        {str(name): value for name, value in row.items() if isinstance(value, str)}
        for row in curves.to_dict("records")
    ]


def _curves(identity: pd.DataFrame) -> tuple[Indices, pd.DataFrame]:
    """Number the curves of launches; also return what identifies the same curve in every session.

    These are texts, null where there is none.
    """
    each, keys = _numbered(identity.drop(columns="run_id"))
    if {"mpi", "environ"} <= {*keys}:
        bare = keys["mpi"].map(lambda mpi: _VERSION.sub("", mpi), na_action="ignore")
        keys["mpi"] = bare.where(keys["environ"].notna(), keys["mpi"])
    curve, curves = _numbered(keys.where(keys.notna(), None))
    return curve[each], curves


def _numbered(keys: pd.DataFrame) -> tuple[Indices, pd.DataFrame]:
    """Number the distinct rows in their order; also return them, with Python's texts."""
    code = np.zeros(len(keys), dtype=np.int64)
    for name in keys:
        codes, values = pd.factorize(keys[name])
        # A null has the code -1. Numbers that are dense again cannot overflow in the next column.
        code, _ = pd.factorize(code * (len(values) + 1) + codes + 1)
    _, first = np.unique(code, return_index=True)
    distinct = keys.iloc[first].astype(object)
    if distinct.empty:
        return np.zeros(0, dtype=np.intp), distinct
    rank = distinct.groupby([*keys], dropna=False, sort=True, observed=True).ngroup().to_numpy()
    return np.asarray(rank[code]), distinct.iloc[np.argsort(rank)].reset_index(drop=True)
