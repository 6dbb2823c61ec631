"""`make fuzz`: hostile input for some minutes. Exit with 1 if anything went wrong."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from fuzz import differential, importers, kernels, nothing_runs, own_files, stores
from fuzz.processes import Extent, repeat

#: What is tried, and its share of the time.
TARGETS = {
    "importers": (importers.one_round, 0.4),
    "damaged tables": (differential.one_round, 0.1),
    "own files": (own_files.one_round, 0.1),
    "nothing runs": (nothing_runs.one_round, 0.1),
    "kernels": (kernels.one_round, 0.15),
    "killed writers": (stores.killed_writers, 0.05),
    "imports again": (stores.imports_again, 0.05),
    "flipped bits": (stores.flipped_bits, 0.05),
}

#: Counts of what must not happen.
_BAD = ("problems", "hangs", "too large")

#: Counts of damaged files.
_HOSTILE = ("inputs", "damaged tables", "flipped bits")


def main() -> int:
    """Try the targets one after the other, and print what happened."""
    asked = _arguments()
    chosen = asked.only or [*TARGETS]
    if "kernels" in chosen and not kernels.PROGRAMS.is_dir():
        print(f"there is no {kernels.PROGRAMS}: run `make fuzz` or `make kernels-test` first")
        return 2
    whole = sum(TARGETS[name][1] for name in chosen)
    total: Counter[str] = Counter()
    for name in chosen:
        one_round, share = TARGETS[name]
        extent = Extent(asked.seed, asked.jobs, asked.minutes * share / whole, asked.rounds)
        counts = repeat(name, one_round, extent, asked.failures, _Progress(name))
        print(f"{name}: {_text(counts)}", flush=True)
        total.update(counts)
    hostile = {"hostile files": sum(total[what] for what in _HOSTILE)}
    print(f"in all: {_text(hostile | {what: total[what] for what in ('argument lists', *_BAD)})}")
    bad = any(total[what] for what in _BAD)
    if bad:
        print(f"what went wrong is in {asked.failures}; keep the inputs in tests/fuzz/corpus")
    return 1 if bad else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10, help="for all targets together")
    parser.add_argument("--rounds", type=int, help="so many rounds of each target instead")
    parser.add_argument("--only", choices=TARGETS, action="append", help="only this target")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="rounds at once")
    parser.add_argument("--seed", type=int, default=1, help="of the first round")
    parser.add_argument("--failures", type=Path, default=Path("build/fuzz"))
    return parser.parse_args()


class _Progress:
    """Prints counts on standard error, not more often than once a minute."""

    def __init__(self, name: str) -> None:
        self._name, self._last_s = name, time.monotonic()

    def __call__(self, counts: Mapping[str, int]) -> None:
        if time.monotonic() - self._last_s >= 60:
            self._last_s = time.monotonic()
            print(f"{self._name}, so far: {_text(counts)}", file=sys.stderr, flush=True)


def _text(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {what}" for what, count in counts.items())


if __name__ == "__main__":
    sys.exit(main())
