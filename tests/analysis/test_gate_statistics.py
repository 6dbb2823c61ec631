"""The gate's statistics on series of nights whose truth is known."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from switchpoint import Store, gate
from switchpoint.gating.baseline import Series, TestResult, compare
from switchpoint.gating.by_session import LaunchesBySession, launches_by_session
from switchpoint.gating.drift import correlation_beside_trend, drifts
from switchpoint.gating.factors import Group, groups_of
from switchpoint.gating.levels import began, levels, normal_sessions
from switchpoint.gating.parameters import Parameters
from switchpoint.gating.search import Evidence, Search
from switchpoint.tables.student import t975
from synthetic_nights import Curve, Truth, add_nights

DAYS = [f"2026-11-{day:02}T02:00:00.000000Z" for day in range(1, 31)]


def nights(count: int, seed: int, scatter: float = 0.02, alike: float = 0.0) -> np.ndarray:
    """A series of nights, neighbours correlated by `alike`."""
    values = np.random.default_rng(seed).normal(0, 1, count)
    for night in range(1, count):
        values[night] = alike * values[night - 1] + np.sqrt(1 - alike**2) * values[night]
    return scatter * values


def judge(series: np.ndarray) -> TestResult:
    """Compare the last night of series that scatter alike."""
    series = np.atleast_2d(series)
    every = np.ones(series.shape, dtype=bool)
    return compare(
        Series(LaunchesBySession.single(series), every, np.zeros(len(series), dtype=int))
    )


def judge_launches(each: np.ndarray) -> TestResult:
    """Compare the last night of similar series; one value for each series, night and launch."""
    series, night = (index.ravel() for index in np.indices(each.shape)[:2])
    shape = each.shape[:2]
    launches = launches_by_session(series, night, each.ravel(), shape)
    return compare(Series(launches, np.ones(shape, dtype=bool), np.zeros(len(each), dtype=int)))


def test_students_t_is_close_to_its_tables() -> None:
    freedom = np.array([3.0, 5.0, 10.0, 30.0])
    np.testing.assert_allclose(t975(freedom), [3.182, 2.571, 2.228, 2.042], rtol=0.015)


@pytest.mark.parametrize("history", [2, 3, 5, 10, 30])
@pytest.mark.parametrize("alike", [0.0, 0.4])
def test_chance_is_as_probable_as_the_gate_says(history: int, alike: float) -> None:
    """Of 2,400 quiet series, hardly more than 1 % have a probability of 1 %."""
    p = [
        judge(np.stack([nights(history + 1, 100 * seed + one, alike=alike) for one in range(24)])).p
        for seed in range(100)
    ]

    assert np.mean(np.concatenate(p) < 0.01) < 0.02
    assert np.mean(np.concatenate(p) < 0.001) < 0.004


def test_a_change_under_the_scatter_of_a_night_is_seen_in_several() -> None:
    first, eighth = [], []
    for seed in range(20):
        series = nights(38, seed, scatter=0.03)
        series[30:] += 0.07
        first.append(judge(series[:31]).p[0])
        eighth.append(judge(series).p[0])

    assert np.median(eighth) < 4e-3 < 2e-2 < np.median(first)


def test_a_small_change_is_sure_within_a_week_where_nights_scatter_little() -> None:
    """What is usual at any site does not make a history of a month less certain."""
    for seed in range(10):
        series = np.stack([nights(37, 10 * seed + one, scatter=0.004) for one in range(6)])
        series[0, 30:] += 0.02

        p = judge(series).p

        assert p[0] < 1e-6 < 1e-3 < p[1:].min()


def test_nights_that_are_like_those_before_are_no_change() -> None:
    """Seven nights are not seven replicates if each is like the one before it."""
    for seed in range(40):
        series = np.stack([nights(37, 10 * seed + one, alike=0.8) for one in range(6)])
        assert judge(series).p.min() > 1e-4


def test_one_disturbed_session_hides_no_change() -> None:
    calm = nights(31, 1)
    calm[-1] = 0.3
    disturbed = calm.copy()
    disturbed[12] = 0.3

    assert judge(calm).p[0] < 1e-5
    assert judge(disturbed).p[0] < 1e-5


def test_sessions_after_a_disturbed_one_are_no_change() -> None:
    """The median of the newest sessions does not keep what one of them was."""
    p = []
    for seed in range(100):
        series = nights(32, seed, scatter=0.03)
        series[-1 - seed % 5 - 1] += 0.4
        p.append(judge(series).p[0])

    assert np.mean(np.array(p) < 0.01) <= 0.03


def test_launches_that_are_slow_by_chance_are_no_change() -> None:
    """Three in a hundred are slow, so two of three in about one session of 400."""
    rng = np.random.default_rng(1)
    each = rng.normal(0, 0.01, (200, 31, 3))
    slow = rng.random(each.shape) < 0.03
    slow[:, -1] = False
    calm = each.copy()
    slow[0, -1] = [True, False, True]
    each[slow] += 0.2
    calm[0, -1] += [0.2, 0.0, 0.2]

    p = judge_launches(each).p
    assert 1e-3 < p[0] < 3e-2
    assert p.min() > 1e-5
    assert judge_launches(calm).p[0] < 1e-9  # where no launch ever was slow, two are a surprise


def test_launches_that_are_all_slow_night_after_night_are_a_change() -> None:
    rng = np.random.default_rng(2)
    each = rng.normal(0, 0.01, (200, 31, 3))
    slow = rng.random(each.shape) < 0.03
    slow[0] = False
    each[slow] += 0.2
    each[0, -1] += 0.2
    first = judge_launches(each).p[0]
    each[0, -2] += 0.2
    second = judge_launches(each).p[0]

    assert second < 1e-6 < first < 1e-3


def test_one_launch_of_two_that_is_far_off_is_no_change() -> None:
    each = np.random.default_rng(6).normal(0, 0.01, (20, 31, 2))
    each[0, -1] = [0.0, 0.4]
    each[1, -1] += 0.4

    one, both = judge_launches(each).p[:2]

    assert both < 1e-6 < 0.05 < one


def test_a_night_with_one_launch_far_off_is_near_the_others() -> None:
    rng = np.random.default_rng(4)
    each = rng.normal(0, 0.01, (1, 31, 3))
    each[0, -1] = [0.0, 0.01, 0.8]

    series, night = (index.ravel() for index in np.indices(each.shape)[:2])
    nightly = launches_by_session(series, night, each.ravel(), each.shape[:2]).per_session

    assert abs(nightly[0, -1]) < 0.02


def test_a_change_of_the_small_messages_of_a_group_is_seen_in_them() -> None:
    curves, segments = 4, 3
    table = pd.DataFrame(
        [
            {"curve": curve, "metric": "latency", "segment": curve * segments + segment,
             "first_size_bytes": 1024**segment, "last_size_bytes": 1024 ** (segment + 1) - 1,
             "smallest_bytes": 1, "largest_bytes": 1024**segments - 1}
            for curve in range(curves) for segment in range(segments)
        ]
    )  # fmt: skip
    series = np.stack([nights(30, seed) for seed in range(len(table))])
    series[:, -1] = np.where(table["first_size_bytes"] == 1, 0.05, 0.0)
    launches = LaunchesBySession.single(series)
    judged = judge(series)
    group = Group({"placement": "one_node"}, np.arange(curves))
    evidence = Evidence(
        Parameters(table, launches),
        judged,
        np.zeros(len(table), dtype=int),
        [group],
        np.zeros(0),
        {"latency": 0.03},
        0.01,
        settled_after=14,
    )
    found = Search(evidence).changes()

    assert len(found) == 1
    assert found[0].curves.tolist() == [0, 1, 2, 3]
    assert (table["first_size_bytes"].to_numpy()[found[0].rows] == 1).all()
    assert found[0].effect == pytest.approx(0.05, abs=0.01)


def latency_of_placements(seed: int, slower: float) -> list[frozenset[int]]:
    """Judge the fourth session of 36 curves, of which one placement is slower; return who changed.

    Each curve has two segments. The sessions of a placement are alike.
    """
    rng = np.random.default_rng(seed)
    places = itertools.product(["a", "b", "c"], ["mpich", "openmpi"], ["send", "ssend"], "123")
    curves = pd.DataFrame(places, columns=["placement", "mpi", "mode", "nodes"])
    placement = np.repeat(np.arange(3), 12)
    of_curves = rng.normal(0, 0.006, (3, 4))[placement] + rng.normal(0, 0.018, (36, 4))
    of_curves[placement == 1, -1] += np.log1p(slower)
    table = pd.DataFrame(
        {
            "curve": np.repeat(np.arange(36), 2),
            "metric": "latency",
            "first_size_bytes": np.tile([1, 2048], 36),
            "last_size_bytes": np.tile([1024, 65536], 36),
        }
    )
    series = of_curves[table["curve"]] + rng.normal(0, 0.003, (72, 4))
    launches = LaunchesBySession.single(series)
    alike = placement[table["curve"]]
    evidence = Evidence(
        Parameters(table, launches),
        compare(Series(launches, normal_sessions(series, 14), alike)),
        alike,
        groups_of(curves, [frozenset()] * 36),
        rng.random(700),
        {"latency": np.log1p(0.05)},
        0.01,
        settled_after=14,
    )
    return [frozenset(change.curves.tolist()) for change in Search(evidence).changes()]


def test_a_slower_placement_is_found_after_three_sessions() -> None:
    """They tell how much placements scatter, though not how much each one does."""
    found = [latency_of_placements(seed, 0.12) for seed in range(20)]

    assert sum([frozenset(range(12, 24))] == changed for changed in found) >= 15
    assert all(curves <= frozenset(range(12, 24)) for changed in found for curves in changed)


def test_four_quiet_sessions_show_nothing() -> None:
    assert not any(latency_of_placements(seed, 0.0) for seed in range(50))


def test_levels_are_found_and_single_nights_are_not_levels() -> None:
    steps = nights(30, 2)
    steps[18:] += 0.15
    burst = nights(30, 3)
    burst[12] += 0.6

    [found, alone] = levels(np.stack([steps, burst]))

    assert found == [0, 18, 30]
    assert alone == [0, 30]


def test_quiet_nights_have_one_level() -> None:
    series = np.stack([nights(30, seed, alike=0.3) for seed in range(250)])

    assert np.mean([len(edges) > 2 for edges in levels(series)]) <= 0.06


def test_nights_of_a_new_level_are_normal_after_a_while() -> None:
    series = nights(31, 4)[None]
    series[:, 24:] += 0.15
    assert normal_sessions(series, 14)[0].tolist() == [True] * 24 + [False] * 7
    assert normal_sessions(series, 5)[0].tolist() == [False] * 24 + [True] * 6 + [False]


def test_a_level_that_went_away_is_not_normal() -> None:
    series = nights(31, 4)[None]
    series[:, 10:17] += 0.15

    assert normal_sessions(series, 14)[0].tolist() == [True] * 10 + [False] * 21


def test_the_date_of_a_change_comes_with_an_interval() -> None:
    series = nights(30, 5)
    series[21:] += 0.1

    assert began(series, DAYS) == (DAYS[21], DAYS[21], DAYS[21])
    vague = nights(30, 6, scatter=0.05)
    vague[21:] += 0.06
    first, low, high = began(vague, DAYS)
    assert low < high and low <= first <= high
    assert began(series[:3], DAYS) == ()


def test_a_drift_is_told_from_a_step_and_from_chance() -> None:
    rising = nights(30, 7) + np.linspace(0, 0.2, 30)
    step = nights(30, 8) + 0.2 * (np.arange(30) >= 15)

    calm = [nights(30, seed) for seed in range(300, 320)]
    series = np.stack([rising, step, *calm])
    [(row, found)] = drifts(series, np.zeros(len(series), dtype=int), 0.001).items()
    assert row == 0 and found.low < 0.2 < found.high and abs(found.rise - 0.2) < 0.05
    assert found.p < 3e-5
    chance = np.stack([nights(30, seed, alike=0.5) for seed in range(100, 200)])
    assert len(drifts(chance, np.arange(100), 3e-5)) <= 1


def test_a_slow_drift_is_one_finding(tmp_path: Path) -> None:
    def change(curve: Curve, truth: Truth) -> Truth:
        if curve.placement != "two_nodes_one_host":
            return truth
        return replace(truth, latency_us=truth.latency_us * 1.008**curve.night)

    store = Store(tmp_path / "store")
    add_nights(store, range(20), change=change)

    [found] = gate(store).findings.to_dict("records")

    assert (found["kind"], found["metric"]) == ("slow_drift", "latency")
    assert found["shared"]["placement"] == "two_nodes_one_host" and found["fails"]
    assert "little by little over 20 sessions" in found["sentence"]


def test_a_slow_drift_of_one_curve_is_found_soon(tmp_path: Path) -> None:
    def change(curve: Curve, truth: Truth) -> Truth:
        if (curve.placement, curve.environ, curve.mode) != ("one_node", "mpich", "send"):
            return truth
        return replace(truth, latency_us=truth.latency_us * 1.0025 ** max(curve.night - 10, 0))

    store = Store(tmp_path / "store")
    add_nights(store, range(32), change=change)

    found = [
        finding
        for night in range(26, 32)
        for finding in gate(store, f"night-{night:03}").findings.to_dict("records")
    ]

    drifts = [one for one in found if one["kind"] == "slow_drift"]
    assert drifts and len(drifts) == len(found)
    for one in drifts:
        assert one["fails"] and one["metric"] == "latency" and len(one["curves"]) == 1
        assert {"placement": "one_node", "environ": "mpich", "mode": "send"}.items() <= one[
            "curves"
        ][0].items()


def test_nights_that_are_alike_are_no_drift() -> None:
    series = np.stack([nights(30, seed, alike=0.5) for seed in range(2000)])
    rising = nights(30, 1, alike=0.5) + np.linspace(0, 0.2, 30)

    group = np.zeros(len(series) + 1, dtype=int)
    alike = correlation_beside_trend(series, group[1:])
    found = drifts(np.r_[series, rising[None]], group, 1.35e-3)

    assert abs(np.median(alike) - 0.5) < 0.1
    assert len(series) in found and len(found) <= 3  # 2.7 of the others by chance


def test_a_change_that_nobody_accepted_stays_a_finding(tmp_path: Path) -> None:
    def change(curve: Curve, truth: Truth) -> Truth:
        late = curve.night >= 8 and curve.placement == "one_node"
        return replace(truth, latency_us=1.3 * truth.latency_us) if late else truth

    store = Store(tmp_path / "store")
    add_nights(store, range(14), change=change)

    for night in range(8, 14):
        [found] = gate(store, f"night-{night:03}").findings.to_dict("records")
        assert (found["kind"], found["shared"]["placement"]) == ("regression", "one_node")
        assert found["since_utc"].startswith("2026-11-09")


@pytest.mark.parametrize("since", [1, 2, 4])
def test_an_interval_is_not_that_of_sessions_before_the_change(since: int) -> None:
    rng = np.random.default_rng(5100 + since)
    nightly = rng.normal(0, 0.01, (300, 30 + since))
    nightly[:, 30:] += 0.1
    every = np.ones(nightly.shape, dtype=bool)
    test = compare(Series(LaunchesBySession.single(nightly), every, np.arange(300) // 20))

    low, high = test.interval()

    assert 0.9 <= np.mean((low <= 0.1) & (high >= 0.1)) <= 0.99
    assert np.median(test.p) < 1e-6


def test_what_a_series_often_does_is_how_it_scatters() -> None:
    rng = np.random.default_rng(51)
    nightly = rng.normal(0, 0.01, (2, 31))
    nightly[0, [7]] += 0.3  # once a month: a finding each time
    nightly[1, [3, 9, 14, 22]] += 0.3
    nightly[:, -1] = 0.3
    every = np.ones(nightly.shape, dtype=bool)

    rare, often = compare(Series(LaunchesBySession.single(nightly), every, np.arange(2))).p

    assert rare < 1e-6 and often > 1e-3
