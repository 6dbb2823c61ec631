"""Nothing is read whole that may be endless, and nobody waits for what is not a file."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import write_record
from switchpoint import Store, read
from switchpoint.whole_files import write_whole
from typer.testing import Result

Run = Callable[..., Result]

#: Verbs with a file that others may have made, as FILE.
VERBS = [
    "model predict FILE ring --placement x",
    "gate --policy FILE",
    "gate --reframe-report FILE",
    "detect FILE",
    "import FILE",
    "plan FILE",
    "reproduce FILE",
    "compare FILE session=night-1",
    "model recommend FILE --placement x",
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a store, and what is not a file of a sensible size."""
    monkeypatch.chdir(tmp_path)
    labels = {"site": "here", "placement": "one_node", "session": "night-1"}
    record = write_record(tmp_path / "one.record", labels=labels, sizes=[8, 64])
    Store(tmp_path / "results").add(read(record))
    os.mkfifo("fifo")
    Path("folder").mkdir()
    os.truncate(os.open("large", os.O_CREAT | os.O_WRONLY), 5 * 2**30)
    return tmp_path


@pytest.mark.parametrize("name", ["fifo", "/dev/zero", "large", "folder", "long" * 1000])
@pytest.mark.parametrize("verb", VERBS)
def test_a_file_that_is_none_or_too_large_is_one_line(
    folder: Path, switchpoint: Run, verb: str, name: str
) -> None:
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (6 * 10**9, before[1]))
    try:
        done = switchpoint(*(name if word == "FILE" else word for word in verb.split()))
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
    assert isinstance(done.exception, SystemExit), done.exception
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith((f"switchpoint: {name}: ", "switchpoint: skipped: 1 binary file"))


DEEP = "[" * 50_000
TENFOLD = "\n".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 10))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f"fails: {DEEP}", "nested deeper than 64 levels"),
        (f"fails: {DEEP}{DEEP.replace('[', ']')}", "nested deeper than 64 levels"),
        (f"a0: &a0 [1, 2]\n{TENFOLD}", "more than 200,000 values"),
        ("fails: &a [*a]", "*a contains itself"),
        ("? {a: b}\n: 1", "unhashable key"),
        (f"baseline_sessions: 0x{'f' * 100_000}", "a number of 100,002 characters"),
        ("fails: !!timestamp x", "impossible"),
        ("fails: !!bool x", "impossible"),
        ('fails: !!int ""', "impossible"),
    ],
)
@pytest.mark.parametrize("verb", ["gate --policy FILE", "model predict FILE ring"])
def test_yaml_that_no_value_should_be_is_one_line(
    folder: Path, switchpoint: Run, verb: str, text: str, problem: str
) -> None:
    """Deep nesting ended the whole program: the parser in C has no limit of its own."""
    Path("file.yaml").write_text(text)

    done = switchpoint(*("file.yaml" if word == "FILE" else word for word in verb.split()))

    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("switchpoint: file.yaml: ")
    assert problem in done.stderr


@pytest.mark.parametrize("path", ["", ".", "/"])
def test_an_output_without_a_name_is_refused_as_a_folder(path: str) -> None:
    with pytest.raises(IsADirectoryError):
        write_whole(Path(path), b"")
