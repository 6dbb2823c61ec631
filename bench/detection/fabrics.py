"""Curves as fabrics make them, whose truth is known: laws of time against bytes, and their noise.

A law is a list of regimes. Each has a formula from its first byte on. Where two regimes jump or
bend follows from the formulas alone, so no detector makes the labels. The parameters are drawn from
ranges that vendors' manuals, papers and published tables show; `FABRICS` names each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

Floats = npt.NDArray[np.float64]

#: Time in microseconds of sizes in bytes.
Formula = Callable[[Floats], Floats]

#: The first byte of each regime and its formula.
Law = list[tuple[int, Formula]]

LARGEST = 4 * 2**20

#: A jump of less than this, relative, is none: the lines of two regimes meet.
LEAST_JUMP = 0.01

#: Sizes an octave, and the passes and samples of each size. Of one pass only the means remain, as
#: in a table of OSU or IMB.
DESIGNS = {
    "9 an octave, repeats": (9, 5, 4),
    "3 an octave, repeats": (3, 5, 4),
    "powers of two, repeats": (1, 5, 4),
    "powers of two, one table": (1, 1, 1000),
}


@dataclass(frozen=True)
class Noise:
    """What is added to the times of a law.

    Attributes
    ----------
    slow_share : float
        The share of visits (one size in one pass) that are in the slow state.
    tail_share : float
        The share of samples with a heavy tail, of Pareto's distribution.
    first_pass : float
        The relative time that the first visit of each size adds at most.
    launches : int
        How many launches of each curve are searched together.
    """

    slow_share: float = 0.0
    tail_share: float = 0.0
    first_pass: float = 0.0
    launches: int = 1


NOISES = {
    "calm": Noise(),
    "heavy tails": Noise(tail_share=0.15),
    "first-pass misses": Noise(first_pass=1.5),
    "two states, 25 % slow": Noise(slow_share=0.25),
    "two states, 40 % slow": Noise(slow_share=0.4),
    "two states, 40 % slow, 3 launches": Noise(slow_share=0.4, launches=3),
}

#: What the slow state adds to a base time of 1.6 us.
SLOW_US, BASE_US = 0.7, 1.6


@dataclass(frozen=True)
class Change:
    """A change of a law between two sizes of a grid.

    Attributes
    ----------
    place : int
        Index of the first size after it.
    jump : float
        Relative change of time at its first byte; 0 if the lines meet.
    shown : float
        What the sizes show of a jump: the relative change at the first size after it, if it has the
        same sign, but no more than at its first byte. Between sizes that are far apart, a change of
        slope takes some jumps back.
    bend : float
        If they meet: the relative change of time at twice its first byte.
    """

    place: int
    jump: float
    shown: float
    bend: float

    @property
    def kind(self) -> str:
        """The kind of the finding that it is."""
        return "step" if self.jump else "slope_change"


@dataclass(frozen=True)
class FabricCurve:
    """One curve: what it is of, its sizes, its samples by launch, and its changes.

    `times` are those of the law.
    """

    fabric: str
    sizes: Floats
    times: Floats
    launches: list[pd.DataFrame]
    truth: list[Change]


def grid(per_octave: int) -> Floats:
    """Return the sizes from 1 B to 4 MiB with so many an octave."""
    last = int(np.log2(LARGEST))
    return np.unique((2.0 ** (np.arange(last * per_octave + 1) / per_octave)).astype(int)) * 1.0


def curves(design: str, noise: str, number: int, seed: int) -> Iterator[FabricCurve]:
    """Draw so many curves of each fabric."""
    per_octave, passes, samples = DESIGNS[design]
    sizes = grid(per_octave)
    for index, (fabric, draw) in enumerate(FABRICS.items()):
        for turn in range(number):
            rng = np.random.default_rng([seed, index, turn])
            law = draw(rng)
            of_size = rng.normal(0, 0.003, len(sizes))
            quiet = np.exp(rng.uniform(np.log(0.003), np.log(0.02)))
            times = times_of(law, sizes) * (1 + of_size)
            measured = [
                _samples(rng, sizes, times, passes, samples, quiet, NOISES[noise])
                for _ in range(NOISES[noise].launches)
            ]
            yield FabricCurve(fabric, sizes, times, measured, changes(law, sizes))


def times_of(law: Law, sizes: Floats) -> Floats:
    """Return the times of a law."""
    times = np.empty_like(sizes)
    for first, formula in law:
        times[sizes >= first] = formula(sizes[sizes >= first])
    return times


def changes(law: Law, sizes: Floats) -> list[Change]:
    """Return the changes of a law between sizes; those in one gap are one change."""
    by_place: dict[int, list[int]] = {}
    for index in range(1, len(law)):
        place = int(np.searchsorted(sizes, law[index][0]))
        if 0 < place < len(sizes):
            by_place.setdefault(place, []).append(index)
    found = []
    for place, indices in by_place.items():
        at = np.array([1.0, 2.0]) * law[indices[-1]][0]
        before_all, after_all = law[indices[0] - 1][1], law[indices[-1]][1]
        jump, later = (after_all(at) / before_all(at) - 1).tolist()
        at_size = float((after_all(sizes[[place]]) / before_all(sizes[[place]]))[0]) - 1
        if abs(jump) >= LEAST_JUMP:
            shown = min(abs(jump), abs(at_size)) * (np.sign(jump) == np.sign(at_size))
            found.append(Change(place, jump, float(shown * np.sign(jump)), 0.0))
        elif abs(later) >= LEAST_JUMP:
            found.append(Change(place, 0.0, 0.0, later))
    return found


def _samples(
    rng: np.random.Generator, sizes: Floats, times: Floats, passes: int, samples: int,
    quiet: float, noise: Noise,
) -> pd.DataFrame:  # fmt: skip
    """Return what one launch measures."""
    shape = passes, samples, len(sizes)
    visit = rng.normal(0, quiet / 2, (passes, 1, len(sizes)))
    factors = 1 + visit + rng.normal(0, quiet, shape) + rng.exponential(quiet, shape)
    factors += (rng.random(shape) < noise.tail_share) * rng.pareto(1.5, shape)
    factors[0] += noise.first_pass * rng.random((1, len(sizes)))
    slow = rng.random((passes, 1, len(sizes))) < noise.slow_share
    added = slow * SLOW_US / BASE_US * times[0]
    measured = factors * times + added
    if passes == 1:
        measured = measured.mean(axis=1, keepdims=True)
    turn, sample, place = (axis.ravel() for axis in np.indices(measured.shape))
    return pd.DataFrame(
        {
            "size_bytes": sizes[place].astype(int),
            "pass": turn,
            "sample": sample,
            "iterations": 1,
            "time_us": measured.ravel(),
        }
    )


# The laws. Times in us; speeds in GB/s, which are 1,000 B/us.


def _between(rng: np.random.Generator, low: float, high: float) -> float:
    """Draw from a range; each octave of it is equally probable."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _limit(rng: np.random.Generator, low: float, high: float) -> int:
    """Draw the first byte after a limit: half of them are powers of two, less a header or not."""
    limit = _between(rng, low, high)
    if rng.random() < 0.5:
        limit = 2.0 ** round(np.log2(limit)) - rng.choice([0, 0, 8, 56])
    return int(limit) + 1


