"""Which of many tests count, so that few of those that count are false."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from switchpoint.tables.sweeps import Floats


def significant(p: Floats, rate: float, *, alike: bool = False) -> npt.NDArray[np.bool_]:
    """Choose tests with this false discovery rate.

    Tests that depend on each other in any way need the procedure of Benjamini and Yekutieli (2001,
    Annals of Statistics 29(4), theorem 1.3): curves share links and nodes. For tests that are
    `alike`, such as of groups with common curves, that of Benjamini and Hochberg (1995) suffices.
    """
    n = len(p)
    if not n:
        return np.zeros(0, dtype=bool)
    order = np.argsort(p)
    price = 1.0 if alike else np.sum(1 / np.arange(1, n + 1))
    limit = rate * np.arange(1, n + 1) / (n * price)
    passed = np.flatnonzero(p[order] <= limit)
    chosen = np.zeros(n, dtype=bool)
    if len(passed):
        chosen[order[: passed[-1] + 1]] = True
    return chosen
