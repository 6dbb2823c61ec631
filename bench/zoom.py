"""How often the zoom is right to the byte, and how long it takes, over every transport.

Each run sets the eager limit to a known size between 4 and 256 KiB, most of them no powers of two,
and asks the probe for it without a hint, and the bisection within the bracket that a sweep of three
sizes an octave would leave. Every tenth run is a control with the limit out of range. Measure alone
on the machine. What is measured is kept in build/bench/zoom.jsonl, so that several calls add up.
Usage: ``.venv/bin/python bench/zoom.py [RUNS [SECONDS]]``: up to RUNS (200), ending after SECONDS
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import Any

from on_testbed import PLACEMENTS, ROOT, kernel, launch, testbed
from switchpoint.proof import prove
from switchpoint.record import read_facts

KEPT = ROOT / "build" / "bench" / "zoom.jsonl"
SEED = 20261121
LEAST, MOST = 4 << 10, 256 << 10
#: At 500,000 Open MPI gives up shared memory for TCP, and the probe finds TCP's limit.
OUT_OF_RANGE = 400_000
CONTROL_EVERY = 10

#: Settings that hold the limit, and the bytes from it to the last eager size.
LIMITS = {
    ("openmpi", "shared_memory"): (
        ("OMPI_MCA_btl_vader_eager_limit", "OMPI_MCA_btl_sm_eager_limit"),
        -56,
    ),
    ("openmpi", "network"): (("OMPI_MCA_btl_tcp_eager_limit",), -56),
    ("mpich", "shared_memory"): (("UCX_RNDV_THRESH",), -1),
    ("mpich", "network"): (("UCX_RNDV_THRESH",), -1),
}
CASES = [(mpi, placement) for mpi in ("openmpi", "mpich") for placement in PLACEMENTS.placements]


def planned_limit(index: int) -> int | None:
    """The limit of one run in bytes: log-uniform, a quarter powers of two; None for a control."""
    if index // len(CASES) % CONTROL_EVERY == CONTROL_EVERY - 1:
        return None
    draw = random.Random(SEED + index)
    exponent = draw.uniform(12, 18)
    return 2 ** round(exponent) if draw.random() < 0.25 else round(2**exponent)


def measure(name: str, index: int, folder: Path) -> dict[str, Any]:
    """One run: what was set, and what the probe and the bisection say of it."""
    mpi, placement = CASES[index % len(CASES)]
    path = PLACEMENTS.placements[placement].path
    settings, offset = LIMITS[mpi, path]
    limit = planned_limit(index)
    last = None if limit is None else limit + offset
    words = ["--mode=late" if last is None else "--mode=late,send", f"--sizes=1,{MOST}"]
    if last is not None:
        words.append(f"--brackets={round(last * 0.88)}-{min(round(last * 1.11), MOST)}")
        words[1] = f"--sizes=1,{max(MOST, last + 64)}"
    record = folder / "zoom.record"
    launch(
        name,
        mpi,
        placement,
        [kernel(mpi, "zoom"), *words, f"--record={record}"],
        folder,
        dict.fromkeys(settings, str(limit or OUT_OF_RANGE)),
    )
    facts = read_facts(record)
    assert facts.footer is not None
    assert prove(facts.header, facts.footer).path == path
    probe, *timed = facts.footer["switches"]
    return {
        "index": index,
        "mpi": mpi,
        "placement": placement,
        "last": last,
        "probe": probe,
        "bisection": timed[0] if timed else None,
    }


def verdict(search: dict[str, Any], last: int) -> str:
    """What a search was worth: right, another step, or its own word for finding none."""
    if search["verdict"] == "exact":
        return "right" if search["last_size_bytes"] == last else "other"
    return str(search["verdict"])


def show(runs: list[dict[str, Any]]) -> None:
    """Print a row per transport, then the totals."""
    by_case: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for run in runs:
        by_case[run["mpi"], run["placement"]].append(run)
    print(
        f"{'MPI':8} {'placement':20} {'runs':>4} {'probe':>6} {'ms, most':>11}   "
        f"{'bisection: right other interval none unsure':44} {'ms, most':>11}   controls: switches"
    )
    totals = [0, 0, 0, 0]
    for (mpi, placement), part in by_case.items():
        known = [run for run in part if run["last"] is not None]
        controls = [run for run in part if run["last"] is None]
        probes = [verdict(run["probe"], run["last"]) for run in known].count("right")
        words = [verdict(run["bisection"], run["last"]) for run in known]
        false = sum(run["probe"]["verdict"] == "exact" for run in controls)
        ms = [run["probe"]["time_us"] / 1e3 for run in part]
        timed = [run["bisection"]["time_us"] / 1e3 for run in known] or [0.0]
        counts = [words.count(w) for w in ("right", "other", "interval", "none", "unsure")]
        cells = "  ".join(f"{count:7}" for count in counts)
        print(
            f"{mpi:8} {placement:20} {len(known):4} {probes:6} {median(ms):5.0f} {max(ms):5.0f}   "
            f"{cells:44} {median(timed):5.0f} {max(timed):5.0f}   {len(controls)}: {false}"
        )
        for i, value in enumerate((len(known), probes, counts[0], false)):
            totals[i] += value
    known_runs, probes, right, false = totals
    print(
        f"{known_runs} limits: probe right {probes} ({100 * probes / known_runs:.1f} %), bisection "
        f"right {right} ({100 * right / known_runs:.1f} %); {len(runs) - known_runs} controls: "
        f"{false} switches"
    )


def main(count: int, seconds: float) -> None:
    """Measure until there are enough runs or no time is left, and show all."""
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    runs = [json.loads(line) for line in KEPT.read_text().splitlines()] if KEPT.exists() else []
    deadline = time.monotonic() + seconds
    for mpi in ("openmpi", "mpich"):
        kernel(mpi, "zoom")
    with testbed("bench-zoom") as name, tempfile.TemporaryDirectory(dir=".") as scratch:
        for index in range(len(runs), count):
            if time.monotonic() > deadline:
                break
            runs.append(measure(name, index, Path(scratch).resolve()))
            with KEPT.open("a") as kept:
                kept.write(json.dumps(runs[-1]) + "\n")
    show(runs)


if __name__ == "__main__":
    numbers = [float(word) for word in sys.argv[1:]]
    main(int(numbers[0]) if numbers else 200, numbers[1] if len(numbers) > 1 else 1e9)
