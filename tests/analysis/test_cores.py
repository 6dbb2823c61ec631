"""However work is spread over cores, the results are the same."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from many_curves import write_many_curves
from switchpoint import Store, detect, import_files, read
from switchpoint.cores import EXECUTORS, VARIABLE, workers
from typer.testing import Result

pytestmark = pytest.mark.slow

Run = Callable[..., Result]

MANY = 30


@pytest.fixture(autouse=True)
def _worth_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let few files and few curves be worth several processes, each with several parts."""
    monkeypatch.setattr("switchpoint.detection.search.WORTH_A_POOL", 10)
    monkeypatch.setattr("switchpoint.detection.search.CURVES_AT_ONCE", 5)
    monkeypatch.setattr("switchpoint.store.importing._WORTH_A_POOL", 10)
    monkeypatch.setattr("switchpoint.store.importing._PART_FILES", 5)


@pytest.fixture
def many_curves(tmp_path: Path) -> Path:
    return write_many_curves(tmp_path / "curves.csv", MANY)


def test_each_executor_finds_the_same(many_curves: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[pd.DataFrame] = []
    for name in EXECUTORS:
        monkeypatch.setenv(VARIABLE, name)
        found.append(detect(read(many_curves)))

    assert set(found[0].loc[found[0]["kind"] == "step", "link"].astype(int) % 7) == {0}
    for other in found[1:]:
        pd.testing.assert_frame_equal(found[0], other)


def test_each_executor_keeps_the_same_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    for number in range(MANY):
        text = f"size_bytes,time_us\n8,{number + 1}\n16,{number + 2}\n"
        (folder / f"{number}.csv").write_text(text)

    kept = []
    for name in EXECUTORS:
        monkeypatch.setenv(VARIABLE, name)
        store = Store(tmp_path / name)
        assert import_files([folder], store).added == MANY
        stored = store.read().samples.sort_values(["run_id", "size_bytes"], ignore_index=True)
        kept.append(stored[["run_id", "size_bytes", "time_us"]].astype({"run_id": str}))

    for other in kept[1:]:
        pd.testing.assert_frame_equal(kept[0], other)


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is one core")
def test_serial_work_stays_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    own = {}
    for name in ("processes", "serial"):
        monkeypatch.setenv(VARIABLE, name)
        with workers(worthwhile=True) as apply:
            own[name] = os.getpid() in set(apply(_process_id, range(4)))

    assert own == {"processes": False, "serial": True}


def _process_id(_part: int) -> int:
    return os.getpid()


def test_an_unknown_executor_is_one_line(
    switchpoint: Run, many_curves: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "threads")

    result = switchpoint("detect", many_curves)

    assert result.exit_code == 2
    assert result.stderr == (
        "switchpoint: SWITCHPOINT_EXECUTOR: unknown executor 'threads';"
        " use one of processes, serial, or the address of a Dask scheduler\n"
    )
