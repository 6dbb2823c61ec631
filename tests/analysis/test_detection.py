"""Steps are found where they are, and not found where they are not."""

from __future__ import annotations

import itertools
import json
import tracemalloc
from collections.abc import Iterable

import numpy as np
import pandas as pd
import pytest
from conftest import RECORDS, SIZES, curve_table, write_record
from hypothesis import given, settings
from hypothesis import strategies as st
from switchpoint import detect, explain, read, summarise
from switchpoint.detection.divisions import Divisions
from switchpoint.detection.launches import MOST_SIZES, detect_launches
from switchpoint.detection.search import find_in_curves
from switchpoint.detection.segments import PieceTable
from switchpoint.tables.measurements import concat

OCTAVES = 2.0 ** np.arange(23)
THIRDS = np.array(SIZES, dtype=float)
NINTHS = np.unique((2.0 ** (np.arange(198) / 9)).astype(int)).astype(float)


def line(sizes: np.ndarray) -> np.ndarray:
    return 2.0 + 3e-4 * sizes


def steps_of(findings: pd.DataFrame) -> list[tuple[int, int]]:
    steps = findings[findings["kind"] == "step"]
    return list(zip(steps["last_size_before"], steps["size_bytes"], strict=True))


def detect_each(tables: Iterable[pd.DataFrame]) -> list[pd.DataFrame]:
    """Find what each of many curves shows; in one table they take a third of the time."""
    several = pd.concat([table.assign(curve=f"{at:03}") for at, table in enumerate(tables)])
    several["curve"] = several["curve"].astype("category")
    findings = detect(several)
    return [findings[findings["curve"] == curve] for curve in several["curve"].cat.categories]


# Real curves. The limits were set when they were recorded; Open MPI counts its header of 56 B.


@pytest.mark.parametrize(
    ("name", "bracket", "slower", "suspect"),
    [
        ("openmpi-network-limit-65536", (52016, 65536), True, "btl_tcp_eager_limit"),
        ("openmpi-network-limit-24000", (20643, 26008), True, "btl_tcp_eager_limit"),
        ("openmpi-memory-limit-4096", (3251, 4096), True, "btl_vader_eager_limit"),
        ("openmpi-memory-limit-9000", (8192, 10321), False, "btl_vader_eager_limit"),
        ("mpich-memory", (8192, 10321), True, "UCX_SYSV_SEG_SIZE"),
    ],
)
def test_the_end_of_the_eager_protocol_is_found_in_real_curves(
    name: str, bracket: tuple[int, int], slower: bool, suspect: str | None
) -> None:
    findings = detect(read(RECORDS / f"{name}.record.gz"))

    here = findings[
        (findings["kind"] == "step")
        & (findings["size_bytes"] == bracket[1])
        & (findings["mode"] == "send")
    ]
    assert here["last_size_before"].tolist() == [bracket[0]]
    assert (here["magnitude"].iloc[0] > 0.05) == slower
    assert here["evidence"].map(lambda evidence: evidence["real"]).between(0.5, 1).all()
    names = [entry["name"] for entry in here["suspects"].iloc[0]]
    assert (names[:1] or [None]) == [suspect]


def test_timing_alone_never_makes_a_protocol_switch() -> None:
    switches = [explain(read(path)) for path in RECORDS.glob("*.gz")]

    assert {kind for found in switches for kind in found["kind"]} == {"step"}


def test_a_suspect_predicts_both_sides_of_the_step() -> None:
    findings = detect(read(RECORDS / "openmpi-network-limit-65536.record.gz"))

    suspects = findings.set_index("size_bytes")["suspects"][65536]

    assert [(entry["name"], entry["last_size"], entry["first_size"]) for entry in suspects] == [
        ("btl_tcp_eager_limit", 65480, 65481),
        ("TCP segment on lo", 65461, 65462),
    ]


def test_a_setting_of_another_path_is_no_suspect(tmp_path) -> None:
    path = write_record(tmp_path / "run.record", step_at=4041)  # vader's limit, over the network

    findings = detect(read(path))

    assert steps_of(findings) == [(3250, 4096)]
    assert findings["suspects"].tolist() == [[]]


