"""The pages that list everything: all findings, and a search over curves and findings."""

from __future__ import annotations

from switchpoint.reporting.digest import Line, digest, worth_a_line
from switchpoint.reporting.pages.contents import Contents, kernel_path
from switchpoint.reporting.pages.page import (
    Cell,
    Page,
    Row,
    Section,
    Table,
    finding_anchor,
    number,
    word,
)
from switchpoint.reporting.pages.tables import finding_tables, heading
from switchpoint.reporting.places_of_lines import (
    a_filter,
    curves_text,
    filters_text,
    naming_columns,
    varying_columns,
)
from switchpoint.reporting.terminal.words import change_range
from switchpoint.tables.columns import identity_columns, records, values_of
from switchpoint.tables.findings import KINDS, Finding, place
from switchpoint.tables.identity import CurveIdentity
from switchpoint.tables.naming import short, worded
from switchpoint.tables.units import range_text

_RECURRING = (
    "Findings of one kind at the same sizes of one site and MPI are one row, with the number of"
    " curves that show them, of those that could. Costs: the time that a step adds to a message or"
    " call. The link leads to one of the curves."
)
_EACH = (
    "A step is what timing alone shows: the time jumps somewhere between two measured sizes. A"
    " suspect is a setting of that run whose value lies between these sizes. It is proved only"
    " if a change of the setting moves the step."
)

#: The search names so many launches of a curve.
_MOST_LAUNCHES = 8


def finding_list(contents: Contents) -> Page:
    """Return the page with all findings: those that recur as one row, then each."""
    findings, curves = contents.findings, contents.curves
    count = len(findings)
    filters = filters_text(curves)
    answer = [f"There are {count:,} findings." if count else "There are no findings."]
    if count and filters:
        answer.append(
            f"Curves differ in {filters}: type a value into the filter of a table. In a terminal,"
            f" switchpoint detect --curve {a_filter(curves)} --only step prints some of them."
        )
    lines = digest(findings, curves) if count else []
    return Page(
        "findings.html",
        "Findings",
        answer,
        sections=[
            Section("recurring", "What recurs", _RECURRING, tables=_line_tables(lines, contents)),
            Section(
                "findings", "Each finding", _EACH, tables=finding_tables(findings, contents.page_of)
            ),
        ],
    )


def _line_tables(lines: list[Line], contents: Contents) -> list[Table]:
    """Return the summarised findings that are worth a line, and the others in a folded table."""
    if not lines:
        return []
    named = naming_columns([line.place for line in lines])
    varying = varying_columns(contents.curves)
    headings = ["finding", "between sizes", "time", "costs / µs", "confidence", "curves", "cause",
                *map(heading, named), "in"]  # fmt: skip
    tables = []
    main = worth_a_line(lines)
    for name, shown, folded in (
        ("recurring-table", True, ""),
        ("minor-recurring", False, "less certain or smaller"),
    ):
        rows = [
            _line_row(line, named, varying, contents) for line in lines if (line in main) == shown
        ]
        if rows:
            summary = f"{len(rows):,} more, {folded}" if folded else ""
            tables.append(Table(name, headings, rows, folded=summary))
    return tables


def _line_row(line: Line, named: list[str], varying: list[str], contents: Contents) -> Row:
    first = next(iter(line.curves.values()))
    more = f"; and {len(line.notes) - 1} more" if len(line.notes) > 1 else ""
    return Row(
        [
            Cell(KINDS[line.kind].words, link=contents.page_of[first["run_id"]]),
            Cell(range_text(line.last_size_before, line.size_bytes)),
            Cell(change_range(line.magnitudes), max(line.magnitudes, key=abs)),
            number(line.cost_us if line.costs_us else None),
            Cell(f"{100 * line.confidence:.0f} %", line.confidence),
            Cell(f"{len(line.curves):,} of {line.of_curves:,}", len(line.curves)),
            Cell(f"{line.notes[0]}{more}" if line.notes else "-"),
            *(word(line.place[name]) for name in named),
            word(curves_text(line, varying)),
        ]
    )


def search(contents: Contents) -> Page:
    """Return the page that finds curves and findings by any word of theirs.

    Launches of a curve are one row, and so are findings that recur.
    """
    names = [name for name in contents.identity if name != "run_id"]
    rows = []
    curves = contents.curves[contents.identity].drop_duplicates()
    launches: dict[tuple[str | None, ...], list[str]] = {}
    for row in records(curves, CurveIdentity):
        launches.setdefault(values_of(row, names), []).append(row["run_id"])
    for key, runs in launches.items():
        curve = dict(zip(names, key, strict=True))
        told = [worded(str(name), value) for name, value in curve.items() if value is not None]
        told += [short("run_id", run) for run in runs[:_MOST_LAUNCHES]]
        told += [f"and {len(runs) - _MOST_LAUNCHES} more"] if len(runs) > _MOST_LAUNCHES else []
        kernel = kernel_path(curve.get("kernel"), curve.get("mode"))
        rows.append(Row([Cell("curve", link=contents.page_of[runs[0]]),
                         Cell(", ".join(told), link=kernel), Cell("")]))  # fmt: skip
    findings = contents.findings
    keys = [name for name in names if name in findings]
    several = [*keys, "kind", "last_size_before", "size_bytes"]
    distinct = findings.drop_duplicates(several) if len(findings) else findings
    for finding in records(distinct, Finding):
        values = zip(keys, values_of(finding, keys), strict=True)
        told = [worded(name, value) for name, value in values if isinstance(value, str)]
        anchor = finding_anchor(finding, identity_columns(findings))
        link = f"{contents.page_of[finding['run_id']]}#{anchor}"
        where = f"{KINDS[finding['kind']].words}, {place(finding)}"
        rows.append(Row([Cell("finding", link=link), Cell(", ".join(told)), Cell(where)]))
    table = Table("search-table", ["what", "of which curve", "where"], rows, all_rows=True)
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
