"""Converts recommendations to the JSON that `model recommend --json` prints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from switchpoint.models.collectives import Advice
    from switchpoint.models.confirmation import Checked
    from switchpoint.models.prediction import Prediction
    from switchpoint.models.recommend import Recommendation
    from switchpoint.models.sort_maps import MapAdvice


def recommendation_as_json(found: Recommendation, written: Sequence[Path]) -> dict[str, Any]:
    """Convert a recommendation; docs/reference/recommendations.md says what each field means."""
    return {
        "site": found.site, "mpi": found.mpi, "placement": found.placement, "nodes": found.nodes,
        "algorithms_of": found.library.name,
        "algorithms": [_advice(one) for one in found.algorithms],
        "maps": [_map(one) for one in found.maps],
        "grains": [vars(one) for one in found.grains],
        "notes": found.notes,
        "written": [str(path) for path in written],
    }  # fmt: skip


def _advice(advice: Advice) -> dict[str, Any]:
    default = advice.default
    return {
        "operation": advice.operation, "ranks": advice.ranks, "nodes": advice.nodes,
        "size_bytes": advice.size_bytes, "verdict": advice.verdict,
        "algorithm": advice.best.algorithm.name, "segment_bytes": advice.best.segment_bytes,
        **_times("", advice.best_us),
        "default_algorithm": None if default is None else default.algorithm.name,
        **_times("default_", advice.default_us),
        "times_faster": advice.gain, "times_faster_between": advice.gain_interval,
        "as_good": list(advice.as_good),
        "in_file": advice.rule is not None, "notes": advice.best_us.notes,
        "checked": None if advice.checked is None else _checked(advice.checked),
    }  # fmt: skip


def _times(prefix: str, prediction: Prediction | None) -> dict[str, float | None]:
    return {
        f"{prefix}{name}": getattr(prediction, name, None)
        for name in ("time_us", "low_us", "high_us")
    }


def _checked(checked: Checked) -> dict[str, Any]:
    sides = {"with": checked.with_us, "without": checked.without_us}
    times = {
        f"{side}_{name}us": value
        for side, values in sides.items()
        for name, value in zip(("", "low_", "high_"), values, strict=True)
    }
    return times | {
        "times_faster": checked.gain,
        "launches": checked.launches,
        "verdict": "confirmed" if checked.wins else "withdrawn",
    }


def _map(advice: MapAdvice) -> dict[str, Any]:
    return {
        "size_bytes": advice.size_bytes, "fastest": advice.winner,
        **_times("one_process_", advice.alone_us), **_times("one_node_", advice.one_node_us),
        "best_map": advice.best_map, **_times("best_map_", advice.best_us),
        "as_good": list(advice.as_good),
    }  # fmt: skip
