"""The page of a run, or of several runs of another tool: curves, activity, findings, provenance."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from switchpoint.data_warnings import warnings_of_text
from switchpoint.records.activity import activity_problem, activity_table
from switchpoint.reporting.figures.activity import draw_activity
from switchpoint.reporting.pages.contents import Contents
from switchpoint.reporting.pages.kernels import CURVES, curve_plots
from switchpoint.reporting.pages.page import Cell, Page, Plot, Row, Section, Table, Terms, word
from switchpoint.reporting.pages.places import run_table
from switchpoint.reporting.pages.tables import finding_tables, size_table
from switchpoint.reporting.run_terms import build_terms, record_terms, tool_terms
from switchpoint.tables.columns import Run, values_of
from switchpoint.tables.measurements import facts_of
from switchpoint.tables.naming import run_names

if TYPE_CHECKING:
    from switchpoint.records.footer import Footer
    from switchpoint.records.header import Header

_ACTIVITY = (
    "One repetition of median length, on rank 0's clock. Waiting ends when a message can be"
    " received: then a short message, or the announcement of a long one, has arrived. The menu"
    " selects mode and size."
)

#: What a run's title says of its curves.
_TOLD = ["site", "partition", "mpi", "environ", "kernel", "placement"]


def run_list(contents: Contents) -> Page:
    """Return the page that lists all runs."""
    table = run_table(contents.runs, contents.page_of)
    return Page("runs.html", "Runs", sections=[Section("runs", "All runs", tables=[table])])


@dataclass(frozen=True)
class RunPart:
    """What a page of runs shows: its path, their rows of the runs table, points and findings."""

    path: str
    runs: list[Run]
    curves: pd.DataFrame
    findings: pd.DataFrame


def run_parts(contents: Contents) -> Iterator[RunPart]:
    """Yield what each page of runs shows; a process can make the page from it."""
    no_curves, no_findings = contents.curves[:0], contents.findings[:0]
    for path, runs in contents.pages_of_runs.items():
        ids = [run["run_id"] for run in runs]
        yield RunPart(
            path,
            runs,
            _joined([contents.curves_of_runs.get(run, no_curves) for run in ids]),
            _joined([contents.findings_of_runs.get(run, no_findings) for run in ids]),
        )


def _joined(tables: list[pd.DataFrame]) -> pd.DataFrame:
    filled = [table for table in tables if len(table)]
    if len(filled) < 2:
        return filled[0] if filled else tables[0]
    return pd.concat(filled, ignore_index=True)


def run_page(part: RunPart) -> Page:
    """Return the page of a run, or of several."""
    run, curves, findings = part.runs[0], part.curves, part.findings
    several = len(part.runs) > 1
    words = [word for word in values_of(run, _TOLD) if word is not None]
    cut = f" {'A' if several else 'Its'} record is truncated."
    truncated = "" if all(run["complete"] for run in part.runs) else cut
    header, footer = facts_of(run)
    pages = {run["run_id"]: part.path for run in part.runs}
    told = [name for name in _TOLD if len({values_of(run, [name]) for run in part.runs}) == 1]
    tables = [  # links lead to each row
        dataclasses.replace(table, all_rows=True) for table in finding_tables(findings, pages, told)
    ]
    warnings = (str(told) for run in part.runs for told in warnings_of_text(run["warnings"]))
    return Page(
        part.path,
        f"{len(part.runs)} runs of {words[-1] if words else 'one benchmark'}" if several
        else f"Run {run['run_id'][:8]}",
        [f"{', '.join(words) or run['source']}.{truncated}"],
        sections=[
            Section("curves", "Curves", CURVES,
                    curve_plots("", curves, findings, told, run_names(pd.DataFrame(part.runs)))),
            Section("activity", "What each rank did at which time", _ACTIVITY,
                    [*_activity(header, footer)]),
            Section("findings", "Findings", tables=tables),
            Section("sizes", "At chosen sizes",
                    tables=[] if several else size_table(curves, pages, told)),
            Section("runs", "Runs", tables=[_sources(part.runs)] if several else []),
            Section("provenance", "Provenance and proof of placement",
                    terms=[] if several else [_terms(run, header, footer)]),
        ],
        warnings=list(dict.fromkeys(warnings)),
    )  # fmt: skip


def _sources(runs: list[Run]) -> Table:
    """Return where runs of other tools come from, and their labels."""
    terms = [dict(tool_terms(run)) for run in runs]
    rows = [
        Row([Cell(run["run_id"][:8]), word(run["source"]), word(run["format"]),
             *(word(own.get(name)) for name in ("Tool", "Started", "Labels"))])
        for run, own in zip(runs, terms, strict=True)
    ]  # fmt: skip
    return Table("runs-table", ["run", "source", "format", "tool", "started", "labels"], rows)


def _activity(header: Header, footer: Footer | None) -> Iterator[Plot]:
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


def _terms(run: Run, header: Header, footer: Footer | None) -> Terms:
    """Return the provenance and the proof of placement of a run."""
    terms = record_terms(header, footer) if header else tool_terms(run)
    source = ("Source", f"{run['source']} ({run['format']})")
    return Terms("All terms", [("Run", run["run_id"]), source, *terms, *build_terms(run)])
