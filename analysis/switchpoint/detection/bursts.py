"""Finds noise bursts: passes over the shuffled sweep that are slower than others at all sizes."""

from __future__ import annotations

import numpy as np
import pandas as pd

from switchpoint.detection.outliers import sure_of_none_in
from switchpoint.tables.curves import Passes
from switchpoint.tables.findings import Anomaly
from switchpoint.tables.student import SD_PER_MAD
from switchpoint.tables.sweeps import Indices, Sweeps

#: Smaller relative changes of a whole pass are not reported.
SMALLEST_BURST = 0.1

#: A pass is slow if its median ratio to the others is this many standard errors above 1.
_BURST_ERRORS = 5.0
_FEWEST_PASSES = 4

_MEDIAN_ERROR = 1.2533  # of normal values over that of their mean, sqrt(pi / 2)


def noise_bursts(sweeps: Sweeps, passes: Passes) -> list[Anomaly]:
    """Find passes that are slower than the others at all sizes of a curve.

    Parameters
    ----------
    sweeps, passes
        Samples of any number of curves, and how their passes compare.

    Returns
    -------
    list of dict
        At most one finding per curve, with its identity: `evidence` names the passes and how much
        slower each was. Fewer than four passes or six sizes give no finding.
    """
    errors = passes.slower / np.maximum(
        _MEDIAN_ERROR * SD_PER_MAD * passes.scatter / np.sqrt(passes.sizes), 1e-3
    )
    slow = (np.expm1(passes.slower) >= SMALLEST_BURST) & (errors >= _BURST_ERRORS)
    slow &= np.bincount(passes.curve)[passes.curve] >= _FEWEST_PASSES
    identities = sweeps.identities()
    found: list[Anomaly] = []
    for curve in np.unique(passes.curve[slow]):
        here = slow & (passes.curve == curve)
        table = pd.DataFrame(
            {"pass": passes.number, "slower": np.expm1(passes.slower), "errors": errors}
        )[here]
        sizes = sweeps.size_bytes[sweeps.curve == curve]
        number = int((passes.curve == curve).sum())
        found.append({**identities[curve], **_burst(table, sizes, number)})
    return found


def _burst(slow: pd.DataFrame, sizes: Indices, passes: int) -> Anomaly:
    return {
        "kind": "noise_burst",
        "size_bytes": int(sizes.min()),
        "last_size_before": 0,
        "magnitude": float(slow["slower"].max()),
        "confidence": sure_of_none_in(passes, float(slow["errors"].max())),
        "evidence": {
            "passes": [int(number) for number in slow["pass"]],
            "slower": [float(share) for share in slow["slower"]],
            "of_passes": passes,
            "last_size_bytes": int(sizes.max()),
        },
    }
