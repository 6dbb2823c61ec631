"""What a step's time limit leaves of a measurement: nothing that was measured is lost."""

import json
import os
import shutil
import subprocess

import pytest
from sessions import ROOT, Session, start_reframe

pytestmark = [
    pytest.mark.build,
    pytest.mark.skipif(not shutil.which("mpicc.openmpi"), reason="needs Open MPI"),
]

#: Its MPI_Finalize never returns. It is loaded into real kernels on a real MPI.
STUB = ROOT / "tests" / "src" / "endless_finalize.c"


def measured_here(tmp_path, *words) -> tuple[Session, dict]:
    """Run a small check on this machine; return the session and the footer of the record."""
    process = start_reframe(
        f"none-{os.getpid()}",
        tmp_path,
        *("-c", str(ROOT / "checks"), "-R", "-r", "--system=local:openmpi"),
        *("-n", "PingPongSmoke.*%placement=one_node$", "-S", "modes=send", *words),
        site="site-configs/local/settings.py",
    )
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 0, output
    [record] = (tmp_path / "output").rglob("pingpong.record")
    footer = json.loads(record.read_text().splitlines()[-1])
    return Session(process.returncode, output, tmp_path), footer


def test_a_sweep_that_is_too_long_ends_early_with_a_complete_record(tmp_path):
    _, footer = measured_here(tmp_path, "-S", "passes=1000000", "-S", "step_limit_s=12")

    assert footer["shortened"]
    assert {point["size_bytes"] for point in footer["points"]} == {1, 8, 1024, 65536, 1048576}
    assert min(point["passes"] for point in footer["points"]) >= 1


def test_a_complete_record_counts_although_mpi_hangs_in_finalize(tmp_path):
    library = tmp_path / "endless_finalize.so"
    subprocess.run(["mpicc.openmpi", "-shared", "-fPIC", "-o", library, STUB], check=True)

    session, footer = measured_here(
        tmp_path, "-S", f"rank_environment=LD_PRELOAD:{library}", "-S", "step_limit_s=20"
    )

    assert footer["end"] == "switchpoint"
    assert not footer["shortened"]
    assert "the step was ended after 20 s, after its record was complete" in session.output
