"""What a step's time limit leaves of a measurement: nothing that was measured is lost."""

import json
import os
import shutil
from pathlib import Path

import pytest
from sessions import ROOT, Session, preloaded, start_reframe
from switchpoint.reproduction.recipe import reproduce

pytestmark = [
    pytest.mark.build,
    pytest.mark.skipif(not shutil.which("mpicc.openmpi"), reason="needs Open MPI"),
]


@pytest.fixture(scope="module")
def long_sweep(tmp_path_factory):
    """A folder in which a sweep ran that was too long for its step, and mostly slept."""
    folder = tmp_path_factory.mktemp("long")
    long = ("-S", "passes=1000000", "-S", "pause_us=20000")
    measured_here(folder, *long, "-S", "step_limit_s=12")
    return folder


def run_here(tmp_path, *words) -> Session:
    """Run a small check on this machine."""
    process = start_reframe(
        f"none-{os.getpid()}",
        tmp_path,
        *("-c", str(ROOT / "checks/pingpong.py"), "-r", "--system=local:openmpi"),
        *("-n", "PingPongSmoke.*%placement=one_node$", "-S", "modes=send", *words),
        site="site-configs/local/settings.py",
    )
    output, _ = process.communicate(timeout=300)
    return Session(process.returncode, output, tmp_path)


def measured_here(tmp_path, *words) -> tuple[Session, dict]:
    """Run a small check that passes; return the session and the footer of the record."""
    session = run_here(tmp_path, *words)
    assert session.exit_code == 0, session.output
    return session, json.loads(record_in(tmp_path).read_text().splitlines()[-1])


def record_in(folder) -> Path:
    [record] = (folder / "output").rglob("pingpong.record")
    return record


def test_a_sweep_that_is_too_long_ends_early_with_a_complete_record(long_sweep):
    footer = json.loads(record_in(long_sweep).read_text().splitlines()[-1])

    assert footer["shortened"]
    assert {point["size_bytes"] for point in footer["points"]} == {1, 8, 1024, 65536, 1048576}
    assert min(point["passes"] for point in footer["points"]) >= 1


def test_a_run_is_reproduced_with_as_many_ranks_as_it_had(long_sweep):
    """The label that says so is written before ReFrame gives the job its number of tasks."""
    header = json.loads(record_in(long_sweep).read_text().splitlines()[0])
    assert len(header["ranks"]) == 2
    assert header["labels"]["launch"] == "mpiexec.openmpi --bind-to core -n 2"

    told = reproduce(str(record_in(long_sweep)))
    assert told.words("launch")[-2:] == ["-n", "2"]


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
