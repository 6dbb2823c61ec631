"""Work on a Dask cluster gives the same results to the bit, and its faults are one line each."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from conftest import write_record
from sent_to_workers import die, mistake, whereabouts
from switchpoint import InputError, Store, cores, detect, import_files, read_files
from switchpoint.cores import VARIABLE, workers
from synthetic_nights import add_nights
from typer.testing import Result

#: Workers that cannot be reached never answer.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

Run = Callable[..., Result]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A real scheduler with two workers, each a process."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as started:
        yield started


@pytest.fixture
def on_cluster(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """Send all work to it, in small parts."""
    monkeypatch.setattr("switchpoint.detection.search.CURVES_AT_ONCE", 5)
    monkeypatch.setattr("switchpoint.store.importing._PART_FILES", 3)
    monkeypatch.setenv(VARIABLE, cluster.scheduler_address)
    return str(cluster.scheduler_address)


@pytest.fixture
def records(tmp_path: Path) -> Path:
    folder = tmp_path / "records"
    folder.mkdir()
    for number in range(8):
        labels = {"site": "here", "placement": f"place{number}"}
        step_at = 65481 if number % 3 else None
        path = folder / f"{number}.record"
        write_record(path, run_id=f"{number:032x}", labels=labels, step_at=step_at)
    return folder


def test_work_goes_to_the_workers_and_comes_back_in_order(on_cluster: str) -> None:
    with workers(worthwhile=False) as apply:
        found = list(apply(whereabouts, range(20)))

    assert [part for part, _ in found] == list(range(20))
    assert len({process for _, process in found} - {os.getpid()}) == 2


def test_findings_are_the_same_to_the_bit(
    records: Path, on_cluster: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = read_files([records]).measurements
    assert measured is not None
    there = detect(measured)
    monkeypatch.setenv(VARIABLE, "serial")

    pd.testing.assert_frame_equal(there, detect(measured), check_exact=True)
    assert len(there)


def test_imported_runs_are_the_same_to_the_bit(
    tmp_path: Path, records: Path, on_cluster: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With relative paths: the workers were started in another folder."""
    monkeypatch.chdir(tmp_path)
    stored = []
    for name in (on_cluster, "serial"):
        monkeypatch.setenv(VARIABLE, name)
        store = Store(tmp_path / name.replace(":", "").replace("/", ""))
        assert import_files(["records"], store).added == 8
        stored.append((store.read().samples, store.facts(), store.curves()))

    for there, here in zip(*stored, strict=True):
        pd.testing.assert_frame_equal(there, here, check_exact=True)


def test_verbs_take_the_scheduler(
    tmp_path: Path, records: Path, cluster: Any, switchpoint: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "serial")  # which the option changes, and the test resets
    alone = switchpoint("detect", records, "--json")

    there = switchpoint("detect", records, "--json", "--scheduler", cluster.scheduler_address)

    assert there.exit_code == 0
    assert there.stdout == alone.stdout
    assert os.environ[VARIABLE] == cluster.scheduler_address


def test_the_gate_takes_the_scheduler(
    tmp_path: Path, cluster: Any, switchpoint: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "serial")
    store = Store(tmp_path / "store")
    add_nights(store, range(4), placements=["one_node"], launches=2)
    words = ("gate", "--store", store.url, "--json")
    alone = switchpoint(*words)

    there = switchpoint(*words, "--scheduler", cluster.scheduler_address)

    assert (there.exit_code, there.stdout) == (0, alone.stdout)
    assert os.environ[VARIABLE] == cluster.scheduler_address


@pytest.mark.parametrize(
    ("scheduler", "problem"),
    [
        ("login1", "--scheduler: 'login1' is no scheduler; give its address"),
        ("tcp://127.0.0.1:9", "tcp://127.0.0.1:9: no Dask scheduler answers here ("),
        ("nowhere.json", "nowhere.json: does not exist; `dask scheduler` writes it"),
        ("smoke://here:1", "smoke://here:1: no Dask scheduler answers here ("),
    ],
)
def test_a_scheduler_that_does_not_answer_is_one_line(
    records: Path,
    switchpoint: Run,
    monkeypatch: pytest.MonkeyPatch,
    scheduler: str,
    problem: str,
) -> None:
    monkeypatch.setenv(VARIABLE, "serial")
    monkeypatch.setattr(cores, "_ANSWERS_WITHIN_S", 1)

    result = switchpoint("detect", records, "--scheduler", scheduler)

    assert result.exit_code == 2
    assert result.stderr.startswith(f"switchpoint: {problem}")
    assert result.stderr.count("\n") == 1


def test_a_scheduler_without_workers_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import LocalCluster

    monkeypatch.setattr(cores, "_STARTS_WITHIN_S", 0.2)
    with LocalCluster(n_workers=0, dashboard_address=None) as empty:
        monkeypatch.setenv(VARIABLE, empty.scheduler_address)
        with (
            pytest.raises(InputError, match=r"has no worker after .* start one with `dask worker`"),
            workers(worthwhile=True),
        ):
            pass


def test_workers_with_other_versions_are_refused(
    on_cluster: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = cores.version
    monkeypatch.setattr(cores, "version", lambda name: "1.0" if name == "numpy" else own(name))

    with (
        pytest.raises(InputError, match=r"the worker tcp://.* has numpy .*, and here is 1\.0"),
        workers(worthwhile=True),
    ):
        pass


def test_a_folder_that_a_worker_does_not_see_is_one_line(
    on_cluster: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getcwd", lambda: "/not/there")

    with (
        pytest.raises(InputError, match=r"/not/there: No such file or directory on .* shared"),
        workers(worthwhile=True) as apply,
    ):
        list(apply(whereabouts, range(3)))


def test_a_mistake_in_a_part_comes_back_as_it_is(on_cluster: str) -> None:
    with (
        pytest.raises(InputError, match="a file: is wrong in part 0"),
        workers(worthwhile=True) as apply,
    ):
        list(apply(mistake, range(3)))


def test_workers_that_die_are_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    import dask
    from distributed import LocalCluster

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as fragile,
    ):
        monkeypatch.setenv(VARIABLE, fragile.scheduler_address)
        with (
            pytest.raises(InputError, match="its workers died"),
            workers(worthwhile=True) as apply,
        ):
            list(apply(die, range(2)))
