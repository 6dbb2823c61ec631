"""What a run record says about its agreed starts: late calls, and clocks that differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from switchpoint.data_warnings import DataWarning

if TYPE_CHECKING:
    from switchpoint.records.footer import Footer, Point

#: Other work takes the cores if a larger share of the calls started late and was repeated.
_MANY_LATE = 0.1


def start_warnings(footer: Footer) -> Iterator[DataWarning]:
    """Say which times the agreed starts of a run make doubtful; nothing if calls started otherwise.

    Parameters
    ----------
    footer
        The footer of a run record, which was checked.
    """
    start = footer.get("start")
    if start is None:
        return
    error_us = start["clock_error_us"]
    below = _largest_below(footer.get("points", []), error_us)
    if below:
        modes = ", ".join(f"{mode} up to {size:,} B" for mode, size in below.items())
        yield DataWarning(
            "clock_error",
            f"some times are below the {error_us:.3g} us by which the clocks of the ranks, and so"
            f" their starts, may differ: {modes}; they may be wrong by that much; `--start barrier`"
            " needs no clocks",
        )
    calls, late = start.get("calls"), start["late_calls"]
    if calls and late > _MANY_LATE * calls:
        yield DataWarning(
            "late_starts",
            f"{late:,} of {calls:,} calls started late on some rank and were repeated; measure"
            " again on quieter cores",
        )


def _largest_below(points: list[Point], error_us: float) -> dict[str, int]:
    """Return for each mode the largest size whose median is below the error."""
    largest: dict[str, int] = {}
    for point in points:
        time_us = point.get("median_us")
        if time_us is not None and time_us < error_us:
            mode = point["mode"]
            largest[mode] = max(largest.get(mode, 0), point["size_bytes"])
    return largest
