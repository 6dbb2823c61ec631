"""The store keeps every run once, whatever writes to it, and reads back what was put in."""

from __future__ import annotations

import dataclasses
import errno
import fcntl
import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from datetime import date, datetime, timezone
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from conftest import killed_after, write_record
from switchpoint import DataWarning, InputError, Store, detect, read, read_files, summarise
from switchpoint.importing.lock import unpack
from switchpoint.store.batches import Encoded, write
from switchpoint.store.compaction import compact
from switchpoint.store.files import StoreFiles
from switchpoint.store.tables import SAMPLES, parquet
from switchpoint.store.upkeep import prune
from switchpoint.tables.measurements import Measurements, no_samples
from typer.testing import Result


@pytest.fixture(params=["folder", "memory"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store is: a folder, or a URL of another file system."""
    return (
        f"memory://{uuid.uuid4().hex}" if request.param == "memory" else str(tmp_path / "results")
    )


def record(tmp_path: Path, number: int, **changes: object) -> Path:
    return write_record(
        tmp_path / f"{number}.record", run_id=f"{number:032x}", sizes=[8, 64, 512], **changes
    )


def test_what_is_stored_is_read_back_unchanged(tmp_path: Path, url: str) -> None:
    found = read(record(tmp_path, 1))
    Store(url).add(found)

    again = Store(url).read()

    pd.testing.assert_frame_equal(
        again.samples, found.samples[again.samples.columns], check_categorical=False
    )
    assert again.facts(f"{1:032x}") == found.facts(f"{1:032x}")


def test_the_same_run_twice_counts_once(tmp_path: Path, url: str) -> None:
    found = read(record(tmp_path, 1))

    assert Store(url).add(found) == 1
    assert Store(url).add(found) == 0
    assert len(Store(url).read().samples) == len(found.samples)


def test_a_truncated_run_is_replaced_by_the_whole_one(tmp_path: Path, url: str) -> None:
    whole = record(tmp_path, 1)
    cut = tmp_path / "cut.record"
    cut.write_text("\n".join(whole.read_text().splitlines()[:20]) + "\n")
    store = Store(url)

    assert [store.add(read(path)) for path in (cut, whole, cut)] == [1, 1, 0]
    assert len(store.read().samples) == len(read(whole).samples)
    assert store.runs()["complete"].tolist() == [True]


def test_filters_select_runs_and_modes(tmp_path: Path, url: str) -> None:
    store = Store(url)
    store.add(read(record(tmp_path, 1, labels={"site": "a", "placement": "one_node"})))
    store.add(read(record(tmp_path, 2, labels={"site": "b", "placement": "one_node"})))
    store.add(read(record(tmp_path, 3, labels={"site": "b", "placement": "two_nodes_one_host"})))

    assert set(store.read(site="b").samples["run_id"]) == {f"{2:032x}", f"{3:032x}"}
    assert set(store.read(site="b", placement="one_node").samples["run_id"]) == {f"{2:032x}"}
    assert len(store.read(mode="send").samples) == 3 * 36
    assert store.read(mode="ssend").samples.empty
    with pytest.raises(InputError, match="contains no run that matches"):
        store.read(site="c")
    with pytest.raises(InputError, match="colour: is not a column of the store"):
        store.read(colour="red")


def test_the_latest_run_of_each_curve_is_found(tmp_path: Path, url: str) -> None:
    store = Store(url)
    for number, day, placement in [(1, 20, "one_node"), (2, 22, "one_node"), (3, 21, "far")]:
        labels = {"site": "a", "placement": placement}
        start = f"2026-11-{day}T10:00:00.000000Z"
        store.add(read(record(tmp_path, number, labels=labels, start_utc=start)))

    assert set(store.latest().runs["run_id"]) == {f"{2:032x}", f"{3:032x}"}


def test_days_of_runs_without_a_session_count_as_sessions(
    switchpoint: Callable[..., Result], tmp_path: Path, url: str
) -> None:
    rows = "size_bytes,time_us\n8,1.5\n64,1.7\n"
    for day in (1, 2):
        path = tmp_path / f"{day}.csv"
        path.write_text(f'# switchpoint: {{"start_utc": "2026-05-0{day}"}}\n{rows}')
        Store(url).add(read(path))

    listed = switchpoint("store", "ls", "--store", url, "--json").stdout

    assert [month["sessions"] for month in json.loads(listed)["months"]] == [2]


def test_all_launches_of_the_newest_sessions_are_read(tmp_path: Path, url: str) -> None:
    store = Store(url)
    sessions = ["monday", "monday", "tuesday", "tuesday", "tuesday", "monday"]
    for number, session in enumerate(sessions, start=1):
        place = "far" if number == 6 else "one_node"
        labels = {"site": "a", "placement": place, "session": session}
        start = f"2026-11-{number:02}T10:00:00.000000Z"
        path = tmp_path / f"{number}.record"
        store.add(read(write_record(path, run_id=f"{number:032x}", labels=labels, start_utc=start)))

    assert set(store.latest().runs["run_id"]) == {f"{number:032x}" for number in (3, 4, 5, 6)}
    assert len(store.latest(sessions=2).runs) == 6
    steps = detect(store.latest()).query("kind == 'step' and placement == 'one_node'")
    assert [evidence["launches"] for evidence in steps["evidence"]] == [3, 3, 3]


def test_a_run_that_was_run_again_is_read_beside_the_newest(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    for number, again in [(1, {}), (2, {}), (3, {}), (4, {"reproduces": f"{2:032x}"})]:
        labels = {"site": "a", "placement": "one_node", **again}
        start = f"2026-11-{number:02}T10:00:00.000000Z"
        store.add(read(record(tmp_path, number, labels=labels, start_utc=start)))

    assert set(store.latest().runs["run_id"]) == {f"{number:032x}" for number in (2, 3, 4)}


def test_a_smoke_run_or_another_grain_does_not_hide_the_latest_sweep(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "store"))
    place = {"site": "here", "placement": "one_node"}
    runs = [
        {"check": "Sweep", "session": "monday"},
        {"check": "Sweep", "session": "tuesday"},
        {"check": "Smoke", "session": "tuesday"},
        {"check": "Sweep", "session": "tuesday", "grain_us": "10000"},
    ]
    for day, labels in enumerate(runs, start=1):
        start_utc = f"2026-11-{day:02}T00:00:00.000000Z"
        path = tmp_path / f"{day}.record"
        record = write_record(
            path, run_id=f"{day:032x}", labels=place | labels, start_utc=start_utc
        )
        store.add(read(record))
    latest = store.latest()
    assert set(latest.runs["run_id"]) == {f"{day:032x}" for day in (2, 3, 4)}
    grains = latest.samples.groupby("run_id", observed=True)["grain_us"].first()
    assert grains[f"{4:032x}"] == "10000"


@pytest.mark.parametrize("site", ["a/b", "../x", "100% ä", "a=b", "."])
def test_any_name_of_a_site_stays_inside_the_store(tmp_path: Path, site: str) -> None:
    url = tmp_path / "results"
    Store(url).add(read(record(tmp_path, 1, labels={"site": site})))

    assert Store(url).read(site=site).samples["site"].unique().tolist() == [site]
    assert {path.name for path in tmp_path.iterdir()} == {"1.record", "results"}


def test_tables_keep_their_own_identity_columns(tmp_path: Path, url: str) -> None:
    path = tmp_path / "curves.csv"
    path.write_text("size_bytes,time_us,net,nodes\n8,1,ib,2\n8,2,eth,2\n8,3,ib,4\n8,4,,\n")
    store = Store(url)
    store.add(read(path))
    store.add(read(record(tmp_path, 1)))

    table = summarise(store.read())

    mine = table[table["net"].notna()].set_index(["net", "nodes"])["time_us"]
    assert mine[("ib", "2")] == 1
    assert mine[("eth", "2")] == 2
    assert mine[("ib", "4")] == 3
    assert len(table) == 4 + 3


def _add(arguments: tuple[str, str]) -> int:
    url, path = arguments
    return Store(url).add(read(path))


def test_many_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    url = str(tmp_path / "results")
    paths = [str(record(tmp_path, number)) for number in range(12)]
    with ProcessPoolExecutor(4) as pool:  # each record is added by two processes
        list(pool.map(_add, [(url, path) for path in [*paths, *paths]]))

    assert Store(url).runs()["run_id"].tolist() == [f"{number:032x}" for number in range(12)]
    assert Store(url).read().samples.groupby("run_id", observed=True).size().eq(36).all()
    assert not list(Path(url).rglob(".*"))


def test_a_write_that_was_cut_short_is_not_seen(tmp_path: Path) -> None:
    url = tmp_path / "results"
    Store(url).add(read(record(tmp_path, 1)))
    for table in ("samples", "runs"):
        folder = next((url / table).rglob("*.parquet")).parent
        (folder / ".half.parquet.0123").write_bytes(b"PAR1")

    assert Store(url).runs()["run_id"].tolist() == [f"{1:032x}"]


@pytest.mark.parametrize("table", ["samples", "facts", "runs"])
def test_a_damaged_file_costs_its_own_runs_and_one_warning(tmp_path: Path, table: str) -> None:
    store = Store(tmp_path / "results")
    for number in (1, 2, 3):
        store.add(read(record(tmp_path, number)))
    damaged = sorted((tmp_path / "results" / table).rglob("*.parquet"))[1]
    damaged.write_bytes(damaged.read_bytes()[:-100])

    found = store.read()

    [warning] = found.not_taken
    assert (warning.kind, warning.place) == ("unread_file", str(damaged))
    assert warning.message.startswith("is damaged (")
    whole = {f"{number:032x}" for number in (1, 2, 3)} - {f"{2:032x}"}
    assert set(found.samples["run_id"]) >= whole
    assert (f"{2:032x}" in set(found.samples["run_id"])) == (table == "facts")


@pytest.mark.parametrize("table", ["samples", "curves", "facts", "runs"])
def test_a_damaged_file_that_was_removed_comes_back_with_the_next_import(
    tmp_path: Path, switchpoint: Callable[..., Result], table: str
) -> None:
    url = tmp_path / "results"
    first, second = record(tmp_path, 1), record(tmp_path, 2)
    switchpoint("import", first, second, "--store", url)
    store = Store(url)
    before, points, facts = contents(store), _sorted(store.curves()), store.facts()
    [damaged] = (url / table).rglob("*.parquet")
    content = damaged.read_bytes()
    damaged.write_bytes(content[:-100])
    told = switchpoint("detect", "--store", url).stderr + str(store.curves().attrs["not_taken"])
    assert "Remove the file and import" in told

    damaged.unlink()

    outputs = [
        switchpoint("import", *paths, "--store", url).output.partition(" added")[0]
        for paths in ([first], [first, second], [first, second])
    ]
    assert outputs == ["1 run", "1 run", "0 runs"]
    for _ in range(2):
        pd.testing.assert_frame_equal(contents(store), before)
        pd.testing.assert_frame_equal(_sorted(store.curves()), points)
        pd.testing.assert_frame_equal(store.facts(), facts)
        compact(store)


def _sorted(points: pd.DataFrame) -> pd.DataFrame:
    named = points.astype({"run_id": str, "mode": str})
    return named.sort_values(["run_id", "mode", "size_bytes"], ignore_index=True)


def test_writers_that_restore_the_same_samples_at_once_store_them_once(tmp_path: Path) -> None:
    url = str(tmp_path / "results")
    paths = [str(record(tmp_path, number)) for number in range(4)]
    for path in paths:
        _add((url, path))
    before = contents(Store(url))
    for path in Path(url, "samples").rglob("*.parquet"):
        path.unlink()

    with ProcessPoolExecutor(4) as pool:
        list(pool.map(_add, [(url, path) for path in [*paths, *paths]]))

    assert Store(url).runs()["run_id"].tolist() == [f"{number:032x}" for number in range(4)]
    pd.testing.assert_frame_equal(contents(Store(url)), before)


def test_points_without_samples_restore_no_run_that_has_samples(tmp_path: Path, url: str) -> None:
    """As in a bundle. What is stored again counts instead of the run before."""
    store, found = Store(url), read(record(tmp_path, 1))
    store.add(found)
    points = Measurements(no_samples(), found.runs, points=summarise(found))
    files = store.files

    for gone, added in [("curves", 0), ("samples", 1)]:
        files.remove(files.below(gone))
        assert store.add(points) == added
        assert store.add(points) == 0

    assert len(store.curves()) == len(summarise(found))


def test_a_foreign_file_is_named_and_costs_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path / "results")
    store.add(read(record(tmp_path, 1)))
    foreign = next((tmp_path / "results" / "runs").rglob("*.parquet")).with_name("a.parquet")
    pq.write_table(pa.table({"temperature": [1.0]}), foreign)

    found = store.read()

    assert len(found.samples) == 36
    what = "is not a file of a store; remove it"
    assert found.not_taken == [DataWarning("unread_file", what, str(foreign))]


@pytest.mark.parametrize(
    ("table", "column", "value", "problem"),
    [
        ("samples", "time_us", float("inf"), "time_us is inf, but must be from 1e-06 to 1e+13"),
        ("samples", "size_bytes", -1, "size_bytes is -1, but must be from 0 to 4.61169e+18"),
        ("runs", "run_id", "../x", "a run_id is not 32 hexadecimal digits"),
        ("samples", "other_identity", "x", "other_identity is not a JSON object of texts"),
        ("samples", "other_identity", '{"time_us": "1"}', "time_us, which is a column of its own"),
        ("runs", "labels", "[1]", "labels is not a JSON object of texts"),
        ("runs", "start_utc", "tomorrow", "a start is not a time in UTC of its date"),
        ("facts", "header", "{}", "header field"),
        ("facts", "lock", "x", "a lock is not a packed lock of Spack"),
    ],
)
def test_an_impossible_value_that_another_program_wrote_costs_its_file(
    tmp_path: Path, table: str, column: str, value: object, problem: str
) -> None:
    store = Store(tmp_path / "results")
    store.add(read(record(tmp_path, 1)))
    foreign = next((tmp_path / "results" / table).rglob("*.parquet"))
    store.add(read(record(tmp_path, 2)))
    rows = pq.read_table(foreign, partitioning=None)
    changed = [value, *rows[column].to_pylist()[1:]]
    number = rows.schema.get_field_index(column)
    own = rows.schema.field(column).type
    rows = rows.set_column(number, column, pa.array(changed, own))
    pq.write_table(rows.replace_schema_metadata(None), foreign)  # without a seal

    found = store.read()

    [warning] = found.not_taken
    assert warning.place == str(foreign)
    assert warning.message.startswith("is damaged (") and problem in warning.message
    assert f"{2:032x}" in set(found.samples["run_id"])


def test_an_impossible_name_of_one_run_costs_no_other_run(tmp_path: Path) -> None:
    store = Store(tmp_path / "results")
    store.add(read_files([record(tmp_path, number) for number in (1, 2)]).measurements)
    place = SAMPLES.get_field_index("other_identity")
    for table in ("samples", "curves"):
        [foreign] = (tmp_path / "results" / table).rglob("*.parquet")
        rows = pq.read_table(foreign, partitioning=None)
        texts = [*rows["other_identity"].to_pylist()[:-1], "x"]
        rows = rows.set_column(place, SAMPLES.field(place), pa.array(texts, SAMPLES.types[place]))
        pq.write_table(rows.replace_schema_metadata(None), foreign)  # without a seal
    [first, second] = sorted(store.run_ids())

    assert len(store.read(run_id=first).samples) == 36
    assert len(store.curves(run_id=first)) == 3
    [warning] = store.read(run_id=second).not_taken
    assert "other_identity is not a JSON object of texts" in warning.message


def with_activity(run: dict[str, Any], activity: object) -> str:
    return json.dumps(json.loads(run["footer"]) | {"activity": activity})


ACTIVITY = {"mode": "send", "size_bytes": 8, "length_us": 1, "clock_error_us": 0}
STRANGE = [
    {"phases": ["send_us"], "points": [ACTIVITY | {"spans": [[7, 0, 0, 1]]}]},
    {"phases": [1], "points": []},
]


def test_activity_that_another_program_wrote_is_checked_too(tmp_path: Path) -> None:
    store = Store(tmp_path / "results")
    store.add(read(record(tmp_path, 1)))
    [foreign] = (tmp_path / "results/facts").rglob("*.parquet")
    rows = pq.read_table(foreign, partitioning=None)
    footer = with_activity(rows.to_pylist()[0], STRANGE[0])
    place = rows.schema.get_field_index("footer")
    rows = rows.set_column(place, "footer", pa.array([footer]))
    pq.write_table(rows.replace_schema_metadata(None), foreign)

    [warning] = store.read().not_taken

    assert "footer field 'activity' has an impossible span, [7, 0, 0, 1]" in warning.message


@pytest.mark.parametrize("activity", STRANGE)
def test_a_report_does_without_activity_that_an_older_version_stored(
    tmp_path: Path, switchpoint: Callable[..., Result], activity: object
) -> None:
    url, page = tmp_path / "results", tmp_path / "page"
    found = read(record(tmp_path, 1))
    footer = with_activity(found.runs.to_dict("records")[0], activity)
    Store(url).add(dataclasses.replace(found, runs=found.runs.assign(footer=footer)))

    done = switchpoint("report", "--store", url, "-o", page)

    assert done.exit_code == 0, done.output
    assert "Curves" in (page / f"runs/{1:032x}.html").read_text()


def test_a_small_foreign_file_with_gigabytes_of_text_costs_only_itself(tmp_path: Path) -> None:
    """The one text of a dictionary belongs to each of 200 rows."""
    store = Store(tmp_path / "results")
    store.add(read(record(tmp_path, 1)))
    [foreign] = (tmp_path / "results/runs").rglob("*.parquet")
    store.add(read(record(tmp_path, 2)))
    rows = pq.read_table(foreign, partitioning=None).take([0] * 200)
    once = pa.DictionaryArray.from_arrays(pa.array([0] * 200, pa.int32()), [" " * 2**22])
    rows = rows.set_column(rows.schema.get_field_index("session"), "session", once)
    pq.write_table(
        rows.replace_schema_metadata(None),
        foreign,
        compression="zstd",
        dictionary_pagesize_limit=2**30,
        store_schema=False,
    )

    found = store.read()

    [warning] = found.not_taken
    assert str(warning).startswith(f"{foreign}: is damaged (its columns have more than 512 MiB); ")
    assert found.runs["run_id"].tolist() == [f"{2:032x}"]


@pytest.mark.parametrize("table", ["runs", "facts", "curves"])
def test_rows_that_another_program_wrote_twice_count_once(tmp_path: Path, table: str) -> None:
    store = Store(tmp_path / "results")
    store.add(read(record(tmp_path, 1)))
    before = store.read()
    [foreign] = (tmp_path / "results" / table).rglob("*.parquet")
    rows = pq.read_table(foreign, partitioning=None)
    pq.write_table(pa.concat_tables([rows, rows]).replace_schema_metadata(None), foreign)

    found = store.read()

    assert len(found.runs) == len(store.runs()) == len(store.facts()) == 1
    pd.testing.assert_frame_equal(found.samples, before.samples)


def test_a_file_that_another_command_has_just_removed_has_no_bytes(url: str) -> None:
    files = StoreFiles(url)

    assert files.size(f"{files.root}/runs/month=2026-11/gone.parquet") == 0


def test_a_store_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    store = Store(tmp_path / "results")
    store.add(read(record(tmp_path, 1)))
    (tmp_path / "results" / "store.json").write_text('{"store": "switchpoint", "layout": 3}')

    for act in (store.read, lambda: store.add(read(record(tmp_path, 2)))):
        with pytest.raises(InputError, match="has the layout 3 of a newer version"):
            act()


def test_a_folder_that_is_no_store_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a store yet; fill it with `switchpoint import"):
        Store(tmp_path / "results").read()


def test_a_path_that_is_not_utf8_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/gr\xf6sse"))
    with pytest.raises(InputError, match="its path is not in UTF-8"):
        Store(folder).add(read(record(tmp_path, 1)))
    assert not folder.exists()


@pytest.mark.parametrize("name", ["", " "])
def test_an_empty_name_is_no_store(name: str) -> None:
    with pytest.raises(InputError, match="--store: the name is empty; give a folder or a URL"):
        Store(name)


def test_a_file_is_no_store(tmp_path: Path) -> None:
    path = record(tmp_path, 1)

    with pytest.raises(InputError, match="is a file, not a store"):
        Store(path).read()


@pytest.mark.parametrize("closed", ["", "runs"])
def test_a_store_that_may_not_be_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, closed: str
) -> None:
    url = tmp_path / "results"
    Store(url).add(read(record(tmp_path, 1)))
    folder = url / closed
    scandir, isdir = os.scandir, os.path.isdir

    def inside(path: object) -> bool:
        return str(path).startswith(f"{folder}/")

    def refuse(path: str) -> object:  # as for anybody but root, for whom the tests may run
        if inside(f"{path}/"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    monkeypatch.setattr(os.path, "isdir", lambda path: not inside(path) and isdir(path))

    with pytest.raises(InputError, match="Permission denied; choose another --store"):
        Store(url).read()


LOCKS = Path(__file__).parents[1] / "spack/locks"


def kernel(builder: str, spec_hash: str | None = None, **facts: str) -> dict[str, object]:
    return {
        "name": "pingpong", "version": "0.1.0", "git_commit": "a" * 40, "builder": builder,
        "spec_hash": spec_hash, "compiler": "GNU 12.2.0", "flags": "-O3",
    } | facts  # fmt: skip


def test_the_lock_beside_a_record_is_kept_whole_and_gives_the_spec(
    tmp_path: Path, url: str
) -> None:
    text = (LOCKS / "release.lock").read_text()
    (tmp_path / "spack.lock").write_text(text)
    own = json.loads(text)["roots"][0]["hash"]
    Store(url).add(read(record(tmp_path, 1, kernel=kernel("spack", own))))

    run = Store(url).read().runs.iloc[0]

    assert unpack(run["lock"]) == text
    assert run["lock_hash"] == hashlib.sha256(text.encode()).hexdigest()[:32]
    assert "build_type=Release commit=301dee895a3bd0a7" in run["spack_spec"]
    assert run["spack_hash"] == own
    assert run["builder"] == "spack"


@pytest.mark.parametrize(("builder", "own"), [("cmake", None), ("spack", "abc")])
def test_a_program_of_another_build_is_not_said_to_be_of_the_lock(
    tmp_path: Path, url: str, builder: str, own: str | None
) -> None:
    """Neither the lock that lies beside its record nor a label makes it one of Spack's."""
    text = (LOCKS / "release.lock").read_text()
    (tmp_path / "spack.lock").write_text(text)
    labels = {"site": "a", "spack_spec": "switchpoint-kernels ^mpich", "spack_hash": "other"}
    measured = read(record(tmp_path, 1, labels=labels, kernel=kernel(builder, own)))
    Store(url).add(measured)

    run = Store(url).read().runs.iloc[0]

    assert any("the lock is not stored with the run" in line.message for line in measured.warnings)
    assert run[["lock", "lock_hash", "spack_spec"]].isna().all()
    assert run["builder"] == builder


def test_builds_that_differ_are_curves_of_their_own(tmp_path: Path, url: str) -> None:
    """Debug, default, a new commit, another compiler: four curves, named by what differs."""
    text = (LOCKS / "release.lock").read_text()
    locks = [
        (LOCKS / "debug.lock").read_text(),
        text,
        text.replace("301dee895a3bd0a7cba54aa7ed51daa3053853c3", "b" * 40),
        text.replace('"version": "12.2.0"', '"version": "11.3.0"'),
    ]
    for number, lock in enumerate(locks):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "spack.lock").write_text(lock)
        own = json.loads(lock)["roots"][0]["hash"]
        start = f"2026-11-2{number}T10:00:00.000000Z"
        path = record(folder, number, kernel=kernel("spack", own), start_utc=start)
        Store(url).add(read(path))

    for found in (Store(url).read(), Store(url).latest()):
        curves = found.samples[["run_id", "build"]].drop_duplicates().sort_values("run_id")
        assert curves["build"].tolist() == [
            "build_type=Debug commit=301dee895a3b %gcc@12.2.0",
            "build_type=Release commit=301dee895a3b %gcc@12.2.0",
            "build_type=Release commit=bbbbbbbbbbbb %gcc@12.2.0",
            "build_type=Release commit=301dee895a3b %gcc@11.3.0",
        ]


def test_flags_tell_builds_of_cmake_apart_and_launches_of_one_build_stay_one_curve(
    tmp_path: Path, url: str
) -> None:
    same = kernel("cmake", git_commit="b" * 40)  # of the checkout, whose documents changed
    debug = kernel("cmake", flags="-O0 -g")
    for number, built in enumerate((kernel("cmake"), same)):
        Store(url).add(read(record(tmp_path, number, kernel=built)))
    assert "build" not in Store(url).read().samples

    Store(url).add(read(record(tmp_path, 2, kernel=debug)))

    samples = Store(url).read().samples
    told = samples[["run_id", "build"]].drop_duplicates()["build"].tolist()
    assert sorted(told) == ["-O0 -g", "-O3", "-O3"]


def test_a_file_that_is_no_lock_is_named(tmp_path: Path) -> None:
    path = record(tmp_path, 1)
    for text in ("{", "[]", "{}"):
        (tmp_path / "spack.lock").write_text(text)
        with pytest.raises(InputError, match=r"spack\.lock: is not a lock of Spack"):
            read(path)


def test_the_layout_before_batches_is_refused_in_one_line(
    tmp_path: Path, switchpoint: Callable[..., Result]
) -> None:
    path = record(tmp_path, 1)
    Store(tmp_path / "new").add(read(path))
    [runs] = (tmp_path / "new/runs").rglob("*.parquet")
    old = tmp_path / "old/runs/site=here/date=2026-01-05" / runs.name
    old.parent.mkdir(parents=True)
    shutil.copy(runs, old)

    for words in (["store", "ls"], ["store", "verify"], ["detect"], ["gate"], ["import", path]):
        done = switchpoint(*words, "--store", tmp_path / "old")
        assert (done.exit_code, done.stderr.count("\n")) == (2, 1), done.stderr
        assert "import its files again, into a new store" in done.stderr


# The smallest time of each point.


def thinned(path: Path, least: object) -> Path:
    """Let a record say that it left out samples of each point, the smallest being `least`."""
    *lines, end = path.read_text().splitlines()
    points = [
        {"mode": "send", "size_bytes": size, "count": 24, "kept": 12, "stride": 2, "min_us": least}
        for size in (8, 64, 512)
    ]
    path.write_text("\n".join([*lines, json.dumps(json.loads(end) | {"points": points})]) + "\n")
    return path


def smallest(store: Store) -> pd.Series:
    points = store.curves().astype({"run_id": str})
    return points.set_index(["run_id", "size_bytes"])["min_us"].sort_index()


def test_the_smallest_time_stays_when_the_samples_are_gone(tmp_path: Path, url: str) -> None:
    store = Store(url)
    for number in (1, 2):
        store.add(read(record(tmp_path, number, start_utc="2026-01-05T10:00:00.000000Z")))
    samples = store.read().samples.astype({"run_id": str})
    least = samples.groupby(["run_id", "size_bytes"])["time_us"].min()

    for step in (lambda: None, lambda: compact(store), lambda: prune(store, date(2026, 2, 1))):
        step()
        pd.testing.assert_series_equal(smallest(store), least, check_names=False)


@pytest.mark.parametrize(
    ("least", "counts"),
    [(1.5, True), (2, True), (None, False), ("1", False), (-1.0, False), (1e300, False)],
)
def test_the_smallest_time_is_that_of_all_samples_of_a_record_that_kept_some(
    tmp_path: Path, least: object, counts: bool
) -> None:
    found = read(thinned(record(tmp_path, 1), least))
    store = Store(tmp_path / "results")
    store.add(found)
    of_samples = found.samples.groupby("size_bytes")["time_us"].min()

    expected = [least] * 3 if counts else of_samples.tolist()
    assert smallest(store).tolist() == expected
    assert summarise(found)["min_us"].tolist() == expected
    assert summarise(found.samples)["min_us"].tolist() == of_samples.tolist()


def older_files(store: Store, table: str, change: Callable[[pa.Table], pa.Table]) -> None:
    """Change the files of a table to what an older version wrote."""
    for path in (Path(store.url) / table).rglob("*.parquet"):
        rows = change(pq.read_table(path, partitioning=None).replace_schema_metadata(None))
        path.write_bytes(parquet(rows))


def test_what_an_older_version_took_for_a_name_stays_one(tmp_path: Path) -> None:
    store = Store(tmp_path / "results")
    path = tmp_path / "curves.csv"
    path.write_text("size_bytes,time_us,net\n8,1,ib\n8,2,eth\n")
    store.add(read(path))
    place = SAMPLES.get_field_index("other_identity")

    def renamed(table: pa.Table) -> pa.Table:
        texts = pc.replace_substring(table[place].cast(pa.string()), "net", "min_us")
        return table.set_column(place, "other_identity", texts.dictionary_encode())

    for table in ("samples", "curves"):
        older_files(store, table, renamed)

    for points in (store.curves(), summarise(store.read())):
        named = points.set_index("label_min_us")["min_us"]
        assert named.to_dict() == {"ib": 1.0, "eth": 2.0}


# Upkeep.


def contents(store: Store) -> pd.DataFrame:
    samples = store.read().samples
    names = ["run_id", "mode", "size_bytes", "pass", "sample", "time_us"]
    return (
        samples[names]
        .astype({"run_id": str, "mode": str})
        .sort_values(names[:5], ignore_index=True)
    )


def test_many_imports_become_few_files_and_nothing_is_lost(
    tmp_path: Path, switchpoint: Callable[..., Result]
) -> None:
    url = tmp_path / "results"
    store = Store(url)
    for number in range(10):
        start = f"2026-{10 + number % 2}-21T10:00:00.000000Z"
        store.add(read(record(tmp_path, number, start_utc=start)))
    before = contents(store)

    result = switchpoint("store", "compact", "--store", url)

    assert result.output == "10 batches joined, 40 files removed\n"
    assert len(list(url.rglob("*.parquet"))) == 2 * 4
    pd.testing.assert_frame_equal(contents(store), before)
    assert switchpoint("store", "verify", "--store", url).output == f"{url} is sound\n"
    assert switchpoint("store", "compact", "--store", url).output.startswith("0 batches joined")


def test_a_compaction_that_is_killed_anywhere_loses_and_repeats_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each step is tried: every write and every removal ends the command once."""
    url = tmp_path / "results"
    for number in range(2):
        Store(url).add(read(record(tmp_path, number)))
    before = contents(Store(url))
    steps = 0
    while True:
        copy = Path(shutil.copytree(url, tmp_path / f"copy{steps}"))
        try:
            with killed_after(steps, Store(copy), monkeypatch):
                compact(Store(copy))
            done = True
        except KeyboardInterrupt:
            done = False
        pd.testing.assert_frame_equal(contents(Store(copy)), before)
        compact(Store(copy))
        pd.testing.assert_frame_equal(contents(Store(copy)), before)
        if done:
            break
        steps += 1
    assert steps == 4 + 2 * 4


def test_a_run_that_two_writers_stored_counts_once(tmp_path: Path, url: str) -> None:
    found = read(record(tmp_path, 1))
    other = Store(url)
    for _ in range(2):
        write(other.files, Encoded.of(found))

    assert len(Store(url).read().samples) == len(found.samples)
    assert len(Store(url).curves()) == len(summarise(found))


def test_old_samples_go_and_curves_stay(tmp_path: Path, switchpoint: Callable[..., Result]) -> None:
    url = tmp_path / "results"
    store = Store(url)
    young = f"{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%S}.000000Z"
    for number, start in [(1, "2026-01-05T10:00:00.000000Z"), (2, young)]:
        store.add(read(record(tmp_path, number, start_utc=start)))
    points = store.curves()

    result = switchpoint("store", "prune", "--older-than", 30, "--store", url)

    assert "1 batches without samples older than 30 days (1 runs), 1 files removed" in result.output
    assert set(store.read().samples["run_id"]) == {f"{2:032x}"}
    gone = DataWarning("removed", "the samples of 1 run were removed", str(url))
    assert gone in store.read().not_taken
    pd.testing.assert_frame_equal(store.curves(), points)


@pytest.mark.parametrize("table", ["curves", "facts"])
def test_a_file_that_is_gone_is_named_until_its_runs_are_imported_again(
    table: str, tmp_path: Path, switchpoint: Callable[..., Result]
) -> None:
    url, kept = tmp_path / "results", record(tmp_path, 1)
    Store(url).add(read(kept))
    [lost] = (url / table).rglob("*.parquet")
    lost.unlink()

    found = switchpoint("store", "verify", "--store", url)

    assert found.exit_code == 1
    assert found.stderr == f"switchpoint: {lost}: is missing; import its runs again\n"
    assert switchpoint("import", kept, "--store", url).exit_code == 0
    assert switchpoint("store", "verify", "--store", url).exit_code == 0


def test_runs_whose_file_is_gone_are_kept_until_they_are_imported_again(
    tmp_path: Path, switchpoint: Callable[..., Result]
) -> None:
    url, kept = tmp_path / "results", [record(tmp_path, number) for number in (1, 2)]
    for one in kept:
        Store(url).add(read(one))
    before = Store(url).read()
    lost = min((url / "runs").rglob("*.parquet"))
    lost.unlink()
    for path in url.rglob("*.parquet"):
        os.utime(path, (0, 0))

    for verb, exit_code in [("verify", 1), ("compact", 0), ("verify", 1)]:
        told = switchpoint("store", verb, "--store", url)
        assert told.exit_code == exit_code
        assert f"{lost}: is missing; import its runs again\n" in told.stderr

    assert switchpoint("import", *kept, "--store", url).exit_code == 0
    assert switchpoint("store", "compact", "--store", url).exit_code == 0
    assert switchpoint("store", "verify", "--store", url).exit_code == 0
    pd.testing.assert_frame_equal(Store(url).read().samples, before.samples)


def test_what_a_killed_writer_left_is_found_and_removed(
    tmp_path: Path, switchpoint: Callable[..., Result]
) -> None:
    url = tmp_path / "results"
    Store(url).add(read(record(tmp_path, 1)))
    samples = next((url / "samples").rglob("*.parquet"))
    left = [samples.with_name("20261121T000000-0.parquet"), samples.with_name(".a.parquet.12")]
    for path in left:
        path.write_bytes(samples.read_bytes())
        os.utime(path, (0, 0))

    found = switchpoint("store", "verify", "--store", url)
    assert found.exit_code == 1
    for path in left:
        assert (
            f"{path}: a writer was killed; `switchpoint store compact` removes it" in found.output
        )
    switchpoint("store", "compact", "--store", url)

    assert not any(path.exists() for path in left)
    assert switchpoint("store", "verify", "--store", url).exit_code == 0


def test_a_store_that_another_command_rewrites_is_left_alone(
    tmp_path: Path, switchpoint: Callable[..., Result]
) -> None:
    url = tmp_path / "results"
    store = Store(url)
    store.add(read(record(tmp_path, 1)))
    with store.files.alone():
        result = switchpoint("store", "compact", "--store", url)
    assert result.exit_code == 2
    assert "is being rewritten by another command; run this one again later" in result.output


@pytest.mark.parametrize(
    ("number", "problem"),
    [
        (errno.ENOLCK, None),
        (errno.ENOSYS, None),
        (errno.EOPNOTSUPP, None),
        (errno.EIO, "cannot be locked (Input/output error); choose another --store"),
    ],
)
def test_a_store_without_locks_is_maintained(
    tmp_path: Path,
    switchpoint: Callable[..., Result],
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    problem: str | None,
) -> None:
    """As on Lustre, if it is mounted without `flock`."""
    url = tmp_path / "results"
    for run in range(2):
        Store(url).add(read(record(tmp_path, run)))

    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    result = switchpoint("store", "compact", "--store", url)

    assert result.exit_code == (2 if problem else 0)
    assert problem in result.stderr if problem else "2 batches joined" in result.stdout
    assert len(Store(url).runs()) == 2


def test_a_store_says_what_it_contains(tmp_path: Path, switchpoint: Callable[..., Result]) -> None:
    url = tmp_path / "results"
    for number, site in [(1, "a"), (2, "a"), (3, "b")]:
        Store(url).add(read(record(tmp_path, number, labels={"site": site})))

    rows = json.loads(switchpoint("store", "ls", "--store", url, "--json").stdout)["months"]
    assert [(row["month"], row["site"], row["runs"]) for row in rows] == [
        ("2026-11", "a", 2), ("2026-11", "b", 1),
    ]  # fmt: skip
    assert sum(row["size_bytes"] for row in rows) == pytest.approx(
        sum(path.stat().st_size for path in url.rglob("*.parquet")), rel=0.01
    )
    assert "2026-11  a" in switchpoint("store", "ls", "--store", url).output
    shown = switchpoint("store", "show", f"{2:032x}", "--store", url)
    assert "site        a" in shown.output
    assert "points      3" in shown.output
    for wrong in ("f", "0", ""):
        assert switchpoint("store", "show", wrong, "--store", url).exit_code == 2


@pytest.fixture
def bucket(s3_server: str) -> str:
    """A store in a bucket of a local S3 server."""
    return f"s3://{uuid.uuid4().hex}/results"


def test_a_bucket_is_a_store(
    tmp_path: Path, bucket: str, switchpoint: Callable[..., Result]
) -> None:
    records = [record(tmp_path, number) for number in range(3)]
    for path in records:
        assert switchpoint("import", path, "--store", bucket).exit_code == 0
    before = contents(Store(bucket))

    assert "1 already stored" in switchpoint("import", records[0], "--store", bucket).output
    assert (
        "3 batches joined, 12 files removed"
        in switchpoint("store", "compact", "--store", bucket).output
    )

    pd.testing.assert_frame_equal(contents(Store(bucket)), before)
    assert switchpoint("store", "verify", "--store", bucket).exit_code == 0
    assert "Nothing found" in switchpoint("detect", "--store", bucket).output


@pytest.mark.parametrize("lost", ["one row", "the file"])
def test_a_store_all_of_whose_runs_are_damaged_is_listed(
    switchpoint: Callable[..., Result], tmp_path: Path, lost: str
) -> None:
    store = Store(tmp_path / "results")
    store.add(read(record(tmp_path, 1)))
    [runs] = (tmp_path / "results" / "runs").rglob("*.parquet")
    if lost == "one row":
        rows = pq.read_table(runs, partitioning=None)
        column = rows.schema.get_field_index("run_id")
        bad = pa.array(["../x"], rows.schema.field(column).type)
        rows = rows.set_column(column, "run_id", bad)
        pq.write_table(rows.replace_schema_metadata(None), runs)
    else:
        runs.write_bytes(runs.read_bytes()[:-20])

    listed = switchpoint("store", "ls", "--store", store.url)

    assert listed.exception is None or isinstance(listed.exception, SystemExit)
    assert f"{runs}: is damaged" in listed.stderr
