"""The page of a run: its curves, what its ranks did, its findings, and its provenance last."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from switchpoint.records.activity import activity_problem, activity_table
from switchpoint.reporting.figures.activity import draw_activity
from switchpoint.reporting.pages.contents import Contents, run_path
from switchpoint.reporting.pages.kernels import CURVES, curve_plots
from switchpoint.reporting.pages.page import Page, Plot, Section, Terms
from switchpoint.reporting.pages.places import run_table
from switchpoint.reporting.pages.tables import finding_tables, size_table
from switchpoint.reporting.run_terms import build_terms, record_terms, tool_terms
from switchpoint.tables.measurements import facts_of

_ACTIVITY = (
    "One repetition of median length, on rank 0's clock. Waiting ends when a message can be"
    " received: then a short message, or the announcement of a long one, has arrived. The menu"
    " selects mode and size."
)

#: What a run's title tells of its curves.
_TOLD = ["site", "partition", "mpi", "environ", "kernel", "placement"]


def run_list(contents: Contents) -> Page:
    """Return the page that lists all runs."""
    table = run_table(contents.runs)
    return Page("runs.html", "Runs", sections=[Section("runs", "All runs", tables=[table])])


@dataclass(frozen=True)
class RunPart:
    """What the page of a run shows: its row of the runs table, its points and its findings."""

    run: dict[Any, Any]
    curves: pd.DataFrame
    findings: pd.DataFrame


def run_parts(contents: Contents) -> Iterator[RunPart]:
    """Yield what each run's page shows; a process can make the page from it."""
    no_curves, no_findings = contents.curves[:0], contents.findings[:0]
    for run in contents.runs:
        yield RunPart(
            run,
            contents.curves_of_runs.get(run["run_id"], no_curves),
            contents.findings_of_runs.get(run["run_id"], no_findings),
        )


def run_page(part: RunPart) -> Page:
    """Return the page of a run."""
    run, curves, findings = part.run, part.curves, part.findings
    words = [run[name] for name in _TOLD if isinstance(run[name], str)]
    truncated = "" if run["complete"] else " Its record is truncated."
    header, footer = facts_of(run)
    return Page(
        run_path(run["run_id"]),
        f"Run {run['run_id'][:8]}",
        [f"{', '.join(words) or run['source']}.{truncated}"],
        sections=[
            Section("curves", "Curves", CURVES, curve_plots("", curves, findings, _TOLD)),
            Section("activity", "What each rank did at which time", _ACTIVITY,
                    [*_activity(header, footer)]),
            Section("findings", "Findings", tables=finding_tables(findings, _TOLD)),
            Section("sizes", "At chosen sizes", tables=size_table(curves, _TOLD)),
            Section("provenance", "Provenance and proof of placement",
                    terms=[_terms(run, header, footer)]),
        ],
        warnings=(run["warnings"] or "").splitlines(),
    )  # fmt: skip


def _activity(header: dict[str, Any], footer: dict[str, Any] | None) -> Iterator[Plot]:
    """Draw what the ranks did, if the run recorded it.

    Older versions stored activity that is not as documented, which is not drawn.
    """
    if footer is None or activity_problem(footer, header):
        return
    activity = activity_table(footer)
    if not activity.empty:
        placed = header["labels"].get("process_map")
        title = f"Process map {placed}" if placed else "All ranks"
        hosts = {rank["rank"]: rank["host"] for rank in header["ranks"]}
        yield Plot("activity", draw_activity("ranks", title, activity, hosts), activity)


def _terms(run: dict[Any, Any], header: dict[str, Any], footer: dict[str, Any] | None) -> Terms:
    """Return the provenance and the proof of placement of a run."""
    terms = record_terms(header, footer) if header else tool_terms(run)
    source = ("Source", f"{run['source']} ({run['format']})")
    return Terms("All terms", [("Run", run["run_id"]), source, *terms, *build_terms(run)])
