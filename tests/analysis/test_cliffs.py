"""No cliff is missed: steps of kinds that were missed once, each as many curves with fixed seeds.

The figures are those of real curves: times in microseconds, sizes in bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest import curve_table
from switchpoint import detect
from switchpoint.detection.launches import detect_launches

OCTAVES = 2.0 ** np.arange(22)
THIRDS = np.unique((2.0 ** (np.arange(61) / 3)).astype(int)).astype(float)

#: Curves of each class.
CURVES = 60


@dataclass
class Known:
    """A curve whose steps are known: its sizes, its times without noise, and the steps' places."""

    size: np.ndarray
    time: np.ndarray
    steps: list[int]
    noise: float = 0.02
    repeats: int = 5

    def samples(self, rng: np.random.Generator) -> pd.DataFrame:
        """Repeats with noise; one sample in fifty was disturbed and took up to four times."""
        shape = self.repeats, len(self.size)
        factors = np.exp(self.noise * rng.standard_t(6, shape))
        factors *= np.where(rng.random(shape) < 0.02, rng.uniform(1.2, 4, shape), 1)
        return pd.DataFrame(
            {
                "size_bytes": np.tile(self.size.astype(int), self.repeats),
                "pass": np.repeat(np.arange(self.repeats), len(self.size)),
                "sample": 0,
                "iterations": 1,
                "time_us": (self.time * factors).ravel(),
            }
        )

    def bracket(self, step: int) -> tuple[float, float]:
        """The sizes on both sides of a step."""
        return self.size[step - 1], self.size[step]


def usual(rng: np.random.Generator) -> tuple[float, int]:
    """Noise and repeats that occur."""
    return float(rng.choice([0.01, 0.02, 0.04])), int(rng.choice([3, 5, 10]))


def hockney(rng: np.random.Generator, size: np.ndarray) -> np.ndarray:
    """A line with some latency and some time per byte."""
    return np.exp(rng.uniform(-1, 4)) + np.exp(rng.uniform(-9, -5)) * size


def a_byte_apart(rng: np.random.Generator) -> Known:
    """0.34 to 2.10 us between 4,095 and 4,096 B, among sizes one byte apart.

    The sizes beside the step deviate by more than the noise, as at the edge of a page.
    """
    around = int(rng.integers(1, 9))
    at = 2.0 ** rng.integers(8, 17)
    size = np.unique(np.r_[[OCTAVES, THIRDS][rng.integers(2)], at + np.arange(-around, around)])
    size = size[size > 0]
    first = int(np.searchsorted(size, at))
    time = np.where(size >= at, 1.9 + 0.2 * size / at, 0.22 + 0.12 * size / at)
    time[first - 1 : first + 1] *= 1 + rng.choice([-1, 1], 2) * rng.uniform(0.05, 0.2, 2)
    return Known(size, time, [first], *usual(rng))


def into_the_link(rng: np.random.Generator) -> Known:
    """9.9 to 34.7 us within an octave, to where the link limits: time proportional to bytes."""
    first = int(rng.integers(6, 17))
    link = OCTAVES * 34.7 / OCTAVES[first] * rng.uniform(0.97, 1.03)
    before = 9.9 * rng.uniform(0.8, 1.2) * (1 + rng.uniform(0, 0.3) * OCTAVES / OCTAVES[first])
    return Known(OCTAVES, np.where(OCTAVES[first] <= OCTAVES, link, before), [first], *usual(rng))


def beside_another(rng: np.random.Generator) -> Known:
    """Two steps up, one to three sizes apart."""
    size = [OCTAVES, THIRDS][rng.integers(2)]
    first = int(rng.integers(6, len(size) - 8))
    second = first + int(rng.integers(1, 4))
    rises = 1 + rng.uniform(0.6, 1.5, 2)
    place = np.arange(len(size))
    time = hockney(rng, size) * np.where(place >= first, rises[0], 1)
    return Known(size, time * np.where(place >= second, rises[1], 1), [first, second], *usual(rng))


def near_the_end(rng: np.random.Generator) -> Known:
    """73 to 144 us within the last three sizes."""
    size = [OCTAVES, THIRDS][rng.integers(2)]
    first = len(size) - int(rng.integers(1, 4))
    slow = 1 + rng.uniform(0.8, 1.2)
    time = hockney(rng, size) * np.where(np.arange(len(size)) >= first, slow, 1)
    return Known(size, time, [first], *usual(rng))


