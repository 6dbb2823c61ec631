"""Writes the tables of docs/reference/findings.md that say what a finding is.

``python -m switchpoint.reporting.reference docs/reference/findings.md`` renews them in the page,
where they lie between two comments.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from switchpoint.tables.findings import COLUMNS, KINDS


def tables() -> dict[str, str]:
    """Return each table as Markdown, by the name in its comments."""
    fields = [(f"`{one.name}`", one.json_type, one.unit, one.meaning) for one in COLUMNS]
    fields.append(("`curve`", "object", "", "what identifies the curve: its columns and values"))
    fields.append(("`run_id`", "string", "", "the run that the curve is of"))
    kinds = [(f"`{one.name}`", one.asserts, one.evidence) for one in KINDS.values()]
    return {
        "fields": _markdown(["field", "type", "unit", "meaning"], fields),
        "kinds": _markdown(["kind", "asserts", "evidence"], kinds),
    }


def renewed(page: str) -> str:
    """Return a page's text with each table between its comments as it should be."""
    for name, table in tables().items():
        start, end = f"<!-- generated: {name} -->\n", f"<!-- end of {name} -->\n"
        before, found, rest = page.partition(start)
        _, closed, after = rest.partition(end)
        if not (found and closed):
            raise ValueError(f"the page lacks the comments of the table '{name}'")
        page = f"{before}{start}\n{table}\n{end}{after}"
    return page


def _markdown(heading: list[str], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [_line(heading), "|---" * len(heading) + "|", *map(_line, rows)]
    return "".join(f"{line}\n" for line in lines)


def _line(cells: Iterable[str]) -> str:
    return "|" + "".join(f" {cell} |" if cell else " |" for cell in cells)


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_text(renewed(file.read_text(encoding="utf-8")), encoding="utf-8")
