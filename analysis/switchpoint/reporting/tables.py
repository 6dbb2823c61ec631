"""Prepares the tables of the report: summary, findings, chosen sizes, and each run's provenance."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pandas as pd

from switchpoint.comparison.baselines import Pairing, ratios
from switchpoint.comparison.tools import has_echo, tools
from switchpoint.explanation.causes import prominent
from switchpoint.records.activity import activity_table
from switchpoint.records.mpi_environment import mpi_settings
from switchpoint.records.run_facts import prove
from switchpoint.reproduction.again import Again
from switchpoint.tables.findings import SHOWN
from switchpoint.tables.measurements import Measurements
from switchpoint.tables.naming import plain_columns, shared_words, short, telling_columns
from switchpoint.tables.units import size_text

#: Commonly quoted sizes: smallest latency, about a cache line, both sides of 64 KiB, streaming.
CHOSEN_SIZES = [8, 1024, 32 * 1024, 64 * 1024, 1024 * 1024]


def summary(measurements: Measurements, findings: pd.DataFrame) -> dict[str, int]:
    """Count the contents of the report."""
    return {
        "curves": len(measurements.sweeps.curves),
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
        terms = _record_terms(header, footer) if header else _tool_terms(run)
        rows.append(
            {
                "run_id": run["run_id"],
                "title": ", ".join(words) or run["source"],
                "complete": bool(run["complete"]),
                "terms": [
                    ("Source", f"{run['source']} ({run['format']})"), *terms, *_build_terms(run)
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


def _tool_terms(run: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what another tool's output and its labels contain."""
    labels = json.loads(run["labels"]) if isinstance(run["labels"], str) else {}
    terms = [("Started", run["start_utc"]), ("Tool", run["tool"]), ("Labels", _pairs(labels))]
    return [(term, text) for term, text in terms if isinstance(text, str) and text]


def _build_terms(run: dict[str, Any]) -> list[tuple[str, str]]:
    """Return how a run's program was built, as far as it is known."""
    terms = [
        ("Builder", run["builder"]),
        ("Spack's hash of the kernels", run["spec_hash"]),
        ("Spack's spec", run["spack_spec"]),
        ("Spack's hash of the spec", run["spack_hash"]),
        ("Spack's lock (SHA-256)", run["lock_hash"]),
    ]
    return [(term, text) for term, text in terms if isinstance(text, str)]


def _record_terms(header: dict[str, Any], footer: dict[str, Any] | None) -> list[tuple[str, str]]:
    kernel, clock, plan, mpi = (header[name] for name in ("kernel", "clock", "plan", "mpi"))
    proof = prove(header, footer)
    ranks = header["ranks"]
    path = f"{proof.path}: {proof.evidence}"
    if proof.interface:
        path += f"; {proof.interface}, MTU {proof.mtu}"
    if proof.speed_mbps:
        path += f", {proof.speed_mbps:g} Mbit/s"
    terms = [
        ("Started", header["start_utc"]),
        ("Labels (claims)", _pairs(header["labels"])),
        ("Ranks (proof)", _where(ranks)),
        ("Path of the payload (proof)", path),
        (
            "Kernel",
            f"{kernel.get('name')} {kernel.get('version')},"
            f" commit {kernel.get('git_commit') or 'unknown'}",
        ),
        ("Compiler", f"{kernel.get('compiler')} {kernel.get('flags')}"),
        ("MPI", f"{mpi.get('library')} (standard {mpi.get('standard')})"),
        ("MPI settings", _pairs(mpi_settings(mpi.get("environment", {}))) or "none set"),
        ("Arguments", " ".join(map(str, header.get("arguments", [])))),
        (
            "Clock",
            f"{clock.get('source')}, tick {clock.get('tick_ns')} ns, smallest step"
            f" {clock.get('step_ns')} ns, reading costs {clock.get('overhead_ns')} ns",
        ),
        ("Plan", _plan(plan)),
        ("Machine", "; ".join(sorted({_machine(rank) for rank in ranks}))),
        ("Conditions", _conditions(proof, ranks)),
    ]
    return terms if footer is None else [*terms, *_verification_terms(footer)]


def _verification_terms(footer: dict[str, Any]) -> Iterator[tuple[str, str]]:
    checks = footer.get("verification", {})
    yield (
        "Verification",
        f"{checks.get('checks')} payloads compared, {checks.get('errors')} errors",
    )
    if "bytes_between_nodes" in checks:
        yield (
            "Between nodes",
            f"{checks['bytes_between_nodes']:,} of {checks['bytes_moved']:,} B sent",
        )


def _where(ranks: list[dict[str, Any]]) -> str:
    return "; ".join(
        f"rank {rank['rank']} on {rank['host']}"
        + (f" ({rank['topology_address']})" if rank.get("topology_address") else "")
        + f", CPUs {_cpu_list(rank['cpus_allowed'])}"
        for rank in ranks
    )


def _conditions(proof: Any, ranks: list[dict[str, Any]]) -> str:
    load = f"load {max(rank['before']['load1'] for rank in ranks)} at start"
    if proof.involuntary_switches is None:
        return load
    return (
        f"{load}; {proof.involuntary_switches} involuntary context switches,"
        f" {proof.steal_ticks} ticks stolen"
    ) + (
        f"; {proof.tcp_retransmissions} TCP segments sent again"
        if proof.tcp_retransmissions is not None
        else ""
    )


def _plan(plan: dict[str, Any]) -> str:
    text = f"seed {plan.get('seed')}, {plan.get('passes')} passes"
    if start := plan.get("start"):
        text += f", calls start {'at an agreed time' if start == 'agreed' else 'from a barrier'}"
    return text


def _machine(rank: dict[str, Any]) -> str:
    machine = f"{rank['cpu_model']}, {rank['cores_online']} cores, kernel {rank['kernel_release']}"
    if topology := rank.get("topology"):
        counted = ("sockets", "numa_nodes", "cores", "hardware_threads")
        machine += "; " + ", ".join(
            f"{name.replace('_', ' ')}: {topology[name]}" for name in counted
        )
        machine += "".join(
            f", L{cache['level']}: {cache['count']} x {size_text(cache['size_bytes'])}"
            for cache in topology["caches"]
            if cache["type"] != "instruction"
        )
    return machine


def _cpu_list(cpus: list[int]) -> str:
    return ",".join(map(str, cpus)) if len(cpus) <= 8 else f"{cpus[0]} to {cpus[-1]} ({len(cpus)})"


def _pairs(entries: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in entries.items())


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]


def _heading(column: str) -> str:
    return {"mpi": "MPI", "run_id": "run"}.get(column, column.replace("_", " "))
