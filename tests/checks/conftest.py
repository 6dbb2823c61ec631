"""A testbed for the checks' tests, and ReFrame as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent


@dataclass
class Session:
    """One finished ReFrame session."""

    exit_code: int
    output: str
    prefix: Path

    @property
    def testcases(self) -> list[dict[str, Any]]:
        """Every test case of the run report, fixtures included."""
        report = json.loads((self.prefix / "report.json").read_text())
        return [case for run in report["runs"] for case in run["testcases"]]

    @property
    def failures(self) -> list[str]:
        """Reasons of the test cases that failed, in ReFrame's words."""
        return [case["fail_reason"] for case in self.testcases if case["result"] == "fail"]


def run_testbed(*words: str) -> None:
    """Run a testbed command that has to succeed."""
    subprocess.run([BIN / "testbed", *words], check=True, timeout=60)


def start_reframe(name: str, prefix: Path, *words: str, site: str) -> subprocess.Popen[str]:
    """Start a session against the testbed ``name``."""
    return subprocess.Popen(
        [
            BIN / "reframe",
            *("-C", ROOT / site),
            *("--prefix", prefix, "--report-file", prefix / "report.json", "--nocolor"),
            *words,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=prefix,
        env={**os.environ, "TESTBED_NAME": name},
    )


@pytest.fixture(scope="session")
def cluster() -> Iterator[str]:
    """Name of a testbed that is up for all of these tests."""
    name = f"checks-{os.getpid()}"
    run_testbed("up", "--name", name)
    yield name
    run_testbed("down", "--name", name)


@pytest.fixture
def reframe(cluster: str, tmp_path: Path) -> Callable[..., Session]:
    """Run a session to its end: ``reframe("-r", "-t", "smoke")``."""

    def run(
        *words: str, site: str = "site-configs/testbed/settings.py", checks: str = "checks"
    ) -> Session:
        process = start_reframe(
            cluster, tmp_path, "-c", str(ROOT / checks), "-R", *words, site=site
        )
        output, _ = process.communicate(timeout=300)
        return Session(process.returncode, output, tmp_path)

    return run
