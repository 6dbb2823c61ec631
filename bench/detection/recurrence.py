"""Says how often what one session shows comes again in another: the table of the docs.

Usage: .venv/bin/python bench/detection/recurrence.py STORE STORE...

Each STORE has one session of the same sweeps, such as that of `make run STORE=first`. A step comes
again if the same curve of another store has one in the same direction whose bracket overlaps. Each
pair of stores counts in both directions.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import pandas as pd
from switchpoint import Store, detect
from switchpoint.errors import InputError
from switchpoint.tables.columns import identity_columns, values_of

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from arguments import parser

#: Bounds of the ranges of confidence.
RANGES = [0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0]


def steps_of(store: str) -> pd.DataFrame:
    """Return the steps of a store's newest session, with the identity of their curve."""
    findings = detect(Store(store).latest(1))
    steps = findings[findings["kind"] == "step"]
    names = [name for name in identity_columns(steps) if name != "run_id"]
    curves = [values_of(row, names) for row in steps.to_dict("records")]
    return steps.reset_index(drop=True).assign(curve=curves)


def come_again(steps: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """Return the confidence of each step, and whether the other session has it too."""
    pairs = steps.reset_index(names="step").merge(other, on="curve", suffixes=("", "_again"))
    same = (
        (pairs["last_size_before_again"] < pairs["size_bytes"])
        & (pairs["last_size_before"] < pairs["size_bytes_again"])
        & ((pairs["magnitude"] > 0) == (pairs["magnitude_again"] > 0))
    )
    again = steps.index.isin(pairs.loc[same, "step"])
    return pd.DataFrame({"confidence": steps["confidence"], "again": again})


def main() -> int:
    """Print the table."""
    options = parser(__doc__)
    options.add_argument("stores", nargs="+", metavar="STORE")
    stores = options.parse_args().stores
    if len(stores) < 2:
        options.error("STORE: two or more are needed, one a session")
    try:
        steps = [steps_of(store) for store in stores]
    except InputError as error:
        options.error(str(error))
    told = pd.concat([come_again(*pair) for pair in itertools.permutations(steps, 2)])
    ranges = pd.cut(told["confidence"].astype(float), RANGES, right=False, include_lowest=True)
    print(f"{len(stores)} sessions with {', '.join(str(len(part)) for part in steps)} steps\n")
    print("| confidence | steps | come again |\n|---|---|---|")
    for within, part in told.groupby(ranges, observed=True)["again"]:
        print(f"| {within.left:.0%} to {within.right:.0%} | {len(part):,} | {part.mean():.0%} |")
    print(f"| all | {len(told):,} | {told['again'].mean():.0%} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
