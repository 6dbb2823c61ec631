"""Switches explained from recorded runs of the testbed, whose limits are known."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from experiments import proved_openmpi
from switchpoint import Store, detect, explain, read_files
from switchpoint.explanation import applicable, stack, suspects
from switchpoint.explanation.catalogue import Catalogue
from switchpoint.explanation.eager import stayed_eager
from switchpoint.explanation.zooms import brackets_to_search, searches

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


#: MPI and path, its setting, and the last size before its switch.
CASES = [
    ("openmpi-tcp", "btl_tcp_eager_limit", 65480),
    ("openmpi-memory", "btl_vader_eager_limit", 4040),
    ("mpich-tcp", "UCX_RNDV_THRESH", 19493),
    ("openmpi5-tcp", "btl_tcp_eager_limit", 65456),
    ("mpich43-memory", "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE", 16304),
]


@pytest.mark.parametrize(("case", "variable", "last"), CASES)
def test_a_probed_switch_is_one_of_protocol_and_its_setting_only_suspected(case, variable, last):
    found = switch(explain(recorded(f"{case}-zoom")), "send", last)
    assert (found["kind"], found["exact"]) == ("protocol_switch", True)
    assert (found["cause"], found["status"]) == (variable, "suspected")


def test_a_trial_alone_explains_nothing():
    assert explain(recorded("segment-intervention")).empty


def with_searches(tmp_path: Path, name: str, searches: Callable[[list], list]) -> Path:
    """Copy a record with other searches in its footer."""
    text = gzip.decompress((RECORDS / f"{name}.record.gz").read_bytes()).decode()
    *lines, last = text.splitlines()
    footer = json.loads(last)
    footer["switches"] = searches(footer["switches"])
    path = tmp_path / f"{name}.record"
    path.write_text("\n".join([*lines, json.dumps(footer)]) + "\n")
    return path


#: A step past 65,461 B by timing, 19 bytes before Open MPI's eager limit ends.
SEGMENT_STEP = {
    "method": "bisection", "mode": "send", "low_bytes": 65453, "high_bytes": 65470,
    "verdict": "exact", "last_size_bytes": 65461, "first_size_bytes": 65462, "jump": 0.2,
    "visits": 90, "time_us": 1e5, "involuntary_switches": 0, "reason": "time changes",
}  # fmt: skip


def test_the_tcp_segments_step_is_told_apart_from_the_eager_limit_19_bytes_on(tmp_path):
    # The trial is as recorded: with the limit at 98,313 the step past 65,461 is still there.
    zoom = with_searches(tmp_path, "openmpi-tcp-zoom", lambda found: [*found, SEGMENT_STEP])
    moved = RECORDS / "segment-intervention.record.gz"
    switches = explain(read_files([zoom, moved]).measurements)

    segment = switch(switches, "send", 65461)
    assert segment["kind"] == "step"
    assert (segment["cause"], segment["status"]) == ("TCP segment on lo", "suspected")
    considered = {cause["name"]: cause["status"] for cause in segment["causes"]}
    assert considered["btl_tcp_eager_limit"] == "refuted"

    eager = switch(switches, "send", 65480)
    assert eager["kind"] == "protocol_switch"
    assert (eager["cause"], eager["status"]) == ("btl_tcp_eager_limit", "suspected")


def found_in_sweep(measurements, kind: str = "step", bends: float = 0.0) -> pd.DataFrame:
    """A finding of a sweep beside a zoom: 8.5 us and 0.6 ns a byte to 52,016 B, then a jump."""
    run = measurements.runs.iloc[0]
    places = ("site", "partition", "mpi", "environ", "placement")
    line = {"intercept_us": 8.5, "per_byte_us": 6e-4}
    evidence = {"before": line, "after": line, "jump_us": 17.5, "bend": bends}
    origin = {"guess": "tcp_segment", "means": "", "evidence": ["one more segment"], "source": ""}
    finding = {
        "kernel": "pingpong", "mode": "send", "run_id": run["run_id"], "kind": kind,
        "size_bytes": 65536, "last_size_before": 52016, "magnitude": 0.36, "confidence": 0.9,
        "evidence": evidence, "suspects": [], "origin": origin,
    }  # fmt: skip
    return pd.DataFrame([{name: run[name] for name in places} | finding])


def test_a_refuted_setting_leaves_the_guessed_origin_beside_it(tmp_path):
    at_limit = SEGMENT_STEP | {"last_size_bytes": 65480, "first_size_bytes": 65481}
    zoom = with_searches(tmp_path, "openmpi-tcp-zoom", lambda found: [at_limit])
    stayed = with_searches(tmp_path, "segment-intervention", lambda found: [at_limit])
    measurements = read_files([zoom, stayed]).measurements

    found = switch(explain(measurements, found_in_sweep(measurements)), "send", 65480)

    considered = {cause["name"]: cause["status"] for cause in found["causes"]}
    assert considered["btl_tcp_eager_limit"] == "refuted"
    assert found["origin"]["guess"] == "tcp_segment"


@pytest.mark.parametrize(("bends", "followed"), [(0.6, True), (0.99, False)])
def test_a_change_of_slope_that_may_be_a_jump_is_followed(bends: float, followed: bool):
    measurements = recorded("openmpi-tcp-zoom")
    findings = found_in_sweep(measurements, "slope_change", bends)

    assert brackets_to_search(findings, ["send"]) == [("send", 52016, 65536)] * followed
    steps = [
        step["says"] for row in explain(measurements, findings)["evidence"] for step in row
        if step["method"] == "sweep"
    ]  # fmt: skip
    assert len(steps) == followed
    assert all("time changes by +37 %" in says for says in steps)


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
        | {"confidence": 1.0, "evidence": {}, "suspects": [], "origin": None}
        for kernel, grain in (("pingpong", None), ("pingpong", "10"), ("multipair", None))
    ]
    switches = explain(measurements, pd.DataFrame(rows))
    exact = switches[switches["exact"] & (switches["mode"] == "send")]
    assert exact[["kernel", "grain_us"]].to_numpy().tolist() == [["pingpong", None]]
    assert len(switches[~switches["exact"]]) == 2


def test_the_store_pairs_the_zoom_with_its_trials(tmp_path):
    store = Store(tmp_path / "results")
    store.add(proved_openmpi(tmp_path).measurements)
    found = switch(explain(store.latest()), "send", 65480)
    assert (found["cause"], found["status"]) == ("btl_tcp_eager_limit", "confirmed")


def test_a_step_that_followed_its_setting_once_is_suspected_and_no_switch_of_protocol():
    suspected = switch(explain(recorded("mpich-fifo-zoom")), "send", 92)
    assert (suspected["cause"], suspected["status"]) == ("UCX_SYSV_FIFO_ELEM_SIZE", "suspected")
    assert suspected["value"] == 128  # UCX's default, which nothing in the run had changed

    moved = switch(explain(recorded("mpich-fifo-zoom", "mpich-fifo-intervention")), "send", 92)
    assert (moved["kind"], moved["status"]) == ("step", "suspected")
    assert "last size 175" in moved["reason"]


def forget_headers(monkeypatch, series: str) -> None:
    """Take a series of versions out of the catalogue, as if nobody had seen it yet."""
    known = copy.deepcopy(applicable.catalogue())
    for entry in known.settings:
        (entry.header_bytes or {}).pop(series, None)
    monkeypatch.setattr(applicable, "catalogue", lambda: known)


def test_a_header_that_nobody_has_seen_is_suspected(monkeypatch):
    forget_headers(monkeypatch, "5.0")
    alone = switch(explain(recorded("openmpi5-tcp-zoom")), "send", 65456)
    assert (alone["cause"], alone["status"]) == ("btl_tcp_eager_limit", "suspected")
    assert "lies 80 B above the last eager byte 65456" in alone["reason"]


def test_without_a_catalogue_the_same_causes_are_confirmed(monkeypatch, tmp_path):
    known = Catalogue(settings=[], segments=[], origins=[])
    monkeypatch.setattr(applicable, "catalogue", lambda: known)
    proof = proved_openmpi(tmp_path)
    near = [cause["name"] for cause in switch(explain(proof.measurements), "send", 65480)["causes"]]
    assert "btl_tcp_eager_limit" in near
    assert not any(name.startswith("coll_") for name in near)
    others = dict.fromkeys(set(near) - {"btl_tcp_eager_limit"}, 98304)

    found = switch(explain(proof.trial(others, proof.last).measurements), "send", 65480)

    assert (found["cause"], found["status"]) == ("btl_tcp_eager_limit", "confirmed")


def test_where_a_send_never_waits_that_is_said_and_a_limit_given():
    zoom = recorded("mpich42-ofi-zoom")
    assert explain(zoom).empty
    (alone,) = stayed_eager(zoom).to_dict("records")
    assert alone["reason"].startswith("MPI_Send stayed eager up to 1,048,576 B; ")
    assert (alone["cause"], alone["status"]) == (
        "MPIR_CVAR_CH4_OFI_EAGER_MAX_MSG_SIZE",
        "suspected",
    )
    both = recorded("mpich42-ofi-zoom", "mpich42-ofi-intervention")
    (moved,) = stayed_eager(both).to_dict("records")
    assert moved["status"] == "governed"
    assert moved["reason"].endswith("set to 65574, it waits from 65,574 B on")
    assert explain(both).empty


def test_the_network_module_in_use_tells_which_settings_count():
    # The wheel has both modules; the record was made with the first, libfabric.
    zoom = recorded("mpich42-ofi-zoom")
    header, footer = zoom.facts(_only(zoom))
    assert stack.network_module(header["mpi"]) == "ofi"
    environment = header["mpi"]["environment"] | {"MPIR_CVAR_CH4_NETMOD": "ucx"}
    asked = header["mpi"] | {"environment": environment}
    assert stack.network_module(asked) == "ucx"
    names = {suspect["name"] for suspect in suspects.governing(header | {"mpi": asked}, footer)}
    assert names == {"UCX_RNDV_THRESH"}


def test_the_command_says_where_a_send_stayed_eager(switchpoint):
    record = RECORDS / "mpich42-ofi-zoom.record.gz"
    done = switchpoint(
        "explain", "--near", "64k", "--placement", "one_node_network", "--mode", "send", record
    )
    assert done.exit_code == 0
    assert "MPI_Send stayed eager up to 1,048,576 B" in done.stdout
    assert "No switch" not in done.stdout
    (told,) = json.loads(switchpoint("explain", "--json", record).stdout)["stayed_eager"]
    assert (told["curve"]["mode"], told["up_to_bytes"]) == ("send", 1048576)


def test_the_command_prints_the_switch_near_a_size_in_words(switchpoint, tmp_path):
    files = proved_openmpi(tmp_path).records
    done = switchpoint("explain", "--near", "64k", "--mode", "send", *files)
    assert done.exit_code == 0
    assert "the protocol switches between 65,480 B and 65,481 B" in done.stdout
    assert "cause confirmed: btl_tcp_eager_limit = 65,536 less 56 B" in done.stdout


def test_the_command_prints_json_that_has_no_nan(switchpoint):
    done = switchpoint("explain", "--json", RECORDS / "openmpi-tcp-zoom.record.gz")
    switches = json.loads(done.stdout, parse_constant=lambda word: pytest.fail(word))["switches"]
    assert {entry["kind"] for entry in switches} >= {"protocol_switch"}
    assert switches[0]["curve"]["placement"] == "one_node_network"


def test_a_placement_or_mode_that_no_run_has_is_refused_with_what_there_is(switchpoint):
    record = RECORDS / "openmpi-tcp-zoom.record.gz"
    for option, there in (("placement", "one_node_network"), ("mode", "send")):
        done = switchpoint("explain", f"--{option}", "nosuch", record)
        assert done.exit_code == 2
        [line] = done.stderr.splitlines()
        assert line.startswith(f"switchpoint: --{option}: no run has {option} 'nosuch'; they have:")
        assert there in line
        assert switchpoint("explain", f"--{option}", there, record).exit_code == 0


def test_a_size_that_is_none_is_one_clear_error(switchpoint):
    done = switchpoint("explain", "--near", "many", RECORDS / "openmpi-tcp-zoom.record.gz")
    assert done.exit_code == 2
    assert "--near: 'many' is not a size" in done.stderr


@pytest.mark.parametrize("old", [False, True])
def test_a_send_that_waits_at_the_smallest_size_did_not_stay_eager(tmp_path, old):
    text = gzip.decompress((RECORDS / "mpich42-ofi-zoom.record.gz").read_bytes()).decode()
    *lines, last = text.splitlines()
    footer = json.loads(last)
    [search] = footer["switches"]
    if old:  # the kernel did not say so, but it tried no other size
        footer["points"] = footer["points"][:1]
    else:
        search["stayed_eager"] = False
    path = tmp_path / "waits.record"
    path.write_text("\n".join([*lines, json.dumps(footer)]) + "\n")

    assert stayed_eager(read_files([path]).measurements).empty
