"""The store keeps parameters and findings for ever: each row once, whatever columns it has."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime, timezone
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import write_record
from switchpoint import InputError, Store, read
from switchpoint.store.compaction import MOST_BATCHES, compact, join_if_many
from switchpoint.store.files import StoreFiles
from typer.testing import Result

Run = Callable[..., Result]


@pytest.fixture(params=["folder", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    memory = f"memory://{uuid.uuid4().hex}"
    return Store(memory if request.param == "memory" else tmp_path / "results")


def parameters(*days: int, latency_us: float = 2.0, **others: object) -> pd.DataFrame:
    """Parameters of one curve, as of a launch on each of these days."""
    return pd.DataFrame(
        {
            "site": "a",
            "placement": "one_node",
            "mode": "send",
            "run_id": [f"{day:032x}" for day in days],
            "start_utc": [f"2026-{day // 100:02}-{day % 100:02}T10:00:00.000000Z" for day in days],
            "session": [f"day {day}" for day in days],
            "segment": 0,
            "latency_us": latency_us,
            "proved": True,
        }
        | others
    )


def plain(table: pd.DataFrame) -> pd.DataFrame:
    return table.astype(dict.fromkeys(table.select_dtypes("category"), "str"))


def test_what_is_kept_is_read_back(store: Store) -> None:
    kept = parameters(1101, 1102, 1201)

    assert store.keep_parameters(kept) == 3

    found = store.parameters()
    pd.testing.assert_frame_equal(plain(found), kept, check_dtype=False)
    assert found["placement"].dtype == "category"
    assert found["segment"].dtype == "int64"
    assert found["proved"].dtype == "bool"
    assert found.attrs["not_taken"] == []


def test_rows_count_once(store: Store) -> None:
    assert store.keep_parameters(parameters(1101, 1102)) == 2
    assert store.keep_parameters(parameters(1102, 1103, 1103)) == 1
    assert store.keep_parameters(parameters(1102, latency_us=3.0)) == 1

    assert sorted(store.parameters()["latency_us"]) == [2.0, 2.0, 2.0, 3.0]


def test_queries_select_time_and_columns(store: Store) -> None:
    store.keep_parameters(parameters(1101, 1102, 1201))
    store.keep_parameters(parameters(1102, site="b"))

    def found(**query: str) -> list[str]:
        return store.parameters(**query)["run_id"].astype(str).str.lstrip("0").tolist()

    first, second, third = (f"{day:x}" for day in (1101, 1102, 1201))
    assert found(since="2026-11-02") == [second, second, third]
    assert found(since="2026-11-02", until="2026-12-01", site="a") == [second]
    assert found(session="day 1101") == [first]
    assert store.parameters(["latency_us"], site="b").to_dict("list") == {"latency_us": [2.0]}
    with pytest.raises(InputError, match="colour: is not a column of the store"):
        found(colour="red")
    with pytest.raises(InputError, match="since: 'x' is not a date"):
        found(since="x")


def test_columns_may_grow_and_other_identity_is_kept(store: Store) -> None:
    store.keep_parameters(parameters(1101))
    store.keep_parameters(parameters(1102, window_size="64", noise=0.5, segment=1.5))
    store.keep_parameters(parameters(1103, noise=None))

    found = store.parameters()

    assert found["window_size"].astype(object).where(
        found["window_size"].notna(), None
    ).tolist() == [None, "64", None]
    assert found["noise"].fillna(-1).tolist() == [-1, 0.5, -1]
    assert found["segment"].tolist() == [0, 1.5, 0]
    assert store.keep_parameters(parameters(1101, noise=None)) == 0  # a null column is no content


def test_a_nested_value_is_refused_before_anything_is_written(store: Store) -> None:
    with pytest.raises(TypeError, match="'curves' of findings has the type list"):
        store.keep_findings(pd.DataFrame({"curves": [["a"]]}))

    assert store.findings().empty


def test_parameters_get_the_time_and_session_of_their_runs(tmp_path: Path, store: Store) -> None:
    labels = {"site": "a", "session": "monday"}
    path = write_record(
        tmp_path / "1.record", labels=labels, start_utc="2026-11-05T10:00:00.000000Z"
    )
    measured = read(path)
    store.add(measured)
    run_id = measured.runs["run_id"][0]

    store.keep_parameters(pd.DataFrame({"run_id": [run_id, "unknown"], "latency_us": [1.0, 2.0]}))

    [found] = store.parameters(since="2026-11-05", session="monday").to_dict("records")
    assert found["latency_us"] == 1.0
    assert store.parameters()["session"].isna().sum() == 1


def test_findings_get_the_time_of_now_and_keep_their_order(store: Store) -> None:
    finding = {"finding_id": "f1", "kind": "regression", "state": "suspected", "fails": True}
    before = f"{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%S}"

    for state in ("suspected", "confirmed", "suspected", "accepted"):
        store.keep_findings(pd.DataFrame([finding | {"state": state}]))

    found = store.findings(finding_id="f1")
    assert found["state"].tolist() == ["suspected", "confirmed", "accepted"]
    assert (found["time_utc"] >= before).all()
    assert store.findings(until=before).empty


def test_a_new_store_has_no_parameters_and_no_findings(store: Store) -> None:
    assert store.parameters().empty
    assert store.findings(since="2026-11-01", site="a").empty


@pytest.mark.parametrize("name", ["parameters", "findings", "verdicts"])
def test_a_damaged_and_a_foreign_file_cost_themselves(tmp_path: Path, name: str) -> None:
    store = Store(tmp_path / "results")
    for day in (1101, 1102, 1103):
        frame = parameters(day)
        keep = getattr(store, f"keep_{name}")
        keep(frame.rename(columns={} if name == "parameters" else {"start_utc": "time_utc"}))
    damaged = sorted((tmp_path / "results" / name).rglob("*.parquet"))[1]
    damaged.write_bytes(damaged.read_bytes()[:-100])
    foreign = damaged.with_name("a.parquet")
    pq.write_table(pa.table({"temperature": [1.0]}), foreign)
    other = damaged.with_name("z.parquet")
    pq.write_table(pa.table({"row_id": pa.array([1], pa.uint64()), "segment": ["x"]}), other)

    found = getattr(store, name)()

    assert len(found) == 2
    told = {entry["place"]: entry["message"] for entry in found.attrs["not_taken"]}
    assert told.keys() == {str(damaged), str(foreign), str(other)}
    assert told[str(foreign)] == "is not a file of a store; remove it"


def test_a_truncated_page_costs_its_file_only(tmp_path: Path) -> None:
    """The footer is sound, so the damage shows only when the rows are read."""
    store = Store(tmp_path / "results")
    for day in (1101, 1102):
        store.keep_parameters(parameters(day))
    damaged = sorted((tmp_path / "results/parameters").rglob("*.parquet"))[0]
    content = bytearray(damaged.read_bytes())
    content[4:400] = bytes(396)
    damaged.write_bytes(content)

    found = store.parameters()

    assert len(found) == 1
    [told] = found.attrs["not_taken"]
    assert told["place"] == str(damaged) and told["message"].startswith("is damaged (")


def _keep(arguments: tuple[str, int]) -> int:
    url, day = arguments
    return Store(url).keep_parameters(parameters(day, day + 1))


def test_many_writers_at_once_lose_and_repeat_nothing(tmp_path: Path) -> None:
    url = str(tmp_path / "results")
    with ProcessPoolExecutor(4) as pool:
        list(pool.map(_keep, [(url, day) for day in range(1101, 1113)]))

    found = Store(url).parameters()
    assert found["run_id"].astype(str).tolist() == [f"{day:032x}" for day in range(1101, 1114)]


def test_upkeep_includes_them(tmp_path: Path, switchpoint: Run) -> None:
    url = tmp_path / "results"
    store = Store(url)
    path = write_record(tmp_path / "1.record", start_utc="2026-01-05T10:00:00.000000Z")
    store.add(read(path))
    for day in (105, 106, 107, 201):
        store.keep_parameters(parameters(day, site="here"))
    store.keep_findings(pd.DataFrame({"site": ["here"], "time_utc": ["2026-01-05T10:00:00Z"]}))
    before = [plain(table) for table in (store.parameters(), store.findings())]

    rows = json.loads(switchpoint("store", "ls", "--store", url, "--json").stdout)["months"]
    assert [(row["month"], row["runs"], row["parameters"], row["findings"]) for row in rows] == [
        ("2026-01", 1, 3, 1), ("2026-02", 0, 1, 0),
    ]  # fmt: skip
    assert sum(row["size_bytes"] for row in rows) == pytest.approx(
        sum(path.stat().st_size for path in url.rglob("*.parquet")), rel=0.01
    )
    assert (
        "3 batches joined, 3 files removed"
        in switchpoint("store", "compact", "--store", url).output
    )
    assert switchpoint("store", "prune", "--older-than", 30, "--store", url).exit_code == 0
    assert switchpoint("store", "verify", "--store", url).exit_code == 0
    for name, table in zip(("parameters", "findings"), before, strict=True):
        pd.testing.assert_frame_equal(plain(getattr(store, name)()), table)

    damaged = next((url / "parameters").rglob("*.parquet"))
    damaged.write_bytes(b"PAR1")
    result = switchpoint("store", "verify", "--store", url)
    assert result.exit_code == 1
    assert f"{damaged}: is damaged" in result.stderr


def test_months_of_many_imports_are_joined_by_the_next_one(
    tmp_path: Path, switchpoint: Run
) -> None:
    url = tmp_path / "results"
    store = Store(url)
    for number in range(MOST_BATCHES):
        path = write_record(tmp_path / f"{number}.record", run_id=f"{number:032x}", sizes=[8, 64])
        store.add(read(path))
        store.keep_parameters(parameters(1101 + number))
    last = write_record(tmp_path / "last.record", run_id="f" * 32, sizes=[8, 64])

    def batches(table: str) -> int:
        return len(list((url / table).rglob("*.parquet")))

    assert batches("runs") == batches("parameters") == MOST_BATCHES
    with store.files.alone():  # while another command rewrites it, an import leaves it alone
        switchpoint("import", last, "--store", url)
    assert batches("runs") == MOST_BATCHES + 1

    store.keep_parameters(parameters(1130))
    join_if_many(store)

    assert {table: batches(table) for table in ("runs", "samples", "parameters")} == {
        "runs": 1, "samples": 1, "parameters": 1,
    }  # fmt: skip
    assert len(store.runs()) == MOST_BATCHES + 1
    assert len(store.parameters()) == MOST_BATCHES + 1
    assert switchpoint("store", "verify", "--store", url).exit_code == 0


@pytest.mark.parametrize("folder", ["runs", "facts", "samples", "curves", "parameters"])
def test_a_reader_meets_files_that_are_joined_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    """The files are joined after the reader has listed them, and before it reads them."""
    url = tmp_path / "results"
    store = Store(url)
    for number in range(3):
        path = write_record(tmp_path / f"{number}.record", run_id=f"{number:032x}", sizes=[8, 64])
        store.add(read(path))
        store.keep_parameters(parameters(1101 + number))
    others = {"curves": store.curves, "parameters": store.parameters}
    ask = others.get(folder, lambda: store.read().samples)
    before = len(ask())
    below = StoreFiles.below
    joined: list[str] = []

    def listed(files: StoreFiles, wanted: str) -> list[str]:
        found = below(files, wanted)
        if wanted == folder and not joined:
            joined.append(folder)
            compact(Store(url))
        return found

    monkeypatch.setattr(StoreFiles, "below", listed)

    assert len(ask()) == before
    assert joined == [folder]
    assert len(list((url / folder).rglob("*.parquet"))) == 1
