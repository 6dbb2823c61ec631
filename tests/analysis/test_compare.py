"""Two sides are compared where they measure the same, launch against launch, and nowhere else."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from conftest import RECORDS, SIZES, write_record
from switchpoint import Store, compare, import_files
from switchpoint.comparison.effects import compare_times
from typer.testing import Result

Run = Callable[..., Result]

PLACE = {
    "site": "alpha", "mpi": "Open MPI 4.1.4", "environ": "openmpi", "kernel": "pingpong",
    "placement": "two_nodes", "mode": "send",
}  # fmt: skip


def launches(
    folder: Path,
    *,
    count: int = 4,
    latency: float = 3.0,
    per_byte: float = 2e-4,
    step_at: int | None = None,
    scatter: float = 0.01,
    seed: int = 20261122,
    sizes: Sequence[int] = SIZES,
    **identity: str,
) -> Path:
    """Write some launches of a curve as tidy CSV: each has an offset, each sample has noise."""
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(seed)
    place = PLACE | identity
    for launch in range(count):
        offset = np.exp(random.normal(0, scatter))
        with (folder / f"{place['mode']}-{launch}.csv").open("w", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow([*place, "size_bytes", "rep", "time_us"])
            for size in sizes:
                time = latency + per_byte * size
                time *= 1.5 if step_at is not None and size >= step_at else 1.0
                for rep in range(5):
                    noisy = time * offset * (1 + random.normal(0, 0.003))
                    writer.writerow([*place.values(), size, rep, f"{noisy:.5f}"])
    return folder


def test_the_ratio_of_each_range_contains_the_truth(tmp_path: Path) -> None:
    a = launches(tmp_path / "a", seed=1)
    b = launches(tmp_path / "b", seed=2, site="beta", latency=3.6, step_at=65536)

    found = compare(str(a), str(b))

    short, long = found.ranges.to_dict("records")
    assert (short["first_size_bytes"], short["begins"]) == (1, "")
    assert (long["first_size_bytes"], long["begins"]) == (65536, "B")
    sizes = np.array([size for size in SIZES if size < 65536])
    truth = np.exp(np.mean(np.log((3.6 + 2e-4 * sizes) / (3 + 2e-4 * sizes))))
    assert short["low"] < truth < short["high"]
    assert short["high"] - short["low"] < 0.1
    assert (short["faster"], long["faster"]) == ("A", "A")
    assert short["interval_over"] == "launches"
    assert (short["first_launches"], short["other_launches"]) == (4, 4)
    assert found.unmatched.empty
    at = found.sizes.set_index("size_bytes")
    assert at.loc[1, "low"] < 1.2 < at.loc[1, "high"]
    assert at.loc[SIZES[-1], "ratio"] == pytest.approx(1.5, rel=0.05)
    assert found.ranges["curve"].iloc[0]["placement"] == "two_nodes"
    assert found.ranges["differs"].iloc[0] == {"site": ["alpha", "beta"]}


def test_launches_that_look_closer_at_one_place_do_not_hide_the_others(tmp_path: Path) -> None:
    for side, site, latency in (("a", "alpha", 3.0), ("b", "beta", 3.6)):
        launches(tmp_path / side / "all", count=2, site=site, latency=latency, seed=len(site))
        close = range(60000, 70000, 1000)
        launches(
            tmp_path / side / "close", count=1, site=site, latency=latency, seed=9, sizes=close
        )

    found = compare(str(tmp_path / "a"), str(tmp_path / "b"))

    row = found.ranges.iloc[0]
    assert (row["first_size_bytes"], row["last_size_bytes"]) == (SIZES[0], SIZES[-1])
    assert (row["first_launches"], row["other_launches"]) == (2, 2)


def test_equal_curves_have_no_winner(tmp_path: Path) -> None:
    a = launches(tmp_path / "a", seed=103, scatter=0.05)
    b = launches(tmp_path / "b", seed=503, scatter=0.05, site="beta")

    found = compare(str(a), str(b))

    assert found.ranges["faster"].isna().all()


@pytest.mark.parametrize("counts", [(2, 2), (3, 3), (3, 8), (1, 5)])
def test_the_interval_covers_the_true_ratio_as_often_as_it_says(counts: tuple[int, int]) -> None:
    random = np.random.default_rng(20261122)
    places = 4000
    sides = [
        (random.normal(mean, 0.1, (count, places)), np.full((count, places), 0.01))
        for count, mean in zip(counts, (0.0, np.log(1.3)), strict=True)
    ]

    effect = compare_times(*sides)

    covered = np.mean((effect.low < 1.3) & (effect.high > 1.3))
    assert 0.93 <= covered <= 0.985


def test_one_launch_each_leaves_the_scatter_between_launches_open(
    switchpoint: Run, tmp_path: Path
) -> None:
    a = launches(tmp_path / "a", count=1)
    b = launches(tmp_path / "b", count=1, site="beta", latency=3.6, seed=8)
    far = launches(tmp_path / "c", count=1, site="gamma", latency=15.0, per_byte=1e-3, seed=9)

    found = compare(str(a), str(b), str(far))

    assert set(found.ranges["interval_over"]) == {"samples within one launch"}
    distant = found.ranges[found.ranges["other"] == "C"]
    assert (distant["low"] > 3).all()
    assert found.ranges["faster"].isna().all()  # launches may differ as much
    printed = switchpoint("compare", a, b)
    assert printed.exit_code == 0
    assert "only the scatter within a launch is known" in printed.stdout


def test_a_side_with_one_launch_takes_the_scatter_of_the_other(tmp_path: Path) -> None:
    a = launches(tmp_path / "a", count=5, scatter=0.1)
    b = launches(tmp_path / "b", count=1, site="beta", latency=3.3, seed=8)

    found = compare(str(a), str(b))

    assert set(found.ranges["interval_over"]) == {"launches"}
    assert found.ranges["faster"].isna().all()


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        (
            {"mode": "stream", "window_size": "64"},
            {"mode": "stream", "window_size": "16"},
            "window_size is 64 and 16: the time of a message in a stream depends on",
        ),
        (
            {"mode": "send"},
            {"mode": "stream"},
            "pingpong send times half a round trip, pingpong stream a message of a stream",
        ),
        (
            {"kernel": "broadcast", "mode": "mpi", "time_of": "slowest"},
            {"kernel": "broadcast", "mode": "mpi", "time_of": "root"},
            "time_of is slowest and root",
        ),
        (
            {"kernel": "osu_bcast", "mode": ""},
            {"kernel": "broadcast", "mode": "mpi"},
            "osu_bcast and broadcast mpi are not known to time the same",
        ),
        (
            {"kernel": "imb_sendrecv", "mode": ""},
            {"mode": "sendrecv"},
            "imb_sendrecv times a whole exchange, pingpong sendrecv half an exchange",
        ),
        ({"processes": "4"}, {"processes": "8"}, "B has no such curve with processes 4"),
    ],
)
def test_other_quantities_and_methods_are_never_compared(
    switchpoint: Run, tmp_path: Path, one: dict[str, str], other: dict[str, str], reason: str
) -> None:
    a = launches(tmp_path / "a", count=1, **one)
    b = launches(tmp_path / "b", count=1, **other)

    result = switchpoint("compare", a, b)

    assert result.exit_code == 2
    assert result.stdout == ""
    assert reason in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("kernel", ["osu_latency", "imb_pingpong", "netpipe"])
def test_other_benchmarks_compare_with_our_mode_of_the_same_pattern(
    tmp_path: Path, kernel: str
) -> None:
    a = launches(tmp_path / "a", count=1)
    launches(tmp_path / "a", count=1, mode="stream")
    b = launches(tmp_path / "b", count=1, kernel=kernel, mode="")

    found = compare(str(a), str(b))

    assert len(found.ranges["pair"].unique()) == 1
    assert found.ranges["differs"].iloc[0]["kernel"] == ["pingpong", kernel]
    assert [row["mode"] for row in found.unmatched["curve"]] == ["stream"]


def test_what_was_not_compared_is_told(switchpoint: Run, tmp_path: Path) -> None:
    a = launches(tmp_path / "a")
    launches(tmp_path / "a", mode="ssend")
    b = launches(tmp_path / "b", site="beta")

    result = switchpoint("compare", a, b)

    assert result.exit_code == 0
    assert "not compared: 1 curve of A: B has no such curve with mode ssend" in result.stdout


def test_versions_of_a_library_match_by_family_and_environments_by_nothing(tmp_path: Path) -> None:
    for side, (version, number) in {"a": ("4.1.4", "1"), "b": ("5.0.7", "2")}.items():
        launches(tmp_path / side / "o", mpi=f"Open MPI {version}", environ=f"o{number}")
        launches(tmp_path / side / "m", mpi=f"MPICH {version}", environ=f"m{number}")

    found = compare(str(tmp_path / "a"), str(tmp_path / "b"))

    pairs = found.ranges.drop_duplicates("pair")["differs"].tolist()
    assert sorted(pair["mpi"] for pair in pairs) == [
        ["MPICH 4.1.4", "MPICH 5.0.7"], ["Open MPI 4.1.4", "Open MPI 5.0.7"]
    ]  # fmt: skip


def test_libraries_are_compared_where_both_selections_name_one(tmp_path: Path) -> None:
    both = launches(tmp_path / "a" / "o")
    launches(tmp_path / "a" / "m", mpi="MPICH 4.0.2", environ="mpich", latency=6.0, seed=7)

    found = compare(f"{both.parent},mpi=openmpi", f"{both.parent},mpi=MPICH")

    assert found.ranges["differs"].iloc[0] == {
        "mpi": ["Open MPI 4.1.4", "MPICH 4.0.2"], "environ": ["openmpi", "mpich"]
    }  # fmt: skip
    assert found.ranges["faster"].iloc[0] == "A"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two sessions of one launch, each of two placements, of a site; for tests that only read."""
    folder = tmp_path_factory.mktemp("sessions")
    for day in (20, 21):
        for place in ("one_node", "two_nodes"):
            write_record(
                folder / f"{day}-{place}.record",
                run_id=f"{day}{'abc'[len(place) % 2]}".ljust(32, "0"),
                start_utc=f"2026-11-{day}T10:00:00.000000Z",
                labels={"site": "here", "placement": place, "session": f"night-{day}"},
            )
    import_files([folder], Store(folder / "results"))
    return str(folder / "results")


