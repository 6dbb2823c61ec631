"""Prepares the tables of the report: summary, findings, chosen sizes, and each run's provenance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from switchpoint.comparison.baselines import Pairing, ratios
from switchpoint.comparison.tools import has_echo, tools
from switchpoint.explanation.causes import prominent
from switchpoint.records.activity import activity_table
from switchpoint.reporting.run_terms import build_terms, record_terms, tool_terms
from switchpoint.reproduction.again import Again
from switchpoint.tables.findings import SHOWN
from switchpoint.tables.measurements import Measurements
from switchpoint.tables.naming import plain_columns, shared_words, short, telling_columns

#: Commonly quoted sizes: smallest latency, about a cache line, both sides of 64 KiB, streaming.
CHOSEN_SIZES = [8, 1024, 32 * 1024, 64 * 1024, 1024 * 1024]


def summary(measurements: Measurements, findings: pd.DataFrame) -> dict[str, int]:
    """Count the contents of the report."""
    return {
        "curves": len(measurements.curves),
        "samples": len(measurements.samples),
        "runs": len(measurements.runs),
        "steps": int((findings["kind"] == "step").sum()),
        "slope_changes": int((findings["kind"] == "slope_change").sum()),
    }


def finding_table(findings: pd.DataFrame) -> dict[str, Any]:
    """Return each finding with its curve; prominent ones are separate."""
    columns = telling_columns(findings)
    heads = prominent(findings)
    rows = _records(findings)
    for row in rows:
        row["curve"] = [short(name, row[name]) for name in columns]
        row["shown"] = [column.text(row) for column in SHOWN]
    return {
        "columns": [_heading(name) for name in columns],
        "shown": [(column.heading, column.json_type == "string") for column in SHOWN],
        "common": shared_words(findings),
        "main": [row for row, head in zip(rows, heads, strict=True) if head],
        "minor": [row for row, head in zip(rows, heads, strict=True) if not head],
    }


def switch_table(switches: pd.DataFrame) -> dict[str, Any]:
    """Return switches that are known to the byte, with their cause and their runs."""
    exact = switches[switches["exact"]]
    columns = plain_columns(exact, ["site", "mpi", "environ", "placement", "mode"])
    rows = _records(exact)
    for row in rows:
        row["curve"] = [short(name, row[name]) for name in columns]
        row["runs"] = ", ".join(
            dict.fromkeys(
                f"{told['method'].replace('_', ' ')} {short('run_id', told['run_id'])}"
                for told in row["evidence"]
            )
        )
    return {"columns": [_heading(name) for name in columns], "rows": rows}


def size_table(curves: pd.DataFrame) -> dict[str, Any]:
    """Return median time and bandwidth at chosen sizes, with a row per curve."""
    sizes = [size for size in CHOSEN_SIZES if (curves["size_bytes"] == size).any()]
    points = curves[curves["size_bytes"].isin(sizes)]
    columns = telling_columns(curves)
    rows = []
    for values, part in (
        points.groupby(columns, dropna=False, observed=True) if columns else [((), points)]
    ):
        at = {row["size_bytes"]: row for row in _records(part)}
        rows.append(
            {
                "curve": [short(name, value) for name, value in zip(columns, values, strict=True)],
                "cells": [at.get(size) for size in sizes],
            }
        )
    return {
        "columns": [_heading(name) for name in columns],
        "shown": [(column.heading, column.json_type == "string") for column in SHOWN],
        "common": shared_words(curves),
        "sizes": sizes,
        "rows": rows,
    }


def ratio_table(pairing: Pairing) -> dict[str, Any]:
    """Return ratios to each baseline at chosen sizes, with a row per placement and baseline."""
    table = ratios(pairing)
    sizes = sorted(set(table["size_bytes"]))
    rows = []
    for (placement, kernel), part in table.groupby(["placement", "kernel"]):
        at = {row["size_bytes"]: row for row in _records(part)}
        ours, theirs = part["our_passes"].max(), part["their_passes"].max()
        rows.append(
            {
                "curve": [placement, kernel, f"{ours} and {theirs}"],
                "cells": [at.get(size) for size in sizes],
            }
        )
    return {"sizes": sizes, "rows": rows}


def tool_tables(measurements: Measurements) -> list[dict[str, Any]]:
    """Return round trips of each tool, with a table per site and placement."""
    if not has_echo(measurements):
        return []
    tables = []
    for (site, placement), part in tools(measurements).groupby(["site", "placement"], sort=False):
        sizes = sorted(set(part["size_bytes"]))
        rows = [
            {"tool": tool, "cells": [{row["size_bytes"]: row for row in _records(own)}.get(size)
                                     for size in sizes]}
            for tool, own in part.groupby("tool")
        ]  # fmt: skip
        tables.append({"place": f"{site}, {placement}", "sizes": sizes, "rows": rows})
    return tables


def run_rows(measurements: Measurements) -> list[dict[str, Any]]:
    """Return provenance and proof of each run: a heading and (term, text) pairs."""
    rows = []
    for run in _records(measurements.runs):
        header, footer = measurements.facts(run["run_id"])
        words = [
            run[name]
            for name in ("site", "partition", "mpi", "environ", "kernel", "placement")
            if isinstance(run[name], str)
        ]
        terms = record_terms(header, footer) if header else tool_terms(run)
        rows.append(
            {
                "run_id": run["run_id"],
                "title": ", ".join(words) or run["source"],
                "complete": bool(run["complete"]),
                "terms": [
                    ("Source", f"{run['source']} ({run['format']})"), *terms, *build_terms(run)
                ],
            }
        )  # fmt: skip
    return rows


def again_title(measurements: Measurements, pair: Again) -> str:
    """Name a run that was run again by where it was run, as far as the two agree."""
    runs = measurements.runs
    both = runs[runs["run_id"].isin([pair.first, pair.second])]
    names = ("site", "mpi", "kernel", "placement")
    shared = [str(both[name].iloc[0]) for name in names if len(set(both[name].dropna())) == 1]
    return ", ".join([*shared, f"run {pair.first[:8]} and again {pair.second[:8]}"])


def activities(
    measurements: Measurements,
) -> Iterator[tuple[str, pd.DataFrame, list[str]]]:
    """Return runs that recorded their ranks' activity: title, spans, and the ranks' hosts."""
    for run in _records(measurements.runs):
        header, footer = measurements.facts(run["run_id"])
        table = activity_table(footer or {})
        if not table.empty:
            placed = header["labels"].get("process_map")
            words = [
                *(run[name] for name in ("site", "mpi", "kernel", "placement")),
                f"process map {placed}" if placed else None,
            ]
            title = ", ".join(word for word in words if isinstance(word, str))
            yield title, table, [rank["host"] for rank in header["ranks"]]


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]


def _heading(column: str) -> str:
    return {"mpi": "MPI", "run_id": "run"}.get(column, column.replace("_", " "))
