"""Finds up to which size each placement sends eagerly: from a zoom's probe, or from settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from switchpoint.explanation.suspects import suspects_of_run
from switchpoint.explanation.zooms import SearchRow, searches, sides_of
from switchpoint.tables.columns import records, values_of
from switchpoint.tables.measurements import Measurements

if TYPE_CHECKING:
    from switchpoint.records.footer import Footer
    from switchpoint.records.header import Header

#: What distinguishes placements.
PLACE = ["partition", "mpi", "environ", "placement"]

PROBE = "probe"

#: A last eager size in bytes, and `PROBE` or the name of the setting that says so.
Limit = tuple[int, str]


def probed_limits(measurements: Measurements) -> dict[tuple[Any, ...], Limit]:
    """Return the limits that zooms proved with a late receiver, by the values of `PLACE`.

    Zooms with a changed setting do not count. If zooms differ, the smallest limit counts.
    """
    found = searches(measurements)
    found = found[(found["method"] == "late_receiver") & found["intervention"].isna()]
    found = found[found["last_size_bytes"].notna()]
    limits: dict[tuple[Any, ...], Limit] = {}
    for row in records(found, SearchRow):
        key = values_of(row, PLACE)
        last = sides_of(row)[0]
        limits[key] = min(limits.get(key, (last, PROBE)), (last, PROBE))
    return limits


def limit_by_settings(header: Header, footer: Footer | None, largest_bytes: int) -> Limit | None:
    """Return the smallest limit, up to a size, that a run's settings predict."""
    settings = suspects_of_run(header, footer)(0, largest_bytes)
    limits = [
        (last, one["name"])
        for one in settings
        if one["ends_eager"] and (last := one["last_size"]) is not None
    ]
    return min(limits, default=None)
