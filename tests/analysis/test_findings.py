"""What a finding is has one definition, from which all that shows findings is made."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import RECORDS
from switchpoint import detect, read, report
from switchpoint.reporting.json import findings_as_json
from switchpoint.tables.columns import records
from switchpoint.tables.findings import COLUMNS, FINDING_COLUMNS, KINDS, SHOWN, Finding
from switchpoint.tables.identity import IDENTITY
from typer.testing import Result

RECORD = RECORDS / "openmpi-network-limit-65536.record.gz"

#: Of each type that a column may have, the types of Python's json module.
TYPES = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "object": dict,
    "array": list,
    "object or null": (dict, type(None)),
}


@pytest.mark.parametrize("path", sorted(RECORDS.glob("*mem*.gz")), ids=lambda path: path.stem)
def test_json_has_each_column_in_its_type(path: Path) -> None:
    findings = json.loads(json.dumps(findings_as_json(detect(read(path)))))

    assert findings
    for finding in findings:
        assert list(finding) == [*(column.name for column in COLUMNS), "curve", "run_id"]
        assert finding["kind"] in KINDS
        for column in COLUMNS:
            assert isinstance(finding[column.name], TYPES[column.json_type]), column.name


def test_a_finding_has_the_columns_of_its_table() -> None:
    assert [*Finding.__annotations__] == [*IDENTITY, *FINDING_COLUMNS]


def test_a_table_without_a_column_of_its_rows_is_refused() -> None:
    findings = detect(read(RECORD))

    assert records(findings, Finding)[0]["kind"] in KINDS
    with pytest.raises(KeyError, match="Finding has no column origin"):
        records(findings.drop(columns="origin"), Finding)


def test_the_terminal_and_the_page_show_the_same_columns(
    switchpoint: Callable[..., Result], tmp_path: Path
) -> None:
    headings = [column.heading for column in SHOWN]
    assert headings

    printed = switchpoint("detect", RECORD, "--all").stdout
    assert re.search(r" +".join(headings), printed)

    report(read(RECORD), tmp_path)
    page = (tmp_path / "findings.html").read_text(encoding="utf-8")
    table = page[page.index('<table id="findings-table">') :]
    heads = re.findall(r"<th[^>]*><button[^>]*>([^<]*)</button>", table[: table.index("</thead>")])
    assert [head for head in heads if head in headings] == headings
