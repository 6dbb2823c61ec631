"""A file of a store that the system does not let anybody read costs itself and one warning."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from conftest import write_record
from switchpoint import Store, read
from switchpoint.store.verification import verify
from typer.testing import Result

Run = Callable[..., Result]

ADVICE = "Check its rights and its disk, and run the command again"

#: What each verb is given besides --store, and the tables of which it names an unreadable file.
VERBS = {
    "store ls": ("", "runs facts samples curves parameters findings verdicts"),
    "store verify": ("", "runs facts samples curves parameters findings verdicts values"),
    "store compact": ("", "runs facts samples curves parameters findings verdicts values"),
    "store prune": ("", "runs"),
    "detect": ("", "runs facts samples"),
    "claims": ("", "runs facts samples"),
    "explain": ("", "runs facts samples"),
    "report": ("-o OUT", "runs facts samples"),
    "gate": ("--session=night-2", "runs facts curves findings values"),
    "references": ("", "values"),
    "bundle": ("-o OUT", "runs facts curves"),
    "import": ("RECORD", "runs"),
}


@pytest.fixture(scope="session")
def whole_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with two batches of each table, of two nights."""
    folder = tmp_path_factory.mktemp("whole")
    store = Store(folder / "results")
    for night in (1, 2):
        for launch in (1, 2):
            path = folder / f"{night}{launch}.record"
            labels = {"site": "here", "placement": "one_node", "session": f"night-{night}"}
            start = f"2026-11-2{night}T1{launch}:00:00.000000Z"
            run_id = f"{night}{launch}".rjust(32, "0")
            write_record(path, run_id=run_id, labels=labels, start_utc=start, sizes=[8, 64, 512])
            store.add(read(path))
        store.keep_parameters(pd.DataFrame({"run_id": [f"{night}1".rjust(32, "0")], "a": 1.0}))
        time = f"2026-11-2{night}T12:00:00Z"
        row = {"time_utc": [time], "site": "here", "session": f"night-{night}"}
        store.keep_findings(pd.DataFrame(row | {"finding_id": f"f{night}"}))
        store.keep_verdicts(pd.DataFrame(row | {"judged_utc": time}))
        store.keep_values(
            pd.DataFrame(
                {
                    "value_id": [f"{night}".rjust(32, "0")], "site": "here", "partition": "p",
                    "environ": "e", "test": "t", "variable": "v", "unit": "s", "time_utc": time,
                    "value": float(night), "reference": None, "lower": None, "upper": None,
                    "result": "pass", "labels": "{}", "source": "x",
                }
            )
        )  # fmt: skip
    return folder / "results"


def words_of(verb: str, url: Path) -> list[str]:
    given, _ = VERBS[verb]
    places = {"OUT": url.with_name("out"), "RECORD": url.with_name("new.record")}
    write_record(places["RECORD"], run_id="f" * 32, sizes=[8, 64])
    words = [*verb.split(), *given.split(), "--store", str(url)]
    return [str(places.get(word, word)) for word in words]


@pytest.mark.parametrize(
    ("verb", "table"),
    [(verb, table) for verb, (_, tables) in VERBS.items() for table in tables.split()],
)
def test_a_file_that_cannot_be_opened_costs_its_own_rows(
    whole_store: Path, tmp_path: Path, switchpoint: Run, verb: str, table: str
) -> None:
    """A link to itself, which not even root can open."""
    url = Path(shutil.copytree(whole_store, tmp_path / "results"))
    path = max((url / table).rglob("*.parquet"))
    path.unlink()
    path.symlink_to(path.name)

    done = switchpoint(*words_of(verb, url))

    assert not done.exception or isinstance(done.exception, SystemExit), done.exception
    [told] = [line for line in done.stderr.splitlines() if path.name in line]
    assert f"{path}: cannot be read (" in told
    assert ADVICE in told and "emove" not in told
    if verb != "gate":  # whose verdict may be another without these rows
        assert done.exit_code == (verb == "store verify")
    assert path.is_symlink()
    if verb == "store compact":
        path.unlink()
        shutil.copy(whole_store / path.relative_to(url), path)
        assert switchpoint("store", "verify", "--store", url).exit_code == 0
        assert len(Store(url).runs()) == 4 and len(Store(url).read().samples) == 4 * 36


