"""The pages that list everything: all findings, and a search over curves and findings."""

from __future__ import annotations

from switchpoint.reporting.pages.contents import Contents, kernel_path, run_path
from switchpoint.reporting.pages.page import Cell, Page, Row, Section, Table, finding_anchor
from switchpoint.reporting.pages.tables import finding_tables, records
from switchpoint.tables.columns import none_for_nulls
from switchpoint.tables.findings import KINDS, place
from switchpoint.tables.naming import short


def finding_list(contents: Contents) -> Page:
    """Return the page with all findings."""
    count = len(contents.findings)
    words = (
        "A step is what timing alone shows: the time jumps somewhere between two measured sizes. A"
        " suspect is a setting of that run whose value lies between these sizes. It is proved only"
        " if a change of the setting moves the step."
    )
    tables = finding_tables(contents.findings)
    return Page(
        "findings.html",
        "Findings",
        [f"There are {count:,} findings." if count else "There are no findings."],
        sections=[Section("findings", "All findings", words, tables=tables)],
    )


def search(contents: Contents) -> Page:
    """Return the page that finds curves and findings by any word of theirs."""
    identity = contents.identity
    rows = []
    curves = none_for_nulls(contents.curves[identity].drop_duplicates()).to_dict("records")
    for curve in curves:
        told = [short(name, curve[name]) for name in identity if curve[name] is not None]
        kernel = kernel_path(curve.get("kernel"), curve.get("mode"))
        rows.append(Row([Cell("curve", link=run_path(curve["run_id"])),
                         Cell(", ".join(told), link=kernel), Cell("")]))  # fmt: skip
    for row in records(contents.findings):
        told = [short(name, row[name]) for name in identity if isinstance(row.get(name), str)]
        link = f"{run_path(row['run_id'])}#{finding_anchor(row, identity)}"
        where = f"{KINDS[row['kind']].words}, {place(row)}"
        rows.append(Row([Cell("finding", link=link), Cell(", ".join(told)), Cell(where)]))
    table = Table("search-table", ["what", "of which curve", "where"], rows)
    return Page(
        "search.html",
        "Search",
        [
            "Each word that you type must be in a row."
            if rows
            else "There are no curves and no findings."
        ],
        sections=[Section("results", "Curves and findings", tables=[table])],
    )
