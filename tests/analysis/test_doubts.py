"""What may be a cliff or noise is no finding, but a warning names it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import curve_table, write_osu_latency
from switchpoint import DataWarning, detect, summarise
from switchpoint.detection.doubts import doubt_warnings
from typer.testing import Result

Run = Callable[..., Result]

#: One pass of a ping-pong whose rendezvous began at 20,000 B; 256 B were disturbed.
ONE_PASS = (
    "6.99 7.80 7.39 6.76 6.73 7.00 6.75 7.92 9.13 6.82 7.36 12.41 12.79 15.45 19.00 49.02 63.72"
    " 105.61 189.87 245.29 458.86"
)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_osu_latency(tmp_path / "osu_latency.txt", ONE_PASS)


def warnings_of(samples: pd.DataFrame) -> list[DataWarning]:
    return doubt_warnings(summarise(samples), detect(samples))


def test_a_table_that_leaves_a_switch_open_names_it(switchpoint: Run, table: Path) -> None:
    result = switchpoint("detect", table)

    assert "Nothing found" in result.stdout
    [warning] = result.stderr.splitlines()
    assert "+158 % from 16,384 to 32,768 B" in warning
    assert "a step or noise; measure again, with more sizes there" in warning
    assert not re.search("[0-9a-f]{9}", warning)  # a run is told by its first digits


def test_the_report_says_the_same(switchpoint: Run, table: Path, tmp_path: Path) -> None:
    switchpoint("report", table, "-o", tmp_path / "report")

    page = (tmp_path / "report" / "index.html").read_text()
    assert "+158 % from 16,384 to 32,768 B" in page


def test_what_a_finding_or_an_outlier_tells_is_not_said_twice() -> None:
    sizes = 2.0 ** np.arange(20)
    step = np.where(sizes > 4096, 9.0, 3.0)
    odd = np.where(sizes == 256, 9.0, 3.0)

    for times, kind in ((step, "step"), (odd, "outlier")):
        samples = curve_table(sizes, times, 0.01, seed=1)
        assert detect(samples)["kind"].tolist() == [kind]
        assert warnings_of(samples) == []


def test_a_slope_is_no_doubt() -> None:
    sizes = 2.0 ** np.arange(24)

    assert warnings_of(curve_table(sizes, 1e-3 * sizes + 0.1, 0.02, seed=1)) == []


def test_curves_are_told_apart_although_a_label_is_missing() -> None:
    sizes = 2.0 ** np.arange(21)
    doubtful = curve_table(sizes, np.array(ONE_PASS.split(), dtype=float), 0.0, 1, repeats=1)
    clear = curve_table(sizes, np.where(sizes > 4096, 9.0, 3.0), 0.01, 1)
    both = pd.concat([doubtful.assign(mode="send", label=None), clear.assign(mode="ssend")])

    [warning] = warnings_of(both.astype({"mode": "category", "label": "category"}))

    assert (warning.kind, warning.place) == ("step_or_noise", "send")


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.01, 0.05])
@pytest.mark.parametrize("repeats", [1, 5])
def test_little_noise_raises_no_doubt(noise: float, repeats: int) -> None:
    sizes = 2.0 ** np.arange(22)
    for seed in range(30):
        assert warnings_of(curve_table(sizes, 2 + 3e-4 * sizes, noise, seed, repeats)) == []
