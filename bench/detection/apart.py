"""Counts how often two tables are taken for different curves: repeats of one, and others.

`.venv/bin/python bench/detection/apart.py` reads the recordings in this folder. Each pass of a
sweep counts as a table without repeats. For pairs of tables it prints how many differ by each
factor, as `switchpoint.tables.unlike` compares them: passes of one launch, launches of one curve,
and curves of other transports (MPI and placement) and placements. The last column has pairs of
single sizes.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from switchpoint.tables.unlike import gap

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from arguments import parser

FOLDER = Path(__file__).parent

FACTORS = (1.05, 1.1, 1.2, 4 / 3, 1.5, 2.0)
FACTOR_OF_ONE_SIZE = 3.0

#: What names a sweep in `sessions.parquet`, and in recordings of two launches of each curve. The
#: last one numbers launches.
OF_SESSIONS = ["mpi", "placement", "mode", "session"]
OF_LAUNCHES = ["recipe", "transport", "limit", "launch"]
RECORDINGS = ("curves", "unseen", "held", "idle", "later", "latest")

#: So many pairs of passes of a sweep, and of other transports of a recipe, are compared.
PASSES = 3
PAIRS = 100

Times = npt.NDArray[np.float64]


def main() -> None:
    """Print the table."""
    parser(__doc__).parse_args()
    kinds: dict[str, list[Times]] = {}
    for kind, one, other in pairs():
        ratios = np.log(one / other)
        kinds.setdefault(kind, []).append(ratios[np.isfinite(ratios)])
    heading = ["differ by", "pairs", *(f"{factor:.3g}" for factor in FACTORS)]
    print("|", " | ".join([*heading, f"one size by {FACTOR_OF_ONE_SIZE:g}"]), "|")
    print("|---" * (len(heading) + 1) + "|")
    for kind, found in kinds.items():
        gaps = np.array([gap(ratios) for ratios in found])
        cells = [f"{100 * np.mean(gaps > np.log(factor)):.2f} %" for factor in FACTORS]
        of_one = np.abs(np.concatenate(found)) > np.log(FACTOR_OF_ONE_SIZE)
        cells.append(f"{100 * np.mean(of_one):.2f} %")
        print("|", " | ".join([kind, f"{len(found):,}", *cells]), "|")


def pairs() -> Iterator[tuple[str, Times, Times]]:
    """Yield pairs of tables on the same sizes, and what they differ in."""
    recorded = [(name, pd.read_parquet(FOLDER / f"{name}.parquet")) for name in RECORDINGS]
    sessions = by_pass(pd.read_parquet(FOLDER / "sessions.parquet"), OF_SESSIONS)
    recordings = [by_pass(table.assign(recipe=table.get("recipe", "")), OF_LAUNCHES)
                  for _, table in recorded]  # fmt: skip
    for tables in (sessions, *recordings):
        for passes in tables.values():
            for one, other in itertools.combinations(passes[:PASSES], 2):
                yield "passes of a launch", one, other
    for tables in (sessions, *recordings):
        launches: dict[tuple[object, ...], list[Times]] = {}
        for names, passes in tables.items():
            launches.setdefault(names[:-1], []).append(passes[0])
        for tables_of_curve in launches.values():
            for one, other in itertools.combinations(tables_of_curve, 2):
                yield "launches of a curve", one, other
    for tables in recordings:
        yield from other_transports(tables)
    for (names, one), (others, other) in itertools.combinations(sessions.items(), 2):
        if names[0] == others[0] and names[1] != others[1] and names[2] == others[2]:
            yield "other placements", one[0], other[0]


def other_transports(
    tables: dict[tuple[object, ...], list[Times]],
) -> Iterator[tuple[str, Times, Times]]:
    """Yield pairs of a recipe's curves of other transports, drawn with a seed."""
    draw = np.random.default_rng(1)
    for recipe in dict.fromkeys(names[0] for names in tables):
        own = [names for names in tables if names[0] == recipe]
        chosen = (draw.integers(len(own), size=2) for _ in range(20 * PAIRS))
        drawn = ((own[one], own[other]) for one, other in chosen)
        unlike = ((one, other) for one, other in drawn if one[1] != other[1])
        for one, other in itertools.islice(unlike, PAIRS):
            yield "other transports", tables[one][0], tables[other][0]


def by_pass(table: pd.DataFrame, names: list[str]) -> dict[tuple[object, ...], list[Times]]:
    """Return for each sweep the mean times of its passes at the sizes of the recording."""
    means = table.groupby([*names, "pass", "size_bytes"], observed=True)["time_ns"].mean()
    wide = means.reset_index().pivot_table(
        index=[*names, "pass"], columns="size_bytes", values="time_ns", observed=True
    )
    sweeps: dict[tuple[object, ...], list[Times]] = {}
    for row, times in zip(wide.index, wide.to_numpy(dtype=float), strict=True):
        sweeps.setdefault(tuple(row[:-1]), []).append(times)
    return sweeps


if __name__ == "__main__":
    main()
