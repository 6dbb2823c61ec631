"""What each rank did at which time in one repetition: the `activity` in a record's footer.

Importing this module is fast (no pandas), so reading a record's facts is fast too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from switchpoint.limits import COUNT, LONGEST_US

if TYPE_CHECKING:
    import pandas as pd


#: Characters of a wrong value that a message shows.
_SHOWN = 80


def activity_problem(footer: Mapping[str, Any], header: Mapping[str, Any]) -> str | None:
    """Return the problem of a footer's `activity`, or None if it has none.

    Parameters
    ----------
    footer, header
        Of one record. Its header is valid.
    """
    if "activity" not in footer:
        return None
    activity = footer["activity"]
    parts = activity if isinstance(activity, dict) else {}
    phases: Any = parts.get("phases")
    points: Any = parts.get("points")
    if not (_are(phases, str) and _are(points, dict)):
        return "is not an object with texts in 'phases' and objects in 'points'"
    ranks = {rank["rank"] for rank in header["ranks"]}
    problems = (_point_problem(point, len(phases), ranks) for point in points)
    return next((problem for problem in problems if problem is not None), None)


def _point_problem(point: dict[str, Any], phases: int, ranks: set[int]) -> str | None:
    spans: Any = point.get("spans")
    mode, size_bytes = point.get("mode"), point.get("size_bytes")
    if not isinstance(mode, str):
        return "has a point whose 'mode' is not text"
    if type(size_bytes) is not int or not 0 <= size_bytes < COUNT:
        return "has a point whose 'size_bytes' is not a size"
    if not (_is_time(point.get("length_us")) and _is_time(point.get("clock_error_us"))):
        return "has a point whose 'length_us' or 'clock_error_us' is not a time"
    if not _are(spans, list):
        return "has a point whose 'spans' are not arrays"
    wrong = next((span for span in spans if not _is_span(span, phases, ranks)), None)
    if wrong is None:
        return None
    return f"has an impossible span, {str(wrong)[:_SHOWN]} ({mode[:_SHOWN]} {size_bytes} B)"


def _is_span(span: list[Any], phases: int, ranks: set[int]) -> bool:
    if len(span) != 4:
        return False
    rank, phase, start_us, end_us = span
    return (
        type(rank) is int  # true and false are whole numbers in Python
        and rank in ranks
        and type(phase) is int
        and 0 <= phase < phases
        and _is_time(start_us)
        and _is_time(end_us)
        and start_us <= end_us
    )


def _is_time(value: Any) -> bool:
    return type(value) in {int, float} and abs(value) <= LONGEST_US


def _are(values: Any, kind: type) -> bool:
    return isinstance(values, list) and all(isinstance(value, kind) for value in values)


def activity_table(footer: Mapping[str, Any]) -> pd.DataFrame:
    """Tabulate the spans of all ranks, at every point of a run.

    Parameters
    ----------
    footer
        Of a record that was read, so its activity is valid.

    Returns
    -------
    pandas.DataFrame
        A row for each span: `mode`, `size_bytes`, `rank`, `phase` (such as `compute`), `start_us`,
        `end_us` (0 is when the repetition began at rank 0), `length_us` and `clock_error_us` of
        the point. Empty without activity.
    """
    import pandas as pd

    activity = footer.get("activity", {"phases": [], "points": []})
    names = [name.removesuffix("_us") for name in activity["phases"]]
    columns = ["rank", "phase", "start_us", "end_us"]
    points = [
        pd.DataFrame(point["spans"], columns=columns).assign(
            mode=point["mode"],
            size_bytes=point["size_bytes"],
            length_us=point["length_us"],
            clock_error_us=point["clock_error_us"],
        )
        for point in activity["points"]
        if point["spans"]
    ]
    ordered = ["mode", "size_bytes", *columns, "length_us", "clock_error_us"]
    if not points:
        return pd.DataFrame(columns=ordered)
    table = pd.concat(points, ignore_index=True)
    return table.assign(phase=table["phase"].map(dict(enumerate(names))))[ordered]
