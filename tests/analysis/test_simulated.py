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
    assert "has the option packet 'x', which no kernel takes; it is left out" in warning
    result = switchpoint("report", strange, MEASURED, "--output", tmp_path / "report")
    assert result.exit_code == 0, result.output
    assert "which no kernel takes" in result.stderr


def test_measured_runs_alone_have_nothing_beside_them() -> None:
    assert beside_measured(read(MEASURED)).empty


def test_a_simulated_site_is_never_compared_with_the_measured_one() -> None:
    with pytest.raises(InputError):
        compare(str(MEASURED), str(SIMULATED))
