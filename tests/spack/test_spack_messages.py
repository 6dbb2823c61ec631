"""What is said where Spack, or what it needs, is not as it should be. No Spack is needed here."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
DOCTOR = ("-m", "switchpoint", "doctor", "--spack", "--json")
INSTALL = ROOT / "checks/mixins/spack_environment.py"


def program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def run(*words, path=None):
    """Run Python with nothing of a user's Spack in PATH."""
    return subprocess.run(
        [sys.executable, *map(str, words)],
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": path or "/usr/bin:/bin"},
        check=False,
    )


def install(folder, spack=None):
    """Install with a `spack` that does what the script `spack` says."""
    path = "/usr/bin:/bin"
    if spack is not None:
        path = f"{program(folder / 'bin/spack', spack).parent}:{path}"
    words = ("--site", folder, "--directory", folder / "env", "--mpi", "mpich")
    return run(INSTALL, *words, "--spec", "switchpoint-kernels@main", path=path)


def refused(done, *words):
    """Exit code 2 and one line, with all of `words`."""
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    for word in words:
        assert word in done.stderr


CLINGO = """
case "$*" in
  --version) echo 1.1.0 ;;
  *) echo '==> Error: cannot bootstrap the "clingo" Python module from spec "clingo-bootstrap"'
     exit 1 ;;
esac
"""
DISABLED = """
case "$*" in
  --version) echo 1.1.0 ;;
  *) echo '==> Error: bootstrapping is currently disabled. Use "spack bootstrap enable"'; exit 1 ;;
esac
"""
NO_FETCH = """
case "$*" in
  --version) echo 1.1.0 ;;
  *concretize*) ;;
  *) echo '==> Error: FetchError: All fetchers failed'; exit 1 ;;
esac
"""


def test_no_spack(tmp_path):
    refused(install(tmp_path), "no `spack` in PATH", "setup-env.sh", "builder=cmake")


def test_too_old_a_spack(tmp_path):
    refused(install(tmp_path, "echo 0.23.1"), "is Spack 0.23; 1.1 or newer is needed")


def test_a_spack_that_does_not_start(tmp_path):
    refused(install(tmp_path, "echo 'no python' >&2; exit 1"), "--version` fails: no python")


@pytest.mark.parametrize("spack", [CLINGO, DISABLED])
def test_no_clingo(tmp_path, spack):
    refused(install(tmp_path, spack), "has no clingo", "pip install clingo")


def test_an_install_that_fails_gives_spacks_own_reason(tmp_path):
    refused(install(tmp_path, NO_FETCH), "install failed", "All fetchers failed")


def site(folder, packages):
    folder.mkdir(exist_ok=True)
    (folder / "packages.yaml").write_text(yaml.safe_dump({"packages": packages}))
    return folder


def externals(where, folder, *words, path=None):
    target = folder / "out"
    return run(*DOCTOR, "--site", where, "--write", target, *words, path=path)


def test_a_site_without_packages(tmp_path):
    refused(externals(tmp_path, tmp_path), "packages.yaml: cannot be read", "switchpoint init site")


@pytest.mark.parametrize("text", ["packages: [", "", "- openmpi", "openmpi: {}"])
def test_a_packages_file_that_is_none(tmp_path, text):
    (tmp_path / "packages.yaml").write_text(text)
    refused(externals(tmp_path, tmp_path), "packages.yaml: no packages.yaml of Spack's")


def test_an_mpi_that_is_not_there(tmp_path):
    where = site(tmp_path / "site", {"mvapich": {"buildable": False}})
    done = externals(where, tmp_path, "--mpi", "mvapich@4")
    refused(done, "mvapich is not to be built", "add its external")


def test_an_mpicc_that_is_not_what_its_name_says(tmp_path):
    program(tmp_path / "bin/mpicc", 'exec mpicc.mpich "$@"')
    external = {"spec": "openmpi@4.1.4", "prefix": str(tmp_path)}
    where = site(tmp_path / "site", {"openmpi": {"buildable": False, "externals": [external]}})
    done = externals(where, tmp_path, "--mpi", "openmpi")
    refused(done, "openmpi@4.1.4", "compiles for mpich@", "whose bin/mpicc is its own")


def test_a_prefix_without_mpicc(tmp_path):
    external = {"spec": "openmpi@4.1.4", "prefix": str(tmp_path)}
    where = site(tmp_path / "site", {"openmpi": {"externals": [external]}})
    refused(externals(where, tmp_path, "--mpi", "openmpi"), "there is no", "correct its prefix")


