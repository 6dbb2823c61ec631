"""What each test needs besides the package, as markers: pytest loads this file as a plugin.

Most follow from the fixtures that a test uses, the rest from its folder; a test that takes long for
another reason is marked `slow` where it stands. `make check` runs some
of those that need nothing.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path

import pytest
import typer.testing

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

#: What one test at a time may have: these are run by one process, beside others that need less.
ONE_AT_A_TIME = ("browser", "spack")

#: Folders all of whose tests need the same. What is made for a file of them takes long, so one
#: process runs all of a file's tests.
FOLDERS = {"checks": "cluster", "testbed": "cluster"}

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
        for name in ONE_AT_A_TIME:
            if item.get_closest_marker(name):
                item.add_marker(pytest.mark.xdist_group(name))
        if FOLDERS.keys() & {*item.path.relative_to(TESTS).parts}:
            item.add_marker(pytest.mark.xdist_group(item.path.name))
