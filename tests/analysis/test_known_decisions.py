"""Collectives on a simulated platform whose library chooses algorithms by a known decision.

SimGrid has the decision functions of Open MPI 4.1 (smpi_openmpi_selector.cpp), and each algorithm
can be forced. Times have no noise. So each switch and each answer is right or wrong, to the byte.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from functools import cache
from itertools import count
from pathlib import Path

import pandas as pd
import pytest
from built import build
from simgrid_platform import EXACT, NO_STEP, hosts_of, needs_simgrid, platform_of
from switchpoint import Measurements, algorithms, detect, read, read_facts
from typer.testing import Result

pytestmark = [needs_simgrid, pytest.mark.build]

#: Three sizes an octave from 32 B to 102 KiB, in whole numbers of 8 B.
SIZES = [8 * round(2 ** (n / 3)) for n in range(6, 42)]

SWEEP = ("--sizes", ",".join(map(str, SIZES)))

#: By kernel, library and ranks: the decision, as the algorithm and its first size, by SimGrid's
#: names. Only changes of 8 % or more are switches that timing must find.
DECISIONS = {
    ("allreduce", "ompi", 16): {0: "ompi_ring_segmented", 64: "rdb", 4096: "rab_rdb"},
    ("alltoall", "ompi", 16): {0: "bruck", 512: "basic_linear"},
    ("allgather", "mpich", 16): {0: "rdb", 32768: "ring"},
    ("reduce", "mpich", 64): {0: "binomial", 2048: "scatter_gather"},
    ("gather", "ompi", 16): {0: "ompi_binomial"},
}

#: More algorithms that the library could use.
OTHERS = {
    "allreduce": ["lr"],
    "alltoall": ["ring"],
    "allgather": ["NTSLR"],
}

Simulate = Callable[..., Path]


@pytest.fixture(scope="module")
def kernels() -> Path:
    return build("simgrid", "smpicc") / "bin"


@pytest.fixture(scope="module")
def simulate(kernels: Path, tmp_path_factory: pytest.TempPathFactory) -> Simulate:
    """Run a kernel once at each size, perhaps with a forced algorithm; returns its record.

    What was simulated before has the same times.
    """
    folder = tmp_path_factory.mktemp("simulated")
    (folder / "platform.xml").write_text(platform_of(64, latency_us=10))
    (folder / "hosts").write_text(hosts_of(64))
    numbers = count()

    @cache
    def run(
        kernel: str, library: str, ranks: int, *forced: str, options: tuple[str, ...] = SWEEP
    ) -> Path:
        record = folder / f"{next(numbers)}.record"
        chosen = [f"--cfg=smpi/coll-selector:{library}"]
        chosen += [f"--cfg=smpi/{kernel}:{name}" for name in forced]
        command = [
            *("smpirun", "-np", str(ranks), "-platform", "platform.xml", "-hostfile", "hosts"),
            *(*EXACT, NO_STEP, *chosen, str(kernels / kernel), "--mode", "library"),
            *(*options, "--passes", "1", "--samples", "1", "--search-time", "100000"),
            *("--block-time", "0", "--warmup", "0", "--record", str(record), "--quiet"),
        ]
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=120)
        return record

    return run


@pytest.mark.parametrize("case", [case for case in DECISIONS if case[0] in OTHERS], ids=str)
def test_the_plan_after_a_sweep_finds_each_switch_at_the_byte_of_the_decision(
    simulate: Simulate, switchpoint: Callable[..., Result], case: tuple[str, str, int]
) -> None:
    command = switchpoint("plan", simulate(*case)).stdout.split()
    assert command[:3] == [case[0], "--mode=library", "--algorithms=all"]
    searched = read_facts(simulate(*case, options=tuple(command[3:])))
    assert searched.header["plan"]["searches"]
    unit = 8 if "reduce" in case[0] else 1
    found = sorted(
        (search["last_size_bytes"], search["first_size_bytes"], search["verdict"])
        for search in searched.footer["switches"]
    )
    assert found == [(first - unit, first, "exact") for first in DECISIONS[case] if first > 0]


def raced(default: Path, forced: dict[str, Path]) -> Measurements:
    """Return one run with the modes of several: SimGrid forces one algorithm for a whole run."""
    measured = read(default)
    samples = [measured.samples]
    for name, record in forced.items():
        samples.append(read(record).samples.assign(mode=f"library:{name}"))
    together = pd.concat(samples).assign(run_id=measured.samples["run_id"].iloc[0])
    return Measurements(together, measured.runs)


@pytest.mark.parametrize("case", DECISIONS, ids=str)
def test_every_switch_of_a_decision_is_found_and_nothing_else(
    simulate: Simulate, switchpoint: Callable[..., Result], case: tuple[str, str, int]
) -> None:
    result = switchpoint("detect", simulate(*case), "--json")
    found = [
        (one["kind"], one["last_size_before"], one["size_bytes"])
        for one in json.loads(result.stdout)["findings"]
    ]
    switches = [first for first in DECISIONS[case] if first > 0]
    assert found == [("step", SIZES[SIZES.index(s) - 1], s) for s in switches]


@pytest.mark.parametrize("case", [case for case in DECISIONS if case[0] in OTHERS], ids=str)
def test_the_algorithm_of_each_size_is_that_of_the_decision(
    simulate: Simulate, case: tuple[str, str, int]
) -> None:
    decision = DECISIONS[case]
    names = [*dict.fromkeys(decision.values()), *OTHERS[case[0]]]
    measured = raced(simulate(*case), {name: simulate(*case, name) for name in names})

    times = measured.samples.pivot_table(index="size_bytes", columns="mode", values="time_us")
    for row in algorithms(measured).to_dict("records"):
        size = row["size_bytes"]
        used = decision[max(first for first in decision if first <= size)]
        same = (
            times.loc[size].sub(times.loc[size, "library"]).abs()
            < 0.03 * times.loc[size, "library"]
        )
        equal = {name for name in names if same[f"library:{name}"]}
        assert used in row["used"], row
        assert {*row["used"]} <= equal, row


def launched(measured: Measurements, times: int = 3) -> Measurements:
    """Return a run as several launches, which take equally long without noise."""
    run_id = str(measured.runs["run_id"].iloc[0])
    names = [run_id, *(f"{run_id}-{number}" for number in range(1, times))]
    return Measurements(
        pd.concat([measured.samples.assign(run_id=name) for name in names]),
        pd.concat([measured.runs.assign(run_id=name) for name in names]),
    )


#: Allreduce on 16 ranks, by the algorithm that it is forced to: the first and the last size at
#: which reduce and broadcast are faster. A ring has 30 steps in place of their 8, if each rank has
#: an element; where elements are left over, they go around after it, so that the next multiple of
#: 128 B is faster.
FORCED = {"": (), "lr": (128, 52016)}


@pytest.mark.parametrize("forced", FORCED)
def test_a_bad_algorithm_violates_guidelines_and_a_good_decision_does_not(
    simulate: Simulate, forced: str
) -> None:
    options = (*SWEEP, "--mode", "library,reduce_then_bcast")
    record = simulate("allreduce", "mpich", 16, *filter(None, [forced]), options=options)
    measured = raced(record, {"rdb": simulate("allreduce", "mpich", 16, "rdb")} if forced else {})
    found = detect(launched(measured))
    evidence = {
        row["guideline"]: row
        for row in found.loc[found["kind"].eq("guideline_violation"), "evidence"]
    }
    times = measured.samples.pivot_table(index="size_bytes", columns="mode", values="time_us")
    others = {
        "reduce_then_bcast": times["reduce_then_bcast"],
        "more_bytes": times["library"].shift(-1),
    }
    for guideline, other in others.items():
        slower = times.index[times["library"] > 1.05 * other].tolist()
        sizes = [one["size_bytes"] for one in evidence.get(guideline, {"sizes": []})["sizes"]]
        assert sizes == slower
        assert bool(sizes) == bool(forced)
    if forced:
        row = evidence["reduce_then_bcast"]
        assert (row["sizes"][0]["size_bytes"], row["last_size_bytes"]) == FORCED[forced]
        assert row["forced"]["algorithm"] == "rdb"
