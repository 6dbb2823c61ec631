"""What the ranks' cores did: it explains a slower placement, and doubts what a busy run shows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import SIZES, write_record
from typer.testing import Result

#: A tenth of the run's 20 s, of a machine whose counters started long before.
SECOND_US = 1_000_000


def placed(
    folder: Path,
    placement: str,
    factor: float,
    *,
    cores: list[list[int]],
    other_s: float = 0.0,
    step_at: int | None = None,
    counted: bool = True,
) -> Path:
    """Write a record of 20 s in which the ranks used their cores all the time."""
    record = write_record(
        folder / f"{placement}.record",
        run_id=placement.encode().hex()[:32].ljust(32, "0"),
        labels={"site": "here", "placement": placement},
        sizes=SIZES,
        step_at=step_at,
    )
    lines = record.read_text().splitlines()
    header, footer = json.loads(lines[0]), json.loads(lines[-1])
    header["start_utc"], footer["end_utc"] = (
        f"2026-11-22T10:00:{second:02}.000000Z" for second in (0, 20)
    )
    for rank, after in zip(header["ranks"], footer["ranks"], strict=True):
        rank["cpus_allowed"] = cores[rank["rank"]]
        sharing = sum(1 for one in cores if one == rank["cpus_allowed"])
        if counted:
            rank["before"] |= {"cpu_time_us": 0, "cores_busy_us": 5000 * SECOND_US}
            own = 20 * SECOND_US // sharing if not other_s else int((20 - other_s) * SECOND_US)
            after["after"] |= {"cpu_time_us": own, "cores_busy_us": 5020 * SECOND_US}
    slower = [
        ",".join([*row.split(",")[:-1], f"{float(row.split(',')[-1]) * factor:.4f}"])
        for row in lines[2:-1]
    ]
    record.write_text("\n".join([json.dumps(header), lines[1], *slower, json.dumps(footer)]) + "\n")
    return record


def inversion(switchpoint: Callable[..., Result], *records: Path) -> dict:
    result = switchpoint("detect", *records, "--json")
    assert result.exit_code == 0, result.output
    [found] = [
        one for one in json.loads(result.stdout)["findings"] if one["kind"] == "placement_inversion"
    ]
    return found


def test_ranks_that_share_a_core_are_named(tmp_path, switchpoint) -> None:
    slow = placed(tmp_path, "two_nodes_one_host", 3, cores=[[0], [0]])
    fast = placed(tmp_path, "two_nodes_two_hosts", 1, cores=[[0], [1]])

    found = inversion(switchpoint, slow, fast)

    assert found["origin"]["guess"] == "shared_core"
    assert "ranks 0, 1 may only use core 0" in found["origin"]["evidence"][0]
    assert "perhaps shared core" in switchpoint("detect", slow, fast, "--all").stdout


def test_other_work_on_the_cores_is_named_with_its_share(tmp_path, switchpoint) -> None:
    slow = placed(tmp_path, "two_nodes_one_host", 3, cores=[[0], [1]], other_s=9)
    fast = placed(tmp_path, "two_nodes_two_hosts", 1, cores=[[0], [1]])

    found = inversion(switchpoint, slow, fast)

    assert found["origin"]["guess"] == "other_work"
    assert found["origin"]["evidence"][0] == (
        "other work used 45% of core 0 during the slower run, 0% at most during the faster one"
    )


@pytest.mark.parametrize("counted", [True, False], ids=["counted", "an older record"])
def test_nothing_is_named_where_the_cores_show_nothing(tmp_path, switchpoint, counted) -> None:
    slow = placed(tmp_path, "two_nodes_one_host", 3, cores=[[0], [1]], counted=counted)
    fast = placed(tmp_path, "two_nodes_two_hosts", 1, cores=[[0], [1]], counted=counted)

    assert inversion(switchpoint, slow, fast)["origin"] is None


@pytest.mark.parametrize(("other_s", "first"), [(4.0, True), (9.0, False)])
def test_what_a_disturbed_run_shows_is_not_shown_first(
    tmp_path, switchpoint, other_s, first
) -> None:
    record = placed(
        tmp_path, "one_node_network", 1, cores=[[0], [1]], other_s=other_s, step_at=65481
    )

    lines = switchpoint("detect", record).stdout.splitlines()
    [step] = json.loads(switchpoint("detect", record, "--json").stdout)["findings"]

    assert step["kind"] == "step"
    assert step["evidence"].get("other_work") == (None if first else 0.45)
    assert lines[0].startswith("Other work took up to 45 % of the ranks' cores") != first
    assert any(line.startswith("step") for line in lines) == first
    assert any("not shown, --all prints" in line for line in lines) != first
