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

TOGETHER = 24
BATCHES = 6

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
        share = draw.random()
        page = share < 0.03
        outcome, kind = _timed(files, verbs=share < 0.25, page=page)
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
            _keep_smallest(files, outcome.problems or [kind], failures, page=page)

    run()
    return counts


def _timed(files: Files, *, verbs: bool = True, page: bool) -> tuple[Outcome, str | None]:
    def stop(*_: object) -> None:
        raise _TooLongError

    # Seconds of the processor, because other programs may need it too.
    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS + len(files))
    faulthandler.dump_traceback_later(60 * SECONDS, exit=True)
    try:
        return judge(files, verbs=verbs, page=page), None
    except _TooLongError:
        return Outcome(), "hangs"
    except Exception as error:
        return Outcome(problems=[f"import: {type(error).__name__}: {str(error)[:200]}"]), None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        faulthandler.cancel_dump_traceback_later()


def _keep_smallest(files: Files, problems: list[str], failures: Path, *, page: bool) -> None:
    """Write the file that goes wrong alone, or the smallest part that goes wrong together."""
    print("importers:", *problems, sep="\n  ", file=sys.stderr, flush=True)
    while len(files) > 1:
        for half in (files[: len(files) // 2], files[len(files) // 2 :]):
            outcome, kind = _timed(half, page=page)
            if kind or outcome.problems:
                files, problems = half, outcome.problems or [str(kind)]
                break
        else:
            break
    digest = hashlib.sha256(b"".join(content for _, content in files)).hexdigest()[:8]
    failures.mkdir(parents=True, exist_ok=True)
    for number, (name, content) in enumerate(files):
        (failures / f"{digest}-{number}-{name}").write_bytes(content)
    (failures / f"{digest}.why").write_text("\n".join(problems) + "\n")
    print(f"importers: {failures}/{digest}-*", file=sys.stderr, flush=True)


def _largest_bytes() -> int:
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    os.nice(5)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    print(json.dumps(_batches(int(sys.argv[1]), Path(sys.argv[2]))))
