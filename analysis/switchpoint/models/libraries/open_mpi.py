"""Open MPI: the algorithms of `coll_tuned`, its fixed decisions, and its dynamic rules file.

The decisions are those of Open MPI 4.1 (`coll_tuned_decision_fixed.c`), which sends no segments.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence

from switchpoint.models.kernels import MPI_ALLTOALL, MPI_BCAST
from switchpoint.models.libraries.library import (
    ALLGATHER,
    ALLREDUCE,
    BROADCAST,
    EXCHANGE,
    REDUCE,
    REDUCE_SCATTER,
    Algorithm,
    Choice,
    Group,
    Library,
    Rule,
    Rules,
)

RULES_FILE, SETTINGS_FILE = "openmpi-rules.conf", "openmpi.env"

#: Versions that decide as below.
_KNOWN = "Open MPI 4.1."

_BCAST = {
    one.number: one
    for one in (
        Algorithm("linear", MPI_BCAST, "linear", 1),
        Algorithm("chain", MPI_BCAST, "chain", 2, segmented=True),
        Algorithm("pipeline", MPI_BCAST, "pipeline", 3, segmented=True),
        Algorithm("binary", MPI_BCAST, "binary", 5, segmented=True),
        Algorithm("binomial", MPI_BCAST, "binomial", 6, segmented=True),
        Algorithm("knomial", MPI_BCAST, "knomial", 7, segmented=True),
        Algorithm("scatter_allgather", MPI_BCAST, "scatter_allgather", 8),
        Algorithm("scatter_allgather_ring", MPI_BCAST, "scatter_allgather_ring", 9),
    )
}
_ALLTOALL = {
    one.number: one
    for one in (
        Algorithm("linear", MPI_ALLTOALL, "linear", 1),
        Algorithm("pairwise", MPI_ALLTOALL, "pairwise", 2),
        Algorithm("bruck", MPI_ALLTOALL, "bruck", 3),
        # Without a limit of requests, its default, it sends all at once.
        Algorithm("linear_sync", MPI_ALLTOALL, "linear", 4),
        Algorithm("two_proc", MPI_ALLTOALL, "pairwise", 5),
    )
}

#: By number of ranks (less than), then by bytes (less than): the number of the algorithm.
_Decisions = Sequence[tuple[float, Sequence[tuple[float, int]]]]

_END = math.inf
_K = 1024
_BCAST_DECISIONS: _Decisions = (
    (4, ((32, 3), (256, 5), (512, 3), (_K, 7), (32 * _K, 1), (128 * _K, 5), (256 * _K, 2),
         (512 * _K, 1), (_K * _K, 6), (_END, 5))),
    (8, ((64, 5), (128, 6), (2 * _K, 5), (8 * _K, 6), (_K * _K, 1), (_END, 2))),
    (16, ((8, 7), (64, 5), (4 * _K, 7), (16 * _K, 5), (32 * _K, 6), (_END, 1))),
    (32, ((4 * _K, 7), (_K * _K, 6), (_END, 8))),
    (64, ((2 * _K, 6), (_END, 7))),
    (128, ((_END, 7),)),
    (256, ((2, 6), (16 * _K, 5), (32 * _K, 1), (64 * _K, 5), (_END, 7))),
    (1024, ((16 * _K, 7), (32 * _K, 4), (_END, 7))),
    (2048, ((512 * _K, 7), (_END, 8))),
    (4096, ((256 * _K, 7), (_END, 8))),
    (_END, ((8 * _K, 7), (16 * _K, 5), (256 * _K, 7), (_END, 8))),
)  # fmt: skip
_ALLTOALL_DECISIONS: _Decisions = (
    (3, ((2, 2), (4, 5), (16, 2), (64, 5), (256, 2), (4 * _K, 5), (32 * _K, 2), (256 * _K, 4),
         (_K * _K, 5), (_END, 2))),
    (8, ((8 * _K, 4), (16 * _K, 1), (64 * _K, 4), (512 * _K, 1), (_K * _K, 2), (_END, 1))),
    (16, ((256 * _K, 4), (_END, 1))),
    (32, ((4, 4), (512, 3), (8 * _K, 4), (32 * _K, 1), (256 * _K, 4), (512 * _K, 1), (_END, 4))),
    (64, ((512, 3), (512 * _K, 1), (_END, 4))),
    (128, ((_K, 3), (2 * _K, 1), (4 * _K, 4), (256 * _K, 1), (_END, 2))),
    (256, ((_K, 3), (2 * _K, 4), (256 * _K, 1), (_END, 2))),
    (512, ((_K, 3), (8 * _K, 4), (32 * _K, 1), (_END, 2))),
    (1024, ((512, 3), (8 * _K, 4), (16 * _K, 1), (128 * _K, 4), (256 * _K, 1), (_END, 2))),
    (2048, ((512, 3), (_K, 4), (2 * _K, 1), (16 * _K, 4), (256 * _K, 1), (_END, 4))),
    (4096, ((_K, 3), (4 * _K, 4), (8 * _K, 1), (128 * _K, 4), (_END, 1))),
    (_END, ((2 * _K, 3), (8 * _K, 4), (16 * _K, 1), (32 * _K, 4), (64 * _K, 1), (_END, 4))),
)  # fmt: skip
_TABLES = {BROADCAST: (_BCAST_DECISIONS, _BCAST), EXCHANGE: (_ALLTOALL_DECISIONS, _ALLTOALL)}

#: The numbers of the operations in the rules file. Releases differ in what is there the size of a
#: gather and a scatter.
_IDS = {
    ALLGATHER: 0, ALLREDUCE: 2, EXCHANGE: 3, BROADCAST: 7, REDUCE: 11, REDUCE_SCATTER: 13,
}  # fmt: skip

#: Their size is there that of the messages of all ranks together, its own included.
_OF_ALL_RANKS = {ALLGATHER, EXCHANGE, REDUCE_SCATTER}


#: Those whose results a rule keeps right if the operation does not commute. Open MPI's own decision
#: leaves out the others then; a rule does not.
_IN_ORDER = {
    ALLREDUCE: {"basic_linear", "nonoverlapping", "recursive_doubling", "rabenseifner"},
    REDUCE: {"linear", "in-order_binary", "rabenseifner"},
    REDUCE_SCATTER: {"basic_linear", "recursive_doubling", "recursive_halving", "butterfly"},
}  # fmt: skip


def needs_commuting(operation: str, name: str) -> bool:
    """Return whether a rule makes reductions wrong whose operation does not commute.

    >>> needs_commuting(ALLREDUCE, "ring"), needs_commuting(BROADCAST, "chain")
    (True, False)
    """
    return operation in _IN_ORDER and name not in _IN_ORDER[operation]


def _default(operation: str, group: Group, size_bytes: int, version: str) -> Choice | None:
    """Return the fixed decision; None for other versions, and for the split binary tree."""
    if not version.startswith(_KNOWN):
        return None
    decisions, algorithms = _TABLES[operation]
    by_size = next(sizes for ranks, sizes in decisions if group.ranks < ranks)
    number = next(number for limit, number in by_size if size_bytes < limit)
    return Choice(algorithms[number]) if number in algorithms else None


def rules_text(rules: Rules) -> str:
    """Return the dynamic rules file.

    Groups of other sizes keep Open MPI's own decision, algorithm 0.
    """
    lines = [
        "# Rules of coll_tuned.",
        "# A rule: from this size in bytes, algorithm (0: Open MPI decides), fan-out, segment size",
    ]
    operations = sorted({operation for operation, _ in rules}, key=_IDS.__getitem__)
    lines.append(f"{len(operations)} # operations")
    for operation in operations:
        ranks = sorted(count for name, count in rules if name == operation)
        groups = _with_gaps(ranks)
        lines += [f"{_IDS[operation]} # {operation}", f"{len(groups)} # numbers of ranks"]
        for count, ours in groups:
            own = rules[operation, count] if ours else [Rule(0, None)]
            lines += [f"{count} # ranks", f"{len(own)} # sizes"]
            factor = count if operation in _OF_ALL_RANKS else 1
            lines += [_rule(one, factor) for one in own]
    return "\n".join(lines) + "\n"


def _with_gaps(ranks: Sequence[int]) -> list[tuple[int, bool]]:
    """Return the numbers of ranks with rules, and those from which Open MPI decides again."""
    groups = [(0, False)]
    for count in ranks:
        if groups[-1] == (count, False):
            groups.pop()
        groups += [(count, True), (count + 1, False)]
    return groups


def _rule(rule: Rule, factor: int) -> str:
    first = rule.first_size_bytes * factor
    if rule.choice is None:
        return f"{first} 0 0 0"
    choice = rule.choice
    return f"{first} {choice.algorithm.number} {choice.fan_out} {choice.segment_bytes}"


def _files(rules: Rules, folder: str) -> dict[str, str]:
    rules_file = shlex.quote(f"{folder}/{RULES_FILE}")
    settings = (
        "OMPI_MCA_coll_tuned_use_dynamic_rules=1\n"
        f"OMPI_MCA_coll_tuned_dynamic_rules_filename={rules_file}\n"
    )
    return {RULES_FILE: rules_text(rules), SETTINGS_FILE: settings}


OPEN_MPI = Library(
    "Open MPI",
    {
        BROADCAST: [one for one in _BCAST.values() if one.name != "chain"],
        EXCHANGE: [_ALLTOALL[number] for number in (1, 2, 3)],
    },
    _default,
    _files,
    frozenset(_IDS),
    {RULES_FILE: rules_text({}), SETTINGS_FILE: ""},
)
