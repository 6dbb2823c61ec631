"""Warnings keep their kind and place, in the store and in JSON; those of earlier versions count."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pandas as pd
import pytest
from conftest import write_record
from switchpoint import DataWarning, Store, gate, import_files, read
from switchpoint.data_warnings import KINDS, Kind
from switchpoint.gating.gate import judged_last
from typer.testing import Result

Run = Callable[..., Result]

#: What earlier versions stored with a run: a line for each warning.
OLD = "run 01234567: shortened: its time budget of 3 s ended the searches\na: b: c"


@pytest.fixture
def truncated(tmp_path: Path) -> Path:
    return write_record(tmp_path / "cut: short.record", footer=False)


def test_each_kind_is_described() -> None:
    assert get_args(Kind) == (*KINDS,)


def test_the_store_keeps_kind_and_place(truncated: Path, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")

    [warning] = import_files([truncated], store).warnings

    assert (warning.kind, warning.place) == ("truncated", str(truncated))
    assert str(warning) == f"{truncated}: {warning.message}"
    assert warning.message.startswith("truncated, the run did not end; its ")
    assert store.read().warnings == read(truncated).warnings == [warning]


def test_runs_that_an_earlier_version_stored_keep_their_warnings(
    truncated: Path, tmp_path: Path, switchpoint: Run
) -> None:
    measured = read(truncated)
    measured.runs["warnings"] = OLD
    store = Store(tmp_path / "store")
    store.add(measured)

    assert store.read().warnings == [DataWarning("other", line) for line in OLD.splitlines()]
    words = ["store", "show", "0123", "--store", store.url, "--json"]
    shown = json.loads(switchpoint(*words).stdout)
    assert (shown["warnings"], shown["warning_kinds"]) == (OLD, ["other", "other"])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[{"kind": "a new one", "message": "m", "place": "p"}]', DataWarning("other", "m", "p")),
        ('[{"kind": ["too_noisy"], "message": 1}]', DataWarning("other", "1")),
        ("[7]", DataWarning("other", "7")),
        ('{"kind": "too_noisy"}', DataWarning("other", '{"kind": "too_noisy"}')),
    ],
)
def test_what_another_program_stored_is_a_warning_too(
    truncated: Path, text: str, told: DataWarning
) -> None:
    measured = read(truncated)
    measured.runs["warnings"] = text

    assert measured.warnings == [told]


def test_warnings_of_many_places_are_one_line(tmp_path: Path, switchpoint: Run) -> None:
    for number in range(3):
        name = tmp_path / f"{'abc'[number]}: table" / "x: y.csv"
        name.parent.mkdir()
        name.write_text(f"size_bytes,time_us\n8,{number + 1}\n16,\n")

    result = switchpoint("import", tmp_path, "--store", tmp_path / "store")

    [line] = [line for line in result.stderr.splitlines() if "the row is skipped" in line]
    assert line.endswith("(2 more of this kind)")


def add_session(store: Store, number: int) -> None:
    labels = {"session": f"night-{number}", "site": "here", "placement": "one_node"}
    start_utc = f"2026-11-0{number}T10:00:00.000000Z"
    path = Path(store.url).with_name(f"{number}.record")
    write_record(path, run_id=f"{number:032x}", labels=labels, start_utc=start_utc)
    import_files([path], store)


def test_a_verdict_keeps_the_kinds_of_its_warnings(tmp_path: Path, switchpoint: Run) -> None:
    store = Store(tmp_path / "store")
    add_session(store, 1)

    printed = json.loads(switchpoint("gate", "--store", store.url, "--json").stdout)
    [verdict] = judged_last(store)

    assert [warning.kind for warning in verdict.warnings] == printed["warning_kinds"]
    assert [*map(str, verdict.warnings)] == printed["warnings"]
    assert printed["warning_kinds"] == ["no_baseline"]


def test_a_verdict_that_an_earlier_version_kept_is_read(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    add_session(store, 1)
    gate(store, keep=True)
    line: dict[str, Any] = store.verdicts().iloc[0].to_dict()
    old = line | {"judged_utc": "2099-01-01T00:00Z", "warnings": json.dumps(["as then"])}
    store.keep_verdicts(pd.DataFrame([old]))

    [verdict] = judged_last(store)

    assert verdict.warnings == [DataWarning("other", "as then")]
