"""Decides whether a collective switches because the library takes another algorithm.

Where a search found the switch of a collective, the kernel timed the library's choice and each of
its algorithms on both sides, in turns (docs/reference/run-record.md, "Searches for a switch"). With
the algorithm of either side forced, a change of algorithm vanishes; a step of the messages between
two ranks stays.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from switchpoint.explanation.places import ConsideredCause, Explained, Place, Switch
from switchpoint.explanation.verdicts import CONFIRMED, REFUTED, SUSPECTED
from switchpoint.tables.measurements import Measurements
from switchpoint.tables.mpi_names import DECIDING_ALGORITHMS, OPERATION_NAMES
from switchpoint.tables.student import SD_PER_MAD
from switchpoint.tables.sweeps import Floats

#: Between the name of a mode and that of its algorithm.
_OF = ":"

#: What is smaller than this part of the switch is nothing beside it. An algorithm that takes as
#: long as the choice before the switch, and goes on, then takes another time after it.
_PART = 1 / 3

#: Standard errors of an interval: there are many algorithms, and each must be right.
_ERRORS = 3.0

#: A proof repeats.
_LEAST_LAUNCHES = 2

#: The variable that forces an algorithm, by the beginning of the library's name.
_VARIABLES = {
    "Open MPI": "OMPI_MCA_coll_tuned_{operation}_algorithm",
    "MPICH": "MPIR_CVAR_{OPERATION}_INTRA_ALGORITHM",
}


@dataclass(frozen=True)
class _Beside:
    """One algorithm beside the library's choice, relative to the switch: 1 is all of it.

    Attributes
    ----------
    name : str
    step, before, after : (float, float)
        The interval of its own step, and of how much longer the choice takes than it, before the
        switch and after it.
    own : float
        Its own step, as a relative change of time.
    """

    name: str
    step: tuple[float, float]
    before: tuple[float, float]
    after: tuple[float, float]
    own: float

    @property
    def goes_on(self) -> bool:
        """Whether it certainly has no step where the choice has one."""
        return _is_nothing(self.step)

    @property
    def stays(self) -> bool:
        """Whether it has a step of its own, and takes as long as the choice on both sides."""
        return self.step[0] > _PART and _is_nothing(self.before) and _is_nothing(self.after)


def algorithm_change(
    measurements: Measurements, place: Place, switch: Switch, messages: list[Explained]
) -> ConsideredCause | None:
    """Decide whether the library changes its algorithm at a switch of a collective.

    Parameters
    ----------
    measurements, place, switch
        The switch, and the samples of its searches.
    messages
        Rows of `explain`: exact switches of ping-pong there, one of which the collective's messages
        may have.

    Returns
    -------
    dict or None
        A cause as `attribution.causes_of` gives them: `confirmed` if the switch vanishes when the
        algorithm of either side is forced, `refuted` if it stays with the algorithm that the
        library uses, else `suspected`. None if no algorithms were timed there.
    """
    launches = [*_launches(measurements, place, switch)]
    of_all = set.intersection(*({*launch} for launch in launches)) if launches else set()
    names = sorted(of_all - {""} - DECIDING_ALGORITHMS)
    if not names:
        return None
    jumps = [launch[""][1] - launch[""][0] for launch in launches]
    jump, error = _together(jumps)
    if abs(jump) <= _ERRORS * error:
        return None
    besides = [_beside(name, launches, jump) for name in names]
    operation = OPERATION_NAMES.get(str(place.identity["kernel"]), str(place.identity["kernel"]))
    ranks = len(measurements.facts(switch.run_id or "")[0].get("ranks", []))
    where = f"{ranks} ranks, from {switch.first:,} B on"
    cause = _cause(operation, where, besides, jump, len(launches))
    if cause["status"] == REFUTED:
        cause["reason"] += _switch_of_messages(switch, ranks, messages)
    cause["environment"] = _variable(str(place.identity["mpi"]), operation)
    return cause


def _cause(
    operation: str, where: str, besides: list[_Beside], jump: float, launches: int
) -> ConsideredCause:
    """Return the verdict."""
    before = [beside for beside in besides if _may_be_nothing(beside.before)]
    after = [beside for beside in besides if _may_be_nothing(beside.after)]
    stays = [beside for beside in besides if beside.stays]
    cause: ConsideredCause = {
        "name": f"algorithm of {operation}", "environment": None, "set_by": "the library",
        "value": None, "status": SUSPECTED, "law": None, "reason": "", "source": None,
        "ends_eager": False, "partner": None, "holds": 0,
    }  # fmt: skip
    whole = f"the time changes by {_percent(jump)} with the library's choice"
    if stays:
        same = " and ".join(f"{_percent(b.own)} with {b.name}" for b in stays)
        says = (
            f"{whole}, {same}, which the library may use on both sides: a step of its messages, not"
            " a change of algorithm"
        )
        return cause | {"status": REFUTED, "reason": says}
    if not before or not after:
        side = "before" if not before else "after"
        says = f"{whole}; no algorithm that was timed takes as long as it {side} the switch"
        return cause | {"status": SUSPECTED, "reason": says}
    change = f"{operation} changes from {_or(before)} to {_or(after)}"
    cause["name"] = change
    forced = ", ".join(f"{_percent(b.own)} with {b.name}" for b in [*before, *after])
    says = f"{change} ({where}): {whole}, {forced}; {launches} launches"
    lacking = []
    if launches < _LEAST_LAUNCHES:
        lacking.append("one launch; search again in another")
    unsure = [b.name for b in [*before, *after] if not b.goes_on]
    if unsure:
        lacking.append(f"{' and '.join(unsure)} may have a step too")
    equal = [any(_is_nothing(b.before) for b in before), any(_is_nothing(b.after) for b in after)]
    if not all(equal):
        lacking.append("times scatter too much to see which algorithm is used")
    if lacking:
        return cause | {
            "status": SUSPECTED,
            "reason": f"{says}; not confirmed: {'; '.join(lacking)}",
        }
    return cause | {"status": CONFIRMED, "reason": says}


def _switch_of_messages(switch: Switch, ranks: int, messages: list[Explained]) -> str:
    """Say at which switch of ping-pong the messages of a collective are, if there is one.

    A message is the whole size, a part of it for each of some ranks, or that of several ranks.
    """
    for row, count in itertools.product(messages if switch.exact else [], range(1, ranks + 1)):
        last, first = row["last_size_bytes"], row["first_size_bytes"]
        if switch.last // count <= last and -(-switch.first // count) >= first:
            size = f"1/{count} of the size" if count > 1 else "the whole size"
        elif switch.last * count <= last and switch.first * count >= first:
            size = f"{count} times the size"
        else:
            continue
        cause = f", caused by {row['cause']} ({row['status']})" if row["cause"] else ""
        return (
            f"; messages of {size} switch as pingpong {row['mode']} does from {first:,} B on{cause}"
        )
    return ""


def _launches(
    measurements: Measurements, place: Place, switch: Switch
) -> Iterator[dict[str, tuple[Floats, Floats]]]:
    """Yield for each launch the logarithms of times before and after the switch, by algorithm.

    Each array has a time for each turn. The name of the library's choice is empty.
    """
    choice = str(place.identity["mode"])
    samples = measurements.samples
    for search in place.searches:
        turns = int(search.get("compared_turns") or 0)
        sizes = [search["last_size_bytes"], search["first_size_bytes"]]
        if turns == 0 or sizes != [switch.last, switch.first]:
            continue
        part = samples[samples["run_id"].eq(search["run_id"]) & samples["size_bytes"].isin(sizes)]
        visits = part.groupby(["mode", "size_bytes", "pass"], observed=True)["time_us"].median()
        found: dict[str, tuple[Floats, Floats]] = {}
        for mode in visits.index.unique("mode"):
            of, _, name = str(mode).partition(_OF)
            if of != choice:
                continue
            times = [visits[mode].get(size, pd.Series(dtype=float)) for size in sizes]
            logs = [np.log(time.sort_index().to_numpy(float)[-turns:]) for time in times]
            if all(len(log) == turns for log in logs):
                found[name] = (logs[0], logs[1])
        if "" in found:
            yield found


def _beside(name: str, launches: list[dict[str, tuple[Floats, Floats]]], jump: float) -> _Beside:
    step = _together([launch[name][1] - launch[name][0] for launch in launches])
    before, after = (
        _together([launch[""][side] - launch[name][side] for launch in launches]) for side in (0, 1)
    )
    return _Beside(
        name,
        step=_relative(step, jump),
        before=_relative(before, jump),
        after=_relative(after, jump),
        own=step[0],
    )


def _together(differences: list[Floats]) -> tuple[float, float]:
    """Return the mean over launches of the median over turns, and its standard error."""
    medians = np.array([np.median(one) for one in differences])
    within = [
        SD_PER_MAD * np.median(np.abs(one - np.median(one))) * np.sqrt(np.pi / 2 / len(one))
        for one in differences
    ]
    between = np.var(medians, ddof=1) if len(medians) > 1 else 0.0
    error = np.sqrt(max(float(np.mean(np.square(within))), float(between)) / len(medians))
    return float(np.mean(medians)), float(error)


def _relative(part: tuple[float, float], jump: float) -> tuple[float, float]:
    middle, error = part[0] / jump, abs(_ERRORS * part[1] / jump)
    return middle - error, middle + error


def _is_nothing(interval: tuple[float, float]) -> bool:
    return interval[0] > -_PART and interval[1] < _PART


def _may_be_nothing(interval: tuple[float, float]) -> bool:
    return interval[0] < _PART and interval[1] > -_PART


def _or(besides: list[_Beside]) -> str:
    return " or ".join(beside.name for beside in besides)


def _percent(logarithm: float) -> str:
    return f"{100 * np.expm1(logarithm):+.0f} %"


def _variable(mpi: str, operation: str) -> str | None:
    """Return the environment variable that forces an algorithm, if it is known."""
    for library, variable in _VARIABLES.items():
        if mpi.startswith(library):
            return variable.format(operation=operation, OPERATION=operation.upper())
    return None
