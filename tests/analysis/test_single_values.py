"""Numbers with a unit but no message size are kept as single values, each once."""

from __future__ import annotations

import contextlib
import json
import shutil
import uuid
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import killed_after
from switchpoint import Store, import_files, read, read_files
from switchpoint.store.compaction import MOST_BATCHES, compact
from switchpoint.tables.columns import VALUE_COLUMNS
from typer.testing import Result

Run = Callable[..., Result]

OUTPUTS = Path(__file__).parent / "outputs"

_HEADING = (
    "result|job_completion_time|job_completion_time_unix|environ|name|partition|system|num_tasks"
    "|triad_value|triad_unit|triad_ref|triad_lower_thres|triad_upper_thres|triad_result"
)


def write_log(folder: Path, nights: int, name: str = "Stream.log") -> Path:
    """Write the log of a test that ran on so many nights."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        f"pass|2024-03-{night:02}T03:00:00|{1709607600 + 86400 * night}.5|gnu|Stream %size=8|batch"
        f"|alpha|64|{200 + night}.5|GB/s|210|-0.1|null|pass"
        for night in range(1, nights + 1)
    ]
    path = folder / name
    path.write_text("\n".join([_HEADING, *rows]) + "\n")
    return path


def test_a_value_keeps_its_time_place_reference_and_what_else_is_said(tmp_path: Path) -> None:
    found = read(write_log(tmp_path, 1))

    assert found.samples.empty
    assert list(found.single_values) == VALUE_COLUMNS
    [value] = found.single_values.to_dict("records")
    assert [value[name] for name in ("site", "partition", "environ", "test", "variable")] == [
        "alpha", "batch", "gnu", "Stream %size=8", "triad",
    ]  # fmt: skip
    assert (value["value"], value["unit"], value["reference"]) == (201.5, "GB/s", 210)
    assert (value["lower"], value["upper"], value["result"]) == (-0.1, None, "pass")
    assert value["time_utc"] == "2024-03-06T03:00:00.500000Z"
    assert json.loads(value["labels"]) == {"num_tasks": "64", "size": "8"}


def test_a_log_that_grows_adds_only_what_is_new(switchpoint: Run, tmp_path: Path) -> None:
    logs, store = tmp_path / "perflogs", tmp_path / "store"

    write_log(logs, 3)
    first = switchpoint("import", logs, "--store", store)
    write_log(logs, 5)
    second = switchpoint("import", logs, "--store", store)
    third = switchpoint("import", logs, "--store", store, "--json")

    added = f"0 runs added to {store}\n"
    assert first.stdout == added + "3 single values of 1 test added\n"
    assert second.stdout == added + "2 single values of 1 test added; 3 already stored\n"
    assert json.loads(third.stdout)["values_already_stored"] == 5
    kept = Store(store).single_values(test="Stream %size=8")
    assert kept["value"].tolist() == [201.5, 202.5, 203.5, 204.5, 205.5]
    assert set(kept["site"]) == {"alpha"}


@pytest.mark.parametrize("scheme", ["folder", "memory"])
def test_values_lie_in_any_store_and_are_asked_for_by_column(tmp_path: Path, scheme: str) -> None:
    store = Store(f"memory://{uuid.uuid4().hex}" if scheme == "memory" else tmp_path / "store")
    assert store.single_values().empty

    outcome = import_files([write_log(tmp_path / "logs", 4)], store)

    assert (outcome.values_added, outcome.values_tests, outcome.added) == (4, 1, 0)
    assert len(store.single_values(site="alpha", variable="triad")) == 4
    assert store.single_values(site="beta").empty


def test_log_and_report_of_one_session_hold_the_same_values(tmp_path: Path) -> None:
    for name in ("reframe-variables.log", "reframe-report.json.gz"):
        shutil.copy(OUTPUTS / name, tmp_path)

    gathered = read_files([tmp_path])

    assert gathered.measurements is not None
    values = gathered.measurements.single_values
    assert not values.duplicated(["time_utc", "test", "variable"]).any()


def test_values_make_no_curve(switchpoint: Run, tmp_path: Path) -> None:
    log = write_log(tmp_path, 30)

    result = switchpoint("detect", log)

    assert result.exit_code == 2
    assert result.stderr == (
        f"switchpoint: {log}: contains no curve, only 30 single values;"
        " store them with `switchpoint import`\n"
    )


def test_a_store_of_values_alone_says_that_it_holds_no_runs(
    switchpoint: Run, tmp_path: Path
) -> None:
    switchpoint("import", write_log(tmp_path / "logs", 2), "--store", tmp_path / "store")

    result = switchpoint("detect", "--store", tmp_path / "store")

    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("value", ["nan", "inf", "", "null", "fast"])
def test_what_is_no_number_is_no_value(tmp_path: Path, value: str) -> None:
    path = write_log(tmp_path, 2)
    path.write_text(path.read_text().replace("|201.5|", f"|{value}|"))

    assert read(path).single_values["value"].tolist() == [202.5]


def test_a_site_that_can_name_no_folder_costs_its_own_file(
    switchpoint: Run, tmp_path: Path
) -> None:
    write_log(tmp_path / "logs", 2)
    path = write_log(tmp_path / "logs", 1, "Long.log")
    path.write_text(path.read_text().replace("|alpha|", f"|{'ä' * 90}|"))

    result = switchpoint("import", tmp_path / "logs", "--store", tmp_path / "store")

    assert result.exit_code == 0
    assert "Long.log: site is a folder's name of 540 characters; at most 200 do" in result.stderr
    assert len(Store(tmp_path / "store").single_values()) == 2


def test_a_log_without_any_value_is_skipped(switchpoint: Run, tmp_path: Path) -> None:
    path = write_log(tmp_path / "logs", 1)
    path.write_text(path.read_text().replace("|GB/s|", "||"))

    result = switchpoint("import", tmp_path / "logs", "--store", tmp_path / "store")

    assert result.exit_code == 2
    assert result.stderr == "switchpoint: skipped: 1 log without values\n"


def test_a_log_with_a_row_for_each_variable_is_read(tmp_path: Path) -> None:
    path = tmp_path / "Stream.log"
    path.write_text(
        "result|job_completion_time|name|system|perf_var|perf_value|perf_unit|perf_ref\n"
        "pass|2024-03-05T03:00:00|Stream|alpha:batch|triad|200|GB/s|210\n"
        "pass|2024-03-05T03:00:00|Stream|alpha:batch|copy|190|GB/s|null\n"
    )

    values = read(path).single_values

    assert values["variable"].tolist() == ["triad", "copy"]
    assert values["value"].tolist() == [200, 190]
    assert set(values["partition"]) == {"batch"}
    assert values["reference"].iloc[0] == 210


def two_files(store: Store, folder: Path) -> list[Path]:
    """Store three values, then four more, and return their two files, oldest first."""
    import_files([write_log(folder / "logs", 3)], store)
    import_files([write_log(folder / "logs", 7)], store)
    files = Path(store.url).glob("values/*/*.parquet")
    return sorted(files, key=lambda file: file.stat().st_mtime_ns)


def test_a_damaged_file_of_values_costs_itself_and_one_warning(
    switchpoint: Run, tmp_path: Path
) -> None:
    store = Store(tmp_path / "store")
    first, _ = two_files(store, tmp_path)
    content = bytearray(first.read_bytes())
    content[len(content) // 3] ^= 1
    first.write_bytes(content)

    values = store.single_values()
    judged = switchpoint("gate", "--store", store.url)
    references = switchpoint("references", "--store", store.url)

    assert values["value"].tolist() == [204.5, 205.5, 206.5, 207.5]
    [told] = values.attrs["not_taken"]
    assert told["place"] == str(first) and told["message"].startswith("is damaged")
    for done in (judged, references):
        assert done.exit_code == 0, done.output
        assert done.stderr.count(f"{first}: is damaged") == 1


def test_values_of_a_damaged_file_are_stored_again_by_the_next_import(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    first, _ = two_files(store, tmp_path)
    first.write_bytes(first.read_bytes()[:-20])

    outcome = import_files([tmp_path / "logs"], store)

    assert outcome.values_added == 3
    assert len(store.single_values()) == 7
    assert store.single_values().attrs["not_taken"] == []


@pytest.mark.parametrize("scheme", ["folder", "memory"])
def test_compact_joins_the_values_of_a_site(switchpoint: Run, tmp_path: Path, scheme: str) -> None:
    url = f"memory://{uuid.uuid4().hex}" if scheme == "memory" else str(tmp_path / "store")
    store = Store(url)
    for nights in (2, 4, 5):
        import_files([write_log(tmp_path / "logs", nights)], store)
    other = write_log(tmp_path / "other", 3)
    other.write_text(other.read_text().replace("|alpha|", "|a b/c|"))
    import_files([other], store)
    before = store.single_values()

    done = switchpoint("store", "compact", "--store", url)

    assert done.output == "3 batches joined, 3 files removed\n"
    assert len(store.files.below("values")) == 2
    pd.testing.assert_frame_equal(store.single_values(), before)
    again = import_files([write_log(tmp_path / "logs", 6)], store)
    assert (again.values_added, again.values_already_stored) == (1, 5)


def test_an_import_joins_the_values_of_many_imports(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    for nights in range(1, MOST_BATCHES + 2):
        assert len(store.files.below("values")) == nights - 1
        import_files([write_log(tmp_path / "logs", nights)], store)

    assert len(store.files.below("values")) == 1
    assert len(store.single_values()) == MOST_BATCHES + 1


def test_a_damaged_file_of_values_is_not_joined(switchpoint: Run, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    first, second = two_files(store, tmp_path)
    import_files([write_log(tmp_path / "logs", 9)], store)
    first.write_bytes(first.read_bytes()[:-20])

    done = switchpoint("store", "compact", "--store", store.url)

    assert done.exit_code == 0 and f"warning: {first}: is damaged" in done.stderr
    assert first.exists() and not second.exists()
    assert store.single_values()["value"].tolist() == [200.5 + night for night in range(4, 10)]


def test_joining_values_that_is_killed_anywhere_loses_and_repeats_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command ends before each write and each removal."""
    for steps in range(4):
        store = Store(tmp_path / f"store{steps}")
        two_files(store, tmp_path / f"{steps}")
        with contextlib.suppress(KeyboardInterrupt), killed_after(steps, store, monkeypatch):
            compact(store)
        assert len(store.single_values()) == 7
        compact(store)
        assert len(store.single_values()) == 7
        assert len(store.files.below("values")) == 1


