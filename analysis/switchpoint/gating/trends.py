"""Follows what changed: the typical time of a finding's curves in each session."""

from __future__ import annotations

import numpy as np
import pandas as pd

from switchpoint.gating.accepted import identity_text
from switchpoint.gating.kinds import CHANGES, GateFinding
from switchpoint.gating.points import Points, points_of, texts_of
from switchpoint.gating.sessions import select_sessions
from switchpoint.gating.verdict import Verdict
from switchpoint.store.store import Store
from switchpoint.tables.columns import records
from switchpoint.tables.sweeps import Floats

#: Columns of a trend.
TREND_COLUMNS = ["finding_id", "session_utc", "relative_time"]


def trends(store: Store, verdict: Verdict, most: int = 6) -> pd.DataFrame:
    """Follow the first findings that changed, session by session.

    Parameters
    ----------
    store
        The store that the verdict judged.
    verdict
        As from `gate`, or `judged_last`. The sessions are those that it compared.
    most
        The most findings that are followed.

    Returns
    -------
    DataFrame
        `finding_id`; `session_utc`, the start of the session; `relative_time`, the geometric mean
        over the finding's curves and sizes of the time, divided by that of all sessions. Sessions
        that measured none of them are left out.
    """
    changed = verdict.findings[verdict.findings["kind"].isin(CHANGES)]
    followed = changed[changed["curves"].map(len) > 0].head(most)
    rows: list[dict[str, object]] = []
    if len(followed):
        most_sessions = max(verdict.sessions, 1)
        sessions = select_sessions(
            store, verdict.session, verdict.site, most_sessions, verdict.maintenance
        )
        table = store.curves(since=sessions.starts_utc[0])
        points = points_of([table], sessions.runs, sessions.current + 1)
        names = [identity_text(curve) for curve in texts_of(points.curves)]
        for finding in records(followed, GateFinding):
            wanted = {identity_text(curve) for curve in finding["curves"]}
            chosen = np.isin(points.curve, [n for n, name in enumerate(names) if name in wanted])
            sizes = finding["first_size_bytes"], finding["last_size_bytes"]
            if sizes[0] is not None and sizes[1] is not None:
                chosen &= (points.size >= sizes[0]) & (points.size <= sizes[1])
            rows += [
                {
                    "finding_id": finding["finding_id"],
                    "session_utc": sessions.starts_utc[session],
                    "relative_time": float(np.exp(value)),
                }
                for session, value in enumerate(_by_session(points, chosen))
                if not np.isnan(value)
            ]
    return pd.DataFrame(rows, columns=TREND_COLUMNS)


def _by_session(points: Points, chosen: np.ndarray) -> Floats:
    """Return the mean logarithm of some points in each session, relative to each point's mean."""
    cell = pd.Series(points.log_time[chosen]).groupby([points.curve[chosen], points.size[chosen]])
    relative = points.log_time[chosen] - cell.transform("mean").to_numpy()
    by_session = pd.Series(relative).groupby(points.session[chosen]).mean()
    values: Floats = by_session.reindex(range(points.sessions)).to_numpy(dtype=float)
    return values
