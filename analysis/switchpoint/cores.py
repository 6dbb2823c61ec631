"""Counts free cores, and distributes work over them with limited memory."""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any


@contextmanager
def workers(*, worthwhile: bool, most: int | None = None) -> Iterator[Callable[..., Iterable[Any]]]:
    """Yield `map`, or for more work a `map` with a process on each core.

    It takes a second or two to start the processes, and each needs memory. `most` limits their
    number if more of them would wait for something else.
    """
    cores = len(os.sched_getaffinity(0))
    cores = cores if most is None else min(cores, most)
    if not worthwhile or cores < 2:
        yield map
        return
    context = multiprocessing.get_context("forkserver")
    with ProcessPoolExecutor(cores, mp_context=context) as pool:

        def apply(function: Callable[[Any], Any], parts: Iterable[Any]) -> Iterator[Any]:
            waiting: deque[Future[Any]] = deque()
            for part in parts:
                waiting.append(pool.submit(function, part))
                if len(waiting) > 2 * cores:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

        yield apply


def free_cores() -> int:
    """Count the cores that this process may use and that are not busy; at least one."""
    idle = round((os.cpu_count() or 1) - os.getloadavg()[0])
    return max(1, min(len(os.sched_getaffinity(0)), idle))
