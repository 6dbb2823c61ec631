"""Draws examples with Hypothesis where no test is run: without its database and its shrinking."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

_Given = TypeVar("_Given")


def for_each_example(
    strategy: SearchStrategy[_Given], count: int, number: int, act: Callable[[_Given], None]
) -> None:
    """Call a function with so many examples that a seed chooses.

    Hypothesis always begins with the simplest example, which would be the same for each seed; it
    does not count.
    """
    drawn = 0

    @seed(number)
    @settings(
        max_examples=count + 1,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def run(example: _Given) -> None:
        nonlocal drawn
        drawn += 1
        if drawn > 1:
            act(example)

    run()
