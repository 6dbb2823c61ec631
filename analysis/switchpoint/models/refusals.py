"""Says why a kernel's problem cannot be predicted: its ranks, options, or number of messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from switchpoint.errors import InputError
from switchpoint.models.applications import APPLICATIONS
from switchpoint.models.patterns.ring import STEPS
from switchpoint.models.patterns.trees import children_of

if TYPE_CHECKING:
    from switchpoint.models.kernels import Problem

#: More would be simulated for minutes.
_MOST_MESSAGES = 1_000_000


def check_ranks(ranks: int) -> None:
    """Raise InputError if there are more ranks than can be simulated, before they are placed."""
    if ranks > _MOST_MESSAGES:
        raise InputError(
            "--ranks", f"{ranks:,} are more than the {_MOST_MESSAGES:,} that can be simulated"
        )


def suits_pair(problem: Problem) -> str | None:
    """Return why a pair of ranks cannot be predicted; None if it can."""
    if problem.ranks != 2:
        return f"has 2 ranks, not {problem.ranks}"
    if problem.mode.endswith("stream"):
        return _too_many(problem.options.window + 1, "a smaller --option window")
    return None


def suits_ring(problem: Problem) -> str | None:
    """Return why a ring cannot be predicted; None if it can."""
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


def suits_broadcast(problem: Problem) -> str | None:
    """Return why a broadcast of ours cannot be predicted; None if it can."""
    others, mode = problem.ranks - 1, problem.mode
    if mode == "scatter_allgather":
        return _too_many(others * problem.ranks)
    acknowledgements = others if mode.endswith("_ack") else 0
    if mode.startswith("pipelined"):
        messages = others * _segments(problem) + acknowledgements
        return _too_many(messages, "a larger --option segment")
    return _too_many(others + acknowledgements)


def suits_library_broadcast(problem: Problem) -> str | None:
    """Return why a library's broadcast cannot be predicted; None if it can."""
    others, mode = problem.ranks - 1, problem.mode
    if mode == "scatter_allgather_ring":
        return _too_many(others * (problem.ranks + 1))
    if mode == "scatter_allgather":
        return _too_many(others + 2 * problem.ranks * others.bit_length())
    return _too_many(others * _segments(problem), "a larger --option segment")


def suits_library_exchange(problem: Problem) -> str | None:
    """Return why a library's exchange cannot be predicted; None if it can."""
    partners = problem.ranks - 1
    each = partners.bit_length() if problem.mode == "bruck" else partners
    return _too_many(problem.ranks * each)


def suits_exchange(problem: Problem) -> str | None:
    """Return why an exchange of ours cannot be predicted; None if it can."""
    ranks, group = problem.ranks, problem.options.group
    packets = max(-(-problem.size_bytes // problem.options.packet), 1)
    if why := _too_many(ranks * (ranks - 1) * packets, "a larger --option packet"):
        return why
    if problem.mode == "pairwise" and ranks & (ranks - 1):
        return f"pairwise needs a power of two of ranks, not {ranks}; use shift"
    if problem.mode.startswith("group") and ranks % group:
        return f"groups of {group} do not divide {ranks} ranks; use a divisor with --group"
    return None


def suits_application(problem: Problem) -> str | None:
    """Return why an application cannot be predicted; None if it can."""
    application = APPLICATIONS[problem.kernel]
    return application.refuse(problem) or _too_many(
        application.messages(problem), application.fewer
    )


def suits_merge_sort(problem: Problem) -> str | None:
    """Return why a merge sort cannot be predicted; None if it can."""
    if problem.mode == "serial" and not problem.options.tree:
        return None
    parents = parents_of_sort(problem)
    if len(parents) != problem.ranks - 1:
        return f"the tree has {len(parents) + 1} ranks, not {problem.ranks}"
    for rank, parent in enumerate(parents, start=1):
        if not 0 <= parent < rank:
            return (f"the parent of rank {rank} of the tree is {parent}, which is no lower rank;"
                    " give lower ranks, as with 0,0,1,1,2,2")  # fmt: skip
    if any(len(own) not in (0, 2) for own in children_of(parents)):
        return "a rank of the tree has one child, or three; give each two, as with 0,0,1,1,2,2"
    return None


def parents_of_sort(problem: Problem) -> Sequence[int]:
    """Return the parents of ranks 1, 2, ... of a merge sort."""
    return problem.options.tree or [(rank - 1) // 2 for rank in range(1, problem.ranks)]
