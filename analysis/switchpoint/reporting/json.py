"""Converts results to the JSON that `--json` of each verb prints."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import pandas as pd

    from switchpoint.comparison.compare import Comparison
    from switchpoint.data_warnings import DataWarning
    from switchpoint.explanation.entries import Entries
    from switchpoint.explanation.plan import Plan
    from switchpoint.explanation.values import Candidate
    from switchpoint.gating.verdict import Verdict
    from switchpoint.reproduction.differences import Difference
    from switchpoint.reproduction.recipe import Recipe
    from switchpoint.sites.doctor import Fact
    from switchpoint.store.importing import Imported

#: What `--json` prints of one thing: an object.
Json: TypeAlias = "dict[str, Any]"


def print_json(content: object) -> None:
    """Print the result of one of the functions below, with null for numbers that are not finite."""
    try:
        text = json.dumps(content, indent=2, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(content), indent=2, allow_nan=False)
    print(text)


def _finite(content: Any) -> Any:
    if isinstance(content, Mapping):
        return {name: _finite(value) for name, value in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content


def findings_as_json(findings: pd.DataFrame) -> list[Json]:
    """Convert findings to the JSON of docs/reference/findings.md, with the curve as an object."""
    from switchpoint.tables.columns import records
    from switchpoint.tables.findings import Finding, as_object

    return [{**as_object(row), "run_id": row["run_id"]} for row in records(findings, Finding)]


def switches_as_json(switches: pd.DataFrame) -> list[Json]:
    """Convert switches to the JSON of docs/reference/findings.md, with the curve as an object."""
    from switchpoint.explanation.places import EXPLANATION_COLUMNS, curve_columns
    from switchpoint.tables.columns import records

    curve = curve_columns(switches)
    return [
        {"curve": {name: row[name] for name in curve if isinstance(row[name], str)}}
        | {name: row[name] for name in EXPLANATION_COLUMNS}
        for row in records(switches)
    ]


def eager_as_json(eager: pd.DataFrame) -> list[Json]:
    """Convert the table of `stayed_eager` to the JSON of docs/reference/findings.md."""
    from switchpoint.explanation.eager import EAGER_COLUMNS
    from switchpoint.explanation.places import CURVE
    from switchpoint.tables.columns import records

    return [
        {"curve": {name: row[name] for name in CURVE if isinstance(row[name], str)}}
        | {name: row[name] for name in EAGER_COLUMNS}
        for row in records(eager)
    ]


def import_as_json(outcome: Imported) -> Json:
    """Convert the result of an import."""
    return {
        "added": outcome.added,
        "already_stored": outcome.already_stored,
        "values_added": outcome.values_added,
        "values_already_stored": outcome.values_already_stored,
        "failed": [str(failure) for failure in outcome.failures],
    }


def claims_as_json(claims: pd.DataFrame, efficiencies: pd.DataFrame) -> Json:
    """Convert the studies' claims, and the efficiencies that some of them use."""
    from switchpoint.tables.columns import records

    tables = {"claims": claims, "efficiency": efficiencies}
    return {name: records(table) for name, table in tables.items()}


def tools_as_json(table: pd.DataFrame) -> Json:
    """Convert the round trips of each tool, with the tools that were not measured."""
    from switchpoint.comparison.tools import missing_tools

    rows = json.loads(table.to_json(orient="records"))
    return {"tools": rows, "not_measured": missing_tools(table)}


def algorithms_as_json(table: pd.DataFrame) -> Json:
    """Convert the algorithms of collectives, a row for each size."""
    from switchpoint.tables.columns import records

    return {"algorithms": records(table)}


def comparison_as_json(found: Comparison) -> Json:
    """Convert a comparison; docs/reference/compare.md says what each column means."""
    from switchpoint.tables.columns import records

    names = ("sides", "ranges", "sizes", "unmatched", "facts")
    return {name: records(getattr(found, name)) for name in names}