def test_a_limit_just_outside_the_bracket_is_no_suspect(tmp_path) -> None:
    sizes = sorted({*SIZES, 65480, 65481})
    inside = write_record(tmp_path / "inside.record", sizes=sizes, step_at=65481)
    before = write_record(tmp_path / "before.record", sizes=sizes, step_at=65480)

    assert steps_of(detect(read(inside))) == [(65480, 65481)]
    assert [entry["name"] for entry in detect(read(inside))["suspects"][0]] == [
        "btl_tcp_eager_limit"
    ]
    suspects = detect(read(before))["suspects"][0]
    assert "btl_tcp_eager_limit" not in [entry["name"] for entry in suspects]


# Curves whose truth is known, with fixed seeds.


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "noise", "height", "least"),
    [(OCTAVES, 0.01, 0.3, 95), (THIRDS, 0.03, 0.3, 97), (NINTHS, 0.03, 0.2, 97)],
    ids=["octaves", "thirds", "ninths"],
)
@pytest.mark.parametrize("sign", [1, -1], ids=["slower", "faster"])
def test_a_step_above_the_noise_is_found_in_its_bracket(
    sizes: np.ndarray, noise: float, height: float, least: int, sign: int
) -> None:
    rng = np.random.default_rng(1)
    places = rng.integers(4, len(sizes) - 4, 100)
    findings = detect_each(
        curve_table(
            sizes, line(sizes) * np.where(sizes >= sizes[first], 1 + sign * height, 1), noise, seed
        )
        for seed, first in enumerate(places)
    )
    found = sum(
        (sizes[first - 1], sizes[first]) in steps_of(shown)
        for first, shown in zip(places, findings, strict=True)
    )
    assert found >= least


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.01, 0.05, 0.2])
@pytest.mark.parametrize("sizes", [OCTAVES, THIRDS, NINTHS], ids=["octaves", "thirds", "ninths"])
def test_in_noise_alone_at_most_three_curves_in_a_hundred_show_something(
    sizes: np.ndarray, noise: float
) -> None:
    findings = detect_each(curve_table(sizes, line(sizes), noise, seed) for seed in range(100))

    assert sum(not shown.empty for shown in findings) <= 3


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [THIRDS, NINTHS], ids=["thirds", "ninths"])
def test_three_repeats_do_not_pass_for_knowing_the_noise(sizes: np.ndarray) -> None:
    findings = detect_each(
        curve_table(sizes, line(sizes), 0.05, seed, repeats=3) for seed in range(100)
    )

    assert sum(not shown.empty for shown in findings) <= 3


def test_two_steps_two_sizes_apart_are_both_found() -> None:
    times = 20 + 1e-3 * OCTAVES + 15 * (OCTAVES >= 2048) + 35 * (OCTAVES >= 8192)

    steps = steps_of(detect(curve_table(OCTAVES, times, 0.01, 13)))

    assert steps == [(1024, 2048), (4096, 8192)]


def test_a_step_that_the_fit_is_sure_of_is_reported_two_sizes_past_another() -> None:
    times = line(THIRDS) * np.where(THIRDS >= 32768, 1.4, 1) * np.where(THIRDS >= 52015, 1.3, 1)

    findings = detect_each(curve_table(THIRDS, times, 0.02, seed) for seed in range(100))
    found = [*map(steps_of, findings)]

    assert sum((41285, 52015) in steps for steps in found) >= 99


def test_magnitude_is_the_relative_change_of_time_with_its_sign() -> None:
    for height in (0.5, -0.3):
        times = line(THIRDS) * np.where(THIRDS >= 65536, 1 + height, 1)
        finding = detect(curve_table(THIRDS, times, 0.005, 3)).iloc[0]
        assert finding["magnitude"] == pytest.approx(height, abs=0.05)


def test_a_change_of_slope_without_a_jump_is_told_from_a_step() -> None:
    times = line(NINTHS) + np.maximum(NINTHS - 20000, 0) * 1.2e-3

    findings = detect(curve_table(NINTHS, times, 0.005, 4))

    assert findings["kind"].tolist() == ["slope_change"]
    assert 16000 < findings["size_bytes"][0] < 26000
    assert findings["magnitude"][0] > 0.25


