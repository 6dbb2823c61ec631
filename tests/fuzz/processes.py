"""Runs rounds in processes of their own, so that an abort or a leak in one ends only that one.

The processes are forked from one that has imported the package, because importing it takes longer
than a round of many targets.
"""

from __future__ import annotations

import contextlib
import faulthandler
import itertools
import multiprocessing
import os
import pkgutil
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import switchpoint

#: Longer or more is a defect, for one file or one command.
SECONDS = 10
BYTES = 2**30

#: Modules with rounds, which are imported once like the package.
_TARGETS = ("fuzz.importers", "fuzz.nothing_runs", "fuzz.own_files", "fuzz.stores")

_Given = TypeVar("_Given")

#: What happened, by name; and a digest of each input, so that equal ones are seen.
Counts = tuple[dict[str, int], set[bytes]]

#: Does one round with a seed, and writes the inputs that went wrong to a folder.
Round = Callable[[int, Path], Counts]


class TooLongError(BaseException):
    """Something took more seconds of a processor than it may; nothing but the fuzzer catches it."""


@dataclass(frozen=True)
class Extent:
    """How long rounds are repeated, from which seed, and how many run at once.

    Attributes
    ----------
    seed, jobs : int
    minutes : float
    rounds : int or None
        So many instead of minutes.
    """

    seed: int
    jobs: int
    minutes: float
    rounds: int | None = None


def repeat(
    name: str,
    one_round: Round,
    extent: Extent,
    failures: Path,
    tell: Callable[[Mapping[str, int]], object],
) -> dict[str, int]:
    """Repeat a round with seeds that count up, and return the sums of its counts.

    Parameters
    ----------
    name
        What is tried, for messages.
    one_round
        A function of a module, or a `partial` of one.
    extent
        How often.
    failures
        The folder for inputs that went wrong.
    tell
        Called with the sums after each round.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*_modules(), *_TARGETS])
    ends = time.monotonic() + 60 * extent.minutes
    seeds = itertools.count(extent.seed)
    counts: Counter[str] = Counter()
    inputs: set[bytes] = set()
    counting = Lock()

    def work(_: int) -> None:
        for number in seeds:
            done = number - extent.seed >= extent.rounds if extent.rounds else False
            if done or (not extent.rounds and time.monotonic() >= ends):
                return
            found, exit_code = _in_a_process(context, one_round, number, failures)
            with counting:
                if found is None or exit_code != 0:
                    print(f"{name}: seed {number} ended with {exit_code}", file=sys.stderr)
                    counts["problems"] += 1
                if found is not None:
                    counts.update(found[0])
                    inputs.update(found[1])
                tell(counts)

    with ThreadPoolExecutor(extent.jobs) as threads:
        list(threads.map(work, range(extent.jobs)))
    return dict(counts) | ({"distinct": len(inputs)} if inputs else {})


def _modules() -> list[str]:
    """Return the modules of the package, except those that start it."""
    found = pkgutil.walk_packages(switchpoint.__path__, "switchpoint.")
    return [module.name for module in found if not module.name.endswith("__main__")]


def _in_a_process(
    context: Any, one_round: Round, number: int, failures: Path
) -> tuple[Counts | None, int | None]:
    """Return what a round counted, if it came to its end, and the exit code of its process."""
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(one_round, number, failures, sender))
    process.start()
    sender.close()
    found: Counts | None = None
    with contextlib.suppress(EOFError):
        found = receiver.recv()
    process.join()
    return found, process.exitcode


def _send(one_round: Round, number: int, failures: Path, sender: Connection) -> None:
    os.nice(5)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    counts, inputs = one_round(number, failures)
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    seconds = round(sum(one.ru_utime + one.ru_stime for one in used))
    sender.send((counts | {"seconds of a processor": seconds}, inputs))
    sender.close()


def bounded(act: Callable[[], _Given], seconds: int = SECONDS) -> _Given:
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
