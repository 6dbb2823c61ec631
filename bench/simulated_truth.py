"""Predicts kernels on simulated networks whose parameters are known: the error by kernel and ranks.

SimGrid runs the kernels' own code with a core for each rank. Each network has a latency, bandwidth,
overhead, eager limit and speed of its own, drawn from wide ranges. A model is fitted to ping-pongs
of two ranks, and to what one rank computes alone, and predicts 4, 8 and 16 ranks, one or two of
them on a node. With --keep the records stay in FOLDER, and are read if they are there.
An interval is that of all other networks, so `inside%` is of times that were not used; that of a
network that the shipped errors do not know, from 49 on, is the shipped one.
Usage: ``.venv/bin/python bench/simulated_truth.py [SEED...] [--keep FOLDER] [--only KERNELS]
[--sizes SIZES] [--write]``
"""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from arguments import count, parser, several_of
from on_testbed import ROOT, kernel
from switchpoint import compare_with, fit_model, read_files
from switchpoint.errors import InputError
from switchpoint.models.calibration import scores_of
from switchpoint.models.model_errors import (
    Condition,
    Score,
    condition_of,
    model_errors,
    shipped_errors,
)
from switchpoint.records.rank_layout import RankLayout

NEAR, FAR = "one_node", "between_nodes"
MPI = "smpi"

SHIPPED = ROOT / "analysis/switchpoint/models/model_errors.yaml"
_TITLE = [
    "# The model's own errors on simulated networks, a core for each rank; natural logarithms.",
    "# `bench/simulated_truth.py --write` writes this file; do not edit it by hand.",
]
#: The networks of the shipped errors.
SEEDS = [*range(1, 49)]
_NONE = {"mpi", "oversubscribed"}

_ONCE = ("--passes=2", "--samples=1", "--warmup=0", "--pass-time=1", "--block-time=0")

#: Messages alone take time, and computing takes none: the same run gives the same times.
EXACT = "--cfg=smpi/simulate-computation:no"


@dataclass(frozen=True)
class Network:
    """Hosts around a switch, and what a message costs: the truth that a model has to find.

    Attributes
    ----------
    latency_us, bandwidth_MBps : float
        Of the path between two hosts; within a host messages are four times as fast.
    overhead_us, overhead_per_byte_us : float
        What a rank itself needs for each message that it sends or receives.
    eager_bytes : int
        Shorter messages do not wait for their receiver.
    speed : float
        How many times as fast as this machine's a simulated core is.
    """

    seed: int
    latency_us: float
    bandwidth_MBps: float  # noqa: N815
    overhead_us: float
    overhead_per_byte_us: float
    eager_bytes: int
    speed: float

    def platform(self, hosts: int) -> str:
        """Return the platform file of SimGrid."""
        return (
            "<?xml version='1.0'?>\n"
            '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
            '<platform version="4.1">\n'
            f'  <cluster id="star" prefix="host" suffix="" radical="0-{hosts - 1}"'
            f' speed="{self.speed:.6g}Gf" core="16" bw="{self.bandwidth_MBps:.6g}MBps"'
            f' lat="{self.latency_us / 2:.6g}us" loopback_lat="{self.latency_us / 4:.6g}us"'
            f' loopback_bw="{4 * self.bandwidth_MBps:.6g}MBps"/>\n'
            "</platform>\n"
        )

    def settings(self) -> list[str]:
        """Return the options of smpirun."""
        costs = f"0:{self.overhead_us * 1e-6:.6g}:{self.overhead_per_byte_us * 1e-6:.6g}"
        return [
            *("--log=root.thres:critical", "--cfg=smpi/host-speed:1Gf"),
            *("--cfg=smpi/bw-factor:0:1", "--cfg=smpi/lat-factor:0:1"),
            "--cfg=network/crosstraffic:0",
            *(f"--cfg=smpi/{call}:{costs}" for call in ("os", "ois", "or")),
            f"--cfg=smpi/async-small-thresh:{self.eager_bytes}",
            f"--cfg=smpi/send-is-detached-thresh:{self.eager_bytes}",
        ]


