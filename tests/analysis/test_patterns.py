"""The patterns send what the studies and the C kernels send."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from switchpoint.models.operations import (
    Compute,
    Program,
    Receive,
    Send,
    StartReceive,
    StartSend,
)
from switchpoint.models.patterns.applications import (
    STREAM_BYTES,
    backpropagation,
    fft,
    jpeg,
    psrs,
    voting,
)
from switchpoint.models.patterns.broadcast import MODES as BROADCASTS
from switchpoint.models.patterns.broadcast import broadcast
from switchpoint.models.patterns.complete_exchange import MODES as EXCHANGES
from switchpoint.models.patterns.complete_exchange import complete_exchange, slots
from switchpoint.models.patterns.library_broadcast import MODES as LIBRARY_BROADCASTS
from switchpoint.models.patterns.library_broadcast import library_broadcast
from switchpoint.models.patterns.library_exchange import MODES as LIBRARY_EXCHANGES
from switchpoint.models.patterns.library_exchange import library_exchange
from switchpoint.models.patterns.library_trees import (
    binary_by_levels,
    binomial_by_high_bits,
    chains,
    knomial,
)
from switchpoint.models.patterns.linear_equations import linear
from switchpoint.models.patterns.merge_sort import counts_of, merge_sort
from switchpoint.models.patterns.trees import TREES, binary, children_of, parents_of, two_level
from switchpoint.studies.study_000 import bytes_over_network

SEVEN = [0, 0, 1, 1, 2, 2]

#: Study 000: map, bytes over the network, messages.
MAPS = [
    ("AABAABB", 200_000, 2),
    ("AAAAABB", 200_000, 4),
    ("AAAAAAB", 100_000, 2),
    ("AABABBB", 300_000, 4),
    ("AABABAB", 400_000, 6),
    ("AABBBAA", 600_000, 10),
    ("ABBAAAA", 800_000, 12),
]


def sent(programs: list[Program]) -> list[tuple[int, int, int]]:
    """Return the sender, the receiver and the bytes of each message."""
    return [
        (rank, operation.to, operation.size_bytes)
        for rank, program in enumerate(programs)
        for operation in program
        if isinstance(operation, Send | StartSend)
    ]


def depth(children: list[list[int]]) -> int:
    parents = parents_of(children)

    def above(rank: int) -> int:
        return 0 if rank == 0 else 1 + above(parents[rank])

    return max(map(above, range(len(children))))


@pytest.mark.parametrize(("process_map", "between_bytes", "messages"), MAPS)
def test_each_map_of_the_merge_sort_sends_the_studys_bytes(
    process_map: str, between_bytes: int, messages: int
) -> None:
    crossing = [
        size for source, target, size in sent(merge_sort(200_000, SEVEN, 1.0).programs)
        if process_map[source] != process_map[target]
    ]  # fmt: skip

    assert sum(crossing) == between_bytes == bytes_over_network(process_map)
    assert len(crossing) == messages


def test_halves_of_an_odd_number_are_those_of_the_kernel() -> None:
    assert counts_of(children_of([0, 0, 1, 1]), 7) == [7, 3, 4, 1, 2]


def test_trees_are_those_of_the_studys_figures() -> None:
    heap, relayed = binary(31), two_level(21)

    assert [rank for rank, own in enumerate(heap) if not own] == list(range(15, 31))
    assert relayed[0] == [1, 2, 3, 4]
    assert [len(own) for own in relayed[1:5]] == [4, 4, 4, 4]
    assert (depth(heap), depth(relayed)) == (4, 2)


@pytest.mark.parametrize("ranks", [2, 3, 5, 8, 13])
@pytest.mark.parametrize("mode", TREES)
def test_every_rank_has_one_parent(mode: str, ranks: int) -> None:
    children = TREES[mode](ranks)

    assert len(children) == ranks
    assert sorted(child for own in children for child in own) == list(range(1, ranks))


@pytest.mark.parametrize("mode", BROADCASTS)
@pytest.mark.parametrize(("ranks", "size"), [(2, 1), (5, 20_000), (8, 0)])
def test_every_rank_gets_the_whole_broadcast(mode: str, ranks: int, size: int) -> None:
    got = Counter[int]()
    for _, receiver, length in sent(broadcast(mode, ranks, size).programs):
        got[receiver] += length
    acknowledged = mode.endswith("_ack")

    assert all(got[rank] >= size for rank in range(1, ranks))
    assert (got[0] > 0) == acknowledged


@pytest.mark.parametrize("schedule", ["shift", "pairwise", "synchronous_shuffle", "group_shuffle"])
@pytest.mark.parametrize(("ranks", "group"), [(4, 2), (8, 4), (8, 1), (8, 8)])
def test_each_slot_is_a_permutation_and_each_packet_is_sent_once(
    schedule: str, ranks: int, group: int
) -> None:
    packets = 3
    every = [list(slots(schedule, ranks, packets, group, rank)) for rank in range(ranks)]
    flat = [(rank, *slot) for rank, own in enumerate(every) for slot in own]

    assert len(flat) == len(set(flat)) == ranks * (ranks - 1) * packets
    for together in zip(*every, strict=True):
        if schedule != "group_shuffle":  # its ranks are idle in different slots
            assert sorted(peer for peer, _ in together) == list(range(ranks))


def test_group_shuffles_of_one_and_of_all_are_shift_and_synchronous_shuffle() -> None:
    of_one = list(slots("group_shuffle", 8, 3, 1, 5))
    of_all = list(slots("group_shuffle", 8, 3, 8, 5))

    assert of_one == list(slots("shift", 8, 3, 1, 5))
    assert of_all == list(slots("synchronous_shuffle", 8, 3, 1, 5))


@pytest.mark.parametrize("schedule", ["shift", "synchronous_shuffle", "group_shuffle"])
def test_a_rank_receives_in_the_order_in_which_others_send(schedule: str) -> None:
    ranks, packets, group = 6, 2, 3
    for receiver in range(ranks):
        expected = list(slots(schedule, ranks, packets, group, receiver, direction=-1))
        for sender in set(range(ranks)) - {receiver}:
            theirs = [
                p for to, p in slots(schedule, ranks, packets, group, sender) if to == receiver
            ]
            assert [p for source, p in expected if source == sender] == theirs


@pytest.mark.parametrize("mode", EXCHANGES)
def test_every_pair_exchanges_its_message(mode: str) -> None:
    got = Counter[tuple[int, int]]()
    for sender, receiver, length in sent(complete_exchange(mode, 4, 150_000).programs):
        got[sender, receiver] += length

    assert len(got) == 12
    assert set(got.values()) == {150_000}


# The algorithms of MPI libraries.


def received(programs: list[Program]) -> Counter[tuple[int, int]]:
    """Count the messages that each rank receives from each other one."""
    return Counter(
        (operation.source, rank)
        for rank, program in enumerate(programs)
        for operation in program
        if isinstance(operation, Receive | StartReceive)
    )


@pytest.mark.parametrize("ranks", [2, 3, 5, 6, 8, 13, 16, 23])
@pytest.mark.parametrize(
    "tree", [lambda n: chains(n, 3), binary_by_levels, binomial_by_high_bits, knomial]
)
def test_every_rank_of_a_librarys_tree_has_one_parent(
    tree: Callable[[int], list[list[int]]], ranks: int
) -> None:
    children = tree(ranks)

    assert len(children) == ranks
    assert sorted(child for own in children for child in own) == list(range(1, ranks))


def test_chains_are_as_long_as_each_other_or_one_longer() -> None:
    assert [len(own) for own in chains(9, 3)] == [3, 1, 1, 0, 1, 1, 0, 1, 0]
    assert chains(4, 1) == chains(4, 0) == [[1], [2], [3], []]


@pytest.mark.parametrize("mode", LIBRARY_BROADCASTS)
@pytest.mark.parametrize(("ranks", "size"), [(2, 1), (5, 20_000), (7, 100), (8, 0), (11, 65_537)])
def test_every_rank_gets_the_whole_message_of_a_library(mode: str, ranks: int, size: int) -> None:
    programs = library_broadcast(mode, ranks, size, segment_bytes=4096, fanout=2).programs
    got = Counter[int]()
    for _, receiver, length in sent(programs):
        got[receiver] += length

    assert all(got[rank] >= size for rank in range(1, ranks))
    assert received(programs) == Counter((a, b) for a, b, _ in sent(programs))


def test_segments_of_a_tree_have_the_length_of_the_message() -> None:
    lengths = [size for _, _, size in sent(library_broadcast("pipeline", 2, 10_000, 4096).programs)]

    assert lengths == [4096, 4096, 1808]


@pytest.mark.parametrize("mode", LIBRARY_EXCHANGES)
@pytest.mark.parametrize("ranks", [2, 3, 8, 11])
def test_a_librarys_exchange_receives_what_it_sends(mode: str, ranks: int) -> None:
    programs = library_exchange(mode, ranks, 100).programs
    total = sum(size for _, _, size in sent(programs))

    assert received(programs) == Counter((a, b) for a, b, _ in sent(programs))
    if mode == "bruck":  # each step's bit is set in about half of the numbers below p
        bits = sum(bin(number).count("1") for number in range(1, ranks))
        assert total == 100 * ranks * bits
    else:
        assert total == 100 * ranks * (ranks - 1)


# The applications.

COMPLEX = 16  # bytes of a complex number

#: What each pattern sends in all: by ranks p, in bytes, as the C source has it.
APPLICATIONS: dict[str, tuple[Callable[[int], list[Program]], Callable[[int], int]]] = {
    "everywhere": (
        lambda p: voting("everywhere", p, 96, 1.0).programs,
        lambda p: p * (p - 1) * 96,
    ),
    "shares": (
        lambda p: voting("shares", p, 96, 1.0).programs,
        lambda p: 2 * (p - 1) * 96,  # the complete exchange, then every share to all others
    ),
    "jpeg": (
        lambda p: jpeg(p, 12 * 4096, 1.0).programs,
        lambda p: (p - 1) * (12 // p * (4096 + 8 + STREAM_BYTES) + 8),
    ),
    "backpropagation": (
        lambda p: backpropagation(p, 12 * 256, 1.0, hidden=2, epochs=3).programs,
        lambda p: (p - 1) * (12 // p * 256 + 3 * 2 * 8 * (2 * 25 + 8 * 3)),
    ),
    "psrs": (
        lambda p: psrs(p, 4 * 144, 1.0).programs,
        lambda p: (p - 1) * (2 * 4 * 144 // p + 4 * p + 4 * (p - 1) + p * (8 + 576 // p**2) + 8),
    ),
    "fft": (
        lambda p: fft(p, COMPLEX * 12**2, 1.0).programs,
        lambda p: (p - 1) * COMPLEX * 144 * 4 // p,  # there, two transpositions, and back
    ),
    "lu": (
        lambda p: linear("lu", p, 8 * 12**2, 1.0, block=1).programs,
        lambda p: (p - 1) * (8 * 144 // p + 8 * 144 + 4 * 12),
    ),
    "inv": (
        lambda p: linear("inv", p, 8 * 12**2, 1.0, block=1).programs,
        lambda p: (p - 1) * (2 * 8 * 144 // p + 8 * 144 + 4 * 12),
    ),
    "mult": (
        lambda p: linear("mult", p, 8 * 12**2, 1.0).programs,
        lambda p: (p - 1) * (2 * 8 * 144 // p + 8 * 144),
    ),
}


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("name", APPLICATIONS)
def test_an_application_sends_what_its_source_does(name: str, ranks: int) -> None:
    pattern, expected = APPLICATIONS[name]
    programs = pattern(ranks)

    assert sum(size for _, _, size in sent(programs)) == expected(ranks)
    assert received(programs) == Counter((a, b) for a, b, _ in sent(programs))


def computed(programs: list[Program]) -> list[float]:
    """Return what each rank computes."""
    return [sum(one.us for one in program if isinstance(one, Compute)) for program in programs]


@pytest.mark.parametrize("block", [1, 5, 32])
@pytest.mark.parametrize("ranks", [1, 3])
def test_lu_factors_have_as_many_multiply_adds_in_any_blocks(ranks: int, block: int) -> None:
    programs = linear("lu", ranks, 8 * 24**2, 1.0, block).programs

    assert sum(computed(programs)) == pytest.approx(24**3 / 3)


def test_ranks_share_the_work_of_an_application() -> None:
    assert computed(voting("everywhere", 3, 96, 1.0).programs) == [36, 36, 36]
    assert computed(voting("shares", 3, 80, 1.0).programs) == [12, 9, 9]
    assert computed(jpeg(2, 3 * 4096, 1.0).programs) == [2, 1]
    # 16 keys are sorted in 16 * 4, those of two ranks in 8 * 3 and then merged; rank 0 sorts 2^2.
    assert computed(psrs(1, 64, 1.0).programs) == [64]
    assert computed(psrs(2, 64, 1.0).programs) == [24 + 8 + 8, 24 + 8]
    assert computed(fft(1, COMPLEX * 8**2, 1.0).programs) == [64 * 6]
