"""Testbeds that tests share, and those that a test makes for itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from beds import Bed


@pytest.fixture(scope="session")
def parent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder below /tmp, which the nodes must see although their /tmp is their own."""
    return tmp_path_factory.mktemp("testbeds")


@pytest.fixture(scope="session", autouse=True)
def past_limit(parent: Path) -> Iterator[tuple[Bed, str]]:
    """A testbed of four hosts, and a job on its c2 that runs past its time limit of a minute.

    Slurm looks every half minute only, so the job starts before all tests, for those at the end.
    """
    bed = Bed("broken", parent)
    bed.up("--shape", "four-hosts")
    job = bed.submit(["c2"], "-t1")
    yield bed, job
    bed.testbed("down")


@pytest.fixture
def new_bed(parent: Path) -> Iterator[Callable[[str], Bed]]:
    """Make testbeds by name, ended after the test."""
    made = []

    def make(name: str) -> Bed:
        made.append(Bed(name, parent))
        return made[-1]

    yield make
    for bed in made:
        bed.testbed("down")


@pytest.fixture(scope="session")
def bed(parent: Path) -> Iterator[Bed]:
    """A testbed that is up, for tests that do not break it."""
    bed = Bed("shared", parent)
    bed.up()
    yield bed
    bed.testbed("down")
