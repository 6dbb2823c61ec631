"""Other groups' results of several systems: one command keeps them by name, one reads them."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import write_record
from old_results import PATTERN, SYSTEMS, write_rubbish, write_tree
from switchpoint import Store, read, read_files, report
from typer.testing import Result

pytestmark = pytest.mark.slow

Run = Callable[..., Result]

COMMAND = Path(sys.executable).with_name("switchpoint")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of five MPIs on three systems, among files that are none."""
    root = tmp_path_factory.mktemp("tree")
    assert write_tree(root) >= 200
    write_rubbish(root)
    return root


@pytest.fixture(scope="module")
def store(tree: Path) -> Path:
    """A store with all of the tree, filled by one command."""
    url = tree.parent / "old-results-store"
    command = [COMMAND, "import", tree, "--store", url, "--path", PATTERN]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"240 runs added to {url}\n"
    return url


def test_one_command_imports_the_tree_by_name(store: Path) -> None:
    runs = Store(store).runs()

    assert len(runs) == 240
    named = runs["mpi"].fillna(runs["environ"])
    assert {*zip(runs["site"], named, strict=True)} == {(s.site, s.mpi) for s in SYSTEMS}
    assert set(runs["kernel"]) == {"osu_latency", "osu_bw", "osu_bcast", "imb_pingpong"}
    assert set(runs.loc[runs["site"] == "alpha", "partition"]) == {"batch"}


def test_detect_says_in_40_lines_which_mpi_switches_where(switchpoint: Run, store: Path) -> None:
    result = switchpoint("detect", "--store", store)

    lines = result.stdout.splitlines()
    assert len(lines) + len(result.stderr.splitlines()) <= 40
    for system in SYSTEMS:
        [line] = [line for line in lines if system.mpi in line]
        assert line.startswith(system.site)
        assert system.bracket in line
        assert "48 of 48" in line
    assert lines[-1] == "240 findings in 240 curves."


def test_the_report_names_the_systems_too(tmp_path: Path, store: Path) -> None:
    report(Store(store).latest(kernel="osu_latency"), tmp_path)
    page = next((tmp_path / "kernels").glob("osu_latency*.html")).read_text()

    # What is less certain stands in a folded table below the first.
    for names in (["findings-table", "minor-findings"], ["sizes-table"]):
        starts = [page.find(f'<table id="{name}">') for name in names]
        tables = "".join(page[at:].partition("</table>")[0] for at in starts if at >= 0)
        for system in SYSTEMS:
            assert system.site in tables
            assert system.mpi in tables


def test_findings_as_json_are_never_folded(switchpoint: Run, store: Path) -> None:
    result = switchpoint("detect", "--store", store, "--json")

    findings = json.loads(result.stdout)["findings"]
    assert len(findings) == 240
    assert {"kind", "size_bytes", "last_size_before", "magnitude", "confidence", "curve"} <= set(
        findings[0]
    )


@pytest.mark.parametrize("columns", [80, 200])
def test_at_a_terminal_no_number_is_cut(store: Path, columns: int) -> None:
    printed = at_terminal(["detect", "--store", str(store)], columns)

    plain = re.sub(r"\x1b\[[\d;]*m", "", printed)
    assert len(plain.splitlines()) <= 40
    assert all(len(line) <= columns for line in plain.splitlines())
    assert "…" not in plain
    for system in SYSTEMS:
        assert system.bracket in " ".join(plain.split())


def test_colour_is_for_terminals_that_want_it(switchpoint: Run, tmp_path: Path) -> None:
    colour = re.compile(r"\x1b\[(?:\d+;)*3\d")
    record = str(write_record(tmp_path / "run.record"))

    assert colour.search(at_terminal(["detect", record], 200))
    assert not colour.search(at_terminal(["detect", record], 200, NO_COLOR="1"))
    assert "\x1b" not in switchpoint("detect", record).stdout


def at_terminal(arguments: list[str], columns: int, **environment: str) -> str:
    """What the command prints at a terminal of so many columns."""
    leader, follower = pty.openpty()
    variables = {"COLUMNS": str(columns), "TERM": "xterm-256color", **environment}
    kept = {name: text for name, text in os.environ.items() if name not in {"NO_COLOR", "CI"}}
    process = subprocess.Popen(
        [COMMAND, *arguments], stdout=follower, stderr=subprocess.DEVNULL, env=kept | variables
    )
    os.close(follower)
    parts = []
    while True:
        try:
            part = os.read(leader, 2**16)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        parts.append(part)
    os.close(leader)
    assert process.wait() == 0
    return b"".join(parts).decode().replace("\r\n", "\n")


