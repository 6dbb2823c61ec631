"""Plans the next measurement: brackets after a sweep, or settings to change after a zoom."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from switchpoint.errors import InputError
from switchpoint.explanation.causes import detect
from switchpoint.explanation.values import Candidate, candidates, chosen_candidates
from switchpoint.explanation.zooms import (
    bisected,
    brackets_left_out,
    brackets_to_search,
    probed,
    sides_of,
)
from switchpoint.importing.reading import read
from switchpoint.tables.sweeps import ZOOM

#: Modes that the kernel `zoom` times by default.
ZOOM_MODES = ("send", "ssend")

#: The mode of a collective that is the library's own choice of an algorithm.
LIBRARY = "library"

#: The smallest and the largest size of a zoom, unless a bracket lies outside.
ZOOM_BYTES = (1, 1 << 20)


@dataclass(frozen=True)
class Plan:
    """What to measure next.

    Attributes
    ----------
    brackets : list of (mode, last size before, first size past it)
        After a sweep: where the kernel `zoom` should bisect; sizes in bytes.
    settings : list of Candidate
        After a zoom: the settings that may cause its switch, the likeliest first.
    last : int or None
        After a zoom: the last size before the switch, in bytes.
    notes : list of str
        What the plan leaves out, one sentence each.
    kernel : str
        The kernel that searches: `zoom` after the ping-pong, a collective itself.
    """

    brackets: list[tuple[str, int, int]]
    settings: list[Candidate] = field(default_factory=list)
    last: int | None = None
    notes: list[str] = field(default_factory=list)
    kernel: str = ZOOM

    @property
    def sizes_bytes(self) -> tuple[int, int]:
        """The smallest and the largest size of the zoom: every bracket is between them."""
        reach = [*ZOOM_BYTES] if self.kernel == ZOOM else []
        return (
            min([*reach[:1], *(last for _, last, _ in self.brackets)], default=0),
            max([*reach[1:], *(first for _, _, first in self.brackets)], default=0),
        )


def plan(
    record: str | os.PathLike[str],
    modes: Sequence[str] | None = None,
    setting: str | None = None,
) -> Plan:
    """Choose what to measure after one run.

    Parameters
    ----------
    record
        A run record: after a sweep the plan is a zoom, after a zoom the settings to change.
    modes
        Modes of the zoom; by default `ZOOM_MODES`, or `library` after a collective.
    setting
        After a zoom: the setting to change first. Every setting that the run lists with a size can
        be named.

    Raises
    ------
    InputError
        If the file is not a run record, or cannot be read; if there is no such mode or setting.
    """
    if modes is not None and not all(modes):
        raise InputError("--mode", "an empty name; write the modes as send,ssend")
    measurements = read(record)
    header, footer = measurements.facts(measurements.runs["run_id"].iloc[0])
    if not header:
        raise InputError(record, "is not a run record; give a record of our kernels")
    kernel = header["kernel"]["name"]
    if kernel != ZOOM and not header["plan"].get("searches"):
        collective = LIBRARY in header["plan"]["modes"]
        timed = list(modes or ([LIBRARY] if collective else ZOOM_MODES))
        findings = detect(measurements)
        return Plan(
            brackets_to_search(findings, timed, suspects=not collective),
            notes=brackets_left_out(findings, timed),
            kernel=kernel if collective else ZOOM,
        )
    located = probed(footer) or next(iter(bisected(footer)), None)
    if located is None:
        return Plan([])
    last = sides_of(located)[0]
    ends_eager = located["method"] == "late_receiver"
    listed = candidates(header, footer, last, ends_eager=ends_eager)
    if setting is not None:
        listed = chosen_candidates(listed, setting)
    return Plan([], listed, last)