@pytest.mark.parametrize(
    "selections",
    [
        ("session=night-20", "session=night-21"),
        ("until=2026-11-21", "since=2026-11-21"),
        ("since=2026-11-20,until=2026-11-20T12:00", "site=here"),  # the newest session
    ],
)
def test_nights_of_a_store_are_compared_place_by_place(
    store: str, selections: tuple[str, str]
) -> None:
    found = compare(*selections, store=store)

    assert found.sides["first_date"].tolist() == ["2026-11-20", "2026-11-21"]
    pairs = found.ranges.drop_duplicates("pair")
    assert {row["placement"] for row in pairs["curve"]} == {"one_node", "two_nodes"}
    assert found.ranges["ratio"].tolist() == pytest.approx([1.0] * len(found.ranges))


def test_placements_and_runs_of_a_store_are_compared(store: str) -> None:
    placed = compare("placement=one_node", "placement=two_nodes", store=store, last=2)
    runs = compare("run=20a", "run=21b", store=store)

    assert placed.ranges["differs"].iloc[0] == {"placement": ["one_node", "two_nodes"]}
    assert (placed.ranges["first_launches"] == 2).all()
    assert runs.ranges["differs"].iloc[0] == {"placement": ["one_node", "two_nodes"]}


@pytest.mark.parametrize(
    ("selections", "problem"),
    [
        (["site=here"], "needs two selections or more"),
        (["site=here", "site=gone"], "site=gone: there is no site 'gone' in"),
        (["site=here", "site=gone"], "; there is here"),
        (["site=here", "mpi=mpich"], "there is Open MPI 4.1.4"),
        (["site=here", "colour=red"], "no curve has 'colour'; use one of"),
        (["site=here", "beta"], "'beta' is neither a file nor NAME=VALUE"),
        (["site=here", ""], "is neither a file nor NAME=VALUE"),
        (["site=here", "x" * 500], "is neither a file nor NAME=VALUE"),
        (["site=here", "site=here,site=there"], "site is given twice"),
        (["site=here", "since=yesterday"], "since: 'yesterday' is not a date"),
        (["site=here", "since=2027-01-01"], "selects no run of"),
        (["site=here", "run=9"], "no run ID in the store"),
        (["placement=one_node", "placement=two_nodes,session=none"], "no session 'none'"),
    ],
)
def test_a_bad_selection_gives_one_line(
    switchpoint: Run, store: str, selections: list[str], problem: str
) -> None:
    result = switchpoint("compare", *selections, "--store", store)

    assert result.exit_code == 2
    assert problem in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_curves_outlive_their_samples(store: str, tmp_path: Path) -> None:
    store = str(shutil.copytree(store, tmp_path / "results"))
    before = compare("session=night-20", "session=night-21", store=store)
    for samples in Path(store, "samples").rglob("*.parquet"):
        samples.unlink()

    after = compare("session=night-20", "session=night-21", store=store)

    assert after.sizes["ratio"].tolist() == pytest.approx(before.sizes["ratio"].tolist())


