"""The gate tells what changed since earlier nights, in few findings, and is silent otherwise."""

from __future__ import annotations

import itertools
import json
import os
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest import write_record
from switchpoint import DataWarning, InputError, Measurements, Store, accept, gate, import_files
from switchpoint.gating import by_curve
from switchpoint.gating import kept as keeping
from switchpoint.gating import sessions as selection
from switchpoint.gating.gate import judged_last
from switchpoint.gating.kinds import ABSENCES, GATE_COLUMNS
from switchpoint.gating.policy import Policy
from switchpoint.gating.trends import trends
from switchpoint.gating.verdict import Verdict
from switchpoint.store.compaction import compact
from synthetic_nights import (
    MODES,
    PLACEMENTS,
    SIZES,
    Change,
    Curve,
    Truth,
    add_nights,
    from_night,
    in_placement,
    no_change,
)
from typer.testing import Result

Run = Callable[..., Result]

#: The night that is judged; those before it are the history.
LAST = 10


def store_of(tmp_path: Path, change: Change = no_change, nights: int = LAST, **more: Any) -> Store:
    """Return a store with a history and one night more."""
    store = Store(tmp_path / "store")
    add_nights(store, range(nights + 1), change=change, **more)
    return store


def only(verdict: Verdict) -> dict[Any, Any]:
    """Return the only finding."""
    [finding] = verdict.findings.to_dict("records")
    return finding


def fails(store: Store) -> bool:
    """Whether the newest session failed when it was judged last."""
    [verdict] = judged_last(store)
    return verdict.fails


def night_of(tmp_path: Path, night: int, **more: Any) -> Measurements:
    """Return what one night measured."""
    alone = Store(tmp_path / f"night-{night}")
    add_nights(alone, [night], **more)
    return alone.read()


def renamed(table: Measurements, column: str, value: str) -> Measurements:
    """Give all runs another partition, site and so on, or a label that they did not have."""
    labels = [json.dumps({**json.loads(own), column: value}) for own in table.runs["labels"]]
    table.runs["labels"] = labels
    if column in table.runs:
        table.runs[column] = value
    table.samples[column] = pd.Categorical([value] * len(table.samples))
    return table


def truncated(table: Measurements) -> Measurements:
    """Let all records end early."""
    table.runs["complete"] = False
    return table


def slower(placement: str, **factors: float) -> Change:
    return from_night(LAST, in_placement(placement, **factors))


def test_nothing_is_found_where_nothing_changed(tmp_path: Path) -> None:
    verdict = gate(store_of(tmp_path))

    assert verdict.findings.empty and not verdict.fails
    assert [*verdict.findings[verdict.findings["fails"]]] == [*verdict.findings]  # its columns
    assert (verdict.session, verdict.sessions, len(verdict.curves)) == ("night-010", LAST, 12)
    assert verdict.warnings == []


def test_curves_that_become_much_slower_by_different_factors_are_one_finding(
    tmp_path: Path,
) -> None:
    """As on a throttled node, whose time slices cost one mode more than another."""
    factors = {"send": {"openmpi": 20.0, "mpich": 7.0}, "ssend": {"openmpi": 1.6, "mpich": 1.5}}

    def change(curve: Curve, truth: Truth) -> Truth:
        if curve.placement != "two_nodes_two_hosts" or curve.night < LAST:
            return truth
        return replace(truth, latency_us=truth.latency_us * factors[curve.mode][curve.environ])

    verdict = gate(store_of(tmp_path, change))

    failing = verdict.findings[verdict.findings["fails"]]
    assert [len(curves) for curves in failing["curves"]] == [4]
    assert failing["metric"].tolist() == ["latency"]


def test_bandwidths_that_fall_by_different_factors_with_the_latency_are_one_finding(
    tmp_path: Path,
) -> None:
    per_byte = {("send", "openmpi"): 1.5, ("ssend", "mpich"): 1.25}

    def change(curve: Curve, truth: Truth) -> Truth:
        if curve.placement != "two_nodes_two_hosts" or curve.night < LAST:
            return truth
        factor = per_byte.get((curve.mode, curve.environ), 1.0)
        return replace(
            truth, latency_us=3.0 * truth.latency_us, per_byte_us=factor * truth.per_byte_us
        )

    found = only(gate(store_of(tmp_path, change)))

    assert found["metric"] == "latency" and len(found["curves"]) == 4
    assert len(re.findall(r"bandwidth of [^;]* -\d+ %", found["sentence"])) == 2


def test_a_higher_latency_of_one_placement_is_one_finding(tmp_path: Path) -> None:
    store = store_of(tmp_path, slower("two_nodes_two_hosts", latency_us=1.12))

    found = only(gate(store))

    assert (found["kind"], found["metric"]) == ("regression", "latency")
    assert found["shared"]["placement"] == "two_nodes_two_hosts" and len(found["curves"]) == 4
    assert found["low"] < 0.12 < found["high"] and found["high"] - found["low"] < 0.1
    assert re.fullmatch(
        r"latency of `two_nodes_two_hosts`( up to [\d,]+ (B|KiB))? \+1\d % \[\d+, \d+\]"
        r" \(4 curves\); bandwidth unchanged",
        found["sentence"],
    )
    assert found["since_utc"].startswith("2026-11-11")


def test_a_lower_bandwidth_of_one_mpi_is_one_finding(tmp_path: Path) -> None:
    def change(curve: Curve, truth: Truth) -> Truth:
        if curve.environ == "mpich":
            return replace(truth, per_byte_us=1.25 * truth.per_byte_us)
        return truth

    found = only(gate(store_of(tmp_path, from_night(LAST, change))))

    assert (found["kind"], found["metric"]) == ("regression", "bandwidth")
    assert found["shared"]["environ"] == "mpich" and len(found["curves"]) == 6
    assert found["low"] < -0.2 < found["high"] < 0
    assert "`MPICH`" in found["sentence"] and "latency unchanged" in found["sentence"]


def test_what_is_better_does_not_fail(tmp_path: Path) -> None:
    verdict = gate(store_of(tmp_path, slower("one_node", latency_us=0.8, jump_us=0.8)))

    assert not verdict.fails
    assert {*verdict.findings["kind"]} == {"improvement"}


def store_with_a_moved_switch(folder: Path, to: int) -> Store:
    """Return nights in the last of which two curves have their switch at another size."""

    def before(curve: Curve, truth: Truth) -> Truth:
        return replace(truth, jump_us=40.0) if curve.placement == "two_nodes_one_host" else truth

    def change(curve: Curve, truth: Truth) -> Truth:
        moves = curve.environ == "openmpi" and curve.placement == "two_nodes_one_host"
        return replace(before(curve, truth), switch=to if moves else truth.switch)

    store = Store(folder / "store")
    add_nights(store, range(LAST), change=before)
    add_nights(store, [LAST], change=change)
    return store


@pytest.mark.parametrize("to", [16384, 262144])
def test_a_moved_switch_is_named_with_both_places(tmp_path: Path, to: int) -> None:
    found = only(gate(store_with_a_moved_switch(tmp_path, to)))

    assert (found["kind"], found["metric"]) == ("moved_switch", "switch")
    assert found["shared"]["placement"] == "two_nodes_one_host" and len(found["curves"]) == 2
    assert f"moved from 64 KiB to {to // 1024} KiB (2 curves)" in found["sentence"]


def test_a_moved_switch_fails_unless_it_is_an_improvement_too(tmp_path: Path) -> None:
    slower = store_with_a_moved_switch(tmp_path / "slower", 16384)
    faster = store_with_a_moved_switch(tmp_path / "faster", 262144)
    both = Policy(fails=frozenset({"moved_switch", "improvement"}))

    assert gate(slower).fails and not gate(faster).fails
    assert gate(faster, policy=both).fails
    assert not gate(slower, policy=Policy(fails=frozenset({"improvement"}))).fails


@dataclass(frozen=True)
class BehindALink(Truth):
    """A curve that has no step at its switch, because the link limits the sizes around it."""

    link_us: float = 0.0085

    def times(self, sizes: Any) -> Any:
        """Times in microseconds."""
        return np.maximum(super().times(sizes), self.link_us * sizes - 110.0)


def behind_a_link(curve: Curve, truth: Truth) -> Truth:
    """Limit one placement by a link, which is slower for one of the MPIs."""
    if curve.placement != "two_nodes_two_hosts":
        return truth
    known = vars(truth) | {"per_byte_us": 1e-4, "jump_us": 50.0}
    return BehindALink(**known, link_us=0.0085 if curve.environ == "openmpi" else 0.0125)


