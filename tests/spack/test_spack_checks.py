"""The checks on a testbed with ``-S builder=spack``, from Spack's build to the kept record."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from switchpoint.records.record import read_facts

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
MPIS = {"openmpi", "mpich"}


@pytest.fixture(scope="module")
def cluster():
    name = f"spack-{os.getpid()}"
    subprocess.run([BIN / "testbed", "up", "--name", name], check=True, timeout=60)
    yield name
    subprocess.run([BIN / "testbed", "down", "--name", name], check=True, timeout=60)


def run_checks(spack, cluster, prefix, *words):
    """Run checks that Spack builds."""
    spack.environment["TESTBED_NAME"] = cluster
    return spack.run(
        *(BIN / "reframe", "-C", ROOT / "site-configs/testbed/settings.py", "--nocolor"),
        *("-c", ROOT / "checks", "-R", "-r", "--prefix", prefix),
        *("--report-file", prefix / "report.json"),
        *("-S", "builder=spack", "-S", f"build_root={spack.build_root}", *words),
    )


@pytest.fixture(scope="module")
def kernels(spack, installed, cluster, tmp_path_factory):
    prefix = tmp_path_factory.mktemp("kernels")
    select = ("-n", "PingPongSmoke.*%placement=two_nodes_two_hosts$")
    done = run_checks(spack, cluster, prefix, *select)
    assert done.returncode == 0, done.stdout
    return prefix / "output"


def test_each_record_names_builder_spec_and_hash(spack, kernels):
    records = [read_facts(path).header for path in kernels.rglob("*.record")]
    assert {record["labels"]["environ"] for record in records} == MPIS
    for record in records:
        mpi = record["labels"]["environ"]
        lock = json.loads((spack.environment_of(mpi) / "spack.lock").read_text())
        assert record["kernel"]["builder"] == "spack"
        assert record["kernel"]["spec_hash"] == lock["roots"][0]["hash"]
        assert f"^{mpi}@" in record["labels"]["spack_spec"]
        assert "-march=" in record["kernel"]["flags"]


def test_the_lock_is_kept_beside_each_record(spack, kernels):
    for record in kernels.rglob("*.record"):
        mpi = read_facts(record).header["labels"]["environ"]
        kept = record.with_name("spack.lock").read_text()
        assert kept == (spack.environment_of(mpi) / "spack.lock").read_text()


def test_a_session_after_the_first_builds_nothing(kernels):
    outputs = list(kernels.rglob("rfm_build.out"))
    assert len(outputs) == len(MPIS)
    for output in outputs:
        assert "Installing" not in output.read_text()
        assert "installed in " in output.read_text()


def test_osu_runs_beside_the_kernels(spack, cluster, tmp_path, lacking):
    select = ("-n", "Osu.*%placement=two_nodes_two_hosts%.*=osu_latency$")
    done = run_checks(spack, cluster, tmp_path, *select)
    if "FetchError" in done.stdout:
        lacking("the sources of osu-micro-benchmarks cannot be fetched: add a mirror of them")
    assert done.returncode == 0, done.stdout
    curves = list((tmp_path / "output").rglob("osu_latency.out"))
    assert len(curves) == len(MPIS)
    for curve in curves:
        lines = curve.read_text().splitlines()
        labels = json.loads(lines[0].removeprefix("# switchpoint: "))
        assert labels["placement"] == "two_nodes_two_hosts"
        assert labels["builder"] == "spack"
        assert labels["spack_spec"].startswith("osu-micro-benchmarks@")
        assert len({line for line in lines if line.startswith("# rank on ")}) == 2
        assert curve.with_name("spack.lock").exists()
