"""Parallel efficiency of a task with a ring exchange: the model of Hanebutte and Tatsumi 1996.

Equation numbers are the paper's (study 002).
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from switchpoint.models.lines import fit_lines
from switchpoint.tables.sweeps import Floats

WORD_BYTES = 4

#: Ping-pong sizes for the fit of a link: those of the study's messages.
FIT_BYTES = (WORD_BYTES, 64 * 1024)


@dataclass(frozen=True)
class Link:
    """The time of a message of L words: `start_us` and `word_us` for each word of 4 bytes."""

    start_us: float
    word_us: float

    def exchange_us(self, ranks: int, words: int) -> float:
        """Equation 3: time of the round-robin exchange over a shared medium."""
        return 2 * (self.start_us + self.word_us * ranks / 2 * words)


#: The paper's constants for Ethernet, from Foster, Designing and Building Parallel Programs (1994).
LITERATURE = Link(start_us=1500, word_us=5)


def speedup(task_us: Floats | float, parallel_us: Floats | float) -> Floats | float:
    """Equation 1: time of the task on one rank divided by its time on all, with communication."""
    return task_us / parallel_us


def efficiency(task_us: float, ranks: int, exchange_us: float, serial: float = 0.0) -> float:
    """Equation 6, and with `serial` = 0 equation 2: share of the ranks' time for the task.

    Parameters
    ----------
    task_us
        T, the task's time on one rank.
    ranks
        np.
    exchange_us
        Tcom.
    serial
        s, the share of T that one rank does alone (equations 4 and 5).

    >>> round(efficiency(1e6, 4, LITERATURE.exchange_us(4, 1), serial=0.01), 4)
    0.9596
    """
    return task_us / ((1 - serial) * task_us + ranks * (serial * task_us + exchange_us))


def break_even_us(ranks: int, exchange_us: float) -> float:
    """Task below which the parallel program is slower than the serial one: efficiency 1 / ranks.

    >>> round(break_even_us(4, LITERATURE.exchange_us(4, 10_000)))
    270667
    """
    return ranks * exchange_us / (ranks - 1)


def fit_link(size_bytes: Floats, time_us: Floats) -> Link:
    """Fit a link to half round trips, as `models.lines.fit_lines` does.

    Parameters
    ----------
    size_bytes, time_us : array of float, shape (n,)
        From a ping-pong, which the paper names as the other source of the constants.
    """
    start_us, word_us = fit_lines(size_bytes / WORD_BYTES, time_us[None])
    return Link(float(start_us[0]), float(word_us[0]))


def link_of_sends(samples: pd.DataFrame, fewest_sizes: int) -> Link | None:
    """Fit a link to the ping-pong's single messages of the study's sizes.

    Parameters
    ----------
    samples
        `size_bytes` and `time_us` of the mode `send`.
    fewest_sizes
        With fewer sizes between `FIT_BYTES` there is no link.
    """
    inside = samples[samples["size_bytes"].between(*FIT_BYTES)]
    times = inside.groupby("size_bytes")["time_us"].median()
    if len(times) < fewest_sizes:
        return None
    return fit_link(times.index.to_numpy(dtype=float), times.to_numpy(dtype=float))
