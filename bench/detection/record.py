"""Records labelled curves: sweeps with the eager limit set to known values, and packs them.

`record.py record SECONDS` measures on its own testbed until the time is used up, and continues
there when it is called again. `record.py pack` writes `curves.parquet` from the records.
"""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from switchpoint import read_facts, read_record
from switchpoint.records.run_facts import prove, run_seconds

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from arguments import parser
from on_testbed import ROOT, kernel, launch, testbed

HERE = Path(__file__).resolve().parent
RECORDS = ROOT / "build" / "bench" / "detection"
CURVES = HERE / "curves.parquet"

#: Nine sizes an octave; every third makes three an octave, every ninth the powers of two.
SIZES = "1:1M/9"
LAUNCHES = 2

#: Limits in bytes as set; half of them are no powers of two.
LIMITS = [
    4096, 6000, 8192, 11000, 12000, 16384, 20000, 24000, 32768, 50000, 65536, 90000, 100000,
    131072, 180000, 200000, 262144,
]  # fmt: skip

#: A launch is repeated if its ranks were taken off their cores more often than this per second.
CONTENDED = 400


@dataclass(frozen=True)
class Transport:
    """How a limit is set for one MPI on one placement, and what it means.

    Attributes
    ----------
    mpi, placement : str
        As in the testbed's site settings.
    variable : str
        Environment variable that holds the limit.
    last_eager_offset : int
        Added to the limit: the last size in bytes that is still sent eagerly.
    no_limit : str
        Value for controls: no switch among the sizes measured.
    control_sizes : str
        Sizes of controls.
    """

    mpi: str
    placement: str
    variable: str
    last_eager_offset: int
    no_limit: str
    control_sizes: str = SIZES

    @property
    def name(self) -> str:
        """MPI and placement."""
        return f"{self.mpi}-{self.placement}"

    def first_byte(self, limit: int | None) -> int:
        """First message size after the switch in bytes; 0 without a switch."""
        return limit + self.last_eager_offset + 1 if limit else 0


#: vader fails to start with limits of 512 KiB and more: its controls end at 256 KiB.
TRANSPORTS = [
    Transport("openmpi", "one_node", "OMPI_MCA_btl_vader_eager_limit", -56, "400000", "1:256K/9"),
    *(
        Transport("openmpi", placement, "OMPI_MCA_btl_tcp_eager_limit", -56, "4194304")
        for placement in ("one_node_network", "two_nodes_one_host", "two_nodes_two_hosts")
    ),
    *(
        Transport("mpich", placement, "UCX_RNDV_THRESH", -1, "inf")
        for placement in ("one_node", "one_node_network", "two_nodes_one_host")
    ),
]


@dataclass(frozen=True)
class Launch:
    """One sweep: a transport, its limit (None in controls), and which repetition it is."""

    transport: Transport
    limit: int | None
    number: int

    @property
    def record(self) -> Path:
        """Where its run record lies."""
        return RECORDS / f"{self.transport.name}-{self.limit or 'control'}-{self.number}.record"


def launches() -> list[Launch]:
    """All sweeps, in an order that lets drift hit all limits and transports."""
    every = [
        Launch(transport, limit, number)
        for number, transport, limit in itertools.product(
            range(LAUNCHES), TRANSPORTS, [*LIMITS, None]
        )
    ]
    random.Random(5).shuffle(every)
    return sorted(every, key=lambda one: one.number)


def record(seconds: float) -> None:
    """Measure what is missing until the time is used up."""
    start = time.monotonic()
    RECORDS.mkdir(parents=True, exist_ok=True)
    programs = {mpi: kernel(mpi, "pingpong") for mpi in ("openmpi", "mpich")}
    missing = [one for one in launches() if not one.record.exists()]
    with testbed() as name:
        for one in missing:
            if time.monotonic() - start > seconds:
                break
            measure(name, programs[one.transport.mpi], one)
    done = sum(one.record.exists() for one in launches())
    print(f"{done} of {len(launches())} recorded")


def measure(name: str, program: Path, one: Launch) -> None:
    """Run one sweep. If it hangs (openucx #8738), the next call tries it again."""
    transport = one.transport
    value = transport.no_limit if one.limit is None else str(one.limit)
    sizes = transport.control_sizes if one.limit is None else SIZES
    attempt = one.record.with_suffix(".attempt")
    try:
        launch(
            name,
            transport.mpi,
            transport.placement,
            [
                "env", f"{transport.variable}={value}", "timeout", "20",
                program, "--mode=send", f"--sizes={sizes}", "--passes=8", "--samples=6",
                "--block-time=200", "--pass-time=10", f"--record={attempt}", "--quiet",
            ],
            RECORDS,
        )  # fmt: skip
    except (SystemExit, subprocess.TimeoutExpired) as error:
        print(f"{one.record.name}: {error}", file=sys.stderr)
        return
    put_off = switches_per_second(attempt)
    print(f"{one.record.stem}: {put_off:.0f} involuntary switches a second", flush=True)
    if put_off <= CONTENDED:
        attempt.replace(one.record)


def switches_per_second(record: Path) -> float:
    """Return how often all ranks of a run together were taken off their cores, per second."""
    facts = read_facts(record)
    assert facts.footer is not None
    proof = prove(facts.header, facts.footer)
    assert proof.involuntary_switches is not None
    return proof.involuntary_switches / run_seconds(facts.header, facts.footer)


def packed() -> Iterator[pd.DataFrame]:
    """Medians of each record's passes with what is known of it; `first_byte` 0: no switch."""
    for one in launches():
        if not one.record.exists():
            continue
        yield labelled_passes(
            medians(one.record), one.transport, limit=one.limit, launch=one.number
        )


def medians(record: Path) -> pd.DataFrame:
    """Medians of a record's passes."""
    samples = read_record(record).samples
    return samples.groupby(["size_bytes", "pass"])["time_us"].median().reset_index()


def labelled_passes(
    passes: pd.DataFrame, transport: Transport, *, limit: int | None, launch: int, **names: str
) -> pd.DataFrame:
    """Medians of passes with their names and what is known of them."""
    return pd.DataFrame(
        {
            **names,
            "transport": transport.name,
            "limit": limit or 0,
            "launch": launch,
            "first_byte": transport.first_byte(limit),
            "size_bytes": passes["size_bytes"],
            "pass": passes["pass"],
            "time_ns": (passes["time_us"] * 1e3).round().astype("int32"),
        }
    )


def write_packed(parts: Iterable[pd.DataFrame], path: Path, *names: str) -> None:
    """Write medians of passes as one small file: sorted, so that columns compress."""
    small = {"limit": "int32", "launch": "int8", "first_byte": "int32", "size_bytes": "int32",
             "pass": "int8"} | dict.fromkeys([*names, "transport"], "category")  # fmt: skip
    order = [*names, "transport", "limit", "launch", "size_bytes", "pass"]
    table = pd.concat(parts, ignore_index=True).astype(small).sort_values(order, kind="stable")
    table.to_parquet(path, compression="zstd", compression_level=19, index=False)
    print(f"{path}: {path.stat().st_size:,} B, {len(table):,} medians of passes")


if __name__ == "__main__":
    options = parser(__doc__)
    steps = options.add_subparsers(dest="step", required=True)
    steps.add_parser("record").add_argument("seconds", type=float, metavar="SECONDS")
    steps.add_parser("pack")
    given = options.parse_args()
    if given.step == "record":
        record(given.seconds)
    else:
        write_packed(packed(), CURVES)
