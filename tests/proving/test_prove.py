"""`switchpoint prove` finds causes that nobody told it, and confirms none that is not one.

A layer between the kernel and MPI (tests/src/fake_layer.c) has limits that are known to the byte.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from built import build
from switchpoint import read_facts
from switchpoint.explanation.catalogue import OwnCatalogue, read_catalogue

pytestmark = pytest.mark.build

#: Each of these takes a minute where other tests run beside it: `make test-quiet` has them.
LATER = pytest.mark.quiet

ROOT = Path(__file__).resolve().parents[2]

#: Both cores for two ranks; as root too.
LAUNCH = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
}

#: Limits of the MPIs themselves, far above those of the layer.
RAISED = {
    "OMPI_MCA_btl_vader_eager_limit": "200000",
    "OMPI_MCA_btl_sm_eager_limit": "200000",
    "UCX_RNDV_THRESH": "200000",
}

#: The names of the layer's variables in each MPI.
LIMIT = {"openmpi": "fake_layer_limit", "mpich": "MPIR_CVAR_FAKE_LAYER_LIMIT"}
SEGMENT = "fake_layer_segment_size"

Prove = Callable[..., dict[str, Any]]


def kernel(mpi: str, name: str) -> Path:
    """Build a program of the kernels' tests, in the tree of `make kernels-test`."""
    tree = build(mpi, f"mpicc.{mpi}", name)
    (program,) = [path for path in tree.rglob(name) if path.is_file() and os.access(path, os.X_OK)]
    return program


def run(folder: Path, words: list[str], variables: dict[str, str]) -> subprocess.CompletedProcess:
    """Run the command; the folder of the records is new."""
    shutil.rmtree(folder, ignore_errors=True)
    return subprocess.run(
        [sys.executable, "-m", "switchpoint", "prove", f"--output={folder}", *words],
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, **LAUNCH, **variables},
        check=False,
    )


@pytest.fixture
def prove(tmp_path: Path) -> Prove:
    """Run the experiment with an MPI, a program and variables; the end of the eager protocol."""

    def experiment(mpi: str, program: str, *words: str, **variables: str) -> dict[str, Any]:
        command = [f"mpiexec.{mpi}", "-n", "2", str(kernel(mpi, program))]
        done = run(tmp_path / "proof", ["--json", *words, "--", *command], variables)
        assert done.returncode == 0, done.stderr
        (switch,) = [
            switch
            for switch in json.loads(done.stdout)["switches"]
            if switch["kind"] == "protocol_switch"
        ]
        return dict(switch)

    return experiment


def statuses(switch: dict[str, Any]) -> dict[str, str]:
    """The status of every setting that was considered."""
    return {cause["name"]: cause["status"] for cause in switch["causes"]}


@pytest.mark.parametrize("mpi", ["openmpi", pytest.param("mpich", marks=LATER)])
def test_a_variable_that_no_catalogue_knows_is_found_confirmed_and_learned(
    prove: Prove, mpi: str, tmp_path: Path
) -> None:
    own = tmp_path / "own.yaml"
    switch = prove(mpi, "zoom_fake_layer", f"--learn={own}", FAKE_LAYER="one", **RAISED)

    assert switch["last_size_bytes"] == 3072 - 24
    assert (switch["cause"], switch["status"]) == (LIMIT[mpi], "confirmed")
    assert "less 24 B" in switch["reason"]
    (entry,) = read_catalogue(own, OwnCatalogue).settings
    assert (entry.variable, entry.last_size_offset) == (LIMIT[mpi], -24)


@LATER
def test_the_law_of_a_value_that_is_rounded_says_so(prove: Prove) -> None:
    odd = {f"OMPI_MCA_{LIMIT['openmpi']}": "5000"}
    switch = prove("openmpi", "zoom_fake_layer", FAKE_LAYER="rounded", **odd, **RAISED)

    assert switch["last_size_bytes"] == 4992 - 24
    assert (switch["cause"], switch["status"]) == (LIMIT["openmpi"], "confirmed")
    assert "rounded down to a multiple of 64 B less 24 B" in switch["reason"]


