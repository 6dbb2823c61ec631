"""The table of MPI libraries, made as a reader makes it."""

import subprocess
import sys
from pathlib import Path

import pytest
from switchpoint.explanation.zooms import probed
from switchpoint.records.record import read_facts

pytestmark = pytest.mark.build

ROOT = Path(__file__).resolve().parents[2]
BENCH = ROOT / "bench" / "mpi_libraries.py"


def table(*words: str) -> subprocess.CompletedProcess[str]:
    """Run the benchmark with words of the command line."""
    return subprocess.run(
        [sys.executable, BENCH, *words], capture_output=True, text=True, timeout=600, check=False
    )


def test_a_library_has_a_row_with_its_cause_and_a_verdict(tmp_path):
    done = table("openmpi", "--records", str(tmp_path), "--only", "one_node")
    assert done.returncode == 0, done.stderr
    _, _, memory = done.stdout.splitlines()

    base = tmp_path / "0-openmpi" / "one_node" / "zoom-000.record"
    last = probed(read_facts(base).footer)["last_size_bytes"]
    if "ran over network" not in memory:  # other programs' messages count on a busy machine
        assert [cell.strip() for cell in memory.split("|")][2:5] == [
            "shared memory", "known", f"{last:,}",
        ]  # fmt: skip
        assert "eager_limit` = 4096" in memory
        assert "confirmed" in memory


def test_what_is_no_mpi_is_one_clear_error(tmp_path):
    done = table(str(tmp_path))
    assert done.returncode == 2
    assert "has no bin/mpicc and bin/mpiexec" in done.stderr
