"""Whatever starts or changes because of a hostile file is seen by `make fuzz`, and nothing does."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from fuzz.nothing_runs import judge_files, judge_launch, judge_script, nights
from fuzz.traps import Started, Trap, headers, locks
from fuzz.watching import outside, watching


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    """A folder in which whatever starts is seen."""
    return Trap(tmp_path / "trap")


def script(trap: Trap, line: str) -> Path:
    folder = trap.folder / "again"
    folder.mkdir()
    (folder / "run.sh").write_text(f"#!/bin/sh\n{line}\n")
    (folder / "run.sh").chmod(0o755)
    return folder


KERNEL = "pingpong --label=site=x --record=pingpong.record"


def test_a_script_that_starts_a_kernel_is_right(trap: Trap) -> None:
    line = f"export UCX_TLS=tcp,self\nexec mpirun --np 2 --bind-to core {KERNEL}"

    problems, started = judge_script(trap, script(trap, line))

    assert problems == []
    assert [one.name for one in started] == ["mpirun"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (f"exec evil {KERNEL}", "starts evil"),
        (f"evil; exec mpirun {KERNEL}", "started ['evil', 'mpirun']"),
        (f"exec mpirun -n 1 evil : -n 1 {KERNEL}", "the launcher has ':'"),
        (f"exec mpirun sh -c 'touch ran' {KERNEL}", "the launcher has 'touch ran'"),
        (f"exec mpirun --output-filename x {KERNEL}", "the launcher has '--output-filename'"),
        (f"exec mpirun {KERNEL} --record=/tmp/x", "writes ['--record=pingpong.record', '--rec"),
        (f"exec mpirun {KERNEL} --label", "the kernel has '--label'"),
        (f"export LD_PRELOAD=evil.so; exec mpirun {KERNEL}", "sets LD_PRELOAD='evil.so'"),
        (f"export UCX_TLS=/evil; exec mpirun {KERNEL}", "sets UCX_TLS='/evil'"),
        (f"touch ran; exec mpirun {KERNEL}", "again/ran"),
        ("exec mpirun -n 2 sleep 1", "starts no kernel"),
    ],
)
def test_what_a_script_must_not_do_is_seen(trap: Trap, line: str, told: str) -> None:
    assert told in "\n".join(judge_script(trap, script(trap, line))[0])


@pytest.mark.build
def test_a_word_that_a_launcher_takes_for_a_program_is_seen(trap: Trap) -> None:
    one = Started("mpiexec.mpich", ["-n", "1", "evil", "pingpong"], trap.environment, "")

    problems, _ = judge_launch(trap, one)

    assert problems == [f"mpiexec.mpich starts evil: {one.arguments}"]


def test_what_this_process_starts_and_writes_is_seen(tmp_path: Path) -> None:
    with watching() as seen:
        subprocess.run(["true", "x"], check=True)
        (tmp_path / "a").write_text("")
        (tmp_path / "a").rename(tmp_path / "b")

    assert seen.started == [["true", "x"]]
    assert outside(seen.changed, []) == [str(tmp_path / "a"), str(tmp_path / "b")]
    assert outside(seen.changed, [tmp_path]) == []


@pytest.mark.slow
def test_no_hostile_file_runs_anything(trap: Trap) -> None:
    draw = random.Random(20261128)

    for lock in (None, locks(draw, trap)):
        problems, _ = judge_files(trap, headers(draw, trap), lock)
        assert problems == []


@pytest.mark.slow
def test_a_session_whose_name_is_a_folder_is_measured_again_in_its_own(
    trap: Trap, tmp_path: Path
) -> None:
    header = headers(random.Random(1), trap) | {"labels": {}}
    (tmp_path / "inputs").mkdir()
    for number, content in enumerate(nights(header, "..")):
        (tmp_path / "inputs" / f"{number}.record").write_bytes(content)
    (tmp_path / "settings.py").write_text("no site")
    for words in (
        ["import", "inputs"],
        ["gate", "--session=..", "--confirm", "--settings=settings.py"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "switchpoint", *words],
            cwd=tmp_path,
            env=os.environ | trap.environment | {"PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
            check=False,
        )

    assert "runs no check" in done.stderr
    assert [path.name for path in (tmp_path / "build").iterdir()] == ["confirm"]
    assert [path.name for path in (tmp_path / "build/confirm").iterdir()] == ["__"]
