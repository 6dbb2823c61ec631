"""MPICH: its algorithms, what MPICH 4.0 selects, and its collective selection file.

MPICH reads all decisions from one JSON file, and aborts if an operation is missing. The decisions
of other operations therefore come from the file that MPICH has built in, which its library contains
as text (`maint/tuning/coll/mpir/generic.json` in its source).
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from switchpoint.errors import InputError
from switchpoint.limits import LIBRARY_BYTES
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
from switchpoint.regular_files import read_limited

SELECTION_FILE, SETTINGS_FILE = "mpich-selection.json", "mpich.env"

#: Versions that decide as below.
_KNOWN = "MPICH 4.0."

_BINOMIAL = Algorithm("binomial", "broadcast", "binomial")
_DOUBLING = Algorithm("scatter_recursive_doubling_allgather", MPI_BCAST, "scatter_allgather")
_RING = Algorithm("scatter_ring_allgather", MPI_BCAST, "scatter_allgather_ring")
_SCATTERED = Algorithm("scattered", MPI_ALLTOALL, "linear")
_PAIRWISE = Algorithm("pairwise", MPI_ALLTOALL, "pairwise")
_BRUCKS = Algorithm("brucks", MPI_ALLTOALL, "bruck")

#: The names of the operations in MPICH's files and variables. Its file counts elements in place of
#: bytes in a gather and a scatter.
_NAMES = {
    ALLGATHER: "Allgather", ALLREDUCE: "Allreduce", BROADCAST: "Bcast", EXCHANGE: "Alltoall",
    REDUCE: "Reduce", REDUCE_SCATTER: "Reduce_scatter_block",
}  # fmt: skip

#: Their condition on the size is one on the bytes of all ranks together: they have no other one.
_OF_ALL_RANKS = {ALLGATHER, REDUCE_SCATTER}

#: Algorithms that need parameters in the file, nodes with several ranks, or data in one place.
_UNFIT = re.compile(r"tree|recexch|k_|smp$|pairwise_sendrecv_replace$")

#: Algorithms with which MPICH aborts unless the number of ranks is a power of two.
_POWERS_OF_TWO = {
    (BROADCAST, "scatter_recursive_doubling_allgather"), (ALLGATHER, "recursive_doubling"),
    (REDUCE_SCATTER, "noncommutative"),
}  # fmt: skip

#: The nonblocking operation and a wait: an algorithm for all communicators.
_NONBLOCKING = "nb"

#: The decisions of an operation within a group of ranks.
_WITHIN = "comm_type=intra"

#: The beginning of the built-in decisions in the library.
_BUILT_IN = re.compile(rb'\{"collective=bcast":\{"comm_type=intra":\{"comm_size[^\0]*')


def _default(operation: str, group: Group, size_bytes: int, version: str) -> Choice | None:
    """Return the built-in decision where each rank has a node of its own; otherwise None.

    MPICH 4.0 reads its condition `comm_size<8` as at most 8.
    """
    if not version.startswith(_KNOWN) or group.nodes < group.ranks:
        return None
    few = group.ranks <= 8
    if operation == BROADCAST:
        if few or size_bytes <= 12 * 1024:
            return Choice(_BINOMIAL)
        power_of_two = group.ranks & (group.ranks - 1) == 0
        return Choice(_DOUBLING if power_of_two and size_bytes <= 512 * 1024 else _RING)
    if not few and size_bytes <= 256:
        return Choice(_BRUCKS)
    return Choice(_SCATTERED if size_bytes <= 32 * 1024 else _PAIRWISE)


def built_in_decisions(
    path: Path, operations: Iterable[str] = (BROADCAST, EXCHANGE)
) -> dict[str, Any]:
    """Read MPICH's own decisions from its library, or from a JSON file.

    Raises
    ------
    InputError
        If the file does not contain them, with those of the operations.
    """
    try:
        content = read_limited(path, LIBRARY_BYTES)
    except OSError as error:
        raise InputError(
            path, f"cannot be read: {error.strerror}; give MPICH's library, such as libmpich.so.12"
        ) from None
    found = _BUILT_IN.search(content) if content.startswith(b"\x7fELF") else None
    try:
        decisions = json.loads(found[0] if found else content)
    except (ValueError, RecursionError):
        decisions = None
    if not isinstance(decisions, dict) or _key(BROADCAST) not in decisions:
        raise InputError(
            path,
            "contains no decisions of MPICH; give the library of MPICH 4.0 or later, or a JSON file"
            " such as its maint/tuning/coll/mpir/generic.json",
        )
    for name in operations:
        own = decisions.get(_key(name))
        if not isinstance(own, dict) or not isinstance(own.get(_WITHIN), dict):
            raise InputError(
                path,
                f"has no {_WITHIN} of {_key(name)}, without which MPICH aborts; give the library of"
                " MPICH 4.0 or later",
            )
    return decisions


def _key(operation: str) -> str:
    return f"collective={_NAMES[operation].lower()}"


def with_rules(decisions: dict[str, Any], rules: Rules) -> dict[str, Any]:
    """Return decisions with rules before them: groups and sizes without a rule keep their own."""
    changed = dict(decisions)
    for operation in sorted({name for name, _ in rules}):
        key = _key(operation)
        own = changed[key][_WITHIN]
        groups: dict[str, Any] = {}
        for ranks in sorted(count for name, count in rules if name == operation):
            if f"comm_size<={ranks - 1}" not in groups:
                groups[f"comm_size<={ranks - 1}"] = own
            ours = _by_size(operation, ranks, rules[operation, ranks], own)
            groups[f"comm_size<={ranks}"] = ours
        groups["comm_size=any"] = own
        changed[key] = changed[key] | {_WITHIN: groups}
    return changed


def _by_size(
    operation: str, ranks: int, rules: Sequence[Rule], own: dict[str, Any]
) -> dict[str, Any]:
    """Return the decision of each range of sizes."""
    size, factor = ("total_msg_size", ranks) if operation in _OF_ALL_RANKS else ("avg_msg_size", 1)
    tree: dict[str, Any] = {}
    for rule, after in zip(rules, [*rules[1:], None], strict=True):
        until = "=any" if after is None else f"<={after.first_size_bytes * factor - 1}"
        chosen = rule.choice
        tree[f"{size}{until}"] = own if chosen is None else _guarded(operation, chosen, own)
    return tree


def _guarded(operation: str, choice: Choice, own: dict[str, Any]) -> dict[str, Any]:
    """Return an algorithm, but MPICH's decision for calls that it may abort, or answer wrongly."""
    chosen = _algorithm(operation, choice)
    if operation == EXCHANGE:
        return {"is_sendbuf_inplace=yes": own, "is_sendbuf_inplace=no": chosen}
    if operation == REDUCE_SCATTER:
        return {"is_commutative=no": own, "is_commutative=yes": chosen}
    if operation in (ALLREDUCE, REDUCE):
        enough = {"count<pow2": own, "count=any": chosen}
        return {"is_op_built_in=no": own, "is_op_built_in=yes": enough}
    return chosen


