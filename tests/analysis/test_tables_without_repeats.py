"""Tables of other programs have one time for each size: steps are found, and noise shows none.

The times are real: tables of osu_latency and single passes of our ping-pong, whose limits were set.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import curve_table, write_osu_latency
from switchpoint import detect
from typer.testing import Result

Run = Callable[..., Result]

OCTAVES = 2.0 ** np.arange(22)
THIRDS = np.unique((2.0 ** (np.arange(64) / 3)).astype(int)).astype(float)
NINTHS = np.unique((2.0 ** (np.arange(190) / 9)).astype(int)).astype(float)


def curve(times: str) -> pd.DataFrame:
    """A table of powers of two from 1 B on."""
    times_us = list(map(float, times.split()))
    return curve_table(OCTAVES[: len(times_us)], np.array(times_us), 0.0, 1, repeats=1)


@pytest.mark.parametrize(
    ("limit", "times"),
    [
        pytest.param(
            12000,
            "6.46 6.49 7.68 6.47 6.49 6.47 7.19 6.60 6.54 6.57 6.74 13.34 14.45 15.00 46.50 44.33"
            " 120.81 155.51 178.93 180.26 466.69",
            id="between other steps",
        ),
        pytest.param(
            8204,
            "0.16 0.14 0.14 0.15 0.14 0.14 0.14 0.70 0.21 0.25 0.27 0.34 0.83 0.45 3.17 4.36 6.55"
            " 13.81 19.46 38.41 84.47",
            id="sizes that were disturbed",
        ),
        pytest.param(
            254337,
            "0.15 0.14 0.14 0.13 0.20 0.14 0.14 0.38 0.19 0.23 0.27 0.33 0.60 0.74 0.61 0.97 1.74"
            " 3.31 21.72 46.61 75.25",
            id="before the last three sizes",
        ),
        pytest.param(
            2699,
            "28.17 22.05 28.89 21.88 40.46 84.38 77.40 70.18 68.31 9.87 8.99 8.40 127.98 141.91"
            " 250.49 55.57 72.97 302.44 131.78 483.06 1081.38",
            id="while other programs ran",
        ),
    ],
)
def test_the_step_of_a_limit_is_found_between_its_two_sizes(limit: int, times: str) -> None:
    steps = detect(curve(times)).query("kind == 'step'")

    last = 2 ** int(math.log2(limit))
    assert ((steps["last_size_before"] == last) & (steps["size_bytes"] == 2 * last)).any()


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.05, 0.2])
@pytest.mark.parametrize("sizes", [OCTAVES, THIRDS, NINTHS], ids=["octaves", "thirds", "ninths"])
def test_in_noise_alone_at_most_three_curves_in_a_hundred_show_something(
    sizes: np.ndarray, noise: float
) -> None:
    tables = [
        curve_table(sizes, 2 + 3e-4 * sizes, noise, seed, repeats=1).assign(run_id=str(seed))
        for seed in range(200)
    ]
    table = pd.concat(tables).assign(curve=lambda rows: rows["run_id"])

    assert detect(table.astype({"curve": "category"}))["run_id"].nunique() <= 6


def test_a_slow_first_size_is_no_step() -> None:
    # The first messages of this run found nothing warm.
    findings = detect(
        curve(
            "10.85 7.06 7.35 7.24 6.93 7.33 6.99 7.25 7.29 7.15 7.20 7.06 28.79 26.58 26.61 30.47"
            " 37.08 45.94 57.93 93.47 185.18"
        )
    )

    assert findings["kind"].tolist() == ["outlier", "step"]
    assert findings["size_bytes"].tolist() == [1, 4096]
    assert findings["last_size_before"].tolist() == [0, 2048]
    assert findings["magnitude"][0] == pytest.approx(0.5, abs=0.1)


def test_a_slow_size_that_was_measured_once_may_be_the_first_after_a_step() -> None:
    times = (
        "0.16 0.14 0.14 0.15 0.14 0.14 0.14 0.70 0.21 0.25 0.27 0.34 0.83 0.45 3.17 4.36 6.55"
        " 13.81 19.46 38.41 84.47"
    )
    one, another = curve(times), curve(times.replace("0.70", "0.14"))
    both = pd.concat([one.assign(run_id="a"), another.assign(run_id="b")])

    for tables, may_be_a_step in ((one, True), (both.astype({"run_id": "category"}), False)):
        [odd] = detect(tables).query("kind == 'outlier' and size_bytes == 128")["evidence"]
        assert ("caveat" in odd) == may_be_a_step


def test_a_second_table_shows_the_step_that_one_leaves_open() -> None:
    one, another = (
        curve(times)
        for times in (
            "10.82 10.66 10.58 10.59 10.67 10.77 10.77 10.67 10.66 11.16 11.32 16.49 20.19 31.78"
            " 70.46 83.82 288.32 221.35 320.21 486.75 888.91",
            "6.77 6.77 6.84 6.76 7.21 7.01 6.63 6.51 7.04 7.39 6.70 11.84 12.81 14.86 42.09 41.97"
            " 156.90 196.15 131.29 175.10 473.85",
        )
    )
    both = pd.concat([one.assign(run_id="a"), another.assign(run_id="b")])

    steps = detect(both.astype({"run_id": "category"})).query("kind == 'step'")

    assert 8192 not in detect(one)["last_size_before"].tolist()
    assert {*steps.loc[steps["last_size_before"] == 8192, "run_id"]} == {"a", "b"}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table of osu_latency from a machine on which other programs ran; several large steps."""
    times = (
        "28.17 22.05 28.89 21.88 40.46 84.38 77.40 70.18 68.31 9.87 8.99 8.40 127.98 141.91 250.49"
        " 55.57 72.97 302.44 131.78 483.06 1081.38"
    )
    return write_osu_latency(tmp_path / "osu_latency.txt", times)


def test_a_large_step_of_one_table_is_shown_however_uncertain(
    switchpoint: Run, table: Path
) -> None:
    lines = switchpoint("detect", table).stdout.splitlines()

    [step] = [line for line in lines if "2,048 to 4,096 B" in line]
    [confidence] = re.findall(r"(\d+) %  1 of 1", step)
    assert 30 <= int(confidence) < 70


def test_one_table_says_that_a_second_run_would_tell_more(switchpoint: Run, table: Path) -> None:
    again = table.with_name("again.txt")
    again.write_text(table.read_text().replace("28.17", "28.29"))

    once, twice = switchpoint("detect", table), switchpoint("detect", table, again)

    assert once.stdout.splitlines()[-1].startswith("Each size was measured once, so only")
    assert "measured once" not in twice.stdout


def test_an_empty_message_of_a_collective_is_no_step() -> None:
    """At 0 B it does nothing, so the next size is no boundary that anybody located."""
    sizes = np.concatenate([[0.0], OCTAVES[:14]])
    times_us = 9.0 * (1 + sizes / 2e4)
    times_us[0] = 0.4

    found = detect(curve_table(sizes, times_us, 0.01, 1, repeats=1))

    assert 0 not in found["last_size_before"].tolist()


def test_no_time_falls_by_more_than_all_of_it() -> None:
    """The line above the step aims below zero at the size before it."""
    found = detect(
        curve(
            "3.1 3.1 3.2 3.1 3.2 3.3 3.3 3.4 3.6 4.1 4.9 6.2 9.8 13.1 17.4 24.9 9.2 14.1 35.8 78.9"
        )
    )

    assert (found["magnitude"].dropna() > -1).all()