def _line(latency_us: float, per_byte: float) -> Formula:
    return lambda size: latency_us + size * per_byte


def _wire(rng: np.random.Generator, low: float, high: float) -> float:
    """Draw the time per byte of a link with a speed in this range."""
    return 1e-3 / _between(rng, low, high)


def ucx_rc(rng: np.random.Generator) -> Law:
    """InfiniBand over UCX rc: inline, copied, zero copy, rendezvous; 1 to 4 octaves apart."""
    latency, wire, copy = _between(rng, 0.8, 2.0), _wire(rng, 10, 25), 2 * _wire(rng, 8, 14)
    inline, zero = int(rng.choice([65, 93, 129, 221])), _limit(rng, 2048, 16384)
    rendezvous = int(zero * 2 ** rng.uniform(1, 4))
    short, registered = latency * rng.uniform(1.05, 1.2), latency + rng.uniform(0.3, 0.9)
    return [
        (0, _line(latency, wire)),
        (inline, _line(short, wire + copy)),
        (zero, _line(registered, wire)),
        (rendezvous, _line(registered + rng.uniform(0.7, 2.0), wire)),
    ]


def rails(rng: np.random.Generator) -> Law:
    """Several rails above a limit: the time per byte is divided, for a little more latency."""
    latency, wire = _between(rng, 0.9, 2.0), _wire(rng, 10, 25)
    eager, striped, several = (
        _limit(rng, 4096, 16384),
        _limit(rng, 2**16, 2**20),
        rng.integers(2, 5),
    )
    rendezvous = latency + rng.uniform(0.7, 2.0)
    return [
        (0, _line(latency, 1.6 * wire)),
        (eager, _line(rendezvous, wire)),
        (striped, _line(rendezvous + rng.uniform(0.3, 2), wire / several)),
    ]


def slingshot(rng: np.random.Generator) -> Law:
    """Slingshot over CXI: inline commands, eager, rendezvous."""
    latency, wire, copy = _between(rng, 1.6, 2.6), _wire(rng, 18, 24), _wire(rng, 6, 12)
    inline = int(rng.choice([193, 225]))
    return [
        (0, _line(latency, wire)),
        (inline, _line(latency * rng.uniform(1.05, 1.3), wire + copy)),
        (_limit(rng, 8192, 65536), _line(latency + rng.uniform(1.5, 4.0), wire)),
    ]