@pytest.mark.parametrize("factor", [1.6, 0.6])
def test_one_size_that_is_off_is_an_outlier_and_no_step(factor: float) -> None:
    times = line(THIRDS)
    times[30] *= factor

    findings = detect(curve_table(THIRDS, times, 0.01, 5))

    assert findings["kind"].tolist() == ["outlier"]
    assert findings["size_bytes"].tolist() == [THIRDS[30]]
    assert findings["magnitude"][0] == pytest.approx(factor - 1, abs=0.05)
    assert findings["evidence"][0]["real"] > 0.99


def test_the_first_size_past_a_step_is_no_outlier() -> None:
    for seed in range(20):
        times = line(THIRDS) * np.where(THIRDS[30 + seed] <= THIRDS, 1.6, 1)
        kinds = set(detect(curve_table(THIRDS, times, 0.02, seed))["kind"])
        assert kinds == {"step"}


def test_sizes_one_byte_apart_make_no_step_of_their_own() -> None:
    sizes = np.unique([*THIRDS, *range(65470, 65490)])
    times = line(sizes) * np.where(sizes >= 65481, 1.4, 1)

    assert steps_of(detect(curve_table(sizes, times, 0.02, 6))) == [(65480, 65481)]


def test_a_pass_spoilt_by_another_job_changes_nothing() -> None:
    times = line(THIRDS) * np.where(THIRDS >= 65536, 1.4, 1)
    clean = curve_table(THIRDS, times, 0.01, 7)
    spoilt = clean.assign(time_us=clean["time_us"].where(clean["pass"] != 2, clean["time_us"] * 50))

    found = detect(spoilt)
    assert steps_of(found) == steps_of(detect(clean)) == [(52015, 65536)]
    [burst] = found[found["kind"] == "noise_burst"].to_dict("records")
    assert burst["evidence"]["passes"] == [2]
    assert burst["magnitude"] == pytest.approx(49, rel=0.05)


def test_a_burst_of_noise_comes_with_what_the_machine_did(tmp_path) -> None:
    path = write_record(tmp_path / "run.record", passes=5)
    lines = path.read_text().splitlines()
    slow = [
        ",".join([*row.split(",")[:-1], str(1.5 * float(row.split(",")[-1]))])
        if row.split(",")[2] == "3" and row.startswith("send") else row
        for row in lines
    ]  # fmt: skip
    path.write_text("\n".join(slow) + "\n")

    findings = detect(read(path))

    [burst] = findings[findings["kind"] == "noise_burst"]["evidence"]
    assert burst["passes"] == [3]
    assert burst["slower"] == [pytest.approx(0.5, abs=0.05)]
    assert burst["involuntary_switches"] == 0
    assert burst["load_before"] == 0.1


@pytest.mark.parametrize(
    "sizes", [[8], [8, 64], [8, 8, 8], [0], list(range(1, 6))],
    ids=["one", "two", "one repeated", "zero", "five"],
)  # fmt: skip
def test_too_few_sizes_give_no_finding(sizes: list[int]) -> None:
    assert detect(curve_table(sizes, np.full(len(sizes), 2.0), 0.1, 8)).empty


def test_a_constant_curve_gives_no_finding() -> None:
    assert detect(curve_table(THIRDS, np.full(len(THIRDS), 2.0), 0, 9)).empty


def test_a_curve_from_zero_bytes_is_read_like_any_other() -> None:
    sizes = np.array([0, *THIRDS])
    times = line(sizes) * np.where(sizes >= 65536, 1.4, 1)

    assert steps_of(detect(curve_table(sizes, times, 0.01, 10))) == [(52015, 65536)]


def test_no_samples_give_an_empty_table_with_its_columns() -> None:
    empty = curve_table([8], np.array([1.0]), 0, 1).iloc[:0]

    assert detect(empty).empty
    assert {"kind", "size_bytes", "confidence"} <= set(detect(empty))


# Several launches of one curve.


