"""Fits what turns posteriors into confidences, on the labelled curves that are not held out.

`.venv/bin/python bench/detection/calibrate.py [--write]` prints the reliability of both parts, and
with `--write` renews `analysis/switchpoint/detection/confidence.yaml`.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from switchpoint.detection import confidence
from switchpoint.detection.launches import detect_launches
from switchpoint.tables.findings import BOUNDARIES

sys.path.insert(0, str(Path(__file__).resolve().parent))
from labelled import Curve, curves, launches

DATA = Path(confidence.__file__).with_name("confidence.yaml")
BINS = [0, 0.5, 0.7, 0.8, 0.9, 0.95, 1]


def judged() -> pd.DataFrame:
    """Every boundary that is reported in the labelled curves, and whether it is right.

    Each curve is searched by itself and once more together with its other launch.
    """
    every = list(curves())
    return pd.DataFrame([*_found([[one] for one in every]), *_found(launches(every))])


def _found(several: list[list[Curve]]) -> Iterator[dict[str, object]]:
    """Search launches together, and judge what they report."""
    found: dict[tuple[str, str], list[tuple[Curve, list[dict[str, object]]]]] = defaultdict(list)
    for same in several:
        findings = detect_launches(same[0].size, [(curve.time, curve.error) for curve in same])
        for curve, mine in zip(same, findings, strict=True):
            boundaries = [finding for finding in mine if finding["kind"] in BOUNDARIES]
            found[curve.transport, curve.grid].append((curve, boundaries))
    for family in found.values():
        yield from _rows(family)


def _rows(
    family: list[tuple[Curve, list[dict[str, object]]]],
) -> Iterator[dict[str, object]]:
    """Judge the findings of curves of one transport and grid.

    Near the set limit only the limit's own bracket is right; elsewhere a bracket is right that
    recurs in at least two curves with other limits.
    """
    for curve, boundaries in family:
        recurring = Counter(
            (other["last_size_before"], other["size_bytes"])
            for sibling, others in family
            if sibling.limit != curve.limit
            for other in others
        )
        for finding in boundaries:
            bracket = finding["last_size_before"], finding["size_bytes"]
            place = int(np.searchsorted(curve.size, finding["size_bytes"]))
            if curve.truth is not None and abs(place - curve.truth) <= 1:
                right = place == curve.truth
            else:
                right = recurring[bracket] >= 2
            evidence = finding["evidence"]
            assert isinstance(evidence, dict)
            yield {
                "held_out": curve.held_out,
                "right": right,
                "confidence": finding["confidence"],
                **confidence.features(str(finding["kind"]), evidence["posterior"], *bracket),
            }


def fit(table: pd.DataFrame) -> dict[str, float]:
    """Logistic regression by Newton's steps, with a slight ridge."""
    names = ["constant", "log_odds", "slope_change", "log2_gap"]
    x, y = table[names].to_numpy(dtype=float), table["right"].to_numpy(dtype=float)
    weights = np.zeros(len(names))
    for _ in range(50):
        share = 1 / (1 + np.exp(-x @ weights))
        curvature = (x * (share * (1 - share))[:, None]).T @ x + 0.1 * np.eye(len(names))
        weights += np.linalg.solve(curvature, x.T @ (y - share) - 0.1 * weights)
    return dict(zip(names, map(float, weights), strict=True))


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


def launch_scatter() -> float:
    """Standard deviation of a whole curve from launch to launch, relative, by absolute deviations.

    Of the logarithm of the median ratio of two launches with the same limit.
    """
    pairs: dict[tuple[str, int], dict[int, Curve]] = defaultdict(dict)
    for curve in curves():
        if curve.grid == "3 an octave":
            pairs[curve.transport, curve.limit][curve.launch] = curve
    apart = [
        np.median(np.log(both[0].time / both[1].time))
        for both in pairs.values()
        if len(both) == 2 and len(both[0].time) == len(both[1].time)
    ]
    return float(1.4826 * np.median(np.abs(apart)) / np.sqrt(2))


def main(write: bool) -> None:
    """Print the reliability of the confidences as they are, or renew them first."""
    table = judged()
    if write:
        weights = fit(table[~table["held_out"]])
        comment = DATA.read_text(encoding="utf-8").split("constant:")[0]
        lines = [f"{name}: {weight:.4f}\n" for name, weight in weights.items()]
        DATA.write_text(comment + "".join(lines), encoding="utf-8")
        confidence._coefficients.cache_clear()
        table = judged()
    for name, part in (("fitted on", ~table["held_out"]), ("held out", table["held_out"])):
        print(f"\n{name}\n\n{reliability(table[part])}")
    print(f"\nfrom launch to launch: {100 * launch_scatter():.0f} %")


if __name__ == "__main__":
    main("--write" in sys.argv)
