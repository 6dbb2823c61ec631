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

    assert not planned.settings
    assert ("send", 52016, 65536) in planned.brackets
    narrow = [(last, first) for mode, last, first in planned.brackets if first - last < 100]
    assert any(last < 65480 < first for last, first in narrow)
    assert {mode for mode, _, _ in planned.brackets} <= {"send", "ssend"}


def test_after_a_zoom_come_the_settings_to_change_the_likeliest_first() -> None:
    planned = plan(ZOOM)

    first = planned.settings[0]
    assert (planned.last, first.environment) == (65480, "OMPI_MCA_btl_tcp_eager_limit")
    assert [value > 65536 for value in first.higher] == [True, True]
    assert [0 < value < 65536 for value in first.lower] == [True, True]
    assert all(value & (value - 1) for value in first.higher[:1])  # no power of two
    assert len(planned.settings) > 20  # all sizes that the run lists


def test_every_setting_of_the_run_with_a_size_can_be_named(switchpoint: Run) -> None:
    result = switchpoint("plan", ZOOM, "--setting", "btl_tcp_max_send_size", "--json")

    content = json.loads(result.stdout)
    assert content["settings"][0]["name"] == "btl_tcp_max_send_size"
    assert content["settings"][0]["value"] == 131072
    assert content["settings"][0]["try"][0] > 131072


def test_the_plan_for_people_is_a_list_of_settings_and_values(switchpoint: Run) -> None:
    lines = switchpoint("plan", ZOOM).stdout.splitlines()

    assert lines[0].startswith("The last size before the switch is 65,480 B.")
    assert lines[1].startswith("  OMPI_MCA_btl_tcp_eager_limit: ")
    assert "try 73728, 98304, 57344" in lines[1]
    unset = {"oob_tcp_peer_limit": "= -1", "opal_set_max_sys_limits": "has no value"}
    for name, value in unset.items():
        says = f"{name} {value}: no size is set, but the library may choose one"
        assert f"  OMPI_MCA_{name}: {says}" in lines


def test_the_plan_after_a_sweep_is_a_command_line(switchpoint: Run) -> None:
    line = switchpoint("plan", SWEEP).stdout

    assert line.startswith("zoom --mode=late,send --brackets=send:")
    assert line.rstrip().endswith("--sizes=1,3329021")  # one of the sweep's steps is beyond 1 MiB


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
        (["--setting", "no_such"], "--setting: the run lists no setting 'no_such' with a size"),
        (["--mode", "send,"], "--mode: an empty name"),
    ],
)
def test_what_cannot_be_measured_is_refused(switchpoint: Run, words: list[str], says: str) -> None:
    result = switchpoint("plan", ZOOM, *words)

    assert result.exit_code == 2
    assert says in result.stderr


def test_a_table_of_another_tool_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "osu.out"
    table.write_text("# OSU MPI Latency Test v7.4\n# Size  Latency (us)\n1 1.0\n2 1.1\n4 1.2\n")

    with pytest.raises(InputError, match="is not a run record; give a record of our kernels"):
        plan(table)
