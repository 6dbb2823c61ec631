"""The score on tables of others: what counts as found, as false and as neither."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).resolve().parents[2] / "bench" / "detection" / "published.py"

TABLES = """table,fabric,source,path,commit,number,title
found,Ethernet,someone/something,found.txt,0,1,
false,Ethernet,someone/something,false.txt,0,1,
missed,RoCE,someone/something,missed.txt,0,1,
absent,GPU,someone/something,absent.txt,0,1,
"""

TRUTH = """table,mode,lower,upper,kind,percent,reason
found,,16384,32768,step,100,
false,,,,none,,
missed,,16384,32768,step,100,
absent,,1,2,step,50,
"""


def table(step_at: int) -> str:
    lines = ["# OSU MPI Latency Test v5.6.2", "# Size          Latency (us)"]
    for size in (2**power for power in range(21)):
        time = (2 + size / 4000) * (2 if size >= step_at else 1)
        lines.append(f"{size:<12}{time:>18.2f}")
    return "\n".join(lines) + "\n"


def cells(lines: list[str], name: str) -> list[str]:
    line = next(line for line in lines if line.startswith(f"| {name} |"))
    return [cell.strip() for cell in line.split("|")[2:-1]]


def test_steps_are_found_at_their_place_false_elsewhere_and_missed(tmp_path: Path) -> None:
    (tmp_path / "published_tables.csv").write_text(TABLES, encoding="utf-8")
    (tmp_path / "published_truth.csv").write_text(TRUTH, encoding="utf-8")
    for name, step_at in (("found", 32768), ("false", 1024), ("missed", 2**30)):
        (tmp_path / f"{name}.txt").write_text(table(step_at), encoding="utf-8")

    done = subprocess.run(
        [sys.executable, PROGRAM, "--truth", tmp_path, "--wrong", tmp_path],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip

    lines = [line.strip() for line in done.stdout.splitlines()]
    assert "all findings, 3 of 4 tables" in lines
    curves, steps, recall, kinds, wrong_sign, *_, false, _, _ = cells(lines, "Ethernet")
    assert (curves, steps, recall, kinds, wrong_sign) == ("2", "1", "100.0%", "100.0%", "0")
    assert float(false) == 0.5
    assert any(line.startswith("false: false step 512 to 1,024 B") for line in lines)
    assert cells(lines, "RoCE")[2] == "0.0%"
    assert any(line.startswith("missed: missed step 16,384 to 32,768 B, +100 %") for line in lines)
    assert not any(line.startswith("| GPU") for line in lines)