def test_facts_that_differ_are_listed(switchpoint: Run, tmp_path: Path) -> None:
    mpi = {
        "library": "Open MPI v4.1.4, package: Debian OpenMPI", "standard": "3.1",
        "cvars": {"btl_tcp_eager_limit": 65536, "orte_job": 1}, "environment": {},
    }  # fmt: skip
    changed = mpi | {
        "cvars": {"btl_tcp_eager_limit": 9000, "orte_job": 2},
        "environment": {"OMPI_MCA_btl_tcp_eager_limit": "9000"},
    }
    a = write_record(tmp_path / "a.record", mpi=mpi)
    b = write_record(tmp_path / "b.record", mpi=changed, run_id="b" * 32)

    found = compare(str(a), str(b))

    facts = {row["fact"]: (row["A"], row["B"]) for row in found.facts.to_dict("records")}
    assert facts == {
        "control variable btl_tcp_eager_limit": ("65536", "9000"),
        "setting OMPI_MCA_btl_tcp_eager_limit": ("not set", "9000"),
    }
    printed = switchpoint("compare", a, b).stdout
    assert "setting OMPI_MCA_btl_tcp_eager_limit" in printed


@pytest.mark.parametrize(
    ("changes", "doubted"),
    [
        ({'"host": "a1"': '"host": "n7"', '"cpu_model": "model"': '"cpu_model": "other"'}, True),
        ({'"host": "a1"': '"host": "n7"'}, False),  # other nodes of the same cluster
        ({'"slurm": {}': '"slurm": {"cluster": "second"}'}, True),
    ],
)
def test_two_sites_with_one_name_are_doubted(
    switchpoint: Run, tmp_path: Path, changes: dict[str, str], doubted: bool
) -> None:
    first = write_record(tmp_path / "a.record", slurm={"cluster": "first"} if "slurm" in
                         str(changes) else {})  # fmt: skip
    text = write_record(tmp_path / "b.record", run_id="b" * 32).read_text()
    for old, new in changes.items():
        text = text.replace(old, new)
    (tmp_path / "b.record").write_text(text)

    result = switchpoint("compare", first, tmp_path / "b.record")

    assert result.exit_code == 0
    assert ("A and B both name the site 'here'" in result.stderr) == doubted


