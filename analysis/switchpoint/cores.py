"""Which cores there are to work on, and work spread over them so that memory stays bounded."""

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
    """Yield `map`, or where it is worthwhile one that works in a process on each core.

    Starting the processes takes as long as a second or two of their work. Each takes memory: `most`
    bounds them where more would wait for something else.
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
    """Cores that nothing else keeps busy, of those that this process may use; at least one."""
    idle = round((os.cpu_count() or 1) - os.getloadavg()[0])
    return max(1, min(len(os.sched_getaffinity(0)), idle))
