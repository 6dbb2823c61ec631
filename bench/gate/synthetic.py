"""Nights of a synthetic site, whose truth is known: curves, noise as on real machines, changes.

Times follow one line before and one after the switch of each curve. All noise multiplies a time.
The launch is what repeats: its offset is larger than anything inside it.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from switchpoint import Measurements, read_facts
from switchpoint.tables.columns import RUN_COLUMNS

Floats = npt.NDArray[np.float64]

SIZES = 2 ** np.arange(3, 23)
PASSES = 3
MODES = ["send", "ssend", "isend", "stream"]
MPIS = ["MPICH 4.0.2", "Open MPI 4.1.4"]
PLACEMENTS = ["one_node", "one_node_network", "two_nodes_one_host", "two_nodes_two_hosts"]

#: What can change, and the columns by which curves are chosen for it.
KINDS = {"latency", "per_byte", "switch", "drift"}
COLUMNS = {"mpi", "placement", "nodes"}

#: The first night.
START = datetime(2026, 1, 1, 2, tzinfo=timezone.utc)
BETWEEN_LAUNCHES = timedelta(minutes=40)

#: Standard deviations of the logarithm of time: of a night at one placement, which remembers the
#: night before by `REMEMBERED`; of a launch; of a pass; of a sample.
NIGHT, REMEMBERED = 0.008, 0.6
LAUNCH = 0.02
PASS = 0.005
SAMPLE = 0.01

#: Share of launches that are slow as a whole, and share of passes that another program slows down;
#: and how much slower they are.
SLOW_LAUNCHES = 0.03
SLOW_PASSES = 0.02
SLOWER = (1.1, 1.5)

#: More nights than anyone asks for.
_NIGHTS = 4000

_RECORD = Path(__file__).parents[2] / "tests/analysis/records/openmpi-network-limit-65536.record.gz"


@dataclass(frozen=True)
class Change:
    """A change of some curves from one night on.

    Attributes
    ----------
    kind : str
        `latency`, `per_byte`, `switch` (its place moves by this factor), or `drift` (of the
        latency, in equal steps over 60 nights).
    effect : float
        The relative change: 0.12 is 12 % more.
    night : int
        The first night, counted from 0.
    where : dict
        Identity columns and the value of the changed curves.
    """

    kind: str
    effect: float
    night: int
    where: dict[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> Change:
        """Read a change such as ``latency:+12%:60:placement=one_node,mpi=MPICH 4.0.2``."""
        try:
            kind, effect, night, *where = text.split(":")
            pairs = [pair.split("=") for pair in ":".join(where).split(",") if pair]
            change = cls(kind, float(effect.rstrip("%")) / 100, int(night), dict(pairs))
        except ValueError:
            change = None
        if change is None or change.kind not in KINDS or not {*change.where} <= COLUMNS:
            told = f"{text} is no change; write KIND:EFFECT:NIGHT, as latency:+12%:300"
            raise argparse.ArgumentTypeError(told)
        return change

    def factor(self, night: int) -> float:
        """Return what the changed quantity is multiplied by in a night."""
        if night < self.night:
            return 1.0
        share = min((night - self.night + 1) / 60, 1.0) if self.kind == "drift" else 1.0
        return 1.0 + self.effect * share


class Site:
    """A site of many curves; a configuration is what one run measures, in four modes.

    Parameters
    ----------
    curves
        About how many curves; they fill configurations.
    seed
        Of the curves and of all nights.
    """

    def __init__(self, curves: int, seed: int = 1) -> None:
        configurations = max(curves // len(MODES), 1)
        number = np.arange(configurations)
        self.seed = seed
        self.placement = number % len(PLACEMENTS)
        self.mpi = number // len(PLACEMENTS) % len(MPIS)
        pair = number // (len(PLACEMENTS) * len(MPIS))
        self.table = pd.DataFrame(
            {
                "mpi": np.array(MPIS)[self.mpi],
                "placement": np.array(PLACEMENTS)[self.placement],
                "nodes": [f"n{2 * one:04}-n{2 * one + 1:04}" for one in pair],
            }
        )
        rng = np.random.default_rng(seed)
        shape = (configurations, len(MODES))
        spread = np.exp(rng.normal(0, 0.03, shape))
        self.latency_us = np.array([0.5, 6.0, 12.0, 20.0])[self.placement, None] * spread
        self.latency_us = self.latency_us * np.array([1, 1.3, 1.05, 0.9])
        self.per_byte_us = np.array([1e-4, 2.5e-4, 4e-4, 8e-4])[self.placement, None] * spread
        self.limit_bytes = np.array([[16384, 65536], [4096, 65536]])[
            self.mpi, (self.placement > 0).astype(int)
        ]
        nights = rng.normal(0, NIGHT * np.sqrt(1 - REMEMBERED**2), (_NIGHTS, len(PLACEMENTS)))
        for one, before in zip(nights[1:], nights, strict=False):
            one += REMEMBERED * before
        self.nights = nights
        facts = read_facts(_RECORD)
        self._header, self._footer = facts.header, json.dumps(facts.footer)

    def night(self, night: int, launches: int, changes: list[Change] | None = None) -> Measurements:
        """Return the measurements of one night."""
        parts = [self.times_us(night, launch, changes or []) for launch in range(launches)]
        times = np.stack(parts)
        runs = self._runs(night, launches)
        return Measurements(self._samples(times, runs), runs)

    def times_us(self, night: int, launch: int, changes: list[Change]) -> Floats:
        """Return the times of a launch, by configuration, mode, pass and size."""
        rng = np.random.default_rng([self.seed, night, launch])
        latency, per_byte = self.latency_us.copy(), self.per_byte_us.copy()
        limit = self.limit_bytes.astype(float)
        for change in changes:
            hit = self._hit(change)
            factor = change.factor(night)
            if change.kind in ("latency", "drift"):
                latency[hit] *= factor
            elif change.kind == "per_byte":
                per_byte[hit] *= factor
            elif change.kind == "switch":
                limit[hit] *= factor
        past = SIZES[None, :] >= limit[:, None]
        line = latency[:, :, None] + per_byte[:, :, None] * SIZES
        line = line + np.where(past, 1.0, 0.0)[:, None, :] * latency[:, :, None] * 0.8
        configurations = len(latency)
        shape = (configurations, len(MODES), PASSES, len(SIZES))
        log = rng.normal(0, SAMPLE, shape)
        log += rng.normal(0, PASS, shape[:3])[..., None]
        log += rng.normal(0, LAUNCH, (configurations, 1, 1, 1))
        log += self.nights[night, self.placement][:, None, None, None]
        low, high = np.log(SLOWER)
        slow = rng.random(configurations) < SLOW_LAUNCHES
        log += np.where(slow, rng.uniform(low, high, configurations), 0.0)[:, None, None, None]
        burst = rng.random(shape[:3]) < SLOW_PASSES
        log += np.where(burst, rng.uniform(low, high, shape[:3]), 0.0)[..., None]
        return np.asarray(line[:, :, None, :] * np.exp(log))

    def _hit(self, change: Change) -> npt.NDArray[np.bool_]:
        hit = np.ones(len(self.table), dtype=bool)
        for column, value in change.where.items():
            hit &= (self.table[column] == value).to_numpy()
        return hit

    def _runs(self, night: int, launches: int) -> pd.DataFrame:
        rows = []
        header = self._header
        session = f"night-{night:04}"
        for launch in range(launches):
            start = START + timedelta(days=night) + launch * BETWEEN_LAUNCHES
            for number, told in enumerate(self.table.to_dict("records")):
                run_id = f"{self.seed:08x}{night:08x}{launch:08x}{number:08x}"
                begun = f"{start + timedelta(seconds=number):%Y-%m-%dT%H:%M:%S.%fZ}"
                labels = {
                    "site": "synthetic", "partition": "cpu", "environ": "gnu",
                    "placement": told["placement"], "nodes": told["nodes"], "session": session,
                }  # fmt: skip
                own = {"run_id": run_id, "start_utc": begun, "labels": labels}
                rows.append(
                    {
                        "run_id": run_id, "format": "record", "source": f"{run_id}.record",
                        "site": "synthetic", "date": begun[:10], "start_utc": begun,
                        "partition": "cpu", "mpi": told["mpi"], "environ": "gnu",
                        "kernel": "pingpong", "placement": told["placement"], "session": session,
                        "complete": True, "tool": "pingpong 0.1.0",
                        "program": json.dumps(header["kernel"]), "builder": "cmake",
                        "labels": json.dumps(labels), "header": json.dumps(header | own),
                        "footer": self._footer,
                    }
                )  # fmt: skip
        return pd.DataFrame(rows, columns=RUN_COLUMNS)

    def _samples(self, times: Floats, runs: pd.DataFrame) -> pd.DataFrame:
        launches, _, modes, passes, sizes = times.shape
        per_run = modes * passes * sizes
        of_run = np.repeat(np.arange(len(runs)), per_run)

        def one(value: str) -> pd.Categorical:
            return pd.Categorical.from_codes(np.zeros(times.size, dtype="int8"), [value])

        def told(values: pd.Series) -> pd.Categorical:
            whole = pd.Categorical(pd.concat([values] * launches))
            return whole.take(of_run)

        indices = np.indices((modes, passes, sizes), dtype="int32").reshape(3, -1)
        mode, turn, place = (np.tile(axis, len(runs)) for axis in indices)
        return pd.DataFrame(
            {
                "site": one("synthetic"), "partition": one("cpu"), "mpi": told(self.table["mpi"]),
                "environ": one("gnu"), "kernel": one("pingpong"),
                "placement": told(self.table["placement"]),
                "mode": pd.Categorical.from_codes(mode, MODES),
                "run_id": pd.Categorical(runs["run_id"]).take(of_run),
                "nodes": told(self.table["nodes"]),
                "size_bytes": SIZES[place], "pass": turn, "sample": np.zeros_like(turn),
                "iterations": np.ones_like(turn), "time_us": times.ravel(),
            },
            copy=False,
        )  # fmt: skip
