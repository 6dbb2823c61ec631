"""A placement on another number of nodes: what is asked for, proved, counted and distinguished."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from sessions import ROOT, Session
from switchpoint import read_files
from switchpoint.records.record import read_facts
from switchpoint.sites.placements import load_placements
from switchpoint.tables.curves import summarise

#: One collective of four ranks on every placement.
ALLREDUCE = ("-p", "openmpi", "-n", "^Collective%placement=.*%operation=allreduce$")


@pytest.fixture
def collective(reframe: Callable[..., Session]) -> Callable[..., Session]:
    """Run the allreduce on every placement: ``collective("-S", "nodes=4")``."""
    return lambda *words: reframe(*ALLREDUCE, *words, checks="checks/collectives.py")


def skipped(session: Session) -> dict[str, str]:
    """Why checks were skipped, by placement; ReFrame's report does not say it."""
    return dict(
        re.findall(r"SKIP \].* %placement=(\w+) .*? \[(.*)\]$", session.output, re.MULTILINE)
    )


def test_curves_of_two_and_of_four_nodes_are_two_curves(collective) -> None:
    few = ("-r", "-S", "passes=1", "-S", "placements=two_nodes_two_hosts")
    for words in ([], ["-S", "nodes=4"]):
        session = collective(*few, *words)
        assert session.exit_code == 0, session.output
        records = sorted((session.prefix / "output").rglob("allreduce*.record"))
        records[-1].rename(session.prefix / f"{len(words)}.record")

    usual, wide = (session.prefix / f"{number}.record" for number in (0, 2))
    hosts = [{rank["host"] for rank in read_facts(one).header["ranks"]} for one in (usual, wide)]
    assert [len(names) for names in hosts] == [2, 4]
    points = summarise(read_files([usual, wide]).measurements.samples)
    of_nodes = points.groupby(points["nodes"].astype(object).fillna("own"))["run_id"].nunique()
    assert of_nodes.to_dict() == {"4": 1, "own": 1}


def test_placements_that_cannot_have_so_many_nodes_are_skipped(collective) -> None:
    """The testbed has two hosts of two nodes each."""
    session = collective("--dry-run", "-S", "nodes=4")

    assert session.exit_code == 0, session.output
    path = "the path within one node is another than the path between several"
    assert skipped(session) == {
        "one_node": f"nodes=4: the placement has 1 node, and {path}",
        "one_node_network": f"nodes=4: the placement has 1 node, and {path}",
        "two_nodes_one_host": "nodes=4: needs 4 nodes under one switch, but no switch has enough;"
        " see `scontrol show topology` and `sinfo -R`",
    }
    # 120 s for the step and 60 s around it, on four nodes
    assert "1 job of ranks: at most 3 min one after another and 0.2 node hours" in session.output


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        (8, "needs 8 nodes, but Slurm has 4 usable nodes; request fewer"),
        (3, "3 nodes cannot be divided as --constraint=[host_a*1&host_b*1] divides 2"),
    ],
)
def test_nodes_that_the_site_does_not_have_are_one_line(
    collective, nodes: int, reason: str
) -> None:
    words = ("-S", f"nodes={nodes}", "-S", f"ranks={nodes}")
    session = collective("--dry-run", "-S", "placements=two_nodes_two_hosts", *words)

    assert session.exit_code == 0, session.output
    assert skipped(session) == {"two_nodes_two_hosts": f"nodes={nodes}: {reason}"}


def test_ranks_that_nodes_do_not_divide_fail_in_one_line(collective) -> None:
    words = ("-S", "nodes=4", "-S", "ranks=6", "-S", "placements=two_nodes_two_hosts")
    session = collective("--dry-run", *words)

    assert session.failures == [
        "reframe error: 6 ranks cannot be divided evenly over the 4 nodes of placement"
        " 'two_nodes_two_hosts'"
    ]


@pytest.mark.parametrize(
    ("nodes", "constraint"), [(2, "[host_a*1&host_b*1]"), (4, "[host_a*2&host_b*2]")]
)
def test_counts_of_features_grow_with_the_nodes(nodes: int, constraint: str) -> None:
    site = load_placements(ROOT / "site-configs/testbed/placements.yaml")
    wide = site.placements["two_nodes_two_hosts"].on_nodes(nodes)

    assert wide.scheduler_options == (f"--constraint={constraint}",)
    assert (wide.nodes, wide.switches) == (nodes, 2)


def test_nodes_are_not_fewer_than_their_switches() -> None:
    site = load_placements(ROOT / "site-configs/testbed/placements.yaml")
    spread = site.placements["two_nodes_two_hosts"].model_copy(update={"nodes": 4, "switches": 4})

    with pytest.raises(ValueError, match="2 nodes cannot be under 4 switches"):
        spread.on_nodes(2)
