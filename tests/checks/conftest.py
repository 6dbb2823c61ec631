"""A testbed for the checks' tests, and ReFrame on it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sessions import ROOT, Session, run_testbed, start_reframe


@pytest.fixture(scope="session")
def cluster() -> Iterator[str]:
    """Name of a testbed that is up for all of these tests."""
    name = f"checks-{os.getpid()}"
    run_testbed("up", "--name", name)
    yield name
    run_testbed("down", "--name", name)


@pytest.fixture
def reframe(cluster: str, tmp_path: Path) -> Callable[..., Session]:
    """Run a session to its end: ``reframe("-r", "-t", "smoke")``.

    ReFrame loads one file of checks in a third of the time that it takes for all.
    """

    def run(
        *words: str,
        site: str = "site-configs/testbed/settings.py",
        checks: str = "checks/pingpong.py",
    ) -> Session:
        process = start_reframe(
            cluster, tmp_path, "-c", str(ROOT / checks), "-R", *words, site=site
        )
        output, _ = process.communicate(timeout=300)
        return Session(process.returncode, output, tmp_path)

    return run