def psm2(rng: np.random.Generator) -> Law:
    """Omni-Path over PSM2: packets by the CPU, then by DMA, then windows of a rendezvous."""
    latency, wire, cpu = _between(rng, 1.0, 1.8), _wire(rng, 10, 12.3), _wire(rng, 3, 6)
    dma, first, window = _limit(rng, 8192, 32768), 64001, 131072
    start, each = latency + rng.uniform(3, 8), rng.uniform(1.0, 4.0)
    law: Law = [(0, _line(latency, cpu)), (dma, _line(latency + rng.uniform(0.5, 3), 1.3 * wire))]
    law.append((first, _line(start, wire)))
    # The third window and those after it overlap with the data of the one before.
    law += [(n * window + 1, _line(start + n * each, wire)) for n in (1, 2)]
    return law


def shared_memory(rng: np.random.Generator) -> Law:
    """One node: copy in and out, then a single copy by xpmem, CMA or KNEM, then beyond a cache."""
    latency, copy = _between(rng, 0.2, 0.6), _wire(rng, 5, 12)
    single, fast = _limit(rng, 2048, 65536), int(rng.choice([129, 257, 1025]))
    call = {"xpmem": (0.1, 0.4), "cma": (0.4, 1.2), "knem": (0.6, 2.0)}
    added = rng.uniform(*call[str(rng.choice([*call]))])
    cache = _limit(rng, 2**18, 2**21)
    once, beyond = copy / rng.uniform(1.6, 2.4), copy * rng.uniform(1.0, 1.5)
    after = latency + added + once * cache
    return [
        (0, _line(latency, copy)),
        (fast, _line(latency * rng.uniform(1.1, 1.6), copy)),
        (single, _line(latency + added, once)),
        (cache, _line(after - beyond * cache, beyond)),
    ]


def tcp(mtu: int) -> Callable[[np.random.Generator], Law]:
    """TCP: the first segment, then a stream; rendezvous with one more round trip."""

    def draw(rng: np.random.Generator) -> Law:
        latency, wire = _between(rng, 8, 30), _wire(rng, 1.0, 3.0)
        header, eager = int(rng.choice([22, 25, 72])), _limit(rng, 16384, 131072)
        second = latency * rng.uniform(1.1, 1.6)
        return [
            (0, _line(latency, 2 * wire)),
            (mtu - 52 - header + 1, _line(second, wire)),
            (eager, _line(second + latency * rng.uniform(0.7, 1.5), wire)),
        ]

    return draw


def gpu_pipeline(rng: np.random.Generator) -> Law:
    """A GPU's memory: copied by the CPU, then by the NIC, then staged in chunks."""
    latency, bar, wire = _between(rng, 2.0, 5.0), _wire(rng, 1.5, 6), _wire(rng, 10, 22)
    copied, staged = _limit(rng, 1024, 8192), _limit(rng, 2**17, 2**20)
    direct = latency + rng.uniform(1.0, 5.0)
    return [
        (0, _line(latency, bar)),
        (copied, _line(direct, 1.5 * wire)),
        (staged, _line(direct + rng.uniform(5, 20), wire)),
    ]


def store_and_forward(rng: np.random.Generator) -> Law:
    """Switches that store a packet before they send it on: the lines meet at one packet."""
    latency, wire = _between(rng, 3, 12), _wire(rng, 1, 3)
    hops, packet = int(rng.integers(2, 5)), int(rng.choice([2048, 4096, 9000]))
    return [
        (0, _line(latency, wire * (hops + 1))),
        (packet, _line(latency + wire * hops * packet, wire)),
    ]


def smooth(rng: np.random.Generator) -> Law:
    """Nothing switches: latency plus a concave ramp, from one time per byte to a smaller one."""
    latency, wire = _between(rng, 0.8, 3.0), _wire(rng, 8, 25)
    if rng.random() < 0.5:
        power = rng.uniform(0.65, 0.9)
        return [(0, lambda size: latency + wire * LARGEST ** (1 - power) * size**power)]
    knee, first = _between(rng, 2**12, 2**18), rng.uniform(2, 6)
    return [(0, lambda size: latency + wire * (size + (first - 1) * knee * np.log1p(size / knee)))]


def straight(rng: np.random.Generator) -> Law:
    """Nothing switches: one line."""
    return [(0, _line(_between(rng, 0.8, 30), _wire(rng, 0.1, 25)))]


FABRICS: dict[str, Callable[[np.random.Generator], Law]] = {
    "UCX rc": ucx_rc,
    "rails": rails,
    "Slingshot": slingshot,
    "PSM2": psm2,
    "shared memory": shared_memory,
    "TCP, MTU 1500": tcp(1500),
    "TCP, MTU 9000": tcp(9000),
    "GPU pipeline": gpu_pipeline,
    "store and forward": store_and_forward,
    "smooth": smooth,
    "straight": straight,
}
