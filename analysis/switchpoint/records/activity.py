"""What each rank did at which time in one repetition: the `activity` in a record's footer.

Importing this module is fast (no pandas), so reading a record's facts is fast too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def activity_problem(footer: dict[str, Any]) -> str | None:
    """Return the problem of a footer's `activity`, or None if it has none."""
    if "activity" not in footer:
        return None
    activity = footer["activity"]
    try:
        phases, points = activity["phases"], activity["points"]
        for point in points:
            place = f"{point['mode']!s} {int(point['size_bytes'])} B"
            float(point["length_us"]), float(point["clock_error_us"])
            for rank, phase, start_us, end_us in point["spans"]:
                if not 0 <= phase < len(phases) or rank < 0 or not start_us <= end_us:
                    return f"has an impossible span, {[rank, phase, start_us, end_us]} ({place})"
    except (KeyError, TypeError, ValueError) as error:
        return f"does not have the documented form ({type(error).__name__}: {error})"
    return None


def activity_table(footer: dict[str, Any]) -> pd.DataFrame:
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
