"""Records curves that no detector was tuned on: other limits, few repeats, clusters of sizes.

Every curve is one launch with the eager limit set to a known value, or moved out of the way. The
recipes differ in what `detect` finds hard. A third of the limits of each recipe is held out: it is
for the table in the docs, and nobody looks at it while tuning.

`record_unseen.py record SECONDS` measures on its own testbed until the time is used up, and
continues there when it is called again. `record_unseen.py pack` writes `unseen.parquet` and
`held.parquet`. With a word after it, such as `record SECONDS idle` and `pack idle`, other limits
are drawn, and all curves go into one file, `idle.parquet`. OSU_OPENMPI, OSU_MPICH, IMB_OPENMPI and
IMB_MPICH name the folder of OSU's programs, which contains `pt2pt`, and the program IMB-MPI1 built
for that MPI; what is not named is left out.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))
from arguments import parser
from on_testbed import ROOT, kernel, launch, osu, testbed
from record import (
    CONTENDED,
    TRANSPORTS,
    Transport,
    labelled_passes,
    medians,
    switches_per_second,
    write_packed,
)

HERE = Path(__file__).resolve().parent
RECORDS = ROOT / "build" / "bench" / "unseen"
UNSEEN, HELD = HERE / "unseen.parquet", HERE / "held.parquet"

#: Limits of each transport and recipe, drawn evenly in octaves; one more is a control.
LIMITS = 6
SMALLEST_LIMIT, LARGEST_LIMIT = 1500, 300_000

#: Every third limit is held out, and so is every other transport's control.
HELD_OUT = 3


@dataclass(frozen=True)
class Recipe:
    """A way to measure a curve.

    Attributes
    ----------
    name : str
        In the tables.
    sizes : callable
        Sizes as on a command line, from the first byte past the switch (0: none), the largest
        size, and a source of random numbers.
    options : list of str
        Further options of the ping-pong. Empty: the program is another project's.
    placements : str
        Pattern of the placements that it is for.
    launches : int
        Of each curve.
    """

    name: str
    sizes: Callable[[int, int, random.Random], str]
    options: tuple[str, ...] = ()
    placements: str = ".*"
    launches: int = 2


def _clusters(first: int, largest: int, rng: random.Random) -> str:
    """Three sizes an octave, and sizes a byte apart at the switch and at a place without one."""
    elsewhere = round(2 ** rng.uniform(6, 17))
    near = [byte for place in (first, elsewhere) if place for byte in range(place - 3, place + 3)]
    return ",".join(["1:256K/3", *map(str, near)]) if largest >= 2**18 else f"1:{largest}/3"


_MANY = ("--passes=8", "--samples=6", "--block-time=200", "--pass-time=10")
_FEW = ("--passes=3", "--samples=1", "--block-time=200")
RECIPES = [
    Recipe("3 an octave", lambda _, largest, __: f"1:{largest}/3", _MANY),
    Recipe("powers of two, 3 repeats", lambda _, largest, __: f"1:{largest}", _FEW),
    Recipe("3 an octave, 3 repeats", lambda _, largest, __: f"1:{largest}/3", _FEW),
    Recipe("sizes a byte apart", _clusters, _MANY),
    Recipe(
        "paced", lambda _, largest, __: f"1:{largest}/3",
        ("--passes=8", "--samples=1", "--block-time=0", "--pause=3000"), "two_nodes.*",
    ),
    Recipe("limited by the link", lambda *_: "1:2M", _MANY, "two_nodes_two_hosts"),
    Recipe("osu_latency", lambda _, largest, __: f"1:{largest}", launches=1),
    Recipe("IMB PingPong", lambda _, largest, __: f"1:{largest}", launches=1),
]  # fmt: skip


@dataclass(frozen=True)
class Launch:
    """One sweep: how it is measured, where, with which limit (None: control), and its number.

    `draw` names the draw of the limits and sizes; the first has no name.
    """

    recipe: Recipe
    transport: Transport
    place: int
    limit: int | None
    number: int
    draw: str

    @property
    def first_byte(self) -> int:
        """As of its transport."""
        return self.transport.first_byte(self.limit)

    @property
    def held_out(self) -> bool:
        """Whether nobody looks at it while tuning."""
        return self.place % HELD_OUT == HELD_OUT - 1

    @property
    def result(self) -> Path:
        """Where its run record or its printed table lies."""
        name = re.sub(r"\W+", "-", f"{self.recipe.name}-{self.transport.name}-{self.place}")
        return RECORDS / self.draw / f"{name}-{self.number}.result"

    @property
    def sizes(self) -> str:
        """Message sizes as on a command line."""
        name = f"{self.recipe.name} {self.transport.name} {self.place}"
        rng = random.Random(name + self.draw)
        return self.recipe.sizes(self.first_byte, self.largest, rng)

    @property
    def largest(self) -> int:
        """Largest size in bytes: a control of shared memory has no room for more."""
        return 2**18 if self.limit is None and "256K" in self.transport.control_sizes else 2**20


def launches(draw: str) -> list[Launch]:
    """All sweeps of a draw, in an order that lets drift hit all of them."""
    every = []
    for recipe in RECIPES:
        for number, transport in enumerate(TRANSPORTS):
            if not re.fullmatch(recipe.placements, transport.placement):
                continue
            rng = random.Random(f"{recipe.name} {transport.name}{draw}")
            drawn = [
                round(SMALLEST_LIMIT * (LARGEST_LIMIT / SMALLEST_LIMIT) ** rng.random())
                for _ in range(LIMITS)
            ]
            for place, limit in enumerate([*drawn, None]):
                # A control's place says whether it is held out.
                placed = place if limit else LIMITS + number
                every += [
                    Launch(recipe, transport, placed, limit, repetition, draw)
                    for repetition in range(recipe.launches)
                ]
    random.Random(14).shuffle(every)
    return every


def program(one: Launch, attempt: Path) -> list[str | Path] | None:
    """Return the command that measures, without its launcher; None if the program is not there."""
    mpi = one.transport.mpi
    if one.recipe.options:
        own = kernel(mpi, "pingpong")
        return [own, "--mode=send", f"--sizes={one.sizes}", *one.recipe.options,
                f"--record={attempt}", "--quiet"]  # fmt: skip
    if one.recipe.name == "osu_latency":
        folder = osu(mpi)
        options = ["-m", f"1:{one.largest}", "-i", "300", "-x", "30"]
        return [folder / "pt2pt/osu_latency", *options] if folder else None
    benchmark = os.environ.get(f"IMB_{mpi.upper()}")
    log = f"0:{one.largest.bit_length() - 1}"
    options = ["PingPong", "-msglog", log, "-iter", "300", "-iter_policy", "off", "-time", "100"]
    return [benchmark, *options] if benchmark else None


def record(seconds: float, draw: str) -> None:
    """Measure what is missing of a draw until the time is used up."""
    start = time.monotonic()
    every = launches(draw)
    every[0].result.parent.mkdir(parents=True, exist_ok=True)
    with testbed() as name:
        for one in every:
            if time.monotonic() - start > seconds:
                break
            if not one.result.exists():
                measure(name, one)
    print(f"{sum(one.result.exists() for one in every)} of {len(every)} recorded")


def measure(name: str, one: Launch) -> None:
    """Run one sweep. If it hangs (openucx #8738), the next call tries it again."""
    transport, attempt = one.transport, one.result.with_suffix(".attempt")
    value = transport.no_limit if one.limit is None else str(one.limit)
    command = program(one, attempt)
    if command is None:
        return
    limited: list[str | Path] = ["env", f"{transport.variable}={value}", "timeout", "30", *command]
    try:
        printed = launch(name, transport.mpi, transport.placement, limited, RECORDS)
    except (SystemExit, subprocess.TimeoutExpired) as error:
        print(f"{one.result.stem}: {error}", file=sys.stderr)
        return
    if one.recipe.options:
        put_off = switches_per_second(attempt)
        if put_off > CONTENDED:
            print(f"{one.result.stem}: {put_off:.0f} involuntary switches a second", flush=True)
            return
    else:
        attempt.write_text(printed)
    attempt.replace(one.result)


def points(one: Launch) -> pd.DataFrame:
    """Medians of each pass; of a printed table, its only time."""
    if one.recipe.options:
        return medians(one.result)
    rows = re.findall(r"^\s*(\d+)\s+(?:\d+\s+)?(\d+\.\d+)", one.result.read_text(), re.M)
    table = pd.DataFrame([(int(size), 0, float(us)) for size, us in rows],
                         columns=["size_bytes", "pass", "time_us"])  # fmt: skip
    return table[table["size_bytes"] > 0]


def packed(chosen: Iterable[Launch]) -> Iterator[pd.DataFrame]:
    """Each launch's points with what is known of it."""
    for one in chosen:
        if one.result.exists():
            yield labelled_passes(
                points(one), one.transport, limit=one.limit, launch=one.number,
                recipe=one.recipe.name,
            )  # fmt: skip


if __name__ == "__main__":
    options = parser(__doc__)
    steps = options.add_subparsers(dest="step", required=True)
    recording, packing = steps.add_parser("record"), steps.add_parser("pack")
    recording.add_argument("seconds", type=float, metavar="SECONDS")
    for step in (recording, packing):
        step.add_argument("draw", nargs="?", default="", metavar="DRAW")
    given = options.parse_args()
    if given.step == "record":
        record(given.seconds, given.draw)
    elif given.draw:
        write_packed(packed(launches(given.draw)), HERE / f"{given.draw}.parquet", "recipe")
    else:
        both = launches("")
        write_packed(packed(one for one in both if not one.held_out), UNSEEN, "recipe")
        write_packed(packed(one for one in both if one.held_out), HELD, "recipe")
