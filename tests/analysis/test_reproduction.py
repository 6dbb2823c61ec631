"""A run can be run again from what `switchpoint reproduce` writes, and errors leave nothing."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import write_record
from switchpoint import Store, read
from switchpoint.records.mpi_environment import mpi_settings
from switchpoint.reproduction.script import MARK
from switchpoint.untrusted.kernel_options import KERNEL_OPTIONS, own_kernels
from switchpoint.untrusted.settings import known_settings
from typer.testing import Result

Run = Callable[..., Result]

KERNEL = Path(__file__).parents[2] / "build" / "ctest" / "openmpi" / "bin" / "pingpong"
ROOT = Path(__file__).parents[2]
LOCK = (ROOT / "tests/spack/locks/release.lock").read_text()
BUILT_BY_SPACK = {
    "name": "pingpong", "version": "0.1.0", "builder": "spack", "compiler": "GNU 12.2.0",
    "flags": "-O3", "spec_hash": json.loads(LOCK)["roots"][0]["hash"],
    "git_commit": "301dee895a3bd0a7cba54aa7ed51daa3053853c3",
}  # fmt: skip

#: What a label or setting may hold: it must stay one word of the shell.
ONE_LINE = "a b'; touch broken; $(touch broken) `touch broken`"
HOSTILE = f"{ONE_LINE}\ntouch broken"


def measured(tmp_path: Path, **changes: Any) -> Path:
    """Write a record of a small run whose kernel, settings and arguments are known."""
    facts: dict[str, Any] = {
        "arguments": [
            "/elsewhere/pingpong", "--mode=send", "--sizes=8,64", "--passes=1", "--samples=2",
            "--record=old.record", "--seed=7", "--label=site=there", "--label=placement=one_node",
        ],
        "plan": {"seed": 7},
        "mpi": {
            "library": "Open MPI v4.1.4, package: Debian", "cvars": {},
            "environment": {"OMPI_MCA_btl": "self,vader", "OMPI_MCA_orte_x": "1"},
        },
    }  # fmt: skip
    return write_record(tmp_path / "run.record", sizes=[8, 64], **(facts | changes))


def test_what_is_needed_is_printed_with_what_differs(switchpoint: Run, tmp_path: Path) -> None:
    result = switchpoint("reproduce", measured(tmp_path), "--json")

    assert result.exit_code == 0
    content = json.loads(result.stdout)
    assert content["environment"] == {"OMPI_MCA_btl": "self,vader"}
    assert content["arguments"] == [
        "--mode=send", "--sizes=8,64", "--passes=1", "--samples=2", "--label=placement=one_node",
        "--seed=7", "--record=pingpong.record",
    ]  # fmt: skip
    assert content["facts"]["ranks"] == "a1: ranks 0, 1"
    found = {entry["topic"]: entry for entry in content["differences"]}
    assert found["kernel release"] == {
        "topic": "kernel release", "there": "6.1", "here": platform.release()
    }  # fmt: skip
    assert "hosts" not in found


def test_settings_that_would_leak_into_the_new_run_are_named(
    switchpoint: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UCX_TLS", "tcp")

    found = json.loads(switchpoint("reproduce", measured(tmp_path), "--json").stdout)

    assert {"topic": "setting UCX_TLS", "there": "not set", "here": "tcp"} in found["differences"]


def test_a_run_of_the_store_is_found_by_its_first_digits(switchpoint: Run, tmp_path: Path) -> None:
    store = tmp_path / "results"
    (tmp_path / "spack.lock").write_text(LOCK)
    Store(store).add(read(measured(tmp_path, kernel=BUILT_BY_SPACK)))

    result = switchpoint("reproduce", "01234", "--store", store, "--write", tmp_path / "again")

    assert result.exit_code == 0
    assert (tmp_path / "again" / "spack.lock").read_text() == LOCK
    written = {path.name for path in (tmp_path / "again").iterdir()}
    assert written - {"switchpoint"} == {
        "README.md", "header.json", "run.sh", "site", "spack.lock", "spack.yaml"
    }  # fmt: skip
    assert "spack -e . install" in (tmp_path / "again" / "README.md").read_text()


def test_a_lock_becomes_an_environment_with_its_repository_and_externals(
    switchpoint: Run, tmp_path: Path
) -> None:
    (tmp_path / "spack.lock").write_text(LOCK)
    folder = laid_out(switchpoint, tmp_path, kernel=BUILT_BY_SPACK)

    manifest = yaml.safe_load((folder / "spack.yaml").read_text())["spack"]
    packages = yaml.safe_load((folder / "site/packages.yaml").read_text())["packages"]
    assert manifest["specs"] == [json.loads(LOCK)["roots"][0]["spec"]]
    assert manifest["repos"] == {"switchpoint": "switchpoint/spack_repo/switchpoint"}
    assert manifest["include"][0]["path"] == "site"
    assert set(packages) == {"cmake", "gcc", "gmake", "openmpi"}
    assert packages["gcc"]["externals"][0]["extra_attributes"]["compilers"]["c"] == "/usr/bin/gcc"


def test_the_sources_are_those_of_the_commit_that_was_built(
    switchpoint: Run, tmp_path: Path
) -> None:
    """They come with the recipe, as a repository of their own that Spack can clone."""
    git = ("git", "-C", str(ROOT), "rev-parse", "HEAD")
    head = subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    folder = laid_out(switchpoint, tmp_path, kernel=BUILT_BY_SPACK | {"git_commit": head})

    subprocess.run(["git", "clone", "-q", folder / "switchpoint", tmp_path / "clone"], check=True)
    again = subprocess.run(
        ["git", "-C", tmp_path / "clone", "rev-parse", "main"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert again.stdout.strip() == head
    assert (tmp_path / "clone/src/CMakeLists.txt").exists()
    recipe = "spack_repo/switchpoint/packages/switchpoint_kernels/package.py"
    assert (folder / "switchpoint" / recipe).exists()


def test_what_a_lock_names_and_is_not_here_is_told(switchpoint: Run, tmp_path: Path) -> None:
    (tmp_path / "spack.lock").write_text(LOCK.replace("debian12", "plan9"))

    result = switchpoint("reproduce", measured(tmp_path, kernel=BUILT_BY_SPACK), "--json")

    found = {entry["topic"]: entry["here"] for entry in json.loads(result.stdout)["differences"]}
    assert "which does not exist" in found["external openmpi"]
    assert "operating system" in found


def test_no_program_runs_because_a_lock_names_it(switchpoint: Run, tmp_path: Path) -> None:
    """`reproduce` asks a lock's compiler for its version: not one that came with the lock."""
    evil = tmp_path / "prefix/bin/gcc"
    evil.parent.mkdir(parents=True)
    for program in (evil, evil.with_name("mpicc")):
        program.write_text(f"#!/bin/sh\ntouch {tmp_path}/broken\n")
        program.chmod(0o755)
    lock = json.loads(LOCK)
    for node in lock["concrete_specs"].values():
        if node["name"] == "gcc":
            node["external"]["extra_attributes"]["compilers"]["c"] = str(evil)
        if node["name"] == "openmpi":
            node["external"]["path"] = str(evil.parents[1])
    (tmp_path / "spack.lock").write_text(json.dumps(lock))

    record, again = measured(tmp_path, kernel=BUILT_BY_SPACK), tmp_path / "again"
    result = switchpoint("reproduce", record, "--json", "--write", again)

    assert not (tmp_path / "broken").exists()
    assert f"gcc uses {evil}, not in /usr" in json.loads(result.stdout)["facts"]["not used"]
    assert not (again / "spack.lock").exists()


