"""Merge sort over a tree of ranks, as in src/studies/mergesort.c (study 000)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from switchpoint.models.patterns.pattern import Pattern, Steps
from switchpoint.models.patterns.trees import children_of, parents_of

INT_BYTES = 4


def merge_sort(size_bytes: int, parents: Sequence[int], number_us: float) -> Pattern:
    """Describe a sort of 4-byte ints that start and end at rank 0; the time ends there.

    Parameters
    ----------
    size_bytes
        The array at rank 0.
    parents
        Of ranks 1, 2, ...: each rank has none or two children. Empty: rank 0 sorts alone.
    number_us
        Time to merge one number once. Leaves sort n numbers in n log2 n of it.
    """
    children = children_of(parents)
    parent_of = parents_of(children)
    counts = counts_of(children, size_bytes // INT_BYTES)
    programs = []
    for rank, own in enumerate(children):
        steps = Steps()
        if rank:
            steps.receive(parent_of[rank])
        for child in own:
            steps.send(child, INT_BYTES * counts[child])
        for child in own:
            steps.receive(child)
        merged = counts[rank] * (1 if own else math.log2(max(counts[rank], 1)))
        steps.compute(number_us * merged)
        if rank:
            steps.send(parent_of[rank], INT_BYTES * counts[rank])
        programs.append(steps.program)
    return Pattern(list(programs), ends_at_root=True)


def counts_of(children: Sequence[Sequence[int]], numbers: int) -> list[int]:
    """Return how many numbers come to each rank: the first child gets the smaller half."""
    counts = [numbers, *[0] * (len(children) - 1)]
    for rank, own in enumerate(children):
        if own:
            first, second = own
            counts[first] = counts[rank] // 2
            counts[second] = counts[rank] - counts[first]
    return counts
