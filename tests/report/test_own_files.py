"""The report replaces and removes only what it wrote, and no file of a user or through a link."""

from __future__ import annotations

import csv
import hashlib
import os
import resource
import signal
from pathlib import Path

import pytest
from switchpoint.cli.command import app
from switchpoint.whole_files import append_text
from typer.testing import CliRunner, Result

RECORDS = Path(__file__).parents[1] / "analysis" / "records"
FIRST, SECOND = (
    RECORDS / f"{name}.record.gz" for name in ("openmpi-memory-limit-4096", "mpich-memory")
)

#: The list of what a report wrote.
LIST = ".switchpoint-report"


def report(*words: object) -> Result:
    return CliRunner().invoke(app, ["report", *map(str, words)])


def refused(result: Result, *words: object) -> None:
    """Exit code 2 and one line, with all of `words`."""
    assert result.exit_code == 2, result.output
    lines = [line for line in result.stderr.splitlines() if not line.endswith(" s")]  # progress
    assert len(lines) == 1, result.stderr
    for word in words:
        assert str(word) in result.stderr


def contents(folder: Path) -> dict[str, bytes]:
    return {
        os.path.relpath(path, folder): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def listed(folder: Path) -> dict[str, str]:
    lines = (folder / LIST).read_text().splitlines()[1:]
    return {name: digest for digest, _, name in (line.partition("  ") for line in lines)}


def test_a_list_of_somebody_else_removes_nothing(tmp_path: Path) -> None:
    """Once `files.txt` was taken for the report's own list, whoever wrote it."""
    (tmp_path / "files.txt").write_text("thesis.tex\ndata.bin\n")
    (tmp_path / "thesis.tex").write_text("years")
    before = contents(tmp_path)

    refused(report(FIRST, "-o", tmp_path), "contains 'files.txt'", "another folder", "--force")
    assert contents(tmp_path) == before

    assert report(FIRST, "-o", tmp_path, "--force").exit_code == 0
    after = contents(tmp_path)
    assert {name: after[name] for name in before} == before
    assert "index.html" in after


def test_force_does_not_replace_a_file_either(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("my home page")

    result = report(FIRST, "-o", tmp_path, "--force")

    refused(result, tmp_path / "index.html", "is not as a report wrote it; move it away")
    assert (tmp_path / "index.html").read_text() == "my home page"


def test_pages_that_are_not_needed_any_more_go_and_other_files_stay(tmp_path: Path) -> None:
    folder = tmp_path / "report"
    assert report(FIRST, SECOND, "-o", folder).exit_code == 0
    (folder / "runs" / "notes.txt").write_text("mine")
    (folder / f".index.html.{'0' * 32}.switchpoint").write_text("left by a killed command")
    (folder / ".index.html.mine.switchpoint").write_text("mine")
    outside = tmp_path / "outside.txt"
    outside.write_text("mine")
    digest = hashlib.sha256(b"mine").hexdigest()
    with (folder / LIST).open("a") as own_list:
        own_list.write(f"{digest}  ../outside.txt\n{digest}  {outside}\n")

    assert report(FIRST, "-o", folder).exit_code == 0

    assert len(list((folder / "runs").glob("*.html"))) == 1
    assert outside.read_text() == "mine"
    mine = {"runs/notes.txt", ".index.html.mine.switchpoint"}
    assert {*contents(folder)} == {*listed(folder), LIST, *mine}


def test_a_page_that_somebody_changed_is_neither_replaced_nor_removed(tmp_path: Path) -> None:
    folder = tmp_path / "report"
    report(FIRST, SECOND, "-o", folder)
    gone = {*listed(folder)}
    alone = tmp_path / "alone"
    report(FIRST, "-o", alone)
    gone -= {*listed(alone)}
    page = next(folder / name for name in sorted(gone) if name.endswith(".html"))
    page.write_text(f"{page.read_text()}my remark")

    assert report(FIRST, "-o", folder).exit_code == 0
    assert page.read_text().endswith("my remark")

    (folder / "index.html").write_text("my own words")
    refused(report(FIRST, "-o", folder), folder / "index.html", "is not as a report wrote it")
    assert (folder / "index.html").read_text() == "my own words"


def test_a_report_that_was_killed_is_completed(tmp_path: Path) -> None:
    """A file is listed before it is written: the list may have both of its hashes, or a new one."""
    folder = tmp_path / "report"
    report(FIRST, "-o", folder)
    whole = contents(folder)
    (folder / "index.html").unlink()
    (folder / "findings.html").write_text("of another report")
    lines = [f"{hashlib.sha256(b'of another report').hexdigest()}  findings.html"]
    with (folder / LIST).open("a") as own_list:
        own_list.write("".join(f"{line}\n" for line in lines))

    assert report(FIRST, "-o", folder).exit_code == 0
    assert contents(folder) == whole


@pytest.mark.parametrize("where", ["index.html", "data", LIST])
def test_nothing_is_written_through_a_link(tmp_path: Path, where: str) -> None:
    folder, outside = tmp_path / "report", tmp_path / "outside"
    folder.mkdir()
    if where == "data":
        outside.mkdir()
    else:
        outside.write_text("mine")
    (folder / where).symlink_to(outside)

    refused(report(FIRST, "-o", folder, "--force"), folder)

    assert {*contents(outside)} == set() if where == "data" else outside.read_text() == "mine"


@pytest.mark.parametrize("where", ["index.html", LIST])
def test_a_pipe_is_refused_and_nobody_waits_for_its_reader(tmp_path: Path, where: str) -> None:
    os.mkfifo(tmp_path / where)

    refused(report(FIRST, "-o", tmp_path, "--force"), tmp_path / where)


#: Names that a spreadsheet takes for formulas.
FORMULAS = ["=1+1", "+1+1", "-2+3", "@SUM(1)", "\t=1", "\r=1", "a\r=1"]


def test_no_cell_or_heading_of_a_csv_is_a_formula(tmp_path: Path) -> None:
    """Also not in the values of figures, in headings, and with a dash."""
    table = tmp_path / "formulas.csv"
    rows = [
        f'{size},{size / 100 + 1},"{name}","{name}"'
        for name in FORMULAS
        for size in (8, 64, 512, 4096, 32768)
    ]
    table.write_text("size_bytes,time_us,placement,=label\n" + "\n".join(rows) + "\n", newline="")

    assert report(table, "-o", tmp_path / "report").exit_code == 0

    cells = [
        cell
        for file in (tmp_path / "report/data").glob("*.csv")
        for row in csv.reader(file.open(newline=""))
        for cell in row
    ]
    protected = {cell for cell in cells if cell.startswith("'")}
    assert {f"'{name}" for name in FORMULAS if name.isprintable()} <= protected
    assert [c for c in cells if c.startswith(("=", "+", "@", "\t", "\r"))] == []
    assert [c for c in cells if c.startswith("-") and not is_number(c)] == []


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return text == "-"
    return True


@pytest.mark.parametrize("most_bytes", [250, 2_000, 60_000])
def test_a_full_disk_leaves_no_part_of_a_report(tmp_path: Path, most_bytes: int) -> None:
    """The disk is full in the middle of a line of the list, and in the middle of an asset."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, before[1]))
    try:
        refused(report(FIRST, "-o", tmp_path / "new"), "cannot be written (File too large)")
        (tmp_path / "there").mkdir()
        refused(report(FIRST, "-o", tmp_path / "there"), "cannot be written (File too large)")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert not (tmp_path / "new").exists()
    assert [*(tmp_path / "there").iterdir()] == []


def test_a_disk_that_is_full_twice_does_not_spoil_the_list(tmp_path: Path) -> None:
    append_text(tmp_path / "list", "first\n")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            append_text(tmp_path / "list", "second\n")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    append_text(tmp_path / "list", "third\n")
    assert (tmp_path / "list").read_text() == "first\nthird\n"