@LATER
def test_of_two_limits_the_lower_one_is_the_cause(prove: Prove) -> None:
    switch = prove("openmpi", "zoom_fake_layer", FAKE_LAYER="two", **RAISED)

    assert switch["last_size_bytes"] == 3072 - 24
    assert (switch["cause"], switch["status"]) == (LIMIT["openmpi"], "confirmed")
    assert statuses(switch).get(SEGMENT) in {None, "refuted"}


def test_two_limits_at_one_size_are_confirmed_together(prove: Prove) -> None:
    same = {"OMPI_MCA_fake_layer_limit": "5000", f"OMPI_MCA_{SEGMENT}": "5000"}
    switch = prove("openmpi", "zoom_fake_layer", FAKE_LAYER="two", **same, **RAISED)

    assert switch["last_size_bytes"] == 5000 - 24
    assert switch["status"] == "confirmed"
    assert {LIMIT["openmpi"], SEGMENT} == {*switch["cause"].split(" with ")}


def test_a_constant_is_blamed_on_no_setting(prove: Prove) -> None:
    switch = prove("openmpi", "zoom_fake_layer", FAKE_LAYER="constant", **RAISED)

    assert switch["last_size_bytes"] == 2048 - 24
    assert (switch["cause"], switch["status"]) == (None, "none")
    assert "settings that were raised moves it" in switch["reason"]


@LATER
def test_a_limit_that_the_command_line_sets_was_not_changed(tmp_path: Path) -> None:
    limit = ["--mca", "btl_vader_eager_limit", "8192"]
    words = ["--", "mpiexec.openmpi", *limit, "-n", "2", str(kernel("openmpi", "zoom"))]
    done = run(tmp_path / "proof", words, {})

    assert "btl_vader_eager_limit=9216: skipped; the command line" in done.stdout + done.stderr
    assert "cause suspected: btl_vader_eager_limit = 8192" in done.stdout


@LATER
def test_open_mpis_limit_in_shared_memory_is_confirmed(prove: Prove) -> None:
    switch = prove("openmpi", "zoom")

    assert switch["cause"] in {"btl_vader_eager_limit", "btl_sm_eager_limit"}
    assert switch["status"] == "confirmed"


def test_a_threshold_over_an_automatic_value_is_not_taken_for_the_cause(prove: Prove) -> None:
    # Of MPICH over UCX: the threshold moves every switch, whatever made it.
    switch = prove("mpich", "zoom", "--setting=UCX_RNDV_THRESH", UCX_SYSV_SEG_SIZE="16448")

    status = statuses(switch)
    if "UCX_SYSV_SEG_SIZE" not in status:
        pytest.skip("this MPICH does not send through UCX's System V buffers")
    assert switch["last_size_bytes"] == 16448 - 1
    assert (switch["cause"], switch["status"]) == ("UCX_SYSV_SEG_SIZE", "confirmed")
    assert status["UCX_RNDV_THRESH"] == "governed"


def test_a_tunable_of_glibc_is_changed_and_those_that_are_set_stay(tmp_path: Path) -> None:
    name = "glibc.cpu.x86_rep_movsb_threshold"
    command = ["mpiexec.openmpi", "-n", "2", str(kernel("openmpi", "zoom"))]
    words = [f"--setting={name}", "--budget=30s", "--", *command]
    set_to = {"GLIBC_TUNABLES": f"glibc.malloc.mmap_max=0:{name}=2400"}
    done = run(tmp_path / "proof", words, set_to)
    if "lists no setting" in done.stderr:
        pytest.skip("this glibc has no such tunable")

    assert done.returncode == 0, done.stderr
    base, raised = (
        read_facts(tmp_path / f"proof/zoom-00{number}.record").header["mpi"]["stack"]["glibc"]
        for number in (0, 1)
    )
    assert base["settings"][name] == "2400"
    assert raised["settings"] == base["settings"] | {name: "2720"}
    assert f"{name}=2720: the switch stayed" in done.stderr + done.stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--", "no-such-launcher", "zoom"], "COMMAND: 'no-such-launcher' is no program"),
        (["--", "true"], "COMMAND: wrote no record: no message; try it by hand"),
        (["--budget=soon", "--", "true"], "--budget: 'soon' is not a time"),
        (["--step=send", "--", "true"], "--step: 'send' is not MODE:LAST; write it as send:92"),
    ],
)
def test_what_cannot_be_an_experiment_is_refused_in_one_line(
    tmp_path: Path, words: list[str], says: str
) -> None:
    done = run(tmp_path / "proof", words, {})

    assert done.returncode == 2
    assert done.stderr.startswith(f"switchpoint: {says}")
    assert done.stderr.count("\n") == 1


