"""A site's placements are checked before anything runs, with one line that names the fix."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from switchpoint.sites.placements import PlacementError, load_placements

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = ROOT / "site-configs/testbed/settings.py"
GOOD = """
placements:
  one_node: {summary: x, nodes: 1, path: shared_memory}
"""


@pytest.mark.parametrize("site", ["testbed", "local", "template-slurm"])
def test_the_sites_that_we_ship_are_valid(site):
    assert load_placements(ROOT / "site-configs" / site / "placements.yaml").placements


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (GOOD.replace("nodes: 1", "nodes: 0"), ["placements.one_node.nodes", "greater"]),
        (GOOD.replace("nodes: 1", "nods: 1"), ["placements.one_node.nods", "not permitted"]),
        (GOOD.replace("shared_memory", "wire"), ["placements.one_node.path", "'network'"]),
        (GOOD.replace("one_node", "One-Node"), ["One-Node", "lower-case"]),
        (
            GOOD.replace("nodes: 1", "nodes: 1, switches: 2"),
            ["one_node.switches", "cannot be under"],
        ),
        ("switch_from_node_name: '^rack'\n" + GOOD, ["switch_from_node_name", "one group"]),
        ("switch_from_node_name: '^(rack'\n" + GOOD, ["switch_from_node_name"]),
        ("placements: [", ["not YAML"]),
        ("", ["top level"]),
    ],
)
def test_a_bad_file_names_the_field_and_the_fix(tmp_path, text, words):
    path = tmp_path / "placements.yaml"
    path.write_text(text)
    with pytest.raises(PlacementError) as caught:
        load_placements(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    for word in words:
        assert word in message


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(PlacementError, match=r"nowhere.yaml: cannot be read"):
        load_placements(tmp_path / "nowhere.yaml")


def test_more_mpis_are_environments_of_the_testbed(tmp_path, monkeypatch):
    wrapper = shutil.which("mpicc.mpich")
    if wrapper is None:
        pytest.skip("no MPICH here")
    programs = tmp_path / "mpich-9.1" / "bin"
    programs.mkdir(parents=True)
    (programs / "mpicc").symlink_to(wrapper)
    (programs / "mpichversion").touch()
    monkeypatch.setenv("SWITCHPOINT_MPIS", str(programs.parent))
    told = settings_of_testbed()
    mpi = next(one for one in json.loads(told.stdout) if one["name"] == "mpich-9_1")
    assert mpi["cc"] == str(programs / "mpicc")
    assert mpi["extras"]["mpi"] == "mpich"
    assert mpi["extras"]["launcher_options"] == ["--mpi=pmi2"]


@pytest.mark.parametrize(
    ("folder", "words"),
    [("empty", "has neither bin/mpichversion nor bin/ompi_info"), ("mpich", "another environment")],
)
def test_a_folder_that_is_no_mpi_is_named(tmp_path, monkeypatch, folder, words):
    programs = tmp_path / folder / "bin"
    programs.mkdir(parents=True)
    if folder == "mpich":
        (programs / "mpicc").touch()
        (programs / "mpichversion").touch()
    monkeypatch.setenv("SWITCHPOINT_MPIS", str(programs.parent))
    told = settings_of_testbed()
    assert told.returncode == 1
    assert f"SWITCHPOINT_MPIS: {programs.parent}: {words}" in told.stdout


def settings_of_testbed():
    """Let ReFrame load the testbed's settings and print its environments."""
    words = ["-C", SETTINGS, "--show-config=environments"]
    command = [Path(sys.executable).with_name("reframe"), *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("words", "told"), [((), False), (("-v",), True), (("-Rv",), True)])
def test_debug_messages_are_logged_for_those_who_ask(tmp_path, words, told):
    checks = ["-c", ROOT / "checks/ring.py", "-n", "no_such_check"]
    command = [Path(sys.executable).with_name("reframe"), "-C", SETTINGS, *checks, *words, "-l"]
    done = subprocess.run(
        [*command, "--prefix", tmp_path], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    log = Path(re.search(r"Log file\(s\) saved in '(.*)'", done.stdout)[1])
    assert ("] debug: " in log.read_text()) == told
    log.unlink()
