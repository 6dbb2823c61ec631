"""The examples of nightly jobs are what the services that read them accept."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "docs/examples/nightly"
BIN = Path(sys.executable).parent


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


@pytest.mark.skipif(shutil.which("actionlint") is None, reason="there is no actionlint")
def test_the_workflows_expressions_are_right() -> None:
    assert lint("actionlint", "-no-color", EXAMPLES / "github-actions.yml") == ""


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