def three_repeats(rng: np.random.Generator) -> Known:
    """A step on powers of two, from three repeats."""
    first = int(rng.integers(4, len(OCTAVES) - 4))
    change = rng.choice([0.6, 1.5, 1.7, 2.0, 3.0])
    time = hockney(rng, OCTAVES) * np.where(OCTAVES[first] <= OCTAVES, change, 1)
    return Known(OCTAVES, time, [first], usual(rng)[0], 3)


def found(make: Callable[[np.random.Generator], Known]) -> tuple[float, float]:
    """Shares of all steps that lie in a reported bracket, and that are a step exactly there."""
    rng = np.random.default_rng(14)
    known = [make(rng) for _ in range(CURVES)]
    table = pd.concat([one.samples(rng).assign(curve=str(n)) for n, one in enumerate(known)])
    findings = detect(table.astype({"curve": "category"}))
    within, exact = [], []
    for number, one in enumerate(known):
        mine = findings[findings["curve"] == str(number)]
        low, high = mine["last_size_before"], mine["size_bytes"]
        for step in one.steps:
            last, first = one.bracket(step)
            within.append(bool(((low <= last) & (high >= first)).any()))
            here = (low == last) & (high == first) & (mine["kind"] == "step")
            exact.append(bool(here.any()))
    return float(np.mean(within)), float(np.mean(exact))


@pytest.mark.parametrize(
    "make", [a_byte_apart, into_the_link, beside_another, near_the_end, three_repeats]
)
def test_a_cliff_is_reported_as_a_step_where_it_is(make: Callable[..., Known]) -> None:
    within, exact = found(make)

    assert within >= 0.98
    assert exact >= 0.95


def stairs(rng: np.random.Generator) -> Known:
    """Up and down by half or more, several times, by at least three times the noise."""
    size = [OCTAVES, THIRDS][rng.integers(2)]
    time = hockney(rng, size)
    steps = [place for place in range(4, len(size) - 3) if rng.random() < 0.1]
    for step in steps:
        change = 1.6 if rng.random() < 0.5 else 1 / 1.6
        time = time * np.where(np.arange(len(size)) >= step, change, 1)
    return Known(size, time, steps, *usual(rng))


def test_what_anyone_sees_in_the_table_of_times_lies_in_a_reported_bracket() -> None:
    rng = np.random.default_rng(15)
    missed = []
    for _ in range(CURVES):
        known = stairs(rng)
        table = known.samples(rng)
        findings = detect(table)
        time = table.groupby("size_bytes")["time_us"].median().to_numpy()
        for place in range(1, len(time)):
            rises = time[place] / time[place - 1]
            # More than in proportion to the bytes, or down: no slope explains it.
            if max(rises / (known.size[place] / known.size[place - 1]), 1 / rises) < 2:
                continue
            last, first = known.bracket(place)
            low, high = findings["last_size_before"], findings["size_bytes"]
            beside = (low <= last) & (high >= first) | (high == last)  # an outlier just before
            missed += [(last, first)] * (not beside.any())
    assert missed == []


def test_a_single_size_at_the_end_is_reported_with_its_doubt() -> None:
    rng = np.random.default_rng(16)
    for first in (len(THIRDS) - 1, len(THIRDS) - 20):
        time = (2 + 3e-4 * THIRDS) * np.where(np.arange(len(THIRDS)) >= first, 1.9, 1)
        [found] = detect(Known(THIRDS, time, [first]).samples(rng)).to_dict("records")
        assert (found["last_size_before"], found["size_bytes"]) == Known(THIRDS, time, []).bracket(
            first
        )
        assert ("caveat" in found["evidence"]) == (first == len(THIRDS) - 1)


@pytest.mark.parametrize("place", [0, len(THIRDS) - 1])
@pytest.mark.parametrize("repeats", [1, 5])
def test_a_single_size_at_an_end_that_no_step_makes_so_slow_is_an_outlier(
    place: int, repeats: int
) -> None:
    time = (2 + 3e-4 * THIRDS) * np.where(np.arange(len(THIRDS)) == place, 14, 1)
    [found] = detect(curve_table(THIRDS, time, 0.02, 21, repeats)).to_dict("records")

    assert (found["kind"], found["size_bytes"]) == ("outlier", THIRDS[place])
    assert 12 < found["magnitude"] < 14


