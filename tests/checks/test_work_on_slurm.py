"""Work by curve goes to workers that dask-jobqueue starts as jobs of a real Slurm."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from many_curves import write_many_curves
from sessions import ROOT
from switchpoint import detect, read

#: Curves that are searched in several parts.
MANY = 250


@pytest.fixture
def curves(tmp_path: Path) -> Path:
    return write_many_curves(tmp_path / "curves.csv", MANY)


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
