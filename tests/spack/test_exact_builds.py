"""With a real Spack: each build is the one that was asked for, and a run is run again."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from switchpoint import Store, read

ROOT = Path(__file__).resolve().parents[2]
MPIEXEC = {"openmpi": "mpiexec.openmpi --oversubscribe", "mpich": "mpiexec.mpich"}
SWEEP = ("--mode=send", "--sizes=8,1024", "--passes=2", "--samples=2", "--label=placement=one_node")


def git(checkout, *words):
    subprocess.run(
        ["git", "-C", checkout, "-c", "user.name=a", "-c", "user.email=a@b", *words], check=True
    )


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A shallow clone, so that a commit may be added to it."""
    folder = tmp_path_factory.mktemp("clone") / "switchpoint"
    subprocess.run(["git", "clone", "-q", "--depth=1", ROOT.as_uri(), folder], check=True)
    # What is being worked on counts here as well.
    for part in ("checks", "spack_repo", "spack.yaml"):
        shutil.rmtree(folder / part) if (folder / part).is_dir() else (folder / part).unlink()
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
        copy(ROOT / part, folder / part)
    git(folder, "commit", "-qam", "as it is", "--allow-empty")
    return folder


@pytest.fixture(scope="module")
def site(spack, tmp_path_factory):
    """The testbed's externals, and a second compiler where there is one."""
    folder = tmp_path_factory.mktemp("site")
    packages = yaml.safe_load((spack.externals() / "packages.yaml").read_text())
    for version in ("11", "13", "10", "14"):
        if path := shutil.which(f"gcc-{version}"):
            told = subprocess.run([path, "-dumpfullversion"], capture_output=True, text=True)
            packages["packages"]["gcc"]["externals"].append(
                {
                    "spec": f"gcc@{told.stdout.strip()} languages:='c'",
                    "prefix": "/usr",
                    "extra_attributes": {"compilers": {"c": path}},
                }
            )
            packages["packages"]["cxx"] = {}
            break
    (folder / "packages.yaml").write_text(yaml.safe_dump(packages))
    return folder


def other_gcc(site):
    """Major version of the site's second compiler."""
    packages = yaml.safe_load((site / "packages.yaml").read_text())["packages"]
    specs = [external["spec"] for external in packages["gcc"]["externals"]]
    return re.match(r"gcc@(\d+)", specs[1])[1] if len(specs) > 1 else None


@pytest.fixture(scope="module")
def built(spack, site, checkout, tmp_path_factory):
    """Debug, then default, then a new commit, then another compiler: folder of each environment."""
    environments = tmp_path_factory.mktemp("environments")
    found = {}

    def build(name, spec):
        done = spack.install(site, environments, "openmpi", spec, checkout)
        assert done.returncode == 0, done.stdout + done.stderr
        found[name] = Path(done.stdout.rpartition("installed in ")[2].strip())

    build("debug", "switchpoint-kernels@main build_type=Debug")
    build("default", "switchpoint-kernels@main")
    with (checkout / "src/kernels/pingpong.c").open("a") as source:
        source.write("/* changed */\n")
    git(checkout, "commit", "-qam", "change a kernel")
    build("commit", "switchpoint-kernels@main")
    if compiler := other_gcc(site):
        build("compiler", f"switchpoint-kernels@main%gcc@{compiler}")
    return found


def measure(spack, environment, folder, mpi="openmpi"):
    """Run ping-pong once, and lay the lock beside its record as the checks do."""
    folder.mkdir()
    shutil.copy(environment / "spack.lock", folder)
    program = environment / "view/bin/pingpong"
    words = [*MPIEXEC[mpi].split(), "-n", "2", program, *SWEEP, "--label=site=here"]
    done = spack.run(*words, f"--record={folder / 'pingpong.record'}")
    assert done.returncode == 0, done.stderr
    return folder / "pingpong.record"


