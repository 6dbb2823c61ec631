"""Writes the records of a site whose links are known: what the page of predictions is made from."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

RECORDS = Path(__file__).parents[1] / "analysis" / "records"
SORT = RECORDS / "openmpi-mergesort-two-nodes.record.gz"

NEAR, FAR = "one_node", "two_nodes_one_host"
SIZES = [1 << bit for bit in range(21)]

#: Start in us, and us for each byte.
LINKS = {NEAR: (0.5, 1e-4), FAR: (20.0, 2e-3)}

#: T of the ring.
GRAIN_US = 2000

_COLUMNS = ["mode", "size_bytes", "pass", "sample", "iterations", "time_us"]

Times = Mapping[tuple[str, int], float]


def write_run(
    folder: Path, kernel: str, times: Times, nodes: str, *words: str, **labels: str
) -> Path:
    """Write a record with the times of each mode and size, by ranks on nodes such as AAB."""
    header, *_, last = gzip.decompress(SORT.read_bytes()).decode().splitlines()
    told, end = json.loads(header), json.loads(last)
    number = len(list(folder.glob("*.record")))
    told["run_id"] = f"{number:032x}"
    told["start_utc"] = f"2026-11-22T10:00:{number:02d}.000000Z"
    told["kernel"]["name"] = kernel
    told["arguments"] = [kernel, *words]
    where = {name: told["labels"][name] for name in ("site", "partition", "environ")}
    told["labels"] = where | labels
    told["columns"] = _COLUMNS
    told["ranks"] = [
        told["ranks"][0] | {"rank": rank, "host": f"node{node}", "boot_id": f"boot {node}"}
        for rank, node in enumerate(nodes)
    ]
    random = np.random.default_rng(number)
    rows = [
        f"{mode},{size},{turn},0,1,{time_us * np.exp(random.normal(0, 0.01)):.6f}"
        for turn in range(4)
        for (mode, size), time_us in times.items()
    ]
    end = {name: end[name] for name in ("end", "end_utc", "verification")} | {
        "samples": len(rows), "points": [],
        "ranks": [end["ranks"][0] | {"rank": rank} for rank in range(len(nodes))],
    }  # fmt: skip
    path = folder / f"{number}.record"
    lines = [json.dumps(told), ",".join(_COLUMNS), *rows, json.dumps(end)]
    path.write_text("\n".join(lines) + "\n")
    return path


def link_us(placement: str, size: int, start: float = 1.0) -> float:
    """Return a message's time, with a part of the start."""
    return start * LINKS[placement][0] + LINKS[placement][1] * size


def ping_pong(folder: Path, placement: str, **labels: str) -> Path:
    """Write single messages, and streams, in which 0.3 of the start is the gap."""
    times = {("send", size): link_us(placement, size) for size in SIZES}
    times |= {("stream", size): link_us(placement, size, 0.3) for size in SIZES}
    nodes = "AA" if placement == NEAR else "AB"
    return write_run(folder, "pingpong", times, nodes, placement=placement, **labels)


def ring(folder: Path) -> Path:
    """Write the steps of a divided task, and the task alone."""
    times: dict[tuple[str, int], float] = {}
    for size in (4, 4000, 40_000):
        times["serial", size] = GRAIN_US
        times["alternate", size] = GRAIN_US / 2 + 2 * link_us(FAR, size)
    task = {"grain_us": str(GRAIN_US), "serial_percent": "0"}
    return write_run(folder, "ring", times, "AB", f"--grain={GRAIN_US}", placement=FAR, **task)


def broadcast(folder: Path) -> Path:
    """Write two algorithms on four nodes: three messages after one another, and two."""
    times = {
        (mode, size): messages * link_us(FAR, size)
        for mode, messages in (("repeated", 3), ("binomial", 2)) for size in (1024, 65_536)
    }  # fmt: skip
    return write_run(folder, "broadcast", times, "ABCD", placement=FAR)


def sorts(folder: Path) -> list[Path]:
    """Write the sort of one rank; that of seven ranks is a real one, with its timeline."""
    numbers = np.array([50_000, 200_000])
    each_us = 0.004 * numbers * np.log2(numbers)
    times = {("tree", int(4 * n)): float(us) for n, us in zip(numbers, each_us, strict=True)}
    return [write_run(folder, "mergesort", times, "A", placement=NEAR), SORT]


def simulated(folder: Path) -> list[Path]:
    """Write exchanges by four and eight simulated ranks, with the messages of both scalings."""
    labels: dict[str, Any] = {
        "site": "testbed-simulated", "environ": "smpi", "placement": FAR, "topology": "star",
        "links_of": "openmpi", "check": "Scale",
    }  # fmt: skip
    found = []
    for ranks, sizes in ((4, (16_384, 262_144)), (8, (8192, 65_536))):
        times = {("shift", size): (ranks - 1) * link_us(FAR, size) for size in sizes}
        nodes = "ABCDEFGH"[:ranks]
        found.append(write_run(folder, "alltoall", times, nodes, **labels, ranks=str(ranks)))
    return found


def whole_site(folder: Path) -> list[Path]:
    """Write everything that the page needs for all of its pictures."""
    pairs = [ping_pong(folder, placement) for placement in LINKS]
    return [*pairs, ring(folder), broadcast(folder), *sorts(folder), *simulated(folder)]
