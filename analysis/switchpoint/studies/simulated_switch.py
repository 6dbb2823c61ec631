"""Study 003's claims about an input-buffered switch, from a simulation packet by packet."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

import numpy as np

from switchpoint.models.packet_switch import Switch, exchange_utilisation, groups_of, shuffle
from switchpoint.studies.evidence import SAME, Evidence, Wanted, conclude, resampled_rows
from switchpoint.tables.sweeps import Floats

_FEW, _MANY = 8, 16
_GROUP = 4

#: Packets of each message, those that a buffer holds, and the share of packets with a pause.
_PACKETS, _DEPTH, _PAUSE = 32, 4, 0.004

_SEEDS = 60

_Schedule = Callable[[int, int, int], Iterator[int]]
_SYNCHRONOUS: _Schedule = shuffle
_GROUPS: _Schedule = groups_of(_GROUP)
SCHEDULES = {"synchronous shuffle": _SYNCHRONOUS, f"group shuffle, groups of {_GROUP}": _GROUPS}


def blocked_at_the_head() -> Iterator[Evidence]:
    """Compare the synchronous shuffle with buffers at the inputs and at the outputs."""
    for ports in (_FEW, _MANY):
        table = _table((_SYNCHRONOUS, ports, False), (_SYNCHRONOUS, ports, True))
        yield _ratio(
            f"simulated, {ports} ports: synchronous shuffle, buffers at the inputs over outputs",
            table, lambda u: np.asarray(u[:, 0] / u[:, 1]), Wanted(low=1 + SAME), comparisons=2,
        )  # fmt: skip


def groups_scale_better() -> Evidence:
    """Compare how both shuffles lose from few to many ports, with buffers at the inputs."""
    table = _table(*((s, p, True) for p in (_MANY, _FEW) for s in (_SYNCHRONOUS, _GROUPS)))
    return _ratio(
        f"simulated: group over synchronous shuffle, {_MANY} ports over {_FEW}, groups of {_GROUP}",
        table, lambda u: np.asarray(u[:, 0] / u[:, 1] / (u[:, 2] / u[:, 3])), Wanted(high=1 - SAME),
    )  # fmt: skip


@functools.cache
def utilisations(schedule: _Schedule, ports: int, buffered_inputs: bool) -> tuple[float, ...]:
    """Return the share of the links that an exchange fills, for each seed of the pauses."""
    return tuple(
        exchange_utilisation(
            schedule, Switch(ports, buffered_inputs, _DEPTH), _PACKETS, pause=_PAUSE, seed=seed
        )
        for seed in range(_SEEDS)
    )


def _table(*cases: tuple[_Schedule, int, bool]) -> Floats:
    return np.array([utilisations(*case) for case in cases]).T


def _ratio(
    what: str,
    table: Floats,
    figure: Callable[[Floats], Floats],
    wanted: Wanted,
    comparisons: int = 1,
) -> Evidence:
    """Return evidence from medians over seeds; the share of a link is the inverse of a time."""
    figures = resampled_rows(table, lambda draws: figure(np.median(draws, axis=1)))
    return conclude(what, figures, wanted, [], comparisons=comparisons)
