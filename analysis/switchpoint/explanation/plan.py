"""Plans the next measurement: brackets after a sweep, or a setting to change after a zoom."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from switchpoint.errors import InputError
from switchpoint.explanation.causes import detect
from switchpoint.explanation.zooms import (
    Intervention,
    beside,
    bisected,
    brackets_left_out,
    brackets_to_search,
    movable_settings,
    plan_intervention,
)
from switchpoint.importing.reading import read
from switchpoint.tables.sweeps import ZOOM

#: Modes that the kernel `zoom` times by default.
ZOOM_MODES = ("send", "ssend")

#: The largest message of our kernels: sizes are MPI counts.
MOST_BYTES = 2**31 - 1

#: The smallest and the largest size of a zoom, unless a bracket lies outside.
ZOOM_BYTES = (1, 1 << 20)


@dataclass(frozen=True)
class Plan:
    """What to measure next.

    Attributes
    ----------
    brackets : list of (mode, last size before, first size past it)
        Where the kernel `zoom` should bisect; sizes in bytes.
    intervention : Intervention or None
        The setting to change; None after a sweep, or if no known setting is suspected.
    notes : list of str
        What the plan leaves out, one sentence each.
    """

    brackets: list[tuple[str, int, int]]
    intervention: Intervention | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def sizes_bytes(self) -> tuple[int, int]:
        """The smallest and the largest size of the zoom: every bracket is between them."""
        least, most = ZOOM_BYTES
        return (
            min([least, *(last for _, last, _ in self.brackets)]),
            max([most, *(first for _, _, first in self.brackets)]),
        )


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
        Modes of the zoom.
    setting, value
        After a zoom: the setting to change, and its new value in bytes. By default the first
        suspect of the switch that the probe found, and 1.5 times its value.

    Raises
    ------
    InputError
        If the file is not a run record, or cannot be read; if there is no such mode, setting or
        value.
    """
    if not all(modes):
        raise InputError("--mode", "an empty name; write the modes as send,ssend")
    measurements = read(record)
    header, footer = measurements.facts(measurements.runs["run_id"].iloc[0])
    if not header:
        raise InputError(record, "is not a run record; give a record of our kernels")
    if header["kernel"]["name"] != ZOOM:
        findings = detect(measurements)
        return Plan(
            brackets_to_search(findings, list(modes)),
            notes=brackets_left_out(findings, list(modes)),
        )
    moved = plan_intervention(header, footer, setting, value)
    if moved is None:
        if setting is not None:
            known = ", ".join(movable_settings(header, footer)) or "none"
            raise InputError(
                "--setting", f"no step of this zoom is suspected of '{setting}', but of: {known}"
            )
        return Plan([])
    target = moved.last_size_bytes
    if not 0 < target <= MOST_BYTES:
        raise InputError(
            "--value",
            f"{moved.variable} = {moved.value} would put the switch at {target:,} B; choose a value"
            f" that puts it between 1 B and {MOST_BYTES:,} B",
        )
    expected = [beside(mode, target, target + 1) for mode in modes]
    found = [
        beside(search["mode"], search["last_size_bytes"], search["first_size_bytes"])
        for search in bisected(footer)
    ]
    return Plan(list(dict.fromkeys([*found, *expected])), moved)
