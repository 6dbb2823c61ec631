"""Histories with known truth: noise of launches that were recorded on the testbed, and changes.

A launch keeps its shape: its offset, its slow passes, its bursts. The noise of a transport is
scaled so that its launches scatter by a given standard deviation. Launches that were recorded one
after the other stay together in blocks.
"""

from __future__ import annotations

import itertools
import random
import sys
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from switchpoint import Measurements
from switchpoint.tables.columns import RUN_COLUMNS

sys.path.append(str(Path(__file__).resolve().parents[1] / "detection"))
from record import launches as recorded_launches

Floats = npt.NDArray[np.float64]

#: A transport, and the number of a pair of nodes.
Curve = tuple[str, int]

CURVES = Path(__file__).resolve().parents[1] / "detection" / "curves.parquet"

#: Sizes an octave and passes that are used of the recorded ones.
PER_OCTAVE = 2
PASSES = 4

#: The switch of every curve, in bytes, and where a moved one lies.
LIMIT_BYTES = 65536
MOVED_TO_BYTES = 32768

NIGHTS = 60
LAUNCHES = 3
PAIRS = 12
START = datetime(2026, 1, 1, 2, tzinfo=timezone.utc)

#: Recorded launches of a transport that stay together.
BLOCK = 4


@dataclass(frozen=True)
class Transport:
    """What was recorded of one MPI at one placement.

    Attributes
    ----------
    name : str
        MPI and placement.
    size : array of float, shape (sizes,)
        In bytes.
    before, past : array of float, shape (sizes,)
        Typical time in microseconds where the switch lies after, or at or before, the size.
    noise : array of float, shape (launches, passes, sizes)
        Logarithm of a time over the one without noise, in the order in which launches were
        recorded.
    """

    name: str
    size: Floats
    before: Floats
    past: Floats
    noise: Floats

    @property
    def scatter(self) -> float:
        """Standard deviation of the launches' medians, the root of its mean square over sizes."""
        return float(np.sqrt(np.median(self.noise, axis=1).var(axis=0).mean()))


@cache
def transports() -> dict[str, Transport]:
    """Every recorded transport by its name."""
    table = pd.read_parquet(CURVES)
    table = table[table["pass"] < PASSES]
    order = {
        (launch.transport.name, launch.limit or 0, launch.number): place
        for place, launch in enumerate(recorded_launches())
    }
    found = {}
    for name, part in table.groupby("transport", observed=True):
        times = part.pivot_table(
            index=["limit", "launch", "first_byte"], columns=["pass", "size_bytes"],
            values="time_ns", observed=True,
        )  # fmt: skip
        times = times.dropna(axis="columns")  # controls of one transport end earlier
        keys = list(times.index)
        places = [order[str(name), int(limit), int(launch)] for limit, launch, _ in keys]
        times = times.iloc[np.argsort(places)]
        first = np.array([key[2] for key in times.index], dtype=float)
        sizes = np.unique(times.columns.get_level_values("size_bytes")).astype(float)
        log = np.log(times.to_numpy() / 1e3).reshape(len(times), PASSES, len(sizes))
        keep = _on_grid(sizes)
        sizes, log = sizes[keep], log[:, :, keep]
        switched = (first[:, None] > 0) & (sizes[None, :] >= first[:, None])
        middle = np.median(log, axis=1)
        before = _typical(middle, ~switched)
        past = _typical(middle, switched)
        limits = np.array([key[0] for key in times.index])
        noise = log - middle[:, None, :] + _offsets(middle, limits)[:, None, :]
        found[str(name)] = Transport(str(name), sizes, np.exp(before), np.exp(past), noise)
    return found


def _offsets(middle: Floats, limits: npt.NDArray[np.int64]) -> Floats:
    """Return how much each launch differs at each size from the other one of the same limit.

    Divided by the square root of two, this scatters as launches do. Launches of other limits differ
    by more than noise.
    """
    offsets = np.empty_like(middle)
    for limit in np.unique(limits):
        one, other = np.flatnonzero(limits == limit)
        offsets[one] = (middle[one] - middle[other]) / np.sqrt(2)
        offsets[other] = -offsets[one]
    return offsets


def _typical(log: Floats, wanted: npt.NDArray[np.bool_]) -> Floats:
    """Median over the wanted launches at each size, or over all where there are few."""
    enough = wanted.sum(axis=0) >= 3
    masked = np.where(wanted, log, np.nan)
    masked[:, ~enough] = log[:, ~enough]
    return np.asarray(np.nanmedian(masked, axis=0))


def _on_grid(measured: Floats) -> npt.NDArray[np.bool_]:
    wanted = np.arange(np.ceil(np.log2(measured[-1])) * PER_OCTAVE + 1) / PER_OCTAVE
    nearest = np.abs(np.log2(measured)[None, :] - wanted[:, None]).argmin(axis=1)
    return np.isin(np.arange(len(measured)), nearest)


@dataclass(frozen=True)
class Truth:
    """A change that was put in.

    Attributes
    ----------
    kind : str
        `latency`, `bandwidth`, `switch`, `drift` (of the latency, over 20 nights).
    effect : float
        Relative change of the latency or of the time per byte.
    night : int
        The first changed one, counted from 0.
    curves : set of (transport, pair)
        Which curves.
    """

    kind: str
    effect: float
    night: int
    curves: frozenset[Curve]


