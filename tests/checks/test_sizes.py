"""What a user sets with -S holds, also where a check would measure less."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from sessions import BIN, ROOT

SITE = ROOT / "site-configs/local/settings.py"


@pytest.mark.parametrize(
    ("words", "sizes"), [((), "8,4096,1048576"), (("-S", "sizes_bytes=8,64"), "8,64")]
)
def test_only_sizes_that_nobody_set_are_fewer_on_few_cores(
    tmp_path: Path, words: tuple[str, ...], sizes: str
) -> None:
    subprocess.run(
        [
            *(BIN / "reframe", "-C", SITE, "-c", ROOT / "checks/collectives.py", "--dry-run"),
            *("-n", "Collective%.*operation=allreduce", "-S", "placements=one_node"),
            *("-S", "ranks=4096"),  # more than this machine has cores
            *("-p", "openmpi", *words, "--prefix", tmp_path),
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip

    scripts = [path.read_text() for path in tmp_path.rglob("rfm_job.sh")]

    assert [found for text in scripts for found in re.findall(r"--sizes=(\S+)", text)] == [sizes]