def launches(*tables: pd.DataFrame, **identity: str) -> pd.DataFrame:
    several = pd.concat(
        [table.assign(run_id=str(number), **identity) for number, table in enumerate(tables)]
    )
    return several.astype(dict.fromkeys(["run_id", *identity], "category"))


def steps_by_launch(findings: pd.DataFrame) -> list[list[tuple[int, int]]]:
    return [steps_of(findings[findings["run_id"] == launch]) for launch in ("0", "1")]


@pytest.mark.slow
def test_a_small_step_in_several_launches_is_found_more_often_than_in_one() -> None:
    times = line(OCTAVES) * np.where(OCTAVES >= 8192, 1.25, 1)
    tables = [curve_table(OCTAVES, times, 0.05, seed) for seed in range(80)]
    alone = sum((4096, 8192) in steps_of(shown) for shown in detect_each(tables))
    pairs = detect_each(launches(*tables[first : first + 2]) for first in range(0, 80, 2))
    together = sum((4096, 8192) in steps for pair in pairs for steps in steps_by_launch(pair))
    assert together >= alone + 10


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [OCTAVES, THIRDS], ids=["octaves", "thirds"])
def test_a_launch_without_the_step_of_another_shows_nothing(sizes: np.ndarray) -> None:
    first = len(sizes) * 3 // 5
    times = line(sizes) * np.where(sizes >= sizes[first], 1.5, 1)
    findings = detect_each(
        launches(
            curve_table(sizes, times, 0.05, seed),
            curve_table(sizes, line(sizes), 0.05, 1000 + seed),
        )
        for seed in range(100)
    )

    assert sum((shown["run_id"] == "1").any() for shown in findings) <= 3


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.01, 0.05, 0.2])
@pytest.mark.parametrize("sizes", [OCTAVES, THIRDS], ids=["octaves", "thirds"])
def test_launches_do_not_share_what_is_noise(sizes: np.ndarray, noise: float) -> None:
    findings = detect_each(
        launches(*(curve_table(sizes, line(sizes), noise, seed + launch) for launch in (0, 1)))
        for seed in range(0, 100, 2)
    )

    assert sum(shown["run_id"].nunique() for shown in findings) <= 3


def test_launches_whose_steps_differ_keep_each_its_own() -> None:
    times = [line(THIRDS) * np.where(at <= THIRDS, 1.4, 1) for at in (4096, 65536)]
    one, other = (curve_table(THIRDS, time, 0.01, seed) for seed, time in enumerate(times))

    findings = detect(launches(one, other))

    assert steps_by_launch(findings) == [[(3250, 4096)], [(52015, 65536)]]
    assert [evidence["launches"] for evidence in findings["evidence"]] == [1, 1]


def test_a_finding_says_how_many_launches_show_it_whatever_else_was_measured() -> None:
    times = line(THIRDS) * np.where(THIRDS >= 65536, 1.4, 1)
    tcp = launches(*(curve_table(THIRDS, times, 0.01, seed) for seed in range(3)), net="tcp")
    memory = launches(curve_table(THIRDS, times, 0.01, 3), net="memory")
    finer = curve_table(NINTHS, line(NINTHS), 0.01, 4).assign(run_id="3", net="tcp")

    findings = detect(pd.concat([memory, tcp, finer]))

    shown = findings.assign(launches=[evidence["launches"] for evidence in findings["evidence"]])
    assert shown.groupby("net")["launches"].apply(list).to_dict() == {
        "memory": [1], "tcp": [3, 3, 3],
    }  # fmt: skip


def test_no_launch_of_many_is_searched_alone(monkeypatch) -> None:
    times = line(OCTAVES) * np.where(OCTAVES >= 8192, 1.4, 1)
    several = launches(*(curve_table(OCTAVES, times, 0.01, seed) for seed in range(11)))

    findings = find_in_curves(several)

    shown = [evidence["launches"] for evidence in findings["evidence"]]
    assert sorted(shown) == [5] * 5 + [6] * 6
    monkeypatch.setattr("switchpoint.detection.search.CURVES_AT_ONCE", 3)
    pd.testing.assert_frame_equal(find_in_curves(several), findings)


# What must hold for every curve.