@dataclass
class History:
    """Nights of many curves, and what was changed in them; of each transport so many pairs."""

    seed: int
    noise: float
    pairs: int = PAIRS
    truths: list[Truth] = field(default_factory=list)

    @property
    def held_out(self) -> bool:
        """Whether nobody looks at it while tuning: a third, by the seed."""
        return random.Random(self.seed).random() < 1 / 3

    def curves(self) -> list[Curve]:
        """Every curve: a transport and a pair of nodes."""
        return list(itertools.product(transports(), range(self.pairs)))

    def times_us(self, curve: Curve) -> Floats:
        """Return times by night, launch, pass and size."""
        transport = transports()[curve[0]]
        rng = np.random.default_rng([self.seed, *map(ord, curve[0]), curve[1]])
        wanted = NIGHTS * LAUNCHES
        starts = rng.integers(0, len(transport.noise), wanted // BLOCK + 1)
        chosen = (starts[:, None] + np.arange(BLOCK)).ravel()[:wanted] % len(transport.noise)
        noise = transport.noise[chosen] * (self.noise / transport.scatter)
        noise = noise.reshape(NIGHTS, LAUNCHES, *noise.shape[1:])
        return np.asarray(self.typical_us(curve)[:, None, None, :] * np.exp(noise))

    def typical_us(self, curve: Curve) -> Floats:
        """Return the times without noise by night and size."""
        transport = transports()[curve[0]]
        size, latency = transport.size, transport.before[0]
        lines = np.empty((NIGHTS, len(size)))
        for night in range(NIGHTS):
            limit, added, factor = LIMIT_BYTES, 0.0, 0.0
            for truth in self.truths:
                if curve not in truth.curves or night < truth.night:
                    continue
                if truth.kind == "switch":
                    limit = MOVED_TO_BYTES
                elif truth.kind == "bandwidth":
                    factor += truth.effect
                else:
                    share = (night - truth.night + 1) / 20 if truth.kind == "drift" else 1.0
                    added += truth.effect * latency * min(share, 1.0)
            times = np.where(size >= limit, transport.past, transport.before)
            # What exceeds the time of the smallest message grows with the bytes.
            lines[night] = times + added + factor * np.maximum(times - latency, 0.0)
        return lines

    def measurements(self) -> Measurements:
        """Return all nights."""
        rows, frames = [], []
        for number, curve in enumerate(self.curves()):
            transport, pair = curve
            mpi, _, placement = transport.partition("-")
            times = self.times_us(curve)
            sizes = transports()[transport].size.astype(int)
            for night, launch in itertools.product(range(NIGHTS), range(LAUNCHES)):
                run_id = f"{self.seed:08x}{number:08x}{night:08x}{launch:08x}"
                start = START + timedelta(days=night, minutes=30 * launch, seconds=number)
                own = {
                    "site": "testbed", "partition": "cpu", "mpi": mpi, "environ": mpi,
                    "kernel": "pingpong", "placement": placement,
                }  # fmt: skip
                text = f"{start:%Y-%m-%dT%H:%M:%S.%fZ}"
                rows.append(
                    own
                    | {
                        "run_id": run_id, "format": "record", "source": run_id, "complete": True,
                        "date": text[:10], "start_utc": text, "session": session(night),
                    }
                )  # fmt: skip
                told = own | {"mode": "send", "run_id": run_id, "nodes": f"pair{pair:02}"}
                turn, place = np.indices(times.shape[2:]).reshape(2, -1)
                frames.append((told, sizes[place], turn, times[night, launch].ravel()))
        return Measurements(_samples(frames), pd.DataFrame(rows, columns=RUN_COLUMNS))


def session(night: int) -> str:
    """Name of a night's session."""
    return f"night-{night:03}"


def _samples(frames: list[tuple[dict[str, str], Floats, Floats, Floats]]) -> pd.DataFrame:
    counts = [len(times) for *_, times in frames]
    columns: dict[str, object] = {}
    for name in frames[0][0]:
        texts = pd.Categorical([told[name] for told, *_ in frames])
        columns[name] = texts.take(np.repeat(np.arange(len(frames)), counts))
    turn = np.concatenate([turn for _, _, turn, _ in frames])
    return pd.DataFrame(
        columns
        | {
            "size_bytes": np.concatenate([size for _, size, _, _ in frames]),
            "pass": turn,
            "sample": np.zeros_like(turn),
            "iterations": np.ones_like(turn),
            "time_us": np.concatenate([times for *_, times in frames]),
        },
        copy=False,
    )


def histories(seeds: range, noise: float, effect: float, pairs: int = PAIRS) -> list[History]:
    """Return histories whose changes are known: every third curve changes alone, or many together.

    Of each three seeds, one has changes of single curves, one of a whole placement and of one pair
    of nodes, and one nothing at all.
    """
    return [_history(seed, noise, effect, pairs) for seed in seeds]


def _history(seed: int, noise: float, effect: float, pairs: int) -> History:
    chosen = random.Random(1000 + seed)
    history = History(seed, noise, pairs)
    curves = history.curves()
    kinds = ["latency", "bandwidth", "switch", "drift"]
    if seed % 3 == 0:
        for number, curve in enumerate(chosen.sample(curves, len(curves) // 3)):
            kind, night = kinds[number % 4], chosen.randrange(20, NIGHTS - 15)
            history.truths.append(Truth(kind, effect, night, frozenset([curve])))
    elif seed % 3 == 1:
        placement = chosen.choice(["one_node_network", "two_nodes_one_host"])
        of_place = frozenset(curve for curve in curves if curve[0].endswith(f"-{placement}"))
        kind = kinds[seed // 3 % 3]
        history.truths.append(Truth(kind, effect, chosen.randrange(20, 30), of_place))
        pair = chosen.randrange(pairs)
        of_pair = frozenset(curve for curve in curves if curve[1] == pair) - of_place
        history.truths.append(Truth("latency", effect, chosen.randrange(35, 45), of_pair))
    return history
