"""Calibrates how fast a core works in the kernels that compute, from runs without messages."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from switchpoint.errors import InputError
from switchpoint.models.applications import APPLICATIONS
from switchpoint.models.kernel_arguments import options_by_run
from switchpoint.models.kernels import MERGE_SORT, RING, Options, Problem, pattern_of
from switchpoint.models.operations import Compute
from switchpoint.models.patterns.merge_sort import INT_BYTES
from switchpoint.models.repeats import Repeats, interval, pass_medians, repeats_by
from switchpoint.models.site_model import ComputeRate, Figure
from switchpoint.records.rank_layout import layout_of
from switchpoint.tables.columns import identity_columns
from switchpoint.tables.measurements import Measurements
from switchpoint.tables.sweeps import Floats

#: What a rate is the time of.
WORK = {
    MERGE_SORT: "merging one number once; n numbers are sorted in n log2(n) of it",
    RING: "1 us of the task",
    **{name: one.work for name, one in APPLICATIONS.items()},
}

_PLACE = ["partition", "mpi", "environ"]


def compute_rates(measurements: Measurements) -> tuple[list[ComputeRate], list[str]]:
    """Return the rates of each partition, MPI and environment, from ranks that work alone.

    Merge sort is calibrated by runs of one rank: other ranks, which only wait, use cores. The
    applications are calibrated by their modes in which rank 0 works alone, since the others sleep.

    Returns
    -------
    tuple
        The rates, and notes on what was left out.
    """
    runs = measurements.runs
    chosen = runs[runs["kernel"].isin(WORK) & runs["header"].notna()]
    if chosen.empty:
        return [], []
    layouts = {
        str(run_id): layout_of(json.loads(header))
        for run_id, header in zip(chosen["run_id"], chosen["header"], strict=True)
    }
    alone = [
        run_id for run_id, layout in layouts.items()
        if len(layout.nodes) == 1 or not layout.oversubscribed
    ]  # fmt: skip
    samples = measurements.samples
    passes = pass_medians(samples[samples["run_id"].isin(alone)], identity_columns(samples))
    passes["ranks"] = [len(layouts[str(run_id)].nodes) for run_id in passes["run_id"]]
    starts = dict(zip(runs["run_id"], runs["start_utc"], strict=True))
    applications = chosen[chosen["kernel"].isin(list(APPLICATIONS))]
    options, left_out = options_by_run(dataclasses.replace(measurements, runs=applications))
    notes = [*map(str, left_out)]
    rates: list[ComputeRate] = []
    for kernel, part in _calibrations(passes, options):
        works = np.isfinite(part["work"]) & (part["work"] > 0)
        if not works.all():
            notes.append(
                f"the compute rate of {kernel} leaves out {(~works).sum()} of {len(works)} points,"
                " at which there is nothing to compute; measure larger ones"
            )
        units = part[works]
        units = units.assign(time_us=units["time_us"] / units["work"])
        keys = [*_PLACE, "mode"] if kernel in APPLICATIONS else _PLACE
        keys = [name for name in keys if name in units]  # labels may be missing
        rates += [_rate(kernel, *one, starts) for one in repeats_by(units, keys)]
    return rates, notes


def _calibrations(
    passes: pd.DataFrame, options: Mapping[str, Options]
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the kernel and its passes, with the `work` of each: how many units of it."""
    serial = passes["mode"] == "serial"
    sorts = passes[(passes["kernel"] == MERGE_SORT) & (passes["ranks"] == 1)]
    if len(sorts):
        numbers = sorts["size_bytes"] / INT_BYTES
        with np.errstate(divide="ignore", invalid="ignore"):
            work = numbers * np.log2(numbers)
        yield MERGE_SORT, sorts.assign(work=work)
    tasks = passes[(passes["kernel"] == RING) & serial]
    if len(tasks) and "grain_us" in tasks:
        grain = pd.to_numeric(tasks["grain_us"].astype("str"), errors="coerce")
        yield RING, tasks.assign(work=grain)
    for kernel, application in APPLICATIONS.items():
        alone = passes[
            (passes["kernel"] == kernel)
            & passes["mode"].isin(set(application.rated_by.values()))
            & passes["run_id"].isin(set(options))
        ]
        if len(alone):
            yield kernel, alone.assign(work=_work(kernel, alone, options)).dropna(subset="work")


def _work(kernel: str, passes: pd.DataFrame, options: Mapping[str, Options]) -> list[float]:
    """Return the units of an application's work in each pass; NaN where it has no pattern."""
    points = passes[["run_id", "mode", "ranks", "size_bytes"]].itertuples(index=False)
    return [
        _units(Problem(kernel, str(mode), int(ranks), int(size), options[str(run_id)]))
        for run_id, mode, ranks, size in points
    ]


@functools.lru_cache(maxsize=1000)
def _units(problem: Problem) -> float:
    """Return the units that rank 0 computes; NaN if the kernel has no such pattern."""
    try:
        program = pattern_of(problem, 1.0).programs[0]
    except InputError:
        return float("nan")
    return sum(one.us for one in program if isinstance(one, Compute))


def _rate(
    kernel: str, place: dict[str, Any], repeats: Repeats, starts: dict[Any, Any]
) -> ComputeRate:
    """Take the median over sizes and repeats."""
    draws: Floats = np.nanmedian(repeats.medians_us(), axis=1)
    low, high = interval(draws) or (None, None)
    utc = sorted(starts[run] for run in repeats.runs if isinstance(starts[run], str))
    return ComputeRate(
        **place,
        runs=list(repeats.runs), first_utc=utc[0] if utc else None,
        last_utc=utc[-1] if utc else None,
        interval_over="launches" if repeats.over == "launches" else "passes",
        repeats=len(repeats.times_us), kernel=kernel, work=WORK[kernel],
        time_us=Figure(value=float(draws[0]), low=low, high=high),
    )  # fmt: skip
