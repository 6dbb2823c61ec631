"""What is said where Spack, or what it needs, is not as it should be. No Spack is needed here."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
DOCTOR = ("-m", "switchpoint", "doctor", "--spack", "--json")
INSTALL = ROOT / "checks/mixins/spack_environment.py"


@pytest.fixture(autouse=True)
def own_prefixes(monkeypatch, tmp_path):
    """Keep prefixes that are made out of the user's own."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


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


def install(folder, spack=None, spec="switchpoint-kernels@main", *words):
    """Install with a `spack` that does what the script `spack` says."""
    path = "/usr/bin:/bin"
    if spack is not None:
        path = f"{program(folder / 'bin/spack', spack).parent}:{path}"
    own = ("--site", folder, "--environments", folder / "envs", "--mpi", "mpich")
    return run(INSTALL, *own, f"--spec={spec}", *words, path=path)


def refused(done, *words):
    """Exit code 2 and one line, with all of `words`."""
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    for word in words:
        assert word in done.stderr


def lacking(done, *words):
    """Exit code 1 and one line, with all of `words`."""
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    for word in words:
        assert word in done.stderr


#: A Spack that has all that doctor asks for.
FACTS = {
    "clingo": True, "install_tree": "/tmp", "padded": False, "binary_mirrors": [],
    "repositories": ["builtin"],
}  # fmt: skip


def spack_that_tells(folder, **facts):
    """Folder of a `spack` with these facts."""
    told = json.dumps(FACTS | facts)
    text = f"case \"$1\" in --version) echo 1.1.0 ;; *) echo 'answer: {told}' ;; esac"
    return program(folder / "spack-bin/spack", text).parent


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
LOCK = Path(__file__).parent / "locks/release.lock"

#: The spec that LOCK concretized.
LOCKED = json.loads(LOCK.read_text())["roots"][0]["spec"]