curve_values = st.lists(st.floats(0.1, 1e4), min_size=6, max_size=40)


@settings(deadline=None, max_examples=40)
@given(values=curve_values, power=st.integers(-10, 10))
def test_the_unit_of_time_changes_nothing(values: list[float], power: int) -> None:
    sizes = 2.0 ** (np.arange(len(values)) / 2 + 2) // 1
    table = curve_table(sizes, np.array(values), 0.02, 11)

    before = detect(table)
    after = detect(table.assign(time_us=table["time_us"] * 2.0**power))

    same = ["kind", "size_bytes", "last_size_before", "magnitude", "confidence"]
    pd.testing.assert_frame_equal(before[same], after[same], rtol=1e-6)


@settings(deadline=None, max_examples=40, derandomize=True)
@given(
    per_octave=st.sampled_from([1, 3, 9]),
    place=st.floats(0.3, 0.8),
    height=st.sampled_from([-0.4, 0.5, 1.0, 3.0]),
    latency=st.floats(0.2, 50),
    per_byte=st.floats(1e-5, 1e-2),
    seed=st.integers(0, 10**6),
)
def test_a_step_far_above_the_noise_is_found_wherever_it_is(
    per_octave: int, place: float, height: float, latency: float, per_byte: float, seed: int
) -> None:
    sizes = np.unique((2.0 ** (np.arange(20 * per_octave + 1) / per_octave)).astype(int))
    first = int(place * len(sizes))
    times = latency + per_byte * sizes
    times = times * np.where(np.arange(len(sizes)) >= first, 1 + height, 1)

    found = steps_of(detect(curve_table(sizes, times, 0.01, seed)))

    assert (sizes[first - 1], sizes[first]) in found


@settings(deadline=None, max_examples=40)
@given(values=curve_values, seed=st.integers(0, 1000))
def test_the_order_of_rows_changes_nothing(values: list[float], seed: int) -> None:
    sizes = 2.0 ** (np.arange(len(values)) / 2 + 2) // 1
    table = curve_table(sizes, np.array(values), 0.02, 12)

    same = ["kind", "size_bytes", "last_size_before", "magnitude", "confidence"]
    pd.testing.assert_frame_equal(
        detect(table)[same], detect(table.sample(frac=1, random_state=seed))[same]
    )


def every_division(sizes: int) -> list[tuple[int, ...]]:
    """The places of the boundaries in every division of some sizes into pieces."""
    places = range(1, sizes)
    return [
        chosen for count in range(sizes) for chosen in itertools.combinations(places, count)
    ]  # fmt: skip


@settings(deadline=None, max_examples=30)
@given(
    values=st.lists(st.floats(0.1, 1e4), min_size=5, max_size=8),
    odds=st.floats(-8, 2),
    likelier=st.integers(1, 4),
    width=st.integers(1, 3),
)
def test_probabilities_are_sums_over_every_division(
    values: list[float], odds: float, likelier: int, width: int
) -> None:
    n = len(values)
    table = PieceTable(2.0 ** np.arange(n), np.array(values), np.full(n, 0.05))
    before = np.full(n, odds)
    before[likelier] += 2

    found = Divisions(table.evidence, before)

    divisions = every_division(n)
    logs = np.array(
        [
            sum(before[place] for place in places)
            + sum(
                table.evidence[first, end - 1] for first, end in itertools.pairwise([0, *places, n])
            )
            for places in divisions
        ]
    )
    share = np.exp(logs - logs.max())
    share /= share.sum()
    for first in range(1, n - width + 1):
        bracket = set(range(first, first + width))
        within = sum(
            one for one, places in zip(share, divisions, strict=True) if bracket & {*places}
        )
        assert found.within(width)[first - 1] == pytest.approx(within, abs=1e-9)
    assert found.here[1:] == pytest.approx(found.within(1), abs=1e-9)


def test_a_line_steeper_than_any_message_is_worth_less_than_a_jump() -> None:
    sizes = np.array([1024, 2048, 4095, 4096, 8192, 16384], dtype=float)
    times = np.array([0.32, 0.33, 0.34, 2.10, 2.11, 2.12])

    evidence = PieceTable(sizes, times, np.full(6, 0.02)).evidence

    jump = evidence[0, 2] + evidence[3, 5]
    ramp = evidence[0, 1] + evidence[2, 3] + evidence[4, 5]
    assert jump > ramp + 10


