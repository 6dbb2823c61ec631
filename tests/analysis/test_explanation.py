"""Switches explained from recorded runs of the testbed, whose limits are known."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from switchpoint import Store, detect, explain, read_files
from switchpoint.zooms import plan_intervention, searches

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


def test_a_switch_that_stays_refutes_its_setting(tmp_path):
    import gzip

    lines = gzip.decompress((RECORDS / "openmpi-tcp-intervention.record.gz").read_bytes())
    lines = lines.decode().splitlines()
    footer = json.loads(lines[-1])
    footer["switches"][0] |= {"last_size_bytes": 65480, "first_size_bytes": 65481}
    footer["switches"] = footer["switches"][:1]
    stayed = tmp_path / "stayed.record"
    stayed.write_text("\n".join([*lines[:-1], json.dumps(footer)]) + "\n")

    measurements = read_files([RECORDS / "openmpi-tcp-zoom.record.gz", stayed]).measurements
    found = switch(explain(measurements), "send", 65480)
    assert found["kind"] == "protocol_switch"  # the probe has proved that much
    assert (found["cause"], found["status"]) == (None, "refuted")
    assert "stayed at 65481 bytes" in found["reason"]


def test_zooms_make_no_curves():
    measurements = recorded("openmpi-tcp-zoom")
    assert detect(measurements).empty
    assert len(searches(measurements)) == len(
        measurements.facts(_only(measurements))[1]["switches"]
    )


def _only(measurements) -> str:
    (run_id,) = measurements.runs["run_id"]
    return run_id


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
