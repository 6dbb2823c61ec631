"""The pages of the five studies agree with `switchpoint claims`, and show what was measured."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest
from switchpoint import Measurements, claims, write_studies
from switchpoint.studies.claims import efficiencies
from switchpoint.studies.study_002 import break_even
from test_claims import (
    MPICH,
    OPEN_MPI,
    Site,
    broadcasts,
    exchange,
    expected_ring,
    predicted_sorts,
    rings,
)
from typer.testing import Result

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


def pages(measurements: Measurements, folder: Path) -> dict[str, str]:
    """Write the pages; their texts by the number of the study."""
    return {path.stem: path.read_text() for path in write_studies(measurements, folder)}


def rows(page: str, heading: str) -> list[list[str]]:
    """Return the cells of the first table below a heading."""
    lines = page.partition(heading)[2].splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("|"))
    table = []
    for line in lines[first:]:
        if not line.startswith("|"):
            break
        table.append([cell.strip() for cell in line.strip("|").split(" | ")])
    return table


def test_each_verdict_is_the_one_of_claims(tmp_path: Path) -> None:
    site = exchange(rings(expected_ring(300, 0.1)))
    for mpi in (OPEN_MPI, MPICH):
        site.run("broadcast", {("library", 1): 1.0, ("repeated", 1): 2.0}, ranks=2, mpi=mpi)
    found = claims(site.measurements())

    written = pages(site.measurements(), tmp_path / "pages")

    for study in ("002", "003", "004"):
        head, _, *cells = rows(written[study], "## Our figures beside its figures")
        shown = {
            (int(row[0]), place.removeprefix("here, ")): cell.split("**")[1]
            for row in cells for place, cell in zip(head[4:], row[4:], strict=True) if cell
        }  # fmt: skip
        assert shown
        for (number, mpi), verdict in shown.items():
            same = found[(found["study"] == study) & (found["number"] == number)]
            own = same[same["mpi"].isna() if mpi == "all tools" else same["mpi"] == mpi]
            assert set(own["verdict"]) == {verdict}


def test_what_is_open_has_its_reason_and_fix(tmp_path: Path) -> None:
    page = pages(rings(expected_ring(5, 0.01), cores=1).measurements(), tmp_path / "pages")["002"]

    assert "there are more ranks than cores" in page
    assert "It needs: use a site whose placements have a core for each of 4 ranks or more" in page


def test_each_map_is_shown_with_its_prediction_and_timeline(tmp_path: Path) -> None:
    page = pages(predicted_sorts(1.0).measurements(), tmp_path / "pages")["000"]

    maps = {row[0]: row for row in rows(page, "Measured / predicted")}
    measured, predicted = maps["figure 10"][3].split(" / ")
    assert measured == predicted != "-"
    assert maps["a processor for each leaf"][3].endswith("ms")
    drawing = ET.parse(tmp_path / "pages/000-timelines-1.svg")
    assert len(drawing.findall(".//{*}rect")) > 7 * len(maps)


def test_break_even_is_where_the_efficiency_is_that_of_one_rank(tmp_path: Path) -> None:
    site = Site()
    for task_us in (100, 1000, 10_000):
        times = {("serial", 4): float(task_us), ("alternate", 4): task_us / 2 + 700}
        site.run("ring", times, grain_us=str(task_us), serial_percent="0")
    [row] = break_even(efficiencies(site.measurements())).to_dict("records")

    assert 1000 < row["measured_us"] < 2000  # 1,400 us, between the two tasks
    assert row["literature_us"] == pytest.approx(6020)

    page = pages(site.measurements(), tmp_path / "pages")["002"]
    assert "![Efficiency, here, Open MPI 4.1.4](002-efficiency-1.svg)" in page
    ET.parse(tmp_path / "pages/002-efficiency-1.svg")


def test_break_even_below_the_shortest_task_is_said(tmp_path: Path) -> None:
    site = Site()
    for task_us in (100, 1000):
        times = {("serial", 4): float(task_us), ("alternate", 4): task_us / 2 + 10}
        site.run("ring", times, grain_us=str(task_us), serial_percent="0")
    [row] = break_even(efficiencies(site.measurements())).to_dict("records")
    assert row["measured_us"] is None
    assert row["below_us"] == pytest.approx(100)
    assert "below 0.100 ms / " in pages(site.measurements(), tmp_path / "pages")["002"]


def test_the_studys_own_trees_are_compared_with_its_table(tmp_path: Path) -> None:
    site = broadcasts(broadcasts(Site(), 31, binary_ack=40.0), 21, two_level_ack=20.0)
    page = pages(site.measurements(), tmp_path / "pages")["004"]

    assert rows(page, "sixteen members")[-1][-2:] == ["2.00", "1.44"]


def test_names_from_a_record_are_only_text(tmp_path: Path) -> None:
    site = Site().run("ring", {("serial", 4): 9.0}, mpi="Evil | <b> [x](y) MPI 1")
    page = pages(site.measurements(), tmp_path / "pages")["002"]

    assert r"Evil \| \<b\> \[x\](y) MPI 1" in page
    assert "<b>" not in page.replace(r"\<b\>", "")


def test_the_pages_of_the_documentation_are_short() -> None:
    """Their tables are as long as what was measured."""
    for study in ("000", "002", "003", "004"):
        lines = (ROOT / f"docs/studies/{study}.md").read_text().splitlines()
        prose = " ".join(line for line in lines if not line.startswith("|"))
        assert len(prose.split()) < 700


def test_the_command_writes_pages_from_a_store_and_spares_other_files(
    switchpoint: Callable[..., Result], tmp_path: Path
) -> None:
    record = Path(__file__).parent / "records/openmpi-network-limit-65536.record.gz"
    store, folder = tmp_path / "store", tmp_path / "pages"
    assert switchpoint("import", record, "--store", store).exit_code == 0

    done = switchpoint("studies", store, "--output", folder, "--json")

    assert done.exit_code == 0, done.stderr
    names = [Path(page).name for page in json.loads(done.stdout)["pages"]]
    assert names == ["000.md", "001.md", "002.md", "003.md", "004.md"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/000.md").write_text("mine")
    refused = switchpoint("studies", store, "--output", tmp_path / "mine")
    assert refused.exit_code == 2
    assert (tmp_path / "mine/000.md").read_text() == "mine"
    missing = switchpoint("studies", tmp_path / "none", "--output", folder)
    assert (missing.exit_code, len(missing.stderr.splitlines())) == (2, 1)
