"""The checks run on every placement with every MPI, and leave records behind."""

import json
import re
import sys
from pathlib import Path

import pytest
from sessions import ROOT, Session, start_reframe
from switchpoint.records.record import read_facts

#: The extra `intelmpi` adds one environment, and IMB-MPI1 to it and to MPICH's.
INTEL = Path(sys.prefix, "bin/IMB-MPI1").exists()
ENVIRONS = {"openmpi", "mpich"} | ({"intelmpi"} if INTEL else set())
PROGRAMS = {
    "PingPongSmoke": ENVIRONS,
    "NetPipe": {"openmpi", "mpich"},
    "Imb": {"mpich", "intelmpi"} if INTEL else set(),
}
PLACEMENTS = ["one_node", "one_node_network", "two_nodes_one_host", "two_nodes_two_hosts"]


@pytest.fixture(scope="module")
def smoke(cluster, tmp_path_factory):
    prefix = tmp_path_factory.mktemp("smoke")
    process = start_reframe(
        cluster,
        prefix,
        *("-c", str(ROOT / "checks"), "-R", "-r", "-t", "smoke"),
        site="site-configs/testbed/settings.py",
    )
    output, _ = process.communicate(timeout=300)
    return Session(process.returncode, output, prefix)


def test_every_smoke_check_passes(smoke):
    assert smoke.exit_code == 0, smoke.output
    assert smoke.failures == []


def test_ping_pong_and_baselines_ran_on_every_placement_with_every_mpi(smoke):
    ran = {
        (case["unique_name"].partition("_")[0], case.get("placement"), case["environ"])
        for case in smoke.testcases
        if case["result"] == "pass" and case.get("placement")
    }
    assert ran == {
        (check, placement, environ)
        for check, environs in PROGRAMS.items()
        for placement in PLACEMENTS
        for environ in environs
    }


def test_a_baseline_that_is_not_there_is_skipped_with_the_fix(smoke):
    skipped = re.findall(r"SKIP .*(?:Osu|Imb)Build.*\+openmpi \[(.*)\]", smoke.output)
    assert len(skipped) == 2
    for reason in skipped:
        assert "build it with -S builder=spack, or name " in reason


def test_baselines_name_the_mpi_library_as_our_records_do(smoke):
    output = Path(smoke.prefix, "output")
    libraries = {}
    for path in output.rglob("*.record"):
        header = read_facts(path).header
        libraries[header["labels"]["environ"]] = header["mpi"]["library"]
    curves = [*output.rglob("netpipe.out"), *output.rglob("imb_*.out")]
    assert len(curves) >= len(PLACEMENTS) * 2
    for curve in curves:
        lines = curve.read_text().splitlines()
        labels = {}
        for line in lines:
            if line.startswith("# switchpoint: "):
                labels |= json.loads(line.removeprefix("# switchpoint: "))
        assert labels["mpi"] == libraries[labels["environ"]]


def test_kernels_are_built_once_for_each_mpi(smoke):
    builds = [case for case in smoke.testcases if case["unique_name"].startswith("KernelBuild")]
    assert sorted(case["environ"] for case in builds) == sorted(ENVIRONS)


def test_each_record_is_complete_and_labelled(smoke):
    records = [read_facts(path) for path in Path(smoke.prefix, "output").rglob("*.record")]
    assert len(records) == len(PLACEMENTS) * len(ENVIRONS)
    assert all(record.complete for record in records)
    assert {record.header["labels"]["placement"] for record in records} == set(PLACEMENTS)
    assert {record.header["labels"]["environ"] for record in records} == ENVIRONS


def test_ranks_of_two_nodes_are_bound_to_different_cores(smoke):
    for path in Path(smoke.prefix, "output").rglob("*.record"):
        ranks = read_facts(path).header["ranks"]
        if ranks[0]["cores_online"] > 1:
            assert ranks[0]["cpus_allowed"] != ranks[1]["cpus_allowed"], path


def test_performance_variables_are_all_there(smoke):
    for case in smoke.testcases:
        if case["unique_name"].startswith("PingPongSmoke"):
            names = {name.rpartition(":")[2] for name in case["perfvalues"]}
            assert names == {
                "send_latency",
                "ssend_latency",
                "stream_bandwidth",
                "sstream_bandwidth",
            }
