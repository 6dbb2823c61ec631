"""A site's placements are checked before anything runs, with one line that names the fix."""

from pathlib import Path

import pytest
from switchpoint.sites.placements import PlacementError, load_placements

ROOT = Path(__file__).resolve().parents[2]
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
        (GOOD.replace("nodes: 1", "nodes: 1, switches: 2"), ["one_node.switches", "cannot hold"]),
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