# Between curves.


def placed(placement: str, factor: float, seed: int, **identity: str) -> pd.DataFrame:
    times = line(THIRDS) * np.where((THIRDS > 1000) & (THIRDS < 60000), factor, 1)
    table = curve_table(THIRDS, times, 0.01, seed)
    names = {"placement": placement, "run_id": f"{placement}{seed}"} | identity
    return table.assign(**names).astype(dict.fromkeys(names, "category"))


def test_a_nearer_placement_that_is_slower_is_an_inversion() -> None:
    near = placed("one_node_network", 2.5, 1)
    far = placed("two_nodes_two_hosts", 1.0, 2)
    unknown = placed("elsewhere", 0.5, 3)

    findings = detect(pd.concat([near, far, unknown]))

    [found] = findings[findings["kind"] == "placement_inversion"].to_dict("records")
    assert (found["placement"], found["last_size_before"], found["size_bytes"]) == (
        "one_node_network", 812, 1024,
    )  # fmt: skip
    assert found["evidence"]["last_size_bytes"] == 52015
    assert found["evidence"]["other"]["placement"] == "two_nodes_two_hosts"
    assert found["magnitude"] == pytest.approx(1.5, rel=0.05)
    assert found["confidence"] > 0.9


def test_a_difference_that_launches_have_without_a_cause_is_not_sure() -> None:
    near, far = placed("one_node", 1.1, 1), placed("two_nodes_one_host", 1.0, 2)

    findings = detect(pd.concat([near, far]))

    assert findings.loc[findings["kind"] == "placement_inversion", "confidence"].max() < 0.5


def test_synchronous_sends_that_are_faster_are_an_inversion() -> None:
    same = {"run_id": "one"}
    slow = placed("one_node", 1.3, 1, mode="send", **same)
    fast = placed("one_node", 1.0, 2, mode="ssend", **same)

    findings = detect(pd.concat([slow, fast]))

    [found] = findings[findings["kind"] == "mode_inversion"].to_dict("records")
    assert (found["mode"], found["evidence"]["other"]) == ("send", {"mode": "ssend"})
    assert found["size_bytes"] == 1024
    assert found["confidence"] > 0.99


def test_directions_that_differ_are_an_asymmetry() -> None:
    there = placed("two_nodes_one_host", 2.0, 1, **{"from": "a1", "to": "a2"})
    back = placed("two_nodes_one_host", 1.0, 2, **{"from": "a2", "to": "a1"})

    findings = detect(pd.concat([there, back]))

    [found] = findings[findings["kind"] == "asymmetry"].to_dict("records")
    assert (found["from"], found["evidence"]["other"]) == ("a1", {"from": "a2", "to": "a1"})


def test_a_line_that_wild_sizes_aim_below_zero_makes_no_outlier() -> None:
    # What IMB printed on contended cores, from 1 B on.
    times = [
        0.18, 0.18, 0.18, 0.18, 0.18, 0.20, 0.19, 0.26, 0.56, 0.27, 0.39, 0.42, 11.50, 1.27, 22.29,
        15.33, 7.24, 49.54, 180.48, 124.29, 139.68, 449.33, 2003.44,
    ]  # fmt: skip
    curve = curve_table(OCTAVES.astype(int), np.array(times), 0.0, seed=1, repeats=1)

    findings = detect(curve)

    assert (findings["magnitude"] > -1).all()


def test_many_curves_on_all_cores_give_what_few_give_alone(monkeypatch) -> None:
    several = pd.concat([placed("one_node", 1.0 + 0.2 * (n % 4), n) for n in range(12)])
    alone = detect(several)
    monkeypatch.setattr("switchpoint.detection.search.CURVES_AT_ONCE", 5)
    monkeypatch.setattr("switchpoint.detection.search.WORTH_A_POOL", 10)
    done = []

    pd.testing.assert_frame_equal(detect(several, lambda: done.append(1)), alone)
    assert len(done) == 12


