"""Each rule of the gate can be left out by name, and is back afterwards."""

from __future__ import annotations

import sys
from pathlib import Path
from pkgutil import resolve_name

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench" / "gate"))
from rules import RULES, without


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_is_left_out_by_name(rule: str) -> None:
    path, instead = RULES[rule]
    before = resolve_name(f"switchpoint.gating.{path}")
    assert before != instead
    with without(rule):
        assert resolve_name(f"switchpoint.gating.{path}") is instead
    assert resolve_name(f"switchpoint.gating.{path}") is before
