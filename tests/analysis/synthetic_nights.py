"""Stores with nights of known truth, built through the public `Store.add`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
from switchpoint import Measurements, Store
from switchpoint.tables.columns import RUN_COLUMNS

SIZES = np.array([1, *(2**octave for octave in range(3, 21))])
PLACEMENTS = ["one_node", "two_nodes_one_host", "two_nodes_two_hosts"]
MPIS = {"openmpi": "Open MPI 4.1.4", "mpich": "MPICH 4.0.2"}
MODES = ["send", "ssend"]

FIRST = datetime(2026, 11, 1, 2, 0)


@dataclass(frozen=True)
class Truth:
    """A curve: its lines below and above the switch, and how much its values scatter."""

    latency_us: float
    per_byte_us: float
    switch: int = 65536
    jump_us: float = 15.0
    noise: float = 0.01

    def times(self, sizes: np.ndarray) -> np.ndarray:
        """Times in microseconds."""
        above = self.jump_us * (sizes >= self.switch)
        return self.latency_us + above + self.per_byte_us * sizes


@dataclass(frozen=True)
class Curve:
    """Which curve of which night."""

    night: int
    placement: str
    environ: str
    mode: str


#: Changes the truth of a curve in a night.
Change = Callable[[Curve, Truth], Truth]

TRUTHS = {
    "one_node": Truth(0.5, 1.2e-4, switch=4096, jump_us=1.0),
    "two_nodes_one_host": Truth(12.0, 9e-4),
    "two_nodes_two_hosts": Truth(30.0, 8e-3),
}

#: Standard deviations of logarithms of time: what all curves of a placement share in a night, a
#: curve's own in a night, and a launch's own.
SHARED, OWN, LAUNCH = 0.005, 0.005, 0.015


def no_change(_curve: Curve, truth: Truth) -> Truth:
    """Leave everything as it is."""
    return truth


def from_night(first: int, change: Change) -> Change:
    """Apply a change from this night on."""

    def changed(curve: Curve, truth: Truth) -> Truth:
        return change(curve, truth) if curve.night >= first else truth

    return changed


def in_placement(placement: str, **factors: float) -> Change:
    """Multiply fields of the truth of a placement's curves."""

    def changed(curve: Curve, truth: Truth) -> Truth:
        if curve.placement != placement:
            return truth
        return replace(truth, **{name: getattr(truth, name) * by for name, by in factors.items()})

    return changed


def add_nights(
    store: Store,
    nights: Iterable[int],
    *,
    change: Change = no_change,
    seed: int = 1,
    launches: int = 3,
    placements: Sequence[str] = PLACEMENTS,
    modes: Sequence[str] = MODES,
    facts: Callable[[int, str, str], Mapping[str, Any]] = lambda night, placement, environ: {},
    sizes: np.ndarray = SIZES,
    passes: int = 5,
    site: str = "here",
    check: str | None = None,
    kernel: str = "pingpong",
) -> None:
    """Add nights to a store: each placement and MPI with some launches of its modes."""
    curves: list[tuple[dict[str, Any], str]] = []
    times, runs = [], []
    for night in nights:
        for placement in placements:
            shared = np.random.default_rng([seed, night, 7, _code(placement)]).normal(0, SHARED)
            for environ, mpi in MPIS.items():
                rng = np.random.default_rng([seed, night, _code(placement), _code(environ)])
                own = shared + rng.normal(0, OWN, len(modes))
                for launch in range(launches):
                    place = f"{_code(placement):08x}{_code(environ):08x}"
                    run_id = f"{seed:04x}{night:08x}{place}{launch:04x}"
                    start = FIRST + timedelta(days=night, minutes=10 * launch)
                    run = {
                        "run_id": run_id,
                        "format": "record",
                        "source": "synthetic",
                        "site": site,
                        "date": f"{start:%Y-%m-%d}",
                        "start_utc": f"{start:%Y-%m-%dT%H:%M:%S.%fZ}",
                        "partition": "batch",
                        "mpi": mpi,
                        "environ": environ,
                        "kernel": kernel,
                        "placement": placement,
                        "session": f"night-{night:03}",
                        "complete": True,
                        "labels": json.dumps(
                            {"site": site, "placement": placement}
                            | ({"check": check} if check else {})
                        ),
                    }
                    told = dict(facts(night, placement, environ))
                    runs.append(run | header_of(run, **told))
                    for mode, offset in zip(modes, own, strict=True):
                        curve = Curve(night, placement, environ, mode)
                        truth = change(curve, TRUTHS[placement])
                        level = offset + rng.normal(0, LAUNCH)
                        time = np.tile(truth.times(sizes), passes)
                        curves.append((run, mode))
                        times.append(time * np.exp(level + rng.normal(0, truth.noise, len(time))))
    table = _samples(curves, np.array(times), sizes, passes)
    store.add(Measurements(table, pd.DataFrame(runs).reindex(columns=RUN_COLUMNS)))


