"""Runs inputs in processes of their own, so that an abort or a leak of one ends only that one."""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

#: Longer or more is a defect, for one file.
SECONDS = 10
BYTES = 2**30

COUNTS = ("inputs", "accepted", "refused", "problems", "hangs", "too large")

_Given = TypeVar("_Given")


class TooLongError(Exception):
    """An input took more seconds of a processor than it may."""


def until(minutes: float, module: str, first_seed: int, failures: Path) -> dict[str, int]:
    """Run a module again and again, each time with another seed. Return the sums of its counts."""
    ends = time.monotonic() + 60 * minutes
    counts = dict.fromkeys(COUNTS, 0)
    number = first_seed
    while time.monotonic() < ends:
        for name, value in _one(module, number, failures).items():
            counts[name] += value
        number += 1
    return counts


def _one(module: str, number: int, failures: Path) -> dict[str, int]:
    command = [sys.executable, "-m", module, str(number), str(failures)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, timeout=3600)
    if done.returncode != 0:
        print(f"{module}: seed {number} ended with {done.returncode}", file=sys.stderr)
        return {"problems": 1}
    counts: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return counts


def run(judged: Callable[[int, Path], dict[str, int]]) -> None:
    """Run such a module: its seed and the folder of failures are on the command line."""
    os.nice(5)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    print(json.dumps(judged(int(sys.argv[1]), Path(sys.argv[2]))))


def bounded(act: Callable[[], _Given], seconds: int) -> _Given:
    """Return what `act` returns, unless it takes longer.

    Raises
    ------
    TooLongError
        After so many seconds of the processor: other programs may need it too.
    """

    def stop(*_: object) -> None:
        raise TooLongError

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    faulthandler.dump_traceback_later(60 * SECONDS, exit=True)
    try:
        return act()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        faulthandler.cancel_dump_traceback_later()


def largest_bytes() -> int:
    """Return the most memory that this process has had."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
