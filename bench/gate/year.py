"""Fills a store with synthetic nights, as a site's CI would in a year.

Usage: .venv/bin/python bench/gate/year.py CURVES NIGHTS LAUNCHES STORE [CHANGE...]

A CHANGE is KIND:EFFECT:NIGHT[:COLUMN=VALUE,...], such as
`latency:+12%:300:placement=two_nodes_two_hosts`; kinds are latency, per_byte, switch and drift.
Prints for every tenth night what it took.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from switchpoint import Store
from switchpoint.store.compaction import join_if_many

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from arguments import add_count, parser
from synthetic import Change, Site


@dataclass(frozen=True)
class Night:
    """What one night cost.

    Attributes
    ----------
    number : int
        Counted from 0.
    samples : int
        Stored.
    seconds, cpu_seconds : float
        Of storing, without making the samples.
    files, size_bytes : int
        Of the store after it.
    """

    number: int
    samples: int
    seconds: float
    cpu_seconds: float
    files: int
    size_bytes: int


def fill(
    store: Path, curves: int, nights: int, launches: int, changes: list[Change]
) -> Iterator[Night]:
    """Store one night after the other, as `switchpoint import` does."""
    site, kept = Site(curves), Store(store)
    for number in range(nights):
        measured = site.night(number, launches, changes)
        start, cpu = time.perf_counter(), time.process_time()
        kept.add(measured)
        join_if_many(kept)
        took, used = time.perf_counter() - start, time.process_time() - cpu
        files = files_of(store)
        size = sum(path.stat().st_size for path in files)
        yield Night(number, len(measured.samples), took, used, len(files), size)


def files_of(store: Path) -> list[Path]:
    """Return all files of a store."""
    return [path for path in store.rglob("*") if path.is_file()]


def main() -> None:
    """Fill the store."""
    options = parser(__doc__)
    for name in ("curves", "nights", "launches"):
        add_count(options, name)
    options.add_argument("store", type=Path, metavar="STORE")
    options.add_argument("changes", type=Change.parse, nargs="*", metavar="CHANGE")
    given = options.parse_args()
    for night in fill(given.store, given.curves, given.nights, given.launches, given.changes):
        if night.number % 10 == 0 or night.number == given.nights - 1:
            print(
                f"night {night.number:4}: {night.samples:,} samples in {night.seconds:.1f} s"
                f" ({night.cpu_seconds:.1f} s of CPU); {night.files} files,"
                f" {night.size_bytes / 1e6:,.0f} MB",
                flush=True,
            )


if __name__ == "__main__":
    main()
