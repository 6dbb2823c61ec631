"""Plans the next measurement: where a zoom should search, or which setting to move after one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from switchpoint.errors import InputError
from switchpoint.explanation.causes import detect
from switchpoint.explanation.zooms import (
    Intervention,
    beside,
    brackets_to_search,
    plan_intervention,
)
from switchpoint.importing.reading import read
from switchpoint.tables.sweeps import ZOOM

#: Modes that the kernel `zoom` times by default.
ZOOM_MODES = ("send", "ssend")


@dataclass(frozen=True)
class Plan:
    """What to measure next.

    Attributes
    ----------
    brackets : list of (mode, last size before, first size past it)
        Where the kernel `zoom` should bisect; sizes in bytes.
    intervention : Intervention or None
        The setting to move for that; None after a sweep, or where no known setting is suspected.
    """

    brackets: list[tuple[str, int, int]]
    intervention: Intervention | None = None


def plan(
    record: str | os.PathLike[str],
    modes: Sequence[str] = ZOOM_MODES,
    setting: str | None = None,
    value: int | None = None,
) -> Plan:
    """Choose what to measure after one run.

    Parameters
    ----------
    record
        A run record: after a sweep the plan is a zoom, after a zoom an intervention.
    modes
        Modes that the zoom is to time.
    setting, value
        After a zoom: the setting to move, and its new value in bytes. By default the first suspect
        of the switch that the probe found, by half.

    Raises
    ------
    InputError
        If the file holds no run record, or cannot be read.
    """
    measurements = read(record)
    header, footer = measurements.facts(measurements.runs["run_id"].iloc[0])
    if not header:
        raise InputError(record, "is not a run record; give a record of our kernels")
    if header["kernel"]["name"] != ZOOM:
        return Plan(brackets_to_search(detect(measurements), list(modes)))
    moved = plan_intervention(header, footer, setting, value)
    if moved is None:
        return Plan([])
    target = moved.last_size_bytes
    expected = [beside(mode, target, target + 1) for mode in modes]
    return Plan(list(dict.fromkeys([*_found_before(footer), *expected])), moved)


def _found_before(footer: dict[str, Any] | None) -> list[tuple[str, int, int]]:
    """Brackets around each switch that a zoom pinned to the byte: where it may no longer be."""
    return [
        beside(search["mode"], search["last_size_bytes"], search["first_size_bytes"])
        for search in (footer or {}).get("switches", [])
        if search["method"] == "bisection" and search["verdict"] == "exact"
    ]
