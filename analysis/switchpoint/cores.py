"""Which cores there are, and the one way in which work by curve or by file is spread over them.

Stages ask `workers` for a `map`. How that works is chosen here, by the environment variable
`SWITCHPOINT_EXECUTOR` or the option `--scheduler`; results are the same to the bit.
"""

from __future__ import annotations

import functools
import multiprocessing
import os
import platform
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from importlib.metadata import version
from typing import Any

from switchpoint.errors import InputError

#: Names one of `EXECUTORS`, or the scheduler of a Dask cluster.
VARIABLE = "SWITCHPOINT_EXECUTOR"

#: As the builtin `map` of one iterable: results come in order.
Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]

#: Takes the most processes that are wanted.
Executor = Callable[[int | None], AbstractContextManager[Map]]

#: A scheduler answers within this time, and the first worker must have started.
_ANSWERS_WITHIN_S = 10
_STARTS_WITHIN_S = 60

#: Packages whose version may change the last bits of a result.
_DECIDING = ("switchpoint", "numpy", "pandas", "pyarrow")


@contextmanager
def workers(*, worthwhile: bool, most: int | None = None) -> Iterator[Map]:
    """Yield `map`, or for more work a `map` that works on several parts at a time.

    Parameters
    ----------
    worthwhile
        Whether the work is long: starting processes takes as long as a second or two of it. A
        cluster that the user names is used for all work.
    most
        The largest number of processes. More would wait for something else, and each needs memory.

    Raises
    ------
    InputError
        If `SWITCHPOINT_EXECUTOR` names no executor, or the cluster cannot be used.
    """
    name = os.environ.get(VARIABLE) or "processes"
    if is_cluster(name):
        execute: Executor = functools.partial(_cluster, name)
    elif name not in EXECUTORS:
        known = ", ".join(EXECUTORS)
        raise InputError(
            VARIABLE,
            f"unknown executor '{name}'; use one of {known}, or the address of a Dask scheduler",
        )
    elif worthwhile:
        execute = EXECUTORS[name]
    else:
        execute = _serial
    with execute(most) as apply:
        yield apply


def is_cluster(name: str) -> bool:
    """Return whether this is a Dask scheduler's address, or the file that it writes."""
    return "://" in name or name.endswith(".json")


@contextmanager
def _serial(_most: int | None) -> Iterator[Map]:
    """Work in this process, such as under a debugger or a profiler."""
    yield map


@contextmanager
def _processes(most: int | None) -> Iterator[Map]:
    """Work in a process on each core; no more parts wait than keep these busy.

    Ctrl-C reaches all processes of a terminal. Only this one acts on it, and starts no more parts.
    """
    cores = len(os.sched_getaffinity(0))
    cores = cores if most is None else min(cores, most)
    if cores < 2:
        yield map
        return
    context = multiprocessing.get_context("forkserver")
    ignore_ctrl_c = functools.partial(signal.signal, signal.SIGINT, signal.SIG_IGN)
    with ProcessPoolExecutor(cores, mp_context=context, initializer=ignore_ctrl_c) as pool:
        try:
            yield _in_order(pool.submit, cores)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _in_order(submit: Callable[[Callable[[Any], Any], Any], Any], cores: int) -> Map:
    """Return a `map` that keeps so many cores busy; no more parts wait than that needs.

    What `submit` returns has the method `result`.
    """

    def apply(function: Callable[[Any], Any], parts: Iterable[Any]) -> Iterator[Any]:
        waiting: deque[Any] = deque()
        for part in parts:
            waiting.append(submit(function, part))
            if len(waiting) > 2 * cores:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    return apply


@contextmanager
def _cluster(scheduler: str, most: int | None) -> Iterator[Map]:
    """Work on the machines of a Dask cluster, one part at a time on each thread of its workers."""
    with _client(scheduler) as client:
        from distributed import KilledWorker

        here = os.getcwd()  # noqa: PTH109  a text, not a path

        def submit(function: Callable[[Any], Any], part: Any) -> Any:
            return client.submit(_in_folder, here, function, part, pure=False)

        cores = sum(client.nthreads().values())
        try:
            yield _in_order(submit, min(cores, most or cores))
        except KilledWorker:
            raise InputError(
                scheduler, "its workers died, perhaps without memory; look at their logs"
            ) from None


def _in_folder(folder: str, function: Callable[[Any], Any], part: Any) -> Any:
    """Call a function in the folder in which the user works: files may have relative paths."""
    try:
        os.chdir(folder)
    except OSError as error:
        raise InputError(
            folder,
            f"{error.strerror} on {platform.node()}, which works for this command; a cluster needs"
            " a shared file system",
        ) from None
    return function(part)


def _client(scheduler: str) -> Any:
    """Connect to a scheduler whose workers would compute the same results as this process."""
    try:
        from distributed import Client
    except ImportError:
        raise InputError(
            "--scheduler", "needs Dask; install it with `pip install 'switchpoint[dask]'`"
        ) from None
    connect: Any = Client
    where = {"address": scheduler}
    if scheduler.endswith(".json"):
        if not os.path.exists(scheduler):  # noqa: PTH110  for which the client would wait
            raise InputError(scheduler, "does not exist; `dask scheduler` writes it when it starts")
        where = {"scheduler_file": scheduler}
    try:
        client: Any = connect(**where, timeout=_ANSWERS_WITHIN_S, set_as_default=False)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(
            scheduler, f"no Dask scheduler answers here ({reason}); start one with `dask scheduler`"
        ) from None
    try:
        _check(client, scheduler)
    except BaseException:
        client.close()
        raise
    return client


def _check(client: Any, scheduler: str) -> None:
    """Raise InputError if there is no worker, or one with other versions."""
    try:
        client.wait_for_workers(1, timeout=_STARTS_WITHIN_S)
    except (OSError, TimeoutError):
        raise InputError(
            scheduler, f"has no worker after {_STARTS_WITHIN_S} s; start one with `dask worker`"
        ) from None
    try:
        versions = client.run(_versions)
    except ImportError as error:
        raise InputError(
            scheduler, f"a worker cannot import Switchpoint ({error}); install it there too"
        ) from None
    own = _versions()
    for worker, theirs in versions.items():
        different = [name for name in own if own[name] != theirs[name]]
        if different:
            name = different[0]
            raise InputError(
                scheduler,
                f"the worker {worker} has {name} {theirs[name]}, and here is {own[name]};"
                " install the same version",
            )


def _versions() -> dict[str, str]:
    return {"Python": platform.python_version()} | {name: version(name) for name in _DECIDING}


#: What `SWITCHPOINT_EXECUTOR` may name.
EXECUTORS: dict[str, Executor] = {"processes": _processes, "serial": _serial}


def free_cores() -> int:
    """Count the cores that this process may use and that are not busy; at least one."""
    idle = round((os.cpu_count() or 1) - os.getloadavg()[0])
    return max(1, min(len(os.sched_getaffinity(0)), idle))
