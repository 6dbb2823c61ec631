"""Compares zooms of one place: which settings differ, and where the switch was with each.

A trial is a zoom whose settings differ from those of the run in which a switch was found. What
differs is read from both records. A label only says that somebody changed something.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from switchpoint.explanation.in_use import InUse, canonical, settings_in_use
from switchpoint.explanation.places import Place, Switch
from switchpoint.explanation.zooms import SearchRow, sides_of
from switchpoint.records.mpi_environment import mpi_settings
from switchpoint.records.run_facts import prove
from switchpoint.tables.columns import rows_by
from switchpoint.tables.measurements import Measurements

if TYPE_CHECKING:
    from switchpoint.records.footer import Footer, Search
    from switchpoint.records.header import Header

#: Label of a trial with the changes before it with which the program did not start: NAME=VALUE,
#: separated by blanks.
REFUSED_LABEL = "did_not_start"


@dataclass(frozen=True)
class Change:
    """One setting that differs between two runs."""

    before: InUse | None
    after: InUse | None

    @property
    def numbers(self) -> tuple[int, int] | None:
        """Both values in bytes, if they are numbers."""
        old = self.before.number if self.before else None
        new = self.after.number if self.after else None
        return None if old is None or new is None else (old, new)

    @property
    def raised(self) -> bool:
        """Whether the new value is larger."""
        return self.numbers is not None and self.numbers[1] > self.numbers[0]


@dataclass(frozen=True)
class Trial:
    """A run with other settings, and where the switch was in it.

    Attributes
    ----------
    run_id : str
        The run.
    changed : dict of Change
        What differs from the base run, by the name of the setting.
    lasts : frozenset of int
        Last sizes before switches that were located to the byte, by the method of the switch.
    followers : frozenset of str
        Settings that took the new value of a changed one by themselves: other names of it.
    gone : bool
        Whether a search that would have found the switch at its place, or above, found none.
    """

    run_id: str
    changed: dict[str, Change]
    followers: frozenset[str]
    lasts: frozenset[int]
    gone: bool

    def value_of(self, name: str) -> int:
        """Return the new value in bytes of a setting, which must be a number."""
        value = self.number_of(name)
        assert value is not None
        return value

    def number_of(self, name: str) -> int | None:
        """Return the new value in bytes of a setting, or None if it is not a number."""
        after = self.changed[name].after
        return after.number if after else None


@dataclass(frozen=True)
class Configuration:
    """What a record says of the settings and the way of the messages."""

    settings: dict[str, InUse]
    environment: dict[str, str]
    path: str
    lanes: frozenset[str]
    refused: dict[str, int]

    def same_way(self, other: Configuration) -> bool:
        """Whether messages took the same way: UCX's transports, or otherwise the path.

        The path is read from counters, which count the messages of other programs too.
        """
        if self.lanes and other.lanes:
            return self.lanes == other.lanes
        return self.path == other.path


class Configurations:
    """The configurations of runs, each read once."""

    def __init__(self, measurements: Measurements) -> None:
        self._measurements = measurements
        self.of = functools.cache(self._read)

    def _read(self, run_id: str) -> Configuration:
        return configuration_of(*self._measurements.facts(run_id))


def configuration_of(header: Header, footer: Footer | None) -> Configuration:
    """Read from a record what trials are compared by. An empty header (other formats) has none."""
    if not header:
        return Configuration({}, {}, "unknown", frozenset(), {})
    mpi = header.get("mpi", {})
    environment = mpi_settings(mpi.get("environment", {}))
    refused = header.get("labels", {}).get(REFUSED_LABEL, "").split()
    pairs = (word.partition("=") for word in refused)
    return Configuration(
        settings_in_use(header),
        {canonical(name, mpi): value for name, value in environment.items()},
        prove(header, footer).path,
        lanes_of(footer),
        {name: int(value) for name, _, value in pairs if value.isdecimal() and len(value) < 16},
    )


def lanes_of(footer: Footer | None) -> frozenset[str]:
    """Return the UCX transports of rank 0's endpoints, such as `sysv/memory` and `tcp/lo`."""
    endpoints = (footer["ranks"][0].get("ucx_endpoints") or []) if footer else []
    return frozenset(lane for endpoint in endpoints for lane in endpoint["lanes"])


def changes(base: Configuration, other: Configuration) -> dict[str, Change]:
    """Return the settings that differ between two runs, by name.

    What somebody set in the environment counts, and otherwise what is in use: a setting that a file
    sets, or that MPI_T wrote.
    """
    names = {
        name for name in {**base.environment, **other.environment}
        if base.environment.get(name) != other.environment.get(name)
    } or {
        name for name, setting in other.settings.items()
        if setting.sized and name in base.settings
        and base.settings[name].value != setting.value
    }  # fmt: skip
    changed = {
        name: Change(base.settings.get(name), other.settings.get(name)) for name in sorted(names)
    }
    # What the library did not take is not changed: both runs list the same value.
    return {
        name: change for name, change in changed.items()
        if change.before is None or change.after is None
        or change.before.value != change.after.value
    }  # fmt: skip


def followers(
    base: Configuration, other: Configuration, changed: dict[str, Change]
) -> frozenset[str]:
    """Return settings that took the old and the new value of a changed one by themselves.

    Libraries list some settings under an old and a new name.
    """
    moves = {change.numbers for change in changed.values()} - {None}
    return frozenset(
        name for name, setting in other.settings.items()
        if name not in changed and name in base.settings
        and (base.settings[name].number, setting.number) in moves
        and base.settings[name].number != setting.number
    )  # fmt: skip


def trials_of(runs: Configurations, place: Place, switch: Switch) -> tuple[list[Trial], set[int]]:
    """Return all trials of a switch, and where the runs with equal settings had it.

    Runs whose messages took another path or other transports than the switch's run prove nothing
    about it, and are left out.
    """
    base = runs.of(switch.run_id or "")
    repeats: set[int] = {switch.last}
    trials = []
    by_run = rows_by([*place.searches, *place.moved], ["run_id"])
    own = by_run.get((switch.run_id,), [])
    others = places_found(own, switch.last, switch.probed)[0] - {switch.last}
    for (run_id,), rows in by_run.items():
        other = runs.of(run_id)
        if run_id == switch.run_id or not base.same_way(other):
            continue
        changed = changes(base, other)
        same = followers(base, other, changed)
        lasts, gone = places_found(rows, switch.last, switch.probed)
        # Another switch of the switch's own run is not this one that moved.
        trial = Trial(run_id, changed, same, lasts - others, gone)
        if trial.changed:
            trials.append(trial)
        elif switch.probed:
            repeats |= trial.lasts
    return trials, repeats


def places_found(
    searches: Sequence[Search | SearchRow], last: int, probed: bool
) -> tuple[frozenset[int], bool]:
    """Return the last sizes of a run's switches, and whether a switch is not there any more.

    Parameters
    ----------
    searches
        Of one run and mode.
    last, probed
        The last size before the switch, in bytes, and whether the late-receiver probe located it.
    """
    method = "late_receiver" if probed else "bisection"
    own = [search for search in searches if search["method"] == method]
    lasts = [sides_of(search)[0] for search in own if search["verdict"] == "exact"]
    if probed:
        gone = any(search["stayed_eager"] and search["high_bytes"] > last for search in own)
    else:
        gone = any(
            search["verdict"] == "none" and search["low_bytes"] <= last < search["high_bytes"]
            for search in own
        )
    return frozenset(lasts), gone
