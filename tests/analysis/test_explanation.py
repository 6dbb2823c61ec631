"""Switches explained from recorded runs of the testbed, whose limits are known."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from switchpoint import Store, detect, explain, read_files
from switchpoint.zooms import brackets_to_search, plan_intervention, searches

RECORDS = Path(__file__).parent / "records" / "explain"


def recorded(*names: str):
    """Measurements of the named records."""
    gathered = read_files([RECORDS / f"{name}.record.gz" for name in names])
    assert not gathered.failures
    return gathered.measurements


def switch(switches: pd.DataFrame, mode: str, last: int) -> pd.Series:
    """The one switch of a mode past a size."""
    (row,) = [
        row
        for _, row in switches.iterrows()
        if (row["mode"], row["last_size_bytes"]) == (mode, last)
    ]
    return row


#: MPI and path, its setting, and the sizes around its switch before and after it was moved.
CASES = [
    ("openmpi-tcp", "btl_tcp_eager_limit", 65480, 98257),
    ("openmpi-memory", "btl_vader_eager_limit", 4040, 6097),
    ("mpich-tcp", "UCX_RNDV_THRESH", 19493, 29276),
]


@pytest.mark.parametrize(("case", "variable", "last", "moved"), CASES)
def test_a_probed_switch_is_one_of_protocol_and_its_setting_only_suspected(
    case, variable, last, moved
):
    found = switch(explain(recorded(f"{case}-zoom")), "send", last)
    assert (found["kind"], found["exact"]) == ("protocol_switch", True)
    assert (found["cause"], found["status"]) == (variable, "suspected")


@pytest.mark.parametrize(("case", "variable", "last", "moved"), CASES)
def test_a_cause_is_confirmed_when_the_switch_followed(case, variable, last, moved):
    measurements = recorded(f"{case}-zoom", f"{case}-intervention")
    found = switch(explain(measurements), "send", last)
    assert (found["cause"], found["status"]) == (variable, "confirmed")
    assert f"followed to {moved + 1} bytes" in found["reason"]
    assert {told["method"] for told in found["evidence"]} >= {"late_receiver", "intervention"}
    assert {told["run_id"] for told in found["evidence"]} == set(measurements.runs["run_id"])


def test_an_intervention_alone_confirms_nothing():
    assert explain(recorded("openmpi-tcp-intervention")).empty


def with_searches(tmp_path: Path, name: str, searches: Callable[[list], list]) -> Path:
    """Copy a record with other searches in its footer."""
    text = gzip.decompress((RECORDS / f"{name}.record.gz").read_bytes()).decode()
    *lines, last = text.splitlines()
    footer = json.loads(last)
    footer["switches"] = searches(footer["switches"])
    path = tmp_path / f"{name}.record"
    path.write_text("\n".join([*lines, json.dumps(footer)]) + "\n")
    return path


def test_a_switch_that_stays_refutes_its_setting(tmp_path):
    stayed = with_searches(
        tmp_path,
        "openmpi-tcp-intervention",
        lambda found: [found[0] | {"last_size_bytes": 65480, "first_size_bytes": 65481}],
    )

    measurements = read_files([RECORDS / "openmpi-tcp-zoom.record.gz", stayed]).measurements
    found = switch(explain(measurements), "send", 65480)
    assert found["kind"] == "protocol_switch"  # the probe has proved that much
    assert (found["cause"], found["status"]) == (None, "refuted")
    assert "stayed at 65481 bytes" in found["reason"]


def test_the_tcp_segments_step_is_told_apart_from_the_eager_limit_19_bytes_on(tmp_path):
    # The intervention is as recorded: with the limit at 98,313 the step past 65,461 is still there.
    step = {
        "method": "bisection", "mode": "send", "low_bytes": 65453, "high_bytes": 65470,
        "verdict": "exact", "last_size_bytes": 65461, "first_size_bytes": 65462, "jump": 0.2,
        "visits": 90, "time_us": 1e5, "involuntary_switches": 0, "reason": "time changes",
    }  # fmt: skip
    zoom = with_searches(tmp_path, "openmpi-tcp-zoom", lambda found: [*found, step])
    moved = RECORDS / "segment-intervention.record.gz"
    switches = explain(read_files([zoom, moved]).measurements)

    segment = switch(switches, "send", 65461)
    assert segment["kind"] == "step"
    assert (segment["cause"], segment["status"]) == ("TCP segment on lo", "suspected")
    considered = {cause["name"]: cause["status"] for cause in segment["causes"]}
    assert considered["btl_tcp_eager_limit"] == "refuted"

    eager = switch(switches, "send", 65480)
    assert eager["kind"] == "protocol_switch"
    assert (eager["cause"], eager["status"]) == ("btl_tcp_eager_limit", "confirmed")


def test_a_zoom_looks_at_each_step_and_closely_at_its_suspects():
    sweep = RECORDS.parent / "openmpi-network-limit-65536.record.gz"
    chosen = brackets_to_search(detect(read_files([sweep]).measurements), ["late", "send"])
    assert {mode for mode, _, _ in chosen} == {"send"}
    assert ("send", 52016, 65536) in chosen
    assert ("send", 65472, 65489) in chosen  # the eager limit
    assert ("send", 65453, 65470) in chosen  # the segment


def test_zooms_make_no_curves():
    measurements = recorded("openmpi-tcp-zoom")
    assert detect(measurements).empty
    assert len(searches(measurements)) == len(
        measurements.facts(_only(measurements))[1]["switches"]
    )


def _only(measurements) -> str:
    (run_id,) = measurements.runs["run_id"]
    return run_id


def test_curves_of_another_kernel_or_label_are_not_taken_for_the_zooms(tmp_path):
    measurements = recorded("openmpi-tcp-zoom")
    (run,) = measurements.runs.to_dict("records")
    rows = [
        {name: run[name] for name in ("site", "partition", "mpi", "environ", "placement")}
        | {"kernel": kernel, "grain_us": grain, "mode": "send", "run_id": run["run_id"]}
        | {"kind": "step", "size_bytes": 65536, "last_size_before": 52016, "magnitude": 0.3}
        | {"confidence": 1.0, "evidence": {}, "suspects": []}
        for kernel, grain in (("pingpong", None), ("pingpong", "10"), ("multipair", None))
    ]
    switches = explain(measurements, pd.DataFrame(rows))
    exact = switches[switches["exact"] & (switches["mode"] == "send")]
    assert exact[["kernel", "grain_us"]].to_numpy().tolist() == [["pingpong", None]]
    assert len(switches[~switches["exact"]]) == 2


def test_the_store_pairs_sweep_zoom_and_intervention(tmp_path):
    names = ("openmpi-tcp-zoom", "openmpi-tcp-intervention")
    store = Store(tmp_path / "results")
    store.add(recorded(*names))
    found = switch(explain(store.latest()), "send", 65480)
    assert found["status"] == "confirmed"


def test_an_intervention_moves_the_setting_off_powers_of_two():
    measurements = recorded("openmpi-tcp-zoom")
    plan = plan_intervention(*measurements.facts(_only(measurements)))
    assert plan is not None
    assert (plan.environment, plan.value) == ("OMPI_MCA_btl_tcp_eager_limit", 98313)
    assert plan.last_size_bytes == 98313 - 56


def test_a_named_setting_may_be_moved_for_a_step_that_ends_no_protocol():
    measurements = recorded("mpich-fifo-zoom")
    facts = measurements.facts(_only(measurements))
    assert plan_intervention(*facts) is None  # of itself only the end of the eager protocol
    plan = plan_intervention(*facts, "UCX_SYSV_FIFO_ELEM_SIZE")
    assert plan is not None
    assert (plan.value, plan.last_size_bytes) == (211, 175)


def test_a_step_that_follows_its_setting_is_confirmed_and_no_switch_of_protocol():
    suspected = switch(explain(recorded("mpich-fifo-zoom")), "send", 92)
    assert (suspected["cause"], suspected["status"]) == ("UCX_SYSV_FIFO_ELEM_SIZE", "suspected")
    assert suspected["value"] == 128  # UCX's default, which nothing in the run had changed

    moved = switch(explain(recorded("mpich-fifo-zoom", "mpich-fifo-intervention")), "send", 92)
    assert (moved["kind"], moved["status"]) == ("step", "confirmed")
    assert "followed to 176 bytes" in moved["reason"]


def test_the_command_prints_the_switch_near_a_size_in_words(switchpoint):
    files = [RECORDS / f"openmpi-tcp-{part}.record.gz" for part in ("zoom", "intervention")]
    done = switchpoint("explain", "--near", "64k", "--mode", "send", *files)
    assert done.exit_code == 0
    assert "after 65,480 B: 65,481 B is the first past it" in done.stdout
    assert "cause confirmed: btl_tcp_eager_limit = 65536" in done.stdout


def test_the_command_prints_json_that_has_no_nan(switchpoint):
    done = switchpoint("explain", "--json", RECORDS / "openmpi-tcp-zoom.record.gz")
    switches = json.loads(done.stdout, parse_constant=lambda word: pytest.fail(word))["switches"]
    assert {entry["kind"] for entry in switches} >= {"protocol_switch"}
    assert switches[0]["curve"]["placement"] == "one_node_network"


def test_a_size_that_is_none_is_one_clear_error(switchpoint):
    done = switchpoint("explain", "--near", "many", RECORDS / "openmpi-tcp-zoom.record.gz")
    assert done.exit_code == 2
    assert "--near: 'many' is no size" in done.stderr