@pytest.mark.parametrize("what", ["compiler", "prefix"])
def test_a_place_that_others_can_make_later_is_not_in_a_lock(
    switchpoint: Run, tmp_path: Path, what: str
) -> None:
    """It is not there yet; Spack would run what lies there when it builds."""
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    lock = json.loads(LOCK)
    for node in lock["concrete_specs"].values():
        if node["name"] == "gcc" and what == "compiler":
            compilers = node["external"]["extra_attributes"]["compilers"]
            compilers["c"] = str(shared / "later/bin/gcc")
        if node["name"] == "openmpi" and what == "prefix":
            node["external"]["path"] = str(shared / "later")
    (tmp_path / "spack.lock").write_text(json.dumps(lock))

    record, again = measured(tmp_path, kernel=BUILT_BY_SPACK), tmp_path / "again"
    result = switchpoint("reproduce", record, "--json", "--write", again)

    assert f"uses {shared}/later" in json.loads(result.stdout)["facts"]["not used"]
    assert not (again / "spack.lock").exists()


@pytest.mark.parametrize(
    ("where", "part"),
    [
        ({"parameters": {"cflags": ["-O2", "-fplugin=/evil.so"]}}, "-fplugin"),
        ({"parameters": {"ldflags": ["-B/evil"]}}, "-B/evil"),
        ({"parameters": {"dev_path": "/evil"}}, "built from the folder"),
        ({"external": {"path": "/usr", "extra_attributes": {"environment": {}}}}, "environment"),
        ({"version": "4.4 dev_path=x"}, "is no package and version"),
        ({"external": {"path": None, "module": ["/evil"]}}, "module from a file"),
        ({"version": "git.--upload-pack=4.4"}, "is no package and version"),
        ({"parameters": {"commit": "--upload-pack=evil"}}, "may be an option or a file"),
        ({"parameters": {"patches": ["../../evil.patch"]}}, "may be an option or a file"),
        ({"parameters": {"schedulers": ["slurm", "/evil"]}}, "may be an option or a file"),
        ({"parameters": {"cflags": ["-fdump-tree-all"]}}, "-fdump-tree-all"),
        ({"parameters": {"cflags": ["-mllvm", "-loader"]}}, "-mllvm"),
        (
            {"external": {"path": "/usr", "extra_attributes": {"compilers": {"c": "/usr/bin/rm"}}}},
            "is not called as one",
        ),
        (
            {"external": {"path": None, "extra_attributes": {"compilers": {"c": "evil/gcc"}}}},
            "gmake uses evil/gcc",
        ),
    ],
)
def test_a_lock_that_may_run_anything_is_not_used(
    switchpoint: Run, tmp_path: Path, where: dict[str, Any], part: str
) -> None:
    lock = json.loads(LOCK)
    node = next(one for one in lock["concrete_specs"].values() if one["name"] == "gmake")
    for name, value in where.items():
        node[name] = node[name] | value if isinstance(value, dict) and node[name] else value
    (tmp_path / "spack.lock").write_text(json.dumps(lock))

    folder = laid_out(switchpoint, tmp_path, kernel=BUILT_BY_SPACK)

    assert not (folder / "spack.lock").exists()
    assert "Spack's lock (" in (folder / "README.md").read_text()
    assert part in (folder / "README.md").read_text().replace("\\", "")


