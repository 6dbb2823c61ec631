"""Simulated curves beside those measured with the same ranks: broadcasts on the testbed."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from switchpoint import compare, read_files
from switchpoint.errors import InputError
from switchpoint.models.scaling import scaling
from switchpoint.models.simulated import beside_measured, left_out_of_simulated
from switchpoint.tables.measurements import Measurements
from typer.testing import Result

FOLDER = Path(__file__).parent / "records" / "simulated"
SIMULATED = FOLDER / "simulated-broadcast.record.gz"
MEASURED = FOLDER / "measured-broadcast.record.gz"


def read(*files: Path) -> Measurements:
    found = read_files(files).measurements
    assert found is not None
    return found


def changed(
    tmp_path: Path, source: Path, name: str = "changed.record", argument: str = "", **labels: Any
) -> Path:
    """Copy a record with other labels."""
    lines = gzip.decompress(source.read_bytes()).decode().splitlines()
    header = json.loads(lines[0])
    header["labels"] |= labels
    header["arguments"] += [argument] if argument else []
    header["run_id"] = f"{len(argument):x}" + header["run_id"][1:]
    path = tmp_path / name
    path.write_text("\n".join([json.dumps(header), *lines[1:]]) + "\n")
    return path


def test_each_point_that_was_simulated_and_measured_has_an_error() -> None:
    found = beside_measured(read(SIMULATED, MEASURED))

    assert set(found["mode"]) == {"repeated", "binary", "two_level", "binomial", "pipelined"}
    assert set(found["size_bytes"]) == {1, 256, *(kib << 10 for kib in (1, 4, 8, 16, 32, 64))}
    assert set(found["ranks_on_nodes"]) == {"AB"}
    assert set(found["site"]) == {"testbed"}
    measured, simulated = found["measured_us"], found["simulated_us"]
    assert found["error"].tolist() == (measured / simulated - 1).tolist()
    assert (found["measured_low_us"] <= measured).all()


@pytest.mark.parametrize(
    "labels",
    [
        {"environ": "mpich"},
        {"placement": "two_nodes_one_host"},
        {"site": "elsewhere"},
    ],
)
def test_other_curves_are_not_beside_it(tmp_path: Path, labels: dict[str, str]) -> None:
    other = changed(tmp_path, MEASURED, **labels)

    assert beside_measured(read(SIMULATED, other)).empty


def test_names_of_several_words_are_simulated_as_one(tmp_path: Path) -> None:
    one = {"placement": "my_place", "site": "my_site-simulated"}
    simulated = changed(tmp_path, SIMULATED, "simulated.record", **one)
    measured = changed(tmp_path, MEASURED, placement="my place", site="my site")

    found = beside_measured(read(simulated, measured))
    assert set(found["placement"]) == {"my place"}


def test_a_run_with_an_option_that_no_kernel_takes_is_left_out_and_named(
    tmp_path: Path, switchpoint: Callable[..., Result]
) -> None:
    strange = changed(tmp_path, SIMULATED, argument="--packet=x", links_of="x")
    without, beside = read(SIMULATED, MEASURED), read(SIMULATED, MEASURED, strange)

    assert beside_measured(beside).equals(beside_measured(without))
    assert beside_measured(read(strange, MEASURED)).empty
    [warning] = left_out_of_simulated(beside)
    assert "has the option packet 'x', which no kernel takes; it is left out" in warning.message
    result = switchpoint("report", strange, MEASURED, "--output", tmp_path / "report")
    assert result.exit_code == 0, result.output
    assert "which no kernel takes" in result.stderr


def test_measured_runs_alone_have_nothing_beside_them() -> None:
    assert beside_measured(read(MEASURED)).empty


def test_a_simulated_site_is_never_compared_with_the_measured_one() -> None:
    with pytest.raises(InputError):
        compare(str(MEASURED), str(SIMULATED))


# Scaling.


def by_ranks(tmp_path: Path, ranks: int, slower: float, start_utc: str) -> Path:
    """Copy the simulation as if it had more ranks, which take longer."""
    header, columns, *rows, footer = gzip.decompress(SIMULATED.read_bytes()).decode().splitlines()
    told, end = json.loads(header), json.loads(footer)
    told |= {"run_id": f"{ranks:016x}{int(slower * 100):016x}", "start_utc": start_utc}
    for table in (told, end):
        table["ranks"] = [table["ranks"][0] | {"rank": rank} for rank in range(ranks)]
    for rank in told["ranks"]:
        rank["host"] = f"host{rank['rank']}"
    place = columns.split(",").index("time_us")
    cells = [row.split(",") for row in rows]
    for row in cells:
        row[place] = str(float(row[place]) * slower)
    path = tmp_path / f"{told['run_id']}.record"
    lines = [json.dumps(told), columns, *(",".join(row) for row in cells), json.dumps(end)]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_broadcasts_of_the_same_message_scale_weakly(tmp_path: Path) -> None:
    older = by_ranks(tmp_path, 4, 5.0, "2026-11-22T10:00:00.000000Z")
    newer = by_ranks(tmp_path, 4, 2.0, "2026-11-22T23:00:00.000000Z")

    found = scaling(read(SIMULATED, newer, older))

    assert set(found["scaling"]) == {"weak"}
    assert found.loc[found["ranks"] == 2, "efficiency"].tolist() == [1.0] * 40
    assert found.loc[found["ranks"] == 4, "efficiency"].tolist() == pytest.approx([0.5] * 40)
    assert {"1 KiB a rank", "64 KiB a rank"} <= set(found["moved"])


def test_one_number_of_ranks_does_not_scale() -> None:
    assert scaling(read(SIMULATED)).empty
    assert scaling(read(MEASURED)).empty