def spack_that_concretizes(install, lock=LOCK):
    """A `spack` that takes a lock for what it concretized, and installs by a script."""
    return f"""
for word in "$@"; do
  case "$word" in
    --version) echo 1.1.0; exit ;;
    concretize) cp {lock} "$3/spack.lock"; exit ;;
    python) echo 'answer: {{"build_type": "Release"}}'; exit ;;
    install) {install}; exit ;;
  esac
done
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
    spack = spack_that_concretizes("echo '==> Error: FetchError: All fetchers failed'; exit 1")
    refused(install(tmp_path, spack, LOCKED), "install failed", "All fetchers failed")


def test_what_is_not_what_was_asked_for_is_not_installed(tmp_path):
    """A reused Debug build is what passed for a plain request once."""
    spack = spack_that_concretizes('mkdir "$3/view"')
    done = install(tmp_path, spack, f"{LOCKED} build_type=Debug %gcc@13")
    refused(done, "build_type=Debug, but build_type=Release", "%gcc@13, but %gcc@12.2.0")
    assert not list(tmp_path.rglob("view"))


def test_a_variant_that_is_neither_asked_for_nor_the_default_is_told(tmp_path):
    spack = spack_that_concretizes('mkdir "$3/view"', LOCK.with_name("debug.lock"))
    plain = install(tmp_path, spack, LOCKED)
    assert plain.returncode == 0, plain.stderr
    assert "warning: switchpoint-kernels is built with build_type=Debug (default Release)" in (
        plain.stdout
    )
    asked = install(tmp_path, spack, f"{LOCKED} build_type=Debug")
    assert "warning" not in asked.stdout


def test_each_request_has_an_environment_of_its_own(tmp_path):
    """A trial never replaces what queued jobs run through."""
    spack = spack_that_concretizes('mkdir -p "$3/view"')
    folders = [
        install(tmp_path, spack, spec).stdout.rpartition("installed in ")[2]
        for spec in (LOCKED, f"{LOCKED} target=x86_64", LOCKED)
    ]
    assert folders[0] == folders[2] != folders[1]


def site(folder, packages):
    folder.mkdir(exist_ok=True)
    (folder / "packages.yaml").write_text(yaml.safe_dump({"packages": packages}))
    return folder


def externals(where, folder, *words, path="/usr/bin:/bin"):
    """Let doctor complete a site, with a Spack that has all it needs."""
    path = f"{spack_that_tells(folder)}:{path}"
    return run(*DOCTOR, "--site", where, "--write", folder / "out", *words, path=path)


def test_a_site_without_packages(tmp_path):
    refused(externals(tmp_path, tmp_path), "packages.yaml: cannot be read", "switchpoint init site")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("packages: [", "packages.yaml: line 1: is no YAML"),
        ("packages:\n  a: {\n  b: ]\n", "packages.yaml: line 3: is no YAML"),
        ("", "has no mapping `packages:`"),
        ("- openmpi", "has no mapping `packages:`"),
        ("openmpi: {}", "has no mapping `packages:`"),
        ("packages: [openmpi]", "has no mapping `packages:`"),
        ("packages: {mpich: [a]}", "packages:mpich is a list, not a mapping"),
        ("packages: {mpich: none}", "packages:mpich is `none`, not a mapping"),
        ("packages: {mpich: {externals: {spec: a}}}", "packages:mpich:externals is"),
        ("packages: {mpich: {externals: [a]}}", "has an entry without a spec"),
        ("packages: {mpich: {externals: [{spec: mpich@4}]}}", "has neither prefix nor modules"),
    ],
)
def test_a_packages_file_that_is_none_is_one_line(tmp_path, text, problem):
    (tmp_path / "packages.yaml").write_text(text)
    done = externals(tmp_path, tmp_path)
    refused(done, problem)
    for word in ("NoneType", "dict", "str", "object", "Traceback"):
        assert f" {word}" not in done.stderr


def test_an_mpi_that_is_not_there(tmp_path):
    where = site(tmp_path / "site", {"mvapich": {"buildable": False}})
    done = externals(where, tmp_path, "--mpi", "mvapich@4")
    lacking(done, "packages.yaml: mvapich: not to be built", "add its external")


def test_an_mpicc_that_is_not_what_its_name_says(tmp_path):
    program(tmp_path / "bin/mpicc", 'exec mpicc.mpich "$@"')
    external = {"spec": "openmpi@4.1.4", "prefix": str(tmp_path)}
    where = site(tmp_path / "site", {"openmpi": {"buildable": False, "externals": [external]}})
    done = externals(where, tmp_path, "--mpi", "openmpi")
    lacking(done, "openmpi@4.1.4", "compiles for mpich@", "whose bin/mpicc is its own")


def test_a_prefix_without_mpicc(tmp_path):
    external = {"spec": "openmpi@4.1.4", "prefix": str(tmp_path)}
    where = site(tmp_path / "site", {"openmpi": {"externals": [external]}})
    lacking(externals(where, tmp_path, "--mpi", "openmpi"), "there is no", "correct its prefix")


def mpicc_of(folder, version):
    """Folder with an mpicc that compiles for that Open MPI."""
    header = folder / "mpi.h"
    parts = zip(("MAJOR", "MINOR", "RELEASE"), version.split("."), strict=True)
    header.write_text("".join(f"#define OMPI_{part}_VERSION {n}\n" for part, n in parts))
    return program(folder / "bin/mpicc", f'exec gcc -I{folder} "$@"').parent


@pytest.mark.parametrize(
    ("version", "problem"),
    [("4.1.4", ""), ("4.1", ""), ("3.4.3", "is of version 4.1.4; correct the spec")],
)
def test_the_version_of_an_external_is_that_of_its_mpicc(tmp_path, version, problem):
    mpicc_of(tmp_path, "4.1.4")
    external = {"spec": f"openmpi@{version}", "prefix": str(tmp_path)}
    where = site(tmp_path / "site", {"openmpi": {"buildable": False, "externals": [external]}})
    done = externals(where, tmp_path, "--mpi", "openmpi")
    if problem:
        lacking(done, problem)
    else:
        assert done.returncode == 0, done.stderr


def test_an_external_by_module_is_asked_for_its_version(tmp_path):
    folder = mpicc_of(tmp_path, "4.1.4")
    profile = f'module() {{ [ "$2" = ompi/4 ] && PATH={folder}:$PATH; }}; export -f module'
    (tmp_path / ".bash_profile").write_text(profile)
    for module, version, problem in (
        ("ompi/4", "4.1.4", ""),
        ("ompi/4", "5.0.3", "is of version 4.1.4"),
        ("ompi/5", "4.1.4", "no mpicc after `module load ompi/5`"),
    ):
        external = {"spec": f"openmpi@{version}", "modules": [module]}
        where = site(tmp_path / "site", {"openmpi": {"buildable": False, "externals": [external]}})
        done = subprocess.run(
            [sys.executable, *DOCTOR, "--site", where, "--mpi", "openmpi"],
            capture_output=True,
            text=True,
            env={
                **os.environ,
                "HOME": str(tmp_path),
                "PATH": f"{spack_that_tells(tmp_path)}:/usr/bin:/bin",
            },
            check=False,
        )
        if problem:
            lacking(done, problem)
        else:
            assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("wanted", "there"), [("@5.0.3", False), ("@4.1:", True), ("", True)])
def test_a_version_of_the_mpi_that_is_not_there_is_said(tmp_path, wanted, there):
    mpicc_of(tmp_path, "4.1.4")
    external = {"spec": "openmpi@4.1.4", "prefix": str(tmp_path)}
    where = site(tmp_path / "site", {"openmpi": {"buildable": False, "externals": [external]}})
    done = externals(where, tmp_path, "--mpi", f"openmpi{wanted}")
    if there:
        assert done.returncode == 0, done.stderr
    else:
        lacking(done, "openmpi@5.0.3 is asked for, and there is only openmpi@4.1.4")


def test_a_compiler_that_is_not_there_is_said(tmp_path):
    compilers = {"c": "/nonexistent/gcc"}
    external = {"spec": "gcc@12", "prefix": "/usr", "extra_attributes": {"compilers": compilers}}
    where = site(tmp_path / "site", {"gcc": {"buildable": False, "externals": [external]}})
    lacking(externals(where, tmp_path), "gcc: gcc@12: there is no compiler /nonexistent/gcc")


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"repositories": ["switchpoint"]}, "repository builtin: Spack has no recipes"),
        ({"install_tree": "/etc/passwd/a"}, "install tree: /etc/passwd/a cannot be written"),
    ],
)
def test_what_spack_lacks_fails_the_gate(tmp_path, facts, words):
    path = f"{spack_that_tells(tmp_path, **facts)}:/usr/bin:/bin"
    lacking(run(*DOCTOR, path=path), words)


def test_the_sites_own_configuration_counts(tmp_path):
    """Spack is asked with it, and what Spack says of a file that it cannot read is passed on."""
    where = site(tmp_path / "site", {"gcc": {}})
    told = json.dumps(FACTS | {"install_tree": "/etc/passwd/a"})
    answer = f"[ \"$1 $2\" = '-C {where}' ] && echo 'answer: {told}'"
    for script, words in (
        (answer, "install tree: /etc/passwd/a cannot be written"),
        (f"echo '==> Error: {where}/config.yaml:1: no mapping'; exit 1", "config.yaml:1: no "),
    ):
        spack = program(tmp_path / "bin/spack", f'[ "$1" = --version ] && echo 1.1.0\n{script}')
        lacking(run(*DOCTOR, "--site", where, path=f"{spack.parent}:/usr/bin:/bin"), words)


def test_problems_of_a_build_cache_are_told_where_there_is_one(tmp_path):
    told = spack_that_tells(tmp_path, binary_mirrors=["shared"])
    done = run(*DOCTOR, path=f"{told}:/usr/bin:/bin")
    assert done.returncode == 0, done.stderr
    assert "padded_length" in done.stdout


def test_the_rest_of_a_sites_configuration_is_taken_along(tmp_path):
    where = site(tmp_path / "site", {"mpich": {"buildable": False}})
    (where / "mirrors.yaml").write_text("mirrors: {shared: file:///shared}\n")
    assert externals(where, tmp_path).returncode == 0
    assert (tmp_path / "out/mirrors.yaml").read_text().splitlines()[1:] == (
        where / "mirrors.yaml"
    ).read_text().splitlines()

    (where / "mirrors.yaml").unlink()
    assert externals(where, tmp_path).returncode == 0
    assert not (tmp_path / "out/mirrors.yaml").exists()


@pytest.mark.parametrize("name", ["config.yaml", "mirrors.yaml", "packages.yaml"])
def test_a_configuration_of_somebody_else_is_neither_replaced_nor_removed(tmp_path, name):
    """`--write ~/.spack` removed the user's own files there."""
    where = site(tmp_path / "site", {"mpich": {"buildable": False}})
    (where / "mirrors.yaml").write_text("mirrors: {shared: file:///shared}\n")
    own = tmp_path / "out" / name
    own.parent.mkdir()
    own.write_text("mine\n")

    done = externals(where, tmp_path)

    refused(done, str(own), "stays as it is")
    assert own.read_text() == "mine\n"
    assert [*own.parent.iterdir()] == [own]


