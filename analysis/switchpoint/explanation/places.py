"""Collects the sweeps and zooms of each place, and the switches that follow from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypedDict, cast

import pandas as pd

from switchpoint.explanation.zooms import PLACE, SearchRow, sides_of
from switchpoint.tables.columns import identity_columns, records, values_of
from switchpoint.tables.findings import Finding, Origin, SettingValue, relative_jump
from switchpoint.tables.identity import CurveIdentity

#: The curve of a switch. Other columns, such as labels, may also distinguish curves.
CURVE = [*PLACE, "mode"]


class LawOf(TypedDict):
    """The law of a setting that is confirmed alone, see `laws.Law`."""

    factor: str
    offset_bytes: int
    grain_bytes: int


class Cause(TypedDict):
    """A setting that was considered as the cause of a switch, and the verdict on it."""

    name: str
    environment: str | None
    set_by: str
    value: SettingValue
    status: str
    law: LawOf | None
    reason: str
    source: str | None
    ends_eager: bool


class ConsideredCause(Cause):
    """The same, with a `partner` that acts together with it; its law `holds` for so many values."""

    partner: str | None
    holds: int


class SwitchEvidence(TypedDict):
    """A piece of evidence for a switch: which run shows it, by which method, and a sentence."""

    run_id: str
    method: str
    says: str


class Explanation(TypedDict):
    """What is known of a switch, see `switches.explain`."""

    kind: str
    last_size_bytes: int
    first_size_bytes: int
    exact: bool
    magnitude: float | None
    cause: str | None
    value: SettingValue
    status: str
    reason: str
    origin: Origin | None
    causes: list[Cause]
    evidence: list[SwitchEvidence]
    launches: int | None
    of_launches: int | None


class Explained(Explanation, CurveIdentity):
    """A switch with the curve that it is of."""


#: Columns that describe each switch, after those of its curve.
EXPLANATION_COLUMNS = [*Explanation.__annotations__]


def curve_columns(table: pd.DataFrame) -> list[str]:
    """Return columns of findings or switches that name the curve, without the run."""
    others = [
        name for name in identity_columns(table)
        if name not in {*CURVE, *EXPLANATION_COLUMNS, "run_id", "intervention"}
    ]  # fmt: skip
    return [*CURVE, *others]


@dataclass
class Place:
    """Everything that is known of one mode at one placement, MPI and site."""

    identity: CurveIdentity
    steps: list[Finding]
    searches: list[SearchRow]  # searches of this mode, without intervention
    moved: list[SearchRow]  # searches of this mode, with an intervention
    eager_end: int | None = None  # last size sent eagerly, as the probe found it


@dataclass
class Switch:
    """One switch or step, and its evidence."""

    last: int
    first: int
    searched: bool = False  # found by a probe or a bisection, not only by a sweep
    exact: bool = False  # no size that the mode takes lies between the two
    probed: bool = False
    magnitude: float | None = None
    run_id: str | None = None  # the run whose settings explain it
    evidence: list[SwitchEvidence] = field(default_factory=list)
    steps: list[Finding] = field(default_factory=list)  # of the sweeps, around it

    @property
    def launches(self) -> tuple[int | None, int | None]:
        """How many launches of the curve show it, and how many could; None without a sweep."""
        counts = [
            (step["evidence"]["launches"], step["evidence"]["of_launches"])
            for step in self.steps if "launches" in step["evidence"]
        ]  # fmt: skip
        return max(counts, default=(None, None))

    def tell(self, run_id: str, method: str, says: str) -> None:
        """Add a piece of evidence."""
        self.evidence.append({"run_id": run_id, "method": method, "says": says})


def places_of(steps: pd.DataFrame, found: pd.DataFrame, curve: list[str]) -> Iterator[Place]:
    """Group steps and searches by their curve, in order."""
    known = steps.reindex(columns=[*steps.columns, *set(curve).difference(steps.columns)])
    rows = records(found, SearchRow)
    ends = {
        values_of(row, PLACE): row["last_size_bytes"]
        for row in rows
        if row["method"] == "late_receiver" and row["verdict"] == "exact"
        and not row["intervention"]
    }  # fmt: skip
    places: dict[tuple[Any, ...], Place] = {}

    def place_of(row: Finding | SearchRow) -> Place:
        key = values_of(row, curve)
        if key not in places:
            identity = cast("CurveIdentity", dict(zip(curve, key, strict=True)))
            places[key] = Place(identity, [], [], [], ends.get(values_of(row, PLACE)))
        return places[key]

    for step in records(known, Finding):
        place_of(step).steps.append(step)
    for row in rows:
        place = place_of(row)
        (place.moved if row["intervention"] else place.searches).append(row)
    yield from (places[key] for key in sorted(places, key=lambda key: [str(part) for part in key]))


def switches_of(place: Place) -> list[Switch]:
    """Return every switch of a curve, by size: exact ones, then steps without a zoom."""
    pinned: dict[tuple[int, int], Switch] = {}
    for search in place.searches:
        if search["verdict"] not in {"exact", "interval"}:
            continue
        last, first = sides_of(search)
        switch = pinned.setdefault(
            (last, first), Switch(last, first, searched=True, run_id=search["run_id"])
        )
        switch.exact |= search["verdict"] == "exact"
        switch.probed |= search["method"] == "late_receiver"
        if search["jump"] is not None and switch.magnitude is None:
            switch.magnitude = float(search["jump"])
        switch.tell(search["run_id"], search["method"], search["reason"])
    switches = list(pinned.values())
    for step in place.steps:
        last, first = int(step["last_size_before"]), int(step["size_bytes"])
        inside = [switch for switch in pinned.values() if last <= switch.last < first]
        if not inside:
            inside = [Switch(last, first, run_id=step["run_id"])]
            switches += inside
            _tell_searches_in_vain(place, inside[0])
        for switch in inside:
            switch.steps.append(step)
            jump = step["magnitude"] if step["kind"] == "step" else relative_jump(step)
            if switch.magnitude is None:
                switch.magnitude = float(jump)
            switch.tell(
                step["run_id"], "sweep",
                f"time changes by {100 * jump:+.0f} % from {last:,} to {first:,} B,"
                f" confidence {100 * step['confidence']:.0f} %",
            )  # fmt: skip
    return sorted(switches, key=lambda switch: (switch.last, switch.first))


def _tell_searches_in_vain(place: Place, switch: Switch) -> None:
    for search in place.searches:
        if (search["low_bytes"], search["high_bytes"]) == (switch.last, switch.first):
            switch.tell(search["run_id"], search["method"], search["reason"])
