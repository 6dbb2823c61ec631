"""A step that hangs in MPI_Finalize has measured everything: its record counts, with a warning."""

import os
import shutil
import subprocess

import pytest
from sessions import ROOT, Session, start_reframe

pytestmark = pytest.mark.skipif(not shutil.which("mpicc.openmpi"), reason="needs Open MPI")

#: The library that never ends is loaded into real kernels on a real MPI.
STUB = ROOT / "tests" / "src" / "endless_finalize.c"


@pytest.fixture
def hung(tmp_path) -> Session:
    library = tmp_path / "endless_finalize.so"
    subprocess.run(["mpicc.openmpi", "-shared", "-fPIC", "-o", library, STUB], check=True)
    process = start_reframe(
        f"none-{os.getpid()}",
        tmp_path,
        *("-c", str(ROOT / "checks"), "-R", "-r", "--system=local:openmpi"),
        *("-n", "PingPongSmoke.*%placement=one_node$"),
        *("-S", "modes=send", "-S", "step_limit_s=20"),
        *("-S", f"rank_environment=LD_PRELOAD:{library}"),
        site="site-configs/local/settings.py",
    )
    output, _ = process.communicate(timeout=300)
    return Session(process.returncode, output, tmp_path)


@pytest.mark.build
def test_a_complete_record_counts_although_mpi_hangs_in_finalize(hung):
    assert hung.exit_code == 0, hung.output
    assert "the step was ended after 20 s, after its record was complete" in hung.output
    [record] = (hung.prefix / "output").rglob("pingpong.record")
    assert record.read_text().splitlines()[-1].startswith('{"end":"switchpoint"')
