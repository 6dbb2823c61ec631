"""Switchpoint: measure MPI by placement; find, explain and predict protocol switches.

The names below load what they need on first use, so that importing the package is fast.
"""

from __future__ import annotations

from importlib import import_module

# Loading `typing` takes half of the time before the command can catch Ctrl-C.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_HOMES = {
    "InputError": "errors",
    "DataWarning": "data_warnings",
    "Measurements": "tables.measurements",
    "Place": "models.links",
    "Record": "records.record",
    "RecordError": "errors",
    "Store": "store.store",
    "accept": "gating.accepted",
    "algorithms": "comparison.algorithms",
    "bundle": "comparison.bundle",
    "check_advice": "models.checked",
    "check_tuning": "tuning.checked",
    "claims": "studies.claims",
    "compare": "comparison.compare",
    "summarise": "tables.curves",
    "detect": "explanation.causes",
    "doctor": "sites.doctor",
    "explain": "explanation.switches",
    "gate": "gating.gate",
    "compare_with": "models.gaps",
    "fit_model": "models.fitting",
    "load_model": "models.site_model",
    "platform": "models.simgrid",
    "predict": "models.prediction",
    "recommend": "models.recommend",
    "write_advice": "models.advice_files",
    "write_studies": "reporting.studies.pages",
    "save_model": "models.site_model",
    "import_files": "store.importing",
    "read": "importing.reading",
    "read_facts": "records.record",
    "read_files": "importing.reading",
    "read_header": "records.record",
    "read_record": "records.record",
    "ladder": "comparison.ladder",
    "reach": "comparison.reach",
    "plan": "explanation.plan",
    "prove": "proving.prove",
    "references": "gating.references",
    "report": "reporting.pages.report",
    "reproduce": "reproduction.recipe",
    "tools": "comparison.tools",
    "tune": "tuning.tune",
    "write_tuning": "tuning.files",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'switchpoint' has no attribute {name!r}")
    value = getattr(import_module(f"switchpoint.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