def test_a_lock_whose_prefix_is_not_here_still_has_its_compilers_checked(
    switchpoint: Run, tmp_path: Path
) -> None:
    compiler = tmp_path / "bin/gcc"
    compiler.parent.mkdir()
    compiler.touch(mode=0o755)
    lock = json.loads(LOCK)
    gcc = next(one for one in lock["concrete_specs"].values() if one["name"] == "gcc")
    gcc["external"]["path"] = "/not/here"
    gcc["external"]["extra_attributes"]["compilers"]["c"] = str(compiler)
    (tmp_path / "spack.lock").write_text(json.dumps(lock))

    folder = laid_out(switchpoint, tmp_path, kernel=BUILT_BY_SPACK)

    assert not (folder / "spack.lock").exists()


def test_a_lock_with_another_environment_in_it_is_not_used(
    switchpoint: Run, tmp_path: Path
) -> None:
    """Spack also installs what `include_concrete` contains."""
    lock = json.loads(LOCK)
    included = {"roots": lock["roots"], "concrete_specs": lock["concrete_specs"]}
    (tmp_path / "spack.lock").write_text(
        json.dumps(lock | {"include_concrete": {"/evil": included}})
    )

    folder = laid_out(switchpoint, tmp_path, kernel=BUILT_BY_SPACK)

    assert not (folder / "spack.lock").exists()


LABELS = {
    "site": "there", "environ": "mpich", "builder": "spack", "spack_spec": "kernels ^mpich",
    "spack_hash": "abc", "placement": "one_node", "grain_us": "5",
    "launch": "srun --mpi=pmix '--cpu-bind=verbose,cores'",
    "scheduler_options": "--partition=cpu --constraint='[a*1&b*1]'",
}  # fmt: skip


def test_no_label_says_what_the_new_program_has_to_prove(switchpoint: Run, tmp_path: Path) -> None:
    words = [f"--label={name}={value}" for name, value in LABELS.items()]
    folder = laid_out(switchpoint, tmp_path, arguments=["pingpong", *words], labels=LABELS)

    script = (folder / "run.sh").read_text()
    assert "--label=placement=one_node" in script
    assert "--label=grain_us=5" in script
    for name in ("environ", "builder", "spack_spec", "spack_hash", "site=there"):
        assert f"--label={name}" not in script


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        (
            {},
            ["--nodes=1", "--ntasks=2", "--ntasks-per-node=2", "--partition=cpu",
             "--constraint=[a*1&b*1]", "--mpi=pmix", "--cpu-bind=verbose,cores"],
        ),
        (
            {"SLURM_JOB_ID": "7"},
            ["--nodes=1", "--ntasks=2", "--ntasks-per-node=2", "--mpi=pmix",
             "--cpu-bind=verbose,cores"],
        ),
    ],
)  # fmt: skip
def test_the_script_starts_the_ranks_as_the_run_did(
    switchpoint: Run, tmp_path: Path, environment: dict[str, str], words: list[str]
) -> None:
    folder = laid_out(switchpoint, tmp_path, labels=LABELS)
    for name in ("srun", "pingpong"):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f'#!/bin/sh\n# {MARK}\nprintf "%s\\n" "$@"\n')
        program.chmod(0o755)
    clean = {name: value for name, value in os.environ.items() if name != "SLURM_JOB_ID"}
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"

    done = subprocess.run(
        [folder / "run.sh"],
        env=clean | {"PATH": path} | environment,
        capture_output=True,
        text=True,
        check=True,
    )

    told = done.stdout.splitlines()
    assert told[: len(words)] == words
    assert told[len(words)] == "pingpong"
    assert [f"--label={name}={LABELS[name]}" for name in ("launch", "scheduler_options")] == told[
        -2:
    ]