def network(seed: int) -> Network:
    """Draw a network, from 10 Mbit/s Ethernet to a fast fabric."""
    draw = random.Random(seed)

    def between(least: float, most: float) -> float:
        return math.exp(draw.uniform(math.log(least), math.log(most)))

    megabytes_per_s = between(1.25, 10_000)
    latency_us = between(1, 100)
    return Network(
        seed, latency_us, megabytes_per_s, overhead_us=between(0.02, 0.5) * latency_us,
        overhead_per_byte_us=between(0.01, 0.5) / megabytes_per_s,
        eager_bytes=2 ** draw.randint(12, 18) + 1, speed=between(0.3, 3),
    )  # fmt: skip


@dataclass(frozen=True)
class Step:
    """One program to run: its ranks' nodes and its options."""

    program: str
    process_map: str
    options: tuple[str, ...]
    computes: bool = False


_ONE_BY_ONE = ("--mode=repeated", "--sizes=1:1M/1")

#: What a model is fitted to.
PING_PONGS = [
    *(Step("pingpong", nodes, ("--mode=send,stream,bistream", "--window=16", "--sizes=1:1M/2"))
      for nodes in ("AA", "AB")),
    *(Step("zoom", nodes, ("--mode=late", "--sizes=1:1M")) for nodes in ("AA", "AB")),
    *(Step("broadcast", nodes, _ONE_BY_ONE) for nodes in ("AB", "ABC")),
]  # fmt: skip

RANKS = (4, 8, 16)
SEGMENT_BYTES = 8192
SIZES = "1K,16K,64K,256K"
_BROADCAST = (
    "--mode=repeated,binary,two_level,binomial,pipelined,repeated_ack,binary_ack,two_level_ack,"
    "binomial_ack,scatter_allgather")  # fmt: skip
_EXCHANGE = (
    "--mode=shift,pairwise,synchronous_shuffle,group_shuffle,synchronous_shuffle_windowed,"
    "group_shuffle_windowed")  # fmt: skip

#: The applications: what shows their rate on one rank, and what many ranks do.
APPLICATIONS = {
    "mergesort": ("tree", "tree", "200000,1600000"),
    "voting": ("serial", "everywhere,shares", "64K,1M"),
    "jpeg": ("one_rank", "parallel", "256K,1M"),
    "backpropagation": ("one_rank", "parallel", "64K,256K"),
    "psrs": ("one_rank", "parallel", "64K,1M"),
    "fft": ("one_rank", "parallel", "64K,1M"),
    "linear": ("lu_one_rank,inv_one_rank,mult_one_rank", "lu,inv,mult", "32K,512K"),
}


KERNELS = ["broadcast", "alltoall", "ring", *APPLICATIONS]


