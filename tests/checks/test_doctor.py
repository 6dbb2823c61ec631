"""`doctor --site` on a real Slurm: two ranks start through the site's own launcher."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from sessions import BIN, ROOT

#: The testbed's site, with one thing changed.
SITE = f"""\
import runpy

site_configuration = runpy.run_path("{ROOT}/site-configs/testbed/settings.py")["site_configuration"]
[partition] = site_configuration["systems"][0]["partitions"]
partition["environs"] = ["mpich"]
mpich = next(e for e in site_configuration["environments"] if e["name"] == "mpich")
"""


@pytest.fixture
def doctor(cluster, tmp_path):
    """Examine the testbed's site with a change, in Python; give the exit code and the output."""

    def examine(change, *options):
        (tmp_path / "settings.py").write_text(SITE + change)
        done = subprocess.run(
            [BIN / "switchpoint", "doctor", "--site", "settings.py", *options],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "TESTBED_NAME": cluster},
            timeout=120,
        )
        assert done.stderr == ""
        return done.returncode, done.stdout

    return examine


def test_ranks_that_start_alone_are_called_that(doctor):
    """Where srun is not told an interface, MPICH starts single processes without a word."""
    code, said = doctor('mpich["extras"]["launcher_options"] = []\n')

    assert code == 1
    assert "environment 'mpich': two ranks started alone, each in an MPI_COMM_WORLD of its" in said
    assert "; choose another --mpi in launcher_options" in said


def test_an_image_without_a_runtime_is_one_line(doctor):
    code, said = doctor('mpich["extras"]["container_image"] = "/images/mpich.sif"\n')

    assert (code, said.splitlines()[-1]) == (1, "1 problem found")
    assert "environment 'mpich' is in an image, but partition 'batch' names no runtime" in said


def test_a_job_that_slurm_refuses_is_one_line_with_slurms_words(doctor):
    code, said = doctor('partition["access"] = ["--nodelist=z9"]\n')

    assert (code, said.splitlines()[-1]) == (1, "1 problem found")
    assert "sbatch: error: " in said


def test_a_job_that_does_not_start_is_given_up_with_slurms_reason(doctor):
    code, said = doctor('partition["access"] = ["--time=9-00"]\n', "--wait=2")

    assert (code, said.splitlines()[-1]) == (1, "1 problem found")
    assert "Slurm did not start the job within 2 s (Reason=PartitionTimeLimit)" in said


def test_ranks_that_cannot_start_are_one_line_with_their_words(doctor):
    code, said = doctor('mpich["extras"]["launcher_options"] = ["--mpi=pmi2", "--no-such"]\n')

    assert (code, said.splitlines()[-1]) == (1, "1 problem found")
    assert "0 of two ranks started; exit code " in said
    assert "no-such" in said


def test_nothing_is_left_of_a_trial_that_went_well(doctor, tmp_path):
    code, said = doctor("")

    assert code == 0
    assert re.search(r"^ok  batch: mpich: two ranks in one world", said, re.MULTILINE)
    assert not list(Path(tmp_path, "build/doctor").iterdir())