# Where steps come from.


def test_the_inline_limit_is_guessed_with_its_evidence() -> None:
    findings = detect(read(RECORDS / "openmpi-memory-limit-4096.record.gz"))

    origin = findings.set_index("size_bytes")["origin"][323]

    assert origin["guess"] == "inline_limit"
    assert "btl_vader_max_inline_send = 256" in origin["evidence"][0]
    assert findings.set_index("size_bytes")["origin"][4096] is None


def test_a_guess_counts_the_sibling_curves_that_show_it_too(tmp_path) -> None:
    sizes = sorted({*SIZES})
    with_step = [
        read(write_record(tmp_path / f"{n}.record", sizes=sizes, step_at=65462, run_id=f"{n:032x}"))
        for n in range(3)
    ]

    findings = detect(concat(with_step))

    origins = findings.loc[findings["size_bytes"] == 65536, "origin"].tolist()
    assert [origin["guess"] for origin in origins] == ["tcp_segment"] * 3
    assert origins[0]["evidence"][1] == "recurs in 2 of 2 sibling curves"


def test_where_segments_are_small_the_bundle_of_them_is_guessed(tmp_path) -> None:
    path = write_record(tmp_path / "small.record", step_at=130296)
    path.write_text(path.read_text().replace('"mtu": 65536', '"mtu": 1500'))

    [found] = [f for f in detect(read(path)).to_dict("records") if f["size_bytes"] == 131072]

    assert found["origin"]["guess"] == "tcp_bundle"
    assert found["origin"]["evidence"][0].startswith(
        "2 bundles of TCP segments on lo (MTU 1500) hold 130320 B less the message's header"
    )


def test_a_window_whose_buffers_leave_a_cache_is_guessed(tmp_path) -> None:
    """64 messages of 32 KiB fill 2 MiB; two ranks share 32 MiB, which 64 of 256 KiB fill twice."""
    path = write_record(tmp_path / "stream.record", step_at=32769)
    header, heading, *rows, footer = path.read_text().splitlines()
    told = json.loads(header)
    told["plan"]["windows"] = {"stream": 64}
    alike = {"type": "unified", "line_bytes": 64, "hardware_threads": 1}
    told["ranks"][0]["topology"] = {
        "sockets": 1, "numa_nodes": 1, "cores": 2, "hardware_threads": 2, "rank_sockets": [0],
        "rank_numa_nodes": [0], "smt_siblings": [0],
        "caches": [
            {"level": 2, "size_bytes": 2 << 20, "count": 2, **alike},
            {"level": 3, "size_bytes": 32 << 20, "count": 1, **alike},
        ],
    }  # fmt: skip
    rows = [row.replace("send,", "stream,") for row in rows]
    path.write_text("\n".join([json.dumps(told), heading, *rows, footer, ""]))

    [found] = [f for f in detect(read(path)).to_dict("records") if f["kind"] == "step"]

    assert found["origin"]["guess"] == "cache"
    assert found["origin"]["evidence"][0].startswith(
        "the buffers of 64 messages in flight fill the L2 cache of 2 MiB in 32,768 to "
    )


def test_a_guess_that_no_sibling_shows_is_dropped(tmp_path) -> None:
    runs = [
        read(write_record(tmp_path / f"{n}.record", step_at=65462 if n == 0 else None,
                          run_id=f"{n:032x}"))
        for n in range(4)
    ]  # fmt: skip

    findings = detect(concat(runs))

    assert findings.loc[findings["size_bytes"] == 65536, "origin"].tolist() == [None]


# Summaries of samples.


def test_a_curve_is_the_median_with_its_interval() -> None:
    samples = pd.DataFrame(
        {"size_bytes": 1000, "pass": 0, "sample": range(101), "iterations": 1,
         "time_us": np.random.default_rng(0).permutation(np.arange(101) + 50.0)}
    )  # fmt: skip

    point = summarise(samples).iloc[0]

    assert point["time_us"] == 100
    assert (point["low_us"], point["high_us"]) == (90, 110)  # ranks 40 and 60 of 0 to 100
    assert point["mad_us"] == 25
    assert point["count"] == 101
    assert point["bandwidth_MBps"] == 10


