"""Measures the time of `detect`: one curve of 260 sizes with 10 repeats, and thousands of curves.

Usage: .venv/bin/python bench/detect_speed.py [CURVES]   (default 10,000)
Targets: one curve in under 20 ms; 10,000 in under 60 s on 2 cores, memory bounded.
"""

from __future__ import annotations

import os
import resource
import time

import numpy as np
import pandas as pd
from arguments import only_count
from switchpoint import detect
from switchpoint.reporting.terminal.progress import progress

SIZES = np.unique(np.geomspace(1, 2**22, 300).astype(int))[:260]
REPEATS = 10


def samples(curves: int) -> pd.DataFrame:
    """Return samples of curves, each with two steps and 2 % noise."""
    rng = np.random.default_rng(1)
    time_us = (2 + 3e-4 * SIZES) * np.where(SIZES > 60000, 1.4, 1) * np.where(SIZES > 1400, 1.3, 1)
    rows = len(SIZES) * REPEATS
    noise = 1 + rng.normal(0, 0.02, (curves, REPEATS, len(SIZES))).astype("float32")
    return pd.DataFrame(
        {
            "run_id": pd.Categorical.from_codes(
                np.repeat(np.arange(curves), rows), [f"{n:032x}" for n in range(curves)]
            ),
            "size_bytes": np.tile(SIZES, curves * REPEATS),
            "pass": np.tile(np.repeat(np.arange(REPEATS, dtype="int8"), len(SIZES)), curves),
            "sample": np.zeros(curves * rows, dtype="int8"),
            "iterations": np.ones(curves * rows, dtype="int8"),
            "time_us": (noise * time_us).ravel(),
        }
    )


def main(curves: int) -> None:
    """Print both times, and the most memory of this process."""
    one = samples(1)
    detect(one)
    seconds = []
    for _ in range(21):
        start = time.perf_counter()
        detect(one)
        seconds.append(time.perf_counter() - start)
    print(f"one curve of {len(SIZES)} sizes, {REPEATS} repeats: {1e3 * np.median(seconds):.1f} ms")

    many = samples(curves)
    held = many.memory_usage(deep=True).sum() / 1e6
    start = time.perf_counter()
    with progress("detecting", curves) as advance:
        findings = detect(many, advance)
    took = time.perf_counter() - start
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(
        f"{curves:,} curves, {len(many):,} samples ({held:.0f} MB): {took:.0f} s on"
        f" {len(os.sched_getaffinity(0))} cores, {1e3 * took / curves:.1f} ms a curve,"
        f" {len(findings):,} findings; at most {most:.0f} MB"
    )


if __name__ == "__main__":
    main(only_count(__doc__, "curves", 10_000))
