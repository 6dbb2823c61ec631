"""The how-to for a new kernel: its files go into a copy of the project, its commands run there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from sessions import BIN, ROOT

HOW_TO = ROOT / "docs/how-to/new-kernel.md"

#: Open MPI starts neither as root nor with more ranks than cores unless it is told to.
ENVIRONMENT = {
    **os.environ,
    "PATH": f"{BIN}:{os.environ['PATH']}",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}


def blocks(language: str) -> list[tuple[str, str]]:
    """Title and text of the page's code blocks in a language."""
    pattern = rf'^```{language}(?: title="(.*?)")?\n(.*?)^```$'
    return re.findall(pattern, HOW_TO.read_text(), re.MULTILINE | re.DOTALL)


def shape(text: str) -> str:
    """Make outputs comparable that differ only in their numbers."""
    return re.sub(r"[ \d.]+", " ", text).strip()


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with the page's files in it."""
    copy = tmp_path_factory.mktemp("project")
    for part in ("src", "checks", "site-configs"):
        shutil.copytree(ROOT / part, copy / part)
    titled = [block for language in ("c", "cmake", "python") for block in blocks(language)]
    assert len(titled) == 3
    for path, text in titled:
        with (copy / path).open("a") as file:
            file.write(text)
    return copy


def test_the_commands_of_the_page_build_run_and_list_the_kernel(project: Path) -> None:
    """Each command succeeds and prints what the page shows."""
    for _, block in blocks("console"):
        for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            done = subprocess.run(
                command,
                shell=True,
                cwd=project,
                env=ENVIRONMENT,
                capture_output=True,
                text=True,
                timeout=300,
            )
            assert done.returncode == 0, (command, done.stdout, done.stderr)
            if command.startswith("mpirun"):
                assert shape(done.stdout) == shape(shown)
            elif command.startswith("reframe"):
                # ReFrame skips a check file that it cannot load, and succeeds.
                assert "skipping test" not in done.stdout + done.stderr
                assert re.findall(r"^- (\w+) ", done.stdout, re.MULTILINE), done.stdout
                assert "Halo" in done.stdout
    assert (project / "halo.record").exists()


def test_the_c_file_is_formatted_as_the_project_is() -> None:
    """The page shows the code as `make format` would leave it."""
    [(_, text)] = blocks("c")
    done = subprocess.run(
        ["clang-format", f"--style=file:{ROOT / '.clang-format'}"],
        input=text,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == text