def test_what_is_no_result_is_counted_and_what_is_damaged_named(
    switchpoint: Run, tmp_path: Path
) -> None:
    tree = tmp_path / "tree"
    damaged = write_rubbish(tree)
    (tree / "good.csv").write_text("size_bytes,time_us\n8,1\n")
    os.mkfifo(tree / "pipe")

    result = switchpoint("import", tree, "--store", tmp_path / "store")

    assert result.exit_code == 0
    assert result.stdout.startswith("1 run added")
    *named, counted = result.stderr.splitlines()
    folder = tree / "old" / "rest"
    assert sorted(line.split(": ")[1] for line in named) == sorted(
        str(folder / name) for name in damaged
    )
    assert counted == (
        "switchpoint: skipped: 3 files that are not results (.txt, .log), 1 binary file,"
        " 1 file in UTF-16 (save it as UTF-8), 1 table without message sizes, 1 link to a folder,"
        " 1 pipe, socket or device"
    )


def test_verbose_names_every_file_and_no_name_reaches_the_terminal_raw(
    switchpoint: Run, tmp_path: Path
) -> None:
    write_rubbish(tmp_path / "tree")
    (tmp_path / "tree" / "good.csv").write_text("size_bytes,time_us,who\n8,1,\x1b[2J\x07me\n")
    store = tmp_path / "store"

    result = switchpoint("import", tmp_path / "tree", "--store", store, "--verbose")

    assert "notes.txt: is not recognised" in result.stderr
    assert r"bad\x1b[31m\nname.txt: is not recognised" in result.stderr
    found = switchpoint("detect", "--store", store, "--all")
    for text in (result.stdout, result.stderr, found.stdout, found.stderr):
        assert not re.search(r"[^\n\x20-\x7e]", text)


def test_labels_with_control_characters_are_shown_not_obeyed(
    switchpoint: Run, tmp_path: Path
) -> None:
    labels = {"site": "a\x1b]0;title\x07", "placement": "[red]one\r\u202enode"}
    record = write_record(tmp_path / "run.record", labels=labels)

    for arguments in ([], ["--all"]):
        printed = switchpoint("detect", record, *arguments).stdout
        assert r"a\x1b]0;title\x07" in printed
        assert r"[red]one\r\u202enode" in printed
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", printed)


def test_damage_costs_one_file_also_in_other_processes(switchpoint: Run, tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(600):
        (folder / f"{number}.csv").write_text(f"size_bytes,time_us,node\n8,1,{number}\n")
    damaged = write_rubbish(folder)

    result = switchpoint("import", folder, "--store", tmp_path / "store", "--json")

    content = json.loads(result.stdout)
    assert content["added"] == 600
    told = [line for line in result.stderr.splitlines() if ": importing: " not in line]
    assert len(told) == len(damaged) + 1


def test_a_file_that_may_not_be_read_is_named() -> None:
    with tempfile.TemporaryDirectory() as name:
        tree = Path(name)
        for file in ("secret.csv", "good.csv"):
            (tree / file).write_text("size_bytes,time_us\n8,1\n")
        (tree / "secret.csv").chmod(0)
        (tree / "closed").mkdir(mode=0)
        tree.chmod(0o755)
        read(tree / "good.csv")  # loads what that user may not
        with as_ordinary_user():
            gathered = read_files([tree])

    assert gathered.measurements is not None
    assert len(gathered.measurements.runs) == 1
    assert [str(failure) for failure in gathered.failures] == [
        f"{tree / 'closed'}: Permission denied; check the path",
        f"{tree / 'secret.csv'}: Permission denied; check the path",
    ]


@contextmanager
def as_ordinary_user() -> Iterator[None]:
    """Root may read everything: give that up for a while."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def test_many_bad_files_and_warnings_of_one_kind_are_one_line(
    switchpoint: Run, tmp_path: Path
) -> None:
    tree, store = tmp_path / "tree", tmp_path / "store"
    tree.mkdir()
    for number in range(40):
        (tree / f"{number}.csv").write_text("size_bytes,time_us\n8,quick\n")
        (tree / f"{number}.ok.csv").write_text(f"size_bytes,time_us\n8,1\n16,\n{number},3\n")

    short = switchpoint("import", tree, "--store", store).stderr.splitlines()
    other = tmp_path / "other"  # what is stored is not said again
    long = switchpoint("import", tree, "--store", other, "-v").stderr.splitlines()

    assert "and 28 more files that cannot be read; --verbose lists them" in short[12]
    assert short[-1].endswith("(39 more of this kind)")
    assert len(short) == 14
    assert len(long) == 80
