"""P values are adjusted for their number as SciPy does, which takes long to load."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from switchpoint.gating.baseline import false_discovery_control


@pytest.mark.parametrize("count", [1, 2, 50])
def test_adjusted_p_values_are_those_of_scipy(count: int) -> None:
    p = np.random.default_rng(count).random(count) ** 3

    assert false_discovery_control(p) == pytest.approx(stats.false_discovery_control(p))


def test_no_p_values_are_adjusted_to_none() -> None:
    assert len(false_discovery_control(np.array([]))) == 0
