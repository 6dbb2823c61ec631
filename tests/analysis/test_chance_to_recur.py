"""The confidence is the chance that another run shows a finding: more runs and modes raise it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from switchpoint import detect

#: Sizes of a sweep with three an octave.
SIZES = np.unique(np.round(2 ** np.arange(0, 20, 1 / 3)).astype(int))


def curve(run_id: str, mode: str, factor: float) -> pd.DataFrame:
    """One curve of five passes, whose time changes by a factor from 16 KiB on."""
    rng = np.random.default_rng([*run_id.encode(), *mode.encode()])
    size, number = np.tile(SIZES, 5), np.repeat(np.arange(5), len(SIZES))
    time = (5 + size / 1e4) * np.where(size >= 16384, factor, 1) * rng.lognormal(0, 0.02, size.size)
    table = {"run_id": run_id, "mode": mode, "size_bytes": size, "pass": number, "sample": 0}
    return pd.DataFrame(table | {"iterations": 1, "time_us": time})


def step(curves: Iterable[pd.DataFrame]) -> dict[str, Any]:
    """The finding at 16 KiB of the first curve."""
    found = detect(pd.concat(curves, ignore_index=True))
    here = found[(found["size_bytes"] == 16384) & (found["run_id"] == "a")]
    row: dict[str, Any] = here[here["mode"] == "send"].iloc[0].to_dict()
    return row


def test_a_step_that_other_modes_of_its_run_show_is_surer() -> None:
    modes = ("ssend", "stream", "sstream")
    alone = step([curve("a", "send", 1.2), *(curve("a", mode, 1.0) for mode in modes)])
    shared = step([curve("a", "send", 1.2), *(curve("a", mode, 1.2) for mode in modes)])

    assert (alone["evidence"]["siblings"], alone["evidence"]["of_siblings"]) == (0, 3)
    assert (shared["evidence"]["siblings"], shared["evidence"]["of_siblings"]) == (3, 3)
    assert shared["confidence"] > alone["confidence"] + 0.2


def test_a_step_of_few_launches_is_less_sure_than_one_of_all() -> None:
    few = step([curve("a", "send", 1.5), *(curve(run, "send", 1.0) for run in "bcd")])
    every = step(curve(run, "send", 1.5) for run in "abcd")

    assert (few["evidence"]["launches"], few["evidence"]["of_launches"]) == (1, 4)
    assert (every["evidence"]["launches"], every["evidence"]["of_launches"]) == (4, 4)
    assert every["confidence"] > few["confidence"] + 0.2


def test_a_time_that_falls_or_changes_little_is_less_sure() -> None:
    slower, faster, little = (step([curve("a", "send", one)]) for one in (1.5, 1 / 1.5, 1.15))

    assert faster["confidence"] < slower["confidence"] - 0.2
    assert little["confidence"] < slower["confidence"] - 0.1


def test_nothing_is_certain() -> None:
    confidence = step(curve(run, "send", 5.0) for run in "abcdefgh")["confidence"]

    assert 0.9 < confidence < 0.95
