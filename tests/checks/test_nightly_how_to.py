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


#: Commands that fail on a night that is worse.
JUDGES = ("make nightly", ".venv/bin/reframe", ".venv/bin/switchpoint gate")


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
    # Less time to measure again than on a site, so that no night takes a quarter of an hour.
    environment |= {"INSTALLED": "yes", "VENV": str(BIN.parent), "BUDGET": "10m"}
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
            print(f"$ {command}\n{ran.stdout}", flush=True)  # for the page, with pytest -s
    finally:
        subprocess.run([BIN / "testbed", "down"], cwd=project, env=environment, check=False)
    return done


def nights(followed: list[Said]) -> list[Said]:
    return [said for said in followed if said.command.startswith("make nightly")]


def failing(night: Said) -> list[str]:
    """The sentences of the findings that fail, without line breaks."""
    assert night.exit_code == 2, night.output
    assert re.search(r"Error 1\b", night.output), "switchpoint gate exits with 1"
    whole_lines = re.sub(r"\n  (?=\S)", " ", night.output)
    return re.findall(r"^FAIL ([0-9a-f]{12} .*)$", whole_lines, re.MULTILINE)


def test_nights_without_a_change_pass(followed: list[Said]) -> None:
    for said in nights(followed)[:3]:
        assert said.exit_code == 0, said.output


def test_a_setting_of_the_site_is_the_confirmed_cause(followed: list[Said]) -> None:
    sentences = failing(nights(followed)[3])
    assert sentences
    for sentence in sentences:
        assert "confirmed cause: btl_tcp_eager_limit = 4096, before 65536" in sentence


def test_a_throttled_node_is_the_confirmed_cause(followed: list[Said]) -> None:
    sentences = failing(nights(followed)[4])
    assert any("confirmed cause: node b1" in sentence for sentence in sentences), sentences
    assert not any("cause: node a1" in sentence for sentence in sentences), sentences


def test_back_to_normal_a_night_passes(followed: list[Said]) -> None:
    assert nights(followed)[5].exit_code == 0, nights(followed)[5].output


def test_a_slow_uplink_is_one_finding_that_recurs(followed: list[Said]) -> None:
    [sentence] = failing(nights(followed)[6])
    assert re.search(r"bandwidth of `two_nodes_two_hosts` .* -\d+ % \[-\d+, -\d+\]", sentence)
    assert re.search(r"recurs in \d+ more launches", sentence)
    assert "confirmed cause" not in sentence


def test_reframe_alone_gives_the_same_verdict(followed: list[Said]) -> None:
    [alone] = [said for said in followed if "reframe -C" in said.command]
    assert alone.exit_code == 1, alone.output
    assert re.search(r"FAIL\b.*Gate", alone.output), alone.output  # the words have colours
    assert re.search(r"Reason: .*bandwidth of `two_nodes_two_hosts`", alone.output), alone.output


def test_after_it_is_accepted_the_next_night_passes(followed: list[Said]) -> None:
    assert nights(followed)[7].exit_code == 0, nights(followed)[7].output


def test_every_other_command_succeeds(followed: list[Said]) -> None:
    for said in followed:
        if not said.command.startswith(JUDGES):
            assert said.exit_code == 0, (said.command, said.output)
