"""Detectors of changes in series of nights, by other projects; `score.py` runs each by itself.

Usage: peers.py NAME <series.json >reports.json, in an environment that has the peer. A series is a
list of nightly values. Each night the peer sees the values so far; a report is the night on which
it first tells of a change, and the night of that change.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import mean, median, stdev

HERE = Path(__file__).resolve()
UV = HERE.parents[2] / ".venv/bin/uv"

#: A peer starts with this many nights.
FIRST = 10

#: Changes that lie this near are one.
SAME = 3

Detector = Callable[[list[float]], list[int]]


def fixed_percentage(values: list[float]) -> list[int]:
    """ReFrame's references: 10 % more or less than the median of the first nights."""
    reference = median(values[:FIRST])
    return [len(values) - 1] if abs(values[-1] / reference - 1) > 0.1 else []


def conbench(values: list[float]) -> list[int]:
    """Conbench: a z-score of 5 against the mean and deviation of the nights before."""
    before = values[:-1]
    deviation = stdev(before)
    return [len(values) - 1] if abs(values[-1] - mean(before)) > 5 * deviation else []


def otava(values: list[float]) -> list[int]:
    """Apache Otava with the defaults of its command."""
    from otava.analysis import compute_change_points

    found = compute_change_points(values, window_len=50, max_pvalue=0.001, min_magnitude=0.0)
    points = found[0] if isinstance(found, tuple) else found
    return [int(point.index) for point in points]


def e_divisive(values: list[float]) -> list[int]:
    """MongoDB's E-divisive with the defaults of its paper: 100 permutations, p of 0.05."""
    import numpy as np
    from signal_processing_algorithms.energy_statistics.energy_statistics import e_divisive

    found = e_divisive(np.array(values), pvalue=0.05, permutations=100)
    return [int(place) for place in found]


def ruptures_pelt(values: list[float]) -> list[int]:
    """`ruptures`: PELT with the L1 cost, values in units of their noise."""
    import numpy as np
    import ruptures

    log = np.log(np.array(values))
    noise = np.median(np.abs(np.diff(log))) * 1.4826 / np.sqrt(2)
    found = (
        ruptures.Pelt("l1", min_size=2, jump=1).fit(log / noise).predict(pen=4 * np.log(len(log)))
    )
    return [int(place) for place in found[:-1]]


def asv(values: list[float]) -> list[int]:
    """Airspeed velocity: its detection of steps with the defaults of its regressions."""
    from asv.step_detect import detect_steps

    return [int(first) for first, *_ in detect_steps(values)[1:]]


PEERS: dict[str, tuple[Detector, list[str]]] = {
    "fixed percentage": (fixed_percentage, []),
    "Conbench's z-score": (conbench, []),
    "Apache Otava": (otava, ["apache-otava==0.7.0"]),
    "E-divisive": (e_divisive, ["signal-processing-algorithms==2.1.6", "numpy<2"]),
    "ruptures PELT l1": (ruptures_pelt, ["ruptures==1.1.10"]),
    "asv": (asv, ["asv==0.6.5"]),
}


def reports(detector: Detector, values: list[float], first: int = FIRST) -> list[tuple[int, int]]:
    """Return each change with the night on which it was first reported, from a night on."""
    told: list[tuple[int, int]] = []
    for night in range(first, len(values)):
        for place in detector(values[: night + 1]):
            if all(abs(place - known) > SAME for _, known in told):
                told.append((night, place))
    return told


def elsewhere(
    name: str, series: list[list[float]], first: int = FIRST
) -> list[list[tuple[int, int]]]:
    """Return the reports of a peer on each series, in an environment of the peer's own.

    Those of the first night that is judged are of all that changed before.

    Raises
    ------
    RuntimeError
        If it cannot be installed, or fails.
    """
    with_packages = [f"--with={package}" for package in PEERS[name][1]]
    done = subprocess.run(
        [UV, "run", "--quiet", "--no-project", "--python=3.11", *with_packages, "python",
         HERE, name, str(first)],
        input=json.dumps(series), capture_output=True, text=True, check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{name}: {done.stderr[-2000:]}")
    return [[(night, place) for night, place in told] for told in json.loads(done.stdout)]


if __name__ == "__main__":
    chosen = PEERS[sys.argv[1]][0]
    since = int(sys.argv[2]) if len(sys.argv) > 2 else FIRST
    json.dump([reports(chosen, values, since) for values in json.load(sys.stdin)], sys.stdout)
