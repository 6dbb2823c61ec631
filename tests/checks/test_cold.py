"""Messages that are measured out of cache: the record knows the caches, and the check asks it."""

import os
import shutil

import pytest
from sessions import ROOT, start_reframe

pytestmark = [
    pytest.mark.build,
    pytest.mark.skipif(not shutil.which("mpicc.openmpi"), reason="needs Open MPI"),
]


def test_buffers_that_fit_into_a_cache_are_no_cold_ones(tmp_path):
    process = start_reframe(
        f"none-{os.getpid()}",
        tmp_path,
        *("-c", str(ROOT / "checks"), "-R", "-r", "--system=local:openmpi"),
        *("-n", "PingPongCold.*%placement=one_node$", "-S", "modes=send", "-S", "passes=1"),
        *("-S", "rotate_mib=1"),
        site="site-configs/local/settings.py",
    )
    output, _ = process.communicate(timeout=300)

    assert process.returncode == 1, output
    assert "buffers of 1 MiB fit into a cache of " in output
    assert "use -S rotate_mib=" in output
