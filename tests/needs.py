"""What each test needs besides the package, as markers: pytest loads this file as a plugin.

Most follow from the fixtures that a test uses, the rest from its folder; a test that takes long for
another reason is marked `slow` where it stands. `make check` runs some
of those that need nothing.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any

import pytest
import typer.testing
from xdist.scheduler import LoadScopeScheduling

MARKERS = {
    "cluster": "needs a testbed or runs ReFrame",
    "browser": "needs Chromium",
    "build": "compiles, or installs a package",
    "spack": "needs Spack, in SPACK_ROOT",
    "slow": "takes more than two seconds of a core",
    "quiet": "judges measured times: needs a machine on which nothing else runs",
}

#: Fixtures that give what a test needs.
FIXTURES = {
    "actionlint": "slow",
    "browser": "browser",
    "failing_files": "build",
    "project": "build",
    "spack": "spack",
    "wheel": "build",
}

#: Folders all of whose tests need the same.
FOLDERS = {"checks": "cluster", "testbed": "cluster"}

#: Folders in which one process runs all tests of a file, since what they share takes long to make.
BY_FILE = ("analysis", "checks", "fuzz", "setup", "testbed")

#: Folders of which one process runs all tests: they need what only one test at a time may have.
ONE_AT_A_TIME = {"docs": "browser", "report": "browser", "spack": "spack"}

TESTS = Path(__file__).parent


def pytest_configure(config: pytest.Config) -> None:
    """Make the markers known, and let sessions of `make` in this folder wait for each other."""
    os.environ.setdefault("SESSION_WAIT_S", "600")
    # The command has two dozen verbs, and its options are read again for each run in a test.
    setattr(typer.testing, "_get_command", functools.cache(typer.testing._get_command))  # noqa: B010
    for name, meaning in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test by what it needs."""
    for item in items:
        if not item.path.is_relative_to(TESTS):
            continue
        needed = {FIXTURES[name] for name in getattr(item, "fixturenames", []) if name in FIXTURES}
        needed |= {FOLDERS[part] for part in item.path.relative_to(TESTS).parts if part in FOLDERS}
        for name in sorted(needed):
            item.add_marker(name)


class Together(LoadScopeScheduling):
    """Lets one process run tests that share what takes long to make.

    The groups of xdist 3.8 have no effect with pytest 9.
    """

    def _split_scope(self, nodeid: str) -> str:
        """Return the name of the tests that one process runs: a folder, a file, or a test alone."""
        path = nodeid.partition("::")[0]
        folder = Path(path).parent.name
        return ONE_AT_A_TIME.get(folder, path if folder in BY_FILE else nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Together:
    """Divide the tests between processes."""
    return Together(config, log)
