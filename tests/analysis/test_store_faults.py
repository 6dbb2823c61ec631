"""Whatever happens to a writer, a disk or a bucket: nothing is lost, and a user reads one line."""

from __future__ import annotations

import errno
import multiprocessing
import os
import resource
import signal
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from conftest import write_record
from switchpoint import InputError, Store, read
from switchpoint.store.compaction import compact
from switchpoint.store.verification import verify
from typer.testing import Result

Run = Callable[..., Result]

WRITERS = 8


def record(folder: Path, number: int) -> Path:
    path = folder / f"{number}.record"
    return write_record(path, run_id=f"{number:032x}", sizes=[8, 64, 512])


def parameters(number: int) -> pd.DataFrame:
    return pd.DataFrame({"run_id": [f"{number:032x}"], "site": "here", "latency_us": 1.0})


def _write(url: str, path: str, number: int, steps: int | None) -> None:
    """Store a run and its parameters; after so many steps the process is killed."""
    if steps is not None:
        left = steps

        def counted(act: Callable[..., Any]) -> Callable[..., Any]:
            def step(*arguments: Any, **named: Any) -> Any:
                nonlocal left
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                left -= 1
                return act(*arguments, **named)

            return step

        os.fsync = counted(os.fsync)
        Path.replace = counted(Path.replace)  # type: ignore[method-assign]
    store = Store(url)
    store.add(read(path))
    store.keep_parameters(parameters(number))


