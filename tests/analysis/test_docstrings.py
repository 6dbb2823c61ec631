"""The examples in the docstrings are true."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest


@pytest.mark.parametrize(
    "module",
    [
        "importing.reframe_curves",
        "studies.efficiency",
        "studies.study_000",
        "tables.measurements",
        "tables.units",
    ],
)
def test_examples_print_what_they_say(module: str) -> None:
    result = doctest.testmod(import_module(f"switchpoint.{module}"))

    assert result.attempted > 0
    assert result.failed == 0
