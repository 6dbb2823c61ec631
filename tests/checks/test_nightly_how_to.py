"""The how-to for nightly measurements: its commands, in their order, on a cluster of its own.

The site has one placement and one MPI, so that a night takes less than a minute.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from sessions import BIN, ROOT

#: A night on which something else runs is a slower night, and the gate says so.
pytestmark = pytest.mark.quiet

HOW_TO = ROOT / "docs/how-to/nightly.md"

SETTINGS = f"""\
import runpy

from switchpoint.sites import site_common

site_configuration = runpy.run_path({str(ROOT / "site-configs/testbed/settings.py")!r})[
    "site_configuration"
]
[partition] = site_configuration["systems"][0]["partitions"]
partition["environs"] = ["openmpi"]
placements = partition["extras"]["placements"]
for name in [*placements]:
    if name != "two_nodes_two_hosts":
        placements.pop(name)
        partition["features"].remove(name)
"""


@dataclass
class Said:
    """What a command of the page printed, and its exit code."""

    command: str
    exit_code: int
    output: str


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that is like the checkout, with a smaller site."""
    folder = tmp_path_factory.mktemp("nightly")
    for name in ("Makefile", "checks", "src", ".venv"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "site-configs/testbed").mkdir(parents=True)
    (folder / "site-configs/testbed/settings.py").write_text(SETTINGS)
    return folder


@pytest.fixture(scope="module")
def followed(project: Path) -> list[Said]:
    """Each command of the page, run as a user runs it."""
    environment = {**os.environ, "SWITCHPOINT_TESTBED_DIR": str(project / ".testbed")}
    environment |= {"INSTALLED": "yes", "VENV": str(BIN.parent)}
    done: list[Said] = []
    try:
        for command in re.findall(r"^\$ (.*)$", HOW_TO.read_text(), re.MULTILINE):
            if " accept " in command:  # once for each finding
                known = set(re.findall(r"^FAIL ([0-9a-f]{12}) ", done[-1].output, re.MULTILINE))
                each = [re.sub(r"accept \w+", f"accept {one[:6]}", command) for one in known]
                command = " && ".join(each)
            ran = subprocess.run(
                command, shell=True, cwd=project, env=environment, text=True, timeout=900,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )  # fmt: skip
            done.append(Said(command, ran.returncode, ran.stdout))
    finally:
        subprocess.run([BIN / "testbed", "down"], cwd=project, env=environment, check=False)
    return done


def nights(followed: list[Said]) -> list[Said]:
    return [said for said in followed if said.command == "make nightly"]


def test_nights_without_a_change_pass(followed: list[Said]) -> None:
    for said in nights(followed)[:2]:
        assert said.exit_code == 0, said.output


def test_a_slow_uplink_fails_with_findings_that_recurred(followed: list[Said]) -> None:
    slow = nights(followed)[2]
    assert slow.exit_code == 2, slow.output
    assert re.search(r"Error 1\b", slow.output), "switchpoint gate exits with 1"
    assert re.search(r"bandwidth of `two_nodes_two_hosts` .* -\d+ %", slow.output)
    assert re.search(r"recurs in \d+ more launches", " ".join(slow.output.split()))
    assert "confirmed cause" not in slow.output


def test_after_it_is_accepted_the_next_night_passes(followed: list[Said]) -> None:
    [accepted] = [said for said in followed if " accept " in said.command]
    assert accepted.exit_code == 0, accepted.output
    assert nights(followed)[3].exit_code == 0, nights(followed)[3].output


def test_reframe_alone_gives_the_same_verdict(followed: list[Said]) -> None:
    [alone] = [said for said in followed if "reframe -C" in said.command]
    assert alone.exit_code == 0, alone.output
    assert re.search(r"OK\b.*Gate", alone.output), alone.output  # the words have colours


def test_every_other_command_succeeds(followed: list[Said]) -> None:
    for said in followed:
        if said.command != "make nightly":
            assert said.exit_code == 0, (said.command, said.output)
