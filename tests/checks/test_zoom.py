"""A zoom follows its sweep, and an experiment proves what ends the eager protocol.

Only what the probe finds is asserted, and what follows from it: times depend on who else runs here.
"""

import pytest
from sessions import ROOT, Session, start_reframe
from switchpoint import explain, read_facts, read_files

#: A sweep that only has to be there.
SHORT = (
    *("-S", "passes=1", "-S", "samples=2", "-S", "PingPongSweep.sizes_bytes=8,32768,65536"),
    *("-S", "Collective.ranks=2", "-S", "CollectiveZoom.ranks=2"),
    *("-S", "CollectiveZoom.also_search=library:4096-16384", "-S", "search_time_ms=800"),
    *("-S", "Collective.sizes_bytes=8,1024,16384", "-S", "CollectiveZoom.sizes_bytes=8,16384"),
)


@pytest.fixture(scope="module")
def session(cluster, tmp_path_factory):
    """One session over the network path of one node, with both MPIs."""
    collective = "CollectiveZoom.*%placement=one_node_network.*%operation=allreduce$"
    return run_checks(cluster, tmp_path_factory.mktemp("zoom"), "-n", collective)


def run_checks(cluster, prefix, *words):
    """Sweep, zoom and proof over the network path of one node, and more that the words choose."""
    process = start_reframe(
        cluster,
        prefix,
        *("-c", str(ROOT / "checks/pingpong.py"), "-c", str(ROOT / "checks/zoom.py")),
        *("-c", str(ROOT / "checks/collectives.py"), "-r"),
        *("-n", "PingPong(Zoom|Proof).*%placement=one_node_network$"),
        *SHORT,
        *words,
        site="site-configs/testbed/settings.py",
    )
    output, _ = process.communicate(timeout=400)
    return Session(process.returncode, output, prefix)


def records(session, environ, check):
    folder = session.prefix / "output/testbed/batch" / environ
    return sorted([*folder.glob(f"{check}_*/*.record"), *folder.glob(f"{check}_*/*/*.record")])


def probe(record):
    return read_facts(record).footer["switches"][0]


def test_the_checks_run_one_after_another_and_pass(session):
    assert session.exit_code == 0, session.output
    ran = [case["display_name"].split()[0] for case in session.testcases]
    checks = ("PingPongSweep", "PingPongZoom", "PingPongProof", "Collective", "CollectiveZoom")
    for check in checks:
        assert ran.count(check) == 2


def test_a_collective_is_searched_beside_all_algorithms(session):
    for environ in ("openmpi", "mpich"):
        (record,) = records(session, environ, "CollectiveZoom")
        facts = read_facts(record)
        searched = [(s["mode"], s["low_bytes"]) for s in facts.footer["switches"]]
        assert ("library", 4096) in searched
        assert len(facts.header["plan"]["modes"]) > 2


def offset_of(record):
    """Bytes from Open MPI's limit to the last eager size: the limit counts the header in."""
    return -80 if "Open MPI v5" in read_facts(record).header["mpi"]["library"] else -56


def test_the_probe_finds_open_mpis_limit_less_its_header(session):
    (record,) = records(session, "openmpi", "PingPongZoom")
    assert probe(record)["last_size_bytes"] == 65536 + offset_of(record)


def proved(session, environ):
    """The end of the eager protocol, as the records of the experiment explain it."""
    trials = records(session, environ, "PingPongProof")
    switches = explain(read_files(trials).measurements)
    (found,) = [
        switch
        for switch in switches.to_dict("records")
        if switch["kind"] == "protocol_switch" and switch["mode"] == "send"
    ]
    assert found["last_size_bytes"] == probe(trials[0])["last_size_bytes"]
    return found


def test_open_mpis_limit_is_proved_to_be_the_cause(session):
    found = proved(session, "openmpi")
    assert (found["cause"], found["status"]) == ("btl_tcp_eager_limit", "confirmed")
    zoom = probe(records(session, "openmpi", "PingPongZoom")[0])
    assert found["last_size_bytes"] == zoom["last_size_bytes"]


def test_a_size_that_ucx_computes_is_governed_and_not_confirmed(session):
    found = proved(session, "mpich")
    considered = {cause["name"]: cause["status"] for cause in found["causes"]}
    assert considered["UCX_RNDV_THRESH"] == "governed"
    assert found["status"] == "governed"
    # What the size follows takes 27 launches, for which a busy machine may have no time.
    assert found["cause"] in {"UCX_TCP_TX_SEG_SIZE", "UCX_RNDV_THRESH"}


@pytest.fixture(scope="module")
def wrong(cluster, tmp_path_factory):
    """A session with a zoom that cannot start, and a proof of a setting that does not exist."""
    words = ("-S", "PingPongZoom.num_tasks=3", "-S", "PingPongProof.setting=NO_SUCH")
    return run_checks(cluster, tmp_path_factory.mktemp("wrong"), "-p", "openmpi", *words)


def result_of(session, check):
    (case,) = [case for case in session.testcases if case["name"].startswith(check)]
    return case["result"]


def test_a_record_is_kept_whatever_becomes_of_the_checks_that_follow(wrong):
    assert result_of(wrong, "PingPongZoom") == "fail", wrong.output
    assert len(records(wrong, "openmpi", "PingPongSweep")) == 1
    assert not records(wrong, "openmpi", "PingPongZoom")


def test_a_setting_that_the_run_does_not_list_is_refused_in_one_line(wrong):
    assert result_of(wrong, "PingPongProof") == "fail", wrong.output
    assert "the run lists no setting 'NO_SUCH' with a size" in wrong.output
