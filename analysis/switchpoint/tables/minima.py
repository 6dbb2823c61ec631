"""The smallest times that run records tell of their points, also of samples that they left out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import numpy as np
import pandas as pd

from switchpoint.limits import LONGEST_US, SHORTEST_US

#: What distinguishes the points of a run record.
_POINT = ["run_id", "mode", "size_bytes"]

#: A point of which a record keeps fewer samples than were taken: one of more than one.
_THINNED = re.compile(r'"stride":\s*(?!1\b)\d')


def with_told_minima(
    points: pd.DataFrame, runs: pd.DataFrame, *, only_thinned: bool = True
) -> pd.DataFrame:
    """Return points with the smallest of all times that were measured, where records tell it.

    Parameters
    ----------
    points
        `run_id`, `mode`, `size_bytes` and `min_us`, which is null or the smallest time of those
        samples that were kept.
    runs
        `run_id` and `footer`.
    only_thinned
        Look only into records that left samples out: the others tell what their samples tell.
    """
    told = pd.DataFrame(_told(runs, only_thinned), columns=[*_POINT, "told_us"])
    if told.empty or "mode" not in points:
        return points
    own = points[_POINT].astype({"run_id": object, "mode": object})
    found = own.merge(told.drop_duplicates(_POINT), on=_POINT, how="left")["told_us"]
    return points.assign(min_us=np.fmin(points["min_us"].to_numpy(float), found.to_numpy(float)))


def _told(runs: pd.DataFrame, only_thinned: bool) -> Iterator[tuple[str, str, int, float]]:
    """Yield run, mode, size and smallest time of the points in the footers of run records."""
    for run_id, footer in zip(runs["run_id"], runs["footer"], strict=True):
        if not isinstance(footer, str) or (only_thinned and not _THINNED.search(footer)):
            continue
        for point in json.loads(footer).get("points", []):
            least = point.get("min_us")
            if isinstance(least, int | float) and SHORTEST_US <= least <= LONGEST_US:
                yield run_id, point["mode"], point["size_bytes"], float(least)