def test_a_prefix_that_names_no_run_or_several_is_one_line(
    switchpoint: Run, tmp_path: Path
) -> None:
    store = tmp_path / "results"
    for number in (1, 2):
        Store(store).add(read(measured(tmp_path, run_id=f"{number:032x}")))

    for run, problem in (
        ("ff", "no run ID in the store"),
        ("00", "the start of 2 run IDs"),
        ("", "no run"),
    ):
        result = switchpoint("reproduce", run, "--store", store, "--write", tmp_path / "again")
        assert result.exit_code == 2
        assert problem in result.stderr
        assert result.stderr.count("\n") == 1
        assert not (tmp_path / "again").exists()


def test_what_another_tool_measured_cannot_be_run_again(switchpoint: Run, tmp_path: Path) -> None:
    table = tmp_path / "curves.csv"
    table.write_text("size_bytes,time_us\n8,1\n")

    result = switchpoint("reproduce", table)

    assert result.exit_code == 2
    assert "was measured by another tool" in result.stderr


def test_a_folder_that_is_not_empty_is_left_alone(switchpoint: Run, tmp_path: Path) -> None:
    folder = tmp_path / "again"
    folder.mkdir()
    (folder / "mine").write_text("precious")
    record = measured(tmp_path)

    result = switchpoint("reproduce", record, "--write", folder)

    assert result.exit_code == 2
    assert "exists and is not empty" in result.stderr
    assert [path.name for path in folder.iterdir()] == ["mine"]
    assert {path.name for path in tmp_path.iterdir()} == {"again", "run.record"}


def laid_out(switchpoint: Run, tmp_path: Path, **changes: Any) -> Path:
    folder = tmp_path / "again"
    result = switchpoint("reproduce", measured(tmp_path, **changes), "--write", folder)
    assert result.exit_code == 0, result.stderr
    return folder


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="no shellcheck")
def test_the_script_is_shellcheck_clean(switchpoint: Run, tmp_path: Path) -> None:
    folder = laid_out(switchpoint, tmp_path, labels={"site": HOSTILE})

    subprocess.run(["shellcheck", folder / "run.sh"], check=True)