def test_a_cliff_before_the_last_size_is_sure_if_another_launch_shows_it() -> None:
    time = (2 + 3e-4 * OCTAVES) * np.where(np.arange(len(OCTAVES)) == len(OCTAVES) - 1, 14, 1)
    found = two_launches(time, time)

    assert [(one["kind"], one["size_bytes"]) for one in found] == [("step", OCTAVES[-1])]
    assert found[0]["confidence"] > 0.8


def two_launches(first: np.ndarray, second: np.ndarray) -> list[dict[str, object]]:
    """What is found in the first of two launches of one curve on powers of two."""
    runs = zip("ab", (first, second), (22, 23), strict=True)
    table = pd.concat(
        curve_table(OCTAVES, time, 0.03, seed).assign(run_id=run) for run, time, seed in runs
    )
    findings = detect(table.astype({"run_id": "category"}))
    return findings[findings["run_id"] == "a"].to_dict("records")


def test_a_size_that_looks_odd_is_a_step_if_the_time_jumps_there_in_another_launch() -> None:
    # A regime of one size, 65,536 B, before another one: the lines on both sides meet by chance.
    line = 6 + 7e-4 * OCTAVES
    odd = line * np.where(OCTAVES == 65536, 1.9, 1)
    jump = line * np.where(OCTAVES >= 65536, 1.9, 1)
    disturbed, recurs, confirmed = (two_launches(odd, other) for other in (line, odd, jump))

    assert [(one["kind"], one["size_bytes"]) for one in disturbed] == [("outlier", 65536)]
    assert [(one["kind"], one["size_bytes"]) for one in recurs] == [
        ("step", 65536), ("step", 131072),
    ]  # fmt: skip
    assert ("step", 65536) in [(one["kind"], one["size_bytes"]) for one in confirmed]
    assert "outlier" not in [one["kind"] for one in confirmed]


@pytest.mark.parametrize("place", [2, len(THIRDS) - 3])
def test_a_step_beside_an_odd_size_is_reported_around_it(place: int) -> None:
    time = (2 + 3e-4 * THIRDS) * np.where(np.arange(len(THIRDS)) > place, 1.3, 1)
    time[place] *= 2.2

    odd, step = detect(curve_table(THIRDS, time, 0.01, 24)).to_dict("records")

    assert (odd["kind"], odd["size_bytes"]) == ("outlier", THIRDS[place])
    assert step["kind"] == "step"
    assert (step["last_size_before"], step["size_bytes"]) == (THIRDS[place - 1], THIRDS[place + 1])


def test_a_single_size_that_is_off_by_as_little_as_a_step_is_reported() -> None:
    time = (2 + 3e-4 * THIRDS) * np.where(np.arange(len(THIRDS)) == 30, 1.12, 1)

    [found] = detect(curve_table(THIRDS, time, 0.005, 25)).to_dict("records")

    assert (found["kind"], found["size_bytes"]) == ("outlier", THIRDS[30])
    assert found["magnitude"] == pytest.approx(0.12, abs=0.02)


def test_a_jump_is_not_the_slope_that_explains_the_next_jump() -> None:
    # Recorded between two nodes of one host on powers of two with three repeats: median times in
    # microseconds and their relative errors in percent.
    time = [6.02, 6.06, 6.11, 6.08, 6.08, 6.08, 6.11, 6.14, 6.18, 6.17, 6.19, 9.88, 10.17, 10.52,
            10.88, 12.31, 49.51, 176.47, 156.66, 273.22, 510.36]  # fmt: skip
    error = [1.2, 0.3, 2.2, 0.5, 0.8, 2.0, 0.5, 1.5, 1.7, 2.3, 0.7, 0.9, 0.6, 3.4, 0.9, 1.7, 5.5,
             10.0, 10.2, 0.5, 1.3]  # fmt: skip

    (found,) = detect_launches(OCTAVES[:21], [(np.array(time), np.array(error) / 100)])
    json.dumps(found)  # its numbers are Python's

    steps = [one["size_bytes"] for one in found if one["kind"] == "step"]
    assert {65536, 131072} <= set(steps)


def test_a_boundary_that_many_sizes_cannot_place_is_reported_between_them() -> None:
    size = np.linspace(1000, 100_000, 400).astype(int)
    time = (2 + 3e-4 * size) * np.where(size > 50_000, 1.08, 1)
    wide = 0
    for seed in range(10):
        found = detect(curve_table(size, time, 0.12, seed, 3)).to_dict("records")
        assert all(one["last_size_before"] < 54_000 and one["size_bytes"] > 46_000 for one in found)
        assert len(found) <= 1
        for one in found:
            first, last = np.searchsorted(size, [one["last_size_before"], one["size_bytes"]])
            wide += int(last - first > 9)
    assert wide >= 6


