"""Efficiency planes of study 002: over ranks and grain, from equation 6 and as measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from switchpoint.errors import InputError
from switchpoint.models.efficiency import (
    FIT_BYTES,
    WORD_BYTES,
    Link,
    break_even_us,
    efficiency,
    link_of_sends,
)
from switchpoint.models.fitting import KERNEL
from switchpoint.models.kernel_arguments import options_of
from switchpoint.models.kernels import RING
from switchpoint.models.links import Place
from switchpoint.records.rank_layout import layout_of
from switchpoint.tables.measurements import Measurements
from switchpoint.tables.sweeps import Floats

#: L of the study, in words of 4 bytes.
WORDS = (1, 1000, 10_000)

MEASURED_COLUMNS = [
    "ranks",
    "words",
    "task_us",
    "efficiency",
    "predicted",
    "oversubscribed",
    "launches",
]

_MOST_RANKS = 64
_STEPS = 24


@dataclass(frozen=True)
class Plane:
    """Efficiency of one message length.

    Attributes
    ----------
    words : int
        L, the message in words of 4 bytes.
    ranks : list of int
        np, ascending.
    tasks_us : array of float, shape (tasks,)
        T, the time of the whole task on one rank.
    efficiency : array of float, shape (len(ranks), tasks)
        Equation 6, which is equation 2 without a serial part.
    """

    words: int
    ranks: list[int]
    tasks_us: Floats
    efficiency: Floats


def link_at(measurements: Measurements, place: Place) -> Link:
    """Fit t_start and t_w to the ping-pong of a place.

    Raises
    ------
    InputError
        If its mode `send` was not measured at two sizes of the study's messages, or their line
        begins below 0.
    """
    samples = _at(measurements.samples, place, KERNEL)
    link = link_of_sends(samples[samples["mode"] == "send"], 2)
    if link is None:
        first, last = FIT_BYTES
        raise InputError(
            f"the ping-pong on {place.placement}",
            f"has fewer than two sizes from {first} B to {last // 1024} KiB; measure with"
            " `make measure TAG=sweep`",
        )
    if link.start_us <= 0:
        raise InputError(
            f"the ping-pong on {place.placement}",
            "has a line that begins below 0; measure smaller sizes",
        )
    return link


def efficiency_planes(
    link: Link, words: Sequence[int] = WORDS, largest_ranks: int = _MOST_RANKS
) -> list[Plane]:
    """Return a plane for each message length, all over the same ranks and tasks.

    The tasks reach from a tenth of the shortest break-even grain to ten times the longest one.
    """
    ranks = np.unique(np.geomspace(2, max(largest_ranks, 2), _STEPS).round().astype(int)).tolist()
    even_us = [
        break_even_us(count, link.exchange_us(count, length))
        for count in (2, ranks[-1]) for length in words
    ]  # fmt: skip
    tasks_us = np.geomspace(max(min(even_us), 0.01) / 10, max(max(even_us), 0.01) * 10, 2 * _STEPS)
    return [
        Plane(
            length, ranks, tasks_us,
            np.array([
                [efficiency(task, count, link.exchange_us(count, length)) for task in tasks_us]
                for count in ranks
            ]),
        )
        for length in words
    ]  # fmt: skip


def measured_efficiency(measurements: Measurements, place: Place, link: Link) -> pd.DataFrame:
    """Return the efficiency of the ring kernel's steps at a place.

    Returns
    -------
    DataFrame
        `MEASURED_COLUMNS`, one row for each number of ranks, message and task without a serial
        part. `task_us` is T as the same run measured it alone, `efficiency` its part of the ranks'
        time (median over launches), `predicted` equation 6.
    """
    samples = _at(measurements.samples, place, RING)
    rows = []
    for run_id, own in samples.groupby("run_id", observed=True):
        header, _ = measurements.facts(str(run_id))
        try:
            options, layout = options_of(header), layout_of(header)
        except InputError:  # an untrusted record; its other runs count
            continue
        if options.serial or len(layout.nodes) < 2:
            continue
        times: dict[Any, float] = (
            own.groupby(["mode", "size_bytes"], observed=True)["time_us"].median().to_dict()
        )
        for (mode, size), time_us in times.items():
            task_us = times.get(("serial", size), options.grain)
            if mode != "serial" and task_us > 0:
                words, share = size // WORD_BYTES, task_us / (len(layout.nodes) * time_us)
                place_and_task = len(layout.nodes), words, options.grain, layout.oversubscribed
                rows.append((*place_and_task, task_us, share, run_id))
    if not rows:
        return pd.DataFrame(columns=MEASURED_COLUMNS)
    keys = ["ranks", "words", "grain_us", "oversubscribed"]
    table = pd.DataFrame(rows, columns=[*keys, "task_us", "efficiency", "run_id"])
    found = table.groupby(keys).agg(
        task_us=("task_us", "median"), efficiency=("efficiency", "median"),
        launches=("run_id", "nunique"),
    ).reset_index()  # fmt: skip
    found["predicted"] = [
        efficiency(task_us, ranks, link.exchange_us(ranks, words))
        for task_us, ranks, words in zip(
            found["task_us"], found["ranks"], found["words"], strict=True
        )
    ]
    return found[MEASURED_COLUMNS]


def _at(samples: pd.DataFrame, place: Place, kernel: str) -> pd.DataFrame:
    """Select the samples of a kernel at a place."""
    wanted = {
        "kernel": kernel, "placement": place.placement, "mpi": place.mpi,
        "environ": place.environ, "partition": place.partition,
    }  # fmt: skip
    for name, value in wanted.items():
        if value is not None:
            samples = samples[samples[name] == value] if name in samples else samples[:0]
    return samples
