"""Nothing is read whole that may be endless, and nobody waits for what is not a file."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import write_record
from switchpoint import Store, read
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
