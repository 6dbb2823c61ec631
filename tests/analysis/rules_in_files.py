"""Looks a message up in the rules files of MPI libraries, as these do."""

from __future__ import annotations

from typing import Any


def chosen(text: str, operation: int, ranks: int, size_bytes: int) -> tuple[int, int]:
    """Look a message up as Open MPI does: the last group and size that are not larger."""
    numbers = iter(int(word) for row in text.splitlines() for word in row.partition("#")[0].split())
    found = (0, 0)
    for _ in range(next(numbers)):
        here = next(numbers) == operation
        best = -1
        for _ in range(next(numbers)):
            group, count = next(numbers), next(numbers)
            rules = [[next(numbers) for _ in range(4)] for _ in range(count)]
            assert rules[0][0] == 0, "Open MPI wants a rule from size 0 on"
            assert [rule[0] for rule in rules] == sorted({rule[0] for rule in rules})
            if here and best < group <= ranks:
                best = group
                number, _, segment = next(r[1:] for r in reversed(rules) if r[0] <= size_bytes)
                found = (number, segment)
    assert next(numbers, None) is None
    return found


def selected(tree: dict[str, Any], ranks: int, size_bytes: int) -> str:
    """Follow MPICH's conditions to the algorithm."""
    for condition, inner in tree.items():
        if condition.startswith("algorithm="):
            return condition
        name, _, limit = condition.partition("<=")
        value = ranks if name == "comm_size" else size_bytes
        if condition.endswith("=any") or "<8" in condition or value <= int(limit):
            return selected(inner, ranks, size_bytes)
    raise AssertionError("MPICH aborts if no condition is true")
