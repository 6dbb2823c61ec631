"""The trees along which Open MPI broadcasts from rank 0: each rank's children.

The shapes are those of Open MPI 4.1's `coll_base_topo.c`. Its binary and binomial trees number the
ranks in another way than ours do, which decides who sends between nodes.
"""

from __future__ import annotations

from switchpoint.models.patterns.trees import Children, children_of

#: Open MPI's `coll_tuned_bcast_algorithm_knomial_radix`, unless a site sets another one.
RADIX = 4


def chains(ranks: int, fanout: int) -> Children:
    """Let the root send to the first rank of each of some chains; the first chains are longer.

    >>> chains(6, 2)
    [[1, 4], [2], [3], [], [5], []]
    """
    count = min(max(fanout, 1), ranks - 1)
    longest, longer = -(-(ranks - 1) // count), (ranks - 1) % count or count
    lengths = [longest] * longer + [longest - 1] * (count - longer)
    parents: list[int] = []
    for length in lengths:
        first = len(parents) + 1
        parents += [0, *range(first, first + length - 1)]
    return children_of(parents)


def binary_by_levels(ranks: int) -> Children:
    """Give each rank of a level the ranks that are one and two widths of the level further.

    >>> binary_by_levels(7)
    [[1, 2], [3, 5], [4, 6], [], [], [], []]
    """
    children: Children = []
    for rank in range(ranks):
        width = 1 << ((rank + 1).bit_length() - 1)
        children.append([child for child in (rank + width, rank + 2 * width) if child < ranks])
    return children


def binomial_by_high_bits(ranks: int) -> Children:
    """Give each rank's children one more bit above those that it has, the lowest first.

    >>> binomial_by_high_bits(8)
    [[1, 2, 4], [3, 5], [6], [7], [], [], [], []]
    """
    return [
        [
            rank | 1 << bit
            for bit in range(rank.bit_length(), ranks.bit_length())
            if rank | 1 << bit < ranks
        ]
        for rank in range(ranks)
    ]


def knomial(ranks: int, radix: int = RADIX) -> Children:
    """Build a tree whose ranks have up to `radix` - 1 children for each digit, as a binomial tree.

    >>> knomial(10)
    [[4, 8, 1, 2, 3], [], [], [], [5, 6, 7], [], [], [], [9], []]
    """
    children: Children = []
    for rank in range(ranks):
        weight = 1
        while weight < ranks and rank % (radix * weight) == 0:
            weight *= radix
        own: list[int] = []
        while (weight := weight // radix) > 0:
            own += [rank + weight * digit for digit in range(1, radix)]
        children.append([child for child in own if child < ranks])
    return children
