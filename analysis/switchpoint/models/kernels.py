"""The kernels that can be predicted: their modes, and the pattern of each with its options."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from switchpoint.errors import InputError
from switchpoint.models.applications import APPLICATIONS, QUALITY, pattern_of_application
from switchpoint.models.patterns import broadcast as broadcasts
from switchpoint.models.patterns import complete_exchange as exchanges
from switchpoint.models.patterns import library_broadcast, library_exchange
from switchpoint.models.patterns.merge_sort import merge_sort
from switchpoint.models.patterns.pairs import echo, exchange, ping_pong, stream
from switchpoint.models.patterns.pattern import Pattern
from switchpoint.models.patterns.ring import ring
from switchpoint.models.refusals import (
    check_ranks,
    parents_of_sort,
    suits_application,
    suits_broadcast,
    suits_exchange,
    suits_library_broadcast,
    suits_library_exchange,
    suits_merge_sort,
    suits_pair,
    suits_ring,
)

#: What the library does in it is its own choice.
LIBRARY = "library"

#: The other kernels that compute, besides the applications.
MERGE_SORT, RING = "mergesort", "ring"

#: The algorithms of MPI libraries themselves; no kernel of ours has them.
MPI_BCAST, MPI_ALLTOALL = "mpi_bcast", "mpi_alltoall"


@dataclass(frozen=True)
class Options:
    """The kernels' own options, with their names and defaults there.

    Attributes
    ----------
    window : int
        Messages in flight of the ping-pong's streams.
    grain : float
        `ring`: T, the time of the whole task on one rank in microseconds.
    serial : float
        `ring`: s, the part of T that only rank 0 can do in percent.
    segment : int
        Segments in bytes of the pipelined chain of `broadcast`, and of all trees of `mpi_bcast`.
    fanout : int
        `mpi_bcast`: how many chains `chain` has.
    packet, group, send_window : int
        `alltoall`: largest packet in bytes, ranks in a group, packets in flight (0: one for each
        other rank).
    tree : tuple of int
        `mergesort`: the parents of ranks 1, 2, ...; empty: rank r has (r - 1) / 2.
    quality, hidden, epochs, block : int
        Those of `jpeg`; of `backpropagation`; and of `linear`.
    """

    window: int = 64
    grain: float = 1000
    serial: float = 0
    segment: int = 8192
    fanout: int = 1
    packet: int = 65536
    group: int = 2
    send_window: int = 0
    tree: tuple[int, ...] = ()
    quality: int = QUALITY
    hidden: int = 32
    epochs: int = 4
    block: int = 32


@dataclass(frozen=True)
class Problem:
    """One point of one kernel, without where its ranks are.

    Attributes
    ----------
    kernel, mode : str
        Their names.
    ranks, size_bytes : int
        As the kernel has them.
    options : Options
        Those of the kernel.
    """

    kernel: str
    mode: str
    ranks: int
    size_bytes: int
    options: Options = Options()


@dataclass(frozen=True)
class Kernel:
    """How to predict a kernel.

    Attributes
    ----------
    modes : list of str
        Those that can be predicted.
    sizes_bytes : list of int
        What to predict if nobody says.
    ranks : int
        The number of ranks if nobody says.
    pattern : callable
        Returns the pattern of a problem; the second argument is its compute rate in microseconds.
    refuse : callable
        Returns why a problem has no pattern, and the fix; None if it has one.
    """

    modes: list[str]
    sizes_bytes: list[int]
    ranks: int
    pattern: Callable[[Problem, float], Pattern]
    refuse: Callable[[Problem], str | None]


def pattern_of(problem: Problem, rate_us: float) -> Pattern:
    """Return the pattern of a problem.

    Parameters
    ----------
    problem
        The kernel, its mode and its options.
    rate_us
        The kernel's compute rate in microseconds (`compute_rates.WORK`).

    Raises
    ------
    InputError
        If the kernel or the mode is not known, or the options do not suit.
    """
    kernel = kernel_of(problem.kernel)
    check_mode(problem.kernel, problem.mode)
    if problem.ranks < (1 if problem.kernel in (MERGE_SORT, *APPLICATIONS) else 2):
        raise InputError("--ranks", f"{problem.kernel} needs more than {problem.ranks}")
    check_ranks(problem.ranks)
    if why := kernel.refuse(problem):
        raise InputError(problem.kernel, why)
    return kernel.pattern(problem, rate_us)


def kernel_of(name: str) -> Kernel:
    """Return a kernel; raises InputError if it cannot be predicted."""
    if name not in KERNELS:
        raise InputError("KERNEL", f"'{name}' cannot be predicted; use one of {', '.join(KERNELS)}")
    return KERNELS[name]


def check_mode(kernel: str, mode: str) -> None:
    """Raise InputError if a kernel's mode cannot be predicted."""
    modes = kernel_of(kernel).modes
    if mode not in modes:
        why = "is the library's own choice" if mode == LIBRARY else "is not known"
        raise InputError("--mode", f"'{mode}' of {kernel} {why}; use one of {', '.join(modes)}")


