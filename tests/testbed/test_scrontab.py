"""The example of a nightly scrontab in a real Slurm: its options, variables and command."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
from beds import Bed, wait_until

EXAMPLE = Path(__file__).resolve().parents[2] / "docs/examples/nightly/scrontab"

MAKEFILE = """\
nightly:
\t@echo measured $(SITE) in job $$SLURM_JOB_ID >measured
"""


@pytest.fixture
def clone(parent: Path) -> Path:
    """A folder that stands for a clone of the project; the nodes see it."""
    folder = parent / "clone"
    folder.mkdir(exist_ok=True)
    (folder / "measured").unlink(missing_ok=True)
    (folder / "Makefile").write_text(MAKEFILE)
    return folder


def adapted(clone: Path) -> str:
    """The example as a user adapts it, but for every minute."""
    text = EXAMPLE.read_text()
    for old, new in (
        ("SWITCHPOINT=/path/to/switchpoint", f"SWITCHPOINT={clone}"),
        ("SITE=mysite", "SITE=testbed"),
        ("15 2 * * * ", "* * * * * "),
        ("--output=", f"--output={clone}/"),
        ("--time=02:00:00", "--time=01:00:00"),  # the longest of the testbed
    ):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def test_its_job_runs_with_its_options_and_variables(bed: Bed, clone: Path) -> None:
    """As scrontab would submit it; this runs with every Slurm, also without scrontab."""
    lines = adapted(clone).splitlines()
    options = [word for line in lines if line.startswith("#SCRON ") for word in line.split()[1:]]
    variables = dict(line.split("=", 1) for line in lines if re.match(r"[A-Z]+=", line))
    [command] = [line.split(None, 5)[5] for line in lines if line.startswith("* ")]
    settings = "".join(f"export {name}={shlex.quote(text)}\n" for name, text in variables.items())

    done = bed.slurm("sbatch", "--wait", *options, input=f"#!/bin/sh\n{settings}{command}\n")

    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"measured testbed in job \d+\n", (clone / "measured").read_text())


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("scrontab") is None, reason="this Slurm has no scrontab")
def test_slurm_runs_it_when_its_time_has_come(bed: Bed, clone: Path) -> None:
    installed = bed.slurm("scrontab", "-", input=adapted(clone))
    assert installed.returncode == 0, installed.stderr
    try:
        wait_until((clone / "measured").exists, timeout_s=150)
    finally:
        bed.slurm("scrontab", "-r")
