"""Predicts kernels from ping-pong alone, then measures them: the error of each, by MPI.

The model is fitted to ping-pong and to what one rank computes alone, never to what it predicts. Two
nodes with links of 20 Mbit/s sort over process maps; two and four nodes with links of 100 Mbit/s
broadcast and exchange, and two of them run the applications. Both sides are launched in turn. Then
it prints how often the fastest algorithm, or map, is the one that was predicted, where one is
predicted to be faster than the others by more than `LEAST_GAIN`. With --keep the records stay in
FOLDER; with --from, a store, a folder or a file is read and nothing is measured.
Usage: ``.venv/bin/python bench/prediction.py [LAUNCHES] [MPI...] [--keep FOLDER]`` or
``... --from PATH [SITE]``
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from arguments import add_count, add_mpis, parser, several_of
from on_testbed import ROOT, kernel, run, sharing_cores, srun_words, testbed
from switchpoint import Store, compare_with, fit_model, read_files
from switchpoint.errors import InputError
from switchpoint.models.gains import LEAST_GAIN
from switchpoint.tables.measurements import Measurements

SITE = "bench"
NEAR, FAR = "one_node", "between_nodes"
NODES = {"A": "a1", "B": "b1", "C": "c1", "D": "d1"}

#: Published errors of the studies' own predictions, in %.
PUBLISHED = {"mergesort": "14 to 22", "broadcast": "0.2 to 7.8 (median 1.8)", "ring": "not given"}

#: What we aim at, in %.
TARGETS = {
    **{"mergesort": 12, "broadcast": 4, "alltoall": 10, "ring": 10, "pingpong": 10},
    **dict.fromkeys(["voting", "jpeg", "backpropagation", "psrs", "fft", "linear"], 10),
}

#: Maps of study 000: figures 10, 11, one and three leaves remote, 12 (both readings), 13.
MAPS = ["AABAABB", "AAAAABB", "AAAAAAB", "AABABBB", "AABABAB", "AABBBAA", "ABBAAAA"]


@dataclass(frozen=True)
class Step:
    """One program to run: where its ranks are, and its options."""

    kernel: str
    process_map: str
    options: tuple[str, ...]


_FEW = ("--passes=3", "--samples=1", "--warmup=1", "--pass-time=50")
_ONCE = ("--passes=2", "--samples=1", "--warmup=0", "--pass-time=1")

#: What the models are fitted to: windows of long messages would take minutes on these links.
PING_PONGS = [
    Step("pingpong", "AA", ("--mode=send,stream", "--window=16", "--sizes=1:1M/2", *_FEW)),
    Step("pingpong", "AB", ("--mode=send", "--sizes=1:1M/2", *_FEW)),
    Step("pingpong", "AB", ("--mode=stream,bistream", "--window=16", "--sizes=1:64K/2", *_FEW)),
]

SORTS = [
    *PING_PONGS,
    Step("mergesort", "A", ("--mode=tree", "--sizes=200000,400000,800000,1600000", *_FEW)),
    *(Step("mergesort", nodes, ("--mode=tree", "--sizes=200000,1600000", *_ONCE))
      for nodes in MAPS),
]  # fmt: skip

_BROADCAST = (
    "--mode=repeated,binary,two_level,binomial,pipelined,repeated_ack,binary_ack,"
    "two_level_ack,binomial_ack,scatter_allgather",
    "--sizes=16K,64K,256K,1M", *_FEW)  # fmt: skip
_EXCHANGE = (
    "--mode=shift,pairwise,synchronous_shuffle,group_shuffle,synchronous_shuffle_windowed",
    "--sizes=16K,64K,256K,1M", *_FEW)  # fmt: skip


def _application(kernel: str, modes: str, alone: str, sizes: str) -> list[Step]:
    """Run an application on one rank, which shows its compute rate, and on two."""
    return [
        Step(kernel, nodes, (f"--mode={names}", f"--sizes={sizes}", *_FEW))
        for nodes, names in (("A", alone), ("AB", modes))
    ]


#: Two ranks have a core each; four share two.
EXCHANGES = [
    *PING_PONGS,
    *(Step("broadcast", nodes, _BROADCAST) for nodes in ("AB", "ABCD")),
    *(Step("alltoall", nodes, _EXCHANGE) for nodes in ("AB", "ABCD")),
    Step("ring", "AB", ("--mode=alternate,serial", "--grain=20000", "--sizes=4,4000,40000",
                        "--label=grain_us=20000", *_FEW)),
    *_application("voting", "everywhere,shares", "serial", "64K,1M"),
    *_application("jpeg", "parallel", "one_rank", "64K,1M"),
    *_application("backpropagation", "parallel", "one_rank", "64K,256K"),
    *_application("psrs", "parallel", "one_rank", "64K,1M"),
    *_application("fft", "parallel", "one_rank", "64K,1M"),
    *_application("linear", "lu,inv,mult", "lu_one_rank,inv_one_rank,mult_one_rank", "32K,512K"),
]  # fmt: skip

_TWICE = ("--passes=2", "--samples=1", "--warmup=1", "--pass-time=1")
_ONE_BY_ONE = ("--mode=repeated", "--sizes=1:256K/1", *_TWICE)

#: Links so slow that cores do not matter: four ranks, and eight of which two share a node's link.
MANY_RANKS = [
    Step("pingpong", "AA", ("--mode=send,stream", "--window=16", "--sizes=1:1M/2", *_FEW)),
    Step("pingpong", "AB", ("--mode=send", "--sizes=1:256K/2", *_TWICE)),
    Step("pingpong", "AB", ("--mode=stream,bistream", "--window=8", "--sizes=1:64K/1", *_TWICE)),
    *(Step("broadcast", nodes, _ONE_BY_ONE) for nodes in ("AB", "ABC")),
    Step("mergesort", "A", ("--mode=tree", "--sizes=100000,400000", *_FEW)),
    *(Step("broadcast", nodes, (_BROADCAST[0], "--sizes=4K,16K,64K,256K", *_TWICE))
      for nodes in ("ABCD", "AABBCCDD")),
    *(Step("alltoall", nodes, (_EXCHANGE[0], "--sizes=4K,16K,64K", *_TWICE))
      for nodes in ("ABCD", "AABBCCDD")),
    *(Step("ring", nodes, ("--mode=alternate,sendrecv", "--grain=20000", "--sizes=4K,40K",
                           "--label=grain_us=20000", *_TWICE)) for nodes in ("ABCD", "AABBCCDD")),
    Step("mergesort", "AABBCCD", ("--mode=tree", "--sizes=100000,400000", *_TWICE)),
]  # fmt: skip

SHAPES = {
    "very-slow-links": SORTS, "unbuffered-links": EXCHANGES, "ten-mbit-links": MANY_RANKS,
}  # fmt: skip


def run_step(name: str, mpi: str, step: Step, record: Path, folder: Path) -> None:
    """Run a program with each rank on its node."""
    hosts = folder / "hosts"
    hosts.write_text("".join(f"{NODES[letter]}\n" for letter in step.process_map))
    ranks, nodes = len(step.process_map), len(set(step.process_map))
    words = [word for word in srun_words(mpi, nodes, ranks) if "per-node" not in word]
    run(
        name,
        [
            *words,
            "--distribution=arbitrary",
            kernel(mpi, step.kernel),
            *step.options,
            *(f"--label=site={SITE}", f"--label=environ={mpi}"),
            f"--label=placement={NEAR if nodes == 1 else FAR}",
            f"--record={record}",
        ],
        {"SLURM_HOSTFILE": str(hosts), "UCX_TLS": "tcp,self"}
        | (sharing_cores(mpi) if ranks > 2 else {}),
        ROOT,
    )


def measured(
    launches: int, mpis: list[str], keep: Path, shapes: list[str]
) -> Iterator[tuple[str, Measurements]]:
    """Yield each shape with what was measured on it."""
    for shape in shapes:
        steps = SHAPES[shape]
        folder = keep / shape
        folder.mkdir(parents=True)
        with testbed(shape=ROOT / "bench" / "shapes" / f"{shape}.yaml") as name:
            for launch in range(launches):
                for mpi in mpis:
                    for number, step in enumerate(steps):
                        record = folder / f"{mpi}-{number}-{launch}.record"
                        run_step(name, mpi, step, record, folder)
            found = read_files([folder]).measurements
            assert found is not None
            yield shape, found


def errors(measurements: Measurements, site: str | None) -> Iterator[pd.DataFrame]:
    """Fit, then compare every kernel that was measured."""
    model = fit_model(measurements, site)
    for name in TARGETS:
        try:
            compared = compare_with(model, measurements, name)
        except InputError as error:
            print(f"{name}: {error}", file=sys.stderr)
            continue
        yield compared.assign(kernel=name)


def print_errors(where: str, compared: pd.DataFrame) -> None:
    """Print a row for each kernel, MPI and placement; for merge sort for each map."""
    name = str(compared["kernel"].iloc[0])
    compared = compared[compared["predicted_us"].notna()]
    if compared.empty:
        print(f"{where:16} {name:15} no point can be predicted")
        return
    keys = ["kernel", "mpi", "placement", "oversubscribed"]
    keys.append("ranks_on_nodes")
    for key, rows in compared.groupby(keys, dropna=False):
        share = 100 * rows["error"].astype(float).abs()
        words = [str(part) for part in key[1:3]] + [str(part) for part in key[4:]]
        oversubscribed = "oversubscribed" if key[3] else ""
        print(
            f"{where:16} {name:15} {' '.join(words):46} {oversubscribed:8} {len(rows):4}"
            f" {share.median():7.1f} {share.max():7.1f} {int(rows['gap'].sum()):5}"
            f" {TARGETS[name]:7} {PUBLISHED.get(name, '-'):>24}",
            flush=True,
        )


def print_best(where: str, compared: pd.DataFrame) -> None:
    """Print how often the fastest algorithm or map was named rightly, where one surely is.

    Those that are predicted to be as fast as the first one, within `LEAST_GAIN`, are not named.
    """
    known = compared[compared["predicted_us"].notna()]
    name = str(compared["kernel"].iloc[0])
    choice = {"broadcast": "mode", "alltoall": "mode", "mergesort": "ranks_on_nodes"}.get(name)
    if choice is None:
        return
    right = cases = ties = 0
    across = known[known["ranks"].astype(int) > 2]
    for _, rows in across.groupby(["mpi", "placement", "size_bytes"]):
        ordered = rows.sort_values("measured_us")
        if (
            len(ordered) < 2
            or ordered["measured_high_us"].iloc[0] >= ordered["measured_low_us"].iloc[1:].min()
        ):
            continue
        predicted = rows.sort_values("predicted_us")
        first_us, second_us = predicted["predicted_us"].astype(float).iloc[:2]
        if second_us / first_us <= LEAST_GAIN:
            ties += 1
            continue
        cases += 1
        right += int(predicted[choice].iloc[0] == ordered[choice].iloc[0])
    print(
        f"{where:16} {name:15} the fastest was named rightly in {right} of {cases} cases;"
        f" none was named in {ties}"
    )


def main() -> None:
    """Print the table of errors."""
    options = parser(__doc__)
    add_count(options, "launches", 3)
    add_mpis(options)
    options.add_argument(
        "--links", type=several_of("shape", SHAPES), default=[*SHAPES], metavar="SHAPES",
        help=f"{' or '.join(SHAPES)}; default: all",
    )  # fmt: skip
    options.add_argument("--keep", type=Path, metavar="FOLDER")
    options.add_argument("--from", nargs="+", dest="read", metavar=("PATH", "SITE"))
    given = options.parse_args()
    if given.read and len(given.read) > 2:
        options.error("--from takes a path and the name of a site")
    if given.read and not Path(given.read[0]).exists():
        options.error(f"--from: there is no file or folder {given.read[0]}")
    print(
        f"{'links':16} {'kernel':15} {'MPI, placement, map':46} {'':8} {'n':>4} {'median%':>7}"
        f" {'max%':>7} {'gaps':>5} {'target%':>7} {'published %':>24}"
    )
    if given.read:
        path, site = Path(given.read[0]), given.read[1] if len(given.read) > 1 else None
        is_store = (path / "runs").is_dir()
        found = Store(path).read() if is_store else read_files([path]).measurements
        for compared in errors(found, site):
            print_errors(path.name[:16], compared)
            print_best(path.name[:16], compared)
        return
    with tempfile.TemporaryDirectory(dir=".") as scratch:
        keep = (given.keep or Path(scratch) / "records").resolve()
        for shape, found in measured(given.launches, given.mpis, keep, given.links):
            for compared in errors(found, SITE):
                print_errors(shape, compared)
                print_best(shape, compared)


if __name__ == "__main__":
    main()
