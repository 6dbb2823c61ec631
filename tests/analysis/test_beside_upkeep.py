"""Verbs that run while another command joins the files of their store."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import write_record
from switchpoint import Store, read
from switchpoint.store import verification
from switchpoint.store.compaction import compact
from switchpoint.store.files import StoreFiles
from typer.testing import Result

Run = Callable[..., Result]

#: After each of so many first listings files are joined, then after ever fewer of the others.
_EACH = 4

VERBS = [
    "store ls", "store verify", "store prune", "detect", "claims", "gate --session=night-2",
    "references", "report -o {folder}/out", "bundle -o {folder}/out", "import {folder}/new.record",
]  # fmt: skip


@pytest.fixture(scope="module")
def whole_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of two nights, in a batch for each launch."""
    folder = tmp_path_factory.mktemp("whole")
    store = Store(folder / "results")
    for night in (1, 2):
        for launch in (1, 2):
            labels = {"site": "here", "placement": "one_node", "session": f"night-{night}"}
            path = write_record(
                folder / "one.record", run_id=f"{night}{launch}".rjust(32, "0"), labels=labels,
                start_utc=f"2026-11-2{night}T1{launch}:00:00.000000Z", sizes=[8, 64, 512],
            )  # fmt: skip
            store.add(read(path))
    return folder / "results"


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS)
def test_files_that_are_joined_after_any_listing_change_no_answer(
    whole_store: Path,
    tmp_path: Path,
    switchpoint: Run,
    monkeypatch: pytest.MonkeyPatch,
    verb: str,
) -> None:
    monkeypatch.setattr(verification, "_PAUSE_S", 0)
    write_record(tmp_path / "new.record", run_id="f" * 32, sizes=[8, 64])
    words = verb.format(folder=tmp_path).split()
    listing = StoreFiles.below
    answers, listings = [], 1
    joined_at = 0
    while joined_at <= listings:
        url = Path(shutil.copytree(whole_store, tmp_path / f"results-{joined_at}"))
        count, joining = 0, False

        def below(files: StoreFiles, folder: str) -> list[str]:
            nonlocal count, joining
            found = listing(files, folder)
            if not joining:
                count += 1
                if count == joined_at:  # noqa: B023
                    joining = True
                    compact(Store(url))  # noqa: B023
                    joining = False
            return found

        with monkeypatch.context() as patch:
            patch.setattr(StoreFiles, "below", below)
            done = switchpoint(*words, "--store", url)
        assert not done.exception or isinstance(done.exception, SystemExit), done.exception
        busy = "is being rewritten by another command" in done.stderr
        said = re.sub(r"^switchpoint: .*: \d+ s\n", "", done.stderr, flags=re.MULTILINE)
        answers.append((done.exit_code, said.replace(str(url), "")))  # without how far it is
        assert answers[-1] == answers[0] or (verb == "store prune" and busy), joined_at
        listings = count if joined_at == 0 else listings
        joined_at += 1 if joined_at < _EACH else joined_at // 2
    assert len(answers) > 1


@pytest.mark.parametrize("table", ["samples", "curves", "facts", "runs"])
def test_a_file_that_a_network_file_system_lists_late_is_not_taken_for_lost(
    whole_store: Path, switchpoint: Run, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    late = str(max((whole_store / table).rglob("*.parquet")))
    listing = StoreFiles.below

    def below(files: StoreFiles, folder: str) -> list[str]:
        return [path for path in listing(files, folder) if path != late]

    monkeypatch.setattr(StoreFiles, "below", below)
    store = Store(whole_store)
    found = store.read()
    assert found.not_taken == []
    assert len(found.runs) == (3 if table == "runs" else 4)
    assert set(found.samples["run_id"]) == set(found.runs["run_id"])
    done = switchpoint("store", "verify", "--store", whole_store)
    assert (done.exit_code, done.stderr) == (0, "")
