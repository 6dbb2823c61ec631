"""What a step's time limit leaves of a measurement: nothing that was measured is lost."""

import json
import os
import shutil

import pytest
from sessions import ROOT, Session, preloaded, start_reframe

pytestmark = [
    pytest.mark.build,
    pytest.mark.skipif(not shutil.which("mpicc.openmpi"), reason="needs Open MPI"),
]


def run_here(tmp_path, *words) -> Session:
    """Run a small check on this machine."""
    process = start_reframe(
        f"none-{os.getpid()}",
        tmp_path,
        *("-c", str(ROOT / "checks"), "-R", "-r", "--system=local:openmpi"),
        *("-n", "PingPongSmoke.*%placement=one_node$", "-S", "modes=send", *words),
        site="site-configs/local/settings.py",
    )
    output, _ = process.communicate(timeout=300)
    return Session(process.returncode, output, tmp_path)


def measured_here(tmp_path, *words) -> tuple[Session, dict]:
    """Run a small check that passes; return the session and the footer of the record."""
    session = run_here(tmp_path, *words)
    assert session.exit_code == 0, session.output
    [record] = (tmp_path / "output").rglob("pingpong.record")
    footer = json.loads(record.read_text().splitlines()[-1])
    return session, footer


def test_a_sweep_that_is_too_long_ends_early_with_a_complete_record(tmp_path):
    _, footer = measured_here(tmp_path, "-S", "passes=1000000", "-S", "step_limit_s=12")

    assert footer["shortened"]
    assert {point["size_bytes"] for point in footer["points"]} == {1, 8, 1024, 65536, 1048576}
    assert min(point["passes"] for point in footer["points"]) >= 1


@pytest.mark.parametrize(
    ("stubs", "says"),
    [
        (["endless_finalize"], "the step was ended after 10 s, after its record was complete"),
        (
            ["endless_finalize", "stubborn_launcher"],
            "the step was ended after 10 s with SIGKILL, or something else killed a process of it, "
            "after its record was complete",
        ),
    ],
    ids=["ended", "killed"],
)
def test_a_complete_record_counts_although_mpi_hangs_in_finalize(tmp_path, stubs, says):
    words = ("-S", "passes=1", "-S", "step_limit_s=10")
    session, footer = measured_here(tmp_path, *preloaded(tmp_path, *stubs), *words)

    assert footer["end"] == "switchpoint"
    assert not footer["shortened"]
    assert says in " ".join(session.output.split())


def test_a_step_that_only_sigkill_ends_was_ended_after_its_limit(tmp_path):
    stubs = preloaded(tmp_path, "endless_barrier", "stubborn_launcher")

    session = run_here(tmp_path, *stubs, "-S", "step_limit_s=4")

    assert session.exit_code == 1, session.output
    [reason] = session.failures
    assert "the step was ended after 4 s with SIGKILL" in reason
