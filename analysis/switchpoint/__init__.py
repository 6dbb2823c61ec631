"""Switchpoint: measure MPI by placement; find, explain and predict protocol switches.

The names below load what they need on first use, so that importing the package stays cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "InputError": "errors",
    "Measurements": "measurements",
    "Record": "record",
    "RecordError": "errors",
    "Store": "store",
    "claims": "studies",
    "summarise": "curves",
    "detect": "detection",
    "doctor": "diagnosis",
    "explain": "explanation",
    "import_files": "importing.storing",
    "read": "importing",
    "read_facts": "record",
    "read_files": "importing",
    "read_header": "record",
    "read_record": "record",
    "report": "reporting",
    "reproduce": "reproduction",
    "tools": "echo",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'switchpoint' has no attribute {name!r}")
    value = getattr(import_module(f"switchpoint.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
