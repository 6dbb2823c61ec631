"""A real Spack builds our recipe for each MPI, refuses a wrong one, and leaves no half build."""

import json
import subprocess

import pytest
import yaml

MPIS = ("openmpi", "mpich")
LIBRARIES = {"openmpi": "libmpi.so.40", "mpich": "libmpich.so.12"}


def test_spack_audits_the_recipes(spack, installed):
    environment = spack.environment_of("openmpi")
    recipes = ("switchpoint-kernels", "py-switchpoint")
    audit = spack.run("spack", "-e", environment, "audit", "packages", *recipes)
    assert audit.returncode == 0, audit.stdout


@pytest.mark.parametrize("mpi", MPIS)
def test_the_concrete_spec_names_the_mpi_that_was_asked_for(spack, installed, mpi):
    lock = json.loads((spack.environment_of(mpi) / "spack.lock").read_text())
    names = {node["name"] for node in lock["concrete_specs"].values()}
    assert names & set(MPIS) == {mpi}


@pytest.mark.parametrize("mpi", MPIS)
def test_the_programs_are_linked_to_that_mpi_and_no_other(spack, installed, mpi):
    program = spack.environment_of(mpi) / "view/bin/pingpong"
    dynamic = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True)
    assert {name: LIBRARIES[name] in dynamic.stdout for name in MPIS} == {
        name: name == mpi for name in MPIS
    }


@pytest.mark.parametrize("mpi", MPIS)
def test_spack_test_runs_the_programs(spack, installed, mpi):
    environment = spack.environment_of(mpi)
    done = spack.run("spack", "-e", environment, "test", "run", "switchpoint-kernels")
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


def test_a_second_time_builds_nothing(spack, installed):
    lock = spack.environment_of("mpich") / "spack.lock"
    before = lock.read_text()
    again = spack.install(spack.externals(), spack.environments_of("mpich"), "mpich")
    assert again.returncode == 0
    assert "Installing" in installed["mpich"].stdout
    assert "Installing" not in again.stdout
    assert "Concretized" not in again.stdout
    assert lock.read_text() == before


def test_a_spec_that_cannot_be_is_one_line(spack, tmp_path):
    done = spack.install(spack.externals(), tmp_path, "mpich", "switchpoint-kernels@9.9")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "does not concretize: " in done.stderr
    assert "switchpoint-kernels@9.9" in done.stderr
    assert not list(tmp_path.glob("*/view"))


def test_a_build_with_the_wrong_mpi_is_refused_and_leaves_nothing(spack, tmp_path):
    """Debian's trap: a prefix that is said to be MPICH, and whose mpicc is Open MPI's."""
    site = tmp_path / "site"
    site.mkdir()
    packages = yaml.safe_load((spack.externals() / "packages.yaml").read_text())
    externals = {name: packages["packages"][name]["externals"][0] for name in MPIS}
    externals["mpich"]["prefix"] = externals["openmpi"]["prefix"]
    externals["mpich"]["spec"] = "mpich@4.0.9"
    (site / "packages.yaml").write_text(yaml.safe_dump(packages))
    before = set(spack.store.glob("*/switchpoint-kernels*"))

    done = spack.install(site, tmp_path / "environments", "mpich")

    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "is linked to libmpi.so.40, which is not mpich" in done.stderr
    assert set(spack.store.glob("*/switchpoint-kernels*")) == before
    assert not list(tmp_path.glob("environments/*/view/bin"))

    repaired = spack.install(spack.externals(), tmp_path / "environments", "mpich")
    assert repaired.returncode == 0, repaired.stderr
    assert list(tmp_path.glob("environments/*/view/bin/pingpong"))