def test_debians_mpis_get_prefixes_of_their_own(tmp_path):
    done = externals(ROOT / "site-configs/testbed/settings.py", tmp_path)
    assert done.returncode == 0, done.stderr
    packages = yaml.safe_load((tmp_path / "out/packages.yaml").read_text())["packages"]
    prefixes = {mpi: Path(packages[mpi]["externals"][0]["prefix"]) for mpi in ("openmpi", "mpich")}
    assert prefixes["openmpi"] != prefixes["mpich"]
    for mpi, macro in (("openmpi", "OMPI_MAJOR_VERSION"), ("mpich", "MPICH_VERSION")):
        defined = subprocess.run(
            [prefixes[mpi] / "bin/mpicc", "-E", "-dM", "-x", "c", prefixes[mpi] / "include/mpi.h"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert f"#define {macro} " in defined.stdout


def test_an_alternative_is_not_taken_for_a_prefix(tmp_path):
    (tmp_path / "alternatives").mkdir()
    mpicc = program(tmp_path / "alternatives/mpi", 'exec /usr/bin/mpicc.mpich "$@"')
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/mpicc").symlink_to(mpicc)
    where = site(tmp_path / "site", {"mpich": {"buildable": False}})
    done = externals(where, tmp_path, "--mpi", "mpich", path=str(tmp_path / "bin"))
    assert f"{tmp_path}/bin/mpicc is one of Debian's alternatives: not taken" in done.stdout
    refused(done, "no mpicc in PATH is of it")


def test_without_a_site_all_that_is_found_is_written(tmp_path):
    done = run(*DOCTOR, "--write", tmp_path)
    assert done.returncode == 0, done.stderr
    packages = yaml.safe_load((tmp_path / "packages.yaml").read_text())["packages"]
    for package in ("gcc", "cmake", "gmake", "openmpi", "mpich"):
        assert packages[package]["buildable"] is False
        assert packages[package]["externals"][0]["spec"].startswith(f"{package}@")
    states = {fact["topic"]: fact["state"] for fact in json.loads(done.stdout)["facts"]}
    assert states["Spack"] == "missing"
    assert states["openmpi"] == "ok"


def test_looking_writes_nothing(tmp_path):
    done = subprocess.run(
        [sys.executable, *DOCTOR], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stderr
    assert not list(tmp_path.iterdir())


def test_a_packages_file_of_somebodys_own_is_not_replaced(tmp_path):
    own = site(tmp_path, {"mpich": {"buildable": False}}) / "packages.yaml"
    before = own.read_text()
    refused(run(*DOCTOR, "--write", tmp_path), f"{own}: is there already", "--site")
    assert own.read_text() == before


@pytest.mark.parametrize(("bin_folder", "taken"), [("mpi/2021.17/bin", True), ("bin", False)])
def test_intel_mpi_is_taken_where_spack_finds_it(tmp_path, bin_folder, taken):
    header = tmp_path / "mpi.h"
    header.write_text('#define MPICH_VERSION "3.4a2"\n#define I_MPI_VERSION "2021.17.0"\n')
    mpicc = program(tmp_path / bin_folder / "mpicc", f'exec gcc -I{tmp_path} "$@"')
    done = run(*DOCTOR, "--write", tmp_path / "out", path=f"{mpicc.parent}:/usr/bin:/bin")
    assert done.returncode == 0, done.stderr
    packages = yaml.safe_load((tmp_path / "out/packages.yaml").read_text())["packages"]
    external = {"spec": "intel-oneapi-mpi@2021.17.0", "prefix": str(tmp_path)}
    assert packages.get("intel-oneapi-mpi", {}).get("externals") == ([external] if taken else None)
    assert ("not in oneAPI's folders" in done.stdout) is not taken


@pytest.mark.parametrize(
    ("builder", "words"),
    [("spack", "there is no `spack` in PATH"), ("spakc", "there is no builder 'spakc'")],
)
def test_a_check_whose_builder_is_not_there_fails_in_one_line(tmp_path, builder, words):
    reframe = Path(sys.executable).parent / "reframe"
    done = subprocess.run(
        [
            *(reframe, "-C", ROOT / "site-configs/local/settings.py", "--nocolor"),
            *("-c", ROOT / "checks/pingpong.py", "-r", "-p", "mpich", "--prefix", tmp_path),
            *("-n", "PingPongSmoke.*%placement=one_node$", "-S", f"builder={builder}"),
            *("-S", f"build_root={tmp_path}/build"),
        ],
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": "/usr/bin:/bin"},
        check=False,
        timeout=120,
    )
    assert done.returncode == 1
    reasons = [line for line in done.stdout.splitlines() if "* Reason: " in line]
    assert len(reasons) == 1
    assert words in reasons[0]
    assert "Traceback" not in done.stdout
    assert not list(tmp_path.rglob("pingpong"))
