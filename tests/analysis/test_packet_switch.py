"""The simulated switch agrees with what is known of switches with buffers at their inputs."""

from __future__ import annotations

import pytest
from switchpoint.models.packet_switch import (
    Switch,
    exchange_utilisation,
    groups_of,
    saturated_throughput,
    shift,
    shuffle,
)


@pytest.mark.parametrize(("ports", "known"), [(2, 0.75), (4, 0.6553), (8, 0.6184)])
def test_random_packets_fill_as_much_as_karol_hluchyj_and_morgan_computed(
    ports: int, known: float
) -> None:
    assert saturated_throughput(ports) == pytest.approx(known, abs=0.005)


def test_with_many_ports_the_limit_is_near() -> None:
    assert 2 - 2**0.5 < saturated_throughput(64, slots=2000) < 0.60


@pytest.mark.parametrize("schedule", [shuffle, shift, groups_of(2), groups_of(4)])
def test_without_pauses_no_two_packets_meet(schedule: object) -> None:
    for buffered_inputs in (True, False):
        switch = Switch(8, buffered_inputs)
        assert exchange_utilisation(schedule, switch, 4, pause=0) == 1  # type: ignore[arg-type]


def test_every_schedule_brings_every_message() -> None:
    expected = sorted(node for node in range(1, 8) for _ in range(3))
    for schedule in (shuffle, shift, groups_of(4)):
        assert sorted(schedule(0, 8, 3)) == expected


def test_behind_a_blocked_packet_everything_waits() -> None:
    """Two inputs want output 0; what is behind the loser is for an idle output."""
    switch = Switch(3)
    for port, output in ((0, 0), (1, 0), (0, 1), (1, 2)):
        switch.put(port, output)
    assert [switch.deliver() for _ in range(3)] == [1, 2, 1]
