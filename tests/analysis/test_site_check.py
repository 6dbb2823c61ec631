"""`switchpoint doctor --site` names what Slurm lacks for a placement; scontrol's answers are kept.

The answers are a testbed's own, shortened; the testbed itself is tested in tests/testbed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

Run = Callable[..., Result]

NODES = """\
NodeName=a1 Arch=x86_64 ActiveFeatures=host_a NodeAddr=10.0.1.1 State=IDLE Partitions=batch
NodeName=a2 Arch=x86_64 ActiveFeatures=host_a NodeAddr=10.0.1.2 State={a2} Partitions=batch
NodeName=b1 Arch=x86_64 ActiveFeatures=host_b NodeAddr=10.0.2.1 State=IDLE Partitions=batch
"""
TOPOLOGY = """\
SwitchName=host_a Level=0 LinkSpeed=1 Nodes=a1,a2
SwitchName=host_b Level=0 LinkSpeed=1 Nodes=b1
SwitchName=core Level=1 LinkSpeed=1 Nodes=a[1-2],b1 Switches=host_a,host_b
"""
NEAR = {"summary": "near", "nodes": 2, "path": "network", "scheduler_options": ["--switches=1"]}
FAR = NEAR | {"switches": 2, "scheduler_options": ["--constraint=[host_a*1&host_b*1]"]}


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Give scontrol's answers: every node idle and a tree of two switches, unless told."""

    def answer(a2: str = "IDLE", topology: str = TOPOLOGY) -> None:
        (tmp_path / "nodes").write_text(NODES.format(a2=a2))
        (tmp_path / "topology").write_text(topology)
        scontrol = tmp_path / "bin" / "scontrol"
        scontrol.parent.mkdir()
        scontrol.write_text(
            '#!/bin/sh\ncase "$2" in\n'
            'hostnames) echo "$3" | tr , "\\n" ;;\n'
            f'*) cat "{tmp_path}/$2" ;;\nesac\n'
        )
        scontrol.chmod(0o755)
        monkeypatch.setenv("PATH", f"{scontrol.parent}:/usr/bin:/bin")

    return answer


def settings(tmp_path: Path, placement: dict[str, Any], **partition: Any) -> Path:
    content = {"name": "p", "extras": {"placements": {"far": placement}}} | partition
    path = tmp_path / "settings.py"
    path.write_text(f"site_configuration = {{'systems': [{{'partitions': [{content!r}]}}]}}\n")
    return path


def facts(switchpoint: Run, path: Path) -> list[dict[str, str]]:
    result = switchpoint("doctor", "--site", path, "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)["facts"]
    assert all(bool(fact["mend"]) == (fact["state"] != "ok") for fact in found)
    return found


@pytest.mark.parametrize("placement", [NEAR, FAR])
def test_a_placement_that_slurm_can_give_is_ok(
    switchpoint: Run, tmp_path: Path, slurm: Callable[..., None], placement: dict[str, Any]
) -> None:
    slurm()

    [fact] = facts(switchpoint, settings(tmp_path, placement))

    assert (fact["topic"], fact["state"]) == ("p: far", "ok")


@pytest.mark.parametrize(
    ("placement", "partition", "answers", "found"),
    [
        (NEAR | {"nodes": 4}, {}, {}, "needs 4 nodes, Slurm has 3 that can be used"),
        (NEAR, {}, {"a2": "DOWN*"}, "no switch has 2 usable nodes under it"),
        (NEAR, {}, {"topology": ""}, "Slurm names no switches"),
        (
            FAR | {"scheduler_options": ["-C rack7"]}, {}, {},
            "needs 1 node with feature rack7, 0 have it",
        ),
        (
            NEAR | {"scheduler_options": ["--nodelist=a1,z9"]}, {}, {},
            "node z9 is not there or not usable",
        ),
        (NEAR, {"access": ["--partition=cpu"]}, {}, "Slurm has no partition cpu"),
    ],
)  # fmt: skip
def test_what_slurm_lacks_is_named_with_its_mend(
    switchpoint: Run,
    tmp_path: Path,
    slurm: Callable[..., None],
    placement: dict[str, Any],
    partition: dict[str, Any],
    answers: dict[str, str],
    found: str,
) -> None:
    slurm(**answers)

    [fact] = facts(switchpoint, settings(tmp_path, placement, **partition))

    assert fact["state"] == "missing"
    assert found in fact["found"]


def test_switches_may_be_read_from_the_nodes_names(
    switchpoint: Run, tmp_path: Path, slurm: Callable[..., None]
) -> None:
    slurm(topology="")
    extras = {"placements": {"far": FAR}, "switch_from_node_name": "^([a-z])"}

    [fact] = facts(switchpoint, settings(tmp_path, FAR, extras=extras))

    assert fact["state"] == "ok"


@pytest.mark.parametrize("text", ["import nothing_such", "x = 1", "def", "1 / 0"])
def test_settings_that_do_not_load_are_one_line(
    switchpoint: Run, tmp_path: Path, slurm: Callable[..., None], text: str
) -> None:
    slurm()
    path = tmp_path / "settings.py"
    path.write_text(text)

    result = switchpoint("doctor", "--site", path)

    assert result.exit_code == 2
    assert result.stderr.startswith(f"switchpoint: {path}: is no ReFrame settings file that loads")
    assert result.stderr.count("\n") == 1
