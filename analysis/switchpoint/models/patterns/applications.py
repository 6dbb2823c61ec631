"""The applications that divide data over the ranks, as in src/studies (study 004).

Computing is counted in units of an application's own work, which take `unit_us` each. On one rank
a pattern computes all of the work, so that a run on one rank shows how long a unit takes. Copies in
memory count as part of it.
"""

from __future__ import annotations

import math

from switchpoint.models.patterns.application_messages import (
    LENGTH_BYTES,
    NUMBER_BYTES,
    announce,
    broadcast,
    collect,
    compute,
    deal,
    exchange,
    shares,
)
from switchpoint.models.patterns.pattern import Pattern, Steps

VOTE_BYTES = 8
KEY_BYTES = 4
COMPLEX_BYTES = 16

#: Of a block of `jpeg`: its grey pixels, and the mean of its stream with the kernel's images at
#: quality 75.
BLOCK_BYTES = 4096
STREAM_BYTES = 731

#: Of `backpropagation`: a network's inputs and outputs, and a number of 8 bytes for each of both.
INPUTS, OUTPUTS = 24, 8
PATTERN_BYTES = (INPUTS + OUTPUTS) * NUMBER_BYTES


def voting(mode: str, ranks: int, size_bytes: int, unit_us: float) -> Pattern:
    """Describe a ballot of all ranks; a unit is one vote that is counted.

    Parameters
    ----------
    mode
        `everywhere`: each rank broadcasts its ballot, and all count. `shares`: each counts a share
        of the questions, and broadcasts the outcome. `serial`: rank 0 has all ballots.
    ranks, size_bytes
        Voters, and the bytes of one ballot.
    unit_us
        Time to count a vote.
    """
    questions = size_bytes // VOTE_BYTES
    every = [Steps() for _ in range(ranks)]
    counted = shares(questions, ranks) if mode == "shares" else [questions] * ranks
    if mode == "serial":
        counted[1:] = [0] * (ranks - 1)
    elif mode == "everywhere":
        for rank in range(ranks):
            broadcast(every, size_bytes, rank)
    else:
        exchange(every, [[VOTE_BYTES * share for share in counted]] * ranks)
    compute(every, [ranks * count for count in counted], unit_us)
    if mode == "shares":
        for rank, count in enumerate(counted):
            broadcast(every, VOTE_BYTES * count, rank)
    return Pattern([steps.program for steps in every])


def jpeg(ranks: int, size_bytes: int, unit_us: float) -> Pattern:
    """Describe the compression of an image; a unit is a block of 64 x 64 pixels.

    Parameters
    ----------
    ranks, size_bytes
        How many, and the bytes of all pixels.
    unit_us
        Time to compress a block.
    """
    every = [Steps() for _ in range(ranks)]
    blocks = shares(size_bytes // BLOCK_BYTES, ranks)
    deal(every, [BLOCK_BYTES * count for count in blocks])
    compute(every, blocks, unit_us)
    collect(every, [LENGTH_BYTES * count for count in blocks])
    announce(every)
    collect(every, [STREAM_BYTES * count for count in blocks])
    return Pattern([steps.program for steps in every])


def backpropagation(
    ranks: int, size_bytes: int, unit_us: float, hidden: int = 32, epochs: int = 4
) -> Pattern:
    """Describe the training of a network; a unit is a hidden unit that learns a pattern once.

    Rank 0 also adds up the gradients and changes the weights. These touch each weight once, so
    that they are left out.

    Parameters
    ----------
    ranks, size_bytes
        How many, and the bytes of all patterns.
    unit_us
        Time of a pattern for each hidden unit.
    hidden, epochs
        Units in the hidden layer, and how often all patterns are learnt.
    """
    every = [Steps() for _ in range(ranks)]
    patterns = shares(size_bytes // PATTERN_BYTES, ranks)
    weight_bytes = NUMBER_BYTES * (hidden * (INPUTS + 1) + OUTPUTS * (hidden + 1))
    deal(every, [PATTERN_BYTES * count for count in patterns])
    for _ in range(epochs):
        broadcast(every, weight_bytes)
        compute(every, [count * hidden for count in patterns], unit_us)
        collect(every, [weight_bytes] * ranks)
    return Pattern([steps.program for steps in every])


def psrs(ranks: int, size_bytes: int, unit_us: float) -> Pattern:
    """Describe a sort by regular sampling; a unit is a key that is merged once.

    n keys are sorted in n log2 n units. The keys between two pivots depend on the data: they are
    taken to be equally many.

    Parameters
    ----------
    ranks, size_bytes
        How many, and the bytes of all keys.
    unit_us
        Time to merge a key once.
    """
    every = [Steps() for _ in range(ranks)]
    keys = shares(size_bytes // KEY_BYTES, ranks)
    parts = [shares(count, ranks) for count in keys]
    arriving = [sum(column) for column in zip(*parts, strict=True)]
    deal(every, [KEY_BYTES * count for count in keys])
    compute(every, [_sorting(count) for count in keys], unit_us)
    collect(every, [KEY_BYTES * ranks] * ranks)
    if ranks > 1:
        every[0].compute(_sorting(ranks * ranks) * unit_us)
    broadcast(every, KEY_BYTES * (ranks - 1))
    exchange(every, [[LENGTH_BYTES] * ranks] * ranks)
    exchange(every, [[KEY_BYTES * count for count in row] for row in parts])
    compute(every, [count * (ranks - 1).bit_length() for count in arriving], unit_us)
    announce(every)
    collect(every, [KEY_BYTES * count for count in arriving])
    return Pattern([steps.program for steps in every])


def _sorting(count: int) -> float:
    """Return the units of a sort."""
    return count * math.log2(max(count, 1))


def fft(ranks: int, size_bytes: int, unit_us: float) -> Pattern:
    """Describe a transform in two dimensions; a unit is a number in one of the log2 n^2 stages.

    Parameters
    ----------
    ranks, size_bytes
        How many, and the bytes of n x n complex numbers.
    unit_us
        Time of a number in a stage.
    """
    every = [Steps() for _ in range(ranks)]
    order = math.isqrt(size_bytes // COMPLEX_BYTES)
    rows = shares(order, ranks)
    matrix_bytes = [COMPLEX_BYTES * order * count for count in rows]
    deal(every, matrix_bytes)
    for _ in range(2):
        compute(every, [count * order * math.log2(order) for count in rows], unit_us)
        exchange(every, [[COMPLEX_BYTES * mine * theirs for theirs in rows] for mine in rows])
    collect(every, matrix_bytes)
    return Pattern([steps.program for steps in every])
