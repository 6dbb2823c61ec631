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
from switchpoint.records.mpi_environment import is_setting
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
HOSTILE = "a b'; touch broken; $(touch broken) `touch broken`\ntouch broken"


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
        program.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
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
        arguments=["pingpong", f"--label=x={HOSTILE}"],
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

    assert f"--label=x={HOSTILE}\n" in done.stdout
    assert not (folder / "broken").exists()


#: What may not be set because a record says so, and what starts or loads something else.
NOT_EXPORTED = {
    "LAUNCHER": "touch broken", "KERNEL": "touch", "PATH": "/evil", "LD_PRELOAD": "/evil.so",
    "SITE": "elsewhere", "OMPI_MCA_plm_rsh_agent": "touch", "UCX_MODULE_DIR": "/evil",
    "OMPI_MCA_mca_base_env_list": "LD_PRELOAD=/evil.so", "I_MPI_ROOT": "/evil",
    "FI_PROVIDER_PATH": "/evil", "I_MPI_HYDRA_BOOTSTRAP_EXEC": "touch",
    "MV2_COMM_WORLD_RANK": "0", "MV2_SHMEM_DIR": "/evil",
}  # fmt: skip


def test_only_settings_of_an_mpi_are_exported(switchpoint: Run, tmp_path: Path) -> None:
    wanted = {"UCX_TLS": "tcp", "PSM2_CUDA": "0", "MPIR_CVAR_CH4_NETMOD": "ucx"}
    wanted |= {"MV2_IBA_EAGER_THRESHOLD": "16K", "MVP_USE_SHARED_MEM": "1", "HFI_UNIT": "0"}
    mpi = {"library": "MPICH 4.0.2", "cvars": {}, "environment": NOT_EXPORTED | wanted}

    folder = laid_out(switchpoint, tmp_path, mpi=mpi)

    exported = {
        line.removeprefix("export ").partition("=")[0]
        for line in (folder / "run.sh").read_text().splitlines()
        if line.startswith("export ")
    }
    assert exported == set(wanted)
    assert "UCX\\_MODULE\\_DIR" in (folder / "README.md").read_text()


def test_what_kernels_record_is_known_as_a_setting() -> None:
    text = (ROOT / "src/machine/environment.c").read_text()
    (prefixes,) = re.findall(r"SETTINGS\[\] = \{(.*?)\};", text, re.DOTALL)

    recorded = re.findall(r'"(\w+)"', prefixes)

    assert len(recorded) > 10
    assert [name for name in recorded if not is_setting(f"{name}X")] == []


@pytest.mark.parametrize(
    "launch",
    [
        "rm -rf .", "sh -c 'touch broken'", "/evil/srun -n 2", "srun --task-prolog=evil",
        "srun --bcast=/evil", "mpirun -x LD_PRELOAD=evil.so", "mpiexec -genv PATH evil",
        "mpirun --mca plm_rsh_agent evil", "srun --export=ALL,LD_PRELOAD=evil.so", "srun 'a\x1bb'",
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
    "launch",
    [
        "mpirun --allow-run-as-root --map-by ppr:1:node --mca btl self,tcp -x UCX_TLS=tcp",
        "mpiexec -n 2 -bind-to core", "aprun -n 2 -N 1", "srun --mpi=pmix --cpu-bind=cores",
    ],
)  # fmt: skip
def test_plain_options_of_launchers_are_used(switchpoint: Run, tmp_path: Path, launch: str) -> None:
    folder = laid_out(switchpoint, tmp_path, labels={"site": "there", "launch": launch})

    script = (folder / "run.sh").read_text()
    assert all(word in script for word in launch.split())


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
