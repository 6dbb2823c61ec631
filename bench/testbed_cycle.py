"""Measures the time to start and to stop the testbed, over several cycles.

Usage: ``.venv/bin/python bench/testbed_cycle.py [CYCLES]``
"""

from __future__ import annotations

import os
import statistics
import subprocess
import time

from arguments import only_count
from on_testbed import BIN

#: A testbed that no other program uses.
NAME = f"cycle-{os.getpid()}"


def timed(*words: str) -> float:
    """Wall time of a testbed command in seconds."""
    start = time.perf_counter()
    subprocess.run([BIN / "testbed", *words], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main(cycles: int) -> None:
    """Print minimum, median and maximum."""
    up, down = [], []
    for _ in range(cycles):
        up.append(timed("up", "--name", NAME))
        down.append(timed("down", "--name", NAME))
    for what, seconds in (("up", up), ("down", down)):
        print(
            f"{what:5} min {min(seconds):.2f} s  median {statistics.median(seconds):.2f} s  "
            f"max {max(seconds):.2f} s  ({cycles} cycles)"
        )


if __name__ == "__main__":
    main(only_count(__doc__, "cycles", 10))
