"""Work by curve goes to workers that dask-jobqueue starts as jobs of a real Slurm."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from sessions import ROOT
from switchpoint import detect, read

#: Curves that are searched in several parts.
MANY = 250


@pytest.fixture
def curves(tmp_path: Path) -> Path:
    """A tidy CSV of many curves; every seventh has a step at 512 B."""
    path = tmp_path / "curves.csv"
    rows = [
        f"{link},{2**power},{(3 + power * 0.1) * (2 if link % 7 == 0 and power >= 9 else 1):.3f}"
        for link in range(MANY)
        for power in range(4, 13)
    ]
    path.write_text("link,size_bytes,time_us\n" + "\n".join(rows) + "\n")
    return path


def test_jobs_of_slurm_find_the_same_to_the_bit(cluster: str, curves: Path, tmp_path: Path) -> None:
    output = tmp_path / "findings.json"
    program = ROOT / "tests/checks/work_on_slurm.py"
    done = subprocess.run(
        [ROOT / ".venv/bin/testbed", "exec", "--name", cluster, "--",
         sys.executable, program, curves, output],
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert output.read_text() == detect(read(curves)).to_json(double_precision=15)
    assert set(output.with_suffix(".hosts").read_text().split()) <= {
        "10.0.1.1", "10.0.1.2", "10.0.2.1", "10.0.2.2",
    }  # fmt: skip