def test_searches_alone_are_no_curves(switchpoint: Run, tmp_path: Path) -> None:
    zoom = RECORDS / "explain" / "openmpi-tcp-zoom.record.gz"

    result = switchpoint("compare", zoom, launches(tmp_path / "a"))

    assert result.exit_code == 2
    assert "no curve can be compared: A has no curve" in result.stderr


def test_single_samples_have_no_interval_and_no_winner(tmp_path: Path) -> None:
    for site, factor in (("alpha", 1.0), ("beta", 3.0)):
        rows = [f"{site},{size},{factor * (3 + 2e-4 * size)}" for size in SIZES]
        (tmp_path / f"{site}.csv").write_text("site,size_bytes,time_us\n" + "\n".join(rows))

    found = compare(str(tmp_path / "alpha.csv"), str(tmp_path / "beta.csv"))

    assert found.ranges["ratio"].tolist() == pytest.approx([3.0] * len(found.ranges))
    assert found.ranges["low"].isna().all()
    assert found.ranges["faster"].isna().all()


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "\u202eabc\u05d0\u05d1", "y" * 500])
def test_any_name_is_printed_harmlessly_and_completely(
    switchpoint: Run, tmp_path: Path, name: str
) -> None:
    a = launches(tmp_path / "a", count=1)
    b = launches(tmp_path / "b", count=1, site=name)

    printed = switchpoint("compare", a, b)
    content = json.loads(switchpoint("compare", a, b, "--json").stdout)

    assert printed.exit_code == 0
    assert "\u202e" not in printed.stdout
    assert content["sides"][1]["site"] == name
    assert content["ranges"][0]["differs"]["site"] == ["alpha", name]
