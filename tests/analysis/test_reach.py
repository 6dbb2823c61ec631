"""What a site reaches follows from its curves, and its share from the declared or reported link."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from conftest import RECORDS, SIZES, write_record
from switchpoint import reach
from switchpoint.reporting.terminal.reach import print_reach
from typer.testing import Result

Run = Callable[..., Result]

PLACE = {"site": "alpha", "mpi": "MPICH 4.0.2", "placement": "two_nodes"}


def curve(
    folder: Path, kernel: str, mode: str, latency: float, per_byte: float, **more: str
) -> None:
    """Write a launch of a curve without noise."""
    folder.mkdir(parents=True, exist_ok=True)
    names = PLACE | {"kernel": kernel, "mode": mode} | more
    rows = [f"{','.join(names.values())},{size},{latency + per_byte * size:.9f}" for size in SIZES]
    header = ",".join([*names, "size_bytes", "time_us"])
    path = folder / f"{kernel}-{mode}-{latency}.csv"
    path.write_text("\n".join([header, *rows]) + "\n")


def test_a_line_has_the_latency_peak_and_half_size_of_hockneys_model(tmp_path: Path) -> None:
    curve(tmp_path, "pingpong", "send", 4.0, 1e-3)
    curve(tmp_path, "pingpong", "stream", 0.5, 8e-4, window_size="64")

    [row] = reach(str(tmp_path)).to_dict("records")

    assert row["latency_us"] == pytest.approx(4.001)
    assert row["messages_per_s"] == pytest.approx(1e6 / 0.5008)
    assert row["peak_MBps"] == pytest.approx(1 / (8e-4 + 0.5 / SIZES[-1]))
    assert row["peak_of"] == "stream"
    # Of the measured peak, which is a little below the asymptotic one.
    half = SIZES[-1] / (4.0 + 1e-3 * SIZES[-1]) / 2
    assert row["half_size_bytes"] == pytest.approx(4.0 * half / (1 - 1e-3 * half), rel=0.02)
    assert np.isnan(row["latency_us_low"])


def test_intervals_are_over_launches(tmp_path: Path) -> None:
    for latency in (3.9, 4.0, 4.1):
        curve(tmp_path, "pingpong", "send", latency, 1e-3)

    [row] = reach(str(tmp_path)).to_dict("records")

    assert row["launches"] == 3
    assert row["latency_us_low"] < 3.9 < 4.1 < row["latency_us_high"]


def test_benchmarks_of_one_place_are_rows_of_one_table(switchpoint: Run, tmp_path: Path) -> None:
    curve(tmp_path, "pingpong", "send", 4.0, 1e-3)
    curve(tmp_path, "osu_latency", "", 4.2, 1e-3)
    curve(tmp_path, "osu_bw", "", 0.6, 1e-3)
    curve(tmp_path, "imb_pingpong", "", 4.3, 1e-3)
    curve(tmp_path, "osu_bcast", "", 9.0, 1e-3)

    table = reach(str(tmp_path))
    printed = switchpoint("reach", tmp_path)
    content = json.loads(switchpoint("reach", tmp_path, "--json").stdout)

    assert table["benchmark"].tolist() == ["IMB", "OSU", "pingpong"]
    assert table["peak_of"].tolist() == ["round trips", "stream", "round trips"]
    assert printed.exit_code == 0, printed.output
    assert "alpha" in printed.stdout
    assert [row["benchmark"] for row in content["reach"]] == ["IMB", "OSU", "pingpong"]
    assert content["reach"][0]["link_MBps"] is None


def test_the_share_is_that_of_the_declared_link_or_else_of_the_interface(tmp_path: Path) -> None:
    for number, declared in enumerate(({"link_Gbps": "25"}, {})):
        record = write_record(
            tmp_path / f"{number}.record", run_id=f"{number}" * 32, step_at=None,
            labels={"site": f"site{number}", "placement": "two_nodes", **declared},
        )  # fmt: skip
        fabric = '"name": "ib0", "mtu": 4092, "speed_Mbps": 40000,'
        record.write_text(record.read_text().replace('"name": "lo", "mtu": 65536,', fabric))

    first, second = reach(str(tmp_path)).to_dict("records")

    assert (first["link_MBps"], first["link_from"]) == (3125, "declared")
    assert (second["link_MBps"], second["link_from"]) == (5000, "interface")
    assert first["share_of_link"] == pytest.approx(first["peak_MBps"] / 3125)


def test_the_declared_link_is_not_part_of_the_identity_of_a_curve(tmp_path: Path) -> None:
    for number, declared in enumerate(({"link_Gbps": "25"}, {})):
        write_record(
            tmp_path / f"{number}.record", run_id=f"{number}" * 32,
            labels={"site": "alpha", "placement": "two_nodes", **declared},
        )  # fmt: skip

    assert reach(str(tmp_path))["launches"].tolist() == [2]


def test_latencies_stand_beside_those_of_sockets(tmp_path: Path) -> None:
    curve(tmp_path, "pingpong", "send", 6.0, 1e-3)
    curve(tmp_path, "echo", "sockets", 5.0, 1e-3)
    curve(tmp_path, "echo", "sockets_polling", 4.0, 1e-3)

    [row] = reach(str(tmp_path)).to_dict("records")

    assert row["sockets_us"] == pytest.approx(4.001)
    assert row["over_sockets"] == pytest.approx(6.001 / 4.001)


def test_searches_alone_reach_nothing_and_that_is_said(switchpoint: Run) -> None:
    result = switchpoint("reach", RECORDS / "explain" / "openmpi-tcp-zoom.record.gz")

    assert result.exit_code == 2
    [line] = result.stderr.splitlines()
    assert "contains no round trips and no streams" in line


def test_where_the_time_of_each_benchmark_jumps_stands_in_the_same_table(
    switchpoint: Run, tmp_path: Path
) -> None:
    record = write_record(tmp_path / "run.record", labels={"site": "alpha"})

    printed = switchpoint("reach", record, "--switches")
    [row] = json.loads(switchpoint("reach", record, "--switches", "--json").stdout)["reach"]

    [jump] = row["switches"]
    assert jump["last_size_before"] < 65481 <= jump["first_size_bytes"]
    assert jump["exact"] is False
    assert f"{jump['last_size_before']:,} to {jump['first_size_bytes']:,} B (+" in printed.stdout


def test_no_row_is_of_two_fabrics_node_counts_or_buffers(switchpoint: Run, tmp_path: Path) -> None:
    for number, fabric in enumerate(("infiniband", "roce")):
        for nodes in ("2", "16"):
            for kernel, latency in (("osu_latency", 1.0), ("osu_bw", 0.5)):
                curve(
                    tmp_path / fabric / nodes, kernel, "", latency + number, 1e-4 * (1 + number),
                    fabric=fabric, nodes=nodes,
                )  # fmt: skip

    table = reach(str(tmp_path))
    printed = switchpoint("reach", tmp_path)

    assert table[["fabric", "nodes"]].to_numpy().tolist() == [
        ["infiniband", "16"], ["infiniband", "2"], ["roce", "16"], ["roce", "2"]
    ]  # fmt: skip
    assert table["latency_us"].round(1).tolist() == [1.0, 1.0, 2.0, 2.0]
    assert table["launches"].tolist() == [1, 1, 1, 1]
    assert table["latency_us_low"].isna().all()
    assert "fabric" in printed.stdout
    assert "nodes" in printed.stdout


def test_streams_with_other_windows_are_other_rows(tmp_path: Path) -> None:
    curve(tmp_path, "pingpong", "stream", 0.5, 8e-4, window_size="64")
    curve(tmp_path, "pingpong", "stream", 0.9, 8e-4, window_size="1")

    assert reach(str(tmp_path))["window_size"].tolist() == ["1", "64"]


def test_a_launch_that_measured_less_is_no_launch_of_the_sweep(tmp_path: Path) -> None:
    for number, (latency, sizes) in enumerate([(4.0, SIZES), (4.1, SIZES), (5.0, SIZES[:6])]):
        rows = [f"{size},{latency + 1e-3 * size:.6f}" for size in sizes]
        header = "site,mpi,kernel,size_bytes,time_us"
        lines = [f"alpha,MPICH,osu_latency,{row}" for row in rows]
        (tmp_path / f"{number}.csv").write_text("\n".join([header, *lines, ""]))

    [row] = reach(str(tmp_path)).to_dict("records")

    assert row["launches"] == 2
    assert row["latency_us"] == pytest.approx(4.05, rel=1e-3)


def test_a_declared_link_is_that_of_the_row_and_of_no_other(tmp_path: Path) -> None:
    for number, (fabric, rate) in enumerate([("infiniband", "200"), ("roce", "25")]):
        write_record(
            tmp_path / f"{number}.record", run_id=f"{number}" * 32,
            labels={"site": "alpha", "placement": "p", "fabric": fabric, "link_Gbps": rate},
        )  # fmt: skip

    assert reach(str(tmp_path))["link_MBps"].tolist() == [25000, 3125]


@pytest.mark.parametrize("columns", [80, 120])
def test_no_line_is_wider_than_the_terminal_or_ends_in_blanks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path,
    columns: int,
) -> None:  # fmt: skip
    for fabric in ("infiniband-hdr-200", "roce-over-connectx-5"):
        for kernel, latency in (("osu_latency", 1.0), ("osu_bw", 0.5)):
            curve(tmp_path / fabric, kernel, "", latency, 1e-4, fabric=fabric, environ="gnu-12")
    table = reach(str(tmp_path), switches=True)

    print_reach(table)
    piped = capsys.readouterr().out
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    print_reach(table)
    shown = capsys.readouterr().out

    assert all(line == line.rstrip() and len(line) <= 200 for line in piped.splitlines())
    rows = shown.splitlines()[:-3]
    assert max(len(re.sub(r"\x1b\[\d*m", "", line)) for line in rows) <= columns
    for word in ("infiniband-hdr-200", "roce-over-connectx-5", "latency / us", "n1/2"):
        assert word in shown