def _samples(
    curves: Sequence[tuple[Mapping[str, Any], str]],
    times: np.ndarray,
    sizes: np.ndarray,
    passes: int,
) -> pd.DataFrame:
    """Return the samples of curves, each given by its run and its mode, with a row of times."""
    of_curve = np.repeat(np.arange(len(curves)), times.shape[1])
    identity = ("site", "partition", "mpi", "environ", "kernel", "placement", "run_id")
    each = {name: [run[name] for run, _ in curves] for name in identity}
    each["mode"] = [mode for _, mode in curves]
    return pd.DataFrame(
        {
            **{name: pd.Categorical(values).take(of_curve) for name, values in each.items()},
            "size_bytes": np.tile(sizes, passes * len(curves)),
            "pass": np.tile(np.repeat(np.arange(passes), len(sizes)), len(curves)),
            "sample": 0,
            "iterations": 10,
            "time_us": times.ravel(),
        }
    )


def header_of(
    run: Mapping[str, Any],
    *,
    hosts: Sequence[str] = ("a1", "a2"),
    cvars: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
    cpu_model: str = "model",
    kernel_release: str = "6.1",
    library: str = "Open MPI v4.1.4",
) -> dict[str, str]:
    """Return header and footer of a run as JSON texts, as far as the analysis reads them."""
    hosts = hosts[:1] * 2 if str(run["placement"]).startswith("one_node") else hosts
    network = run["placement"] != "one_node"

    def conditions(count: int) -> dict[str, Any]:
        return {
            "load1": 0.1, "steal_ticks": 0, "involuntary_switches": 1,
            "interfaces": [
                {"name": "eth0", "mtu": 1500, "rx_bytes": count, "tx_bytes": count,
                 "speed_Mbps": 10000.0}
            ],
        }  # fmt: skip

    header = {
        "run_id": run["run_id"], "start_utc": run["start_utc"], "labels": {},
        "kernel": {"name": run["kernel"], "version": "0.1.0", "compiler": "GNU", "flags": "-O3"},
        "mpi": {
            "library": library, "cvars": dict(cvars or {}), "environment": dict(environment or {}),
        },
        "ranks": [
            {
                "rank": rank, "host": host, "cpus_allowed": [rank], "cpu_model": cpu_model,
                "cores_online": 2, "kernel_release": kernel_release, "before": conditions(0),
            }
            for rank, host in enumerate(hosts)
        ],
    }  # fmt: skip
    footer = {
        "verification": {"bytes_moved": 10**6},
        "ranks": [
            {"rank": rank, "after": conditions(10**9 if network else 0)}
            for rank in range(len(hosts))
        ],
    }
    return {"header": json.dumps(header), "footer": json.dumps(footer)}


def _code(text: str) -> int:
    return sum(ord(letter) * 31**place for place, letter in enumerate(text)) % 2**31
