"""The how-to for a new site, run as a stranger runs it: the wheel, no checkout, an unknown cluster.

The commands are those of the page's console blocks, in their order.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from sessions import BIN, ROOT, run_testbed

HOW_TO = ROOT / "docs/how-to/new-site.md"

#: Unlike those that are shipped: other names, three hosts, and a site of its own.
SHAPE = """\
hosts: [north, south, west]
nodes_per_host: 2
cpus_per_node: 4
mtu: 1500
uplink: {rate: 1gbit, burst: 128kb, latency: 100ms, hops: 2}
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the source distribution as installers do."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([BIN / "uv", "build", "--quiet", "--out-dir", folder, ROOT], check=True)
    [path] = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def foreign_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The commands of a Slurm that Switchpoint has no site for."""
    name = f"foreign-{os.getpid()}"
    shape = tmp_path_factory.mktemp("shape") / "shape.yaml"
    shape.write_text(SHAPE)
    run_testbed("up", "--name", name, "--shape", str(shape))
    told = subprocess.run(
        [BIN / "testbed", "status", "--json", "--name", name], capture_output=True, text=True
    )
    yield Path(re.search(r'"bin": "(.*)"', told.stdout)[1])
    run_testbed("down", "--name", name)


#: What the stranger edits: of the two MPIs that are proposed, one is to be measured.
EDITOR = """\
#!/bin/sh
grep -q '"environs": ."openmpi", "mpich".,' "$1" || exit 1
sed -i 's/"environs": .*,/"environs": ["mpich"],/' "$1"
"""


def commands() -> list[str]:
    """What the how-to tells to type, up to its last step."""
    steps, _, _ = HOW_TO.read_text().partition("\n## ")
    blocks = re.findall(r"```console\n(.*?)```", steps, re.DOTALL)
    return [line.strip()[2:] for block in blocks for line in block.splitlines() if "$ " in line]


def follow(folder: Path, wheel: Path, slurm: Path) -> dict[str, str]:
    """Type all commands into one shell; give what each printed."""
    # The wheel at hand, and what it needs as it is locked, from the installer's cache.
    install = f"{BIN}/uv pip install --quiet --constraint {ROOT}/requirements/dev.lock"
    typed = [
        command.replace("pip install", install).replace("'/path/to/the/clone[", f"'{wheel}[")
        for command in commands()
    ]
    script = "\n".join(f"echo '@@'{index}\n{command}" for index, command in enumerate(typed))
    editor = folder / "editor"
    editor.write_text(EDITOR)
    editor.chmod(0o755)
    ours = ("PYTHONPATH", "VIRTUAL_ENV", "TESTBED_NAME", "SWITCHPOINT_TESTBED_DIR")
    kept = {name: value for name, value in os.environ.items() if name not in ours}
    done = subprocess.run(
        ["bash", "-e"],
        input=script,
        capture_output=True,
        text=True,
        cwd=folder,
        env={**kept, "PATH": f"{slurm}:{python_folder()}:/usr/bin:/bin", "EDITOR": str(editor)},
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    parts = re.split(r"^@@(\d+)\n", done.stdout, flags=re.MULTILINE)[1:]
    return {
        commands()[int(index)]: text for index, text in zip(parts[::2], parts[1::2], strict=True)
    }


def python_folder() -> Path:
    """Where the Python is that the environment of these tests was made from."""
    return Path(os.path.realpath(BIN / "python")).parent


def test_a_stranger_comes_from_the_wheel_to_a_report_by_the_how_to_alone(
    tmp_path: Path, wheel: Path, foreign_cluster: Path
) -> None:
    said = follow(tmp_path, wheel, foreign_cluster)

    def of(words: str) -> str:
        [output] = [text for command, text in said.items() if words in command]
        return output

    assert "to be edited" not in of("init site")
    assert of("doctor --site").splitlines()[-1] == "no problem found"
    assert of("doctor --site").count("two ranks in one world") == 1
    assert "0 failure(s)" in of("--dry-run")
    assert "node hours, if each takes its time limit" in of("--dry-run").splitlines()[-1]
    assert "0 failure(s)" in of("-r -t smoke")
    # Ping-pong on each of the four placements that were proposed.
    records = list((tmp_path / "output/mysite/batch").rglob("pingpong.record"))
    assert len(records) == 4
    assert "4 runs added" in of("import output")
    assert of("detect").strip(), "findings, or that there are none"
    assert (tmp_path / "report/index.html").is_file()
    assert len(list((tmp_path / "report/runs").glob("*.html"))) == 4
    installed = next((tmp_path / ".venv/lib").glob("python3*/site-packages/switchpoint"))
    assert not list(installed.rglob("CMakeCache.txt")), "a build went into the installation"
    assert list(tmp_path.glob("build/mysite/*/CMakeCache.txt"))


def test_detect_needs_no_extra(tmp_path: Path, wheel: Path) -> None:
    """What `pipx run switchpoint detect FILE` installs suffices."""
    uv, python = str(BIN / "uv"), tmp_path / "venv/bin/python"
    subprocess.run(
        [uv, "venv", "--quiet", "--python", BIN / "python", "venv"], cwd=tmp_path, check=True
    )
    lock = ROOT / "requirements/dev.lock"
    subprocess.run(
        [uv, "pip", "install", "--quiet", "--python", python, "--constraint", lock, wheel],
        check=True,
    )
    record = ROOT / "tests/analysis/records/mpich-memory.record.gz"

    done = subprocess.run(
        [tmp_path / "venv/bin/switchpoint", "detect", record],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )

    assert done.returncode == 0, done.stderr
    assert "step" in done.stdout
