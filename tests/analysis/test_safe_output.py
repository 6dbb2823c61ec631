"""No text of a record, log or file name reaches the terminal as a control sequence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import write_record
from switchpoint.printable import printable
from typer.testing import Result

Run = Callable[..., Result]

#: Sets the window's title, clears the screen, reorders text, and looks like rich's markup.
ATTACK = "\x1b]0;owned\x07\x1b[2J\u202e\x9b31m[/red]\r"

#: The same without a slash, for names of files.
NAME = ATTACK.replace("/", "")

VERBS = ["detect", "detect --all", "explain", "explain --all", "claims", "report -o page"]


@pytest.fixture
def hostile(tmp_path: Path) -> list[Path]:
    """Write files whose names, labels, rows and headings attack the terminal."""
    folder = tmp_path / f"f{NAME}"
    folder.mkdir()
    labels = {"site": ATTACK, "placement": ATTACK, ATTACK: ATTACK, "environ": ATTACK}
    record = write_record(
        folder / f"{NAME}.record",
        labels=labels,
        kernel={"name": f"pingpong{ATTACK}", "version": ATTACK, "builder": ATTACK},
        mpi={"library": ATTACK, "cvars": {ATTACK: 1}, "environment": {ATTACK: ATTACK}},
    )
    wrong = folder / f"{NAME}.csv"
    wrong.write_text(f"size_bytes,time_us,{ATTACK}\n8,{ATTACK},1\n", newline="")
    table = folder / "table.csv"
    rows = [f"{8 << step},{2 + step},{ATTACK.strip()}" for step in range(10)]
    table.write_text("\n".join([f"size_bytes,time_us,c{ATTACK.strip()}", *rows]) + "\n", newline="")
    return [record, wrong, table]


def assert_harmless(result: Result) -> None:
    assert result.exit_code in (0, 1, 2)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    for line in (result.stdout + result.stderr).split("\n"):
        assert line == printable(line)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_shows_control_characters_and_sends_none(
    switchpoint: Run, tmp_path: Path, hostile: list[Path], verb: str
) -> None:
    word, *options = verb.split()
    options = [str(tmp_path / NAME) if option == "page" else option for option in options]

    assert_harmless(switchpoint(word, *options, *hostile))


def test_the_store_shows_control_characters_and_sends_none(
    switchpoint: Run, tmp_path: Path, hostile: list[Path]
) -> None:
    store = tmp_path / f"results{NAME}"

    imported = switchpoint("import", *hostile, "--store", store, "--verbose")
    assert_harmless(imported)
    assert "\\x1b]0;owned" in imported.stderr
    for words in (("ls",), ("verify",), ("show", "0123"), ("compact",)):
        assert_harmless(switchpoint("store", *words, "--store", store))
    assert_harmless(switchpoint("reproduce", "0123", "--store", store))
    assert_harmless(switchpoint("reproduce", hostile[0], "--write", tmp_path / f"a{NAME}"))


@pytest.mark.parametrize(
    "words", [("detect", "--curve", ATTACK), ("store", "show", ATTACK), ("plan", ATTACK)]
)
def test_an_argument_is_not_sent_back_as_it_is(
    switchpoint: Run, tmp_path: Path, words: tuple[str, ...]
) -> None:
    store = () if words[0] == "plan" else ("--store", tmp_path / "none")

    assert_harmless(switchpoint(*words, *store))
