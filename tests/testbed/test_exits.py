"""How the command ends if its output is closed or something unexpected happens."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from beds import TESTBED, Bed


@pytest.mark.parametrize("redirected", [">&-", "1</dev/null"])
def test_a_closed_output_is_one_line(parent: Path, redirected: str) -> None:
    done = subprocess.run(
        ["sh", "-c", f"{TESTBED} status --name none {redirected}"],
        cwd=parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (
        2, "testbed: standard output is closed; redirect it to a file, or to /dev/null\n",
    )  # fmt: skip


def test_an_unexpected_failure_exits_with_3_and_not_as_a_testbed_that_is_down(parent: Path) -> None:
    failing = "import testbed.instance as i, testbed.cli as c; i.locate = None; c.main()"
    done = Bed("none", parent).run([sys.executable, "-c", failing, "status"])
    assert done.returncode == 3
    first, *rest = done.stderr.splitlines()
    assert first == (
        "testbed: unexpected failure (TypeError: 'NoneType' object is not callable);"
        " please report it with these lines:"
    )
    assert rest[0] == "Traceback (most recent call last):"


def test_names_that_the_terminal_cannot_show_are_escapes(parent: Path) -> None:
    done = Bed("none", parent).testbed("up", "--shape", "дом", env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 2
    assert done.stderr.startswith(r"testbed: \u0434\u043e\u043c")


@pytest.mark.parametrize(("chosen", "name"), [("", "main"), ("other", "other")])
def test_a_variable_names_the_testbed(parent: Path, chosen: str, name: str) -> None:
    done = Bed("none", parent).run([TESTBED, "status"], env={"TESTBED_NAME": chosen})
    assert done.returncode == 1
    assert done.stdout.startswith(f"testbed {name} is down")
