"""`switchpoint plan` says where a zoom should search, and which setting proves a cause."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import RECORDS
from switchpoint import InputError, plan
from typer.testing import Result

Run = Callable[..., Result]

SWEEP = RECORDS / "openmpi-network-limit-65536.record.gz"
ZOOM = RECORDS / "explain" / "openmpi-tcp-zoom.record.gz"


def test_after_a_sweep_comes_a_zoom_into_its_step_and_beside_its_suspect() -> None:
    planned = plan(SWEEP)

    assert planned.intervention is None
    assert ("send", 52016, 65536) in planned.brackets
    narrow = [(last, first) for mode, last, first in planned.brackets if first - last < 100]
    assert any(last < 65480 < first for last, first in narrow)
    assert {mode for mode, _, _ in planned.brackets} <= {"send", "ssend"}


def test_after_a_zoom_comes_an_intervention_and_a_search_where_the_switch_should_go() -> None:
    planned = plan(ZOOM)

    assert planned.intervention is not None
    assert planned.intervention.environment == "OMPI_MCA_btl_tcp_eager_limit"
    target = planned.intervention.last_size_bytes
    assert any(last <= target < first for _, last, first in planned.brackets)
    assert any(last <= 65480 < first for _, last, first in planned.brackets)


def test_a_value_that_is_asked_for_moves_the_search(switchpoint: Run) -> None:
    result = switchpoint("plan", ZOOM, "--value", "32768", "--json")

    content = json.loads(result.stdout)
    assert content["intervention"]["value"] == 32768
    assert any(
        bracket["last_size_before"] <= 32768 - 56 < bracket["size_bytes"]
        for bracket in content["brackets"]
    )


def test_the_plan_for_people_is_a_command_line(switchpoint: Run) -> None:
    line = switchpoint("plan", ZOOM).stdout

    assert line.startswith("OMPI_MCA_btl_tcp_eager_limit=")
    assert " zoom --mode=late,send,ssend --brackets=send:" in line


def test_brackets_beyond_the_default_sizes_come_with_sizes_that_hold_them(switchpoint: Run) -> None:
    words = "plan", ZOOM, "--value", "2000000"

    line = switchpoint(*words).stdout
    content = json.loads(switchpoint(*words, "--json").stdout)

    largest = max(bracket["size_bytes"] for bracket in content["brackets"])
    assert largest > 1 << 20
    assert content["sizes_bytes"] == [1, largest]
    assert line.rstrip().endswith(f" --sizes=1,{largest}")
    assert "--sizes" not in switchpoint("plan", ZOOM).stdout


def test_a_plan_says_which_steps_it_leaves_out_and_none_that_a_setting_may_cause(
    switchpoint: Run, tmp_path: Path
) -> None:
    header, columns = gzip.decompress(SWEEP.read_bytes()).decode().splitlines()[:2]
    limit_bytes = 65480  # the smallest of all steps is here
    rows = [
        f"send,{size},{turn},0,10,{2 ** min(size // 2048, 14) * (1 + 0.2 * (size > limit_bytes))}"
        for turn in range(5)
        for size in range(256, 80_000, 256)
    ]
    record = tmp_path / "many-steps.record"
    record.write_text("\n".join([header, columns, *rows]) + "\n")

    result = switchpoint("plan", record)

    assert "send: of 15 steps only 12 are searched, those with suspects" in result.stderr
    assert f"send:{limit_bytes - 8}-" in result.stdout
    assert result.exit_code == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--setting", "no_such"], "--setting: no step of this zoom is suspected of 'no_such'"),
        (["--value", "-5"], "--value: btl_tcp_eager_limit = -5 would put the switch at -61 B"),
        (["--value", "0"], "--value: btl_tcp_eager_limit = 0 would put the switch at -56 B"),
        (["--value", "99999999999"], "choose a value that puts it between 1 B and 2,147,483,647 B"),
        (["--mode", "send,"], "--mode: an empty name"),
    ],
)
def test_what_cannot_be_measured_is_refused(switchpoint: Run, words: list[str], says: str) -> None:
    result = switchpoint("plan", ZOOM, *words)

    assert result.exit_code == 2
    assert says in result.stderr


def test_where_nothing_was_found_there_is_nothing_to_measure(switchpoint: Run) -> None:
    result = switchpoint("plan", RECORDS / "explain" / "mpich-fifo-zoom.record.gz")

    assert result.exit_code == 0
    assert "Nothing to measure next" in result.stdout


def test_a_table_of_another_tool_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "osu.out"
    table.write_text("# OSU MPI Latency Test v7.4\n# Size  Latency (us)\n1 1.0\n2 1.1\n4 1.2\n")

    with pytest.raises(InputError, match="is not a run record; give a record of our kernels"):
        plan(table)
