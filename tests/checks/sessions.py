"""Testbeds and ReFrame sessions, started as a user starts them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent


@dataclass
class Session:
    """One finished ReFrame session."""

    exit_code: int
    output: str
    prefix: Path

    @cached_property
    def testcases(self) -> list[dict[str, Any]]:
        """Every test case of the run report, fixtures included; the next session replaces it."""
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


def preloaded(folder: Path, *stubs: str) -> tuple[str, str]:
    """Options that load stubs of ``tests/src`` into the launcher and the ranks under Open MPI."""
    library = folder / "stubs.so"
    sources = [ROOT / "tests" / "src" / f"{stub}.c" for stub in stubs]
    subprocess.run(["mpicc.openmpi", "-shared", "-fPIC", "-o", library, *sources], check=True)
    return "-S", f"rank_environment=LD_PRELOAD:{library}"
