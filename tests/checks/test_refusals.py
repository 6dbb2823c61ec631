"""What a check must not let pass, and what it says."""

import fcntl
import json
import shlex
import tempfile
from pathlib import Path

import pytest
from sessions import ROOT, Session, start_reframe

#: A launch of a plan, and how the check for plans is tried without a measurement.
TRIAL = {
    "name": "first", "placement": "one_node", "partition": "batch", "environ": "openmpi",
    "kernel": "pingpong", "modes": ["send"], "sizes_bytes": [8], "ranks": 2, "options": [],
    "labels": {}, "nodes": [], "avoided": [], "environment": {}, "built_before": False,
}  # fmt: skip
CONFIRM = ("--dry-run", "-n", "^Confirm.*placement=one_node$")

#: What is set on the command line of one session, by the check that must refuse it.
ATTACK, VALUE = "x;touch ${HOME}/broken `touch broken`", "x;touch broken 'y"
REFUSED = {
    "PingPongSmoke": (f"start={ATTACK}", f"rank_environment=HOSTILE:{VALUE}"),
    "PingPongSweep": ("rank_environment=HOSTILE:`touch broken`",),
    "PingPongNear64K": ("rank_environment=HOSTILE:$(touch broken)",),
    "PingPongModes": ("rank_environment=A B:1",),
    "PingPongWholeRange": ("kernel=pongping",),
    "PingPongCold": ("modes=send", "passes=1", "rotate_mib=1"),
}

#: A launch of a plan that a record made, and what is wrong with it.
PLANNED = [
    ({"environment": {"UCX_TLS": "`touch broken`"}}, "the value of UCX_TLS contains ` or $"),
    ({"environment": {"UCX_TLS;touch broken": None}}, "is not the name of a variable"),
    ({"nodes": ["a1\ntouch broken"]}, "'a1\\ntouch broken' is not a plain name"),
    ({"kernel": "../../pingpong"}, "'../../pingpong' is not a plain name"),
]


def plan_in(folder, trials, locks):
    plan = folder / "plan.json"
    plan.write_text(json.dumps({"label": "trial", "locks": locks, "trials": trials}))
    return plan


def only(placement):
    return ("-r", "-p", "openmpi", "-n", f"PingPongSmoke.*%placement={placement}$")


@pytest.fixture(scope="module")
def mislabelled(cluster, tmp_path_factory):
    """Reasons by placement, at a site whose placements are not what they are called."""
    prefix = tmp_path_factory.mktemp("mislabelled")
    process = start_reframe(
        cluster, prefix, "-c", str(ROOT / "checks/pingpong.py"), *only("(one_node.*|.*two_hosts)"),
        site="tests/checks/sites/mislabelled/settings.py",
    )  # fmt: skip
    output, _ = process.communicate(timeout=300)
    session = Session(process.returncode, output, prefix)
    assert session.exit_code == 1, output
    return {
        case["placement"]: case["fail_reason"]
        for case in session.testcases
        if case["result"] == "fail"
    }


def test_shared_memory_does_not_pass_for_the_network(mislabelled):
    reason = mislabelled["one_node_network"]
    assert "placement 'one_node_network' is refuted" in reason
    assert "bytes went by 'shared_memory'" in reason


def test_one_host_does_not_pass_for_two(mislabelled):
    reason = mislabelled["two_nodes_two_hosts"]
    assert "asked for 2 switch(es), but ran under 1" in reason


def test_a_value_past_the_sites_reference_fails(mislabelled):
    assert "send_latency" in mislabelled["one_node"]


def test_a_point_without_a_sample_fails(reframe):
    session = reframe(
        "-r", "-p", "openmpi", "-n", "%placement=one_node$", checks="tests/checks/forgetful.py"
    )
    assert session.exit_code == 1
    assert "points without a sample: send 512 B" in session.failures[0]


def test_the_folder_of_another_session_is_left_alone(reframe, tmp_path):
    running = tmp_path / "stage/testbed/batch/openmpi/running"
    running.mkdir(parents=True)
    with (tmp_path / "stage/.session").open("w") as claim:
        fcntl.flock(claim, fcntl.LOCK_EX)
        session = reframe("--dry-run", *only("one_node")[1:])
    assert session.exit_code == 1
    assert session.failures
    for reason in session.failures:
        assert f"another session uses {tmp_path / 'stage'}" in reason
    assert running.exists()


