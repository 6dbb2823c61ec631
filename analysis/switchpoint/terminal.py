"""Prints tables for people in the terminal, short and clear."""

from __future__ import annotations

import pandas as pd
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from switchpoint.measurements import IDENTITY, Measurements
from switchpoint.units import bracket_text, change_text

_KIND = {"step": "step", "slope_change": "slope"}


def print_findings(findings: pd.DataFrame, measurements: Measurements) -> None:
    """Print findings as one table, strongest curves in their own order, with suspects named."""
    console = Console(highlight=False, soft_wrap=True)
    curves = _count_curves(measurements)
    if findings.empty:
        console.print(f"No step or change of slope in {curves} curves.")
        return
    shown = [name for name in _telling(findings) if name != "run_id"]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in shown:
        table.add_column(name.replace("_", " "), overflow="fold")
    table.add_column("finding")
    table.add_column("between", justify="right", no_wrap=True)
    table.add_column("time", justify="right", no_wrap=True)
    table.add_column("sure", justify="right", no_wrap=True)
    for row in findings.to_dict("records"):
        table.add_row(
            *("-" if pd.isna(row[name]) else escape(str(row[name])) for name in shown),
            _KIND.get(row["kind"], row["kind"]),
            bracket_text(row["last_size_before"], row["size_bytes"]),
            change_text(row["magnitude"]),
            f"{100 * row['confidence']:.0f} %",
        )
    console.print(table)
    console.print(f"{len(findings)} findings in {curves} curves.")
    for line in suspect_lines(findings):
        console.print(escape(line))


def suspect_lines(findings: pd.DataFrame) -> list[str]:
    """One sentence per distinct suspicion, with the curves it concerns."""
    reasons: dict[str, list[str]] = {}
    for row in findings.to_dict("records"):
        where = " ".join(
            str(row[name]) for name in ("mpi", "placement", "mode") if isinstance(row.get(name), str)
        )
        for suspect in row["suspects"]:
            text = f"suspect in {bracket_text(row['last_size_before'], row['size_bytes'])}: {suspect['reason']}"
            reasons.setdefault(text, []).append(where)
    return [f"{text}  [{'; '.join(places)}]" for text, places in reasons.items()]


def _telling(findings: pd.DataFrame) -> list[str]:
    """Identity columns that differ between the findings, or else say the most."""
    from switchpoint.detection import FINDING_COLUMNS

    identity = [name for name in findings if name not in FINDING_COLUMNS]
    usual = {"mpi", "placement", "mode"}
    return [
        name for name in identity
        if findings[name].nunique(dropna=False) > 1
        or name in usual
        or (name not in IDENTITY and findings[name].notna().any())
    ]  # fmt: skip


def _count_curves(measurements: Measurements) -> int:
    from switchpoint.measurements import identity_columns

    samples = measurements.samples
    return len(samples.groupby(identity_columns(samples), dropna=False, observed=True).size())