def test_a_wide_bracket_says_that_the_noise_hides_the_place() -> None:
    # The level of one of two sizes is uncertain, so that the step lies somewhere beside both.
    time = (2 + 1e-6 * OCTAVES) * np.where(OCTAVES >= 4096, 1.5, 1)
    error = np.where((OCTAVES == 2048) | (OCTAVES == 4096), 0.5, 0.01)

    ((found,),) = detect_launches(OCTAVES, [(time, error)])

    assert (found["last_size_before"], found["size_bytes"]) == (2048, 8192)
    assert "noise" in found["evidence"]["caveat"]


def test_a_jump_is_a_step_if_lines_that_meet_would_have_the_same_slope() -> None:
    # Recorded between two nodes of one host with an eager limit of 20,000 B: median times in
    # microseconds of two launches, and their relative errors in percent.
    noisy = [8.72, 8.92, 9.32, 10.25, 9.44, 10.44, 9.47, 9.71, 9.83, 9.74, 10.02, 15.36, 16.75,
             21.26, 24.65, 49.99, 76.17, 120.65, 193.05, 302.87, 656.70]  # fmt: skip
    quiet = [7.55, 7.10, 7.15, 7.64, 7.90, 7.87, 7.18, 7.01, 8.19, 7.34, 8.03, 12.59, 13.63,
             14.41, 15.24, 34.24, 49.71, 74.82, 105.14, 243.99, 464.59]  # fmt: skip
    errors = [[4.5, 4.3, 4.4, 3.5, 1.4, 3.6, 4.8, 6.0, 3.4, 1.9, 5.5, 8.1, 1.7, 4.0, 7.8, 8.7, 3.6,
               10.0, 7.9, 7.1, 6.9],
              [2.2, 0.9, 2.1, 2.4, 1.6, 4.0, 0.7, 1.6, 5.0, 1.0, 4.5, 1.6, 3.0, 4.4, 1.3, 0.7, 8.9,
               11.0, 17.0, 11.1, 4.0]]  # fmt: skip
    launches = [
        (np.array(time), np.array(error) / 100)
        for time, error in zip((noisy, quiet), errors, strict=True)
    ]
    for found in detect_launches(OCTAVES[:21], launches):
        brackets = [(one["last_size_before"], one["size_bytes"], one["kind"]) for one in found]
        assert (16384, 32768, "step") in brackets


def recorded(*launches: tuple[list[float], list[float]]) -> list[list[dict[str, Any]]]:
    """What is found in launches on powers of two: median times, and relative errors in percent."""
    arrays = [(np.array(time), np.array(error) / 100) for time, error in launches]
    return json.loads(json.dumps(detect_launches(OCTAVES[: len(launches[0][0])], arrays)))


def steps_in(findings: list[dict[str, Any]]) -> list[tuple[int, int]]:
    """The brackets of the steps."""
    return [
        (one["last_size_before"], one["size_bytes"]) for one in findings if one["kind"] == "step"
    ]


def test_where_lines_may_meet_or_jump_a_step_is_named_because_most_boundaries_are() -> None:
    # Recorded over loopback on powers of two with an eager limit of 98,369 B. The line of the four
    # last sizes meets the line of the two sizes before them at 97 kB.
    time = [6.41, 6.40, 6.49, 6.40, 6.50, 6.84, 6.49, 6.48, 6.56, 6.58, 6.52, 7.59, 7.84, 8.52,
            9.32, 13.31, 26.09, 41.78, 55.75, 88.20, 157.15]  # fmt: skip
    error = [0.2, 0.3, 1.1, 0.1, 0.0, 10.7, 0.7, 2.9, 0.1, 3.7, 2.7, 0.1, 0.8, 1.1, 2.6, 0.0, 0.0,
             1.4, 4.1, 1.8, 8.1]  # fmt: skip

    (found,) = recorded((time, error))

    assert (65536, 131072) in steps_in(found)
    (here,) = [one for one in found if one["size_bytes"] == 131072]
    assert "measure more sizes between 65,536 and 131,072 B" in here["evidence"]["caveat"]


