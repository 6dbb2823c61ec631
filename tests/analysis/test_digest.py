"""Findings that recur are one line; what a reader acts on comes first; filters do as documented."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from conftest import RECORDS
from experiments import proved_openmpi
from switchpoint import InputError, detect, read_files, summarise
from switchpoint.reporting.digest import digest, first_of_each_place, select_curves, sort_lines
from typer.testing import Result

pytestmark = pytest.mark.slow

Run = Callable[..., Result]

#: A step at 64 KiB, of 0.5, 5 and 50 us on top of what a byte takes, for each of three MPIs.
_JUMPS_US = {"Open MPI 4.1.4": 5.0, "MPICH 4.0.2": 50.0, "Intel MPI 2021.9": 0.5}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Tidy CSV: three MPIs, two placements, two modes, three launches each."""
    rows = [
        f"{mpi},{placement},{mode},{launch},{2**power},{time:.4f}"
        for mpi, jump in _JUMPS_US.items()
        for placement in ("one_node", "one_node_network")
        for mode in ("send", "ssend")
        for launch in range(3)
        for power in range(21)
        for time in [
            0.2 + 2**power * 1e-6
            + (jump if power >= 16 and placement == "one_node_network" else 0)
        ]
    ]  # fmt: skip
    path = tmp_path / "curves.csv"
    heading = "mpi,placement,mode,launch,size_bytes,time_us"
    path.write_text("\n".join([heading, *rows]) + "\n")
    return path


def test_what_recurs_is_one_line_and_what_costs_most_is_first(
    switchpoint: Run, table: Path
) -> None:
    lines = switchpoint("detect", table).stdout.splitlines()

    steps = [line for line in lines if "32,768 to 65,536 B" in line]
    assert [line.split("  ")[0] for line in steps] == [
        "MPICH 4.0.2", "Open MPI 4.1.4", "Intel MPI 2021.9",
    ]  # fmt: skip
    for line in steps:
        assert "6 of 6  one_node_network, send and ssend" in line
    costs = [next(word for word in line.split("  ") if word.endswith(" us")) for line in steps]
    assert [cost.strip() for cost in costs] == ["50.0 us", "5.00 us", "0.500 us"]


def test_all_shows_each_finding_with_its_curve(switchpoint: Run, table: Path) -> None:
    lines = switchpoint("detect", table, "--all").stdout.splitlines()

    assert len([line for line in lines if "32,768 to 65,536 B" in line]) == 18


@pytest.mark.parametrize(
    ("arguments", "curves"),
    [
        (["--curve", "mpi=MPICH"], 6),
        (["--curve", "mpi=mpich 4.0.2"], 6),
        (["--curve", "mpi=MPICH 4.0.2", "--curve", "mode=ssend"], 3),
        (["--curve", "mpi=MPICH", "--curve", "mpi=Open MPI"], 12),
        (["--curve", "mode=send"], 9),  # a whole value counts before a part of one
        (["--curve", "intel"], 6),
        (["--only", "step"], 18),
        (["--only", "slope-change"], 0),
        (["--only", "step", "--only", "outlier", "--curve", "launch=2"], 6),
    ],
)
def test_filters_choose_curves_and_kinds_in_json_too(
    switchpoint: Run, table: Path, arguments: list[str], curves: int
) -> None:
    found = json.loads(switchpoint("detect", table, "--json", *arguments).stdout)["findings"]

    assert len(found) == curves


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--only", "steps"], "--only: 'steps' is not a kind; use one of step, slope_change"),
        (["--sort", "name"], "--sort: 'name' is not a sort key; use one of confidence, cost"),
        (["--curve", "site=alpha"], "--curve: no curve has 'site'; they have: mpi, placement"),
        (["--curve", "MVAPICH"], "--curve: no curve matches MVAPICH"),
    ],
)
def test_a_filter_that_cannot_be_is_one_line(
    switchpoint: Run, table: Path, arguments: list[str], problem: str
) -> None:
    result = switchpoint("detect", table, *arguments)

    assert result.exit_code == 2
    assert problem in result.stderr
    assert result.stderr.count("\n") == 1


def test_proved_causes_come_first(switchpoint: Run, tmp_path: Path) -> None:
    proved = proved_openmpi(tmp_path).records
    lines = switchpoint("detect", RECORDS, *proved).stdout.splitlines()

    assert lines[0].startswith("Other work took")  # from one of the recorded runs
    start = lines.index("Causes of switches")
    assert not any(line.startswith("step") for line in lines[:start])
    causes = lines[start + 1 : lines.index("", start)]
    assert any(
        cause.startswith("testbed, batch, Open MPI 4.1.4, openmpi, one_node_network, send: 65,480")
        and cause.endswith("btl_tcp_eager_limit = 65536, confirmed")
        for cause in causes
    )
    assert len(lines) <= 40


