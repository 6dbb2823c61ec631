"""Curves as fabrics make them: visits in two states, switches an octave apart, ramps, 0 bytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import SIZES, curve_table, write_record
from switchpoint import detect, explain, read
from typer.testing import Result

Run = Callable[..., Result]

OCTAVES = 2.0 ** np.arange(23)
THIRDS = np.array(SIZES, dtype=float)


def in_two_states(
    sizes: np.ndarray, times: np.ndarray, share: float, seed: int, passes: int = 5
) -> pd.DataFrame:
    """Return samples of a curve of which this share of visits takes 0.7 us longer."""
    table = curve_table(sizes, times, 0.01, seed, repeats=passes)
    rng = np.random.default_rng(seed)
    slow = rng.random((passes, len(sizes))) < share
    place = np.searchsorted(sizes, table["size_bytes"])
    return table.assign(time_us=table["time_us"] + 0.7 * slow[table["pass"], place])


@pytest.mark.parametrize(("share", "passes"), [(0.25, 5), (0.4, 5), (0.5, 3)])
def test_visits_in_a_slow_state_make_no_steps(share: float, passes: int) -> None:
    """Of three passes with half of the visits slow, one size in eight has no fast visit."""
    times = 1.6 + 8e-5 * THIRDS
    found = [detect(in_two_states(THIRDS, times, share, seed, passes)) for seed in range(10)]

    assert sum(int((one["kind"] == "step").sum()) for one in found) <= 3


def test_a_step_is_found_among_visits_in_two_states_and_says_so() -> None:
    times = 1.6 + 8e-5 * THIRDS + 0.6 * (THIRDS >= 8192)
    found = 0
    for seed in range(10):
        findings = detect(in_two_states(THIRDS, times, 0.25, seed))
        here = findings[(findings["kind"] == "step") & (findings["size_bytes"] == 8192)]
        for evidence in here["evidence"]:
            found += 1
            assert evidence["states"]["distinguished"]
            assert evidence["states"]["slow_share"] == pytest.approx(0.25, abs=0.1)
    assert found >= 9


def test_states_that_few_passes_cannot_tell_apart_ask_for_more_passes() -> None:
    times = 1.6 + 1e-7 * THIRDS + 3 * (THIRDS >= 8192)
    curves = [detect(in_two_states(THIRDS, times, 0.5, seed, passes=3)) for seed in range(20)]
    evidence = [one for findings in curves for one in findings["evidence"]]
    said = [
        one["caveat"] for one in evidence if "states" in one and not one["states"]["distinguished"]
    ]

    assert any("measure again with twice as many passes" in caveat for caveat in said)


@pytest.mark.parametrize("copy_speed", [6e3, 10e3, 12e3])
def test_a_size_between_two_switches_is_no_outlier(copy_speed: float) -> None:
    """UCX: copied up to 8,255 B, zero copy up to 32,767 B, then a rendezvous."""
    wire = 1 / 25e3
    zero_copy = 1.6 + OCTAVES * wire
    times = np.where(OCTAVES <= 8255, 1.2 + OCTAVES * (wire + 1 / copy_speed), zero_copy)
    times = times + 1.0 * (OCTAVES >= 32768)
    before = float(zero_copy[15])
    for seed in range(5):
        findings = detect(curve_table(OCTAVES, times, 0.01, seed))
        assert findings["kind"].tolist() == ["step", "step"]
        assert findings["size_bytes"].tolist() == [16384, 32768]
        assert findings["magnitude"][1] == pytest.approx(1.0 / before, abs=0.04)


@pytest.mark.parametrize("power", [0.65, 0.75, 0.85])
def test_a_smooth_ramp_has_no_steps(power: float) -> None:
    times = 1.5 + 4e-5 * OCTAVES[-1] ** (1 - power) * OCTAVES**power

    steps = sum(
        int((detect(curve_table(OCTAVES, times, 0.01, seed))["kind"] == "step").sum())
        for seed in range(10)
    )

    assert steps <= 2


def imb(tmp_path: Path, benchmark: str, times: list[float]) -> Path:
    """Write a table of IMB that begins at 0 B."""
    sizes = [0, *(2**octave for octave in range(len(times) - 1))]
    head = [
        "#    Intel(R) MPI Benchmarks 2019 Update 1, MPI-1 part    ",
        f"# Benchmarking {benchmark} ",
        "# #processes = 32 ",
        "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]",
    ]
    rows = [f"{size} 1000 {time} {time} {time}" for size, time in zip(sizes, times, strict=True)]
    path = tmp_path / f"{benchmark}.out"
    path.write_text("\n".join([*head, *rows, "", "# All processes entering MPI_Finalize", ""]))
    return path


#: Times at 0 B, 1 B, 2 B and so on.
COLLECTIVE = [
    0.15, 3.14, 3.18, 3.21, 3.29, 3.33, 3.63, 3.91, 4.71, 5.96, 9.8, 15.44, 24.54, 86.84, 148.55,
    280.08, 581.16, 1221.74, 3091.83, 6884.44, 14922.29, 30075.2, 61332.83, 123422.91,
]  # fmt: skip


def test_no_step_begins_at_0_bytes(tmp_path: Path, switchpoint: Run) -> None:
    path = imb(tmp_path, "Allgatherv", COLLECTIVE)

    assert (detect(read(path))["last_size_before"] > 0).all()
    assert switchpoint("report", path, "-o", tmp_path / "report").exit_code == 0
    assert "0 switches located to the byte" in (tmp_path / "report/index.html").read_text()


def test_sizes_a_byte_apart_are_not_located_by_a_sweep(tmp_path: Path) -> None:
    path = write_record(tmp_path / "run.record", sizes=sorted({*SIZES, 65480, 65481}))

    switches = explain(read(path))

    assert switches[["last_size_bytes", "first_size_bytes"]].to_numpy().tolist() == [[65480, 65481]]
    assert not switches["exact"].any()


def test_no_magnitude_is_below_minus_100_percent(tmp_path: Path) -> None:
    path = imb(tmp_path, "Sendrecv", [
        1.12, 1.17, 1.14, 1.13, 1.14, 1.12, 1.13, 1.15, 1.16, 1.2, 1.3, 1.45, 1.74, 2.35, 4.29,
        6.13, 6.71, 10.26, 25.95, 64.01, 125.76, 501.8, 1302.82, 2646.77,
    ])  # fmt: skip

    findings = detect(read(path))

    assert (findings["magnitude"] > -1).all()
    assert findings.loc[findings["size_bytes"] == 131072, "magnitude"].ge(0).all()