@pytest.mark.parametrize(
    ("column", "value", "problem"),
    [
        ("value", float("inf"), "value is inf, but must be from"),
        ("value", None, "a row has no value"),
        ("lower", float("-inf"), "lower is -inf, but must be from"),
        ("value_id", "../x", "a value_id is not 32 hexadecimal digits"),
    ],
)
def test_an_impossible_value_that_another_program_wrote_costs_its_file(
    tmp_path: Path, column: str, value: object, problem: str
) -> None:
    store = Store(tmp_path / "store")
    first, _ = two_files(store, tmp_path)
    rows = pq.read_table(first, partitioning=None)
    cells = pa.array([value, *rows[column].to_pylist()[1:]], rows.schema.field(column).type)
    rows = rows.set_column(rows.schema.get_field_index(column), column, cells)
    pq.write_table(rows.replace_schema_metadata(None), first)  # without a seal

    values = store.single_values()

    [warning] = values.attrs["not_taken"]
    assert warning["place"] == str(first)
    assert warning["message"].startswith("is damaged (") and problem in warning["message"]
    assert values["value"].tolist() == [204.5, 205.5, 206.5, 207.5]


def test_a_foreign_table_among_values_is_named(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    first, _ = two_files(store, tmp_path)
    foreign = first.with_name("foreign.parquet")
    pd.DataFrame({"value": [1.0], "unit": ["GB/s"]}).to_parquet(foreign)

    values = store.single_values()

    assert len(values) == 7
    [told] = values.attrs["not_taken"]
    assert told == {
        "kind": "unread_file",
        "message": "is not a file of a store; remove it",
        "place": str(foreign),
    }
