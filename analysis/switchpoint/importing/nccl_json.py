"""Reads the JSON that nccl-tests writes with `-J`, and each iteration if it lists them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from switchpoint.data_warnings import DataWarning
from switchpoint.errors import InputError
from switchpoint.importing.external import are_times, as_measurements, check_sizes, content
from switchpoint.importing.labels import Surroundings
from switchpoint.importing.nccl import CURVE, PLACES, program
from switchpoint.importing.problems import Problem, warnings_of
from switchpoint.strict_json import parse_json
from switchpoint.tables.measurements import Measurements

NAME = "JSON of nccl-tests"

_START = re.compile(rb'^\s*\{\s*"version"\s*:\s*\d+\s*,.*"nccl_version"', re.DOTALL)


def recognises(head: bytes) -> bool:
    """Return whether a file starts like a report of nccl-tests."""
    return _START.search(head.removeprefix(b"\xef\xbb\xbf")) is not None


def read(path: Path, around: Surroundings) -> Measurements:
    """Read a report; identity as for what the programs print. Each iteration is a sample."""
    data = content(path)
    problems: list[Problem] = []
    try:
        report = parse_json(data)
        shared = _of_run(report)
        times = pd.DataFrame(list(_times(report["results"], problems)))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        what = f"is a damaged report of nccl-tests ({error}); copy it again"
        raise InputError(path, what) from None
    if times.empty:
        raise InputError(path, "is a report of nccl-tests without times; measure again")
    size = times["size_bytes"].to_numpy(dtype=float)
    check_sizes(path, size, np.ones(len(size), dtype="int64"))
    good = are_times(times["time_us"].to_numpy(dtype=float))
    if not good.any():
        raise InputError(path, "is a report of nccl-tests without usable times; measure again")
    samples = times[good].reset_index(drop=True).assign(**shared)
    names = [str(name) for name in samples if name not in ("size_bytes", "time_us", "iterations")]
    samples[names] = samples[names].astype("category")
    samples["size_bytes"] = samples["size_bytes"].astype("int64")
    warnings = [*warnings_of(problems)]
    if not good.all():
        what = f"{(~good).sum()} results have no usable time and are skipped"
        warnings.append(DataWarning("rows", what))
    if "kernel" not in shared:
        what = "no argument names the operation: give the label kernel, such as nccl_all_reduce"
        warnings.append(DataWarning("no_kernel", what))
    return as_measurements(path, around, "nccl", data, samples, warnings, tool="nccl-tests")


def _of_run(report: dict[str, Any]) -> dict[str, str]:
    """Return the identity that all results of a report have."""
    names: dict[str, str] = {}
    if name := program(str(next(iter(report.get("args") or [""])))):
        names["kernel"] = f"nccl_{name}"
    devices = (report.get("config") or {}).get("devices") or []
    if devices:
        names["processes"] = str(len(devices))
    return names


def _times(results: list[dict[str, Any]], problems: list[Problem]) -> Iterator[dict[str, Any]]:
    """Return a row for each time, which is a call's average if iterations are not listed."""
    for number, result in enumerate(results, start=1):
        curve = {
            name: text
            for name in CURVE
            if (text := str(result.get(name) or "").strip()) not in ("", "none", "-1")
        }
        for place in PLACES:
            call = result.get(place)
            if call is None:
                continue
            row = {**curve, "mode": place, "size_bytes": int(result["size"])}
            if "time" not in call:
                what = f"result {number}: {place} has no time, only {', '.join(call)[:60]}"
                problems.append(Problem(1, what))
                continue
            if call.get("nwrong"):
                what = "the payload arrived damaged; do not trust this time"
                problems.append(Problem(1, f"result {number}: {what}"))
            each = (result.get(f"{place}_per_iter") or {}).get("times_us")
            count = int(result.get("actual_iterations") or 1)
            for time in each or [call["time"]]:
                yield row | {
                    "time_us": float(time),
                    "iterations": 1 if each else max(count, 1),
                }
