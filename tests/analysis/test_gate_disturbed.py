"""One bad session blinds the gate neither before nor after, and changes keep their identity."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from switchpoint import InputError, Store, gate, import_files
from switchpoint.gating.accepted import Acceptance, accept_all, identity_text, matching
from switchpoint.gating.policy import Policy
from synthetic_nights import Curve, Truth, add_nights, from_night, in_placement
from test_gate_forms import log
from typer.testing import Result

Run = Callable[..., Result]

#: 27 sessions of a test that takes 100 s, as launches scatter by 2 %.
CALM = 100 * np.exp(np.random.default_rng(20260101).normal(0, 0.02, 27))


def seconds(folder: Path, values: list[float]) -> Store:
    """Return a store with a value of each session."""
    store = Store(folder / "store")
    import_files([log(folder / f"{len(values)}", values, unit="s")], store)
    return store


@pytest.mark.parametrize("disturbed", [False, True])
def test_a_change_is_found_whatever_one_session_before_it_was(
    tmp_path: Path, disturbed: bool
) -> None:
    values = CALM.copy()
    values[12] *= 1.4 if disturbed else 1.0
    store = seconds(tmp_path, [*values, 140.0])

    [found] = gate(store).findings.to_dict("records")

    assert (found["kind"], found["fails"]) == ("regression", True)
    assert found["low"] < 0.4 < found["high"] and found["low"] > 0.2


@pytest.mark.parametrize("later", [[106.0], [101.0, 99.0, 102.0, 103.0]])
def test_sessions_after_a_disturbed_one_pass(tmp_path: Path, later: list[float]) -> None:
    store = seconds(tmp_path, [*CALM, 140.0, *later])

    assert not gate(store).fails


def test_a_bad_session_is_a_finding_and_recurs_by_name(tmp_path: Path) -> None:
    values = [*CALM]
    values[12] = 140.0
    store = seconds(tmp_path, [*values, 139.0])
    days = sorted(store.single_values()["time_utc"].astype(str).str[:10])

    first = gate(store, days[12], keep=True).findings
    assert "as on" not in first["sentence"].iloc[0]

    [again] = gate(store, keep=True).findings.to_dict("records")
    assert again["fails"] and again["sentence"].endswith(f"; as on {days[12]}")
    assert again["finding_id"] == first["finding_id"].iloc[0]


def test_a_failure_that_becomes_the_level_is_reported_once(tmp_path: Path) -> None:
    policy = Policy(settled_after_sessions=3)
    store = seconds(tmp_path, [*CALM[:10], 140.0, 141.0, 139.0, 140.5, 140.0])
    days = sorted(store.single_values()["time_utc"].astype(str).str[:10])
    failed = [gate(store, day, policy=policy, keep=True) for day in days[10:]]

    assert [verdict.fails for verdict in failed] == [True, True, True, False, False]
    told = [[one for one in verdict.warnings if one.kind == "new_level"] for verdict in failed]
    assert [len(one) for one in told] == [0, 0, 0, 1, 0]
    assert failed[2].findings["finding_id"].iloc[0] in told[3][0].message
    assert failed[2].findings["since_utc"].iloc[0].startswith(days[10])


def test_a_drift_of_single_values_is_found(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    values = 100 * np.exp(rng.normal(0, 0.01, 31) + np.linspace(0, 0.1, 31))
    store = seconds(tmp_path, [*values])

    [found] = gate(store).findings.to_dict("records")

    assert (found["kind"], found["fails"]) == ("slow_drift", True)
    assert found["low"] < 0.1 < found["high"] or found["effect"] > 0.05


def moved(curve: Curve, truth: Truth, *, last: int, slow: int | None) -> Truth:
    """Move the switch in the last session, after one that was slow as a whole."""
    truth = replace(truth, jump_us=0.8 * truth.latency_us, switch=65536)
    if curve.night == slow:
        names = ("latency_us", "per_byte_us", "jump_us")
        return replace(truth, **{name: 1.4 * getattr(truth, name) for name in names})
    return replace(truth, switch=32768) if curve.night == last else truth


@pytest.mark.parametrize("slow", [None, 5])
def test_a_slow_session_hides_no_switch_that_moves(tmp_path: Path, slow: int | None) -> None:
    store = Store(tmp_path / "store")
    add_nights(
        store,
        range(12),
        change=lambda curve, truth: moved(curve, truth, last=11, slow=slow),
        placements=["two_nodes_one_host"],
        modes=["send"],
    )

    [found] = gate(store).findings.to_dict("records")

    assert (found["kind"], found["fails"]) == ("moved_switch", True)
    assert "moved from 64 KiB to 32 KiB" in found["sentence"]


def test_the_limit_that_is_printed_is_the_one_that_decides(tmp_path: Path) -> None:
    def slower(curve: Curve, truth: Truth) -> Truth:
        if (curve.night, curve.placement, curve.environ) != (1, "one_node", "mpich"):
            return truth
        return replace(truth, latency_us=2.2 * truth.latency_us, jump_us=2.2 * truth.jump_us)

    store = Store(tmp_path / "store")
    add_nights(store, range(2), change=slower, modes=["send"])
    verdict = gate(store)

    [told] = [one for one in verdict.warnings if "a change of latency by less" in one.message]
    limit = int(re.findall(r"less than (\d+) %", told.message)[0])
    assert verdict.fails or limit >= 120, told
    smallest = {
        one["sessions"]: one["least"]
        for one in verdict.power
        if (one["metric"], one["of"]) == ("latency", "curve")
    }
    assert smallest[1] > smallest[3] > smallest[10] > smallest[30] > 0.04


def test_missing_values_of_a_test_are_one_finding_that_can_be_accepted(
    switchpoint: Run, tmp_path: Path
) -> None:
    store = Store(tmp_path / "store")
    path = log(tmp_path / "logs", [200.0, 201.0, 199.0, 200.5])
    text = path.read_text()
    import_files([path], store)
    for name in ("copy", "scale"):
        path.write_text(text.replace("triad_", f"{name}_"))
        import_files([path], store)
    path.write_text(log(tmp_path / "more", [200.0] * 5).read_text().replace("Stream", "Other"))
    import_files([path], store)

    [found] = gate(store, keep=True).findings.to_dict("records")
    assert (found["kind"], found["fails"]) == ("missing_value", True)
    assert found["sentence"] == ("3 values of `Stream %size=8` are missing (copy, scale, triad)")

    done = switchpoint(
        "accept", "missing_value", "--reason", "left out", "--by", "ada", "--store", store.url
    )
    assert done.exit_code == 0 and done.stdout.startswith(f"{found['finding_id']} accepted by ada")
    assert not gate(store).fails
    with pytest.raises(InputError, match="no such failure"):
        accept_all(store, ["slow_drift"], "why not")


def test_runs_without_a_date_are_told_how_to_date_them(tmp_path: Path) -> None:
    table = tmp_path / "four.csv"
    table.write_text("site,mpi,session,start_utc,size_bytes,time_us\n" + "".join(
        f"a,Open MPI 4.1.4,s{day},2026-01-0{day}T03:00:00Z,{size},{10 + day / 10}\n"
        for day in (1, 2) for size in (1, 2, 4, 8)
    ))  # fmt: skip
    store = Store(tmp_path / "store")
    import_files([table], store)

    with pytest.raises(InputError, match=r"without a start: .*\{start_utc\} and \{session\}"):
        gate(store)


@pytest.mark.parametrize(
    ("since", "effect", "placement", "accepted"),
    [
        ("2026-11-08", 0.4, "one_node", True),
        ("2026-11-12", 0.4, "one_node", False),  # it began later
        ("2026-11-08", 0.9, "one_node", False),  # it is larger
        ("2026-11-08", 0.4, "two_nodes", False),
    ],
)
def test_an_accepted_change_is_accepted_in_curves_that_show_it_later(
    since: str, effect: float, placement: str, accepted: bool
) -> None:
    curve = {"placement": "one_node", "mode": "send"}
    known = Acceptance(
        "abc", "regression", "latency", "night-009", "2026-11-10T02", "2026-11-10T02",
        frozenset([identity_text(curve)]), 0.4, "ada", "firmware", "2026-11-11T09",
        shared={"placement": "one_node"},
    )  # fmt: skip
    row = {
        "finding_id": "def", "kind": "regression", "metric": "latency", "session": "night-010",
        "curves": [{"placement": placement, "mode": "ssend"}], "shared": {"placement": placement},
        "effect": effect, "since_low_utc": since,
    }  # fmt: skip

    assert (matching([known], row) is known) == accepted


def test_a_change_keeps_its_id_and_date_until_it_is_accepted(
    switchpoint: Run, tmp_path: Path
) -> None:
    store = Store(tmp_path / "store")
    slower = in_placement("two_nodes_two_hosts", latency_us=1.2, jump_us=1.2)
    add_nights(store, range(11), change=from_night(8, slower), modes=["send"])

    def judged(night: int) -> tuple[int, list[tuple[str, ...]]]:
        done = switchpoint("gate", "--store", store.url, "--session", f"night-{night:03}", "--json")
        found = json.loads(done.stdout)["findings"]
        names = ("finding_id", "kind", "metric", "since_utc")
        return done.exit_code, [tuple(one[name] for name in names) for one in found]

    code, [first] = judged(8)
    assert code == 1 and first[1:] == ("regression", "latency", first[3])
    assert judged(9) == (1, [first])

    words = ("--reason", "new cables", "--by", "ada")
    done = switchpoint("accept", first[0][:6], *words, "--store", store.url)
    assert done.exit_code == 0 and "(2 curves)" in done.stdout
    assert judged(10)[0] == 0

    power = switchpoint("gate", "--store", store.url, "--power").stdout
    [line] = [one for one in power.splitlines() if "latency of one curve" in one]
    least = [float(one) for one in re.findall(r"([\d.]+) % after", line)]
    assert least == sorted(least, reverse=True) and least[-1] >= 5
