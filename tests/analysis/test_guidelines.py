"""Collectives that are slower than other calls in their place, from times whose truth is known."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest
from switchpoint import Measurements, detect
from switchpoint.detection.guidelines import guideline_violations
from switchpoint.reporting.json import findings_as_json
from switchpoint.reporting.terminal.findings import print_findings
from switchpoint.tables.columns import RUN_COLUMNS
from switchpoint.tables.curves import summarise
from synthetic_nights import header_of

SIZES = [8 * 2**n for n in range(18)]
IDENTITY = {"site": "here", "mpi": "Some MPI 1", "kernel": "allreduce", "placement": "all"}

#: Microseconds of a mode at a size.
Times = Callable[[str, int], float]


def good(mode: str, size: int) -> float:
    """Return times that keep all guidelines."""
    return {"library": 10 + size / 100, "reduce_then_bcast": 15 + size / 80}.get(
        mode, 40 + size / 20
    )


def bad(mode: str, size: int) -> float:
    """Return times of a library that chooses wrongly from 1 KiB to 64 KiB, and at 512 KiB."""
    chosen_badly = 1024 <= size <= 65536 or size == 524288
    if mode == "library" and chosen_badly:
        return 2 * good("reduce_then_bcast", size)
    return 8 + size / 100 if mode == "library:ring" else good(mode, size)


def measured(
    times: Times,
    seed: int = 0,
    launches: int = 4,
    noise: float = 0.02,
    of_launch: float = 0.02,
    modes: tuple[str, ...] = ("library", "reduce_then_bcast"),
    ranks: int = 4,
) -> Measurements:
    """Return launches of 3 passes; `of_launch` is what each launch adds to a mode and size."""
    rng = np.random.default_rng(seed)
    shape = (launches, len(modes), len(SIZES), 3)
    log = rng.normal(0, of_launch, (*shape[:3], 1)) + noise * rng.standard_t(4, shape)
    runs = [f"run{seed}-{ranks}-{launch}" for launch in range(launches)]
    samples = pd.DataFrame(
        [
            (runs[at[0]], modes[at[1]], SIZES[at[2]], at[3], 0, 10, value)
            for at, value in np.ndenumerate(
                np.array([[times(mode, size) for size in SIZES] for mode in modes])[None, ..., None]
                * np.exp(log)
            )
        ],
        columns=["run_id", "mode", "size_bytes", "pass", "sample", "iterations", "time_us"],
    ).assign(**IDENTITY)
    hosts = [f"a{rank}" for rank in range(ranks)]
    described = [dict.fromkeys(RUN_COLUMNS) | IDENTITY | {"run_id": run} for run in runs]
    facts = [run | header_of(run, hosts=hosts) for run in described]
    return Measurements(samples, pd.DataFrame(facts))


def violations(measurements: Measurements) -> dict[str, Mapping[str, Any]]:
    """Return the findings by their guideline."""
    found = detect(measurements)
    rows = found[found["kind"].eq("guideline_violation")].to_dict("records")
    return {row["evidence"]["guideline"]: row for row in rows}


def test_a_replacement_that_is_faster_is_one_finding_with_its_sizes() -> None:
    found = violations(measured(bad))
    row = found["reduce_then_bcast"]
    wrong = [size for size in SIZES if 1024 <= size <= 65536 or size == 524288]
    assert [one["size_bytes"] for one in row["evidence"]["sizes"]] == wrong
    for one in row["evidence"]["sizes"]:
        assert one["low"] < 2 < one["high"]
        assert one["factor"] == pytest.approx(2, rel=0.1)
    assert row["evidence"]["says"].endswith("longer at 1,024 to 65,536 B and 524,288 B")
    assert row["confidence"] > 0.99


def test_a_larger_size_that_is_faster_is_found() -> None:
    found = violations(measured(bad))
    sizes = [one["size_bytes"] for one in found["more_bytes"]["evidence"]["sizes"]]
    assert sizes == [65536, 524288]
    assert "times that of 128 KiB" in found["more_bytes"]["evidence"]["says"]


def test_the_algorithm_that_is_as_fast_is_named() -> None:
    modes = ("library", "reduce_then_bcast", "library:ring", "library:slow")
    found = violations(measured(bad, modes=modes))
    forced = found["reduce_then_bcast"]["evidence"]["forced"]
    assert forced["algorithm"] == "ring"
    assert forced["part"] < 0.5
    assert "; forced to ring, it takes 0." in found["reduce_then_bcast"]["evidence"]["says"]


def test_fewer_ranks_that_take_longer_are_found() -> None:
    few = measured(lambda mode, size: 3 * good(mode, size), modes=("library",), ranks=7)
    more = measured(good, seed=1, modes=("library",), ranks=8)
    both = Measurements(pd.concat([few.samples, more.samples]), pd.concat([few.runs, more.runs]))
    [(guideline, row)] = violations(both).items()
    assert guideline == "more_ranks"
    assert row["evidence"]["ranks"] == 7
    assert "times that on 8 ranks" in row["evidence"]["says"]
    assert violations(Measurements(more.samples, more.runs)) == {}


def test_a_step_between_numbers_of_ranks_is_found() -> None:
    few = measured(good, modes=("library",), ranks=7)
    more = measured(
        lambda mode, size: good(mode, size) * (4 if size < 1024 else 8 / 7),
        seed=1,
        modes=("library",),
        ranks=8,
    )
    both = Measurements(pd.concat([few.samples, more.samples]), pd.concat([few.runs, more.runs]))
    found = violations(both)
    row = found.pop("fewer_ranks")
    assert row["evidence"]["ranks"] == 8
    assert [one["size_bytes"] for one in row["evidence"]["sizes"]] == SIZES[:7]
    for one in row["evidence"]["sizes"]:
        assert one["low"] < 4 * 7 / 8 < one["high"]
    assert "times that on 7 ranks, in proportion to the ranks" in row["evidence"]["says"]
    assert set(found) == {"more_bytes"}


def test_two_calls_that_are_faster_than_one_are_found() -> None:
    found = violations(measured(lambda mode, size: good(mode, size) * (3 if size > 4096 else 1)))
    row = found.pop("two_calls")
    [one] = row["evidence"]["sizes"]
    assert one["size_bytes"] == 8192
    assert one["low"] < 3 * good("library", 8192) / (2 * good("library", 4096)) < one["high"]
    assert "times two calls of 4 KiB" in row["evidence"]["says"]


def test_two_launches_and_a_launch_that_does_not_show_it_are_no_finding() -> None:
    assert violations(measured(bad, launches=2)) == {}
    most, one = measured(bad), measured(good, seed=1, launches=1)
    mixed = Measurements(pd.concat([most.samples, one.samples]), pd.concat([most.runs, one.runs]))
    assert violations(mixed) == {}


def noisy_points(seeds: int, factor: float) -> pd.DataFrame:
    """Return curves of three launches each; `factor` is how much longer the collective takes."""
    rng = np.random.default_rng(3)
    sites, launches, modes = range(seeds), range(3), ("library", "reduce_then_bcast")
    table = pd.MultiIndex.from_product(
        [sites, launches, modes, SIZES], names=["site", "run_id", "mode", "size_bytes"]
    ).to_frame(index=False)
    slower = np.where(table["mode"].eq("library"), np.log(factor), 0)
    log = slower + 0.1 * rng.standard_t(3, len(table))
    time_us = 20 * np.exp(log)
    return table.assign(kernel="allreduce", time_us=time_us, error_us=0.1 * time_us).astype(
        {"site": str, "run_id": str}
    )


@pytest.mark.parametrize("factor", [1.0, 1.05])
def test_noise_gives_violations_at_most_as_often_as_promised(factor: float) -> None:
    seeds = 200
    false = guideline_violations(noisy_points(seeds, factor), lambda run: 4)
    assert len(false) <= 0.025 * seeds


def test_the_terminal_and_json_have_the_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    measurements = measured(bad)
    findings = detect(measurements)
    print_findings(findings, summarise(measurements))
    printed = " ".join(capsys.readouterr().out.split())
    says = violations(measurements)["reduce_then_bcast"]["evidence"]["says"]
    assert says.startswith("MPI_Allreduce of ")
    assert f"guideline violation at 1,024 to 524,288 B: {says}" in printed
    json.dumps(findings_as_json(findings), allow_nan=False)
