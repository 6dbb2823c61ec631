"""The examples of nightly jobs are what the services that read them accept."""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "docs/examples/nightly"
BIN = Path(sys.executable).parent

#: The version of the linter of GitHub's workflows. Go compares it with its public log of checksums.
ACTIONLINT = "1.7.12"


def lint(*words: object) -> str:
    """Run a linter; give what it finds."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=60)
    return "" if done.returncode == 0 else done.stdout + done.stderr


#: What check-jsonschema has to know of each example's service.
SCHEMAS = {
    "github-actions.yml": ("--builtin-schema", "vendor.github-workflows"),
    "gitlab-ci.yml": ("--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci"),
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_service_accepts_the_example(name: str) -> None:
    assert lint(BIN / "check-jsonschema", *SCHEMAS[name], EXAMPLES / name) == ""


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        (".github/workflows/test.yml", "vendor.github-workflows"),
        (".github/ISSUE_TEMPLATE/bug.yml", "vendor.github-issue-forms"),
        (".github/ISSUE_TEMPLATE/format.yml", "vendor.github-issue-forms"),
        ("CITATION.cff", "vendor.citation-file-format"),
    ],
)
def test_the_services_accept_this_projects_own_files(name: str, schema: str) -> None:
    options = ("--default-filetype", "yaml", "--builtin-schema", schema)
    assert lint(BIN / "check-jsonschema", *options, ROOT / name) == ""


def test_the_citation_names_the_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == importlib.metadata.version("switchpoint")


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("github-actions.yml", "timeout-minutes: 120", "timeout_minutes: 120"),
        ("gitlab-ci.yml", "timeout: 2 hours", "timeout: [2, hours]"),
    ],
)
def test_its_schema_finds_a_mistake(tmp_path: Path, name: str, right: str, wrong: str) -> None:
    text = (EXAMPLES / name).read_text()
    assert right in text
    (tmp_path / name).write_text(text.replace(right, wrong))

    found = lint(BIN / "check-jsonschema", *SCHEMAS[name], tmp_path / name)
    assert wrong.partition(":")[0] in found


@pytest.fixture(scope="session")
def actionlint() -> list[object]:
    """The command that lints GitHub's workflows; it is compiled once, by Go from PyPI."""
    program = ROOT / "build/tools" / f"actionlint-{ACTIONLINT}"
    if not program.exists():
        program.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=program.parent) as folder:
            compile_actionlint(Path(folder)).replace(program)
    # Linters of shells and Python are on some machines only. The label is that of a site's runner.
    return [
        program,
        "-no-color",
        "-shellcheck=",
        "-pyflakes=",
        "-ignore",
        'label "slurm" is unknown',
    ]


def compile_actionlint(folder: Path) -> Path:
    """Compile it in a new folder, for which Go is installed there; return the program."""
    lock = ROOT / "requirements/go.lock"
    subprocess.run(
        [BIN / "uv", "pip", "install", "--quiet", "--no-cache", "--python", sys.executable,
         "--target", folder / "python", "--require-hashes", "--requirements", lock],
        check=True,
    )  # fmt: skip
    places = {"GOBIN": "bin", "GOPATH": "path", "GOCACHE": "cache"}
    own = {name: str(folder / place) for name, place in places.items()}
    # Without this flag, nobody may remove the modules that Go downloads.
    own |= {"GOENV": "off", "GOTOOLCHAIN": "local", "GOFLAGS": "-modcacherw", "CGO_ENABLED": "0"}
    package = f"github.com/rhysd/actionlint/cmd/actionlint@v{ACTIONLINT}"
    subprocess.run(
        [folder / "python/go/bin/go", "install", package], env=os.environ | own, check=True
    )
    return folder / "bin/actionlint"


@pytest.mark.parametrize(
    "workflow", [EXAMPLES / "github-actions.yml", ROOT / ".github/workflows/test.yml"], ids=str
)
def test_the_workflows_expressions_are_right(actionlint: list[object], workflow: Path) -> None:
    assert lint(*actionlint, workflow) == ""


def test_a_wrong_expression_of_a_workflow_is_found(
    tmp_path: Path, actionlint: list[object]
) -> None:
    text = (EXAMPLES / "github-actions.yml").read_text()
    wrong = tmp_path / "github-actions.yml"
    wrong.write_text(text.replace("if: always()", "if: allways()", 1))

    found = lint(*actionlint, wrong)

    assert found.count("[expression]") == 1
    assert 'undefined function "allways"' in found


def commands(name: str) -> str:
    """The shell commands of an example, as one text."""
    content = yaml.safe_load((EXAMPLES / name).read_text())
    if name == "gitlab-ci.yml":
        return "\n".join(content["nightly"]["script"])
    return "\n".join(step["run"] for step in content["jobs"]["nightly"]["steps"] if "run" in step)


@pytest.mark.parametrize("name", ["github-actions.yml", "gitlab-ci.yml"])
def test_the_command_has_every_option_that_an_example_uses(name: str) -> None:
    [options] = re.findall(r'GATE_OPTIONS="(.*)"', commands(name))
    told = subprocess.run(
        [BIN / "switchpoint", "gate", "--help"], capture_output=True, text=True,
        env={"COLUMNS": "200", "TERM": "dumb"},
    ).stdout  # fmt: skip

    used = re.findall(r"--[a-z]+", options)
    assert len(used) == 2
    assert [option for option in used if option not in told] == []


@pytest.mark.parametrize("name", ["github-actions.yml", "gitlab-ci.yml", "scrontab"])
def test_the_makefile_has_every_target_that_an_example_uses(name: str) -> None:
    makefile = (ROOT / "Makefile").read_text()
    text = (EXAMPLES / name).read_text() if name == "scrontab" else commands(name)
    targets = re.findall(r"^.*\bmake (?:-C \S+ )?(\w+)", text, re.MULTILINE)

    assert targets
    for target in targets:
        assert f"\n{target}:" in makefile


@pytest.mark.parametrize("name", ["github-actions.yml", "gitlab-ci.yml", "scrontab"])
def test_old_samples_are_removed_after_each_night(name: str) -> None:
    text = (EXAMPLES / name).read_text()

    assert ".venv/bin/switchpoint store prune" in text.partition("make ")[2]


def test_the_job_of_scrontab_fails_with_its_night(tmp_path: Path) -> None:
    """It removes old samples all the same."""
    (tmp_path / "Makefile").write_text("nightly:\n\t@echo $(SITE); exit 1\n")
    program = tmp_path / ".venv/bin/switchpoint"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\necho "$@"\n')
    program.chmod(0o755)
    [command] = re.findall(r"^15 2 \* \* \* (.*)$", (EXAMPLES / "scrontab").read_text(), re.M)

    done = subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True,
        env={"PATH": os.environ["PATH"], "SWITCHPOINT": str(tmp_path), "SITE": "here"},
    )  # fmt: skip

    assert done.stdout.splitlines() == ["here", "store prune"]
    assert done.returncode == 2, "the exit code of make"
