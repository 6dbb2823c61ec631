"""Every benchmark runs as a reader types it, as small as it goes: none may go stale unnoticed.

What they print is not judged here; a busy machine has other figures.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
BENCH = ROOT / "bench"

#: The smallest run of each, and words that it prints at its end. {} is a new folder.
SMALL = {
    "load_record.py 5000": "samples/s",
    "detect_speed.py 2": "ms a curve",
    "model_speed.py 64": "slowest of",
    "import_speed.py 2": "all formats",
    "testbed_cycle.py 1": "down",
    "check_overhead.py 1": "a check costs",
    "exchange_links.py 1 openmpi --size 262144": "over MPI_Alltoall",
    "broadcast_library.py 1 openmpi --size 1024": "openmpi",
    "sort_maps.py 1 openmpi --size 16000": "figure 13",
    "drifting_clock.py 1 openmpi --drift=-200": "-200 ppm",
    "buffer_offset.py 1 mpich --offset 2048": "  2048 ",
    "prediction.py --from tests/analysis/records/openmpi-network-limit-65536.record.gz": "median%",
    "simulated_truth.py 1 --only broadcast --sizes 1K": "inside%",
    "recommend.py 3 openmpi --smoke": "withdrawn",
    "collective_switches.py 1 openmpi --only allgather --sizes 1K:4K": "launches of each search",
    "guidelines.py 3 openmpi --only barrier": "launches of each operation",
    "zoom.py 1": "right",
    "placement_order.py 1 --block-time 1000": "another program on each",
    "detection/noise.py 2": "10",
    "detection/apart.py": "| other placements |",
    "detection/score.py --ours --missed '--grid=powers of two'": "recall",
    "detection/score_fabrics.py '--grid=powers of two, repeats' --without cliffs 1": "magnitudes",
    "detection/noise.py --ablate --without cliffs 2": "| cliffs |",
    "gate/store_speed.py year=3": "runs of one session",
    "gate/score.py --ours --pairs 1 --nights 3 1": "| Switchpoint, all findings |",
    "gate/year.py 8 3 2 {}": "night    2: ",
    "gate/yardstick.py --baseline --peers 'fixed percentage' --processes 1 --kinds quiet 1"
    " --public tests/bench/public/sap": "| fixed percentage | 1 of 1 |",
    "gate/public.py --without windows tests/bench/public/patterns": "| step 1 of 1 |",
    "largest_inputs.py NetPIPE": "| NetPIPE |",
    "report_speed.py 6": "index.html",
    "one_buffer.py 1 openmpi": "NetPIPE -I",
    "many_sites.py 16 --launches 1 --only compare": "compare ",
    "study_001.py --ch3 mpich --launches 1 --docs {} tests/analysis/records/mpich-memory.record.gz"
    " tests/analysis/records/openmpi-network-limit-65536.record.gz": "001.md",
    "stored_facts.py": "memory",
    "studies.py 003 --smoke --store {}": "study 003: measured in",
}

#: Those that need what is not installed here, or that write what the documentation quotes.
ELSEWHERE = {
    "pingpong_peers.py",  # OSU's programs
    "osu_peers.py",  # the same
    "mpi_libraries.py",  # test_mpi_libraries.py
    "detection/recurrence.py",  # test_recurrence.py
    "detection/published.py",  # test_published.py
    "detection/calibrate.py",
    "detection/record.py",  # records for half an hour
    "detection/record_unseen.py",  # the same
}

#: What the others are made of.
PARTS = {
    *("arguments.py", "on_testbed.py", "ratios.py", "detection/fabrics.py"),
    *("detection/labelled.py", "detection/logistic.py", "detection/peers.py"),
    "detection/ablation.py",
    *("gate/ideal.py", "gate/peers.py", "gate/recorded.py", "gate/synthetic.py"),
    *("gate/baseline.py", "gate/disturbed.py", "gate/rules.py"),
}

#: Words in the source of a benchmark that needs more than one core.
NEEDS = {"testbed": pytest.mark.cluster, "chromedriver": pytest.mark.browser}


def commands() -> Iterator[Any]:
    """Give each command with markers of what it needs."""
    for command in SMALL:
        source = (BENCH / command.split()[0]).read_text(encoding="utf-8")
        needs = [mark for word, mark in NEEDS.items() if word in source]
        yield pytest.param(command, marks=needs or [pytest.mark.slow])


@pytest.mark.parametrize("command", list(commands()))
def test_a_small_run_ends_well(command: str, tmp_path: Path) -> None:
    program, *words = shlex.split(command.format(tmp_path / "new"))
    done = subprocess.run(
        [sys.executable, BENCH / program, *words],
        capture_output=True, text=True, cwd=ROOT, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert SMALL[command] in done.stdout, done.stdout


def programs() -> set[str]:
    """Return every benchmark that is run as a command."""
    return {command.split()[0] for command in SMALL} | ELSEWHERE


#: Runs benchmarks with a wrong argument and prints for each how it ended, as a line of JSON. Each
#: has a process of its own, forked from one that has imported what takes long.
WRONG = """
import contextlib, io, json, os, runpy, sys
import numpy, pandas, pyarrow, scipy.stats
from switchpoint import Store, detect, gate, read
for program in sys.argv[1:]:
    sys.stdout.flush()
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        continue
    sys.argv, sys.path[0] = [program, "--no-such-option"], os.path.dirname(program)
    out, err, code = io.StringIO(), io.StringIO(), None
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            runpy.run_path(program, run_name="__main__")
        except SystemExit as end:
            code = end.code
    print(json.dumps([code, out.getvalue(), err.getvalue()]), flush=True)
    os._exit(0)
"""


def test_a_wrong_argument_is_told_in_one_line() -> None:
    paths = [str(BENCH / program) for program in sorted(programs())]
    done = subprocess.run(
        [sys.executable, "-c", WRONG, *paths], capture_output=True, text=True, cwd=ROOT, timeout=120
    )
    assert done.returncode == 0, done.stderr
    for path, line in zip(paths, done.stdout.splitlines(), strict=True):
        code, out, err = json.loads(line)
        assert (code, out) == (2, ""), (path, err)
        assert "error: " in err.splitlines()[-1], (path, err)


def test_no_benchmark_is_forgotten() -> None:
    there = {str(path.relative_to(BENCH)) for path in BENCH.rglob("*.py")}
    assert there == programs() | PARTS
