"""Measures how long `model fit` takes for a site of many curves, and the slowest prediction.

The curves are synthetic, with a fixed seed: a switch in each, and 2 % noise. Each kernel is
predicted with its usual ranks, at each of its usual sizes, in each mode.
Usage: .venv/bin/python bench/model_speed.py [CURVES]   (default 1,000)
Targets: the fit in under 10 s; each prediction in under 1 s.
"""

from __future__ import annotations

import itertools
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from arguments import only_count
from switchpoint import Measurements, fit_model, predict
from switchpoint.models.applications import APPLICATIONS
from switchpoint.models.kernels import KERNELS, Problem
from switchpoint.models.site_model import SiteModel
from switchpoint.tables.columns import MEASURES, RUN_COLUMNS

SIZES = np.unique(np.geomspace(1, 2**20, 41).astype(int))
LAUNCHES, PASSES = 3, 5
SWITCH_BYTES = 8192

#: The MPI of each environment, the map of the two ranks of each placement, and the modes: the
#: curves of a partition.
ENVIRONS = {"openmpi": "Open MPI 4.1.4", "mpich": "MPICH 4.0.2"}
NEAR, FAR = "one_node", "two_nodes_two_hosts"
PLACEMENTS = {NEAR: "AA", "one_node_network": "AA", "two_nodes_one_host": "AB", FAR: "AB"}
MODES = ["send", "ssend", "isend", "bsend", "rsend", "persistent", "stream", "bistream"]
CURVES_OF_PARTITION = len(ENVIRONS) * len(PLACEMENTS) * len(MODES)

#: Maps for kernels whose usual ranks are not a multiple of two nodes.
MAPS = {"mergesort": "AABAABB"}


@dataclass(frozen=True)
class Run:
    """One run: its labels, its ranks on nodes, and its times in us by mode and size."""

    labels: dict[str, str]
    process_map: str
    modes: list[str]
    size_bytes: np.ndarray[Any, np.dtype[np.int64]]
    time_us: np.ndarray[Any, np.dtype[np.float64]]


def runs_of(partition: str, modes: int) -> Iterator[Run]:
    """Give the runs of a partition with so many of its curves."""
    started = 2 + 3e-4 * SIZES
    time_us = started * np.where(SIZES >= SWITCH_BYTES, 1.4, 1)
    places = itertools.product(ENVIRONS, PLACEMENTS)
    for number, (environ, placement) in enumerate(places):
        labels = {"partition": partition, "environ": environ, "mpi": ENVIRONS[environ]}
        own = MODES[: max(modes - number * len(MODES), 0)]
        for _ in range(LAUNCHES if own else 0):
            named = labels | {"kernel": "pingpong", "placement": placement}
            yield Run(named, PLACEMENTS[placement], own, SIZES, time_us)
        if own and placement == NEAR:
            numbers = np.array([50_000.0])
            sort_us = 0.004 * numbers * np.log2(numbers)
            sort = labels | {"kernel": "mergesort", "placement": NEAR}
            yield Run(sort, "A", ["tree"], 4 * numbers.astype(int), sort_us)
            yield from applications_of(labels)


def applications_of(labels: dict[str, str]) -> Iterator[Run]:
    """Give the runs on one rank without which no application is predicted."""
    for name, application in APPLICATIONS.items():
        sizes = np.array(application.sizes_bytes)
        alone = labels | {"kernel": name, "placement": NEAR}
        yield Run(alone, "A", sorted(set(application.rated_by.values())), sizes, 1e-3 * sizes)


def site_of(curves: int) -> Measurements:
    """Make what the store would return for a site."""
    rng = np.random.default_rng(20261122)
    samples, rows = [], []
    for first in range(0, curves, CURVES_OF_PARTITION):
        partition = f"partition{first // CURVES_OF_PARTITION}"
        for run in runs_of(partition, min(curves - first, CURVES_OF_PARTITION)):
            run_id = f"{len(rows):032x}"
            labels = run.labels | {"site": "synthetic", "run_id": run_id}
            rows.append(dict.fromkeys(RUN_COLUMNS) | labels | facts_of(run))
            samples.append(samples_of(run, rng).assign(**labels))
    table = pd.concat(samples, ignore_index=True)
    table = table.astype({name: "category" for name in table if name not in MEASURES})
    return Measurements(table, pd.DataFrame(rows, columns=RUN_COLUMNS))


def facts_of(run: Run) -> dict[str, Any]:
    """Return what the table of runs says of a run besides its labels."""
    ranks = [
        {"host": node, "boot_id": node, "cores_online": 64, "cpus_allowed": [0], "rank": rank}
        for rank, node in enumerate(run.process_map)
    ]
    header = {"ranks": ranks, "mpi": {"library": run.labels["mpi"]}, "arguments": []}
    return {
        "format": "record", "header": json.dumps(header), "complete": True,
        "start_utc": "2026-11-22T10:00:00Z", "date": "2026-11-22",
    }  # fmt: skip


def samples_of(run: Run, rng: np.random.Generator) -> pd.DataFrame:
    """Return one sample of each mode and size in each pass."""
    shape = (len(run.modes), PASSES, len(run.size_bytes))
    noise = np.exp(rng.normal(0, 0.02, shape) + rng.normal(0, 0.01))
    points = shape[1] * shape[2]
    return pd.DataFrame(
        {
            "mode": np.repeat(run.modes, points),
            "pass": np.tile(np.repeat(np.arange(PASSES), shape[2]), shape[0]),
            "size_bytes": np.tile(run.size_bytes, shape[0] * shape[1]),
            "time_us": (noise * run.time_us).ravel(),
            "sample": 0,
            "iterations": 1,
        }
    )


def predictions(model: SiteModel) -> Iterator[tuple[float, str]]:
    """Give the seconds and the name of each prediction."""
    place = {"placement": FAR, "environ": "openmpi", "partition": "partition0"}
    for name, kernel in KERNELS.items():
        where = {"process_map": MAPS[name]} if name in MAPS else {"ranks": kernel.ranks}
        for mode, size in itertools.product(kernel.modes, kernel.sizes_bytes):
            if kernel.refuse(Problem(name, mode, kernel.ranks, size)):
                continue
            start = time.perf_counter()
            predict(model, name, modes=[mode], sizes_bytes=[size], **where, **place)
            took = time.perf_counter() - start
            yield took, f"{name}, {mode}, {size:,} B, {kernel.ranks} ranks"


def main(curves: int) -> None:
    """Print the seconds of the fit, and those of the slowest prediction."""
    site = site_of(curves)
    start = time.perf_counter()
    model = fit_model(site, made_from="synthetic curves")
    took = time.perf_counter() - start
    segments = sum(len(curve.segments) for curve in model.curves)
    print(
        f"fit of {len(model.curves):,} curves in {LAUNCHES} launches, {len(site.samples):,}"
        f" samples: {took:.1f} s on {len(os.sched_getaffinity(0))} cores, {segments:,} segments"
    )
    every = list(predictions(model))
    slowest, name = max(every)
    print(f"slowest of {len(every)} predictions: {slowest:.3f} s ({name})")


if __name__ == "__main__":
    main(only_count(__doc__, "curves", 1000, least=CURVES_OF_PARTITION))