def _algorithm(operation: str, choice: Choice) -> dict[str, Any]:
    name = choice.algorithm.name
    kind = "allcomm" if name == _NONBLOCKING else "intra"
    return {f"algorithm=MPIR_{_NAMES[operation]}_{kind}_{name}": {}}


def can_have_rule(operation: str, name: str, ranks: int) -> bool:
    """Return whether the file can name an algorithm, which then does not end the program.

    >>> can_have_rule(ALLGATHER, "recursive_doubling", 6), can_have_rule(BROADCAST, "tree", 4)
    (False, False)
    """
    power_of_two = ranks & (ranks - 1) == 0
    unfit = _UNFIT.search(name) is not None
    return not unfit and (power_of_two or (operation, name) not in _POWERS_OF_TWO)


def files(rules: Rules, folder: str, decisions: dict[str, Any] | None) -> dict[str, str]:
    """Return the selection file, or without decisions the variables that say the same.

    Variables choose one algorithm for all sizes and groups, so that they are only written for an
    operation whose rules are one algorithm.
    """
    if decisions is not None:
        selection = json.dumps(with_rules(decisions, rules), indent=1)
        file = shlex.quote(f"{folder}/{SELECTION_FILE}")
        return {
            SELECTION_FILE: selection + "\n",
            SETTINGS_FILE: f"MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE={file}\n",
        }
    lines = []
    for operation in sorted({name for name, _ in rules}):
        chosen = {
            rule.choice for (name, _), own in rules.items() if name == operation for rule in own
        }
        if len(chosen) == 1 and (choice := chosen.pop()) is not None:
            variable = f"MPIR_CVAR_{_NAMES[operation].upper()}_INTRA_ALGORITHM"
            lines.append(f"{variable}={choice.algorithm.name}")
    return {SETTINGS_FILE: "".join(f"{line}\n" for line in lines)} if lines else {}


MPICH = Library(
    "MPICH",
    {BROADCAST: [_BINOMIAL, _DOUBLING, _RING], EXCHANGE: [_SCATTERED, _PAIRWISE, _BRUCKS]},
    _default,
    lambda rules, folder: files(rules, folder, None),
    frozenset(_NAMES),
    {SELECTION_FILE: "{}\n", SETTINGS_FILE: ""},
)
