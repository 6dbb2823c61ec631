"""Queries of the store select a span of time, a site and a session, and read few files for it."""

from __future__ import annotations

import subprocess
import sys
import uuid
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, timedelta, timezone
from pathlib import Path

import pandas as pd
import pytest
from conftest import write_record
from switchpoint import InputError, Store, gate, import_files, read
from switchpoint.store import stored_runs
from typer.testing import Result

Run = Callable[..., Result]

#: Start of each run in UTC, its site and its session; runs are numbered from 1.
RUNS = [
    ("2026-10-31T23:59:59.999999Z", "a", "october"),
    ("2026-11-01T00:00:00.000000Z", "a", "monday"),
    ("2026-11-20T18:30:00.000000Z", "b", "monday"),
    ("2026-11-20T18:30:00.500000Z", "a", "friday"),
    ("2026-12-02T03:00:00.000000Z", "b", "friday"),
]


@pytest.fixture(scope="module", params=["folder", "memory"])
def nights(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A store of `RUNS`, each from an import of its own, for tests that only read it."""
    tmp_path = tmp_path_factory.mktemp("nights")
    memory = f"memory://{uuid.uuid4().hex}"
    store = Store(memory if request.param == "memory" else tmp_path / "results")
    for number, (start, site, session) in enumerate(RUNS, start=1):
        labels = {"site": site, "session": session, "placement": f"place{number}"}
        path = tmp_path / f"{number}.record"
        write_record(
            path, run_id=f"{number:032x}", sizes=[8, 64, 512], start_utc=start, labels=labels
        )
        store.add(read(path))
    return store


def numbers(run_ids: pd.Series) -> list[int]:
    return sorted(int(run_id, 16) for run_id in set(run_ids))


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"since": "2026-11-01"}, [2, 3, 4, 5]),
        ({"until": "2026-11-01"}, [1]),
        ({"since": "2026-11-01", "until": "2026-12-01"}, [2, 3, 4]),
        ({"since": "2026-11-20T18:30", "until": "2026-11-20T18:30:00.5"}, [3]),
        ({"since": "2026-11-20T18:30:00.5Z", "until": "2026-12-02T03:00"}, [4]),
        ({"since": "2026-11-20T19:30+01:00", "until": "2026-11-21"}, [3, 4]),
        ({"since": date(2026, 11, 20), "until": date(2026, 11, 21)}, [3, 4]),
        ({"since": datetime(2026, 12, 1, tzinfo=timezone(timedelta(hours=2)))}, [5]),
        ({"since": "2026-11-01", "site": "a"}, [2, 4]),
        ({"session": "friday"}, [4, 5]),
        ({"session": "friday", "site": "b", "until": None}, [5]),
    ],
)
def test_a_query_selects_a_span_of_time_and_columns(
    nights: Store, query: dict[str, str | date | None], found: list[int]
) -> None:
    assert numbers(nights.runs(**query)["run_id"]) == found
    assert nights.count(**query) == len(found)
    assert numbers(nights.read(**query).samples["run_id"]) == found
    assert numbers(nights.latest(**query).samples["run_id"]) == found
    assert numbers(nights.curves(**query)["run_id"]) == found
    facts = nights.facts(**query)
    assert numbers(facts["run_id"]) == found
    assert facts["header"].str.startswith('{"record": "switchpoint"').all()


def test_the_newest_session_before_a_date_is_found(tmp_path: Path) -> None:
    store = Store(tmp_path / "results")
    for day in (1, 2, 3):
        labels = {"site": "a", "session": f"day {day}"}
        path = tmp_path / f"{day}.record"
        start = f"2026-11-0{day}T10:00:00.000000Z"
        store.add(read(write_record(path, run_id=f"{day:032x}", labels=labels, start_utc=start)))

    assert numbers(store.latest().samples["run_id"]) == [3]
    assert numbers(store.latest(until="2026-11-03").samples["run_id"]) == [2]


def test_runs_without_a_date_are_in_no_span(tmp_path: Path) -> None:
    store = Store(tmp_path / "results")
    (tmp_path / "curves.csv").write_text("size_bytes,time_us\n8,1\n16,2\n")
    store.add(read(tmp_path / "curves.csv"))

    assert len(store.runs()) == 1
    assert store.runs(since="2000-01-01").empty
    assert store.runs(until="2100-01-01").empty


def test_facts_of_few_runs_need_little_memory(tmp_path: Path) -> None:
    one = read(write_record(tmp_path / "one.record"))
    copies = pd.concat([one.runs] * 8192, ignore_index=True)
    copies["run_id"] = [f"{number:032x}" for number in copies.index]
    copies["header"] += " " * 20_000
    copies.loc[0, "session"] = "monday"
    Store(tmp_path / "results").add(replace(one, runs=copies, samples=one.samples[:0]))

    code = """
import sys, pyarrow, switchpoint
facts = switchpoint.Store(sys.argv[1]).facts(session="monday")
print(len(facts), pyarrow.default_memory_pool().max_memory())
"""
    told = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "results"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    number, most_bytes = map(int, told.stdout.split())
    assert number == 1
    headers_bytes = copies["header"].str.len().sum()
    assert most_bytes < headers_bytes / 2


@pytest.mark.parametrize(
    "start",
    [
        "2026-11-20", "2026-11-20T18:30", "2026-11-20T18:30Z", "2026-11-20T18:30:00",
        "2026-11-20T18:30:00+00:00",
    ],
)  # fmt: skip
def test_a_start_without_seconds_is_in_its_span(tmp_path: Path, start: str) -> None:
    store = Store(tmp_path / "results")
    found = read(write_record(tmp_path / "1.record", start_utc="2026-11-20T18:30:00.000000Z"))
    found.runs["start_utc"] = start
    store.add(found)
    day = len(start) == 10

    assert len(store.runs(since="2026-11-20", until="2026-11-21")) == 1
    assert len(store.runs(since="2026-11-20T18:30")) == (not day)
    assert len(store.runs(until="2026-11-20T18:30")) == day
    assert len(store.runs(since="2026-11-20T18:30:01")) == 0
    assert len(store.runs(until="2026-11-20T18:30:01")) == 1
    assert len(gate(store).curves) == 1


def test_only_files_of_the_wanted_months_are_read(
    nights: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    scanned: list[str] = []
    scan = stored_runs.scan

    def noted(files: object, paths: list[str], *rest: object, **named: object) -> object:
        scanned.extend(path.split("/")[-2] for path in paths)
        return scan(files, paths, *rest, **named)

    monkeypatch.setattr(stored_runs, "scan", noted)
    nights.read(since="2026-12-01", until="2026-12-31")

    assert set(scanned) == {"month=2026-12"}


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ({"since": "yesterday"}, "since: 'yesterday' is not a date; write it as 2026-11-20"),
        ({"until": "2026-13-01"}, "until: '2026-13-01' is not a date"),
        (
            {"since": "2026-11-20", "until": "2026-11-20"},
            "until: 2026-11-20 is not after since, which is 2026-11-20",
        ),
        ({"colour": "red"}, "colour: is not a column of the store; use one of"),
    ],
)
def test_a_bad_query_is_one_line(tmp_path: Path, query: dict[str, str], problem: str) -> None:
    store = Store(tmp_path / "results")
    store.add(read(write_record(tmp_path / "1.record")))
    for ask in (store.runs, store.read, store.latest, store.curves, store.facts):
        with pytest.raises(InputError) as error:
            ask(**query)
        assert str(error.value).startswith(problem)


def test_single_values_have_a_time_too(tmp_path: Path) -> None:
    log = Path(__file__).parent / "outputs/reframe-variables.log"
    store = Store(tmp_path / "results")
    import_files([log], store)
    values = store.single_values()
    middle = sorted(values["time_utc"].dropna().unique())[len(values) // 2 :][:1]
    if not middle:
        middle = [values["time_utc"].max()]
    bound = middle[0][:10]

    before = store.single_values(until=bound)
    after = store.single_values(since=bound)

    assert len(before) + len(after) == len(values)
    assert (before["time_utc"] < bound).all()
    assert (after["time_utc"] >= bound).all()


def test_verbs_take_a_span_of_time(
    tmp_path: Path, switchpoint: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # `report` writes into the folder in which it runs
    store = tmp_path / "results"
    for day, step_at in [(1, 65481), (2, None)]:
        path = tmp_path / f"{day}.record"
        start = f"2026-11-0{day}T10:00:00.000000Z"
        write_record(path, run_id=f"{day:032x}", start_utc=start, step_at=step_at)
        switchpoint("import", path, "--store", store)

    def found(*options: str) -> str:
        return switchpoint("detect", "--store", store, *options).output

    assert "Nothing found" in found()
    assert "step" in found("--until", "2026-11-02")
    assert "step" not in found("--since", "2026-11-02")
    for verb in ("explain", "claims", "report"):
        assert switchpoint(verb, "--store", store, "--until", "2026-11-02").exit_code == 0
    counted = switchpoint("store", "ls", "--store", store, "--since", "2026-11-02", "--json")
    assert '"runs": 1' in counted.output


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--since", "Monday"], "since: 'Monday' is not a date; write it as 2026-11-20"),
        (["--since", "2027-01-01"], "contains no run that matches"),
    ],
)
def test_a_bad_span_is_one_line_and_exit_code_2(
    tmp_path: Path, switchpoint: Run, options: list[str], problem: str
) -> None:
    store = tmp_path / "results"
    switchpoint("import", write_record(tmp_path / "1.record"), "--store", store)
    for verb in ("detect", "explain", "claims", "tools", "report"):
        result = switchpoint(verb, "--store", store, *options)
        assert result.exit_code == 2
        assert problem in result.stderr
        assert result.stderr.count("\n") == 1


def test_a_span_with_files_is_refused(tmp_path: Path, switchpoint: Run) -> None:
    path = write_record(tmp_path / "1.record")

    result = switchpoint("detect", path, "--since", "2026-11-01")

    assert result.exit_code == 2
    assert result.stderr == (
        "switchpoint: --since: selects runs of the store; do not give FILEs with it\n"
    )
