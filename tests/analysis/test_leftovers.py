"""What a killed command leaves hidden is removed by the next, and a running one is left alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import write_record
from switchpoint.whole_files import SUFFIX, hidden_beside, is_abandoned, write_whole
from typer.testing import Result

Run = Callable[..., Result]

#: Begins to write a file, says so, and waits.
WRITER = """
import sys, time
from pathlib import Path
from switchpoint.whole_files import hidden_beside
with hidden_beside(Path(sys.argv[1])) as hidden:
    hidden.write_text("half")
    print("writing", flush=True)
    time.sleep(60)
"""


def hidden_in(folder: Path) -> list[Path]:
    return sorted(folder.rglob(f".*{SUFFIX}"))


def killed_writer(path: Path) -> None:
    """Let a process begin to write a file, and kill it."""
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, path], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "writing\n"
        assert not is_abandoned(hidden_in(path.parent)[0])
        writer.send_signal(signal.SIGKILL)
    assert len(hidden_in(path.parent)) == 1


def test_the_next_writer_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    killed_writer(tmp_path / "a.html")

    write_whole(tmp_path / "b.html", b"whole")

    assert [path.name for path in tmp_path.iterdir()] == ["b.html"]


def test_what_is_being_written_is_left_alone(tmp_path: Path) -> None:
    with hidden_beside(tmp_path / "a") as first:
        write_whole(tmp_path / "b", b"whole")
        assert first.exists()

    assert [path.name for path in tmp_path.iterdir()] == ["b"]


def test_a_file_that_cannot_be_replaced_leaves_nothing_hidden(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").touch()

    with pytest.raises(OSError):
        write_whole(tmp_path / "taken", b"whole")

    assert hidden_in(tmp_path) == []


#: What each verb that writes a file is given, with the file in place of FILE.
WRITERS = {
    "bundle": ["bundle", "RECORD", "-o", "FILE"],
    "model": ["model", "fit", "RECORD", "-o", "FILE"],
    "ladder": ["ladder", "RECORD", "--svg", "FILE"],
    "gate": ["gate", "--store", "STORE", "--markdown", "FILE"],
}


@pytest.mark.parametrize("verb", WRITERS)
def test_what_a_killed_verb_left_is_swept_by_the_next_file(
    switchpoint: Run, tmp_path: Path, verb: str
) -> None:
    record = write_record(tmp_path / "run.record", run_id=f"{1:032x}", sizes=[8, 64, 512, 4096])
    switchpoint("import", record, "--store", tmp_path / "results")
    folder = tmp_path / "written"
    folder.mkdir()
    killed_writer(folder / "file")

    places = {"RECORD": record, "STORE": tmp_path / "results", "FILE": folder / "file"}
    result = switchpoint(*(places.get(word, word) for word in WRITERS[verb]))

    assert result.exit_code == 0, result.output
    assert [path.name for path in folder.iterdir()] == ["file"]


@pytest.mark.parametrize("verb", WRITERS)
@pytest.mark.parametrize("kind", ["pipe", "link", "nowhere"])
def test_no_verb_writes_through_a_link_or_into_a_pipe(
    switchpoint: Run, tmp_path: Path, verb: str, kind: str
) -> None:
    """Whoever may write to a folder could otherwise let a verb overwrite any file, or hang."""
    record = write_record(tmp_path / "run.record", run_id=f"{1:032x}", sizes=[8, 64, 512, 4096])
    switchpoint("import", record, "--store", tmp_path / "results")
    victim = tmp_path / "victim"
    if kind == "link":
        victim.write_bytes(b"precious")
    path = tmp_path / "file"
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(victim)

    places = {"RECORD": record, "STORE": tmp_path / "results", "FILE": path}
    result = switchpoint(*(places.get(word, word) for word in WRITERS[verb]))

    reason = "it is a pipe, socket or device" if kind == "pipe" else "it is a symbolic link"
    assert result.exit_code == (2 if verb != "gate" else result.exit_code)
    assert result.exit_code != 0
    assert [line for line in result.stderr.splitlines() if str(path) in line and reason in line]
    assert not victim.exists() or victim.read_bytes() == b"precious"
    assert path.is_fifo() if kind == "pipe" else path.is_symlink()


def test_an_open_stream_is_written_to(tmp_path: Path) -> None:
    words = [sys.executable, "-c", "from pathlib import Path; import sys;"
             "from switchpoint.whole_files import write_whole;"
             "write_whole(Path('/dev/stdout'), b'whole')"]  # fmt: skip

    assert subprocess.run(words, capture_output=True, check=True).stdout == b"whole"


def test_a_pipe_with_the_name_of_a_leftover_is_left_alone(tmp_path: Path) -> None:
    pipe = tmp_path / f".file.{'0' * 32}{SUFFIX}"
    os.mkfifo(pipe)
    (tmp_path / f".mine{SUFFIX}").write_bytes(b"precious")

    write_whole(tmp_path / "file", b"whole")

    assert (tmp_path / f".mine{SUFFIX}").read_bytes() == b"precious"


@pytest.mark.parametrize("verb", ["report", "reproduce"])
def test_a_killed_verb_is_swept_by_the_next(switchpoint: Run, tmp_path: Path, verb: str) -> None:
    record = write_record(tmp_path / "run.record", sizes=[8, 64])
    folder = tmp_path / "written"
    folder.mkdir()
    target = folder / ("index.html" if verb == "report" else "again")
    killed_writer(target)

    option = {"report": ("-o", folder), "reproduce": ("--write", target)}[verb]
    result = switchpoint(verb, record, *option)

    assert result.exit_code == 0, result.output
    assert target.exists()
    assert hidden_in(folder) == []


def test_a_killed_import_is_swept_by_the_next(switchpoint: Run, tmp_path: Path) -> None:
    store = tmp_path / "results"
    first = write_record(tmp_path / "1.record", run_id=f"{1:032x}", sizes=[8])
    second = write_record(tmp_path / "2.record", run_id=f"{2:032x}", sizes=[8])
    switchpoint("import", first, "--store", store)
    killed_writer(next((store / "runs").rglob("*.parquet")))

    switchpoint("import", second, "--store", store)

    assert hidden_in(store) == []
    assert switchpoint("store", "verify", "--store", store).exit_code == 0
