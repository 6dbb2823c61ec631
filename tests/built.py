"""Builds programs in the trees of `make kernels-test`, one build at a time."""

from __future__ import annotations

import fcntl
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def build(name: str, compiler: str, target: str = "all") -> Path:
    """Build a target in the tree of this name, and return the tree.

    Two configurations of one tree at once would remove each other's files.
    """
    tree = ROOT / "build" / "ctest" / name
    tree.mkdir(parents=True, exist_ok=True)
    with (tree / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for command in (
            ["cmake", "-S", ROOT / "src", "-B", tree, f"-DMPI_C_COMPILER={compiler}"],
            ["cmake", "--build", tree, "--parallel", "2", "--target", target],
        ):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout + done.stderr
    return tree
