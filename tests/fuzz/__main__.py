"""`make fuzz`: hostile input for some minutes. Exit with 1 if anything went wrong."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fuzz import importers, kernels, own_files, stores

#: Each target with its share of the time.
TARGETS = {
    "importers": (importers.fuzz, 0.45),
    "own files": (own_files.fuzz, 0.15),
    "kernels": (kernels.fuzz, 0.25),
    "stores": (stores.fuzz, 0.15),
}

#: Counts of what must not happen.
_BAD = ("problems", "hangs", "too large")


def main() -> int:
    """Run the targets one after the other, and print what happened."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=TARGETS, action="append")
    parser.add_argument("--failures", type=Path, default=Path("build/fuzz"))
    asked = parser.parse_args()
    chosen = asked.only or list(TARGETS)
    whole = sum(TARGETS[name][1] for name in chosen)
    bad = 0
    for name in chosen:
        run, share = TARGETS[name]
        counts = run(asked.minutes * share / whole, asked.seed, asked.failures)
        print(f"{name}: {', '.join(f'{count:,} {what}' for what, count in counts.items())}")
        bad += sum(counts.get(what, 0) for what in _BAD)
    if bad:
        print(f"the inputs that went wrong are in {asked.failures}; keep them in tests/fuzz/corpus")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
