"""Tools stand side by side by study 004's statistic, with what was not measured named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import write_record
from switchpoint import InputError, Measurements, summarise, tools
from switchpoint.comparison.tools import missing_tools
from typer.testing import Result


def echo(mode: str, times_us: list[float], **identity: str) -> pd.DataFrame:
    """One run of the kernel at 8 B, a sample for each half round trip."""
    return pd.DataFrame(
        {
            "site": "here", "placement": "two_nodes_two_hosts", "kernel": "echo", "mode": mode,
            "mpi": "Open MPI 4.1.4", "run_id": f"{mode}{times_us}",
            "size_bytes": 8, "pass": 0, "sample": range(len(times_us)), "iterations": 1,
            "time_us": times_us,
        }
        | identity
    )  # fmt: skip


def measured(*runs: pd.DataFrame) -> Measurements:
    """Measurements of these runs."""
    samples = pd.concat(runs, ignore_index=True)
    return Measurements(samples, samples[["run_id"]].drop_duplicates())


def test_the_statistic_leaves_out_the_best_and_the_worst() -> None:
    random = np.random.default_rng(20261121)
    times = random.lognormal(2, 1, 100)
    curves = summarise(pd.concat([echo("mpi", list(times)), echo("pvm", [3.0, 5.0])]))

    by_mode = curves.set_index("mode")["trimmed_us"]
    assert by_mode["mpi"] == pytest.approx(np.mean(np.sort(times)[1:-1]))
    assert by_mode["pvm"] == 4


def test_each_tool_is_held_against_the_faster_sockets() -> None:
    table = tools(
        measured(
            echo("sockets", [9, 10, 10, 10, 99]),
            echo("sockets_polling", [5, 5, 5]),
            echo("mpi", [10, 10, 10]),
            echo("mpi", [20, 20, 20]),
            echo("mpi", [60, 60, 60], mpi="MPICH 4.0.2"),
            echo("pvm", [50, 50, 50], placement="one_node_network"),
        )
    ).set_index(["placement", "tool"])

    here = table.loc["two_nodes_two_hosts"]
    assert here["round_trip_us"].to_dict() == {
        "MPICH 4.0.2": 120, "Open MPI 4.1.4": 30, "TCP sockets": 20, "TCP sockets, polling": 10,
    }  # fmt: skip
    assert here["over_sockets"].to_dict() == {
        "MPICH 4.0.2": 12, "Open MPI 4.1.4": 3, "TCP sockets": 2, "TCP sockets, polling": 1,
    }  # fmt: skip
    assert (here.loc["Open MPI 4.1.4", "runs"], here.loc["Open MPI 4.1.4", "samples"]) == (2, 6)
    alone = table.loc[("one_node_network", "PVM, through daemons")]
    assert alone["round_trip_us"] == 100
    assert np.isnan(alone["over_sockets"])


def test_what_was_not_measured_is_named() -> None:
    table = tools(measured(echo("mpi", [1, 2, 3]), echo("sockets", [1, 2, 3])))

    assert missing_tools(table) == ["PVM", "MPICH", "Intel MPI"]


def test_measurements_without_an_echo_are_refused() -> None:
    with pytest.raises(InputError, match="no run of the kernel echo; run the checks Echo"):
        tools(measured(echo("send", [1, 2, 3], kernel="pingpong")))


def test_the_command_prints_tables_and_json(
    switchpoint: Callable[..., Result], tmp_path: Path
) -> None:
    write_record(tmp_path / "other.record", sizes=[8])
    refused = switchpoint("tools", tmp_path)
    assert refused.exit_code == 2
    assert "there is no run of the kernel echo" in refused.output

    record = write_record(
        tmp_path / "echo.record", sizes=[1, 65536], run_id="e" * 32, kernel={"name": "echo"}
    )
    printed = switchpoint("tools", record)
    assert printed.exit_code == 0, printed.output
    assert "here, one_node_network" in printed.output
    assert "64 KiB" in printed.output
    content = json.loads(switchpoint("tools", record, "--json").stdout)
    assert {row["size_bytes"] for row in content["tools"]} == {1, 65536}
    assert all(row["over_sockets"] is None for row in content["tools"])
    assert "MPICH" in content["not_measured"]


def test_the_report_has_a_table_where_there_is_an_echo(
    switchpoint: Callable[..., Result], tmp_path: Path
) -> None:
    for kernel, tables in (("echo", 1), ("pingpong", 0)):
        record = write_record(
            tmp_path / "one.record", sizes=[1, 65536], step_at=None, kernel={"name": kernel}
        )
        reported = switchpoint("report", record, "-o", tmp_path / kernel)
        assert reported.exit_code == 0, reported.output
        page = (tmp_path / kernel / "comparison.html").read_text(encoding="utf-8")
        assert page.count('<table id="tools-table">') == tables
