"""The nightly checks, and the check that judges their session by itself."""

from __future__ import annotations

import itertools
import re
import warnings
from pathlib import Path

import pytest
from sessions import ROOT, Session, run_testbed, start_reframe
from switchpoint import Store

SITE = "site-configs/testbed/settings.py"

#: A night that only has to be there: one environment, one placement, few sizes and samples.
SHORT = (
    "-S",
    "Nightly.sizes_bytes=8,64,512,4096,16384,65536,131072,262144",
    "-S",
    "passes=2",
    "-S",
    "samples=3",
)

#: One of its measurements.
ONE_LAUNCH = "Nightly.*%launch=1.*%placement=one_node%measures=pingpong"


def run(
    cluster: str,
    prefix: Path,
    *words: str,
    chosen: str = "Nightly.*%placement=two_nodes_two_hosts%",
) -> Session:
    """One short night with its gate; the store is in the prefix."""
    process = start_reframe(
        cluster,
        prefix,
        *("-c", str(ROOT / "checks/nightly.py"), "-c", str(ROOT / "checks/gate.py")),
        *("-t", "nightly", "-n", f"{chosen}|^Gate", "-p", "openmpi"),
        *(() if "--dry-run" in words else ("-r",)),
        *SHORT,
        *words,
        site=SITE,
    )
    output, _ = process.communicate(timeout=300)
    return Session(process.returncode, output, prefix)


@pytest.fixture(scope="module")
def nights(cluster, tmp_path_factory):
    """Two nights without a change, then one with a slow uplink, in one store.

    Work of others during one of the first two nights hides any change, so the nights are measured
    once more if they are not judged as they should be. A defect recurs.
    """
    three = measure_nights(cluster, tmp_path_factory.mktemp("nights"))
    if [night.exit_code for night in three] == [0, 0, 1]:
        return three
    print(*(night.output for night in three), sep="\n")
    warnings.warn("tried again: the nights were not judged as they should be", stacklevel=1)
    return measure_nights(cluster, tmp_path_factory.mktemp("nights"))


def measure_nights(cluster: str, prefix: Path) -> tuple[Session, Session, Session]:
    def night() -> Session:
        session = run(cluster, prefix)
        assert session.testcases, session.output
        return session

    first, second = night(), night()
    run_testbed("uplink", "--name", cluster, "b", "--rate", "100mbit")
    try:
        slow = night()
    finally:
        run_testbed("uplink", "--name", cluster, "b", "--restore")
    return first, second, slow


def gate_of(session: Session) -> dict:
    (case,) = [case for case in session.testcases if case["name"].startswith("Gate")]
    return case


def test_nights_without_a_change_pass(nights):
    for session in nights[:2]:
        assert session.exit_code == 0, session.output
        assert gate_of(session)["result"] == "pass"


def test_a_slow_uplink_fails_reframe_with_the_findings_sentence(nights):
    *_, slow = nights
    assert slow.exit_code == 1, slow.output
    assert gate_of(slow)["result"] == "fail"
    reason = gate_of(slow)["fail_reason"]
    assert "two_nodes_two_hosts" in reason
    assert re.search(r"bandwidth .*% \[", reason), reason


def test_a_session_has_one_name_and_three_launches_of_each_curve_apart(nights):
    runs = Store(nights[0].prefix / "results").runs()
    assert runs["session"].nunique() == 3
    for _, night in runs.groupby("session"):
        in_order = night.sort_values("start_utc")["kernel"].tolist()
        assert sorted(in_order) == ["broadcast"] * 3 + ["pingpong"] * 3
        assert all(one != other for one, other in itertools.pairwise(in_order))


def test_a_report_for_other_programs_is_beside_the_checks_output(nights):
    first, *_ = nights
    assert "<testsuite" in next(first.prefix.joinpath("output").rglob("Gate*/gate.xml")).read_text()


def test_checks_that_fail_or_are_skipped_are_findings(cluster, tmp_path):
    words = ("-c", str(ROOT / "tests/checks/skipped.py"))
    session = run(cluster, tmp_path, *words, chosen=f"{ONE_LAUNCH}|^Skipped")
    reason = gate_of(session)["fail_reason"]
    assert "Skipped @testbed:batch+openmpi` was skipped: is not for today" in reason


def test_a_session_that_measured_nothing_fails_the_gate(cluster, tmp_path):
    process = start_reframe(
        cluster,
        tmp_path,
        *("-c", str(ROOT / "checks/gate.py"), "-c", str(ROOT / "tests/checks/forgetful.py")),
        *("-c", str(ROOT / "tests/checks/skipped.py"), "-r", "-p", "openmpi"),
        *("-n", r"Forgetful.*one_node$|^Gate|^Skipped"),
        site=SITE,
    )
    output, _ = process.communicate(timeout=120)
    session = Session(process.returncode, output, tmp_path)
    reason = gate_of(session)["fail_reason"]
    assert "the session measured nothing" in reason
    assert "Forgetful %placement=one_node @testbed:batch+openmpi: points without a sample" in reason
    assert "Skipped @testbed:batch+openmpi: is not for today" in reason


def test_reframes_serial_policy_is_refused_with_the_fix(cluster, tmp_path):
    session = run(cluster, tmp_path, "--exec-policy=serial", chosen=ONE_LAUNCH)
    assert "leave this option out" in gate_of(session)["fail_reason"]


def test_a_dry_run_skips_the_gate(cluster, tmp_path):
    session = run(cluster, tmp_path, "--dry-run")
    assert session.exit_code == 0, session.output
    assert not (tmp_path / "results").exists()
