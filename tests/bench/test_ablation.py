"""Each rule of detection can be switched off by name, and no constant has been forgotten."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest
import switchpoint.detection

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench" / "detection"))
from ablation import KEPT, RULES, without


def constants() -> set[str]:
    """Return the names of the numbers at the top of the modules of detection, by module."""
    found = set()
    for info in pkgutil.iter_modules(switchpoint.detection.__path__):
        module = importlib.import_module(f"switchpoint.detection.{info.name}")
        source = Path(str(module.__file__)).read_text(encoding="utf-8").splitlines()
        assigned = [
            line.split(" = ")[0] for line in source if " = " in line and line[0] not in " #"
        ]
        names = [name for text in assigned for name in text.split(", ") if name.isupper()]
        found |= {f"{info.name}.{name}" for name in names if is_number(getattr(module, name))}
    return found


def is_number(value: Any) -> bool:
    """Say whether a constant consists of numbers."""
    if isinstance(value, tuple):
        return all(map(is_number, value))
    return isinstance(value, int | float)


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
    assert constants() - replaced == kept - replaced
    assert kept <= constants()
