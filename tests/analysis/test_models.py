"""A site model is fitted to launches whose truth is known, and predicts, compares, exports."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from conftest import RECORDS
from switchpoint import (
    InputError,
    Measurements,
    Place,
    Store,
    compare_with,
    detect,
    fit_model,
    load_model,
    platform,
    predict,
    read,
    save_model,
)
from switchpoint.models.applications import rated_by
from switchpoint.models.calibration import calibrated
from switchpoint.models.compute_rates import compute_rates
from switchpoint.models.eager_limits import probed_limits
from switchpoint.models.gaps import prediction_gaps
from switchpoint.models.kernels import Options
from switchpoint.models.lines import fit_lines
from switchpoint.models.loggp import loggp_of
from switchpoint.models.patterns.applications import STREAM_BYTES
from switchpoint.models.site_model import ComputeRate, Figure, NotFitted, SiteModel
from switchpoint.tables.columns import MEASURES, RUN_COLUMNS
from typer.testing import Result

Run = Callable[..., Result]

HOSTS, NEAR = "two_nodes_two_hosts", "one_node"
OPEN_MPI = "Open MPI 4.1.4"
SIZES = sorted({int(2 ** (half / 2)) for half in range(41)})

#: Start in us, and us for each byte: within a node and between nodes, before and after 64 KiB.
TRUTH = {NEAR: [(0.5, 1e-4), (2.0, 1e-4)], HOSTS: [(20.0, 2e-3), (70.0, 2e-3)]}
SWITCH = 65536
GAP = 0.3


def truth_us(placement: str, size: int) -> float:
    start, per_byte = TRUTH[placement][size >= SWITCH]
    return start + per_byte * size


class Launches:
    """Runs as a site with enough cores would have them, whose truth is written down."""

    def __init__(self, site: str = "here", noise: float = 0.01) -> None:
        self.site, self.noise = site, noise
        self.random = np.random.default_rng(20261122)
        self.samples: list[pd.DataFrame] = []
        self.runs: list[dict[str, Any]] = []

    def run(
        self,
        kernel: str,
        times: dict[tuple[str, int], float],
        placement: str = HOSTS,
        process_map: str = "AB",
        *,
        mpi: str = OPEN_MPI,
        cores: int = 64,
        slower: float = 1.0,
        arguments: list[str] | None = None,
        **labels: str,
    ) -> Launches:
        """Add a launch that takes `times` by mode and size, and is `slower` as a whole."""
        run_id = f"{len(self.runs):032x}"
        header = {
            "ranks": [
                {"host": node, "boot_id": node, "cores_online": cores, "cpus_allowed": [0],
                 "rank": rank}
                for rank, node in enumerate(process_map)
            ],
            "mpi": {"library": mpi}, "arguments": [kernel, *(arguments or [])],
        }  # fmt: skip
        self.runs.append(
            dict.fromkeys(RUN_COLUMNS) | {
                "run_id": run_id, "format": "record", "site": self.site, "kernel": kernel,
                "mpi": mpi, "placement": placement, "header": json.dumps(header),
                "start_utc": "2026-11-22T10:00:00Z", "date": "2026-11-22", "complete": True,
            }
        )  # fmt: skip
        launch = slower * np.exp(self.random.normal(0, self.noise))
        rows = [
            (mode, size, turn, time_us * launch * np.exp(self.random.normal(0, self.noise)))
            for (mode, size), time_us in times.items()
            for turn in range(4)
        ]
        table = pd.DataFrame(rows, columns=["mode", "size_bytes", "pass", "time_us"])
        named = {"site": self.site, "partition": "batch", "mpi": mpi, "environ": "gcc",
                 "kernel": kernel, "placement": placement, "run_id": run_id}  # fmt: skip
        self.samples.append(table.assign(sample=0, iterations=1, **named, **labels))
        return self

    def measurements(self) -> Measurements:
        """What the store would return."""
        table = pd.concat(self.samples, ignore_index=True)
        table = table.astype({name: "category" for name in table if name not in MEASURES})
        return Measurements(table, pd.DataFrame(self.runs, columns=RUN_COLUMNS))


def sweep(placement: str) -> dict[tuple[str, int], float]:
    """A message alone takes its line; in a stream 0.3 of the start is the gap."""
    alone = {("send", size): truth_us(placement, size) for size in SIZES}
    start = TRUTH[placement][0][0]
    stream = {("stream", size): GAP * start + TRUTH[placement][0][1] * size for size in SIZES}
    return alone | stream


def site(launches: int = 5, **how: Any) -> Launches:
    made = Launches(**how)
    for _ in range(launches):
        for placement, process_map in ((NEAR, "AA"), (HOSTS, "AB")):
            made.run("pingpong", sweep(placement), placement, process_map)
    return made


@pytest.fixture(scope="module")
def model() -> SiteModel:
    sorts = site().run(
        "mergesort", {("tree", 200_000): 50_000 * np.log2(50_000) * 0.004}, NEAR, "A"
    )
    return fit_model(sorts.measurements())


@pytest.fixture
def model_file(model: SiteModel, tmp_path: Path) -> Path:
    return save_model(model, tmp_path / "site-model.yaml")


def curve(model: SiteModel, placement: str, mode: str = "send") -> Any:
    [one] = [c for c in model.curves if (c.placement, c.mode) == (placement, mode)]
    return one


# Fitting.


@pytest.mark.parametrize("placement", [NEAR, HOSTS])
def test_each_segment_gets_its_line(model: SiteModel, placement: str) -> None:
    fitted = curve(model, placement)

    assert [one.first_size_bytes for one in fitted.segments] == [1, SWITCH]
    for one, (start, per_byte) in zip(fitted.segments, TRUTH[placement], strict=True):
        middle = (one.first_size_bytes * one.last_size_bytes) ** 0.5
        assert one.time_us(middle) == pytest.approx(start + per_byte * middle, rel=0.03)
        assert one.per_byte_us.value == pytest.approx(per_byte, rel=0.05)
        assert one.start_us.low <= one.start_us.value <= one.start_us.high
        assert one.least_over_line < 1 < one.most_over_line
    assert fitted.segments[0].start_us.value == pytest.approx(TRUTH[placement][0][0], rel=0.03)
    assert (fitted.interval_over, fitted.repeats, len(fitted.runs)) == ("launches", 5, 5)


def test_one_slow_launch_does_not_move_the_line() -> None:
    launches = site().run("pingpong", sweep(HOSTS), slower=5.0)

    first = curve(fit_model(launches.measurements()), HOSTS).segments[0]

    assert first.start_us.value == pytest.approx(20.0, rel=0.03)
    assert first.most_over_line > 1.5


def test_the_interval_is_over_launches_not_over_samples() -> None:
    steady = curve(fit_model(site(noise=0.001).measurements()), HOSTS).segments[0].start_us
    moving = curve(fit_model(site(noise=0.05).measurements()), HOSTS).segments[0].start_us

    assert moving.high - moving.low > 10 * (steady.high - steady.low)


def test_too_few_launches_say_that_intervals_are_over_passes() -> None:
    fitted = curve(fit_model(site(launches=1).measurements()), HOSTS)

    assert (fitted.interval_over, fitted.repeats) == ("passes", 4)


def test_findings_that_are_known_make_the_same_model() -> None:
    found = site().measurements()

    made = [fit_model(found), fit_model(found, findings=detect(found))]

    told = [one.model_dump(exclude={"made_utc"}) for one in made]
    assert told[0] == told[1]


def test_a_robust_line_ignores_a_wrong_size() -> None:
    sizes = np.array([1.0, 10, 100, 1000, 2000, 4000, 8000, 16000])
    times = 5 + 0.01 * sizes
    times[3] *= 4

    start, slope = fit_lines(sizes, times[None])

    assert start[0] == pytest.approx(5, rel=0.02)
    assert slope[0] == pytest.approx(0.01, rel=0.02)


@pytest.mark.filterwarnings("error")
def test_a_launch_without_any_size_of_a_segment_has_no_line() -> None:
    sizes = np.array([8.0, 16.0, 32.0])
    times = np.stack([1.0 + 0.5 * sizes, np.full(3, np.nan)])

    start, slope = fit_lines(sizes, times)

    assert (start[0], slope[0]) == pytest.approx((1.0, 0.5))
    assert np.isnan([start[1], slope[1]]).all()


def test_the_compute_rate_is_the_time_of_one_merged_number(model: SiteModel) -> None:
    [rate] = model.compute_rates

    assert rate.kernel == "mergesort"
    assert rate.time_us.value == pytest.approx(0.004, rel=0.05)


def test_runs_without_a_label_of_their_partition_are_calibrated() -> None:
    sort = {("tree", 200_000): 50_000 * np.log2(50_000) * 0.004}
    made = site(launches=3).run("mergesort", sort, NEAR, "A").measurements()
    bare = dataclasses.replace(made, samples=made.samples.drop(columns=["partition", "environ"]))

    [rate] = fit_model(bare).compute_rates

    assert (rate.kernel, rate.partition, rate.environ) == ("mergesort", None, None)


def test_loggp_has_the_latency_and_the_gap(model: SiteModel) -> None:
    [found] = [one for one in model.loggp if one.placement == HOSTS]

    assert found.gap_us == pytest.approx(GAP * 20.0, rel=0.1)
    assert found.latency_us == pytest.approx((1 - GAP) * 20.0, rel=0.1)
    assert found.gap_per_byte_us == pytest.approx(2e-3, rel=0.05)


SORT_US = 50_000 * np.log2(50_000) * 0.004


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [0, 1, 4])
def test_a_sort_of_one_number_costs_only_itself(size: int) -> None:
    """The work, n log2 n, is 0 or no number there."""
    times = {("tree", size): 0.1, ("tree", 200_000): SORT_US}
    both = fit_model(site(3).run("mergesort", times, NEAR, "A").measurements())
    alone = fit_model(site(3).run("mergesort", {("tree", size): 0.1}, NEAR, "A").measurements())

    assert both.compute_rates[0].time_us.value == pytest.approx(0.004, rel=0.05)
    assert alone.compute_rates == []
    for found, count in ((both, 8), (alone, 4)):
        assert f"mergesort leaves out 4 of {count} points" in "".join(found.notes)


def test_the_command_names_what_a_fit_leaves_out(tmp_path: Path, switchpoint: Run) -> None:
    sorts = site(3).run("mergesort", {("tree", 4): 0.1}, NEAR, "A").measurements()
    Store(tmp_path / "store").add(sorts)
    result = switchpoint("model", "fit", "--store", tmp_path / "store", "-o", tmp_path / "m.yaml")

    assert result.exit_code == 0, result.output
    assert "warning: the compute rate of mergesort leaves out 4 of 4 points" in result.stderr


def test_a_placement_without_a_line_where_its_stream_begins_only_lacks_loggp(
    model: SiteModel,
) -> None:
    one = NotFitted(first_size_bytes=64, last_size_bytes=64, reason="1 measured size")
    alone = curve(model, HOSTS).model_copy(update={"not_fitted": [one]})
    stream = curve(model, HOSTS, "stream")
    first = stream.segments[0].model_copy(update={"first_size_bytes": 64})
    late = stream.model_copy(update={"segments": [first, *stream.segments[1:]]})

    found, notes = loggp_of([alone, late, curve(model, NEAR), curve(model, NEAR, "stream")])

    assert [one.placement for one in found] == [NEAR]
    [note] = notes
    assert f"no LogGP parameters: send on {HOSTS} has no line for 64 B" in note


def test_the_end_of_eager_sends_comes_from_the_runs_settings() -> None:
    model = fit_model(read(RECORDS / "openmpi-network-limit-65536.record.gz"))

    assert {(one.eager_last_size_bytes, one.eager_known_from) for one in model.curves} == {
        (65_480, "btl_tcp_eager_limit")
    }


def test_a_zooms_probe_counts_more_than_a_setting() -> None:
    zoom = read(RECORDS / "explain" / "openmpi-tcp-zoom.record.gz")

    assert set(probed_limits(zoom).values()) == {(65_480, "probe")}


# The file.


def test_a_model_survives_its_file(model: SiteModel, model_file: Path) -> None:
    assert load_model(model_file).model_dump() == model.model_dump()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("version: 1", "version: 9"), "version 9 is not known"),
        (("format: switchpoint site model", "format: other"), "not a site model"),
        (("repeats: 5", "repeats: many"), "curves.0.repeats: input should be a valid integer"),
        (("site: here", "site: here\nroom: 7"), "room: is not a field; remove it"),
        (("curves:", "curves: [1"), "not YAML"),
        (("per_byte_us: {value: ", "per_byte_us: {value: -"), "no message takes less time"),
        (("nodes: 1", "nodes: 0"), "curves.0.nodes: input should be greater than or equal to 1"),
        (("machines: 1", "machines: -1"), "curves.0.machines: input should be greater than"),
        (("cores_per_machine: 64", "cores_per_machine: 0"), "curves.0.cores_per_machine: input"),
        (("repeats: 5", "repeats: 0"), "curves.0.repeats: input should be greater than or equal"),
        (("start_us: {value: ", "start_us: {value: -"), "time of its first size is not above 0"),
        (("least_over_line: 0", "least_over_line: -1"), "least_over_line is not above 0"),
        (("time_us: {value: ", "time_us: {value: -"), "compute_rates.0: time_us is not above 0"),
        (("notes: []", "notes: 7"), "notes: input should be a valid list"),
    ],
)
def test_a_wrong_file_is_one_line_that_names_the_field(
    model_file: Path, switchpoint: Run, change: tuple[str, str], says: str
) -> None:
    model_file.write_text(model_file.read_text().replace(*change, 1))

    assert_refused(switchpoint("model", "predict", model_file, "ring"), str(model_file), says)


# Predicting.


def assert_refused(result: Result, *says: str) -> None:
    lines = result.stderr.splitlines()
    assert result.exit_code == 2, result.output
    assert len(lines) == 1, lines
    for words in says:
        assert words in lines[0]
    assert result.stdout == ""


def one(table: pd.DataFrame) -> dict[str, Any]:
    [row] = table.to_dict("records")
    return {str(name): value for name, value in row.items()}


@pytest.mark.parametrize("size", [8, 4096, 2**20])
@pytest.mark.parametrize("mode", ["send", "stream"])
def test_the_model_predicts_the_ping_pong_that_it_was_fitted_to(
    model: SiteModel, mode: str, size: int
) -> None:
    found = one(predict(model, "pingpong", placement=HOSTS, modes=[mode], sizes_bytes=[size]))
    expected = sweep(HOSTS)[mode, size]

    slack = 0.04 if mode == "send" else 0.25  # the window's end, which the truth leaves out
    assert found["time_us"] == pytest.approx(expected, rel=slack)
    assert found["low_us"] < found["time_us"] < found["high_us"]


def test_a_merge_sort_is_predicted_by_map(model: SiteModel) -> None:
    times = {
        process_map: one(
            predict(model, "mergesort", placement=HOSTS, modes=["tree"], process_map=process_map,
                    sizes_bytes=[200_000])
        )["time_us"]
        for process_map in ("AABAABB", "AABABAB", "ABBAAAA")
    }  # fmt: skip

    assert times["AABAABB"] < times["AABABAB"] < times["ABBAAAA"]
    # Four leaves of 12,500 numbers, then the merges; two messages of 100,000 B between nodes.
    compute = 0.004 * (12_500 * np.log2(12_500) + 25_000 + 50_000)
    assert times["AABAABB"] == pytest.approx(compute + 2 * truth_us(HOSTS, 100_000), rel=0.05)


def test_the_compute_rate_of_another_environment_is_named(model: SiteModel) -> None:
    [rate] = model.compute_rates
    slower = rate.model_copy(
        update={"environ": "clang", "time_us": rate.time_us.model_copy(update={"value": 1.0})}
    )

    def predicted(*rates: ComputeRate) -> dict[str, Any]:
        rated = model.model_copy(update={"compute_rates": list(rates)})
        found = predict(rated, "mergesort", placement=HOSTS, modes=["tree"], environ="gcc",
                        process_map="AAB", sizes_bytes=[200_000])  # fmt: skip
        return one(found)

    assert predicted(slower, rate)["time_us"] == predicted(rate)["time_us"]
    assert not any("compute rate is" in note for note in predicted(slower, rate)["notes"])
    assert any("the compute rate is that of clang" in note for note in predicted(slower)["notes"])


def test_the_compute_rate_is_that_of_the_links_own_mpi(model: SiteModel) -> None:
    [rate] = model.compute_rates
    slower = rate.model_copy(
        update={"mpi": "MPICH 4.0.2", "environ": "mpich",
                "time_us": rate.time_us.model_copy(update={"value": 1.0})}
    )  # fmt: skip

    def predicted(*rates: ComputeRate) -> dict[str, Any]:
        rated = model.model_copy(update={"compute_rates": list(rates)})
        return one(
            predict(rated, "mergesort", placement=NEAR, modes=["tree"], ranks=3,
                    sizes_bytes=[200_000])
        )  # fmt: skip

    assert predicted(slower, rate)["time_us"] == predicted(rate)["time_us"]
    assert not any("compute rate is" in note for note in predicted(slower, rate)["notes"])
    assert "the compute rate is that of mpich, MPICH 4.0.2, batch" in predicted(slower)["notes"]
    unknown = rate.model_copy(update={"mpi": None, "environ": None, "partition": None})
    assert not any("compute rate is" in note for note in predicted(unknown)["notes"])


def test_ranks_are_divided_over_the_nodes_of_the_placement(model: SiteModel) -> None:
    found = one(predict(model, "broadcast", placement=HOSTS, modes=["repeated"], ranks=4,
                        sizes_bytes=[1024]))  # fmt: skip

    assert found["process_map"] == "AABB"


def test_the_ring_takes_its_task_and_its_exchange(model: SiteModel) -> None:
    found = one(predict(model, "ring", placement=HOSTS, modes=["alternate"], sizes_bytes=[4000],
                        options=Options(grain=10_000)))  # fmt: skip

    assert found["time_us"] == pytest.approx(5000 + 2 * truth_us(HOSTS, 4000), rel=0.02)
    assert any("not calibrated" in note for note in found["notes"])


def test_an_extrapolated_size_is_flagged(model: SiteModel) -> None:
    found = one(predict(model, "pingpong", placement=HOSTS, modes=["send"], sizes_bytes=[2**24]))

    assert any("16 MiB is extrapolated" in note for note in found["notes"])


def test_an_interval_of_too_few_launches_is_flagged(model: SiteModel) -> None:
    def notes(fitted: SiteModel) -> list[str]:
        found = predict(fitted, "pingpong", placement=HOSTS, modes=["send"], sizes_bytes=[64])
        return list(one(found)["notes"])

    two = fit_model(site(launches=2).measurements())
    once = Launches().run("pingpong", {("send", 8): 20.0, ("send", 4096): 28.0}).measurements()
    single = fit_model(Measurements(once.samples[once.samples["pass"] == 0], once.runs))

    assert not any("measured" in note and "launch" in note for note in notes(model))
    assert f"send on {HOSTS} was measured in 2 launches; its interval is over" in notes(two)[0]
    assert notes(single)[-2:] == [
        f"send on {HOSTS} was measured once, which shows no scatter: its interval has no width",
        f"the line of send on {HOSTS} from 8 B to 4 KiB goes through 2 sizes, which do not show"
        " its error",
    ]


def test_a_compute_rate_of_one_launch_is_flagged(model: SiteModel) -> None:
    found = one(predict(model, "mergesort", placement=NEAR, modes=["tree"], ranks=3))

    assert "the compute rate of mergesort was measured in 1 launch; its" in found["notes"][0]


def test_a_model_without_a_site_says_with_which_it_is_compared(model: SiteModel) -> None:
    nowhere = model.model_copy(update={"site": None})

    for known, says in ((nowhere, True), (model, False)):
        notes = one(compare_with(known, rings(1.0), "ring"))["notes"]
        note = "the model names no site, and is compared with runs of here"
        assert (note in notes) == says


def changed(model: SiteModel, placement: str, **update: Any) -> SiteModel:
    """Change the curves of a placement."""
    curves = [
        one.model_copy(update=update) if one.placement == placement else one
        for one in model.curves
    ]  # fmt: skip
    return model.model_copy(update={"curves": curves})


def steep(model: SiteModel) -> SiteModel:
    """A model whose first line between nodes is negative below 4 KiB, where it begins."""
    [first] = curve(model, HOSTS).segments[:1]
    line = first.model_copy(
        update={"first_size_bytes": 4096, "start_us": Figure(value=-8), "per_byte_us":
                Figure(value=2e-3)}
    )  # fmt: skip
    return changed(model, HOSTS, segments=[line])


def test_no_message_is_faster_than_the_shortest_one(model: SiteModel) -> None:
    found = [
        one(predict(steep(model), "pingpong", placement=HOSTS, modes=["send"], sizes_bytes=[size]))
        for size in (1, 2048, 4096)
    ]

    assert [row["time_us"] for row in found] == pytest.approx([0.192] * 3)
    assert all(0 < row["low_us"] < row["high_us"] for row in found)
    assert "1 B is extrapolated" in "".join(found[0]["notes"])


def test_what_takes_no_time_is_not_compared(model: SiteModel) -> None:
    launches = Launches().run("ring", {("serial", 4): 1.0}, arguments=["--grain=0"], grain_us="0")
    row = one(compare_with(model, launches.measurements(), "ring"))

    assert pd.isna(row["predicted_us"])
    assert "ring is predicted to take no time" in "".join(row["notes"])


def test_the_command_prints_predictions_and_their_limits(
    model_file: Path, switchpoint: Run
) -> None:
    words = ["model", "predict", model_file, "alltoall", "--placement", HOSTS, "--ranks", 4,
             "--mode", "shift", "--sizes", "64,16M"]  # fmt: skip
    printed = switchpoint(*words)
    content = json.loads(switchpoint(*words, "--json", "--activity").stdout)["predictions"]

    assert printed.exit_code == 0, printed.output
    assert "predicted us" in printed.stdout
    assert [row["size_bytes"] for row in content] == [64, 2**24]
    assert all(row["low_us"] <= row["time_us"] <= row["high_us"] for row in content)
    assert {phase for _, phase, _, _ in content[0]["activity"]} == {"wait"}


REFUSED = [
    (["ring", "--placement", "moon"], "has no placement 'moon', only one_node, two_nodes"),
    (["ring", "--placement", HOSTS, "--mpi", "MPICH"], "has no MPI 'MPICH', only Open MPI 4.1.4"),
    (["ring", "--placement", HOSTS, "--ranks", "3"], "3 cannot be divided evenly over the 2"),
    (["ring", "--placement", NEAR, "--ranks", "3", "--mode", "alternate"], "an even number"),
    (["ring", "--placement", HOSTS, "--mode", "sideways"], "'sideways' of ring is not known"),
    (["broadcast", "--placement", HOSTS, "--mode", "library"], "the library's own choice"),
    (["zoom", "--placement", HOSTS], "'zoom' cannot be predicted; use one of pingpong"),
    (["mergesort", "--placement", HOSTS, "--map", "AABCABB"], "needs 3 nodes, but placement"),
    (["mergesort", "--placement", HOSTS, "--map", "BAB"], "is not a process map"),
    (["mergesort", "--placement", HOSTS, "--map", "AABB", "--mode", "tree"], "one child"),
    (
        ["mergesort", "--placement", HOSTS, "--map", "AAB", "--option", "tree=5,0"],
        "the parent of rank 1 of the tree is 5, which is no lower rank",
    ),
    (
        ["mergesort", "--placement", HOSTS, "--map", "AAB", "--option", "tree=1,1"],
        "the parent of rank 1 of the tree is 1, which is no lower rank",
    ),
    (["alltoall", "--placement", NEAR, "--ranks", "6", "--mode", "pairwise"], "power of two"),
    (["alltoall", "--placement", NEAR, "--option", "packets=3"], "'packets' is not known; use"),
    (["alltoall", "--placement", NEAR, "--option", "packet"], "'packet' is not NAME=VALUE"),
    (["alltoall", "--placement", NEAR, "--option", "packet=big"], "'big' is not a possible number"),
    (["ring", "--placement", NEAR, "--option", "serial=101"], "'101' is not a possible number"),
    (["ring", "--placement", NEAR, "--option", "grain=-1"], "'-1' is not a possible number"),
    (
        [
            "alltoall",
            "--placement",
            NEAR,
            "--option",
            "packet=1",
            "--sizes",
            "1M",
            "--mode",
            "shift",
        ],
        "12,582,912 messages, more than 1,000,000",
    ),
    (["mergesort", "--placement", HOSTS, "--map", "AAB", "--ranks", "4"], "4 contradicts the 3"),
    (["alltoall", "--placement", NEAR, "--sizes", "big"], "'big' is not a size"),
    (["alltoall", "--placement", NEAR, "--sizes", "9" * 400], "' is not a size"),
    (["alltoall", "--placement", NEAR, "--sizes", f"{2**63}"], "' is not a size"),
    (["pingpong", "--placement", NEAR, "--option", "window=" + "9" * 400], "is not a possible"),
    (["ring", "--placement", HOSTS, "--ranks", "4", "--within", "moon"], "has no placement 'moon'"),
    (
        ["pingpong", "--placement", HOSTS, "--mode", "stream", "--option", "window=1G"],
        "1,073,741,825 messages, more than 1,000,000; use a smaller --option window",
    ),
    (
        ["broadcast", "--placement", NEAR, "--mode", "repeated", "--ranks", "100000000"],
        "100,000,000 are more than the 1,000,000 that can be simulated",
    ),
    (["ring", "--placement", NEAR, "--ranks", "500000"], "2,000,000 messages, more than 1,000,000"),
    (["mergesort", "--placement", NEAR, "--ranks", "100000001"], "100,000,001 are more than"),
    (
        ["broadcast", "--placement", NEAR, "--mode", "scatter_allgather", "--ranks", "2000"],
        "3,998,000 messages",
    ),
    (
        ["mpi_bcast", "--placement", NEAR, "--mode", "scatter_allgather_ring", "--ranks", "2000"],
        "3,999,999 messages",
    ),
    (["mpi_alltoall", "--placement", NEAR, "--mode", "linear", "--ranks", "2000"], "3,998,000"),
]


@pytest.mark.parametrize(("words", "says"), REFUSED, ids=lambda value: str(value)[:40])
def test_what_cannot_be_predicted_is_one_line(
    model_file: Path, switchpoint: Run, words: list[str], says: str
) -> None:
    assert_refused(switchpoint("model", "predict", model_file, *words), says)


def test_a_stream_without_a_number_of_messages_in_its_window_is_flagged(model: SiteModel) -> None:
    for text in ("x", "9" * 5000, "²"):
        wrong = changed(model, HOSTS, labels={"window_size": text})
        found = one(predict(wrong, "broadcast", placement=HOSTS, modes=["repeated"],
                            ranks=2, sizes_bytes=[64]))  # fmt: skip

        assert found["time_us"] > 0
        assert "which is not a number" in "".join(found["notes"])


def test_a_record_without_cores_has_an_unknown_number_of_them() -> None:
    launches = Launches()
    for _ in range(3):
        launches.run("pingpong", sweep(HOSTS), cores=0)
    rings = Launches().run("ring", {("serial", 4): 100.0}, cores=-1, arguments=["--grain=100"])

    fitted = fit_model(launches.measurements())
    assert {one.cores_per_machine for one in fitted.curves} == {None}
    assert one(compare_with(fitted, rings.measurements(), "ring"))["predicted_us"] == 100


def test_a_recorded_window_of_a_billion_messages_is_not_simulated(model: SiteModel) -> None:
    launches = Launches().run("pingpong", {("stream", 8): 1.0}, arguments=["--window=1G"])
    row = one(compare_with(model, launches.measurements(), "pingpong"))

    assert pd.isna(row["predicted_us"])
    assert "1,073,741,825 messages" in "".join(row["notes"])


def test_no_prediction_without_the_compute_rate(tmp_path: Path, switchpoint: Run) -> None:
    file = save_model(fit_model(site(3).measurements()), tmp_path / "model.yaml")

    assert_refused(
        switchpoint("model", "predict", file, "mergesort", "--placement", HOSTS, "--map", "AAB"),
        "has no compute rate of mergesort",
    )


def test_boundaries_that_launches_place_differently_leave_no_segment_without_sizes() -> None:
    sizes = [1 << bit for bit in range(21)]
    second, third, fourth = sizes[11:14]
    made = Launches()
    for first_after, missing in (
        (third, second), (third, second), (second, 0),
        (fourth, third), (fourth, third), (fourth, third),
    ):  # fmt: skip
        times = {
            ("send", size): (10 + size / 1000) * (3 if size >= first_after else 1)
            for size in sizes if size != missing
        }  # fmt: skip
        made.run("pingpong", times)

    found = curve(fit_model(made.measurements()), HOSTS)
    assert len(found.segments) == 2
    assert found.not_fitted == []


def test_a_segment_of_one_size_has_no_line_and_nothing_is_predicted_there(
    model: SiteModel, tmp_path: Path, switchpoint: Run
) -> None:
    alone = {key: time for key, time in sweep(HOSTS).items() if key[1] <= SWITCH}
    launches = Launches()
    for _ in range(3):
        launches.run("pingpong", alone)
    fitted = fit_model(launches.measurements())
    file = save_model(fitted, tmp_path / "model.yaml")

    [lacking] = curve(fitted, HOSTS).not_fitted
    assert lacking.first_size_bytes == SWITCH
    assert_refused(
        switchpoint("model", "predict", file, "pingpong", "--placement", HOSTS, "--mode", "send",
                    "--sizes", "64K"),
        "has no line for 64 KiB (1 measured size",
    )  # fmt: skip


def test_without_a_ping_pong_there_is_no_model(tmp_path: Path, switchpoint: Run) -> None:
    launches = Launches().run("ring", {("serial", 4): 100.0})
    Store(tmp_path / "store").add(launches.measurements())

    assert_refused(
        switchpoint("model", "fit", "--store", tmp_path / "store", "-o", tmp_path / "m.yaml"),
        "contains no ping-pong",
    )
    assert not (tmp_path / "m.yaml").exists()


def test_several_sites_need_a_choice(tmp_path: Path, switchpoint: Run) -> None:
    store = tmp_path / "store"
    Store(store).add(site(1).measurements())
    elsewhere = Launches(site="there").run("pingpong", sweep(HOSTS)).measurements()
    for table in (elsewhere.samples, elsewhere.runs):
        table["run_id"] = "f" * 32
    elsewhere.samples["run_id"] = elsewhere.samples["run_id"].astype("category")
    Store(store).add(elsewhere)
    output = tmp_path / "m.yaml"

    both = switchpoint("model", "fit", "--store", store, "-o", output)
    none = switchpoint("model", "fit", "--store", store, "-o", output, "--site", "moon")
    there = switchpoint("model", "fit", "--store", store, "-o", output, "--site", "there")

    assert_refused(both, "has runs of here and there; choose one with --site")
    assert_refused(none, "has no run of 'moon'; it has here, there")
    assert there.exit_code == 0, there.output
    assert load_model(output).site == "there"


# Comparing.


def rings(factor: float, **how: Any) -> Measurements:
    launches = Launches(**how)
    for _ in range(5):
        launches.run(
            "ring", {("alternate", 4000): factor * (5000 + 2 * truth_us(HOSTS, 4000))},
            arguments=["--grain=10000", "--serial", "0"], grain_us="10000",
        )  # fmt: skip
    return launches.measurements()


def test_a_point_within_its_interval_is_no_gap(model: SiteModel) -> None:
    comparison = compare_with(model, rings(1.0), "ring")
    row = one(comparison)

    assert row["error"] == pytest.approx(0, abs=0.03)
    assert not row["gap"]
    assert prediction_gaps(comparison) == []


@pytest.mark.parametrize(("factor", "like"), [(1.5, "cache"), (0.7, "overlap")])
def test_a_point_beyond_its_interval_is_a_finding(
    model: SiteModel, factor: float, like: str
) -> None:
    [finding] = prediction_gaps(compare_with(model, rings(factor), "ring"))

    assert finding["kind"] == "prediction_gap"
    assert finding["magnitude"] == pytest.approx(factor - 1, abs=0.05)
    assert finding["evidence"]["looks_like"].startswith(like)
    assert finding["confidence"] > 0.99
    json.dumps(finding)


def biased_rings(seed: int, sizes: range) -> Measurements:
    """Rings of which each takes about 1.35 times as long as the model has it."""
    factors = np.exp(np.random.default_rng(seed).normal(0.3, 0.2, len(sizes)))
    times = {
        ("alternate", size): factor * (5000 + 2 * truth_us(HOSTS, size))
        for size, factor in zip(sizes, factors, strict=True)
    }
    arguments = ["--grain=10000", "--serial", "0"]
    return Launches().run("ring", times, arguments=arguments, grain_us="10000").measurements()


def test_a_calibrated_interval_contains_nine_of_ten_times_that_were_not_used(
    model: SiteModel,
) -> None:
    known, others = (
        biased_rings(1, range(1000, 40_000, 100)),
        biased_rings(2, range(0, 40_000, 170)),
    )
    right = calibrated(model, known)

    inside = {
        name: compared["measured_us"]
        .between(compared["predicted_low_us"], compared["predicted_high_us"])
        .mean()
        for name, used in (("not", model), ("calibrated", right))
        for compared in [compare_with(used, others, "ring")]
    }

    assert inside["not"] < 0.3
    assert 0.85 <= inside["calibrated"] <= 0.95
    [error] = right.errors
    assert (error.pattern, error.ranks, error.points) == ("ring", 2, 390)
    assert not error.oversubscribed


def test_the_command_calibrates_and_prints_the_interval(
    model_file: Path, tmp_path: Path, switchpoint: Run
) -> None:
    Store(tmp_path / "store").add(site().measurements())
    rings = biased_rings(1, range(1000, 40_000, 4000))
    for table in (rings.samples, rings.runs):
        table["run_id"] = "f" * 32
    rings.samples["run_id"] = rings.samples["run_id"].astype("category")
    Store(tmp_path / "store").add(rings)
    output = tmp_path / "m.yaml"

    fitted = switchpoint("model", "fit", "--store", tmp_path / "store", "-o", output, "--calibrate")
    words = ["ring", "--placement", HOSTS, "--mode", "alternate", "--option", "grain=10000"]
    rows = [
        json.loads(switchpoint("model", "predict", model, *words, "--json").stdout)["predictions"][
            1
        ]
        for model in (model_file, output)
    ]

    assert fitted.exit_code == 0, fitted.output
    assert "ring, 2 ranks: measured" in fitted.stdout
    assert [row["time_us"] for row in rows] == pytest.approx([rows[0]["time_us"]] * 2, rel=0.01)
    assert rows[1]["high_us"] > 1.3 * rows[0]["high_us"]
    assert "no ring by 2 ranks was measured" in "".join(rows[0]["notes"])
    assert "model's own error" not in "".join(rows[1]["notes"])


def test_the_command_compares_with_a_store(
    model_file: Path, tmp_path: Path, switchpoint: Run
) -> None:
    Store(tmp_path / "store").add(rings(1.5))
    words = ["model", "predict", model_file, "ring", "--against", tmp_path / "store"]

    printed = switchpoint(*words)
    content = json.loads(switchpoint(*words, "--json").stdout)

    assert printed.exit_code == 0, printed.output
    assert "prediction gap" in printed.stdout
    assert "median error" in printed.stdout
    [point] = content["points"]
    assert point["measured_us"] > point["predicted_us"]
    assert [finding["kind"] for finding in content["findings"]] == ["prediction_gap"]


def test_a_warning_that_import_printed_is_not_printed_again(
    model_file: Path, tmp_path: Path, switchpoint: Run
) -> None:
    measured = rings(1.0)
    measured.runs["warnings"] = "run 00000000: shortened"
    Store(tmp_path / "store").add(measured)

    printed = switchpoint("model", "predict", model_file, "ring", "--against", tmp_path / "store")

    assert (printed.exit_code, printed.stderr) == (0, "")


def test_a_run_with_an_option_that_no_kernel_takes_is_left_out_with_a_warning(
    model_file: Path, tmp_path: Path, switchpoint: Run
) -> None:
    times = {("alternate", 4000): 5000.0}
    bad = Launches().run("ring", times, arguments=["--grain=x"])
    good = Launches().run("ring", times, arguments=["--grain=x"]).run(
        "ring", times, arguments=["--grain=10000"]
    )  # fmt: skip
    for name, launches in (("bad", bad), ("good", good)):
        Store(tmp_path / name).add(launches.measurements())
    words = ["model", "predict", model_file, "ring", "--against"]
    result = switchpoint(*words, tmp_path / "good", "--json")

    assert result.exit_code == 0, result.output
    assert len(json.loads(result.stdout)["points"]) == 1
    assert "warning: run 00000000: has the option grain 'x', which no kernel" in result.stderr
    assert_refused(switchpoint(*words, tmp_path / "bad"), "has the option grain 'x'")


def test_another_sites_store_is_refused(model_file: Path, tmp_path: Path, switchpoint: Run) -> None:
    Store(tmp_path / "store").add(rings(1.0, site="there"))

    assert_refused(
        switchpoint("model", "predict", model_file, "ring", "--against", tmp_path / "store"),
        "is a model of site 'here'", "has runs of there",
    )  # fmt: skip


# Applications.

UNIT_US = 0.01

#: A mode in which rank 0 works alone, a size, and the units of its work there.
ALONE = {
    ("voting", "serial"): (65536, 2 * 8192),
    ("jpeg", "one_rank"): (65536, 16),
    ("backpropagation", "one_rank"): (65536, 256 * 32 * 4),
    ("psrs", "one_rank"): (65536, 16384 * 14),
    ("psrs", "serial"): (65536, 16384 * 14),
    ("fft", "one_rank"): (65536, 4096 * 12),
    ("linear", "lu_one_rank"): (32768, 64**3 / 3),
    ("linear", "inv_one_rank"): (32768, 64**3 * 4 / 3),
    ("linear", "mult_one_rank"): (32768, 64**3),
}


@pytest.fixture(scope="module")
def applied() -> SiteModel:
    """A site whose applications take `UNIT_US` for each unit, and twice as much in `serial`."""
    launches = site(3)
    for (kernel, mode), (size, units) in ALONE.items():
        slower = 2 if (kernel, mode) == ("psrs", "serial") else 1
        launches.run(kernel, {(mode, size): slower * units * UNIT_US})
    return fit_model(launches.measurements())


def predicted_us(model: SiteModel, kernel: str, mode: str, size: int, **options: int) -> float:
    found = predict(model, kernel, placement=HOSTS, modes=[mode], sizes_bytes=[size],
                    options=Options(**options))  # fmt: skip
    return float(one(found)["time_us"])


def test_an_applications_rates_are_those_of_its_work_on_one_rank(applied: SiteModel) -> None:
    rates = {(one.kernel, one.mode): one.time_us.value for one in applied.compute_rates}

    assert set(rates) == set(ALONE)
    assert rates.pop(("psrs", "serial")) == pytest.approx(2 * UNIT_US, rel=0.05)
    assert list(rates.values()) == pytest.approx([UNIT_US] * len(rates), rel=0.05)


def test_each_mode_of_an_application_has_the_rate_of_its_own_form(applied: SiteModel) -> None:
    units = 16384 * 14

    assert predicted_us(applied, "psrs", "serial", 65536) == pytest.approx(
        2 * units * UNIT_US, rel=0.05
    )
    assert predicted_us(applied, "psrs", "one_rank", 65536) == pytest.approx(
        units * UNIT_US, rel=0.05
    )
    # Sorted halves of 8192 keys, merged once; each rank has half of the keys of the other at last.
    assert predicted_us(applied, "psrs", "parallel", 65536) == pytest.approx(
        UNIT_US * (8192 * 13 + 8192)
        + sum(truth_us(HOSTS, size) for size in (32768, 8, 4, 8, 16384, 32768)) + GAP * 20, rel=0.05
    )  # fmt: skip


@pytest.mark.parametrize(
    ("kernel", "mode", "size", "messages", "units"),
    [
        ("voting", "everywhere", 65536, [65536, 65536], 16384),
        ("jpeg", "parallel", 65536, [32768, 8 * STREAM_BYTES], 8),
        ("fft", "parallel", 65536, [32768, 16384, 16384, 32768], 2 * 32 * 64 * 6),
        ("linear", "mult", 32768, [32768, 16384], 64**3 / 2),
    ],
)
def test_an_application_takes_its_messages_and_its_part_of_the_work(
    applied: SiteModel, kernel: str, mode: str, size: int, messages: list[int], units: float
) -> None:
    """Messages behind which another one follows at once take their bytes; they are few here."""
    alone = sum(truth_us(HOSTS, length) for length in messages) + units * UNIT_US
    behind = {"jpeg": 2 * GAP * 20 + 80 * 2e-3, "linear": GAP * 20 + 16384 * 2e-3}.get(kernel, 0.0)

    assert predicted_us(applied, kernel, mode, size) == pytest.approx(alone + behind, rel=0.05)


#: `make measure TAG=study-004`, Open MPI, idle: us on one rank and on two, with a core for each.
#: `everywhere` at 64 KiB is left out: it takes 1.8 times the predicted time (models.md).
IDLE_US = [
    ("fft", "parallel", 65536, 13.6, 21.4),
    ("fft", "parallel", 1048576, 495, 346),
    ("psrs", "parallel", 65536, 1164, 583),
    ("psrs", "parallel", 1048576, 25556, 13079),
    ("backpropagation", "parallel", 65536, 677, 378),
    ("backpropagation", "parallel", 262144, 2742, 1434),
    ("voting", "everywhere", 1048576, 162, 369),
    ("voting", "shares", 65536, 9.88, 17.5),
    ("voting", "shares", 1048576, 162, 206),
    ("jpeg", "parallel", 65536, 130, 71.2),
    ("jpeg", "parallel", 1048576, 2287, 1213),
    ("linear", "lu", 32768, 15.7, 25.7),
    ("linear", "lu", 524288, 350, 337),
    ("linear", "inv", 32768, 38.5, 41.1),
    ("linear", "inv", 524288, 1245, 837),
    ("linear", "mult", 32768, 11.8, 17.3),
    ("linear", "mult", 524288, 644, 442),
]


def test_two_idle_ranks_take_what_a_recorded_ping_pong_and_one_rank_predict() -> None:
    record = read(RECORDS / "openmpi-memory-limit-4096.record.gz")
    fitted = fit_model(record)
    [mpi] = record.runs["mpi"]
    errors = []
    for kernel, mode, size, alone_us, together_us in IDLE_US:
        calibration = Launches().run(kernel, {(rated_by(kernel, mode) or "", size): alone_us},
                                     mpi=mpi, process_map="AA").measurements()  # fmt: skip
        rates, _ = compute_rates(calibration)
        model = fitted.model_copy(update={"compute_rates": rates})
        found = predict(model, kernel, placement=NEAR, modes=[mode], sizes_bytes=[size], ranks=2)
        errors.append(abs(together_us / float(one(found)["time_us"]) - 1))

    assert np.median(errors) < 0.06
    assert max(errors) < 0.2


def test_the_options_of_an_applications_run_count(applied: SiteModel) -> None:
    larger = predicted_us(applied, "backpropagation", "parallel", 65536, hidden=64, epochs=2)
    launches = Launches()
    for _ in range(3):
        launches.run("backpropagation", {("parallel", 65536): larger},
                     arguments=["--hidden", "64", "--epochs=2"])  # fmt: skip

    row = one(compare_with(applied, launches.measurements(), "backpropagation"))

    assert row["predicted_us"] == pytest.approx(larger)
    assert row["error"] == pytest.approx(0, abs=0.03)


def test_what_depends_on_the_data_is_said(applied: SiteModel) -> None:
    def notes(kernel: str, mode: str) -> str:
        return " ".join(one(predict(applied, kernel, placement=HOSTS, modes=[mode],
                                    sizes_bytes=[65536]))["notes"])  # fmt: skip

    assert "equally many keys" in notes("psrs", "parallel")
    assert "equally many keys" not in notes("psrs", "serial")
    assert f"{STREAM_BYTES:,} B" in notes("jpeg", "parallel")


def test_a_run_of_another_quality_shows_no_rate() -> None:
    launches = site(3).run("jpeg", {("one_rank", 65536): 100.0}, arguments=["--quality=90"])

    assert fit_model(launches.measurements()).compute_rates == []


NO_APPLICATION = [
    (["voting", "--sizes", "7"], "7 B are not one or more votes of 8 B; use 8"),
    (["jpeg", "--sizes", "5000"], "5,000 B are not one or more blocks of 4,096 B; use 8,192"),
    (["jpeg", "--option", "quality=90"], "is known at --option quality=75 only, not 90"),
    (["backpropagation", "--sizes", "0"], "0 B are not one or more patterns of 256 B; use 256"),
    (["backpropagation", "--option", "epochs=1000000"], "use a smaller --option epochs, fewer"),
    (["psrs", "--mode", "parallel", "--sizes", "8"], "2 ranks need 16 B or more for their samples"),
    (["fft", "--sizes", "100"], "100 B are not a square matrix of numbers of 16 B; use 64 or 144"),
    (["fft", "--sizes", "1"], "1 B are not a square matrix of numbers of 16 B; use 16"),
    (["linear", "--mode", "mult", "--sizes", "9"], "numbers of 8 B; use 8 or 32"),
    (["linear", "--mode", "lu_serial"], "no compute rate of linear in mode lu_serial; run the "
                                        "check LinearEquations, import and fit again"),
    (["voting", "--mode", "parallel"], "'parallel' of voting is not known; use one of everywhere"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "says"), NO_APPLICATION, ids=lambda value: str(value)[:40])
def test_an_application_that_cannot_be_predicted_is_one_line(
    applied: SiteModel, tmp_path: Path, switchpoint: Run, words: list[str], says: str
) -> None:
    file = save_model(applied, tmp_path / "model.yaml")
    usual = [] if "--mode" in words or words[0] == "voting" else ["--mode", "parallel"]

    assert_refused(
        switchpoint("model", "predict", file, *words, *usual, "--placement", HOSTS), says
    )


# Exporting.


def test_the_platform_has_the_lines_as_factors(
    model: SiteModel, model_file: Path, tmp_path: Path, switchpoint: Run
) -> None:
    file = tmp_path / "platform.xml"
    result = switchpoint("model", "export", model_file, "--placement", HOSTS, "--simgrid", file,
                         "--hosts", 64)  # fmt: skip

    assert result.exit_code == 0, result.output
    assert result.stdout == f"{file}\n"
    range_of = "was measured from 1 B to 1 MiB; messages of other sizes are extrapolated"
    assert f"warning: send on {HOSTS} {range_of}" in result.stderr
    root = ET.parse(file).getroot()
    settings = {prop.get("id"): prop.get("value") for prop in root.iter("prop")}
    [cluster] = root.iter("cluster")
    assert cluster.get("radical") == "0-63"
    latency_us = 2 * float(str(cluster.get("lat")).removesuffix("us"))
    bandwidth = float(str(cluster.get("bw")).removesuffix("MBps"))
    for segment, (size, factor), (_, share) in zip(
        curve(model, HOSTS).segments, pairs(settings["smpi/lat-factor"]),
        pairs(settings["smpi/bw-factor"]), strict=True,
    ):  # fmt: skip
        of_smpi = latency_us * factor + 100_000 / (bandwidth * share)
        assert of_smpi == pytest.approx(segment.time_us(100_000), rel=1e-3)
        assert size == (0 if segment.first_size_bytes == 1 else SWITCH)


def test_an_export_is_described_in_json(
    model: SiteModel, model_file: Path, tmp_path: Path, switchpoint: Run
) -> None:
    file = tmp_path / "platform.xml"
    result = switchpoint("model", "export", model_file, "--placement", HOSTS, "--simgrid", file,
                         "--hosts", 8, "--topology", "torus", "--json")  # fmt: skip
    content = json.loads(result.stdout)

    assert (content["platform"], content["hosts"]) == (str(file), 8)
    assert (content["mpi"], content["environ"], content["topology"]) == (OPEN_MPI, "gcc", "torus")
    assert len(content["notes"]) == 2
    loaded = load_model(model_file)
    assert file.read_text() == platform(loaded, Place(HOSTS), hosts=8, topology="torus")


def pairs(text: str | None) -> list[tuple[int, float]]:
    parts = [part.split(":") for part in str(text).split(";")]
    return [(int(size), float(factor)) for size, factor in parts]


@pytest.mark.parametrize(
    ("topology", "hosts", "parameters"),
    [
        ("star", 7, None),
        ("fat_tree", 64, "2;8,8;1,8;1,1"),
        ("torus", 1024, "8,8,16"),
        ("dragonfly", 256, "4,1;4,1;4,1;4"),
    ],
)
def test_hosts_are_connected_as_asked(
    model: SiteModel, topology: str, hosts: int, parameters: str | None
) -> None:
    text = platform(model, Place(HOSTS), hosts, topology=topology)
    [cluster] = ET.fromstring(text).iter("cluster")

    assert cluster.get("topo_parameters") == parameters
    assert cluster.get("topology") == (None if parameters is None else topology.upper())


@pytest.mark.parametrize("name", ["x--->", "-->", "a---", "\x1b[2J\x00"])
def test_no_name_of_a_model_ends_the_comment_of_the_platform(model: SiteModel, name: str) -> None:
    text = platform(model.model_copy(update={"site": name}), Place(HOSTS), 2)

    [cluster] = ET.fromstring(text).iter("cluster")
    assert cluster.get("radical") == "0-1"
    assert "fitted" not in "".join(ET.fromstring(text).itertext())


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--topology", "ring"], "'ring' is not known; use one of star, fat_tree, torus"),
        (["--topology", "torus", "--hosts", 62], "62 hosts make no torus"),
    ],
)
def test_a_topology_that_cannot_be_is_refused(
    model_file: Path, tmp_path: Path, switchpoint: Run, words: list[Any], says: str
) -> None:
    file = tmp_path / "platform.xml"
    asked = ["model", "export", model_file, "--placement", HOSTS, "--simgrid", file, *words]

    assert_refused(switchpoint(*asked), says)
    assert not file.exists()


def test_a_placement_that_was_not_measured_is_not_exported(
    model_file: Path, tmp_path: Path, switchpoint: Run
) -> None:
    file = tmp_path / "platform.xml"

    assert_refused(
        switchpoint("model", "export", model_file, "--placement", "moon", "--simgrid", file),
        "has no placement 'moon'",
    )
    assert not file.exists()


def test_an_export_to_nowhere_is_refused(
    model_file: Path, tmp_path: Path, switchpoint: Run
) -> None:
    file = tmp_path / "none" / "platform.xml"

    with pytest.raises(InputError):
        save_model(load_model(model_file), file)
    assert_refused(
        switchpoint("model", "export", model_file, "--placement", HOSTS, "--simgrid", file),
        "cannot be written: No such file or directory",
    )
