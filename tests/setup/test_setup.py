"""What `make` finds installed, asks for, and leaves alone, on systems of several kinds.

Debian's programs are replaced by short scripts: a test must not install packages.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LISTED = "gcc\nlibpmix2 # a library\nnetpipe? # a baseline\n"


class Machine:
    """A folder with the setup scripts, and programs of a system that is put together by a test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.programs = folder / "programs"
        self.programs.mkdir()
        shutil.copytree(ROOT / "setup", folder / "setup")
        (folder / "list.txt").write_text(LISTED)
        for name in ("bash", "sh", "sed", "tr", "sort", "grep", "paste", "mkdir", "rm", "touch",
                     "tail", "dirname", "env", "cat"):  # fmt: skip
            (self.programs / name).symlink_to(shutil.which(name) or f"/bin/{name}")

    def add(self, name: str, script: str) -> None:
        """Add a program."""
        program = self.programs / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)

    def is_debian(self, installed: Mapping[str, str], known: str = "", user: int = 0) -> None:
        """Make it a Debian with packages installed, each with what it provides."""
        lines = "\n".join(f"installed {name}, {provides}" for name, provides in installed.items())
        self.add("dpkg-query", f"cat <<'END'\n{lines}\nEND")
        self.add("id", f"echo {user}")
        self.add("sudo", "exit 1")
        self.add("apt-get", 'echo "$@" >>asked; exit 0')
        self.add("apt-cache", f'case " {known} " in *" $2 "*) exit 0;; esac; exit 100')

    def packages(self) -> subprocess.CompletedProcess[str]:
        """Run the script that looks for packages."""
        return self.run("setup/packages.sh", "list.txt")

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a script with this machine's programs alone."""
        return subprocess.run(
            [str(self.programs / "bash"), *command],
            cwd=self.folder, env={"PATH": str(self.programs)}, capture_output=True, text=True,
        )  # fmt: skip

    @property
    def asked(self) -> list[str]:
        """What apt-get was asked for so far."""
        file = self.folder / "asked"
        return file.read_text().splitlines() if file.exists() else []


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_package_that_provides_what_is_listed_suffices(machine: Machine) -> None:
    machine.is_debian({"gcc": "", "libpmix2t64": "libpmix2 (= 5.0.1-4)", "netpipe": ""})
    done = machine.packages()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert machine.asked == []


def test_many_packages_do_not_hide_those_that_are_listed(machine: Machine) -> None:
    machine.is_debian(
        dict.fromkeys(["gcc", "libpmix2", "netpipe", *map("z{}".format, range(20000))], "")
    )
    done = machine.packages()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert machine.asked == []


def test_what_is_missing_is_installed(machine: Machine) -> None:
    machine.is_debian({"gcc": ""}, known="netpipe")
    assert machine.packages().returncode == 0
    assert machine.asked[-1].split()[-2:] == ["libpmix2", "netpipe"]


def test_what_a_system_does_not_have_is_left_out_and_asked_for_once(machine: Machine) -> None:
    machine.is_debian({"gcc": "", "libpmix2": ""}, known="")
    first, second = machine.packages(), machine.packages()
    assert first.returncode == second.returncode == 0
    assert "optional package netpipe: this system does not have it" in first.stdout
    assert second.stdout == ""
    assert len(machine.asked) == 1
    assert machine.asked[0].endswith("update")


def test_a_user_who_may_not_install_is_told_what_to_ask_for(machine: Machine) -> None:
    machine.is_debian({"gcc": ""}, user=1000)
    done = machine.packages()
    assert done.returncode == 2
    assert "apt-get install --no-install-recommends libpmix2\n" in done.stderr
    assert machine.asked == []


def test_a_user_who_may_not_install_does_without_what_is_optional(machine: Machine) -> None:
    machine.is_debian({"gcc": "", "libpmix2": ""}, user=1000)
    done = machine.packages()
    assert (done.returncode, done.stderr) == (0, "")


def test_on_other_systems_missing_programs_are_named(machine: Machine) -> None:
    for name in ("make", "git", "cmake", "cc"):
        machine.add(name, "true")
    done = machine.run("-c", 'PATH=$PATH; command() { [ -x "programs/$2" ]; }; '
                             '. setup/packages.sh list.txt')  # fmt: skip
    assert done.returncode == 2
    first, *_ = done.stderr.splitlines()
    assert first.endswith("missing here: mpicc ip tc unshare nsenter munged slurmctld slurmd srun")
    assert "docs/how-to/new-site.md" in done.stderr


def environment_of_somebody(folder: Path, *programs: str) -> Path:
    """A Python environment that `make` did not make."""
    binaries = folder / "mine" / "bin"
    binaries.mkdir(parents=True)
    for name in programs:
        (binaries / name).touch(mode=0o755)
    return binaries.parent


