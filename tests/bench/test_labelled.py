"""Labels of recorded curves: what is a change of the curve itself, and which are held out."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench" / "detection"))
import pandas as pd
from calibrate import NEVER_NEGATIVE, fit
from labelled import Curve

SIZES = 2.0 ** np.arange(21)


def curve(first_byte: int, time: np.ndarray, limit: int = 1, *, by_recipe: bool = True) -> Curve:
    return Curve(
        transport="openmpi-one_node", limit=limit, launch=0, grid="3 an octave",
        first_byte=first_byte, size=SIZES, time=time, error=np.full(len(SIZES), 0.01),
        level=time, level_error=np.full(len(SIZES), 0.01), by_recipe=by_recipe,
    )  # fmt: skip


@pytest.mark.parametrize("switch", [4096, 32768])
def test_the_switch_of_a_curve_is_no_part_of_another_change(switch: int) -> None:
    time = np.where(SIZES >= 16384, 1.3, 1.0) * np.where(switch <= SIZES, 4.0, 1.0)

    assert curve(switch, time).change(8192, 16384) == pytest.approx(np.log(1.3), abs=1e-6)


def test_the_switch_of_a_curve_is_its_change_there() -> None:
    time = np.where(SIZES >= 16384, 4.0, 1.0)

    assert curve(16384, time).change(8192, 16384) == pytest.approx(np.log(4.0), abs=1e-6)


def test_half_of_the_curves_of_each_recipe_are_held_out_whatever_it_is_called() -> None:
    limits = range(2000, 2400)
    held = [curve(0, SIZES, limit).held_out for limit in limits]

    assert 0.4 < np.mean(held) < 0.6
    assert not any(curve(0, SIZES, limit, by_recipe=False).held_out for limit in limits)


def test_the_fit_gives_less_noise_no_weight_against_a_finding() -> None:
    rng = np.random.default_rng(1)
    odds, quiet = rng.normal(size=(2, 2000))
    right = rng.random(2000) < 1 / (1 + np.exp(quiet - odds))
    table = pd.DataFrame(
        {"file": "one", "held_out": False, "right": right, "constant": 1.0, "log_odds": odds,
         "no_repeats": 0.0, "quiet_no_repeats": quiet}
    )  # fmt: skip

    weights = fit(table)

    assert weights["quiet_no_repeats"] == 0
    assert weights["log_odds"] > 0.5
    assert all(weights[name] >= 0 for name in NEVER_NEGATIVE)


@pytest.mark.parametrize(
    ("time", "is_cliff"),
    [
        (np.where(SIZES >= 16384, 20.0, 10.0), True),
        (np.where(SIZES >= 16384, 14.0, 10.0), False),  # too small
        (np.where(SIZES >= 16384, 5.0, 10.0), True),
        # What doubles the time is taken back by another change between the same two sizes.
        (np.where(SIZES >= 16384, 10.5, 10.0), False),
        (SIZES, False),  # the slopes beside it explain it
    ],
)
def test_a_cliff_is_what_two_neighbouring_sizes_show(time: np.ndarray, is_cliff: bool) -> None:
    one = curve(16384, time)
    one.effect = 1.0

    assert one.is_cliff is is_cliff


def test_a_cliff_is_more_than_the_noise() -> None:
    one = curve(16384, np.where(SIZES >= 16384, 20.0, 10.0))
    one.effect, one.error = 1.0, np.full(len(SIZES), 0.1)
    noisy = curve(16384, one.time)
    noisy.effect, noisy.error = 1.0, np.full(len(SIZES), 0.1)
    noisy.error[14] = 0.5

    assert one.is_cliff
    assert not noisy.is_cliff
