"""Converts what is known of a boundary into a confidence: how often such a finding was right.

The coefficients (`confidence.yaml`) come from labelled curves: bench/detection/calibrate.py.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from importlib import resources

import yaml

from switchpoint.tables.findings import Anomaly

#: Odds are limited to this: beyond it the model of the noise is wrong.
LARGEST_LOG_ODDS = math.log(1e6)

#: A curve with less relative noise than this is as quiet as one with this.
_LEAST_NOISE = 0.02


def features(finding: Anomaly, *, has_repeats: bool) -> dict[str, float]:
    """Return the features from which a boundary's confidence is computed.

    Parameters
    ----------
    finding
        With `kind`, `size_bytes`, `last_size_before` and `evidence`.
    has_repeats
        Whether sizes were measured more than once, so that their noise is known.

    Returns
    -------
    dict
        `constant` 1; `log_odds`, natural, of the posterior; `slope_change` 1 for this kind,
        otherwise 0; `log2_gap`, the octaves between the two sizes, at most 1: wide brackets are
        easier; `no_repeats` 1 without repeats, and `odds_no_repeats`, the log-odds without them;
        `quiet_no_repeats`, the logarithm of one over the noise without them: what disturbs one
        table of a busy machine also scatters its other sizes.
    """
    posterior, noise = finding["evidence"]["posterior"], finding["evidence"]["noise"]
    low, high = finding["last_size_before"], finding["size_bytes"]
    odds = posterior / max(1 - posterior, 1e-300)
    log_odds = min(max(math.log(max(odds, 1e-300)), -LARGEST_LOG_ODDS), LARGEST_LOG_ODDS)
    return {
        "constant": 1.0,
        "log_odds": log_odds,
        "slope_change": float(finding["kind"] == "slope_change"),
        "log2_gap": min(math.log2(high / low), 1.0) if low > 0 else 1.0,
        "no_repeats": float(not has_repeats),
        "odds_no_repeats": log_odds * float(not has_repeats),
        "quiet_no_repeats": 0.0 if has_repeats else -math.log(min(max(noise, _LEAST_NOISE), 1.0)),
    }


def confidence(found: Mapping[str, float]) -> float:
    """Return the probability that a boundary with these features is real and in its bracket."""
    weights = _coefficients()
    return 1 / (1 + math.exp(-sum(weights[name] * value for name, value in found.items())))


@functools.cache
def _coefficients() -> dict[str, float]:
    text = resources.files(__package__).joinpath("confidence.yaml").read_text(encoding="utf-8")
    coefficients: dict[str, float] = yaml.safe_load(text)
    return coefficients
