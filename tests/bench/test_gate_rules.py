"""Each rule of the gate can be left out by name, and no constant has been forgotten."""

from __future__ import annotations

import sys
from pathlib import Path
from pkgutil import resolve_name

import pytest
import switchpoint.gating
from constants import constants

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench" / "gate"))
from rules import KEPT, RULES, without


@pytest.mark.parametrize("name", RULES)
def test_a_rule_is_left_out_by_name(name: str) -> None:
    """A name that no longer exists is an error, and so is a constant with that value already."""
    rule = RULES[name]
    before = resolve_name(f"switchpoint.gating.{rule.path}")
    assert before != rule.instead
    with without(name):
        assert resolve_name(f"switchpoint.gating.{rule.path}") is rule.instead
    assert resolve_name(f"switchpoint.gating.{rule.path}") is before


def test_every_constant_has_a_rule_or_a_reason() -> None:
    replaced = {rule.path for rule in RULES.values()}
    kept = set().union(*KEPT.values())
    assert constants(switchpoint.gating) - replaced == kept