def test_launches_share_whether_the_time_jumps_or_lines_meet() -> None:
    rng = np.random.default_rng(27)
    lines_meet = 10 + 1e-4 * np.minimum(THIRDS, 18500) + 6e-4 * np.maximum(THIRDS - 18500, 0)
    jump = lines_meet * np.where(THIRDS > 18000, 1.3, 1)
    error = np.full(len(THIRDS), 0.01)
    unsure, sure = (
        (time * np.exp(error * rng.standard_normal(len(THIRDS))), error)
        for time in (lines_meet, jump)
    )

    ((alone,),) = detect_launches(THIRDS, [unsure])
    together = detect_launches(THIRDS, [unsure, sure])

    assert alone["kind"] == "slope_change"
    assert 0.5 < alone["evidence"]["bend"] < 0.9
    assert [steps_in(found) for found in together] == [[(16384, 20642)]] * 2


def test_a_launch_puts_a_step_where_another_launch_puts_it() -> None:
    # Recorded over loopback on powers of two with an eager limit of 180,000 B. The first launch
    # shows the switch between 131,072 and 262,144 B, but its noise hides where it begins.
    noisy = [7.16, 6.96, 7.01, 7.14, 7.17, 7.36, 6.71, 7.01, 7.41, 7.48, 7.27, 8.68, 9.23, 10.27,
             11.70, 18.07, 29.83, 49.25, 70.81, 110.30, 222.41]  # fmt: skip
    quiet = [6.07, 6.19, 5.84, 5.64, 5.95, 5.65, 5.67, 6.14, 6.05, 5.71, 6.50, 7.39, 8.07, 8.83,
             10.29, 16.57, 25.36, 33.25, 63.01, 80.05, 153.12]  # fmt: skip
    errors = [[4.9, 4.7, 8.2, 4.6, 5.1, 8.1, 6.6, 4.5, 6.2, 6.6, 3.3, 3.5, 1.1, 2.7, 7.6, 7.7, 10.1,
               9.2, 6.5, 19.5, 26.1],
              [1.1, 3.7, 2.1, 1.5, 1.5, 2.3, 3.0, 3.5, 0.6, 1.5, 1.7, 2.2, 3.4, 2.0, 1.5, 1.5, 2.2,
               0.7, 1.5, 2.1, 8.2]]  # fmt: skip

    _, found = recorded((noisy, errors[0]), (quiet, errors[1]))

    assert (131072, 262144) in steps_in(found)


def test_two_sizes_between_two_steps_may_hide_another_one_and_the_findings_say_so() -> None:
    # Recorded over loopback on powers of two: a TCP segment ends at 65,461 B, and the eager limit
    # is 83,203 B. The time also jumps at the limit, but two sizes always lie on a line.
    time = [4.52, 4.47, 4.47, 4.49, 4.45, 4.53, 4.44, 4.46, 4.50, 4.49, 4.54, 4.59, 4.95, 5.20,
            5.64, 6.44, 16.22, 33.64, 43.63, 80.20, 179.44]  # fmt: skip
    error = [1.2, 0.1, 0.1, 0.6, 0.4, 0.6, 1.0, 0.3, 0.2, 0.7, 0.6, 0.9, 0.0, 0.2, 0.1, 1.0, 0.6,
             1.6, 0.0, 18.8, 2.3]  # fmt: skip

    (found,) = recorded((time, error))

    assert steps_in(found)[-2:] == [(32768, 65536), (131072, 262144)]
    for one, side in zip(found[-2:], ("after", "before"), strict=True):
        assert f"only two sizes lie {side} it" in one["evidence"]["caveat"]
        assert "between 65,536 and 131,072 B" in one["evidence"]["caveat"]


def test_a_table_without_repeats_is_less_sure() -> None:
    time = (2 + 3e-4 * OCTAVES) * np.where(OCTAVES >= 65536, 1.9, 1)
    once, often = (detect(curve_table(OCTAVES, time, 0.005, 17, repeats)) for repeats in (1, 10))

    assert once["size_bytes"].tolist() == often["size_bytes"].tolist() == [65536]
    assert once["confidence"][0] < often["confidence"][0] - 0.05


def test_a_larger_step_is_no_less_sure() -> None:
    sure = []
    for height in (0.08, 0.2, 0.6, 2.0):
        time = (2 + 3e-4 * THIRDS) * np.where(THIRDS >= 4096, 1 + height, 1)
        [found] = detect(curve_table(THIRDS, time, 0.005, 26, 10)).to_dict("records")
        sure.append(found["confidence"])
    assert sure == sorted(sure)