@pytest.fixture(scope="module")
def store(spack, built, tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    store = Store(folder / "results")
    for name, environment in built.items():
        store.add(read(measure(spack, environment, folder / name)))
    return store


def test_each_binary_has_the_flags_that_its_label_says(store, built, site):
    runs = store.runs()
    flags = {"Debug": "-g", "Release": "-O3"}
    for run in runs.to_dict("records"):
        kernel = json.loads(run["header"])["kernel"]
        build_type = re.search(r"build_type=(\w+)", run["spack_spec"])[1]
        assert flags[build_type] in kernel["flags"]
        assert kernel["git_commit"] in run["spack_spec"]
        assert f"%gcc@{kernel['compiler'].removeprefix('GNU ')}" in run["spack_spec"]
    wanted = 4 if other_gcc(site) else 3
    assert runs["spec_hash"].nunique() == runs["spack_spec"].nunique() == wanted


def test_each_build_is_a_curve_of_its_own(store, built):
    samples = store.latest().samples
    assert samples["build"].nunique() == len(built)
    assert {name for name in samples["build"] if name.startswith("build_type=Debug")}


def test_clones_of_one_commit_give_one_hash(spack, site, checkout, built, tmp_path):
    subprocess.run(["git", "clone", "-q", checkout.as_uri(), tmp_path / "other"], check=True)
    done = spack.install(
        site, tmp_path / "environments", "openmpi", "switchpoint-kernels", tmp_path / "other"
    )
    assert done.returncode == 0, done.stderr
    other = Path(done.stdout.rpartition("installed in ")[2].strip())
    hashes = [
        json.loads((folder / "spack.lock").read_text())["roots"][0]["hash"]
        for folder in (built["commit"], other)
    ]
    assert hashes[0] == hashes[1]
    assert "Successfully installed" not in done.stdout


def test_a_run_is_run_again_by_the_written_folder_alone(spack, tmp_path, site):
    """From this checkout's commit; into another store, with every build tree gone."""
    done = spack.install(site, tmp_path / "environments", "openmpi")
    assert done.returncode == 0, done.stderr
    environment = Path(done.stdout.rpartition("installed in ")[2].strip())
    record = measure(spack, environment, tmp_path / "first")
    store = tmp_path / "results"
    Store(store).add(read(record))
    run = read(record).runs["run_id"].iloc[0]
    words = ("-m", "switchpoint", "reproduce", run[:8], "--store", store, "--write")
    written = spack.run(sys.executable, *words, tmp_path / "written")
    assert written.returncode == 0, written.stderr
    shutil.rmtree(tmp_path / "environments")
    again = tmp_path / "elsewhere/again"
    again.parent.mkdir()
    (tmp_path / "written").rename(again)
    config = spack.settings_with_store(tmp_path / "other-settings", tmp_path / "other-store")

    installed = spack.run("env", config, "spack", "-e", again, "install")
    assert installed.returncode == 0, installed.stdout + installed.stderr
    launcher = f"LAUNCHER={MPIEXEC['openmpi']} -n 2"
    ran = spack.run("env", "SITE=elsewhere", launcher, again / "run.sh")
    assert ran.returncode == 0, ran.stderr

    Store(store).add(read(again / "pingpong.record"))
    runs = Store(store).runs()
    assert runs["site"].tolist() == ["here", "elsewhere"]
    assert runs["spec_hash"].nunique() == runs["spack_spec"].nunique() == 1
    assert runs["lock_hash"].nunique() == 1
    assert len({json.loads(header)["plan"]["seed"] for header in runs["header"]}) == 1
    assert "/other-store/" in str((again / "view/bin/pingpong").resolve())


def test_checks_are_built_from_a_lock_alone(spack, installed, tmp_path):
    lock = shutil.copy(spack.environment_of("mpich") / "spack.lock", tmp_path)
    done = spack.run(
        *(sys.executable, ROOT / "checks/mixins/spack_environment.py"),
        *("--site", spack.externals(), "--environments", tmp_path / "new", "--mpi", "mpich"),
        *("--lock", lock),
    )
    assert done.returncode == 0, done.stderr
    folder = Path(done.stdout.rpartition("installed in ")[2].strip())
    assert (folder / "spack.lock").read_text() == Path(lock).read_text()
    assert "Concretized" not in done.stdout
    assert (folder / "view/bin/pingpong").exists()
