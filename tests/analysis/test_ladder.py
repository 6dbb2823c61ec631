"""Ladders name the protocol of each size from what was proved, and draw any name harmlessly."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import RECORDS, SIZES, write_record
from experiments import proved_openmpi
from switchpoint import ladder, read_files
from switchpoint.reporting.figures.ladder import draw_ladders
from switchpoint.reporting.pages.contents import Contents
from switchpoint.reporting.pages.overview import overview
from typer.testing import Result

Run = Callable[..., Result]

EXPLAIN = RECORDS / "explain"
SVG = "{http://www.w3.org/2000/svg}"


def rungs_of(*names: str) -> list[dict[str, object]]:
    """The rungs of some recorded zooms, interventions and sweeps."""
    measurements = read_files([EXPLAIN / f"{name}.record.gz" for name in names]).measurements
    assert measurements is not None
    return ladder(measurements).to_dict("records")


def test_a_proved_switch_divides_eager_from_rendezvous(tmp_path: Path) -> None:
    rungs = ladder(proved_openmpi(tmp_path).measurements).to_dict("records")

    eager = [rung for rung in rungs if rung["protocol"] == "eager"]
    rendezvous = [rung for rung in rungs if rung["protocol"] == "rendezvous"]
    assert eager[-1]["last_size_bytes"] == 65480
    switch = rendezvous[0]
    assert (switch["last_size_before"], switch["first_size_bytes"]) == (65480, 65481)
    assert switch["exact"] is True
    assert (switch["cause"], switch["status"]) == ("btl_tcp_eager_limit", "confirmed")


def test_without_a_proof_no_protocol_is_named(tmp_path: Path) -> None:
    record = write_record(tmp_path / "run.record")

    measurements = read_files([record]).measurements
    assert measurements is not None
    rungs = ladder(measurements)

    assert set(rungs["protocol"]) == {"not known"}
    assert rungs["kind"].tolist() == [None, "step"]
    assert rungs["exact"].tolist() == [None, False]
    assert rungs["last_size_before"].iloc[1] < 65481 <= rungs["first_size_bytes"].iloc[1]


def test_curves_that_only_the_name_of_a_label_distinguishes_have_a_bar_each(
    switchpoint: Run, tmp_path: Path
) -> None:
    for number, labels in enumerate(({"rail": "1"}, {"plane": "1"}, {})):
        path = tmp_path / f"{number}.record"
        write_record(path, run_id=f"{number}" * 32, labels={"site": "here", **labels})

    done = switchpoint("ladder", tmp_path)

    assert done.exit_code == 0, done.output
    bars = [line for line in done.stdout.splitlines() if "────" in line]
    assert len(bars) == 3


def test_launches_that_bracket_a_step_differently_show_it_once(tmp_path: Path) -> None:
    for launch in range(3):
        write_record(
            tmp_path / f"{launch}.record", run_id=f"{launch}" * 32,
            sizes=[2**power + launch * 2 ** (power - 3) for power in range(4, 22)],
        )  # fmt: skip

    measurements = read_files([tmp_path]).measurements
    assert measurements is not None

    assert len(ladder(measurements)) == 2


def test_a_boundary_of_a_few_launches_is_listed_and_divides_nothing(
    switchpoint: Run, tmp_path: Path
) -> None:
    for launch in range(5):
        times = {2**power: 2 + 2**power / 1e3 + 30 * (power >= 16) for power in range(23)}
        times |= {size: 3 * times[size] for size in times if launch == 3 and size < 64}
        table = "\n".join(f"{size:<20}{time + launch / 100:.2f}" for size, time in times.items())
        heading = "# OSU MPI Latency Test v7.0\n# Size          Latency (us)\n"
        (tmp_path / f"launch-{launch}.txt").write_text(f"{heading}{table}\n")

    shown = switchpoint("ladder", tmp_path).stdout
    [row] = json.loads(switchpoint("reach", "--switches", "--json", tmp_path).stdout)["reach"]

    assert [line for line in shown.splitlines() if ", step, " in line] == [
        "    : 32,768 to 65,536 B, step, +44 %, cause not known, 5 of 5 launches"
    ]
    assert "not drawn: 32 to 64 B (1 of 5 launches)" in shown
    [jump] = row["switches"]
    assert (jump["first_size_bytes"], jump["launches"], jump["of_launches"]) == (65536, 5, 5)


def test_the_command_prints_bars_and_draws_them(switchpoint: Run, tmp_path: Path) -> None:
    for site in ("alpha", "beta"):
        write_record(
            tmp_path / f"{site}.record", run_id=site[0] * 32,
            labels={"site": site, "placement": "one_node"},
        )  # fmt: skip
    picture = tmp_path / "ladder.svg"

    printed = switchpoint("ladder", tmp_path, "--svg", picture)
    content = json.loads(switchpoint("ladder", tmp_path, "--json").stdout)

    assert printed.exit_code == 0, printed.output
    assert "alpha" in printed.stdout and "beta" in printed.stdout
    assert "step, +" in printed.stdout
    assert {rung["curve"]["site"] for rung in content["rungs"]} == {"alpha", "beta"}
    drawing = ET.fromstring(picture.read_text(encoding="utf-8"))
    texts = [element.text for element in drawing.iter(f"{SVG}text")]
    assert "alpha" in texts and "beta" in texts


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "\u202eabc\u05d0\u05d1", "y" * 500])
def test_any_name_is_drawn_harmlessly(tmp_path: Path, name: str) -> None:
    record = write_record(tmp_path / "run.record", labels={"site": name, "placement": name})
    measurements = read_files([record]).measurements
    assert measurements is not None

    text = draw_ladders(ladder(measurements))

    drawing = ET.fromstring(text)
    assert not list(drawing.iter("script")) and not list(drawing.iter(f"{SVG}script"))
    assert "\u202e" not in text
    shown = [element.text or "" for element in drawing.iter(f"{SVG}text")]
    assert max(map(len, shown)) * 6.4 < float(drawing.get("width", 0))
    bars = [float(bar.get("x", 0)) for bar in drawing.iter(f"{SVG}rect") if bar.get("x")]
    assert bars and min(bars) < 100, "a narrow screen shows no bar"


def test_labels_of_neighbouring_boundaries_do_not_overlap() -> None:
    names = ["mpich-tcp-zoom", "mpich-fifo-zoom", "openmpi-tcp-zoom", "openmpi-memory-zoom"]
    measurements = read_files([EXPLAIN / f"{name}.record.gz" for name in names]).measurements
    assert measurements is not None

    drawing = ET.fromstring(draw_ladders(ladder(measurements)))

    boxes = []
    for text in drawing.iter(f"{SVG}text"):
        if text.get("text-anchor") == "middle" and (text.text or "").replace(",", "").isdigit():
            half = 3 * len(text.text or "")
            boxes.append((float(text.get("y", 0)), float(text.get("x", 0)), half))
    assert len(boxes) >= 2
    for number, (y, x, half) in enumerate(boxes):
        for other_y, other_x, other_half in boxes[:number]:
            assert y != other_y or abs(x - other_x) > half + other_half


def test_the_report_draws_them_and_runs_no_name(switchpoint: Run, tmp_path: Path) -> None:
    name = "<script>alert(1)</script>"
    record = write_record(tmp_path / "run.record", labels={"site": name, "placement": "one_node"})

    assert switchpoint("report", record, "-o", tmp_path / "page").exit_code == 0

    page = (tmp_path / "page" / "index.html").read_text(encoding="utf-8")
    drawing = page[page.index("<svg xmlns") : page.index("</svg>")]
    assert "&lt;script&gt;alert(1)" in drawing
    assert "<script" not in drawing


def test_searches_alone_make_a_ladder(switchpoint: Run) -> None:
    result = switchpoint("ladder", EXPLAIN / "openmpi-tcp-zoom.record.gz", "--json")

    rungs = json.loads(result.stdout)["rungs"]
    assert [rung["protocol"] for rung in rungs][-2:] == ["eager", "rendezvous"]


def test_bad_input_gives_one_line(switchpoint: Run, tmp_path: Path) -> None:
    record = write_record(tmp_path / "run.record")

    mode = switchpoint("ladder", record, "--mode", "nothing")
    folder = switchpoint("ladder", record, "--svg", tmp_path / "none" / "x.svg")

    for result, problem in (
        (mode, "no curve has the mode 'nothing'"),
        (folder, "cannot be written"),
    ):
        assert result.exit_code == 2
        assert problem in result.stderr
        assert len(result.stderr.splitlines()) == 1


def test_the_reports_first_page_draws_the_ladder_that_it_names(tmp_path: Path) -> None:
    for number in range(10):  # no two have the same step, and the last one has the largest
        labels = {"site": "here", "placement": f"place_{number}"}
        write_record(
            tmp_path / f"{number}.record", run_id=f"{number}" * 32, labels=labels,
            sizes=SIZES[::2], slower=9.0 if number == 9 else 0.3,
            step_at=SIZES[::2][-2 * number - 4],
        )  # fmt: skip
    gathered = read_files([tmp_path]).measurements
    assert gathered is not None

    page = overview(Contents.of(gathered))

    assert "place_9" in page.answer[-1]
    curve, _, ladders = page.drawing.partition(
        '<svg xmlns="http://www.w3.org/2000/svg" class="ladders"'
    )
    assert "place_9, pingpong, send" in curve
    [sizes] = re.findall(r"from ([\d,]+ to [\d,]+ B)", page.answer[-1])
    assert sizes in curve
    assert "place_9" in ladders
    assert ladders.count("place_") == 8