def test_the_records_of_an_earlier_experiment_are_not_mixed_with_new_ones(tmp_path: Path) -> None:
    folder = tmp_path / "proof"
    folder.mkdir()
    (folder / "zoom-003.record").write_text("earlier")

    done = subprocess.run(
        [sys.executable, "-m", "switchpoint", "prove", f"--output={folder}", "--", "true"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 2
    assert "contains the records of an experiment; choose another folder" in done.stderr
    assert (folder / "zoom-003.record").read_text() == "earlier"


@pytest.mark.parametrize("ends", [signal.SIGTERM, signal.SIGHUP])
def test_what_ends_the_command_ends_what_it_started(tmp_path: Path, ends: signal.Signals) -> None:
    started = tmp_path / "started"
    script = f"echo $$ > {started}.new; mv {started}.new {started}; exec sleep 100"
    words = [f"--output={tmp_path / 'proof'}", "--", "sh", "-c", script]
    with subprocess.Popen(
        [sys.executable, "-m", "switchpoint", "prove", *words],
        stderr=subprocess.PIPE,
        text=True,
    ) as command:
        while not started.exists():
            assert command.poll() is None
            time.sleep(0.001)  # as early as one can be
        command.send_signal(ends)
        said = command.communicate(timeout=60)[1]

    assert (command.returncode, said) == (130, "switchpoint: interrupted\n")
    assert not Path(f"/proc/{int(started.read_text())}").exists()


def test_where_no_switch_was_found_the_reason_is_reported(tmp_path: Path) -> None:
    command = ["mpiexec.openmpi", "-n", "2", str(kernel("openmpi", "zoom"))]
    done = run(tmp_path / "proof", ["--step=send:3000", "--", *command], {})

    assert done.returncode == 0
    assert "as it is: no step was found there: " in done.stderr + done.stdout
    assert "No switch was found, so no cause was searched." in done.stdout


def test_another_kernel_and_an_unknown_setting_are_refused(tmp_path: Path) -> None:
    launcher = ["mpiexec.openmpi", "-n", "2"]
    other = run(
        tmp_path / "proof", ["--", *launcher, str(kernel("openmpi", "pingpong")), "--mode=send"], {}
    )
    assert (other.returncode, other.stdout) == (2, "")

    words = ["--setting=NO_SUCH", "--", *launcher, str(kernel("openmpi", "zoom"))]
    unknown = run(tmp_path / "proof", words, {})
    assert unknown.returncode == 2
    assert "--setting: the run lists no setting 'NO_SUCH' with a size" in unknown.stderr


def test_what_the_kernel_says_is_the_reason_whole_and_not_what_the_launcher_says_of_it(
    tmp_path: Path,
) -> None:
    mode = "no_such_mode_of_the_kernel"
    command = ["mpiexec.openmpi", "-n", "2", str(kernel("openmpi", "zoom"))]
    done = run(tmp_path / "proof", [f"--step={mode}:92", "--", *command], {})

    assert done.returncode == 2
    says = f"COMMAND: wrote no record: zoom: --mode: no mode '{mode}'; choose from late,"
    assert done.stderr.startswith(f"switchpoint: {says}")
    assert done.stderr.endswith(", bistream; try it by hand\n")
