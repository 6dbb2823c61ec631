"""Fuzzes the importers for some minutes, in a process of its own whose memory and time are bounded.

A batch that goes wrong is tried again file by file; the smallest file that goes wrong is kept.
"""

from __future__ import annotations

import faulthandler
import hashlib
import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from fuzz.inputs import hostile_files
from fuzz.judgement import Outcome, judge

TOGETHER = 16
BATCHES = 8

#: Longer or more is a defect, for one file.
SECONDS = 10
BYTES = 2**30

Files = list[tuple[str, bytes]]


class _TooLongError(Exception):
    pass


def fuzz(minutes: float, first_seed: int, failures: Path) -> dict[str, int]:
    """Run batches until the time is over. Return counts; write each failing input to a folder."""
    ends = time.monotonic() + 60 * minutes
    counts = dict.fromkeys(("inputs", "accepted", "refused", "problems", "hangs", "too large"), 0)
    number = first_seed
    while time.monotonic() < ends:
        for name, value in _one_process(number, failures).items():
            counts[name] += value
        number += 1
    return counts


def _one_process(number: int, failures: Path) -> dict[str, int]:
    """Run some batches in a new process, so that an abort or leak of one ends only that one."""
    command = [sys.executable, "-m", "fuzz.importers", str(number), str(failures)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, timeout=3600)
    if done.returncode != 0:
        print(f"importers: seed {number} ended with {done.returncode}", file=sys.stderr)
        return {"problems": 1}
    counts: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return counts


def _batches(number: int, failures: Path) -> dict[str, int]:
    counts = dict.fromkeys(("inputs", "accepted", "refused", "problems", "hangs", "too large"), 0)
    draw = random.Random(number)
    before = _largest_bytes()

    @seed(number)
    @settings(
        max_examples=BATCHES,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(hostile_files(), min_size=TOGETHER, max_size=TOGETHER))
    def run(files: Files) -> None:
        nonlocal before
        outcome, kind = _timed(files, page=draw.random() < 0.1)
        counts["inputs"] += len(files)
        counts["accepted"] += outcome.accepted
        counts["refused"] += outcome.refused
        grown, before = _largest_bytes() - before, _largest_bytes()
        if kind is None and grown > BYTES:
            kind = "too large"
        if kind is None and outcome.problems:
            kind = "problems"
        if kind is not None:
            counts[kind] += 1
            _keep_smallest(files, outcome.problems or [kind], failures)

    run()
    return counts


def _timed(files: Files, *, page: bool) -> tuple[Outcome, str | None]:
    def stop(*_: object) -> None:
        raise _TooLongError

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS + 0.5 * len(files))
    faulthandler.dump_traceback_later(10 * SECONDS, exit=True)
    try:
        return judge(files, page=page), None
    except _TooLongError:
        return Outcome(), "hangs"
    except Exception as error:
        return Outcome(problems=[f"import: {type(error).__name__}: {str(error)[:200]}"]), None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()


def _keep_smallest(files: Files, problems: list[str], failures: Path) -> None:
    """Write the first file that alone goes wrong, or all of them if none does."""
    failures.mkdir(parents=True, exist_ok=True)
    for name, content in files:
        outcome, kind = _timed([(name, content)], page=True)
        if kind or outcome.problems:
            digest = hashlib.sha256(content).hexdigest()[:8]
            (failures / f"{digest}-{name}").write_bytes(content)
            told = "\n".join(outcome.problems or [str(kind)])
            (failures / f"{digest}-{name}.why").write_text(told + "\n")
            print(f"{failures / f'{digest}-{name}'}: {told}", file=sys.stderr)
            return
    print(f"only together: {problems}", file=sys.stderr)
    digest = hashlib.sha256(b"".join(content for _, content in files)).hexdigest()[:8]
    for number, (name, content) in enumerate(files):
        (failures / f"{digest}-together-{number}-{name}").write_bytes(content)


def _largest_bytes() -> int:
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    os.nice(10)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    print(json.dumps(_batches(int(sys.argv[1]), Path(sys.argv[2]))))