def line_table(*rows: tuple[str, int, int, float]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Findings of one MPI each with run, bracket and magnitude, and curves of all sizes."""
    findings = pd.DataFrame(
        [
            {
                "mpi": "MPI", "run_id": run, "kind": "step", "size_bytes": first,
                "last_size_before": last, "magnitude": magnitude, "confidence": 0.95,
                "evidence": {"jump_us": 10 * magnitude}, "suspects": [], "origin": None,
            }
            for run, last, first, magnitude in rows
        ]
    )  # fmt: skip
    curves = pd.DataFrame(
        [
            {"mpi": "MPI", "run_id": run, "size_bytes": size, "time_us": 1.0}
            for run in "abcdef"
            for size in (0, 2**20)
        ]
    )
    return findings, curves


def test_brackets_of_other_grids_are_one_line_with_the_narrowest() -> None:
    [line] = digest(*line_table(("a", 8192, 16384, 0.5), ("b", 11585, 12288, 0.4)))

    assert (line.last_size_before, line.size_bytes) == (11585, 12288)
    assert (len(line.curves), line.of_curves) == (2, 6)


@pytest.mark.parametrize(
    "other",
    [("b", 16384, 32768, 0.5), ("b", 8192, 16384, -0.5), ("b", 16000, 23000, 0.5)],
    ids=["the next size", "the other direction", "hardly shared"],
)
def test_other_boundaries_are_lines_of_their_own(other: tuple[str, int, int, float]) -> None:
    assert len(digest(*line_table(("a", 8192, 16384, 0.5), other))) == 2


def test_the_smallest_sizes_recur_too() -> None:
    assert len(digest(*line_table(("a", 0, 1, 0.5), ("b", 0, 1, 0.5)))) == 1


def test_each_place_has_a_line_before_any_has_two(table: Path) -> None:
    measurements = read_files([table]).measurements
    assert measurements is not None
    curves = summarise(measurements)
    lines = sort_lines(digest(detect(measurements), curves), "cost")

    shown = first_of_each_place(lines * 2, 4)

    assert len({line.place["mpi"] for line in shown}) == 3


#: Of each MPI: where its step is, the time before it and how much it adds, and its curves.
_STEPS = {
    "Open MPI 4.1.4": (6, 0.2, 2.0, 1),
    "MPICH 4.0.2": (12, 100.0, 50.0, 2),
    "Intel MPI 2021.9": (16, 1.0, 0.7, 3),
}


@pytest.fixture(scope="module")
def steps_that_differ(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tidy CSV of `_STEPS`, in which each way to sort has an order of its own."""
    rows = [
        f"{mpi},mode{curve},{launch},{2**power},{before + 2**power * 1e-6 + adds * (power >= at)}"
        for mpi, (at, before, adds, curves) in _STEPS.items()
        for curve in range(curves)
        for launch in range(3)
        for power in range(21)
    ]
    path = tmp_path_factory.mktemp("steps") / "curves.csv"
    path.write_text("\n".join(["mpi,mode,launch,size_bytes,time_us", *rows]) + "\n")
    return path


@pytest.mark.parametrize(
    ("by", "order"),
    [
        ("cost", ["MPICH 4.0.2", "Open MPI 4.1.4", "Intel MPI 2021.9"]),
        ("time", ["Open MPI 4.1.4", "Intel MPI 2021.9", "MPICH 4.0.2"]),
        ("confidence", ["Open MPI 4.1.4", "Intel MPI 2021.9", "MPICH 4.0.2"]),
        ("curves", ["Intel MPI 2021.9", "MPICH 4.0.2", "Open MPI 4.1.4"]),
        ("size", ["Open MPI 4.1.4", "MPICH 4.0.2", "Intel MPI 2021.9"]),
    ],
)
def test_lines_and_findings_are_sorted_by_what_is_asked(
    switchpoint: Run, steps_that_differ: Path, by: str, order: list[str]
) -> None:
    # Findings, each of one curve, have no number of curves.
    for more in ([], ["--all"]) if by != "curves" else ([],):
        words = ("--only", "step", "--min-confidence", 0, "--sort", by, *more)
        printed = switchpoint("detect", steps_that_differ, *words).stdout
        assert sorted(order, key=printed.index) == order


def test_a_column_that_no_curve_has_is_named() -> None:
    findings, _ = line_table(("a", 1, 2, 0.5))

    with pytest.raises(InputError, match="no curve has 'net'"):
        select_curves(findings, ["net=ib"])


def test_hundreds_of_different_findings_stay_within_the_lines(
    switchpoint: Run, tmp_path: Path
) -> None:
    rows = []
    for number in range(60):  # sites, each with steps of its own
        for power in range(23):
            steps = sum(power >= at for at in (6 + number % 5, 14 + number % 5))
            time = 1.6**steps * (2 + 2**power * 1e-3)
            rows.append(f"site{number:02},MPI {number % 3}.0,{2**power},{time:.4f}")
    path = tmp_path / "sites.csv"
    path.write_text("\n".join(["site,mpi,size_bytes,time_us", *rows]) + "\n")

    result = switchpoint("detect", path)

    lines = result.stdout.splitlines()
    assert 30 <= len(lines) <= 40
    assert "not shown, --all prints every finding" in lines[-2]
    assert len(switchpoint("detect", path, "--all").stdout.splitlines()) > 120