@pytest.fixture(scope="session")
def failing_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library whose calls on files fail as the environment says, see its source."""
    library = tmp_path_factory.mktemp("preloaded") / "failing_files.so"
    source = Path(__file__).with_name("failing_files.c")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library


def failing(
    library: Path, call: str, path: str, number: int, *words: object
) -> subprocess.CompletedProcess[str]:
    """Run the command while a call on some files fails."""
    return subprocess.run(
        [sys.executable, "-m", "switchpoint", *map(str, words)],
        env=os.environ
        | {"LD_PRELOAD": str(library), "FAIL_AT": call, "FAIL_ON": path, "FAIL_WITH": str(number)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "number"),
    [("read", errno.EIO), ("read", errno.ESTALE), ("open", errno.EACCES), ("open", errno.ESTALE)],
)
def test_a_bad_sector_a_stale_handle_and_closed_rights_are_told_apart_from_damage(
    whole_store: Path, tmp_path: Path, failing_files: Path, call: str, number: int
) -> None:
    url = Path(shutil.copytree(whole_store, tmp_path / "results"))
    path = max((url / "samples").rglob("*.parquet"))
    for verb, code in {"store verify": 1, "detect": 0, "store compact": 0}.items():
        done = failing(
            failing_files, call, f"samples/month=2026-11/{path.name}", number,
            *verb.split(), "--store", url,
        )  # fmt: skip
        assert "Traceback" not in done.stderr
        assert done.returncode == code
        [line] = [line for line in done.stderr.splitlines() if path.name in line]
        assert f"{path}: cannot be read ({os.strerror(number)})" in line
        assert line.endswith(ADVICE) and "emove" not in line
    assert path.is_file()
    assert verify(Store(url)) == []


@pytest.mark.slow
def test_a_folder_that_cannot_be_read_is_named_and_its_files_do_not_look_removed(
    whole_store: Path, tmp_path: Path, failing_files: Path
) -> None:
    url = Path(shutil.copytree(whole_store, tmp_path / "results"))
    before = sorted(url.rglob("*.parquet"))
    for path in before:
        os.utime(path, (0, 0))
    for table, verb in [
        ("runs", "store ls"), ("runs", "store compact"), ("samples", "store verify"),
        ("samples", "detect"), ("samples", "store compact"),
    ]:  # fmt: skip
        done = failing(
            failing_files, "open", f"{table}/month=2026-11", errno.EACCES,
            *verb.split(), "--store", url,
        )  # fmt: skip
        assert done.returncode == 2, (verb, done.stderr)
        assert done.stderr == (
            f"switchpoint: {url / table}/month=2026-11: Permission denied; make the folder"
            " readable, or choose another --store\n"
        )
    assert sorted(url.rglob("*.parquet")) == before


@pytest.mark.slow
@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EBADF])
def test_a_network_file_system_without_locks_is_written_read_and_maintained(
    whole_store: Path, tmp_path: Path, failing_files: Path, number: int
) -> None:
    """EBADF is what NFS says of an exclusive lock on a file that is open for reading."""
    url = Path(shutil.copytree(whole_store, tmp_path / "results"))
    record = write_record(tmp_path / "new.record", run_id="f" * 32, sizes=[8, 64])
    hidden = f"{url}/" if number != errno.EBADF else ".parquet."
    for words in (["import", record], ["store", "compact"]):
        done = failing(failing_files, "flock", hidden, number, *words, "--store", url)
        assert done.returncode == 0, done.stderr
        assert "rror" not in done.stderr
    store = Store(url)
    assert len(store.runs()) == 5 and verify(store) == []


def test_a_pipe_in_place_of_a_file_keeps_nobody_waiting(
    whole_store: Path, tmp_path: Path, switchpoint: Run
) -> None:
    url = Path(shutil.copytree(whole_store, tmp_path / "results"))
    for table in ("samples", "findings", "values"):
        path = max((url / table).rglob("*.parquet"))
        path.unlink()
        os.mkfifo(path)
    for words in (["store", "verify"], ["detect"], ["gate"], ["store", "compact"]):
        done = switchpoint(*words, "--store", url)
        assert "it is a pipe, socket or device, not a file" in done.stderr


@pytest.mark.parametrize("name", ["zip://x", "tar://x", "git://x", "nosuch://x", "github://x"])
@pytest.mark.parametrize("verb", ["ls", "verify", "compact", "prune"])
def test_a_place_that_is_no_store_is_one_line(switchpoint: Run, name: str, verb: str) -> None:
    done = switchpoint("store", verb, "--store", name)
    assert done.exit_code == 2, done.exception
    assert done.stderr.startswith(f"switchpoint: {name}: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("site", ["A" * 400, "é" * 128, "x" * 5000, "a\0b"])
def test_a_site_whose_name_is_too_long_for_a_file_is_judged(
    tmp_path: Path, switchpoint: Run, site: str
) -> None:
    for night in (1, 2):
        labels = {"site": site, "placement": "one_node", "session": f"night-{night}"}
        path = write_record(
            tmp_path / f"{night}.record", run_id=f"{night}" * 32, labels=labels, sizes=[8, 64],
            start_utc=f"2026-11-2{night}T10:00:00.000000Z",
        )  # fmt: skip
        assert switchpoint("import", path, "--store", tmp_path / "s").exit_code == 0
    done = switchpoint("gate", "--store", tmp_path / "s")
    assert done.exit_code == 0, done.exception or done.stderr


def test_an_archive_whose_mark_unpacks_to_much_more_is_one_line(
    tmp_path: Path, switchpoint: Run
) -> None:
    with zipfile.ZipFile(tmp_path / "store.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("store.json", b" " * 2**26)
        archive.writestr("runs/month=2026-11/../../../../up.parquet", b"PAR1")
    done = switchpoint("store", "ls", "--store", f"zip://::{tmp_path}/store.zip")
    assert done.exit_code == 2
    assert done.stderr == "switchpoint: /store.json: is larger than 16 MiB; remove it\n"
