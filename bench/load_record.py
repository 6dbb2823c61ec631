"""Measures how fast `read_record` reads a run record into pandas, in samples per second.

Usage: python bench/load_record.py [SAMPLES]   (default 2,000,000; target: over 1,000,000 a second)
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path

import numpy as np
from arguments import only_count
from switchpoint import read_facts, read_record

COLUMNS = ["mode", "size_bytes", "pass", "sample", "iterations", "time_us"]
REPEATS = 5

#: A record of the ping-pong, whose header and footer the large one has.
SMALL = Path(__file__).parents[1] / "tests/analysis/records/openmpi-network-limit-65536.record.gz"


def main(samples: int) -> None:
    """Write one record, read it several times, print the median rate."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.record"
        write(path, samples)
        read_record(path)  # warms the file cache and the imports
        seconds = []
        for _ in range(REPEATS):
            start = time.perf_counter()
            record = read_record(path)
            seconds.append(time.perf_counter() - start)
        assert len(record.samples) == samples
        median = sorted(seconds)[REPEATS // 2]
        print(
            f"{samples:,} samples ({path.stat().st_size / 1e6:.0f} MB) in {median:.3f} s:"
            f" {samples / median:,.0f} samples/s, {samples / median / 1e6:.1f} times the target"
        )


def write(path: Path, samples: int) -> None:
    """Write a record as a kernel would, with so many samples."""
    rng = np.random.default_rng(1)
    sizes = 2 ** rng.integers(0, 23, samples)
    times = 5 + sizes * 1e-4 * rng.lognormal(0, 0.1, samples)
    facts = read_facts(SMALL)
    assert facts.footer is not None
    header = facts.header | {"columns": COLUMNS}
    footer = facts.footer | {"samples": samples, "points": []}
    with path.open("w", encoding="utf-8") as stream:
        stream.write(json.dumps(header) + "\n" + ",".join(COLUMNS) + "\n")
        stream.writelines(
            f"send,{size},{index % 5},{index % 100},10,{time_us:.6f}\n"
            for index, (size, time_us) in enumerate(zip(sizes, times, strict=True))
        )
        stream.write(json.dumps(footer) + "\n")


if __name__ == "__main__":
    main(only_count(__doc__, "samples", 2_000_000))