def test_a_step_that_cannot_be_placed_is_reported_with_the_bracket_that_can() -> None:
    rng = np.random.default_rng(18)
    exact = within = 0
    for _ in range(CURVES):
        time = (2 + 3e-4 * THIRDS) * np.where(THIRDS >= 8192, 1.5, 1)
        # One odd size at the step: it belongs to neither side.
        time[np.searchsorted(THIRDS, 8192)] *= 0.84
        for found in detect(Known(THIRDS, time, [], 0.03, 3).samples(rng)).to_dict("records"):
            bracket = found["last_size_before"], found["size_bytes"]
            exact += bracket == (6501, 8192)
            within += bracket[0] <= 6501 and bracket[1] >= 8192
    assert within >= 0.85 * CURVES
    assert exact < within


def test_a_single_odd_size_is_an_outlier_also_near_the_end() -> None:
    for place in (3, len(OCTAVES) - 2):
        time = (2 + 3e-4 * OCTAVES) * np.where(np.arange(len(OCTAVES)) == place, 30, 1)
        found = detect(curve_table(OCTAVES, time, 0.02, 19))
        assert found["kind"].tolist() == ["outlier"]
        assert found["size_bytes"].tolist() == [OCTAVES[place]]
        assert found["magnitude"][0] > 15


def test_a_finding_says_if_the_sizes_are_too_far_apart_to_tell_its_kind() -> None:
    # From 16,384 B on the link limits: its line passes near the time at 8,192 B, so the time may
    # jump after 8,192 B, or bend there.
    link = np.where(OCTAVES > 8192, 4.3e-3 * OCTAVES, 33 + 1e-4 * OCTAVES)
    jump = (2 + 3e-4 * OCTAVES) * np.where(OCTAVES > 8192, 2, 1)
    unsure, sure = (
        detect(curve_table(OCTAVES, time, 0.02, 20)).to_dict("records") for time in (link, jump)
    )

    assert len(unsure) == len(sure) == 1
    assert 0.1 < unsure[0]["evidence"]["bend"] < 0.9
    assert "measure more sizes between" in unsure[0]["evidence"]["caveat"]
    assert unsure[0]["last_size_before"] <= 8192
    assert unsure[0]["size_bytes"] >= 8192
    assert "caveat" not in sure[0]["evidence"]


def test_a_jump_after_a_single_size_is_measured_against_its_time() -> None:
    """A message of 0 B is often a little faster. What lines do beyond one size is not known."""
    size = np.array([0.0, *(2.0 ** np.arange(20))])
    time = 1 + size * 1e-4
    time[0] = 0.9

    (found,) = detect_launches(size, [(time, np.zeros(len(size)))])[0]

    assert (found["kind"], found["last_size_before"], found["size_bytes"]) == ("step", 0, 1)
    assert found["magnitude"] == pytest.approx(1 / 0.9 - 1, abs=0.01)
    assert found["evidence"]["jump_us"] == pytest.approx(0.1, abs=0.01)


def measured_once(time: np.ndarray) -> list[dict[str, Any]]:
    """What is found in one table of times on powers of two, with noise of 1 %."""
    return detect(curve_table(OCTAVES[: len(time)], time, 0.01, 31, 1)).to_dict("records")


def test_time_that_doubles_with_the_size_is_no_cliff_after_a_step_of_one_size() -> None:
    # A broadcast whose last two sizes follow another law: time in proportion to bytes.
    time = np.where(OCTAVES >= 131072, 600 + 6e-4 * OCTAVES, 8 + 3e-3 * OCTAVES)[:21]
    time[19:] = 4000, 8000

    assert steps_in(measured_once(time)) == [(65536, 131072), (262144, 524288)]


def test_a_cliff_is_judged_by_lines_that_end_at_the_boundaries_beside_it() -> None:
    time = np.where(OCTAVES >= 131072, 600 + 6e-4 * OCTAVES, 8 + 3e-3 * OCTAVES)[:21]
    time[19:] = 4000, 14000

    steps = [one for one in measured_once(time) if one["kind"] == "step"]

    assert steps_in(steps) == [(65536, 131072), (262144, 524288), (524288, 1048576)]
    assert steps[2]["evidence"]["before"]["first_size_bytes"] == 524288
    assert steps[2]["magnitude"] < 14000 / 4000 - 1