@pytest.mark.slow
@pytest.mark.parametrize("steps", range(18))
def test_of_eight_writers_one_is_killed_at_any_moment(tmp_path: Path, steps: int) -> None:
    """Each file takes two fsyncs and a rename; there are the mark and five more files."""
    url = str(tmp_path / "results")
    records = [record(tmp_path, number) for number in range(WRITERS)]
    context = multiprocessing.get_context("fork")
    writers = [
        context.Process(
            target=_write, args=(url, str(path), number, steps if number == 3 else None)
        )
        for number, path in enumerate(records)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()

    assert [writer.exitcode for writer in writers[:3] + writers[4:]] == [0] * (WRITERS - 1)
    store = Store(url)
    there = set(store.runs()["run_id"])
    assert there >= {f"{number:032x}" for number in range(WRITERS) if number != 3}
    samples = store.read().samples.groupby("run_id", observed=True).size()
    assert samples.eq(36).all()
    assert set(samples.index) == there

    store.add(read(records[3]))
    store.keep_parameters(parameters(3))
    compact(store)
    expected = [f"{number:032x}" for number in range(WRITERS)]
    assert store.runs()["run_id"].tolist() == expected
    assert sorted(store.parameters()["run_id"]) == expected


@pytest.fixture
def small_files() -> Iterator[None]:
    """Let every write fail that makes a file larger than 300 bytes, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


def _keep_parameters(store: Store, measured: Any) -> None:
    store.keep_parameters(parameters(2))


def _add(store: Store, measured: Any) -> None:
    store.add(measured)


@pytest.mark.parametrize("act", [_add, _keep_parameters])
def test_a_full_disk_is_one_line_and_leaves_the_store_as_it_was(
    tmp_path: Path, request: pytest.FixtureRequest, act: Callable[[Store, Any], None]
) -> None:
    store = Store(tmp_path / "results")
    store.add(read(record(tmp_path, 1)))
    measured = read(record(tmp_path, 2))
    before = {path for path in (tmp_path / "results").rglob("*") if path.is_file()}
    request.getfixturevalue("small_files")

    with pytest.raises(InputError, match=r"cannot be written \(File too large\); choose another"):
        act(store, measured)

    assert {path for path in (tmp_path / "results").rglob("*") if path.is_file()} == before
    assert store.runs()["run_id"].tolist() == [f"{1:032x}"]


def test_a_full_disk_during_upkeep_leaves_every_run(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    store = Store(tmp_path / "results")
    for number in (1, 2, 3, 4):
        store.add(read(record(tmp_path, number)))
    before = sorted((tmp_path / "results").rglob("*.parquet*"))
    points = store.curves()
    request.getfixturevalue("small_files")

    with pytest.raises(InputError, match=r"cannot be written \(File too large\); choose another"):
        compact(store)

    assert sorted((tmp_path / "results").rglob("*.parquet*")) == before
    pd.testing.assert_frame_equal(store.curves(), points)
    assert len(store.read().runs) == 4


def test_a_read_only_store_is_read_and_not_written(
    tmp_path: Path, switchpoint: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = tmp_path / "results"
    first, second = record(tmp_path, 1), record(tmp_path, 2)
    switchpoint("import", first, "--store", url)
    made, opened = Path.open, os.open

    def refused(path: object) -> None:
        if str(path).startswith(str(url)):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    def open_path(path: Path, mode: str = "r", *rest: Any, **named: Any) -> Any:
        if "w" in mode:
            refused(path)
        return made(path, mode, *rest, **named)

    def open_file(path: Any, flags: int, *rest: Any, **named: Any) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR):
            refused(path)
        return opened(path, flags, *rest, **named)

    monkeypatch.setattr(Path, "open", open_path)
    monkeypatch.setattr(os, "open", open_file)

    assert switchpoint("detect", "--store", url).exit_code == 0
    assert switchpoint("store", "ls", "--store", url).exit_code == 0
    assert "1 already stored" in switchpoint("import", first, "--store", url).output
    for words in (["import", second], ["store", "compact"], ["store", "prune"]):
        result = switchpoint(*words, "--store", url)
        assert result.exit_code == 2, result.output
        assert "Read-only file system); choose another --store\n" in result.stderr
        assert result.stderr.count("\n") == 1
    with pytest.raises(InputError, match="Read-only file system"):
        Store(url).keep_findings(pd.DataFrame({"finding_id": ["f"]}))


@pytest.fixture
def without_rights(s3_server: str) -> Iterator[Callable[[], None]]:
    """Let the server check the key from now on, which no user has."""

    def check_keys(unchecked_requests: bytes = b"0") -> None:
        request = urllib.request.Request(
            f"{s3_server}/moto-api/reset-auth", unchecked_requests, {"Content-Type": "text/plain"}
        )
        urllib.request.urlopen(request).close()

    yield check_keys
    check_keys(b"inf")


def test_a_bucket_without_rights_is_one_line(
    tmp_path: Path, switchpoint: Run, without_rights: Callable[[], None]
) -> None:
    url = f"s3://{uuid.uuid4().hex}/results"
    path = record(tmp_path, 1)
    assert switchpoint("import", path, "--store", url).exit_code == 0
    without_rights()

    for words in (["import", path], ["detect"], ["store", "ls"], ["store", "compact"]):
        result = switchpoint(*words, "--store", url)
        assert result.exit_code == 2, result.output
        assert result.stderr.startswith(f"switchpoint: {url}: ")
        assert result.stderr.endswith("choose another --store\n")
        assert result.stderr.count("\n") == 1


def _keep_findings(arguments: tuple[str, int]) -> None:
    url, number = arguments
    findings = pd.DataFrame({"finding_id": [f"f{one}" for one in range(number, number + 3)]})
    Store(url).keep_findings(findings)


def test_two_gates_at_once_keep_each_finding_once(tmp_path: Path) -> None:
    url = str(tmp_path / "results")
    with multiprocessing.get_context("fork").Pool(2) as pool:
        pool.map(_keep_findings, [(url, number) for number in (0, 1, 0, 2)])

    assert sorted(Store(url).findings()["finding_id"]) == [f"f{n}" for n in range(5)]


VERBS = [
    ["detect"], ["detect", "--json"], ["explain"], ["claims"], ["report"],
    ["store", "ls"], ["store", "show", f"{1:032x}"], ["store", "verify"], ["store", "compact"],
    ["store", "prune"], ["reproduce", f"{1:032x}"],
]  # fmt: skip


@pytest.mark.parametrize("young", [True, False])
def test_every_verb_works_when_old_samples_are_gone(
    tmp_path: Path, switchpoint: Run, monkeypatch: pytest.MonkeyPatch, young: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    starts = ["2026-01-05T10:00:00.000000Z", "2026-01-06T10:00:00.000000Z"]
    if young:
        starts.append(f"{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%S}.000000Z")
    for number, start in enumerate(starts, start=1):
        path = tmp_path / f"{number}.record"
        write_record(path, run_id=f"{number:032x}", start_utc=start)
        switchpoint("import", path, "--store", "results")
    points = Store("results").curves()

    assert "2 batches without samples" in switchpoint("store", "prune").output

    for words in VERBS:
        result = switchpoint(*words)
        assert result.exit_code == 0, (words, result.output)
        assert "measure more sizes" not in result.stderr
    pd.testing.assert_frame_equal(Store("results").curves(), points)

    again = [switchpoint("import", "1.record").output for _ in range(2)]
    assert again[0] == "1 run added to results\n"
    assert again[1] == "0 runs added to results; 1 already stored\n"
    assert set(Store("results").read().samples["run_id"]) >= {f"{1:032x}"}


@pytest.mark.parametrize("table", ["samples", "curves", "facts", "runs"])
@pytest.mark.parametrize("words", ["import {}", "store compact"])
def test_a_writer_without_space_removes_what_it_has_written_of_its_batch(
    tmp_path: Path, switchpoint: Run, monkeypatch: pytest.MonkeyPatch, table: str, words: str
) -> None:
    url = tmp_path / "results"
    for number in (1, 2):
        Store(url).add(read(record(tmp_path, number)))
    before = sorted(url.rglob("*.parquet*"))
    replace = Path.replace

    def full(path: Path, target: Path) -> Path:
        if f"/{table}/" in str(target):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", full)
    new = record(tmp_path, 3)
    done = switchpoint(*words.format(new).split(), "--store", url)

    assert done.exit_code == 2
    assert done.stderr == (
        f"switchpoint: {url}: cannot be written (No space left on device); choose another --store\n"
    )
    assert sorted(url.rglob("*.parquet*")) == before
    assert verify(Store(url)) == []


def test_what_a_killed_writer_left_is_removable_after_an_hour_which_is_said(
    tmp_path: Path, switchpoint: Run
) -> None:
    url = tmp_path / "results"
    Store(url).add(read(record(tmp_path, 1)))
    sound = next((url / "samples").rglob("*.parquet"))
    left = sound.with_name("20261121T000000-0.parquet")
    left.write_bytes(sound.read_bytes())
    written = datetime.fromtimestamp(left.stat().st_mtime, timezone.utc)
    told = (
        f"1 file belongs to runs that are being stored, such as {left}; if the writer was killed,"
        " `switchpoint store compact` removes what it left from"
        f" {written + timedelta(hours=1):%Y-%m-%d %H:%M} UTC on\n"
    )

    done = switchpoint("store", "verify", "--store", url)
    assert (done.exit_code, done.stderr) == (0, f"switchpoint: {told}")
    done = switchpoint("store", "compact", "--store", url)
    assert (done.exit_code, done.stderr) == (0, f"switchpoint: warning: {told}")
    assert left.exists()

    os.utime(left, (0, 0))
    assert switchpoint("store", "compact", "--store", url).stderr == ""
    assert not left.exists()


@pytest.mark.parametrize(("folder", "lock"), [(0o755, 0o600), (0o775, 0o660), (0o777, 0o666)])
def test_only_those_can_hold_the_lock_of_a_store_who_may_write_to_it(
    tmp_path: Path, switchpoint: Run, folder: int, lock: int
) -> None:
    url = tmp_path / "results"
    Store(url).add(read(record(tmp_path, 1)))
    url.chmod(folder)
    (url / ".rewriting").touch(mode=0o644)  # of an older version
    assert switchpoint("store", "compact", "--store", url).exit_code == 0
    assert (url / ".rewriting").stat().st_mode & 0o777 == lock


def test_a_folder_of_a_run_that_does_not_fit_on_the_disk_is_told_so(
    tmp_path: Path, switchpoint: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    git = tmp_path / "bin/git"
    git.parent.mkdir()
    git.write_text(
        '#!/bin/sh\n[ "$3" = cat-file ] && exit 0\n'
        'echo "fatal: cannot copy a template: No space left on device" >&2\nexit 128\n'
    )
    git.chmod(0o755)
    monkeypatch.setenv("PATH", f"{git.parent}:{os.environ['PATH']}")
    done = switchpoint("reproduce", record(tmp_path, 1), "--write", tmp_path / "again")
    assert done.exit_code == 2
    assert done.stderr == (
        "switchpoint: switchpoint: cannot be made (git init: No space left on device);"
        " free some space and run the command again\n"
    )
    assert not (tmp_path / "again").exists()