def test_passes_that_disagree_widen_the_error() -> None:
    together = pd.DataFrame(
        {"size_bytes": 8, "pass": np.repeat([0, 1, 2, 3], 25), "sample": 0, "iterations": 1,
         "time_us": np.random.default_rng(1).normal(10, 0.1, 100)}
    )  # fmt: skip
    apart = together.assign(time_us=together["time_us"] + together["pass"])

    assert summarise(together)["error_us"][0] < 0.1 < summarise(apart)["error_us"][0]


def test_a_pass_that_is_slower_at_all_sizes_widens_no_error() -> None:
    clean = curve_table(THIRDS, line(THIRDS), 0.01, 14)
    slow = clean.assign(time_us=clean["time_us"] * (1 + 0.1 * clean["pass"]))

    errors = summarise(slow)["error_us"] / summarise(slow)["time_us"]

    assert errors.median() == pytest.approx(
        (summarise(clean)["error_us"] / summarise(clean)["time_us"]).median(), rel=0.2
    )


def test_one_point_of_enormous_time_and_noise_leaves_every_piece_finite_evidence() -> None:
    """On oversubscribed cores a point once took 340,000 times as long, with as large an error."""
    time, noise = line(THIRDS), np.full(len(THIRDS), 0.08)
    time[8] *= 3.4e5
    noise[8] = 3.3e5

    table = PieceTable(THIRDS.astype(float), time, noise)

    pieces = np.triu_indices(len(THIRDS))
    assert np.isfinite(table.evidence[pieces]).all()
    assert table.line((8, 8), 10.0)[1] > 1e9


def test_a_size_that_outweighs_its_neighbour_leaves_a_line_without_a_slope() -> None:
    """Beside a weight of less than 1e-16 rounding alone would give a slope, of any size."""
    time, noise = line(THIRDS), np.full(len(THIRDS), 0.005)
    odd = slice(20, 40, 2)
    time[odd] *= 1000
    noise[odd] = 999

    with np.errstate(all="raise", under="ignore"):
        table = PieceTable(THIRDS.astype(float), time, noise)

    pieces = np.triu_indices(len(THIRDS))
    assert np.isfinite(table.evidence[pieces]).all()
    usual = time[1] / THIRDS[1]
    assert all(0 <= table.slope((place, place + 1)) <= usual for place in range(20, 40, 2))


# Curves with more sizes than a search takes.


@pytest.mark.slow
def test_a_curve_of_very_many_sizes_is_searched_in_bounded_memory() -> None:
    size = np.arange(1.0, 20001.0)
    time = line(size) * np.where(size >= 9000, 1.5, 1) * np.exp(noise_of(len(size)))

    tracemalloc.start()
    errors = (np.zeros(len(size)), np.full(len(size), 0.01))  # without repeats, and with
    found = detect_launches(size, [(time, error) for error in errors])
    for findings in found:
        (step,) = [finding for finding in findings if finding["kind"] == "step"]
        assert step["last_size_before"] < 9000 <= step["size_bytes"]
        assert step["size_bytes"] - step["last_size_before"] <= 12
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert len(found) == 2
    assert peak_bytes < 0.5e9


def noise_of(sizes: int) -> np.ndarray:
    return np.random.default_rng(20261123).normal(0, 0.01, sizes)


def test_a_curve_with_more_sizes_than_are_searched_gets_a_warning(switchpoint, tmp_path) -> None:
    dense, ordinary = tmp_path / "dense.csv", tmp_path / "ordinary.csv"
    for path, sizes in ((dense, MOST_SIZES + 1), (ordinary, 20)):
        rows = [f"fast,{size},{2 + 3e-4 * size}" for size in range(1, sizes + 1)]
        path.write_text("link,size_bytes,time_us\n" + "\n".join(rows) + "\n")

    warned = switchpoint("detect", dense).stderr

    assert "of its 2,001 sizes 2,000 are searched; to look closer" in warned
    assert "sizes 2,000 are searched" not in switchpoint("detect", ordinary).stderr
