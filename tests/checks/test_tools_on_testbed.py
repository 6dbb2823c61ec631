"""PVM's daemons run while its check does, on the nodes of its job; or the check says why not."""

from switchpoint import read_facts


def test_pvm_joins_the_nodes_of_a_job(reframe):
    chosen = ("-n", "EchoOverPvm.*(one_node|two_hosts)$")
    session = reframe("-r", "-p", "openmpi", *chosen, checks="checks/studies/tools.py")
    assert session.exit_code == 0, session.output

    results = {case["placement"]: case["result"] for case in measured(session)}
    assert results == {"one_node": "skip", "two_nodes_two_hosts": "pass"}
    assert "PVM's messages always take the network" in session.output
    [path] = (session.prefix / "output").rglob("EchoOverPvm_*/echo.record")
    facts = read_facts(path)
    assert {rank["host"][0] for rank in facts.header["ranks"]} == {"a", "b"}
    counts = {p["mode"]: p["count"] for p in facts.footer["points"] if p["size_bytes"] == 65536}
    assert counts == {"sockets": 100, "pvm": 100, "pvm_direct": 100}


def measured(session):
    """Test cases that measure, without the build that they share."""
    return [case for case in session.testcases if case["unique_name"].startswith("EchoOverPvm")]
