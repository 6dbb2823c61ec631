"""Trees over the ranks, rooted at rank 0, as in src/patterns/tree.c: each rank's children."""

from __future__ import annotations

from collections.abc import Callable, Sequence

#: The children of each rank, in the order in which it sends to them.
Children = list[list[int]]


def repeated(ranks: int) -> Children:
    """Let the root send to all others.

    >>> repeated(4)
    [[1, 2, 3], [], [], []]
    """
    return children_of([0] * (ranks - 1))


def binary(ranks: int) -> Children:
    """Build a binary heap: for 31 ranks figure 2.30 of study 004.

    >>> binary(5)
    [[1, 2], [3, 4], [], [], []]
    """
    return children_of([(rank - 1) // 2 for rank in range(1, ranks)])


def two_level(ranks: int) -> Children:
    """Give the root relays, and the relays members: for 21 ranks figure 2.31 of study 004.

    >>> two_level(7)
    [[1, 2], [3, 4], [5, 6], [], [], [], []]
    """
    relays = 1
    while (relays + 1) ** 2 <= ranks - 1:
        relays += 1
    members = ranks - 1 - relays
    return children_of(
        [0] * min(relays, ranks - 1) + [1 + member * relays // members for member in range(members)]
    )


def binomial(ranks: int) -> Children:
    """Give each rank's children one more bit than it has, the largest subtree first.

    >>> binomial(6)
    [[4, 2, 1], [], [3], [], [5], []]
    """
    return [
        [rank + bit for bit in _bits_below(rank, ranks) if rank + bit < ranks]
        for rank in range(ranks)
    ]


def binomial_end(rank: int, ranks: int) -> int:
    """Return the rank after the last one of a rank's subtree in `binomial`."""
    return min(rank + _lowest_bit(rank, ranks), ranks)


def chain(ranks: int) -> Children:
    """Let each rank send to the next one."""
    return children_of(list(range(ranks - 1)))


def children_of(parents: Sequence[int]) -> Children:
    """Return each rank's children, from the parents of ranks 1, 2, ..."""
    children: Children = [[] for _ in range(len(parents) + 1)]
    for rank, parent in enumerate(parents, start=1):
        children[parent].append(rank)
    return children


def parents_of(children: Children) -> dict[int, int]:
    """Return the parent of each rank except the root."""
    return {child: parent for parent, own in enumerate(children) for child in own}


def _lowest_bit(rank: int, ranks: int) -> int:
    """Return the lowest bit of a rank; for the root the first power of two that is no rank."""
    if rank:
        return rank & -rank
    return 1 << (ranks - 1).bit_length()


def _bits_below(rank: int, ranks: int) -> list[int]:
    bit = _lowest_bit(rank, ranks)
    return [bit >> shift for shift in range(1, bit.bit_length())]


#: By the name of the kernel's mode.
TREES: dict[str, Callable[[int], Children]] = {
    "repeated": repeated,
    "binary": binary,
    "two_level": two_level,
    "binomial": binomial,
}