def make_environment(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [ROOT / "setup/venv.sh", *words], cwd=folder, capture_output=True, text=True
    )


def test_an_environment_of_somebody_else_is_used_and_left_as_it_is(tmp_path: Path) -> None:
    theirs = environment_of_somebody(tmp_path, "switchpoint", "testbed", "reframe")
    before = sorted(theirs.rglob("*"))
    done = make_environment(tmp_path, str(theirs))
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(theirs.rglob("*")) == before


def test_an_environment_of_somebody_else_that_lacks_something_is_told(tmp_path: Path) -> None:
    theirs = environment_of_somebody(tmp_path, "switchpoint", "testbed")
    done = make_environment(tmp_path, str(theirs))
    assert done.returncode == 2
    assert "it has no reframe" in done.stderr
    assert f"{theirs}/bin/python -m pip install" in done.stderr


def test_a_python_that_is_too_old_is_refused(tmp_path: Path) -> None:
    old = tmp_path / "python2"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo Python 2.7.18\nexit 1\n')
    old.chmod(0o755)
    done = make_environment(tmp_path, str(tmp_path / "new"), str(old))
    assert done.returncode == 2
    assert "Python 3.10 to 3.13 is needed" in done.stderr
    assert "Python 2.7.18" in done.stderr
    assert not (tmp_path / "new").exists()


def make(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a target of the Makefile; what it needs is installed."""
    return subprocess.run(
        ["make", "INSTALLED=yes", f"VENV={Path(sys.executable).parents[1]}", *words],
        cwd=ROOT, capture_output=True, text=True, env=os.environ | {"TESTBED_NAME": "none-of-it"},
    )  # fmt: skip


def test_measuring_on_a_site_that_does_not_exist_says_how_to_make_one() -> None:
    done = make("measure", "SITE=nowhere")
    assert done.returncode == 2
    assert "switchpoint init site nowhere" in done.stderr


def test_measuring_without_the_testbed_says_how_to_start_it() -> None:
    done = make("measure")
    assert done.returncode == 2
    assert "start the testbed first: make up" in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["PLACEMENT=one_nod"],
            "placement 'one_nod' does not exist; this site has: one_node, one_",
        ),
        (["TAG=unheard-of"], "nothing was measured: no check of local is tagged unheard-of\n"),
        (["OPTIONS_OF_REFRAME=--exex"], "reframe: error: unrecognized arguments: --exex\n"),
        (["LAUNCHES=0"], "LAUNCHES=0: write a whole number from 1\n"),
        (["LAUNCHES=two"], "LAUNCHES=two: write a whole number from 1\n"),
    ],
)
def test_measuring_nothing_is_an_error_with_a_reason(words: list[str], message: str) -> None:
    done = make("measure", "SITE=local", "TAG=smoke", *words)
    assert done.returncode == 2
    assert message in done.stderr


@pytest.mark.parametrize("words", [["measure", "SITE=local"], ["nightly", "SITE=local"], ["run"]])
def test_a_second_session_in_the_folder_is_refused_in_one_line(words: list[str]) -> None:
    (ROOT / "build").mkdir(exist_ok=True)
    with (ROOT / "build/session.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = make(*words, "TAG=smoke", "SESSION_WAIT_S=0")
    assert done.returncode == 2
    assert "another session measures in this folder: wait for its end" in done.stderr
    assert "OK" not in done.stdout


def test_findings_are_those_of_the_store_that_was_named(tmp_path: Path) -> None:
    done = make("findings", f"STORE={tmp_path / 'other'}")
    assert done.returncode == 2
    assert f"{tmp_path / 'other'}: is not a store yet" in done.stderr


@pytest.mark.parametrize("placement", ["one_node", "one_node_network"])
def test_findings_of_a_site_without_our_placement_end_well(tmp_path: Path, placement: str) -> None:
    table = tmp_path / "curve.csv"
    rows = "".join(f"{placement},send,{8 << n},{1.5 + n}\n" for n in range(8))
    table.write_text(f"placement,mode,size_bytes,time_us\n{rows}")
    command = Path(sys.executable).with_name("switchpoint")
    subprocess.run([command, "import", table, "--store", tmp_path / "store"], check=True)

    done = make("findings", f"STORE={tmp_path / 'store'}", "INSTALLED=yes")

    assert done.returncode == 0, done.stderr
    assert ("near 64 KiB" in done.stdout) == (placement == "one_node_network")


def test_the_systems_that_are_tried_are_listed() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tests/systems/try_systems.py", "--list"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "noble: Ubuntu 24.04\n" in done.stdout