def test_a_pipe_in_the_place_of_a_configuration_is_not_waited_for(tmp_path):
    where = site(tmp_path / "site", {"mpich": {"buildable": False}})
    (tmp_path / "out").mkdir()
    os.mkfifo(tmp_path / "out/packages.yaml")

    refused(externals(where, tmp_path), "packages.yaml", "stays as it is")


def test_an_application_whose_library_is_not_there_is_left_out(tmp_path):
    bare = tmp_path / "bare"
    bare.mkdir()
    where = site(tmp_path / "site", {"fftw": {"buildable": False}, "openblas": {}})
    done = externals(where, tmp_path, path=str(bare))
    assert done.returncode == 0, done.stderr
    packages = yaml.safe_load((tmp_path / "out/packages.yaml").read_text())["packages"]
    assert packages["switchpoint-kernels"] == {"variants": "~fft"}


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("@@", "-S osu_spec='@@' names no package"),
        ("osu-micro-benchmarks@@", "cannot be read from '@@' on"),
        ("osu-micro-benchmarks+", "cannot be read from '+' on"),
        ("", "names no package"),
    ],
)
def test_a_spec_that_is_none_is_one_line_that_names_its_option(tmp_path, spec, words):
    refused(install(tmp_path, "echo 1.1.0", spec, "--option=osu_spec"), words)


