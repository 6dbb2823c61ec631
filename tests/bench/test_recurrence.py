"""What comes again in another session is counted from both sides."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from switchpoint import Store, import_files

ROOT = Path(__file__).resolve().parents[2]
RECORDS = ROOT / "tests/analysis/records"


def counted(*stores: Path) -> list[str]:
    """Return the last row of the first table: of how many findings which share came again."""
    program = ROOT / "bench/detection/recurrence.py"
    done = subprocess.run(
        [sys.executable, program, *stores], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    [every] = [line for line in done.stdout.splitlines() if line.startswith("| all |")]
    _, findings, _, share = (cell.strip() for cell in every.split("|")[1:-1])
    return [findings, share]


def test_a_step_comes_again_where_the_same_curve_has_it(tmp_path: Path) -> None:
    step, moved = (RECORDS / f"openmpi-network-limit-{limit}.record.gz" for limit in (65536, 24000))
    for name, record in (("first", step), ("same", step), ("moved", moved)):
        import_files([record], Store(tmp_path / name))

    [steps, share] = counted(tmp_path / "first", tmp_path / "same")
    assert (int(steps) >= 2, share) == (True, "100%")
    [_, share] = counted(tmp_path / "first", tmp_path / "moved")
    assert share != "100%"