def letters(ranks: int, on_node: int) -> str:
    """Return the map of ranks with so many of them on each node."""
    return "".join(chr(ord("A") + rank // on_node) for rank in range(ranks))


def steps(kernels: Sequence[str], sizes: str = SIZES) -> Iterator[Step]:
    """Yield everything that is run on a network; the sizes are those of broadcast and alltoall."""
    yield from PING_PONGS
    yield from (step for step in _steps(sizes) if step.program in kernels)


def _steps(of_messages: str) -> Iterator[Step]:
    for program, (alone, _, sizes) in APPLICATIONS.items():
        yield Step(program, "A", (f"--mode={alone}", f"--sizes={sizes}"), computes=True)
    for ranks in RANKS:
        for on_node in (1, 2):
            nodes = letters(ranks, on_node)
            for program, modes in (("broadcast", _BROADCAST), ("alltoall", _EXCHANGE)):
                yield Step(program, nodes, (modes, f"--sizes={of_messages}"))
            ring = ("--mode=alternate,sendrecv", "--grain=2000", "--sizes=4,4000,40000")
            yield Step("ring", nodes, (*ring, "--label=grain_us=2000"), computes=True)
            for program, (_, modes, sizes) in APPLICATIONS.items():
                tree = nodes[: ranks - 1] if program == "mergesort" else nodes
                options = (f"--mode={modes}", f"--sizes={sizes}")
                yield Step(program, tree, options, computes=True)


def _passes(program: str) -> tuple[str, ...]:
    """Return how often; what is repeated in turn is timed together, so that it starts in time."""
    if program == "zoom":
        return ("--passes=2",)
    return (*_ONCE, "--block-time=2000") if program in ("pingpong", "ring") else _ONCE


def simulate(truth: Network, step: Step, record: Path) -> None:
    """Run a program on a network."""
    ranks, nodes = len(step.process_map), len(set(step.process_map))
    platform, hosts = record.with_suffix(".xml"), record.with_suffix(".hosts")
    platform.write_text(truth.platform(max(nodes, 2)))
    hosts.write_text("".join(f"host{ord(letter) - ord('A')}\n" for letter in step.process_map))
    words = [
        *("smpirun", "-np", str(ranks), "-platform", platform, "-hostfile", hosts),
        *(*truth.settings(), *([] if step.computes else [EXACT]), kernel("simgrid", step.program)),
        *(*step.options, *_passes(step.program)),
        *(f"--label=site=network-{truth.seed}", f"--label=environ={MPI}"),
        *(f"--label=placement={NEAR if nodes == 1 else FAR}", f"--record={record}"),
    ]
    done = subprocess.run(
        [str(word) for word in words], cwd=record.parent, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))} fails:\n{done.stdout}{done.stderr}")


def simulated(
    truth: Network, kernels: Sequence[str], sizes: str, folder: Path, workers: int = 2
) -> None:
    """Run kernels on a network, and keep the records in a folder."""
    folder.mkdir(parents=True)
    with ThreadPoolExecutor(workers) as pool:
        waiting = [
            pool.submit(simulate, truth, step, folder / f"{number}.record")
            for number, step in enumerate(steps(kernels, sizes))
        ]
        for one in waiting:
            one.result()


def errors(folder: Path, truth: Network, kernels: Sequence[str] = KERNELS) -> pd.DataFrame:
    """Fit a model to a folder's ping-pongs, and compare all that it predicts."""
    site = folder.name
    found = read_files(sorted(folder.glob("*.record"))).measurements
    assert found is not None
    model = fit_model(found, site)
    tables = []
    for name in kernels:
        try:
            compared = compare_with(model, found, name)
        except InputError as error:
            print(f"{site}: {name}: {error}", file=sys.stderr)
            continue
        tables.append(compared.assign(kernel=name, site=site))
    together = pd.concat(tables, ignore_index=True)
    shared = together["ranks_on_nodes"].map(lambda nodes: len(nodes) > len(set(nodes)) > 1)
    fitted = (together["kernel"] == "broadcast") & (together["ranks"] < min(RANKS))
    fitted |= together["ranks"] < 2
    return together.assign(shared=shared)[~fitted & ~_as_flows(together, truth.eager_bytes)]


def _as_flows(table: pd.DataFrame, eager_bytes: int) -> pd.Series:
    """Return the points in which one rank sends eager messages to one receiver in a row.

    SimGrid makes a flow of each, and they delay each other; a connection would keep their order.
    """
    segments = table["mode"].str.startswith("pipelined") & (table["size_bytes"] > SEGMENT_BYTES)
    parts = table["mode"] == "scatter_allgather"
    part_bytes = table["size_bytes"] / table["ranks"]
    return (segments & (eager_bytes > SEGMENT_BYTES)) | (parts & (part_bytes < eager_bytes))


Scored = list[tuple[Condition, str, Score]]


