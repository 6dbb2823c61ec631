"""Compares the time of a ReFrame check with a bare ``srun`` of the same binary, on the testbed.

The kernel measures one size for a short time. Both ways run it in turn. ReFrame's own start-up (its
session without a test) is measured separately, because a session needs it only once.
Usage: ``.venv/bin/python bench/check_overhead.py [PAIRS]``
"""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from arguments import only_count
from on_testbed import BIN, ROOT, kernel, launch, testbed

SWEEP = {"sizes_bytes": "8,1024", "passes": "1", "samples": "2"}
CHECKS = 4


def reframe_s(name: str, folder: Path, *words: str) -> float:
    """Wall time of a ReFrame session in seconds."""
    start = time.perf_counter()
    subprocess.run(
        [
            BIN / "reframe",
            *("-C", ROOT / "site-configs/testbed/settings.py"),
            *("-c", ROOT / "checks/pingpong.py"),
            *("--prefix", folder),
            *("-n", "PingPongSmoke", "-p", "openmpi"),
            *(word for key, value in SWEEP.items() for word in ("-S", f"{key}={value}")),
            *words,
        ],
        check=True,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "TESTBED_NAME": name},
    )
    return time.perf_counter() - start


def bare_s(name: str, folder: Path, placement: str) -> float:
    """Wall time of the same kernel under srun alone, in seconds."""
    command = [
        kernel("openmpi", "pingpong"),
        *(f"--{key.partition('_')[0]}={value}" for key, value in SWEEP.items()),
        "--record=bare.record",
    ]
    start = time.perf_counter()
    launch(name, "openmpi", placement, command, folder)
    return time.perf_counter() - start


def main(pairs: int) -> None:
    """Print the medians and the additional time of each check."""
    kernel("openmpi", "pingpong")
    per_check = []
    with testbed() as name, tempfile.TemporaryDirectory(dir=".") as scratch:
        folder = Path(scratch).resolve()
        reframe_s(name, folder, "-r")
        for _ in range(pairs):
            idle = reframe_s(name, folder, "-L")
            session = reframe_s(name, folder, "-r")
            bare = sum(
                bare_s(name, folder, placement)
                for placement in (
                    "one_node",
                    "one_node_network",
                    "two_nodes_one_host",
                    "two_nodes_two_hosts",
                )
            )
            per_check.append((session - idle - bare) / CHECKS)
            print(
                f"session {session:.2f} s, its start-up {idle:.2f} s, {CHECKS} bare srun "
                f"{bare:.2f} s: {per_check[-1]:.2f} s a check"
            )
    print(f"a check costs {statistics.median(per_check):.2f} s over a bare srun (median)")


if __name__ == "__main__":
    main(only_count(__doc__, "pairs", 5))
