"""A zoom follows its sweep, an intervention its zoom; together they prove a cause to the byte.

Only what the probe finds is asserted, and what follows from it: times depend on who else runs here.
"""

import pytest
from sessions import ROOT, Session, start_reframe
from switchpoint import explain, read_facts, read_files

#: A sweep that only has to be there.
SHORT = ("-S", "passes=1", "-S", "samples=2", "-S", "PingPongSweep.sizes_bytes=8,32768,65536")


@pytest.fixture(scope="module")
def session(cluster, tmp_path_factory):
    """One session over the network path of one node, with both MPIs."""
    return run_chain(cluster, tmp_path_factory.mktemp("zoom"))


def run_chain(cluster, prefix, *words):
    """Sweep, zoom and intervention over the network path of one node."""
    process = start_reframe(
        cluster,
        prefix,
        *(
            "-c",
            str(ROOT / "checks"),
            "-R",
            "-r",
            "-n",
            "PingPongIntervention.*%placement=one_node_network$",
        ),
        *SHORT,
        *words,
        site="site-configs/testbed/settings.py",
    )
    output, _ = process.communicate(timeout=300)
    return Session(process.returncode, output, prefix)


def records(session, environ, check):
    return sorted((session.prefix / "output/testbed/batch" / environ).glob(f"{check}_*/*.record"))


def probe(record):
    return read_facts(record).footer["switches"][0]


def test_the_checks_run_one_after_another_and_pass(session):
    assert session.exit_code == 0, session.output
    ran = [case["display_name"].split()[0] for case in session.testcases]
    for check in ("PingPongSweep", "PingPongZoom", "PingPongIntervention"):
        assert ran.count(check) == 2


def offset_of(record, environ):
    """Bytes from the limit to the last eager size: Open MPI's counts its header in."""
    if environ == "mpich":
        return -1
    return -80 if "Open MPI v5" in read_facts(record).header["mpi"]["library"] else -56


def test_the_probe_finds_open_mpis_limit_less_its_header(session):
    (record,) = records(session, "openmpi", "PingPongZoom")
    assert probe(record)["last_size_bytes"] == 65536 + offset_of(record, "openmpi")


@pytest.mark.parametrize(
    ("environ", "variable"),
    [("openmpi", "btl_tcp_eager_limit"), ("mpich", "UCX_RNDV_THRESH")],
)
def test_the_switch_follows_the_setting_and_the_cause_is_confirmed(session, environ, variable):
    (zoom,) = records(session, environ, "PingPongZoom")
    (moved,) = records(session, environ, "PingPongIntervention")
    labels = read_facts(moved).header["labels"]
    name, _, value = labels["intervention"].partition("=")

    assert name == variable
    assert labels["base_run"] == read_facts(zoom).run_id
    assert probe(moved)["last_size_bytes"] == int(value) + offset_of(moved, environ)
    assert probe(moved)["last_size_bytes"] != probe(zoom)["last_size_bytes"]

    switches = explain(read_files([zoom, moved]).measurements)
    proved = switches[switches["kind"] == "protocol_switch"].set_index("mode").loc["send"]
    assert (proved["cause"], proved["status"]) == (variable, "confirmed")
    assert proved["last_size_bytes"] == probe(zoom)["last_size_bytes"]


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        (("-S", "PingPongIntervention.setting=NO_SUCH"), ["PingPongSweep", "PingPongZoom"]),
        (("-S", "PingPongZoom.num_tasks=3"), ["PingPongSweep"]),
    ],
    ids=["skipped intervention", "failed zoom"],
)
def test_a_record_is_kept_whatever_becomes_of_the_checks_that_follow(
    cluster, tmp_path, words, kept
):
    session = run_chain(cluster, tmp_path, "-p", "openmpi", *words)
    (last,) = [case for case in session.testcases if case["name"].startswith("PingPongIntervent")]
    assert last["result"] in {"skip", "fail_deps"}, session.output
    checks = ["PingPongSweep", "PingPongZoom", "PingPongIntervention"]
    assert [check for check in checks if records(session, "openmpi", check)] == kept
