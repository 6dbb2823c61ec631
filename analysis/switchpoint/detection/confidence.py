"""Turns the posterior of a boundary into a confidence: how often such a finding was right.

The coefficients (`confidence.yaml`) come from labelled curves: bench/detection/calibrate.py.
"""

from __future__ import annotations

import functools
import math
from importlib import resources

import yaml

#: Odds are cut here: beyond, the model of the noise is what fails, not the noise.
LARGEST_LOG_ODDS = math.log(1e6)


def features(kind: str, posterior: float, last_size_before: float, size: float) -> dict[str, float]:
    """What a boundary's confidence is read from.

    Returns
    -------
    dict
        `constant` 1; `log_odds`, natural, of the posterior; `slope_change`, 1 for that kind, else
        0; `log2_gap`, the octaves between the two sizes, at most 1: wide brackets are easier.
    """
    odds = posterior / max(1 - posterior, 1e-300)
    gap = math.log2(size / last_size_before) if last_size_before > 0 else 1.0
    return {
        "constant": 1.0,
        "log_odds": min(max(math.log(max(odds, 1e-300)), -LARGEST_LOG_ODDS), LARGEST_LOG_ODDS),
        "slope_change": float(kind == "slope_change"),
        "log2_gap": min(gap, 1.0),
    }


def confidence(kind: str, posterior: float, last_size_before: float, size: float) -> float:
    """Probability that a reported boundary is real and lies between exactly these two sizes."""
    weights = _coefficients()
    found = features(kind, posterior, last_size_before, size)
    return 1 / (1 + math.exp(-sum(weights[name] * value for name, value in found.items())))


@functools.cache
def _coefficients() -> dict[str, float]:
    text = resources.files(__package__).joinpath("confidence.yaml").read_text(encoding="utf-8")
    coefficients: dict[str, float] = yaml.safe_load(text)
    return coefficients
