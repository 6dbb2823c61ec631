"""Fits the confidences on the labelled curves that are not held out, without a detector's labels.

A boundary is right if its bracket contains the switch, whose place the setting says. Elsewhere it
is right if curves with other limits change there in the same way (`labelled.Witnesses`): the sizes
after the bracket lie off the line through those before it, to the same side and at least half as
far, in a quarter of these curves.
Each curve is scored with all of its repeats, and with one of them, as in other programs' tables.

`.venv/bin/python bench/detection/calibrate.py [--write] [FILE...]` prints how often findings of
each confidence were right: of the curves of the fit, and of those held out, half of the curves of
FILEs of `record_unseen.py`. With `--write` it fits on what is not held out, and updates
`analysis/switchpoint/detection/confidence.yaml`.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from switchpoint.detection import confidence
from switchpoint.detection.launches import detect_launches
from switchpoint.tables.findings import BOUNDARIES

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import logistic
from arguments import parser
from labelled import Curve, Witnesses, curves, launches, pool, unseen

DATA = Path(confidence.__file__).with_name("confidence.yaml")
BINS = [0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1]

#: Better odds or less noise never make a finding less sure.
NEVER_NEGATIVE = ("log_odds", "quiet_no_repeats")


def judged(every: list[Curve]) -> pd.DataFrame:
    """Return every boundary that is reported, its features, and whether it is right.

    Each curve is searched alone and once more together with its other launches.
    """
    rows = []
    for same in [*([one] for one in every), *launches(every)]:
        several = detect_launches(same[0].size, [(curve.time, curve.error) for curve in same])
        for curve, findings in zip(same, several, strict=True):
            witnesses = Witnesses(curve, pool(curve.recording))
            rows += [
                {
                    "held_out": curve.held_out,
                    "right": is_right(curve, finding, witnesses),
                    **confidence.features(finding, has_repeats=bool(np.median(curve.error) > 0)),
                }
                for finding in findings
                if finding["kind"] in BOUNDARIES
            ]
    return pd.DataFrame(rows)


def is_right(curve: Curve, finding: dict[str, Any], witnesses: Witnesses) -> bool:
    """Return whether a boundary's bracket contains the switch, or other curves confirm it."""
    low, high = finding["last_size_before"], finding["size_bytes"]
    if any(low < byte <= high for byte in curve.changes_by_setting):
        return True
    return witnesses.confirm(low, high, curve.change(low, high))


def fit(table: pd.DataFrame) -> dict[str, float]:
    """Fit the weights of the features.

    Each file counts the same, with repeats and without: most machines are not as quiet as the one
    with the most curves.
    """
    features = table.drop(columns=["file", "held_out", "right"])
    alike = table.groupby(["file", "no_repeats"])["right"].transform("size").to_numpy(dtype=float)
    counts = 1 / alike * len(table) / (1 / alike).sum()
    return logistic.fit(features, table["right"].to_numpy(dtype=float), counts, NEVER_NEGATIVE)


def reliability(table: pd.DataFrame) -> str:
    """Markdown table: of findings in each range of confidence, how many were right."""
    ranges = pd.cut(table["confidence"], BINS)
    rows = ["| confidence | findings | mean confidence | right |", "|---|---|---|---|"]
    for edges, part in table.groupby(ranges, observed=True):
        rows.append(
            f"| {edges.left:.2f} to {edges.right:.2f} | {len(part)}"
            f" | {part['confidence'].mean():.2f} | {part['right'].mean():.2f} |"
        )
    return "\n".join(rows)


def launch_scatter(every: list[Curve]) -> float:
    """Standard deviation of a whole curve from launch to launch, relative, by absolute deviations.

    Of the logarithm of the median ratio of two launches with the same limit.
    """
    pairs: dict[tuple[str, int], dict[int, Curve]] = defaultdict(dict)
    for curve in every:
        if curve.grid == "3 an octave":
            pairs[curve.transport, curve.limit][curve.launch] = curve
    apart = [
        np.median(np.log(both[0].time / both[1].time))
        for both in pairs.values()
        if len(both) == 2 and len(both[0].time) == len(both[1].time)
    ]
    return float(1.4826 * np.median(np.abs(apart)) / np.sqrt(2))


def main(files: list[Path], *, write: bool) -> None:
    """Print the reliability of the confidences, after an update if requested."""
    many = list(curves())
    tables = {"curves.parquet": pd.concat([judged(many), judged(list(curves(passes=1)))])}
    tables |= {path.name: judged(unseen(path)) for path in files}
    if write:
        every = pd.concat(table.assign(file=name) for name, table in tables.items())
        weights = fit(every[~every["held_out"]])
        comment = DATA.read_text(encoding="utf-8").split("constant:")[0]
        lines = [f"{name}: {weight:.4f}\n" for name, weight in weights.items()]
        DATA.write_text(comment + "".join(lines), encoding="utf-8")
        confidence._coefficients.cache_clear()
    for name, table in tables.items():
        sure = [
            confidence.confidence(found)
            for found in table.drop(columns=["held_out", "right"]).to_dict("records")
        ]
        parts = table.assign(confidence=sure).groupby(["held_out", "no_repeats"])
        for (held_out, no_repeats), part in parts:
            print(
                f"\n{name}, {'held out' if held_out else 'fitted on'},"
                f" {'without' if no_repeats else 'with'} repeats\n\n{reliability(part)}"
            )
    print(f"\nfrom launch to launch: {100 * launch_scatter(many):.0f} %")


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument("--write", action="store_true")
    options.add_argument("files", type=Path, nargs="*", metavar="FILE")
    given = options.parse_args()
    main(given.files, write=given.write)
