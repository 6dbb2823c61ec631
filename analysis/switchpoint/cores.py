"""Which cores there are, and the one way in which work by curve or by file is spread over them.

Stages ask `workers` for a `map`. How that works is chosen here, by `EXECUTORS` and the environment
variable `SWITCHPOINT_EXECUTOR`; results are the same with each.
"""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from switchpoint.errors import InputError

#: Names one of `EXECUTORS`.
VARIABLE = "SWITCHPOINT_EXECUTOR"

#: As the builtin `map` of one iterable: results come in order.
Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


@contextmanager
def workers(*, worthwhile: bool, most: int | None = None) -> Iterator[Map]:
    """Yield `map`, or where it is worthwhile one that works on several parts at a time.

    Parameters
    ----------
    worthwhile
        Whether the work is long: starting processes takes as long as a second or two of it.
    most
        No more processes than this, where more would wait for something else; each takes memory.

    Raises
    ------
    InputError
        If `SWITCHPOINT_EXECUTOR` names no executor.
    """
    execute = _chosen()
    if not worthwhile:
        yield map
        return
    with execute(most) as apply:
        yield apply


def _chosen() -> Callable[[int | None], AbstractContextManager[Map]]:
    name = os.environ.get(VARIABLE) or "processes"
    if name not in EXECUTORS:
        raise InputError(VARIABLE, f"'{name}' is no executor; use one of {', '.join(EXECUTORS)}")
    return EXECUTORS[name]


@contextmanager
def _serial(_most: int | None) -> Iterator[Map]:
    """Work in this process, such as under a debugger or a profiler."""
    yield map


@contextmanager
def _processes(most: int | None) -> Iterator[Map]:
    """Work in a process on each core; no more parts wait than keep these busy."""
    cores = len(os.sched_getaffinity(0))
    cores = cores if most is None else min(cores, most)
    if cores < 2:
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


#: Each takes the most processes that are wanted and gives a context of a `Map`.
EXECUTORS = {"processes": _processes, "serial": _serial}


def free_cores() -> int:
    """Cores that nothing else keeps busy, of those that this process may use; at least one."""
    idle = round((os.cpu_count() or 1) - os.getloadavg()[0])
    return max(1, min(len(os.sched_getaffinity(0)), idle))
