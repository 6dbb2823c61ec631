"""The numbers at the top of the modules of a package."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path
from types import ModuleType
from typing import Any


def constants(package: ModuleType) -> set[str]:
    """Return their names, by module."""
    found = set()
    for info in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        source = Path(str(module.__file__)).read_text(encoding="utf-8").splitlines()
        assigned = [
            line.split(" = ")[0] for line in source if " = " in line and line[0] not in " #"
        ]
        names = [name for text in assigned for name in text.split(", ") if name.isupper()]
        found |= {f"{info.name}.{name}" for name in names if _is_number(getattr(module, name))}
    return found


def _is_number(value: Any) -> bool:
    """Say whether a constant consists of numbers."""
    if isinstance(value, tuple):
        return all(map(_is_number, value))
    return isinstance(value, int | float)
