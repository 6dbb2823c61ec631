"""The kernels that can be predicted: their modes, and the pattern of each with its options."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from switchpoint.errors import InputError
from switchpoint.models.compute_rates import MERGE_SORT, RING
from switchpoint.models.patterns import broadcast as broadcasts
from switchpoint.models.patterns import complete_exchange as exchanges
from switchpoint.models.patterns import library_broadcast, library_exchange
from switchpoint.models.patterns.merge_sort import merge_sort
from switchpoint.models.patterns.pairs import echo, exchange, ping_pong, stream
from switchpoint.models.patterns.pattern import Pattern
from switchpoint.models.patterns.ring import STEPS, ring
from switchpoint.models.patterns.trees import children_of

#: More would be simulated for minutes.
_MOST_MESSAGES = 1_000_000

#: What the library does in it is its own choice.
LIBRARY = "library"

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
    if problem.ranks < (1 if problem.kernel == MERGE_SORT else 2):
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


def check_ranks(ranks: int) -> None:
    """Raise InputError if there are more ranks than can be simulated, before they are placed."""
    if ranks > _MOST_MESSAGES:
        raise InputError(
            "--ranks", f"{ranks:,} are more than the {_MOST_MESSAGES:,} that can be simulated"
        )


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
    parents = () if problem.mode == "serial" else _parents(problem)
    pattern = merge_sort(problem.size_bytes, parents, rate_us)
    idle: list[Sequence[object]] = [[] for _ in range(problem.ranks - len(pattern.programs))]
    return Pattern([*pattern.programs, *idle], ends_at_root=True)  # type: ignore[list-item]


def _parents(problem: Problem) -> Sequence[int]:
    return problem.options.tree or [(rank - 1) // 2 for rank in range(1, problem.ranks)]


def _suits_pair(problem: Problem) -> str | None:
    if problem.ranks != 2:
        return f"has 2 ranks, not {problem.ranks}"
    if problem.mode.endswith("stream"):
        return _too_many(problem.options.window + 1, "a smaller --option window")
    return None


def _suits_ring(problem: Problem) -> str | None:
    if problem.mode == "alternate" and problem.ranks % 2:
        return f"alternate needs an even number of ranks, not {problem.ranks}; use sendrecv"
    return _too_many(STEPS * problem.ranks)


def _too_many(messages: int, option: str = "") -> str | None:
    """Refuse what would be simulated for minutes; name the option that makes fewer messages."""
    if messages <= _MOST_MESSAGES:
        return None
    option = f"{option}, " if option else ""
    return (
        f"these are {messages:,} messages, more than {_MOST_MESSAGES:,}; use {option}fewer ranks or"
        " smaller sizes"
    )


def _segments(problem: Problem) -> int:
    return max(-(-problem.size_bytes // problem.options.segment), 1)


def _suits_broadcast(problem: Problem) -> str | None:
    others, mode = problem.ranks - 1, problem.mode
    if mode == "scatter_allgather":
        return _too_many(others * problem.ranks)
    acknowledgements = others if mode.endswith("_ack") else 0
    if mode.startswith("pipelined"):
        messages = others * _segments(problem) + acknowledgements
        return _too_many(messages, "a larger --option segment")
    return _too_many(others + acknowledgements)


def _suits_library_broadcast(problem: Problem) -> str | None:
    others, mode = problem.ranks - 1, problem.mode
    if mode == "scatter_allgather_ring":
        return _too_many(others * (problem.ranks + 1))
    if mode == "scatter_allgather":
        return _too_many(others + 2 * problem.ranks * others.bit_length())
    return _too_many(others * _segments(problem), "a larger --option segment")


def _suits_library_exchange(problem: Problem) -> str | None:
    partners = problem.ranks - 1
    each = partners.bit_length() if problem.mode == "bruck" else partners
    return _too_many(problem.ranks * each)


def _suits_exchange(problem: Problem) -> str | None:
    ranks, group = problem.ranks, problem.options.group
    packets = max(-(-problem.size_bytes // problem.options.packet), 1)
    if why := _too_many(ranks * (ranks - 1) * packets, "a larger --option packet"):
        return why
    if problem.mode == "pairwise" and ranks & (ranks - 1):
        return f"pairwise needs a power of two of ranks, not {ranks}; use shift"
    if problem.mode.startswith("group") and ranks % group:
        return f"groups of {group} do not divide {ranks} ranks; use a divisor with --group"
    return None


def _suits_merge_sort(problem: Problem) -> str | None:
    if problem.mode == "serial" and not problem.options.tree:
        return None
    parents = _parents(problem)
    if len(parents) != problem.ranks - 1:
        return f"the tree has {len(parents) + 1} ranks, not {problem.ranks}"
    for rank, parent in enumerate(parents, start=1):
        if not 0 <= parent < rank:
            return (f"the parent of rank {rank} of the tree is {parent}, which is no lower rank;"
                    " give lower ranks, as with 0,0,1,1,2,2")  # fmt: skip
    if any(len(own) not in (0, 2) for own in children_of(parents)):
        return "a rank of the tree has one child, or three; give each two, as with 0,0,1,1,2,2"
    return None


_PAIR_MODES = ["send", "ssend", "isend", "bsend", "rsend", "persistent", "sendrecv", "stream",
               "sstream"]  # fmt: skip
_KIB = 1024
_SIZES = [1, _KIB, 8 * _KIB, 64 * _KIB]

KERNELS = {
    "pingpong": Kernel(_PAIR_MODES, _SIZES, 2, _pair, _suits_pair),
    "echo": Kernel(["mpi"], _SIZES, 2, lambda problem, _: echo(problem.size_bytes), _suits_pair),
    RING: Kernel(["alternate", "sendrecv", "serial"], [4, 4000, 40000], 2, _ring, _suits_ring),
    "broadcast": Kernel(broadcasts.MODES, _SIZES, 4, _broadcast, _suits_broadcast),
    "alltoall": Kernel(exchanges.MODES, _SIZES, 4, _exchange, _suits_exchange),
    MPI_BCAST: Kernel(
        library_broadcast.MODES, _SIZES, 4, _library_broadcast, _suits_library_broadcast
    ),
    MPI_ALLTOALL: Kernel(
        library_exchange.MODES, _SIZES, 4, _library_exchange, _suits_library_exchange
    ),
    MERGE_SORT: Kernel(["tree", "serial"], [200_000], 7, _merge_sort, _suits_merge_sort),
}