def scored(table: pd.DataFrame) -> Scored:
    """Return the condition, the network and the score of each prediction."""
    return [
        (condition, str(site), one)
        for (name, site), rows in table.groupby(["kernel", "site"])
        for _, _, condition, one in scores_of(rows, str(name))
    ]


def write_errors(scores: Scored) -> None:
    """Write the model's own errors for intervals."""
    lines = [
        "- " + json.dumps({key: value for key, value in error if key not in _NONE})
        for error in model_errors(scores)
    ]
    SHIPPED.write_text("\n".join([*_TITLE, "errors:", *lines, ""]), encoding="utf-8")


def inside(scores: Scored) -> Iterator[tuple[Condition, bool]]:
    """Yield whether each time lies in the interval of a model that never saw its network."""
    used = {f"network-{seed}" for seed in SEEDS}
    for left_out in {site for _, site, _ in scores}:
        others = [one for one in scores if one[1] != left_out]
        errors_known = model_errors(others) if left_out in used else shipped_errors()
        known = {(one.pattern, one.ranks, one.shared): one for one in errors_known}
        for condition, site, one in scores:
            if site == left_out and (error := known.get(condition)) is not None:
                yield condition, one.below <= error.low and one.above <= error.high


def print_errors(table: pd.DataFrame) -> None:
    """Print a row for each pattern and number of ranks: errors, and what intervals contain."""
    scores = scored(table)
    contained: dict[tuple[str, int], list[bool]] = defaultdict(list)
    for condition, is_inside in inside(scores):
        contained[condition.pattern, condition.ranks].append(is_inside)
    known = table[table["predicted_us"].notna()]
    layouts = [RankLayout(tuple(map(ord, nodes)), ()) for nodes in known["ranks_on_nodes"]]
    conditions = [*map(condition_of, known["kernel"], layouts)]
    keys = [(one.pattern, one.ranks) if one else ("", 0) for one in conditions]
    print(f"{'pattern':12} {'ranks':>5} {'points':>6} {'median%':>8} {'90 %':>7} {'most%':>7}"
          f" {'inside%':>8}")  # fmt: skip
    for key, own in (100 * known["error"].astype(float).abs()).groupby(pd.Index(keys).to_numpy()):
        told = f"{100 * sum(contained[key]) / len(contained[key]):8.1f}" if contained[key] else "-"
        print(
            f"{key[0]:12} {key[1]:5} {len(own):6} {own.median():8.1f} {own.quantile(0.9):7.1f}"
            f" {own.max():7.1f} {told:>8}"
        )
    if every := [one for own in contained.values() for one in own]:
        print(f"intervals contain {100 * sum(every) / len(every):.1f} % of {len(every)} times")


def main() -> None:
    """Print the errors on all networks together."""
    options = parser(__doc__)
    options.add_argument(
        "seeds", type=count, nargs="*", default=SEEDS, metavar="SEED", help="of the networks"
    )
    options.add_argument(
        "--only", type=several_of("kernel", KERNELS), default=KERNELS, metavar="KERNELS",
        help=f"{', '.join(KERNELS)}; default: all",
    )  # fmt: skip
    options.add_argument("--sizes", default=SIZES, help=f"of broadcast and alltoall: {SIZES}")
    options.add_argument("--keep", type=Path, metavar="FOLDER")
    options.add_argument("--write", action="store_true", help="write the errors for intervals")
    given = options.parse_args()
    tables = []
    with tempfile.TemporaryDirectory(dir=".") as scratch:
        keep = (given.keep or Path(scratch)).resolve()
        for seed in given.seeds:
            truth, folder = network(seed), keep / f"network-{seed}"
            if not folder.exists():
                simulated(truth, given.only, given.sizes, folder)
            tables.append(errors(folder, truth, given.only))
            print(truth, file=sys.stderr)
    table = pd.concat(tables, ignore_index=True)
    if given.write:
        write_errors(scored(table))
    print_errors(table)


if __name__ == "__main__":
    main()
