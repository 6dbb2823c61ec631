"""The score on tables of others: what counts as found, as false and as neither."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).resolve().parents[2] / "bench" / "detection" / "published.py"

TABLES = """table,fabric,source,path,commit,number,title
first,Ethernet,someone/something,first.txt,0,1,
second,Ethernet,someone/something,second.txt,0,1,
absent,GPU,someone/something,absent.txt,0,1,
"""

TRUTH = """table,mode,lower,upper,kind,percent,reason
first,,16384,32768,step,100,
second,,,,none,,
absent,,1,2,step,50,
"""


def table(step_at: int) -> str:
    lines = ["# OSU MPI Latency Test v5.6.2", "# Size          Latency (us)"]
    for size in (2**power for power in range(21)):
        time = (2 + size / 4000) * (2 if size >= step_at else 1)
        lines.append(f"{size:<12}{time:>18.2f}")
    return "\n".join(lines) + "\n"


def score(folder: Path, *options: str) -> list[str]:
    (folder / "published_tables.csv").write_text(TABLES, encoding="utf-8")
    (folder / "published_truth.csv").write_text(TRUTH, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, PROGRAM, "--truth", folder, *options, folder],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    return done.stdout.splitlines()


def cells(lines: list[str], name: str) -> list[str]:
    line = next(line for line in lines if line.startswith(f"| {name} |"))
    return [cell.strip() for cell in line.split("|")[2:-1]]


def test_steps_are_found_at_their_place_and_false_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "first.txt").write_text(table(step_at=32768), encoding="utf-8")
    (tmp_path / "second.txt").write_text(table(step_at=1024), encoding="utf-8")

    lines = score(tmp_path, "--wrong")

    assert "all findings, 2 of 3 tables" in lines
    curves, steps, recall, kinds, wrong_sign, *_, false, _, _ = cells(lines, "all")
    assert (curves, steps, recall, kinds, wrong_sign) == ("2", "1", "100.0%", "100.0%", "0")
    assert float(false) == 0.5
    assert any(line.strip().startswith("second: false step 512 to 1,024 B") for line in lines)
    assert not any(line.startswith("| GPU") for line in lines)


def test_a_step_that_is_not_there_is_missed(tmp_path: Path) -> None:
    (tmp_path / "first.txt").write_text(table(step_at=2**30), encoding="utf-8")

    lines = score(tmp_path, "--wrong")

    assert cells(lines, "Ethernet")[2] == "0.0%"
    assert any("first: missed step 16,384 to 32,768 B, +100 %" in line for line in lines)