def in_the_last_night(**changed: float) -> Change:
    """Change what is behind a link in the last night."""

    def change(curve: Curve, truth: Truth) -> Truth:
        known = behind_a_link(curve, truth)
        changes = isinstance(known, BehindALink) and curve.night == LAST
        return replace(known, **changed) if changes else known  # type: ignore[arg-type]

    return change


def test_a_switch_behind_a_slow_link_is_seen_where_it_moves_to(tmp_path: Path) -> None:
    found = gate(store_of(tmp_path, in_the_last_night(switch=4096))).findings

    [told] = found[found["kind"] != "improvement"]["sentence"]
    assert re.search(r"moved from (16|32) KiB to 4 KiB \(4 curves\)", told)
    assert "time from 4 KiB to 16 KiB +1" in told


@dataclass(frozen=True)
class Gradual(Truth):
    """A curve whose switch begins a size too early, and is shown there by the history."""

    def times(self, sizes: Any) -> Any:
        """Times in microseconds."""
        share = np.select([sizes < self.switch // 2, sizes < self.switch], [0.0, 0.1], 1.0)
        return self.latency_us + self.jump_us * share + self.per_byte_us * sizes


def test_a_size_that_the_history_shows_beyond_the_switch_may_have_moved_with_it(
    tmp_path: Path,
) -> None:
    def change(curve: Curve, truth: Truth) -> Truth:
        if curve.placement != "two_nodes_one_host":
            return truth
        tonight = curve.night == LAST and curve.environ == "openmpi"
        known = replace(truth, jump_us=80.0, switch=4096 if tonight else 65536)
        return (Truth if tonight else Gradual)(**vars(known))

    found = only(gate(store_of(tmp_path, change)))

    assert "moved from 64 KiB to 4 KiB (2 curves)" in found["sentence"]
    assert found["last_size_bytes"] == 32768


def test_sizes_that_did_not_change_are_not_those_that_a_switch_moved_across(
    tmp_path: Path,
) -> None:
    class Odd(BehindALink):
        """Two sizes are faster, and hardly tell how their segment would go on."""

        def times(self, sizes: Any) -> Any:
            faster = np.select([sizes == 256, sizes == 512], [0.8, 0.9], 1.0)
            return super().times(sizes) * faster

    def change(curve: Curve, truth: Truth) -> Truth:
        known = in_the_last_night(switch=4096)(curve, truth)
        return Odd(**vars(known)) if isinstance(known, BehindALink) else known

    found = gate(store_of(tmp_path, change)).findings

    moved = found.loc[found["kind"] == "moved_switch", "sentence"].tolist()
    assert moved
    for told in moved:
        assert "to 4 KiB" in told and "time from 4 KiB" in told


def test_a_slower_link_also_limits_sizes_that_it_did_not_limit_before(tmp_path: Path) -> None:
    found = only(gate(store_of(tmp_path, in_the_last_night(link_us=0.03))))

    assert re.match(r"bandwidth of `two_nodes_two_hosts` from (16|32) KiB -", found["sentence"])


def test_a_latency_behind_a_slow_link_is_no_switch_that_moved(tmp_path: Path) -> None:
    found = only(gate(store_of(tmp_path, in_the_last_night(latency_us=60.0))))

    assert re.match(r"latency of `two_nodes_two_hosts` up to 16 KiB \+\d+ %", found["sentence"])


@pytest.mark.parametrize(("factor", "kind"), [(3.0, "regression"), (0.4, "improvement")])
def test_a_size_that_stays_as_it_was_has_not_changed_in_the_other_direction(
    tmp_path: Path, factor: float, kind: str
) -> None:
    class Odd(Truth):
        def times(self, sizes: Any) -> Any:
            changed = replace(Truth(**vars(self)), latency_us=factor * self.latency_us)
            return np.where(sizes == 1024, super().times(sizes), changed.times(sizes))

    def change(curve: Curve, truth: Truth) -> Truth:
        return Odd(**vars(truth)) if curve.placement == "two_nodes_two_hosts" else truth

    found = gate(store_of(tmp_path, from_night(LAST, change)))

    assert {*found.findings["kind"]} == {kind}
    assert found.fails is (kind == "regression")


def test_a_finding_lists_its_largest_consequences_only(tmp_path: Path) -> None:
    class Odd(Truth):
        def times(self, sizes: Any) -> Any:
            odd = {64: 0.2, 256: 0.5, 1024: 0.7, 4096: 0.3, 16384: 0.6}
            return super().times(sizes) * (1 + np.array([odd.get(int(size), 0) for size in sizes]))

    def change(curve: Curve, truth: Truth) -> Truth:
        slower = replace(truth, latency_us=2 * truth.latency_us)
        return Odd(**vars(slower)) if curve.placement == "two_nodes_two_hosts" else truth

    found = gate(store_of(tmp_path, from_night(LAST, change))).findings.iloc[0]

    assert found["metric"] == "latency"
    assert re.findall(r"at (\S+ K?i?B) \+\d+ % beyond that", found["sentence"]) == [
        "1 KiB", "16 KiB", "256 B",
    ]  # fmt: skip
    assert found["sentence"].endswith("; 2 more consequences")


def test_one_size_that_is_slower_is_found(tmp_path: Path) -> None:
    class Odd(Truth):
        def times(self, sizes: Any) -> Any:
            return super().times(sizes) * (1 + 0.4 * (sizes == 1024))

    def change(curve: Curve, truth: Truth) -> Truth:
        if (curve.placement, curve.environ, curve.mode) == ("two_nodes_one_host", "mpich", "send"):
            return Odd(**vars(truth))
        return truth

    found = only(gate(store_of(tmp_path, from_night(LAST, change))))

    assert (found["kind"], found["metric"]) == ("regression", "time")
    assert (found["first_size_bytes"], found["last_size_bytes"]) == (1024, 1024)
    assert "at 1 KiB" in found["sentence"]
    assert found["low"] < 0.4 < found["high"]


class Queued(Truth):
    """A link that takes messages below the switch at eight times its speed, into a queue."""

    def times(self, sizes: Any) -> Any:
        """Times in microseconds."""
        queued = sizes < self.switch
        return self.latency_us + self.per_byte_us * sizes * (1 - 0.875 * queued)


def test_a_switch_that_moves_because_a_link_is_slower_is_no_second_finding(tmp_path: Path) -> None:
    def queued(curve: Curve, truth: Truth, **slower: float) -> Truth:
        far = curve.placement == "two_nodes_two_hosts"
        return Queued(**{**vars(truth), **slower}) if far else truth

    def slower(curve: Curve, truth: Truth) -> Truth:
        earlier = 16384 if curve.mode == "send" else truth.switch
        return queued(curve, truth, per_byte_us=2 * truth.per_byte_us, switch=earlier)

    store = Store(tmp_path / "store")
    add_nights(store, range(LAST), change=queued)
    add_nights(store, [LAST], change=slower)

    found = only(gate(store))

    assert (found["kind"], found["metric"], len(found["curves"])) == ("regression", "bandwidth", 4)
    assert found["low"] < -0.5 < found["high"]
    assert (
        "the switch of `two_nodes_two_hosts` `send` moved from 64 KiB to 16 KiB"
        in (found["sentence"])
    )


def test_a_switch_that_moves_in_other_curves_than_the_slow_ones_is_a_second_finding(
    tmp_path: Path,
) -> None:
    def jumps(curve: Curve, truth: Truth) -> Truth:
        return replace(truth, jump_us=40.0) if curve.placement == "two_nodes_one_host" else truth

    def change(curve: Curve, truth: Truth) -> Truth:
        if curve.placement == "two_nodes_two_hosts":
            return replace(truth, per_byte_us=1.3 * truth.per_byte_us)
        near = curve.placement == "two_nodes_one_host"
        return replace(jumps(curve, truth), switch=16384 if near else truth.switch)

    store = Store(tmp_path / "store")
    add_nights(store, range(LAST), change=jumps)
    add_nights(store, [LAST], change=change)

    findings = gate(store).findings

    assert sorted(findings["metric"]) == ["bandwidth", "switch"]


@pytest.mark.parametrize(
    ("environs", "name", "curves"),
    [({"openmpi"}, "`one_node` `Open MPI`", 2), ({"openmpi", "mpich"}, "`one_node`", 4)],
)
def test_curves_that_changed_beyond_their_switches_are_one_finding(
    tmp_path: Path, environs: set[str], name: str, curves: int
) -> None:
    def change(curve: Curve, truth: Truth) -> Truth:
        changes = curve.placement == "one_node" and curve.environ in environs
        return replace(truth, jump_us=2 * truth.jump_us) if changes else truth

    found = only(gate(store_of(tmp_path, from_night(LAST, change))))

    assert (found["kind"], found["metric"], len(found["curves"])) == (
        "regression", "latency", curves,
    )  # fmt: skip
    assert re.match(
        rf"latency of {name} from 4 KiB \+\d+ % \[\d+, \d+\] \({curves} curves\);",
        found["sentence"],
    )


def test_curves_that_changed_by_different_amounts_or_sizes_are_not_one_finding(
    tmp_path: Path,
) -> None:
    def change(curve: Curve, truth: Truth) -> Truth:
        if (curve.environ, curve.mode) == ("openmpi", "send"):
            factors = {"one_node": 1.5, "two_nodes_one_host": 6.0}
            return replace(truth, jump_us=factors.get(curve.placement, 1.0) * truth.jump_us)
        if (curve.environ, curve.mode, curve.placement) == ("mpich", "ssend", "one_node"):
            return replace(truth, jump_us=4 * truth.jump_us)
        return truth

    found = gate(store_of(tmp_path, from_night(LAST, change))).findings

    assert all(len(one) == 1 for one in found["curves"])
    assert len(found) == 3


class TwoSwitches(Truth):
    """A curve with another switch at 16 KiB. Above it the one at 64 KiB costs less."""

    def times(self, sizes: Any) -> Any:
        """Times in microseconds."""
        second = self.jump_us * np.where(sizes < 65536, 0.7, 1.0) * (sizes >= self.switch)
        return self.latency_us + 20.0 * (sizes >= 16384) + second + self.per_byte_us * sizes


def test_a_switch_that_moves_to_the_one_below_is_no_change_of_latency(tmp_path: Path) -> None:
    def change(curve: Curve, truth: Truth) -> Truth:
        if curve.placement != "two_nodes_one_host":
            return truth
        switch = 16384 if curve.night == LAST and curve.environ == "openmpi" else 65536
        return TwoSwitches(**vars(replace(truth, jump_us=40.0, switch=switch)))

    found = only(gate(store_of(tmp_path, change)))

    assert (found["kind"], len(found["curves"])) == ("moved_switch", 2)
    assert "moved from 64 KiB to 16 KiB (2 curves)" in found["sentence"]


class Uneven(Truth):
    """A curve whose segment above the switch has two sizes, of which the larger takes no longer."""

    def times(self, sizes: Any) -> Any:
        """Times in microseconds."""
        above = 60.0 * (sizes == 65536) + 100.0 * (sizes >= 262144)
        return super().times(sizes) + above


@pytest.mark.parametrize("whole", [1.0, 1.03])
def test_a_switch_to_a_segment_of_two_sizes_is_told_though_their_line_is_unknown(
    tmp_path: Path, whole: float
) -> None:
    def change(curve: Curve, truth: Truth) -> Truth:
        if curve.placement != "two_nodes_one_host":
            return truth
        tonight = curve.night == LAST and curve.environ == "openmpi"
        uneven = Uneven(**vars(replace(truth, jump_us=20.0, switch=16384 if tonight else 65536)))
        factor = whole if tonight else 1.0
        return replace(
            uneven, latency_us=factor * truth.latency_us, per_byte_us=factor * truth.per_byte_us
        )

    found = only(gate(store_of(tmp_path, change)))

    assert (found["kind"], len(found["curves"])) == ("moved_switch", 2)
    assert "moved from 64 KiB to 16 KiB (2 curves)" in found["sentence"]


class SlowAsAWhole(Truth):
    """A curve whose first sizes take half as long again, as those after the switch did before."""

    def times(self, sizes: Any) -> Any:
        """Times in microseconds."""
        return 1.5 * super().times(sizes)


@pytest.mark.parametrize(
    ("curve", "factor"),
    [
        # Of half of the latency, the switch makes that of the sizes above it.
        (Truth(0.5, 1.2e-4, switch=64, jump_us=0.25), 1.5),
        (Truth(30.0, 2e-3, jump_us=15.0), 1.3),
    ],
)
@pytest.mark.parametrize("seed", range(2))
def test_a_higher_latency_that_looks_like_the_line_of_the_other_side_is_no_moved_switch(
    tmp_path: Path, curve: Truth, factor: float, seed: int
) -> None:
    def change(which: Curve, truth: Truth) -> Truth:
        if which.placement != "two_nodes_two_hosts":
            return truth
        return replace(curve, latency_us=curve.latency_us * (factor if which.night == LAST else 1))

    found = only(gate(store_of(tmp_path, change, seed=seed)))

    assert (found["kind"], found["metric"]) == ("regression", "latency")
    assert len(found["curves"]) == 4
    assert "bandwidth unchanged" in found["sentence"]


class Slower(Truth):
    """A line whose latency also grows above the switch, as with real networks."""

    def times(self, sizes: Any) -> Any:
        """Times in microseconds."""
        latency = self.latency_us * np.where(sizes < self.switch, 1.0, 1.8)
        return latency + self.per_byte_us * sizes


@pytest.mark.parametrize("factor", [2.0, 4.0])
def test_a_much_higher_latency_is_neither_a_lower_bandwidth_nor_an_improvement(
    tmp_path: Path, factor: float
) -> None:
    def change(which: Curve, truth: Truth) -> Truth:
        if which.placement != "two_nodes_two_hosts":
            return truth
        return Slower(20.0 * (factor if which.night == LAST else 1), 8e-4)

    found = only(gate(store_of(tmp_path, change)))

    assert (found["kind"], found["metric"]) == ("regression", "latency")
    assert 1 + found["effect"] == pytest.approx(factor, rel=0.05)
    assert "bandwidth unchanged" in found["sentence"]


def test_a_curve_that_is_slower_as_a_whole_has_not_moved_its_switch(tmp_path: Path) -> None:
    def change(curve: Curve, truth: Truth) -> Truth:
        if (curve.placement, curve.environ) != ("two_nodes_one_host", "openmpi"):
            return truth
        jumps = replace(truth, jump_us=0.5 * truth.latency_us, switch=16384)
        return SlowAsAWhole(**vars(jumps)) if curve.night == LAST else jumps

    found = only(gate(store_of(tmp_path, change)))

    assert (found["kind"], len(found["curves"])) == ("regression", 2)
    assert "switch" not in found["sentence"]


class Loaded(Truth):
    """On a machine that other work uses: sizes are slow at random, and not the same in launches."""

    random = np.random.default_rng(20261122)

    def times(self, sizes: Any) -> Any:
        """Times in microseconds."""
        wandering = replace(Truth(**vars(self)), switch=int(self.random.choice([16384, 65536])))
        return wandering.times(sizes) * np.exp(np.abs(self.random.normal(0, 0.3, len(sizes))))


def test_one_night_on_a_loaded_machine_does_not_fail_the_next(tmp_path: Path) -> None:
    def loaded(_curve: Curve, truth: Truth) -> Truth:
        return Loaded(**vars(truth))

    for seed in range(6):
        store = Store(tmp_path / f"{seed}")
        add_nights(store, range(2), change=loaded, seed=seed)

        found = gate(store).findings

        assert not found["fails"].any(), found["sentence"].tolist()


@pytest.mark.parametrize(("earlier_nights", "kinds"), [(1, []), (2, ["moved_switch"])])
def test_a_switch_that_moves_by_one_size_is_told_from_the_third_night_on(
    tmp_path: Path, earlier_nights: int, kinds: list[str]
) -> None:
    def change(curve: Curve, truth: Truth) -> Truth:
        if curve.placement != "two_nodes_one_host":
            return truth
        return replace(
            truth, jump_us=40.0, switch=32768 if curve.night == earlier_nights else 65536
        )

    verdict = gate(store_of(tmp_path, change, nights=earlier_nights))

    assert verdict.findings["kind"].tolist() == kinds
    told = "a switch that moves by one size may be chance, and is not reported"
    assert any(told in one.message for one in verdict.warnings) == (earlier_nights == 1)


def test_a_switch_that_differs_from_launch_to_launch_has_not_moved(tmp_path: Path) -> None:
    places = np.random.default_rng(20261122)

    def wandering(curve: Curve, truth: Truth) -> Truth:
        if curve.placement != "two_nodes_one_host":
            return truth
        return Wandering(
            **vars(replace(truth, jump_us=40.0)), places=places, tonight=curve.night == 5
        )

    store = store_of(tmp_path, wandering, nights=5)

    assert gate(store).findings.empty


@dataclass(frozen=True)
class Wandering(Truth):
    """A switch that is at 64 KiB in two of three launches, and at 32 KiB in the others.

    Tonight it is at 32 KiB in all.
    """

    places: np.random.Generator = field(default_factory=np.random.default_rng)
    tonight: bool = False

    def times(self, sizes: Any) -> Any:
        """Times in microseconds."""
        low = self.tonight or self.places.random() < 1 / 3
        line = Truth(self.latency_us, self.per_byte_us, 32768 if low else 65536, self.jump_us)
        return line.times(sizes)


def test_noisier_samples_are_told_but_do_not_fail(tmp_path: Path) -> None:
    verdict = gate(store_of(tmp_path, slower("one_node", noise=6.0)))

    assert not verdict.fails
    noisier = verdict.findings[verdict.findings["kind"] == "noisier"].iloc[0]
    assert noisier["shared"]["placement"] == "one_node"


def test_a_missing_mpi_is_one_finding(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    add_nights(store, range(3))
    add_nights(store, [3], placements=PLACEMENTS[1:])

    verdict = gate(store)

    found = only(verdict)
    assert verdict.fails and found["kind"] == "missing_curve"
    assert found["sentence"] == "4 curves of `one_node` are missing"


def test_curves_that_are_missing_here_and_there_are_one_finding_a_test(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    add_nights(store, range(3))
    for number, placement in enumerate(PLACEMENTS):
        add_nights(store, [3], placements=[placement], modes=[MODES[number % 2]])

    found = gate(store).findings.to_dict("records")

    assert {one["kind"] for one in found} == {"missing_curve"}
    assert [len(one["curves"]) for one in found] == [3, 3]  # one for each MPI


def with_rules(
    tmp_path: Path, night: int, digest: str, sizes: np.ndarray = SIZES
) -> list[Measurements]:
    """Return what a night measured with rules of `switchpoint tune`, and without them."""
    used = renamed(night_of(tmp_path / digest, night, sizes=sizes), "rules", "recommended")
    without = night_of(tmp_path / f"not-{digest}", night, seed=2, sizes=sizes)
    return [renamed(used, "rules_digest", digest), renamed(without, "rules", "default")]


def test_curves_go_on_under_other_rules(tmp_path: Path) -> None:
    """A rule was withdrawn, so that also the launches without rules have fewer sizes."""
    store = Store(tmp_path / "store")
    told = []
    for night in range(7):
        rules = ("first", SIZES) if night < 4 else ("second", SIZES[3:])
        for side in with_rules(tmp_path, night, *rules):
            store.add(side)
        verdict = gate(store)
        assert not {*verdict.findings["kind"]} & {*ABSENCES}
        told.append([str(one) for one in verdict.warnings if one.kind == "rules"])

    said = (
        "12 curves of `recommended` go on under other rules (rules_digest first -> second): times"
        " with these rules are compared from the next session on"
    )
    assert told == [[], [], [], [], [said], [], []]


def test_of_two_folders_of_rules_that_are_measured_side_by_side_one_is_missed(
    tmp_path: Path,
) -> None:
    store = Store(tmp_path / "store")
    for night in range(4):
        for digest in ("first", "second") if night < 3 else ("second",):
            table = night_of(tmp_path / digest, night, seed=len(digest))
            store.add(renamed(table, "rules_digest", digest))

    verdict = gate(store)

    assert {*verdict.findings["kind"]} == {"missing_curve"}
    assert not any("other rules" in warning.message for warning in verdict.warnings)


def test_sizes_that_are_missing_under_the_same_rules_are_told(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    for night in range(4):
        for side in with_rules(tmp_path, night, "first", SIZES if night < 3 else SIZES[3:]):
            store.add(side)

    found = only(gate(store))

    assert (found["kind"], found["metric"]) == ("incomplete_session", "sizes")


def test_fewer_launches_are_told(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    add_nights(store, range(4))
    add_nights(store, [4], launches=2)

    found = only(gate(store))

    assert (found["kind"], found["metric"]) == ("incomplete_session", "launches")
    assert found["sentence"] == "only 2 launches of all curves instead of 3 (12 curves)"


def test_as_many_launches_as_on_half_of_the_nights_are_enough(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    add_nights(store, range(2))
    add_nights(store, range(2, 5), launches=2)

    assert gate(store).findings.empty


def test_a_clock_that_went_back_is_told(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    add_nights(store, [0, 1, 2, 5])
    add_nights(store, [3])

    verdict = gate(store)

    assert verdict.session == "night-003"
    assert [*verdict.findings["kind"]] == ["clock_went_back"]
    assert "before `night-005`" in verdict.findings["sentence"][0]
    assert "--session night-005)" in verdict.findings["sentence"][0]
    assert [*gate(store, "night-005").findings["kind"]] == []


@pytest.mark.parametrize("last", [[26, 27, 28, 29, 30], [26, 27, 29, 30, 28]])
def test_joined_batches_are_judged_as_they_were_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last: list[int]
) -> None:
    """The nights are of November and December; joined, those of a month are one batch."""
    monkeypatch.setattr(selection, "now_utc", lambda: "2027-01-01T00:00:00.000000Z")
    store = Store(tmp_path / "store")
    for night in last:
        add_nights(store, [night])
    before = gate(store)

    compact(store)

    assert len(store.files_of_runs()) == 2
    after = gate(store)
    assert after.session == before.session == f"night-{last[-1]:03}"
    assert after.findings["kind"].tolist() == before.findings["kind"].tolist()
    assert ("clock_went_back" in set(after.findings["kind"])) == (last[-1] == 28)


def test_an_accepted_clock_stays_accepted_in_later_nights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selection, "now_utc", lambda: "2027-01-01T00:00:00.000000Z")
    store = Store(tmp_path / "store")
    add_nights(store, [0, 1, 2, 9])
    add_nights(store, [3])
    found = only(gate(store, keep=True))

    accept(store, found["finding_id"], "the clock of the login node was ahead")

    assert not gate(store).fails
    add_nights(store, [4])
    later = gate(store)
    assert later.session == "night-004" and not later.fails
    assert only(later)["state"] == "accepted"


def test_a_night_in_the_future_costs_one_warning(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    add_nights(store, range(4))
    add_nights(store, [400_000])
    add_nights(store, [4])

    verdict = gate(store)

    assert (verdict.session, verdict.sessions) == ("night-004", 4)
    assert verdict.findings.empty
    [told] = [one for one in verdict.warnings if one.kind == "future_session"]
    assert "`night-400000`" in told.message


def test_other_hosts_under_the_same_site_are_told(tmp_path: Path) -> None:
    def facts(night: int, _placement: str, _environ: str) -> Mapping[str, Any]:
        return {"hosts": ("n7", "n8"), "cpu_model": "other"} if night == 3 else {}

    verdict = gate(store_of(tmp_path, nights=3, facts=facts))

    assert [*verdict.findings["kind"]] == ["wrong_site"]
    assert "n7, n8 (other)" in verdict.findings["sentence"][0]


def test_ranks_on_another_number_of_nodes_are_told(tmp_path: Path) -> None:
    def facts(night: int, placement: str, _environ: str) -> Mapping[str, Any]:
        both = night == 3 and placement == "two_nodes_one_host"
        return {"hosts": ("a1", "a1")} if both else {}

    found = only(gate(store_of(tmp_path, nights=3, facts=facts)))

    assert found["kind"] == "placement_unproved" and len(found["curves"]) == 4
    assert "ran on 1 node over network; before, it ran on 2 nodes" in found["sentence"]


def test_what_else_changed_comes_with_the_finding(tmp_path: Path) -> None:
    def facts(night: int, placement: str, environ: str) -> Mapping[str, Any]:
        limit = 4096 if night == LAST and placement == "two_nodes_two_hosts" else 65536
        release = "6.2" if night == LAST else "6.1"
        return {"cvars": {"btl_tcp_eager_limit": limit}, "kernel_release": release}

    store = store_of(tmp_path, slower("two_nodes_two_hosts", latency_us=1.2), facts=facts)

    first, second = only(gate(store))["what_changed"]

    assert first == {
        "fact": "control variable btl_tcp_eager_limit", "before": "65536", "now": "4096",
        "of_changed": 1.0, "of_unchanged": 0.0,
    }  # fmt: skip
    assert (second["fact"], second["now"]) == ("kernel release", "6.2")
    assert second["of_unchanged"] == 1.0


def test_what_changed_is_told_as_long_as_a_confirmed_change_lasts(tmp_path: Path) -> None:
    def change(curve: Curve, truth: Truth) -> Truth:
        slow = curve.night >= LAST - 1 and curve.placement == "two_nodes_two_hosts"
        return replace(truth, latency_us=1.2 * truth.latency_us) if slow else truth

    def facts(night: int, _placement: str, _environ: str) -> Mapping[str, Any]:
        return {"kernel_release": "6.2" if night >= LAST - 1 else "6.1"}

    store = store_of(tmp_path, change, facts=facts)
    before = gate(store, f"night-{LAST - 1:03}")
    assert only(gate(store))["what_changed"] == []
    keeping.keep_verdict(store, replace(before, findings=before.findings.assign(state="confirmed")))

    [told] = only(gate(store))["what_changed"]

    assert (told["fact"], told["before"], told["now"]) == ("kernel release", "6.1", "6.2")


def test_a_slow_node_is_named(tmp_path: Path) -> None:
    hosts = {
        "one_node": ("a1",), "two_nodes_one_host": ("a1", "a2"), "two_nodes_two_hosts": ("b1", "c1")
    }  # fmt: skip

    def facts(_night: int, placement: str, _environ: str) -> Mapping[str, Any]:
        return {"hosts": hosts[placement]}

    def change(curve: Curve, truth: Truth) -> Truth:
        slow = 1.3 if "a1" in hosts[curve.placement] else 1.0
        return replace(truth, latency_us=slow * truth.latency_us, jump_us=slow * truth.jump_us)

    found = only(gate(store_of(tmp_path, from_night(LAST, change), facts=facts)))

    assert found["shared"]["node"] == "a1" and len(found["curves"]) == 8
    assert found["sentence"].startswith("latency of node `a1`")


def test_a_night_whose_runs_are_gone_costs_one_warning(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    for night in range(4):
        add_nights(store, [night])
    lost = min((tmp_path / "store/runs").rglob("*.parquet"))
    lost.unlink()
    for path in (tmp_path / "store").rglob("*.parquet"):
        os.utime(path, (0, 0))

    verdict = gate(store)

    assert verdict.sessions == 2
    what = "is missing; import its runs again"
    assert DataWarning("missing_file", what, str(lost)) in verdict.warnings


def test_runs_whose_curves_are_gone_are_not_judged(switchpoint: Run, tmp_path: Path) -> None:
    store = store_of(tmp_path, nights=2)
    for path in (tmp_path / "store/curves").rglob("*.parquet"):
        path.unlink()

    told = switchpoint("gate", "--store", store.url)

    assert told.exit_code == 2
    assert "the runs of these sessions have no curves; `switchpoint store verify`" in told.stderr


def test_two_nights_are_enough_to_start(tmp_path: Path) -> None:
    quiet = gate(store_of(tmp_path / "quiet", nights=1))
    assert quiet.findings.empty
    assert any(
        re.search(r"only 1 baseline session: .* by less than \d+ %", one.message)
        for one in quiet.warnings
    )

    unsteady = gate(store_of(tmp_path / "unsteady", lambda curve, truth: replace(
        truth, latency_us=truth.latency_us * 60.0 ** (curve.night % 2)
    ), nights=2))  # fmt: skip
    assert "too unsteady to find a change of latency" in " ".join(map(str, unsteady.warnings))

    change = from_night(1, in_placement("two_nodes_two_hosts", latency_us=2.0))
    found = only(gate(store_of(tmp_path / "slow", change, nights=1)))
    assert (found["metric"], found["shared"]["placement"]) == ("latency", "two_nodes_two_hosts")


def test_the_first_night_passes_and_says_so(tmp_path: Path) -> None:
    verdict = gate(store_of(tmp_path, nights=0))

    assert not verdict.fails
    assert "this is the first one" in verdict.warnings[0].message


@pytest.mark.parametrize(
    ("column", "value"), [("partition", "cpu"), ("environ", "gnu"), ("grain", "4")]
)
def test_a_night_whose_curves_all_have_new_names_is_no_first_night(
    tmp_path: Path, column: str, value: str
) -> None:
    store = store_of(tmp_path, nights=3)
    store.add(renamed(night_of(tmp_path, 4), column, value))

    verdict = gate(store)

    assert verdict.fails and verdict.sessions == 4
    assert {*verdict.findings["kind"]} == {"missing_curve"}
    assert sum(map(len, verdict.findings["curves"])) == 12
    assert "a placement or a label may have a new name" in verdict.findings["sentence"].iloc[0]
    store.add(renamed(night_of(tmp_path, 5), column, value))
    assert not gate(store).fails


@pytest.mark.parametrize("site", [None, "there"])
@pytest.mark.parametrize(("hosts", "kinds"), [(("n7", "n8"), []), (("a1", "a2"), ["wrong_site"])])
def test_the_first_night_of_another_site_passes_on_hosts_of_its_own(
    tmp_path: Path, hosts: tuple[str, ...], kinds: list[str], site: str | None
) -> None:
    def facts(_night: int, _placement: str, _environ: str) -> Mapping[str, Any]:
        return {"hosts": hosts}

    store = store_of(tmp_path, nights=3)
    store.add(renamed(night_of(tmp_path, 4, facts=facts), "site", "there"))

    verdict = gate(store, site=site)

    assert verdict.sessions == 0 and [*verdict.findings["kind"]] == kinds
    assert verdict.fails == bool(kinds)
    store.add(renamed(night_of(tmp_path, 5, facts=facts), "site", "there"))
    assert not gate(store, site=site).fails


def test_a_disturbed_night_of_the_history_does_not_hide_a_change(tmp_path: Path) -> None:
    def change(curve: Curve, truth: Truth) -> Truth:
        burst = 1.6 if curve.night == 6 else 1.0
        late = 1.15 if curve.night == LAST and curve.placement == "two_nodes_one_host" else 1.0
        return replace(truth, latency_us=truth.latency_us * burst * late)

    found = only(gate(store_of(tmp_path, change)))

    assert (found["metric"], found["shared"]["placement"]) == ("latency", "two_nodes_one_host")


@pytest.mark.parametrize("state", ["confirmed", "suspected"])
def test_a_change_that_went_away_is_found_again(tmp_path: Path, state: str) -> None:
    def change(curve: Curve, truth: Truth) -> Truth:
        slow = curve.night in (4, LAST) and curve.placement == "two_nodes_two_hosts"
        return replace(truth, latency_us=1.2 * truth.latency_us) if slow else truth

    store = store_of(tmp_path, change)
    before = gate(store, "night-004")
    keeping.keep_verdict(store, replace(before, findings=before.findings.assign(state=state)))

    assert before.fails
    assert gate(store).fails


def test_an_accepted_change_is_the_new_normal(tmp_path: Path) -> None:
    change = slower("two_nodes_two_hosts", latency_us=1.2)
    store = store_of(tmp_path, change)
    found = gate(store, keep=True).findings.iloc[0]

    accept(store, found["finding_id"][:6], "new firmware", by="ada")

    again = only(gate(store))
    assert (again["state"], again["fails"]) == ("accepted", False)
    assert "accepted by ada" in again["reason"] and "new firmware" in again["reason"]
    add_nights(store, range(LAST + 1, LAST + 4), change=change)
    assert gate(store).findings.empty
    add_nights(store, [LAST + 4])
    assert only(gate(store))["kind"] == "improvement"


def test_a_curve_that_vanishes_after_an_accepted_change_is_missed(tmp_path: Path) -> None:
    store = store_of(tmp_path, slower("two_nodes_two_hosts", latency_us=1.2))
    found = gate(store, keep=True).findings.iloc[0]
    accept(store, found["finding_id"], "new firmware")
    add_nights(store, [LAST + 1], placements=PLACEMENTS[:2])

    missing = only(gate(store))

    assert missing["fails"]
    assert missing["sentence"] == "4 curves of `two_nodes_two_hosts` are missing"


@pytest.mark.parametrize("older_last", [True, False])
def test_the_latest_of_several_accepted_changes_counts(tmp_path: Path, older_last: bool) -> None:
    def change(curve: Curve, truth: Truth) -> Truth:
        slow = 1.0
        if curve.night >= 5 and curve.placement == "two_nodes_two_hosts":
            slow *= 1.2
        if curve.night >= LAST and curve.environ == "openmpi":
            slow *= 2.0
        return replace(truth, latency_us=slow * truth.latency_us)

    store = store_of(tmp_path, change)
    older = gate(store, "night-005", keep=True).findings["finding_id"]
    newer = gate(store, keep=True).findings["finding_id"]
    newer = newer[~newer.isin(older)]
    assert len(older) and len(newer)

    for finding in [*newer, *older] if older_last else [*older, *newer]:
        accept(store, finding, "a new network")

    add_nights(store, range(LAST + 1, LAST + 3), change=change)
    assert gate(store).findings.empty


def test_accepted_truncated_runs_are_those_of_one_session(tmp_path: Path) -> None:
    store = store_of(tmp_path, nights=3)
    store.add(truncated(night_of(tmp_path, 4)))
    found = only(gate(store, keep=True))
    assert found["metric"] == "runs" and found["shared"] == {"site": "here"}

    accept(store, found["finding_id"], "the job limit was too short")

    assert not gate(store).fails
    store.add(truncated(night_of(tmp_path, 5)))
    assert gate(store).fails


def test_accepting_fewer_launches_does_not_accept_still_fewer(tmp_path: Path) -> None:
    store = store_of(tmp_path, nights=3)
    add_nights(store, [4], launches=2)
    found = only(gate(store, keep=True))
    assert found["effect"] == pytest.approx(-1 / 3)

    accept(store, found["finding_id"], "one node is broken")

    assert not gate(store).fails
    add_nights(store, [5], launches=2)
    assert not gate(store).fails
    add_nights(store, [6], launches=1)
    again = gate(store).findings
    [fewer] = again[again["kind"] == "incomplete_session"].to_dict("records")
    assert fewer["fails"] and fewer["sentence"].startswith("only 1 launches")


class Tomorrow(date):
    """The calendar of a day later."""

    @classmethod
    def today(cls) -> Tomorrow:
        """Return the day after the real one."""
        return cls.fromordinal(date.today().toordinal() + 1)


def test_a_finding_can_be_accepted_until_a_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path / "store")
    add_nights(store, range(3))
    add_nights(store, [3], placements=PLACEMENTS[1:])
    found = gate(store, keep=True).findings.iloc[0]

    with pytest.raises(InputError, match=r"--until: 2020-01-01 is over; give a day from \d{4}-"):
        accept(store, found["finding_id"], "maintenance", by="ada", until="2020-01-01")
    today = date.today().isoformat()
    accept(store, found["finding_id"], "maintenance", by="ada", until=today)
    assert not gate(store).fails
    with monkeypatch.context() as later:
        later.setattr("switchpoint.gating.accepted.date", Tomorrow)
        assert gate(store).fails
    accept(store, found["finding_id"], "maintenance", by="ada", until="2999-01-01")
    assert not gate(store).fails
    add_nights(store, [4], placements=PLACEMENTS[1:])
    assert not gate(store).fails


def test_an_accepted_finding_that_another_program_wrote_costs_one_warning(tmp_path: Path) -> None:
    store = store_of(tmp_path, nights=2, placements=["one_node"], modes=["send"])
    start = "2026-11-01T02:00:00.000000Z"
    numbers = dict.fromkeys(["effect", "low", "high", "first_size_bytes", "last_size_bytes"], 1.0)
    row = dict.fromkeys(GATE_COLUMNS, "no JSON") | numbers | {"fails": False, "time_utc": start}
    store.keep_findings(pd.DataFrame([row | {"accepted_utc": start}]))

    verdict = gate(store)

    assert not verdict.fails
    [warning] = [one for one in verdict.warnings if one.kind == "acceptances"]
    assert "are not the gate's do not count (1 of them)" in warning.message


def test_a_finding_that_does_not_exist_cannot_be_accepted(tmp_path: Path) -> None:
    store = store_of(tmp_path, slower("two_nodes_two_hosts", latency_us=1.2))
    with pytest.raises(InputError, match="contains no finding; run `switchpoint gate` first"):
        accept(store, "abc", "why not")

    gate(store, keep=True)
    with pytest.raises(InputError, match=r"no finding in the store .* has this ID"):
        accept(store, "zzz", "why not")
    with pytest.raises(InputError, match="--reason: is empty"):
        accept(store, "a", "  ")
    with pytest.raises(InputError, match="'soon' is not a date"):
        accept(store, "a", "why not", until="soon")


@pytest.mark.parametrize("seed", range(2, 12))
def test_quiet_nights_show_nothing(tmp_path: Path, seed: int) -> None:
    assert gate(store_of(tmp_path, seed=seed, nights=6)).findings.empty


def test_the_command_exits_as_the_verdict_says(switchpoint: Run, tmp_path: Path) -> None:
    store = store_of(tmp_path, slower("two_nodes_two_hosts", latency_us=1.2))

    quiet = switchpoint("gate", "--store", store.url, "--session", "night-009")
    assert quiet.exit_code == 0
    assert (
        quiet.stdout == "session night-009: 12 curves compared with 9 baseline sessions: passes\n"
    )

    loud = switchpoint("gate", "--store", store.url)
    assert loud.exit_code == 1
    assert "latency of `two_nodes_two_hosts`" in loud.stdout
    assert loud.stdout.endswith("10 baseline sessions: fails with 1 finding\n")

    as_json = json.loads(switchpoint("gate", "--store", store.url, "--json").stdout)
    assert as_json["fails"] and as_json["findings"][0]["metric"] == "latency"

    wrong = switchpoint("gate", "--store", store.url, "--session", "monday")
    assert wrong.exit_code == 2
    assert "has no session 'monday'; the newest are night-008, night-009, night-010" in wrong.stderr


def test_the_command_accepts(switchpoint: Run, tmp_path: Path) -> None:
    store = store_of(tmp_path, slower("two_nodes_two_hosts", latency_us=1.2))
    found = json.loads(switchpoint("gate", "--store", store.url, "--json").stdout)["findings"][0]

    done = switchpoint(
        "accept", found["finding_id"], "--reason", "firmware", "--by", "ada", "--store", store.url
    )

    assert done.exit_code == 0
    assert done.stdout.startswith(f"{found['finding_id']} accepted by ada: latency of ")
    assert switchpoint("gate", "--store", store.url).exit_code == 0


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("minimum_effect: {latency: true}", "line 1: minimum_effect.latency: must be a number"),
        ("baseline_sessions: 3.0", "line 1: baseline_sessions: must be a whole number"),
        ("minimum_effect: {latency: fast}", "line 1: minimum_effect.latency: must be a number"),
        ("minimal: 3", "minimal: does not exist; the fields are minimum_effect"),
        ("mini.mal: 3", "mini.mal: does not exist; the fields are minimum_effect"),
        ("minimum_effect: {speed: 0.1}", "the fields are latency, bandwidth"),
        ("fails: [slowness]", "'slowness' is not a kind; use some of regression"),
        ("fails: regression", "line 1: fails: must be a list: [a, b]"),
        ("\nbaseline_sessions: 0", "line 2: baseline_sessions: must be greater than or equal to 1"),
        (
            "baseline_sessions: 3\nbaseline_sessions: 9",
            "line 2: is not YAML: 'baseline_sessions' is also",
        ),
        ("baseline_sessions: [", "is not YAML"),
        (f"baseline_sessions: {'9' * 5000}", "is not YAML: a value in it is impossible"),
        ("baseline_sessions: 2026-02-30", "is not YAML: a value in it is impossible"),
        (
            "maintenance: [{from: soon}]",
            "line 1: maintenance.0.from: must be a date, such as",
        ),
        (
            "maintenance: [{from: 2026-11-05, until: 2026-11-05, reason: power, nights: 3}]",
            "maintenance.0.nights: does not exist; the fields are from, until, reason",
        ),
    ],
)
def test_a_wrong_policy_is_named(switchpoint: Run, tmp_path: Path, text: str, problem: str) -> None:
    store = store_of(tmp_path, nights=1)
    policy = tmp_path / "gate.yaml"
    policy.write_text(text)

    done = switchpoint("gate", "--store", store.url, "--policy", policy)

    assert done.exit_code == 2
    assert f"{policy}: " in done.stderr and problem in done.stderr


def test_maintenance_ends_after_it_begins(switchpoint: Run, tmp_path: Path) -> None:
    store = store_of(tmp_path, nights=1)
    policy = tmp_path / "gate.yaml"
    policy.write_text("maintenance: [{from: 2026-11-05, until: 2026-11-04, reason: power}]\n")

    done = switchpoint("gate", "--store", store.url, "--policy", policy)

    assert done.exit_code == 2
    assert "maintenance.0: until: 2026-11-04 is before 2026-11-05" in done.stderr


#: Night 0 is the first of November.
MAINTENANCE = Policy.model_validate(
    {
        "maintenance": [
            {"from": date(2026, 11, 8), "until": date(2026, 11, 9), "reason": "new switches"}
        ]
    }
)


def test_a_night_of_maintenance_does_not_fail_and_says_so(tmp_path: Path) -> None:
    change = from_night(7, in_placement("two_nodes_two_hosts", latency_us=1.5))
    store = store_of(tmp_path, change, nights=7)

    verdict = gate(store, policy=MAINTENANCE)

    assert gate(store).fails and not verdict.fails
    assert only(verdict)["kind"] == "regression" and not only(verdict)["fails"]
    words = "during maintenance, so nothing fails (2026-11-08 to 2026-11-09: new switches)"
    assert [one for one in verdict.warnings if words in one.message]


def test_no_night_is_compared_with_those_of_maintenance(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    add_nights(store, range(7))
    slow = in_placement("two_nodes_two_hosts", latency_us=1.5)
    add_nights(store, [7, 8], change=slow, modes=["send", "ssend", "isend"])
    add_nights(store, [9])

    verdict = gate(store, policy=MAINTENANCE)

    assert gate(store).fails
    assert verdict.findings.empty and verdict.sessions == 7


def test_trends_leave_out_the_nights_of_maintenance(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    slow = in_placement("two_nodes_two_hosts", latency_us=1.5)
    alone: dict[str, Any] = {"placements": ["two_nodes_two_hosts"], "modes": ["send"]}
    add_nights(store, range(7), **alone)
    add_nights(store, [7, 8, 9], change=slow, **alone)

    verdict = gate(store, policy=MAINTENANCE, keep=True)

    assert only(verdict)["kind"] == "regression"
    for one in (verdict, *judged_last(store)):
        days = trends(store, one)["session_utc"].str[:10]
        assert [*days] == [*(f"2026-11-{day:02}" for day in range(1, 8)), "2026-11-10"]


def test_findings_of_a_version_that_kept_no_verdict_are_those_that_are_shown(
    tmp_path: Path,
) -> None:
    change = slower("two_nodes_two_hosts", latency_us=1.5)
    store = store_of(tmp_path, change, placements=["two_nodes_two_hosts"], modes=["send"])
    findings = gate(store).findings.assign(fails=False)
    nested = {name: findings[name].map(json.dumps) for name in ("shared", "curves", "what_changed")}
    store.keep_findings(findings.assign(**nested))

    assert not fails(store)
    gate(store, keep=True)
    assert fails(store)


@pytest.mark.parametrize(
    "wrong", [{"nights": "many"}, {"warnings": "[1]"}, {"maintenance": '[{"from": 1}]'}]
)
def test_a_line_that_is_no_verdict_is_left_out(tmp_path: Path, wrong: dict[str, str]) -> None:
    store = store_of(tmp_path, nights=2, placements=["one_node"], modes=["send"])
    gate(store, keep=True)
    line = store.verdicts().iloc[0].to_dict() | {"judged_utc": "2099-01-01T00:00Z", "nights": 7}
    foreign = Store(tmp_path / "foreign")
    foreign.keep_verdicts(pd.DataFrame([line | wrong]))
    for path in (tmp_path / "foreign/verdicts").rglob("*.parquet"):
        path.rename(tmp_path / "store/verdicts" / path.parent.name / path.name)

    [shown] = judged_last(store)

    assert (shown.session, shown.sessions) == ("night-002", 2)


def test_nothing_is_missing_in_checks_that_were_run_by_hand(tmp_path: Path) -> None:
    store = store_of(tmp_path, nights=2, modes=["send"])
    add_nights(store, [3], placements=["one_node"], modes=["send"])

    assert not fails(store), "no gate was asked to judge these checks as a night"
    assert gate(store, keep=True).fails
    assert fails(store)


def test_each_site_of_a_session_keeps_the_verdict_on_it(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    alone: dict[str, Any] = {"placements": ["two_nodes_two_hosts"], "modes": ["send"]}
    add_nights(store, range(LAST + 1), **alone)
    slow = slower("two_nodes_two_hosts", latency_us=1.5)
    add_nights(store, range(LAST + 1), site="there", seed=2, change=slow, **alone)
    lenient = Policy.model_validate({"minimum_effect": {"latency": 0.9}})

    def said() -> list[tuple[str | None, bool]]:
        return [(one.site, one.fails) for one in judged_last(store)]

    assert said() == [(None, True)], "no gate judged it, so both sites are judged together"
    gate(store, site="there", keep=True)
    assert said() == [("here", False), ("there", True)], "what no gate judged is judged now"
    gate(store, site="here", keep=True)
    assert said() == [("here", False), ("there", True)]
    gate(store, site="there", policy=lenient, keep=True)
    assert said() == [("here", False), ("there", False)]
    gate(store, keep=True)
    assert said() == [(None, True)]
    gate(store, site="there", policy=lenient, keep=True)
    assert said() == [(None, False), ("there", False)], "its finding was of this site only"


def test_a_verdict_on_all_sites_counts_for_those_that_were_not_judged_alone_since(
    tmp_path: Path,
) -> None:
    store = Store(tmp_path / "store")
    alone: dict[str, Any] = {"placements": ["two_nodes_two_hosts"], "modes": ["send"]}
    slow = slower("two_nodes_two_hosts", latency_us=1.5)
    for seed, site in enumerate(["here", "there"]):
        add_nights(store, range(LAST + 1), site=site, seed=seed, change=slow, **alone)
    lenient = Policy.model_validate({"minimum_effect": {"latency": 0.9}})
    gate(store, site="here", policy=lenient, keep=True)

    gate(store, keep=True)
    [whole] = judged_last(store)
    assert (whole.site, whole.fails) == (None, True)

    gate(store, site="there", policy=lenient, keep=True)
    told = judged_last(store)
    assert [one.site for one in told] == [None, "there"]

    gate(store, site="here", policy=lenient, keep=True)
    assert [(one.site, one.fails) for one in judged_last(store)] == [
        ("here", False), ("there", False)
    ]  # fmt: skip


def test_a_policy_says_what_matters(tmp_path: Path, switchpoint: Run) -> None:
    store = store_of(tmp_path, slower("two_nodes_two_hosts", latency_us=1.2))
    policy = tmp_path / "gate.yaml"

    policy.write_text("minimum_effect: {latency: 0.5}\n")
    assert switchpoint("gate", "--store", store.url, "--policy", policy).exit_code == 0
    policy.write_text("fails: [missing_curve]\n")
    assert switchpoint("gate", "--store", store.url, "--policy", policy).exit_code == 0
    policy.write_text("")
    assert switchpoint("gate", "--store", store.url, "--policy", policy).exit_code == 1


@pytest.mark.parametrize("named", [True, False])
def test_the_policy_of_the_sessions_site_counts(
    tmp_path: Path, switchpoint: Run, monkeypatch: pytest.MonkeyPatch, named: bool
) -> None:
    store = store_of(tmp_path, slower("two_nodes_two_hosts", latency_us=1.2))
    site = tmp_path / "site-configs" / store.runs()["site"].iloc[0]
    site.mkdir(parents=True)
    (site / "settings.py").write_text("site_configuration = {}\n")
    (site / "gate.yaml").write_text("minimum_effect: {latency: 0.5}\n")
    monkeypatch.chdir(tmp_path)
    words = ("--settings", site / "settings.py") if named else ()

    assert switchpoint("gate", "--store", store.url, *words).exit_code == 0


def test_few_months_of_a_store_are_read(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    add_nights(store, range(0, 90, 10))
    add_nights(store, range(150, 161))
    [*oldest] = (path for path in store.files_of_runs() if "month=2026-11" in path)
    for path in oldest:
        Path(path).write_bytes(b"damaged")

    assert gate(store, history=10).warnings == []
    assert len(gate(store, history=30).warnings) == len(oldest) > 0


def test_failed_checks_of_a_run_report_are_findings(switchpoint: Run, tmp_path: Path) -> None:
    store = store_of(tmp_path, nights=2)
    report = tmp_path / "report.json"
    case = {"name": "PingPong", "display_name": "PingPong %placement=one_node"}
    cases = [
        case | {"result": "pass", "fail_phase": None, "fail_reason": None},
        case | {"result": "fail", "fail_phase": "sanity", "fail_reason": "no end marker\nmore"},
    ]
    report.write_text(json.dumps({"session_info": {}, "runs": [{"testcases": cases}]}))

    done = switchpoint("gate", "--store", store.url, "--reframe-report", report)

    assert done.exit_code == 1
    assert (
        "check `PingPong %placement=one_node` failed in the phase sanity: no end marker"
        in done.stdout
    )
    report.write_text("{}")
    wrong = switchpoint("gate", "--store", store.url, "--reframe-report", report)
    assert wrong.exit_code == 2 and "is not a run report of ReFrame" in wrong.stderr


def test_a_failed_check_is_accepted_in_its_environment_only(
    switchpoint: Run, tmp_path: Path
) -> None:
    store = store_of(tmp_path, nights=2)
    report = tmp_path / "report.json"
    case = {"name": "T", "display_name": "T %size=8", "system": "alpha", "partition": "batch"}
    case |= {"result": "fail", "fail_phase": "sanity", "fail_reason": "no end marker"}
    words = ("gate", "--store", store.url, "--reframe-report", report, "--json")

    def findings(*cases: Mapping[str, Any]) -> list[dict[str, Any]]:
        report.write_text(json.dumps({"runs": [{"testcases": cases}]}))
        found: list[dict[str, Any]] = json.loads(switchpoint(*words).stdout)["findings"]
        return found

    gnu, clang = (case | {"environ": environ} for environ in ("gnu", "clang"))
    [found] = findings(gnu)
    assert "check `T %size=8 @alpha:batch+gnu` failed" in found["sentence"]
    accept(store, found["finding_id"], "known")

    assert [one["fails"] for one in findings(gnu)] == [False]
    assert [one["fails"] for one in findings(clang)] == [True]
    assert [one["fails"] for one in findings(gnu | {"system": "beta"})] == [True]
    # As the check `Gate` tells of it, before there is a report.
    told = {"display_name": "T %size=8 @alpha:batch+gnu", "result": "fail"}
    assert [one["finding_id"] for one in findings(told)] == [found["finding_id"]]


def test_an_mpi_of_another_version_is_the_same_curve(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    add_nights(store, range(4))
    newer = Store(tmp_path / "newer")
    add_nights(newer, [4])
    table = newer.read()
    table.runs["mpi"] = table.runs["mpi"].str.replace("4.1.4", "5.0.1")
    table.samples["mpi"] = (
        table.samples["mpi"].astype(str).str.replace("4.1.4", "5.0.1").astype("category")
    )
    store.add(table)

    verdict = gate(store)

    assert verdict.findings.empty and len(verdict.curves) == 12
    assert isinstance(verdict.curves, pd.DataFrame)


def kept(store: Store, last: int) -> pd.DataFrame:
    """Judge nights one after the other, as a nightly job does; return the last findings."""
    for night in range(1, last + 1):
        verdict = gate(store, f"night-{night:03}", keep=True)
    return verdict.findings


def test_the_parameters_of_each_launch_are_kept(tmp_path: Path) -> None:
    store = store_of(tmp_path, nights=3)

    kept(store, 3)

    rows = store.parameters(placement="two_nodes_one_host", mode="send", environ="mpich")
    assert rows["run_id"].nunique() == 3 * 3, "of three nights; the first has no history"
    below = rows[rows["first_size_bytes"] == 1]
    assert set(below["last_size_bytes"]) == {32768}
    assert below["latency_us"].between(12 * 0.9, 12 * 1.1).all()
    assert set(rows["first_size_bytes"]) == {1, 65536}
    assert rows["time_per_byte_us"].between(9e-4 * 0.9, 9e-4 * 1.1).all()
    assert rows["noise"].between(0.001, 0.03).all()
    assert (set(rows["proved_nodes"]), set(rows["proved_path"])) == ({"a1, a2"}, {"network"})
    store.keep_parameters(gate(store).parameters)
    assert len(store.parameters()) == len(store.parameters().drop_duplicates()), "kept once"


def test_a_store_that_cannot_be_written_is_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_of(tmp_path, nights=2)

    def refuse(*_: object) -> None:
        raise InputError(store.url, "cannot be written (Read-only file system)")

    monkeypatch.setattr(type(store.files), "write", refuse)  # root may write everywhere

    [_, warning] = gate(store, keep=True).warnings[-2:]
    assert "parameters of this session were not kept" in warning.message
    assert warning.kind == "not_kept" and "Read-only" in warning.message


def test_the_largest_sizes_do_not_mix_curves(tmp_path: Path) -> None:
    """The product of a size and the number of a curve is larger than any integer of the tables."""
    store, scatter = Store(tmp_path / "store"), random.Random(1)
    slow = (LAST, "c")
    (tmp_path / "records").mkdir()
    for night, placement, launch in itertools.product(range(LAST + 1), "abcdef", range(2)):
        run_id = f"{night:02}{ord(placement)}{launch}".ljust(32, "0")
        path = write_record(
            tmp_path / f"records/{run_id}.record",
            run_id=run_id,
            start_utc=f"2026-11-{night + 1:02}T02:00:00.000000Z",
            labels={"site": "here", "placement": placement, "session": f"night-{night:02}"},
            sizes=[8, 64, 512],
            step_at=None,
            slower=scatter.gauss(1, 0.01) * (1.5 if (night, placement) == slow else 1.0),
        )
        path.write_text(path.read_text().replace("send,512,", f"send,{2**62 - 1},"))
    import_files([tmp_path / "records"], store)

    found = gate(store).findings

    assert found["fails"].any()
    assert {curve["placement"] for curves in found["curves"] for curve in curves} == {"c"}


def test_a_damaged_file_of_facts_costs_one_warning(tmp_path: Path) -> None:
    store = store_of(tmp_path, slower("two_nodes_two_hosts", latency_us=1.12))
    before = gate(store).findings
    damaged = max((Path(store.url) / "facts").rglob("*.parquet"))
    damaged.write_bytes(damaged.read_bytes()[:-20])

    verdict = gate(store)

    assert verdict.findings["curves"].tolist() == before["curves"].tolist()
    [told] = [one for one in verdict.warnings if one.place == str(damaged)]
    assert "is damaged" in told.message


def test_a_switch_of_an_accepted_change_is_where_it_moved(tmp_path: Path) -> None:
    def jumps(curve: Curve, truth: Truth) -> Truth:
        near = curve.placement == "two_nodes_one_host"
        moved = 16384 if near and curve.night >= LAST else truth.switch
        return replace(truth, jump_us=40.0 if near else truth.jump_us, switch=moved)

    store = store_of(tmp_path, jumps, nights=LAST + 2)
    for night in range(LAST - 1, LAST + 3):
        verdict = gate(store, f"night-{night:03}", keep=True)
        if night == LAST:
            accept(store, only(verdict)["finding_id"], "a new library")

    assert verdict.findings.empty
    newest = store.parameters(session=f"night-{LAST + 2:03}", placement="two_nodes_one_host")
    assert set(newest["first_size_bytes"]) == {1, 16384}


def test_curves_in_parts_give_the_same_findings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_of(tmp_path, slower("two_nodes_two_hosts", latency_us=1.12))
    whole = gate(store)

    monkeypatch.setattr(by_curve, "_POINTS_AT_ONCE", 1500)
    monkeypatch.setenv("SWITCHPOINT_EXECUTOR", "serial")
    parts = gate(store)

    assert parts.findings.to_json() == whole.findings.to_json()
    assert parts.parameters.equals(whole.parameters)


def test_a_store_without_a_dated_run_is_one_line(switchpoint: Run, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("size_bytes,time_us,site\n8,1.5,here\n16,1.6,here\n")
    switchpoint("import", table, "--store", tmp_path / "results")

    result = switchpoint("gate", "--store", tmp_path / "results")

    assert result.exit_code == 2
    assert "contains no dated run; 1 run without a start: import them again" in result.stderr
    assert result.stderr.endswith("or with a label file that gives both\n")