def test_no_word_of_a_record_is_run_by_the_shell(switchpoint: Run, tmp_path: Path) -> None:
    folder = laid_out(
        switchpoint,
        tmp_path,
        kernel={"name": HOSTILE, "version": "1", "git_commit": HOSTILE},
        arguments=["pingpong", f"--label=x={ONE_LINE}", f"--label=y={HOSTILE}"],
        mpi={"library": HOSTILE, "cvars": {}, "environment": {"UCX_TLS": HOSTILE, HOSTILE: "1"}},
    )
    printed = tmp_path / "print"
    printed.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    printed.chmod(0o755)

    done = subprocess.run(
        ["./run.sh"],
        cwd=folder,
        env=os.environ | {"KERNEL": str(printed), "LAUNCHER": "env", "SITE": "here"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert f"--label=x={ONE_LINE}\n" in done.stdout
    assert "--label=y" not in done.stdout
    assert "option --label" in (folder / "README.md").read_text()
    assert not (folder / "broken").exists()


#: What may not be set because a record says so, and what starts or loads something else.
NOT_EXPORTED = {
    "LAUNCHER": "touch broken", "KERNEL": "touch", "PATH": "/evil", "LD_PRELOAD": "/evil.so",
    "SITE": "elsewhere", "OMPI_MCA_plm_rsh_agent": "touch", "UCX_MODULE_DIR": "/evil",
    "OMPI_MCA_mca_base_env_list": "LD_PRELOAD=/evil.so", "I_MPI_ROOT": "/evil",
    "FI_PROVIDER_PATH": "/evil", "I_MPI_HYDRA_BOOTSTRAP_EXEC": "touch",
    "MV2_COMM_WORLD_RANK": "0", "MV2_SHMEM_DIR": "/evil",
    "I_MPI_GTOOL": "evil:0", "I_MPI_GTOOLFILE": "evil", "I_MPI_HYDRA_REMOTE_SHELL": "evil",
    "I_MPI_TUNING_BIN_DUMP": "evil", "I_MPI_TUNING_COMPOSITION_DUMP": "1", "I_MPI_STATS": "all",
    "I_MPI_HYDRA_GDB_REMOTE_SHELL": "evil", "I_MPI_HYDRA_HOST_FILE": "evil", "I_MPI_DEBUG": "5",
    "I_MPI_OFI_LIBRARY": "evil", "I_MPI_PMI_LIBRARY": "/evil.so", "I_MPI_TMPDIR": "evil",
    "UCX_LOG_FILE": "evil", "UCX_GDB_COMMAND": "evil", "UCX_ERROR_MAIL_TO": "evil",
    "UCX_STATS_DEST": "file:evil", "UCX_MODULES": "evil", "UCX_PROFILE_FILE": "evil",
    "OMPI_MCA_pml_monitoring_filename": "evil", "OMPI_MCA_rmaps_rank_file_path": "evil",
    "OMPI_MCA_orte_launch_agent": "evil", "OMPI_MCA_orte_debugger_base": "evil",
    "OMPI_MCA_mca_component_path": "evil", "OMPI_MCA_hwloc_base_topo_file": "evil",
    "OMPI_MCA_coll_tuned_dynamic_rules_filename": "evil", "PRTE_MCA_plm_ssh_agent": "evil",
    "PRTE_MCA_prte_launch_agent": "evil", "PMIX_MCA_pfexec": "evil", "MPIR_CVAR_MEMDUMP": "1",
    "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": "evil", "MPIR_CVAR_QMPI_TOOL_LIST": "evil",
    "MPIR_CVAR_COORDINATES_DUMP": "1", "FI_HOOK": "evil", "FI_LOG_LEVEL": "evil",
    "HCOLL_DEBUG": "1", "PSM2_VERBOSE_ENV": "1", "UCX_NOT_KNOWN": "1", "OMPI_MCA_evil": "1",
}  # fmt: skip

#: What people tune, with values that they give.
TUNED = {
    "UCX_TLS": "^tcp", "UCX_RNDV_THRESH": "intra:8k,inter:16k", "UCX_NET_DEVICES": "mlx5_0:1",
    "UCX_MAX_RNDV_RAILS": "2", "UCX_ZCOPY_THRESH": "inf", "PSM2_CUDA": "0",
    "PSM2_DEVICES": "self,shm", "FI_PROVIDER": "tcp;ofi_rxm", "FI_OFI_RXM_SAR_LIMIT": "131072",
    "FI_TCP_IFACE": "eth0", "I_MPI_FABRICS": "shm:ofi", "I_MPI_PIN": "0",
    "I_MPI_PIN_DOMAIN": "core", "I_MPI_ADJUST_BCAST": "1:0-1024@4", "I_MPI_EAGER_THRESHOLD": "9000",
    "OMPI_MCA_pml": "^ucx", "OMPI_MCA_btl": "self,tcp", "OMPI_MCA_btl_tcp_eager_limit": "65536",
    "OMPI_MCA_btl_tcp_if_include": "192.168.0.0/16,eth0", "OMPI_MCA_mpi_yield_when_idle": "true",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_btl_sm_eager_limit": "4k",
    "OMPI_MCA_coll_tuned_use_dynamic_rules": "1", "OMPI_MCA_coll_tuned_bcast_algorithm": "6",
    "OMPI_MCA_rmaps_base_mapping_policy": "ppr:1:node:pe=2",
    "PRTE_MCA_hwloc_default_binding_policy": "core:overload-allowed",
    "MPIR_CVAR_CH4_NETMOD": "ucx", "MPIR_CVAR_BCAST_INTRA_ALGORITHM": "binomial",
    "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE": "9856", "MPICH_OFI_NIC_POLICY": "NUMA",
    "MV2_IBA_EAGER_THRESHOLD": "16K",
    "GLIBC_TUNABLES": "glibc.cpu.x86_rep_movsb_threshold=0xbb8:glibc.malloc.mmap_max=0",
}  # fmt: skip

#: Values that no setting needs: those of UCX_TLS here.
NO_VALUES = ["/evil.so", "$(touch broken)", "`touch broken`", "a b", "a|b", "-a", "a\x1bb", "~", ""]


def exported(folder: Path) -> set[str]:
    return {
        line.removeprefix("export ").partition("=")[0]
        for line in (folder / "run.sh").read_text().splitlines()
        if line.startswith("export ")
    }


def test_only_known_settings_of_an_mpi_are_exported(switchpoint: Run, tmp_path: Path) -> None:
    mpi = {"library": "MPICH 4.0.2", "cvars": {}, "environment": NOT_EXPORTED | TUNED}

    folder = laid_out(switchpoint, tmp_path, mpi=mpi)

    assert exported(folder) == set(TUNED)
    assert "UCX\\_MODULE\\_DIR" in (folder / "README.md").read_text()
    assert "I\\_MPI\\_GTOOL, " in (folder / "README.md").read_text()


def test_a_record_that_lists_a_setting_as_its_librarys_proves_nothing(
    switchpoint: Run, tmp_path: Path
) -> None:
    cvars = {"plm_rsh_agent": "evil", "evil": 1}
    environment = {f"OMPI_MCA_{name}": str(value) for name, value in cvars.items()}
    mpi = {"library": "Open MPI v4.1.4", "cvars": cvars, "environment": environment}

    assert exported(laid_out(switchpoint, tmp_path, mpi=mpi)) == set()


@pytest.mark.parametrize("value", NO_VALUES)
def test_a_value_that_may_be_a_file_or_a_command_is_not_exported(
    switchpoint: Run, tmp_path: Path, value: str
) -> None:
    mpi = {"library": "MPICH 4.0.2", "cvars": {}, "environment": {"UCX_TLS": value}}

    folder = laid_out(switchpoint, tmp_path, mpi=mpi)

    assert exported(folder) == set()
    assert "UCX\\_TLS" in (folder / "README.md").read_text()


def test_no_known_setting_is_named_after_what_runs_or_writes_something() -> None:
    parts = re.compile(
        "FILE|PATH|GDB|DEBUG|DUMP|GTOOL|SHELL|AGENT|EXEC|LIBRARY|TOOL|LOG|HOOK|PLM|RSH|SSH|SCRIPT"
        "|TMP|_ENV|PRINT|DIR$|_ROOT|PROFILE|MODULES$|WRAPPER|PRELOAD|MAIL",
        re.IGNORECASE,
    )

    assert len(known_settings()) > 1000
    assert [name for name in known_settings() if parts.search(name)] == []


def test_what_kernels_record_is_known_as_a_setting() -> None:
    text = (ROOT / "src/machine/environment.c").read_text()
    (prefixes,) = re.findall(r"SETTINGS\[\] = \{(.*?)\};", text, re.DOTALL)

    recorded = re.findall(r'"(\w+)"', prefixes)

    assert len(recorded) > 10
    unknown = {name for name in recorded if not mpi_settings({f"{name}X": "1"})}
    assert unknown == {"OMPI_", "PMIX_MCA_"}  # what a launcher sets; OMPI_MCA_ is a setting
    assert mpi_settings({"OMPI_MCA_X": "1"})


@pytest.mark.parametrize(
    "launch",
    [
        "rm -rf .", "sh -c 'touch broken'", "/evil/srun -n 2", "srun --task-prolog=evil",
        "srun --bcast=/evil", "mpirun -x LD_PRELOAD=evil.so", "mpiexec -genv PATH evil",
        "mpirun --mca plm_rsh_agent evil", "srun --export=ALL,LD_PRELOAD=evil.so", "srun 'a\x1bb'",
        "mpirun sh -c 'touch broken; exit'", "mpirun --oversubscribe -n 1 touch broken : -n 2",
        "mpiexec.hydra -gtool evil:0", "mpirun -n 2 evil", "mpirun -n evil", "mpirun evil -n 2",
        "srun --multi-prog evil", "mpirun --hostfile evil", "mpirun --mca btl /evil", "srun evil",
        "mpirun -n 1 :", "mpirun --map-by rankfile:file=evil", "mpirun -wdir evil", "srun -D evil",
        "mpirun --oversubscribe=evil", "mpirun --oversubscribe evil", "srun --exclusive evil",
        "mpiexec -genv UCX_TLS", "mpirun --tune evil", "srun --cpu-bind=map:evil/a", "srun -e evil",
        "mpirun -x UCX_TLS='`evil`'", "mpirun --app evil", "srun -n2 -lo evil",
        "mpirun --debugger evil", "mpirun -launcher-exec evil", "mpirun --host evil",
        "mpirun -n '2\n'", "mpirun -cpu-set evil", "lrun -l evil", "ibrun -d evil",
        "aprun -cc evil", "jsrun -b evil", "srun --wait evil", "srun --nodelist=/evil",
    ],
)  # fmt: skip
def test_a_launcher_that_starts_something_else_is_not_used(
    switchpoint: Run, tmp_path: Path, launch: str
) -> None:
    folder = laid_out(switchpoint, tmp_path, labels={"site": "there", "launch": launch})

    script = (folder / "run.sh").read_text()
    assert "evil" not in script
    assert "touch" not in script
    assert "rm -rf" not in script
    assert 'exec mpiexec -n 2 "$@"' in script
    assert "label launch" in (folder / "README.md").read_text()


@pytest.mark.parametrize(
    "options",
    [
        "sh -c 'touch broken'",
        "evil",
        "--output=evil",
        "-p cpu evil",
        "--wrap=evil",
        "--prolog evil",
    ],
)
def test_scheduler_options_that_start_something_else_are_not_used(
    switchpoint: Run, tmp_path: Path, options: str
) -> None:
    labels = {"site": "there", "launch": "srun", "scheduler_options": options}

    folder = laid_out(switchpoint, tmp_path, labels=labels)

    script = (folder / "run.sh").read_text()
    assert "evil" not in script
    assert "touch" not in script
    assert "label scheduler\\_options" in (folder / "README.md").read_text()


@pytest.mark.parametrize(
    "modules", ["/evil", "gcc/../../evil", "./evil", "gcc evil;touch", "../evil"]
)
def test_a_module_that_may_be_a_file_is_not_loaded(
    switchpoint: Run, tmp_path: Path, modules: str
) -> None:
    folder = laid_out(switchpoint, tmp_path, labels={"site": "there", "modules": modules})

    assert "module load" not in (folder / "run.sh").read_text()
    assert "label modules" in (folder / "README.md").read_text()


def test_no_argument_of_a_record_names_a_file_or_takes_the_next_one(
    switchpoint: Run, tmp_path: Path
) -> None:
    """A last `--label` took our `--record` for its value, so that the one of the record counted."""
    victim = tmp_path / "victim.txt"
    arguments = ["pingpong", "--passes=1", "--sizes", "8", "--record", str(victim), "--evil", "1",
                 "--mode", "send,ssend", "sh", "--samples=$(touch broken)", "--quiet",
                 "--mpi-counters=a/b", "--help", "--label", "x=1", "--label"]  # fmt: skip
    record = measured(tmp_path, arguments=arguments, plan={"seed": None})

    content = json.loads(switchpoint("reproduce", record, "--json").stdout)

    assert content["arguments"] == [
        "--passes=1", "--sizes=8", "--mode=send,ssend", "--quiet", "--label=x=1",
        "--record=pingpong.record",
    ]  # fmt: skip
    left_out = content["facts"]["not used"]
    for name in ("--evil", "'sh'", "--samples", "--mpi-counters", "--help", "--label"):
        assert name in left_out


def test_the_list_of_options_is_that_of_the_kernels() -> None:
    sources = [ROOT / "src/engine/options.c", *ROOT.glob("src/kernels/*.c"),
               *ROOT.glob("src/studies/*.c"), ROOT / "src/patterns/reduction.h",
               ROOT / "src/zoom/zoom.c"]  # fmt: skip
    literals = (re.findall(r'"(--[a-z-]+)"', source.read_text()) for source in sources)

    assert {name for names in literals for name in names} - {"--"} == KERNEL_OPTIONS


def test_the_kernels_contain_what_distinguishes_them_from_other_programs() -> None:
    assert MARK in (ROOT / "src/engine/outcome.c").read_text()


def test_the_kernels_that_come_with_switchpoint_are_known() -> None:
    files = {path.stem for path in ROOT.glob("src/kernels/*.c")}

    assert own_kernels() >= files | {"echo", "fft", "mergesort", "voting", "zoom"}
    assert not own_kernels() & {"name", "engine", "patterns", "test_sizes"}


@pytest.mark.parametrize(("kernel", "in_path"), [("pingpong", True), ("reboot", False)])
def test_only_our_own_kernels_are_searched_in_path(
    switchpoint: Run, tmp_path: Path, kernel: str, in_path: bool
) -> None:
    folder = laid_out(switchpoint, tmp_path, kernel={"name": kernel, "version": "1"})

    assert ('"$(command -v "$name")"' in (folder / "run.sh").read_text()) == in_path


def test_another_program_with_the_name_of_a_kernel_is_not_run(
    switchpoint: Run, tmp_path: Path
) -> None:
    """The shell has an `echo` of its own: it printed the options, and nothing was measured."""
    folder = laid_out(switchpoint, tmp_path, kernel={"name": "echo", "version": "1"})

    ran = subprocess.run(
        [folder / "run.sh"], env={**os.environ, "LAUNCHER": "env"}, capture_output=True, text=True
    )

    assert (ran.returncode, ran.stdout) == (2, "")
    assert "no program echo" in ran.stderr


def test_a_variable_that_a_launcher_sets_is_one_word(switchpoint: Run, tmp_path: Path) -> None:
    """PALS takes NAME=VALUE after `--env`: a value in a word of its own would be its program."""
    launch = "mpiexec -n 2 --env UCX_TLS tcp -genv FI_PROVIDER=tcp"
    folder = laid_out(switchpoint, tmp_path, labels={"site": "there", "launch": launch})

    assert (
        "exec mpiexec -n 2 --env UCX_TLS=tcp --genv FI_PROVIDER=tcp "
        in (folder / "run.sh").read_text()
    )


@pytest.mark.parametrize(
    "launch",
    [
        "mpirun --allow-run-as-root --map-by ppr:1:node --mca btl self,tcp -x UCX_TLS=tcp",
        "mpiexec -n 2 -bind-to core", "aprun -n 2 -N 1", "srun --mpi=pmix --cpu-bind=cores",
        "mpiexec.hydra -ppn 1 -genv FI_PROVIDER tcp", "jsrun -n 2 -b packed:2", "ibrun -n 2",
        "srun --gpus-per-node=a100:4 --distribution=block:cyclic --exclusive --hint=nomultithread",
    ],
)  # fmt: skip
def test_plain_options_of_launchers_are_used(switchpoint: Run, tmp_path: Path, launch: str) -> None:
    folder = laid_out(switchpoint, tmp_path, labels={"site": "there", "launch": launch})

    script = (folder / "run.sh").read_text()
    assert all(word in script for word in launch.split())
    # Open MPI 5 would take `-bind-to` for letters, and `core` for the program.
    assert " -bind-to" not in script.rpartition("exec ")[2]


@pytest.mark.parametrize("launcher", ["mpirun.mpich", "mpiexec.mpich", "mpiexec.hydra"])
@pytest.mark.parametrize("option", ["-x UCX_TLS", "--mca btl tcp"])
def test_options_that_hydra_refuses_are_not_given_to_it(
    switchpoint: Run, tmp_path: Path, launcher: str, option: str
) -> None:
    labels = {"site": "there", "launch": f"{launcher} -n 2 {option}"}
    folder = laid_out(switchpoint, tmp_path, labels=labels)

    assert launcher not in (folder / "run.sh").read_text()
    assert "label launch" in (folder / "README.md").read_text()


def test_no_escape_sequence_reaches_the_terminal_or_the_folder(
    switchpoint: Run, tmp_path: Path
) -> None:
    attack = "\x1b]0;owned\x07\x1b[2J"
    folder = tmp_path / "again"
    record = measured(
        tmp_path,
        labels={"site": attack, "placement": attack, attack: "x", "modules": attack},
        kernel={"name": "pingpong", "version": attack, "compiler": attack, "flags": attack},
    )

    printed = switchpoint("reproduce", record, "--write", folder)

    assert printed.exit_code == 0
    written = [(folder / name).read_text() for name in ("README.md", "run.sh")]
    for text in (printed.output, *written):
        assert "\x1b" not in text
        assert "\x07" not in text


@pytest.mark.skipif(not KERNEL.exists(), reason="the kernels are not built: make kernels")
@pytest.mark.skipif(shutil.which("mpiexec.openmpi") is None, reason="no mpiexec.openmpi")
def test_the_script_measures_the_same_again(switchpoint: Run, tmp_path: Path) -> None:
    folder = laid_out(switchpoint, tmp_path)
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

    subprocess.run(
        ["./run.sh"],
        cwd=folder,
        env=os.environ
        | allowed
        | {"KERNEL": str(KERNEL), "LAUNCHER": "mpiexec.openmpi --oversubscribe -n 2"},
        capture_output=True,
        check=True,
        timeout=120,
    )

    again = read(folder / "pingpong.record")
    header = again.facts(again.runs["run_id"].iloc[0])[0]
    before = json.loads((folder / "header.json").read_text())
    assert header["plan"]["seed"] == 7
    assert header["plan"]["sizes_bytes"] == [8, 64]
    assert header["mpi"]["environment"]["OMPI_MCA_btl"] == "self,vader"
    assert header["labels"] == {
        "site": platform.node(), "placement": "one_node", "reproduces": before["run_id"],
        "launch": "mpiexec.openmpi --oversubscribe -n 2",
    }  # fmt: skip