def ladder_as_json(rungs: pd.DataFrame) -> Json:
    """Convert the rungs of ladders, with their curve as an object."""
    from switchpoint.comparison.ladder import RUNG_COLUMNS
    from switchpoint.tables.columns import records

    rows = records(rungs)
    return {
        "rungs": [
            {"curve": {k: v for k, v in row.items() if k not in RUNG_COLUMNS and v is not None}}
            | {name: row[name] for name in RUNG_COLUMNS}
            for row in rows
        ]
    }


def recipe_as_json(recipe: Recipe, differences: Iterable[Difference], written: Path | None) -> Json:
    """Convert what a run needs, what differs here, and the path of the written folder, if any."""
    return {
        "run_id": recipe.run_id,
        "facts": dict(recipe.facts()),
        "arguments": recipe.arguments,
        "environment": recipe.environment,
        "differences": [vars(difference) for difference in differences],
        "written": None if written is None else str(written),
    }


def verdict_as_json(verdict: Verdict) -> Json:
    """Convert the verdict of the gate to the JSON of docs/reference/gate.md."""
    from switchpoint.tables.columns import records

    return {
        "session": verdict.session,
        "start_utc": verdict.start_utc,
        "baseline_sessions": verdict.sessions,
        "curves": len(verdict.curves),
        "fails": verdict.fails,
        "findings": records(verdict.findings),
        **warnings_as_json(verdict.warnings),
        "power": [*verdict.power],
    }


def warnings_as_json(warnings: Iterable[DataWarning]) -> Json:
    """Convert warnings: their texts, and in the same order the kind of each."""
    warnings = [*warnings]
    return {
        "warnings": [*map(str, warnings)],
        "warning_kinds": [warning.kind for warning in warnings],
    }


def acceptance_as_json(row: Mapping[str, Any]) -> Json:
    """Convert an accepted finding."""
    names = ["finding_id", "kind", "metric", "session", "sentence", "reason", "accepted_by"]
    return {name: row.get(name) for name in [*names, "accepted_utc", "accepted_until"]}


def predictions_as_json(table: pd.DataFrame, *, activity: bool) -> Json:
    """Convert predicted times, and if wanted what each rank does at which time."""
    from switchpoint.tables.columns import records

    rows = records(table)
    for row in rows:
        spans = [[s.rank, s.phase, s.start_us, s.end_us] for s in row.pop("activity")]
        if activity:
            row["activity"] = spans
    return {"predictions": rows}


def beside_measured_as_json(comparison: pd.DataFrame) -> Json:
    """Convert predictions beside measurements, and their gaps as findings."""
    from switchpoint.models.gaps import prediction_gaps
    from switchpoint.tables.columns import records

    points = records(comparison)
    return {"points": points, "findings": prediction_gaps(comparison)}


def plan_as_json(planned: Plan) -> Json:
    """Convert what to measure next, in the form that the checks read."""
    return {
        "brackets": [
            {"mode": mode, "last_size_before": last, "size_bytes": first}
            for mode, last, first in planned.brackets
        ],
        "kernel": planned.kernel,
        "sizes_bytes": list(planned.sizes_bytes),
        "notes": planned.notes,
        "last_size_bytes": planned.last,
        "settings": [vars(one) | {"try": _values_to_try(one)} for one in planned.settings],
    }


def _values_to_try(one: Candidate) -> list[int]:
    return [] if one.value is None else [*one.higher, *one.lower]


def entries_as_json(entries: Entries) -> Json:
    """Convert settings of the catalogue, and the stack of the run for which they count."""
    stack = entries.stack
    if stack is None:
        return {"settings": entries.rows}
    transports = {
        layer: None if names is None else sorted(names) for layer, names in stack.transports.items()
    }
    known = vars(stack) | {"transports": transports}
    return {"stack": known, "path": entries.path, "settings": entries.rows}


def facts_as_json(facts: Iterable[Fact]) -> Json:
    """Convert what `doctor` found."""
    return {"facts": [vars(fact) for fact in facts]}
