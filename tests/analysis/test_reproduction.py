"""A run can be run again from what `switchpoint reproduce` lays out, and mistakes leave nothing."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import write_record
from switchpoint import Store, read
from typer.testing import Result

Run = Callable[..., Result]

KERNEL = Path(__file__).parents[2] / "build" / "ctest" / "openmpi" / "bin" / "pingpong"
LOCK = '{"roots": [], "concrete_specs": {"abc": {"name": "switchpoint-kernels"}}}'

#: What a label or setting may hold: it must stay one word of the shell.
HOSTILE = "a b'; touch broken; $(touch broken) `touch broken`\ntouch broken"


def measured(tmp_path: Path, **changes: Any) -> Path:
    """Write a record of a small run whose kernel, settings and arguments are known."""
    facts: dict[str, Any] = {
        "arguments": [
            "/elsewhere/pingpong", "--mode=send", "--sizes=8,64", "--passes=1", "--samples=2",
            "--record=old.record", "--seed=7", "--label=site=there", "--label=placement=one_node",
        ],
        "plan": {"seed": 7},
        "mpi": {
            "library": "Open MPI v4.1.4, package: Debian", "cvars": {},
            "environment": {"OMPI_MCA_btl": "self,vader", "OMPI_MCA_orte_x": "1"},
        },
    }  # fmt: skip
    return write_record(tmp_path / "run.record", sizes=[8, 64], **(facts | changes))


def test_what_is_needed_is_printed_with_what_differs(switchpoint: Run, tmp_path: Path) -> None:
    result = switchpoint("reproduce", measured(tmp_path), "--json")

    assert result.exit_code == 0
    content = json.loads(result.stdout)
    assert content["environment"] == {"OMPI_MCA_btl": "self,vader"}
    assert content["arguments"] == [
        "--mode=send", "--sizes=8,64", "--passes=1", "--samples=2", "--label=placement=one_node",
        "--seed=7", "--record=pingpong.record",
    ]  # fmt: skip
    assert content["facts"]["ranks"] == "a1: ranks 0, 1"
    found = {entry["topic"]: entry for entry in content["differences"]}
    assert found["kernel release"] == {
        "topic": "kernel release", "there": "6.1", "here": platform.release()
    }  # fmt: skip
    assert "hosts" not in found


def test_settings_that_would_leak_into_the_new_run_are_named(
    switchpoint: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UCX_TLS", "tcp")

    found = json.loads(switchpoint("reproduce", measured(tmp_path), "--json").stdout)

    assert {"topic": "setting UCX_TLS", "there": "not set", "here": "tcp"} in found["differences"]


def test_a_run_of_the_store_is_found_by_its_first_digits(switchpoint: Run, tmp_path: Path) -> None:
    store = tmp_path / "results"
    (tmp_path / "spack.lock").write_text(LOCK)
    Store(store).add(read(measured(tmp_path)))

    result = switchpoint("reproduce", "01234", "--store", store, "--write", tmp_path / "again")

    assert result.exit_code == 0
    assert (tmp_path / "again" / "spack.lock").read_text() == LOCK
    assert {path.name for path in (tmp_path / "again").iterdir()} == {
        "README.md", "header.json", "run.sh", "spack.lock"
    }  # fmt: skip
    assert "spack env create again spack.lock" in (tmp_path / "again" / "README.md").read_text()


def test_a_prefix_that_names_no_run_or_several_is_one_line(
    switchpoint: Run, tmp_path: Path
) -> None:
    store = tmp_path / "results"
    for number in (1, 2):
        Store(store).add(read(measured(tmp_path, run_id=f"{number:032x}")))

    for run, problem in (("ff", "no run of the store"), ("00", "begins 2 runs"), ("", "no run")):
        result = switchpoint("reproduce", run, "--store", store, "--write", tmp_path / "again")
        assert result.exit_code == 2
        assert problem in result.stderr
        assert result.stderr.count("\n") == 1
        assert not (tmp_path / "again").exists()


def test_what_another_tool_measured_cannot_be_run_again(switchpoint: Run, tmp_path: Path) -> None:
    table = tmp_path / "curves.csv"
    table.write_text("size_bytes,time_us\n8,1\n")

    result = switchpoint("reproduce", table)

    assert result.exit_code == 2
    assert "was measured by another tool" in result.stderr


def test_a_folder_that_is_not_empty_is_left_alone(switchpoint: Run, tmp_path: Path) -> None:
    folder = tmp_path / "again"
    folder.mkdir()
    (folder / "mine").write_text("precious")
    record = measured(tmp_path)

    result = switchpoint("reproduce", record, "--write", folder)

    assert result.exit_code == 2
    assert "is there already and not empty" in result.stderr
    assert [path.name for path in folder.iterdir()] == ["mine"]
    assert {path.name for path in tmp_path.iterdir()} == {"again", "run.record"}


def laid_out(switchpoint: Run, tmp_path: Path, **changes: Any) -> Path:
    folder = tmp_path / "again"
    result = switchpoint("reproduce", measured(tmp_path, **changes), "--write", folder)
    assert result.exit_code == 0, result.stderr
    return folder


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="no shellcheck")
def test_the_script_is_shellcheck_clean(switchpoint: Run, tmp_path: Path) -> None:
    folder = laid_out(switchpoint, tmp_path, labels={"site": HOSTILE})

    subprocess.run(["shellcheck", folder / "run.sh"], check=True)


def test_no_word_of_a_record_is_run_by_the_shell(switchpoint: Run, tmp_path: Path) -> None:
    folder = laid_out(
        switchpoint,
        tmp_path,
        run_id=HOSTILE,
        kernel={"name": HOSTILE, "version": "1", "git_commit": HOSTILE},
        arguments=["pingpong", f"--label=x={HOSTILE}"],
        mpi={"library": HOSTILE, "cvars": {}, "environment": {"UCX_TLS": HOSTILE, HOSTILE: "1"}},
    )
    printed = tmp_path / "print"
    printed.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    printed.chmod(0o755)

    done = subprocess.run(
        ["./run.sh"],
        cwd=folder,
        env=os.environ | {"KERNEL": str(printed), "LAUNCHER": "env", "SITE": "here"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert f"--label=x={HOSTILE}\n" in done.stdout
    assert not (folder / "broken").exists()


@pytest.mark.skipif(not KERNEL.exists(), reason="the kernels are not built: make kernels")
@pytest.mark.skipif(shutil.which("mpiexec.openmpi") is None, reason="no mpiexec.openmpi")
def test_the_script_measures_the_same_again(switchpoint: Run, tmp_path: Path) -> None:
    folder = laid_out(switchpoint, tmp_path)
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

    subprocess.run(
        ["./run.sh"],
        cwd=folder,
        env=os.environ
        | allowed
        | {"KERNEL": str(KERNEL), "LAUNCHER": "mpiexec.openmpi --oversubscribe -n 2"},
        capture_output=True,
        check=True,
        timeout=120,
    )

    again = read(folder / "pingpong.record")
    header = again.facts(again.runs["run_id"].iloc[0])[0]
    assert header["plan"]["seed"] == 7
    assert header["plan"]["sizes_bytes"] == [8, 64]
    assert header["mpi"]["environment"]["OMPI_MCA_btl"] == "self,vader"
    assert header["labels"] == {"site": platform.node(), "placement": "one_node"}
