"""Gives kernels that were built with sanitizers impossible and possible arguments.

A kernel either measures, or says in one line what it cannot do, with exit code 2.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from fuzz.processes import Counts

PROGRAMS = Path(__file__).resolve().parents[2] / "build/ctest/sanitize/bin"

#: Short measurements; what follows on the command line counts instead.
_SHORT = ["--passes=1", "--samples=1", "--warmup=0", "--block-time=0", "--time-budget=1",
          "--sizes=8"]  # fmt: skip

_VALUES = [
    "", "0", "1", "2", "3", "7", "8", "64", "100", "-1", "+1", " 1", "1 ", "1e3", "0x10", "1.5",
    "99999999999999999999", "3G", "2147483648", "x" * 1000, "\x1b[2J", "é", "a,b", ",", "1,,2",
    "8:1", "1:8:+3", "1:8/2", "0:8", "0:9:+4", "8,8,8", "1K", "K", "all", "send", "send,ssend",
    "agreed", "barrier", "slowest", "mean", "root", "a=b", "=b", "a=", "/", "/dev/null", ".", "A",
    "AAB", "lo", "nowhere0", "send:1-8", "send:8-1", "send:0-0", "0-8", "0:1,0:2", "1:0",
]  # fmt: skip

_PLAUSIBLE = ["1", "2", "3", "4", "8", "16", "64", "256", "a=b"]

_ENVIRONMENT = {
    **os.environ,
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "ASAN_OPTIONS": "detect_leaks=0",
}

#: What a sanitizer, a signal or an abort leaves on standard error.
_BROKEN = re.compile(
    r"AddressSanitizer|runtime error:|Signal: |signal \d+ \(|Segmentation|core dump"
)

SECONDS = 60


#: Argument lists of a round, which share the kernels' options.
LISTS = 50


def one_round(number: int, failures: Path) -> Counts:
    """Run argument lists, and write those that went wrong to a folder."""
    counts = dict.fromkeys(("argument lists", "accepted", "refused", "problems", "hangs"), 0)
    lists: set[bytes] = set()
    programs = {program: _options(program) for program in sorted(PROGRAMS.iterdir())}
    draw = random.Random(number)
    for _ in range(LISTS):
        program = draw.choice([*programs])
        arguments, ranks = _arguments(draw, programs[program]), draw.choice([1, 2, 2, 2, 3])
        with tempfile.TemporaryDirectory(prefix="switchpoint-fuzz-") as folder:
            told, kind = _judged(program, arguments, ranks, folder)
        line = f"{ranks} ranks: {program.name} {arguments!r}"
        lists.add(hashlib.sha256(line.encode()).digest()[:8])
        counts["argument lists"] += 1
        counts[kind] += 1
        if told:
            failures.mkdir(parents=True, exist_ok=True)
            print(f"{line}: {told}", file=sys.stderr, flush=True)
            with (failures / "kernels.txt").open("a", encoding="utf-8") as stream:
                stream.write(f"{line}: {told}\n")
    return counts, lists


def _options(program: Path) -> list[str]:
    """Return the names of a kernel's options, as its help lists them."""
    done = subprocess.run(
        [program, "--help"], env=_ENVIRONMENT, capture_output=True, text=True, check=False
    )
    return re.findall(r"^  (--[\w-]+)", done.stdout, re.MULTILINE)


def _arguments(draw: random.Random, options: list[str]) -> list[str]:
    words = []
    for _ in range(draw.randint(1, 4)):
        name = draw.choice([*options, *options, *options, "--bogus", "stray"])
        if name in ("--record", "--mpi-counters") and draw.random() < 0.8:
            continue
        form = draw.random()
        value = draw.choice(_VALUES) if draw.random() < 0.4 else draw.choice(_PLAUSIBLE)
        if form < 0.05:
            words.append(name)
        elif form < 0.6:
            words.append(f"{name}={value}")
        else:
            words += [name, value]
    return words


def _judged(program: Path, arguments: list[str], ranks: int, folder: str) -> tuple[str, str]:
    """Run a kernel; return what went wrong, if anything did, and the kind of the outcome."""
    command = [str(program), *_SHORT, *arguments]
    if ranks > 1:
        command = ["mpiexec.openmpi", "-n", str(ranks), *command]
    try:
        done = subprocess.run(
            command, env=_ENVIRONMENT, capture_output=True, text=True, errors="replace",
            timeout=SECONDS, cwd=folder, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"does not end in {SECONDS} s", "hangs"
    own = [line for line in done.stderr.splitlines()
           if line.startswith((f"{program.name}: ", "switchpoint: "))]  # fmt: skip
    if _BROKEN.search(done.stderr) or done.returncode < 0 or done.returncode > 3:
        return f"exit code {done.returncode}: {done.stderr[:500]}", "problems"
    if done.returncode == 0:
        return "", "accepted"
    if done.returncode != 2 or len(own) != 1:
        return f"exit code {done.returncode}, {len(own)} lines: {done.stderr[:500]}", "problems"
    if ranks == 1 and len(done.stderr.splitlines()) != 1:
        return f"{len(done.stderr.splitlines())} lines: {done.stderr[:500]}", "problems"
    if len(own[0]) > 600 or not own[0].isprintable():
        return f"a line that nobody can read: {own[0][:700]!r}", "problems"
    return "", "refused"
