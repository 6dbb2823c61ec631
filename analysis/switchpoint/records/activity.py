"""What each rank did when, in one repetition: the `activity` of a run record's footer.

Importing this module is cheap (no pandas), so that reading a record's facts stays so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def activity_problem(footer: dict[str, Any]) -> str | None:
    """Say what is wrong with a footer's `activity`, if it has one and something is."""
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
                    return f"has a span that cannot be, {[rank, phase, start_us, end_us]} ({place})"
    except (KeyError, TypeError, ValueError) as error:
        return f"is not as documented ({type(error).__name__}: {error})"
    return None


def activity_table(footer: dict[str, Any]) -> pd.DataFrame:
    """Spans of all ranks, at every point of a run.

    Parameters
    ----------
    footer
        Of a record that was read, so that its activity is known to be sound.

    Returns
    -------
    pandas.DataFrame
        A row for each span: `mode`, `size_bytes`, `rank`, `phase` (such as `compute`), `start_us`,
        `end_us` (from where the repetition began at rank 0), `length_us` and `clock_error_us` of
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
