"""Kernels are built and run in the container image of their environment."""

import json
import shlex

from sessions import ROOT

SITE = "tests/checks/sites/container/settings.py"
IMAGE = "/images/mpi 5.sif"


def test_the_image_is_used_and_recorded(reframe):
    session = reframe("-r", "-p", "openmpi", "-n", "PingPongSmoke.*%placement=one_node$", site=SITE)
    assert session.exit_code == 0, session.output

    (record,) = session.prefix.glob("output/**/pingpong.record")
    header = json.loads(record.read_text().splitlines()[0])
    assert header["labels"]["container_image"] == IMAGE
    started = record.with_name("rfm_job.sh").read_text().splitlines()[-1]
    words = shlex.split(started)
    before = words[: words.index(IMAGE)]
    assert before[:4] == ["timeout", "--kill-after=5", "45", "srun"]
    assert before[-2] == "--pwd"
    assert "apptainer" in before
    assert words[words.index(IMAGE) + 1].endswith("/bin/pingpong")
    assert record.with_name("rfm_job.err").read_text().count(f"in {IMAGE}") == 2


def test_other_programs_are_skipped_and_a_missing_runtime_is_one_line(reframe, monkeypatch):
    monkeypatch.setenv("WITHOUT_RUNTIME", "yes")
    netpipe = ("-c", str(ROOT / "checks/netpipe.py"), "-n", "^NetPipe.*=one_node$")
    chosen = ("-p", "openmpi", "-n", "PingPongSmoke.*one_node$", *netpipe)
    session = reframe("--dry-run", *chosen, site=SITE)
    assert "only the kernels run in the image" in session.output
    assert session.exit_code == 1
    assert 'add "container_platforms": [{"type": "Apptainer"}]' in session.output
