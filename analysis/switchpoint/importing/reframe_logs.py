"""Splits ReFrame's performance logs into rows. Those of versions 2 and 3 have a value a line.

A row is a dictionary with the names of version 4's columns.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from switchpoint.errors import InputError
from switchpoint.importing.external import text_lines
from switchpoint.importing.problems import CUT_ROW, Problem
from switchpoint.importing.row_forms import is_whole
from switchpoint.limits import COLUMNS, HEADING_CHARACTERS

_FIRST_LINE = re.compile(rb"[^\r\n]*")
_NAME = re.compile(r"[A-Za-z_][\w:.-]*")

#: A line of versions 2 and 3: `TIME|reframe VERSION|TEST on SYSTEM:PARTITION using ENVIRON|...`.
#: Version 2 has no separator between the reference and the unit.
_LINE = re.compile(
    r"(?P<time>\d{4}-\d\d-\d\d[T ][\d:.]+[+\-\d:]*Z?)\|(?:\d+\|)?reframe (?P<version>[^|]{1,80})\|"
    r"(?P<info>[^|]{1,1000})\|(?P<rest>.*)"
)
#: Where another line begins, also within a line to which it was glued.
_START = re.compile(r"(?=\d{4}-\d\d-\d\d[T ][\d:.]+[+\-\d:]*Z?\|(?:\d+\|)?reframe )")
_LINE_BYTES = re.compile(
    rb"(?:\xef\xbb\xbf)?\d{4}-\d\d-\d\d[T ][\d:.]+[+\-\d:]*Z?\|(?:\d+\|)?reframe [^|\n]{1,80}\|"
)
_ON = re.compile(r"(?P<name>.+) on (?P<system>[^\s:]+):(?P<partition>\S+) using (?P<environ>\S+)")
_AT = re.compile(
    r"(?P<name>.+?)(?: /(?P<hashcode>[\da-f]{8}))? @(?P<system>[^\s:]+):(?P<partition>[^\s+]+)"
    r"\+(?P<environ>\S+)"
)
_VALUE = re.compile(r"(?P<variable>[^=|\s]+)=(?P<value>[-+\w.]+)")
_REFERENCE = re.compile(
    r"ref=(?P<ref>\S+) \(l=(?P<lower>[^,\s]+), u=(?P<upper>[^)\s]+)\)\s*(?P<unit>\S.*)?"
)
#: A site's own field: words, and names with values, such as `pairs=4,bw`.
_OWN = re.compile(r"[^\s,=|()]*(?:=[^\s,=|()]*)?(?:,[^\s,=|()]*(?:=[^\s,=|()]*)?)*")
_PAIR = re.compile(r"([A-Za-z_]\w*)=([^,|]+)")


def is_log(head: bytes) -> bool:
    """Return whether a file starts like a performance log of any version."""
    return bool(separator_of(head)) or _LINE_BYTES.match(head) is not None


def separator_of(head: bytes) -> str:
    """Return what separates the names in the heading of a log; nothing if there is none."""
    line = _FIRST_LINE.match(head.removeprefix(codecs.BOM_UTF8))
    assert line is not None  # it may be empty
    if len(line[0]) > HEADING_CHARACTERS:
        return ""
    text = line[0].decode("utf-8", errors="replace")
    if text.startswith("result|job_completion_time|"):
        return "|"
    for separator in ("|", ","):
        names = [name.strip() for name in text.split(separator)]
        values = [name for name in names if name.endswith("_value")]
        of_log = {"job_completion_time", "jobid", "system", "info", "display_name", "name"}
        if len(of_log.intersection(names)) >= 2 and values and all(map(_NAME.fullmatch, names)):
            return separator
    return ""


def rows_of(path: Path, data: bytes, problems: list[Problem]) -> Iterator[dict[str, Any]]:
    """Return the rows of a log; raises InputError."""
    if separator := separator_of(data):
        return _by_heading(path, data, separator, problems)
    return _by_line(path, data, problems)


def _by_heading(
    path: Path, data: bytes, separator: str, problems: list[Problem]
) -> Iterator[dict[str, Any]]:
    # Not csv's reader, because its fields are limited and it has its own idea of a line's end.
    lines = text_lines(path, data)
    if (columns := lines[0].count(separator) + 1) > COLUMNS:
        raise InputError(path, f"has {columns} columns; at most {COLUMNS} are read", 1)
    table = [[field.strip() for field in line.split(separator)] for line in lines]
    names = table[0]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if doubtful := [name for name in twice if name == "result" or name.endswith("_value")]:
        raise InputError(path, f"has column '{doubtful[0][:40]}' twice; remove one", 1)
    for number, fields in enumerate(table, start=1):
        if fields[:2] == names[:2]:  # ReFrame writes another heading if the variables change
            names = fields
        elif len(fields) != len(names) and fields != [""]:
            what = f"not the {len(names)} fields of the heading: the row is skipped"
            problems.append(Problem(number, what))
        elif number == len(table) and not data.endswith((b"\n", b"\r")) and not _is_whole(table):
            problems.append(Problem(number, CUT_ROW))
        elif fields != [""]:
            row = dict(zip(names, fields, strict=True))
            yield test_of(row.get("info") or "") | row


def _is_whole(table: list[list[str]]) -> bool:
    """Return whether the last row of a log is whole."""
    *others, last = table[1:]
    return is_whole(last[-1], [row[-1] for row in others if len(row) == len(last)])


def _by_line(path: Path, data: bytes, problems: list[Problem]) -> Iterator[dict[str, Any]]:
    lines = [
        (number, part.strip())
        for number, line in enumerate(text_lines(path, data), start=1)
        for part in _START.split(line)
        if part.strip()
    ]
    last_fields = [line.split("|") for _, line in lines]
    for place, (number, line) in enumerate(lines, start=1):
        match = _LINE.fullmatch(line)
        if match is None:
            problems.append(Problem(number, f"'{line[:40]}' is no row of a log: it is skipped"))
            continue
        fields = [field.strip() for field in match["rest"].split("|")]
        if place == len(lines) and not data.endswith((b"\n", b"\r")):
            *others, last = last_fields
            if not is_whole(last[-1], [other[-1] for other in others if len(other) == len(last)]):
                problems.append(Problem(number, CUT_ROW))
                continue
        row, odd = _row_of(fields)
        if odd:
            what = f"'{odd[:40]}' is not known and is left out"
            problems.append(Problem(number, what))
        if row is None:
            what = "no value such as |bandwidth=12.5|: the row is skipped"
            problems.append(Problem(number, what))
            continue
        yield {"job_completion_time": match["time"]} | test_of(match["info"]) | row


def _row_of(fields: list[str]) -> tuple[dict[str, Any] | None, str]:
    """Return the value of a line, and a field that is not known.

    The unit is a field of its own or behind `ref`.
    """
    row: dict[str, Any] = {}
    variable = unit = odd = ""
    reference: re.Match[str] | None = None
    for field in fields:
        if match := _REFERENCE.fullmatch(field):
            reference, unit = match, match["unit"] or unit
        elif field.startswith("jobid="):
            row["jobid"] = field.removeprefix("jobid=")
        elif not variable and (value := _VALUE.fullmatch(field)):
            variable, row[f"{value['variable']}_value"] = value["variable"], value["value"]
        elif variable and not unit and "=" not in field:
            unit = field
        elif _OWN.fullmatch(field):
            row |= dict(_PAIR.findall(field))
        else:
            odd = field
    if not variable:
        return None, odd
    row[f"{variable}_unit"] = unit
    if reference is not None:
        names = {"ref": "ref", "lower": "lower_thres", "upper": "upper_thres"}
        row |= {f"{variable}_{end}": reference[group] for group, end in names.items()}
    return row, odd


def test_of(info: str) -> dict[str, str]:
    """Return the test and where it ran, as ReFrame describes a check.

    >>> test_of("Osu_bw on alpha:ib-gcc9 using omb")["environ"]
    'omb'
    >>> test_of("Lat %size=8 /52e1ce98 @alpha:cpu+gnu")["partition"]
    'cpu'
    """
    match = _ON.fullmatch(info.strip()) or _AT.fullmatch(info.strip())
    if match is None:
        return {}
    return {name: text for name, text in match.groupdict().items() if text}