def _pair(problem: Problem, _rate_us: float) -> Pattern:
    if problem.mode.endswith("stream"):
        return stream(problem.size_bytes, problem.options.window)
    if problem.mode == "sendrecv":
        return exchange(problem.size_bytes)
    return ping_pong(problem.size_bytes)


def _ring(problem: Problem, rate_us: float) -> Pattern:
    options = problem.options
    task_us = options.grain * rate_us
    return ring(problem.mode, problem.ranks, problem.size_bytes, task_us, options.serial)


def _broadcast(problem: Problem, _rate_us: float) -> Pattern:
    return broadcasts.broadcast(
        problem.mode, problem.ranks, problem.size_bytes, problem.options.segment
    )


def _exchange(problem: Problem, _rate_us: float) -> Pattern:
    options = problem.options
    return exchanges.complete_exchange(
        problem.mode, problem.ranks, problem.size_bytes,
        options.packet, options.group, options.send_window,
    )  # fmt: skip


def _library_broadcast(problem: Problem, _rate_us: float) -> Pattern:
    options = problem.options
    return library_broadcast.library_broadcast(
        problem.mode, problem.ranks, problem.size_bytes, options.segment, options.fanout
    )


def _library_exchange(problem: Problem, _rate_us: float) -> Pattern:
    return library_exchange.library_exchange(problem.mode, problem.ranks, problem.size_bytes)


def _merge_sort(problem: Problem, rate_us: float) -> Pattern:
    parents = () if problem.mode == "serial" else parents_of_sort(problem)
    pattern = merge_sort(problem.size_bytes, parents, rate_us)
    idle: list[Sequence[object]] = [[] for _ in range(problem.ranks - len(pattern.programs))]
    return Pattern([*pattern.programs, *idle], ends_at_root=True)  # type: ignore[list-item]


_PAIR_MODES = ["send", "ssend", "isend", "bsend", "rsend", "persistent", "sendrecv", "stream",
               "sstream"]  # fmt: skip
_KIB = 1024
_SIZES = [1, _KIB, 8 * _KIB, 64 * _KIB]

KERNELS = {
    "pingpong": Kernel(_PAIR_MODES, _SIZES, 2, _pair, suits_pair),
    "echo": Kernel(["mpi"], _SIZES, 2, lambda problem, _: echo(problem.size_bytes), suits_pair),
    RING: Kernel(["alternate", "sendrecv", "serial"], [4, 4000, 40000], 2, _ring, suits_ring),
    "broadcast": Kernel(broadcasts.MODES, _SIZES, 4, _broadcast, suits_broadcast),
    "alltoall": Kernel(exchanges.MODES, _SIZES, 4, _exchange, suits_exchange),
    MPI_BCAST: Kernel(
        library_broadcast.MODES, _SIZES, 4, _library_broadcast, suits_library_broadcast
    ),
    MPI_ALLTOALL: Kernel(
        library_exchange.MODES, _SIZES, 4, _library_exchange, suits_library_exchange
    ),
    MERGE_SORT: Kernel(["tree", "serial"], [200_000], 7, _merge_sort, suits_merge_sort),
    **{
        name: Kernel(
            list(one.rated_by), one.sizes_bytes, 2, pattern_of_application, suits_application
        )
        for name, one in APPLICATIONS.items()
    },
}