LATE = """
case "$*" in
  --version) echo 1.1.0 ;;
  *) exec sleep 60 ;;
esac
"""


def test_concretizing_that_does_not_end_is_ended(tmp_path):
    done = install(tmp_path, LATE, "switchpoint-kernels", "--concretize-limit=1")
    refused(done, "spack concretize took more than 1 s and was ended", "doctor")


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "envs").write_text("a file")
    refused(install(tmp_path, "echo 1.1.0"), "envs", "cannot be made", "build_root")


def test_an_environment_without_a_view_is_one_line(tmp_path):
    done = install(tmp_path, spack_that_concretizes("true"), LOCKED)
    refused(done, "has no view after `spack install`; remove the folder")


def lock_with(folder, **changes):
    """A lock that differs from LOCK at its top."""
    path = folder / "other.lock"
    path.write_text(json.dumps(json.loads(LOCK.read_text()) | changes))
    return path


def from_lock(folder, lock):
    """Install from a lock, of Open MPI."""
    path = f"{program(folder / 'bin/spack', 'echo 1.1.0').parent}:/usr/bin:/bin"
    words = ("--site", folder, "--environments", folder / "envs", "--mpi", "openmpi@4.1")
    return run(INSTALL, *words, "--lock", lock, path=path)


def test_a_lock_that_cannot_be_used_is_one_line(tmp_path):
    newer = {"file-type": "spack-lockfile", "lockfile-version": 99, "specfile-version": 99}
    refused(from_lock(tmp_path, lock_with(tmp_path, _meta=newer)), "lockfile-version 99")
    refused(from_lock(tmp_path, lock_with(tmp_path, roots=[])), "has 0 root specs")
    refused(from_lock(tmp_path, lock_with(tmp_path, concrete_specs={})), "no lock of Spack's")
    refused(from_lock(tmp_path, tmp_path / "none"), "cannot be read", "name a spack.lock")


