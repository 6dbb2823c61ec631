"""Each rule of detection can be switched off by name, and no constant has been forgotten."""

from __future__ import annotations

import sys
from pathlib import Path
from pkgutil import resolve_name

import pytest
import switchpoint.detection
from constants import constants

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench" / "detection"))
from ablation import KEPT, RULES, without


@pytest.mark.parametrize("name", RULES)
def test_a_rule_is_switched_off_by_name(name: str) -> None:
    """A name that no longer exists is an error, and so is a constant with that value already."""
    for target, instead in RULES[name].instead.items():
        before = resolve_name(f"switchpoint.{target}")
        assert before != instead
        with without(name):
            assert resolve_name(f"switchpoint.{target}") is instead
        assert resolve_name(f"switchpoint.{target}") is before


def test_every_constant_has_a_rule_or_a_reason() -> None:
    replaced = {
        target.removeprefix("detection.") for rule in RULES.values() for target in rule.instead
    }
    kept = set().union(*KEPT.values())
    assert constants(switchpoint.detection) - replaced == kept - replaced
    assert kept <= constants(switchpoint.detection)