def test_a_stage_folder_that_nodes_do_not_see_is_named(reframe):
    """Nodes have a /dev/shm of their own, as many clusters' have a /tmp."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as unseen:
        session = reframe(*only("one_node"), "--prefix", unseen)
    assert session.exit_code == 1
    assert f"the job left no output in {unseen}" in session.failures[0]
    assert "choose a stage folder on a file system that they share" in session.failures[0]


def test_an_imb_that_is_not_there_is_named(reframe):
    select = ("-r", "-p", "openmpi", "-n", "Imb.*%placement=one_node%.*=PingPong$")
    session = reframe(*select, "-S", "imb=/nowhere/IMB-MPI1", checks="checks/imb.py")
    assert session.exit_code == 1
    assert "there is no program /nowhere/IMB-MPI1: correct -S imb" in session.failures[0]


def test_an_imb_of_another_mpi_does_not_pass(reframe):
    """Its ranks do not find each other, or measure nothing."""
    select = ("-r", "-p", "openmpi", "-n", "Imb.*%placement=one_node%.*=PingPong$")
    session = reframe(*select, "-S", "imb=true", checks="checks/imb.py")
    assert session.exit_code == 1
    assert "IMB printed sizes []" in session.failures[0]


@pytest.fixture(scope="module")
def refused(cluster, tmp_path_factory):
    """A session in which something is wrong with each check, and the reason of each failure."""
    prefix = tmp_path_factory.mktemp("refused")
    settings = [
        word
        for check, assigned in REFUSED.items()
        for setting in assigned
        for word in ("-S", f"{check}.{setting}")
    ]
    process = start_reframe(
        cluster, prefix, "-c", str(ROOT / "checks/pingpong.py"), "-r", "-p", "openmpi",
        *("-n", f"^({'|'.join(REFUSED)})%placement=one_node$"), *settings,
        site="site-configs/testbed/settings.py",
    )  # fmt: skip
    output, _ = process.communicate(timeout=300)
    session = Session(process.returncode, output, prefix)
    assert session.exit_code == 1, output
    failed = [case for case in session.testcases if case["result"] == "fail"]
    return session, {case["unique_name"].partition("_")[0]: case["fail_reason"] for case in failed}


def test_each_check_with_something_wrong_fails_and_nothing_else_runs(refused):
    session, reasons = refused
    assert {*reasons} == {*REFUSED}
    assert not list(session.prefix.rglob("broken"))


def test_buffers_that_fit_into_a_cache_are_no_cold_ones(refused):
    _, reasons = refused
    assert "buffers of 1 MiB fit into a cache of " in reasons["PingPongCold"]
    assert "use -S rotate_mib=" in reasons["PingPongCold"]


def test_a_missing_program_is_named(refused):
    _, reasons = refused
    assert "pongping" in reasons["PingPongWholeRange"]


def test_what_is_set_on_the_command_line_stays_one_word_of_the_job_script(refused):
    """Each is an argument of the kernel, which refuses it."""
    session, reasons = refused
    assert "--start" in reasons["PingPongSmoke"]
    (script,) = session.prefix.rglob("stage/*/*/*/*PingPongSmoke*/rfm_job.sh")
    assert f"'--start={ATTACK}'" in script.read_text()
    assert f"export HOSTILE={shlex.quote(VALUE)}" in script.read_text()


@pytest.mark.parametrize("check", ["PingPongSweep", "PingPongNear64K"])
def test_a_value_that_reframe_would_run_is_refused(refused, check):
    _, reasons = refused
    assert "rank_environment: the value of HOSTILE contains ` or $" in reasons[check]


def test_a_variable_without_a_name_is_refused(refused):
    _, reasons = refused
    assert "rank_environment: 'A B' is not the name of a variable" in reasons["PingPongModes"]


def test_a_plan_of_a_strangers_record_runs_nothing_of_its_own(reframe, tmp_path, monkeypatch):
    """`switchpoint gate --confirm` writes what records say into its plans."""
    trials = [TRIAL | wrong | {"name": f"t{n}"} for n, (wrong, _) in enumerate(PLANNED)]
    monkeypatch.setenv("SWITCHPOINT_PLAN", str(plan_in(tmp_path, trials, {})))

    session = reframe(*CONFIRM, checks="checks/confirm.py")

    assert [refusal for _, refusal in PLANNED if refusal not in session.output] == []
    assert not list(session.prefix.rglob("broken"))
    assert not [path for path in session.prefix.rglob("*.sh") if "broken" in path.read_text()]


def test_a_plan_builds_only_from_a_lock_that_this_site_built_from(reframe, tmp_path, monkeypatch):
    """A record can name this site and bring a lock of its own, which nobody reads."""
    lock = Path(__file__).parents[1] / "spack/locks/release.lock"
    plan = plan_in(tmp_path, [TRIAL], {"openmpi": {"now": str(lock)}})
    monkeypatch.setenv("SWITCHPOINT_PLAN", str(plan))
    own = tmp_path / "builds/spack/testbed/openmpi/switchpoint-kernels-1/spack.lock"
    own.parent.mkdir(parents=True)
    own.write_text(lock.read_text().replace("debian12", "debian13"))
    words = (*CONFIRM, "-S", f"build_root={tmp_path}/builds")

    refused = reframe(*words, checks="checks/confirm.py")
    assert f"{lock}: is of no environment below {own.parents[1]}; if you trust it" in refused.output

    own.write_text(lock.read_text())
    assert "is of no environment" not in reframe(*words, checks="checks/confirm.py").output


@pytest.mark.parametrize("site", ["testbed", "local"])
def test_a_dry_run_works_for_every_site(reframe, site):
    settings = f"site-configs/{site}/settings.py"
    session = reframe("--dry-run", "-t", "smoke", site=settings, checks="checks")
    assert session.exit_code == 0, session.output


def test_an_unedited_template_does_not_even_list_its_checks(reframe):
    session = reframe("-l", site="site-configs/template-slurm/settings.py")
    assert session.exit_code == 1
    assert "template-slurm/settings.py:20: still to be edited" in session.output
    assert "Traceback" not in session.output