def test_a_lock_whose_externals_are_not_there_is_one_line(tmp_path):
    """Its Open MPI is in a folder of somebody else."""
    head = subprocess.run(
        ["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    text = LOCK.read_text().replace(LOCKED.partition("commit=")[2], head)
    (tmp_path / "other.lock").write_text(text)
    (tmp_path / "packages.yaml").write_text("packages: {}\n")
    done = from_lock(tmp_path, tmp_path / "other.lock")
    refused(done, "openmpi@4.1.4 should be in /home/user/.local", "does not exist", "spack_lock")


def test_no_compiler_or_flag_of_a_lock_runs_anything_else(tmp_path):
    """Nobody reads the lock of an earlier night before `gate --confirm` builds from it."""
    evil = program(tmp_path / "evil/cc", f"touch {tmp_path}/broken")
    head = subprocess.run(
        ["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    text = LOCK.read_text().replace(LOCKED.partition("commit=")[2], head)
    (tmp_path / "packages.yaml").write_text("packages: {}\n")
    (tmp_path / "other.lock").write_text(text.replace("/usr/bin/gcc", str(evil)))
    refused(from_lock(tmp_path, tmp_path / "other.lock"), f"{evil}, which is not run")
    lock = json.loads(text)
    node = next(one for one in lock["concrete_specs"].values() if one["name"] == "gmake")
    node["parameters"]["cflags"] = ["-fplugin=evil.so"]
    (tmp_path / "other.lock").write_text(json.dumps(lock))
    refused(from_lock(tmp_path, tmp_path / "other.lock"), "-fplugin=evil.so", "concretize here")
    assert not (tmp_path / "broken").exists()


def test_a_compiler_that_the_site_names_may_be_in_a_lock(tmp_path):
    own = program(tmp_path / "own/cc", "echo 12.2.0")
    head = subprocess.run(
        ["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    text = LOCK.read_text().replace(LOCKED.partition("commit=")[2], head)
    (tmp_path / "packages.yaml").write_text(
        "packages: {gcc: {externals: [{spec: gcc@12.2.0, prefix: /usr,"
        f" extra_attributes: {{compilers: {{c: {own}}}}}}}]}}}}\n"
    )
    (tmp_path / "other.lock").write_text(text.replace("/usr/bin/gcc", str(own)))
    done = from_lock(tmp_path, tmp_path / "other.lock")
    refused(done, "openmpi@4.1.4 should be in /home/user/.local")
    assert "more" not in done.stderr


def test_a_lock_of_a_commit_that_is_not_there_is_one_line(tmp_path):
    text = LOCK.read_text().replace(LOCKED.partition("commit=")[2], "0" * 40)
    (tmp_path / "other.lock").write_text(text)
    refused(from_lock(tmp_path, tmp_path / "other.lock"), "commit 000000000000", "fetch it")


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
    assert f"{tmp_path}/bin/mpicc is one of Debian's alternatives: skipped" in done.stdout
    lacking(done, "mpich: not to be built, names no external, and was not found")


def test_without_a_site_all_that_is_found_is_written(tmp_path):
    done = run(*DOCTOR, "--write", tmp_path)
    lacking(done, "Spack: there is no `spack` in PATH")
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
    assert done.stdout, done.stderr
    assert not list(tmp_path.iterdir())


def test_slurm_and_pmix_are_taken_where_an_mpi_can_be_built_for_them(tmp_path):
    program(tmp_path / "bin/srun", "echo 'srun: fatal: no configuration' >&2; exit 1")
    pmix = tmp_path / "pmix2"
    answers = f"--modversion*) echo 4.2.2rc2 ;; --variable*) echo {pmix} ;;"
    program(tmp_path / "bin/pkg-config", f'case "$*" in *pmix) case "$1" in {answers} esac esac')
    path = f"{spack_that_tells(tmp_path)}:{tmp_path / 'bin'}:/usr/bin:/bin"

    def found():
        done = run(*DOCTOR, "--write", tmp_path / "out", path=path)
        assert done.returncode == 0, done.stderr
        packages = yaml.safe_load((tmp_path / "out/packages.yaml").read_text())["packages"]
        return [packages[name]["externals"] for name in ("slurm", "pmix") if name in packages]

    assert found() == []
    for header in (tmp_path / "include/slurm/slurm_version.h", pmix / "include/pmix.h"):
        header.parent.mkdir(parents=True)
        header.write_text("#define SLURM_VERSION_NUMBER 0x160508\n")
    assert found() == [
        [{"spec": "slurm@22.05.8", "prefix": str(tmp_path)}],
        [{"spec": "pmix@4.2.2rc2", "prefix": str(pmix)}],
    ]


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
    path = f"{spack_that_tells(tmp_path)}:{mpicc.parent}:/usr/bin:/bin"
    done = run(*DOCTOR, "--write", tmp_path / "out", path=path)
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


def test_the_job_that_fills_a_build_cache_runs_as_the_docs_have_it(tmp_path):
    """It completes the site, makes the environment, and pushes just that with an index."""
    docs = (ROOT / "docs/how-to/spack.md").read_text()
    (job,) = re.findall(r"^```bash\n(.*?)^```", docs, re.MULTILINE | re.DOTALL)
    (tmp_path / "checks").symlink_to(ROOT / "checks")
    site(tmp_path / "mysite", {"openmpi": {"buildable": False}})
    head = subprocess.run(
        ["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    lock = tmp_path / "made.lock"
    lock.write_text(LOCK.read_text().replace(LOCKED.partition("commit=")[2], head))
    facts = f"case \"$*\" in *facts) echo 'answer: {json.dumps(FACTS)}'; exit ;; esac\n"
    made = spack_that_concretizes('mkdir "$3/view"', lock)
    program(tmp_path / "bin/spack", f'echo "$*" >>{tmp_path}/said\n{facts}{made}')

    own = Path(sys.executable).parent
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", job],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{tmp_path / 'bin'}:{own}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    (environment,) = (tmp_path / "build/spack/mysite/openmpi").iterdir()
    pushed = (tmp_path / "said").read_text().splitlines()[-1]
    wanted = "buildcache push --unsigned --update-index /shared/buildcache"
    assert pushed == f"-e {environment} {wanted}"
