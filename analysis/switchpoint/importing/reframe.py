"""Reads ReFrame's performance logs, also rotated ones, and JSON run reports.

A value becomes a point of a curve if its variable's name ends in a message size (`bw_64KiB`) or if
the test has a variable or parameter `message_size`. Any other value with a unit is a single value.
"""

from __future__ import annotations

import codecs
import dataclasses
import hashlib
import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from switchpoint.errors import InputError, NotRecognisedError, Reason
from switchpoint.importing.external import as_measurements, content, text_lines
from switchpoint.importing.labels import Surroundings, read_labels
from switchpoint.importing.problems import CUT_ROW, Problem, in_words
from switchpoint.importing.reframe_curves import NAMING, points_and_others
from switchpoint.importing.reframe_rows import (
    PARAMETER,
    SIZES,
    own_columns,
    test_name,
    time_utc,
    variables_of,
    wall_clock,
)
from switchpoint.importing.row_forms import is_whole
from switchpoint.limits import COLUMNS, LOG_VALUES
from switchpoint.printable import path_text
from switchpoint.strict_json import parse_json
from switchpoint.tables.columns import RESERVED, VALUE_COLUMNS
from switchpoint.tables.measurements import Measurements, of_values

NAME = "ReFrame's performance logs and run reports"

_LOG = b"result|job_completion_time|"
_REPORT = re.compile(rb'^\s*\{\s*"session_info"\s*:\s*\{')

#: What a run report lists of each value, in its order.
_REPORTED = ("value", "ref", "lower_thres", "upper_thres", "unit", "result")


def recognises(head: bytes) -> bool:
    """Return whether a file starts like a default performance log or a run report."""
    head = head.removeprefix(codecs.BOM_UTF8)
    return head.startswith(_LOG) or _REPORT.match(head) is not None


def read(path: Path, around: Surroundings) -> Measurements:
    """Read a performance log or run report; identity: the test as `kernel`, its variables."""
    data = content(path)
    around = dataclasses.replace(  # the test names itself
        around, layout={name: text for name, text in around.layout.items() if name != "test"}
    )
    problems: list[Problem] = []
    is_log = data.removeprefix(codecs.BOM_UTF8).startswith(_LOG)
    rows = _few(path, _log_rows(path, data, problems) if is_log else _report_rows(path, data))
    labels = around.complete(read_labels(path, data))
    values = pd.DataFrame(_few(path, _values(rows, _stem(path), data, labels)))
    named = {name: text for name, text in labels.items() if name not in NAMING}
    samples, others, told = points_and_others(values, named)
    not_taken = [f"{path}: {sentence}" for sentence in [*in_words(problems), *told]]
    single = _single_values(path, rows, others, labels)
    lost = sorted(set(others["variable"]) - set(single["variable"]))
    if lost:
        not_taken.append(
            f"{path}: skipped, because they have no unit or no number:"
            f" {', '.join(lost[:8])}{' and more' if len(lost) > 8 else ''}"
        )
    if len(samples):
        curves = as_measurements(path, around, "reframe", data, samples, [], tool="ReFrame")
        return dataclasses.replace(curves, not_taken=not_taken, single_values=single)
    if single.empty and problems:
        raise InputError(path, f"{problems[0].what}; no other row has a value", problems[0].line)
    if single.empty:
        what = "a performance log" if is_log else "a run report"
        raise NotRecognisedError(
            path, f"is {what} of ReFrame without values; measure again", Reason.NO_VALUES
        )
    return of_values(single, not_taken)


def _few(path: Path, rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return all rows or values; raises InputError if there are too many."""
    found = list(itertools.islice(rows, LOG_VALUES + 1))
    if len(found) > LOG_VALUES:
        raise InputError(
            path, f"has more than {LOG_VALUES:,} values; split it, for example by year"
        )
    return found


def _log_rows(path: Path, data: bytes, problems: list[Problem]) -> Iterator[dict[str, Any]]:
    # Not csv's reader, because its fields are limited and it has its own idea of a line's end.
    lines = text_lines(path, data)
    if (columns := lines[0].count("|") + 1) > COLUMNS:
        raise InputError(path, f"has {columns} columns; at most {COLUMNS} are read", 1)
    table = [[field.strip() for field in line.split("|")] for line in lines]
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
            yield dict(zip(names, fields, strict=True))


def _is_whole(table: list[list[str]]) -> bool:
    """Return whether the last row of a log is whole."""
    *others, last = table[1:]
    return is_whole(last[-1], [row[-1] for row in others if len(row) == len(last)])


def _report_rows(path: Path, data: bytes) -> Iterator[dict[str, Any]]:
    """Return one row per test case, with variables named as in a performance log."""
    try:
        report = parse_json(data.removeprefix(codecs.BOM_UTF8))
        yield from (_case(case) for run in report["runs"] for case in run["testcases"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            path, f"is a damaged run report of ReFrame ({error}); copy it again"
        ) from None


def _case(case: dict[str, Any]) -> dict[str, Any]:
    """Return a test case as a row."""
    row = {**(case.get("check_vars") or {}), **case}
    for name, value in (case.get("perfvalues") or {}).items():
        short = name.rsplit(":", 1)[-1]
        told = zip(_REPORTED, value, strict=False)
        row |= {f"{short}_{end}": what for end, what in told}
    if not case.get("perfvalues"):  # before 4.6
        for entry in case.get("perfvars") or []:
            names = {"ref": "reference", "lower_thres": "thres_lower",
                     "upper_thres": "thres_upper"}  # fmt: skip
            row |= {f"{entry['name']}_{end}": entry.get(names.get(end, end)) for end in _REPORTED}
    return row


def _values(
    rows: Iterable[dict[str, Any]], otherwise: str, data: bytes, labels: dict[str, str]
) -> Iterator[dict[str, Any]]:
    """Return each value of each row with its variable, unit, size, and what names the curve.

    `otherwise` is the test's name if the row does not contain it, and `labels` are the file's.
    """
    for number, row in enumerate(rows):
        name = test_name(row, otherwise)
        variables = variables_of(row)
        parameters = dict(PARAMETER.findall(name))
        system, _, partition = str(row.get("system") or "").partition(":")
        shared = own_columns(row, parameters, variables) | {
            "kernel": name.split(" ")[0],
            "site": system or None,
            "partition": row.get("partition") or partition or None,
            "environ": row.get("environ"),
            "row": number,
            "parameters": tuple(f"test_{key}" if key in RESERVED else key for key in parameters),
            "when": wall_clock(row) or hashlib.sha256(data).hexdigest(),
            "row_size": next((row[name] for name in SIZES if row.get(name)), None),
        }
        places = [shared[key] or labels.get(key) for key in NAMING]
        if row.get("perf_var"):  # perflog_multiline: a row for each variable
            yield shared | {
                "variable": row["perf_var"],
                "value": row.get("perf_value"),
                "unit": row.get("perf_unit"),
                "measured": _measured(
                    *places, name, shared["when"], row["perf_var"], row.get("perf_value")
                ),
            }
        for variable in variables:
            value = row[f"{variable}_value"]
            yield shared | {
                "variable": variable,
                "value": value,
                "unit": row.get(f"{variable}_unit"),
                "measured": _measured(*places, name, shared["when"], variable, value),
            }


def _measured(*what: object) -> str:
    """Return the identity of a measurement, which is the same in a log and in a report."""
    *names, value = what
    return json.dumps([*names, _number(value)], default=str)


def _single_values(
    path: Path, rows: list[dict[str, Any]], values: pd.DataFrame, labels: dict[str, str]
) -> pd.DataFrame:
    """Tabulate the values that belong to no curve, with an identity independent of the file.

    Parameters
    ----------
    path, rows, labels
        The file, its rows, and its labels.
    values
        `variable`, number of the `row`, and where the value was measured.
    """
    table: dict[str, dict[str, Any]] = {}
    for value in values.to_dict("records"):
        row, variable = rows[value["row"]], value["variable"]
        name = variable if f"{variable}_value" in row else "perf"
        number, unit = _number(row.get(f"{name}_value")), str(row.get(f"{name}_unit") or "").strip()
        if number is None or unit in ("", "null", "None"):
            continue
        test, time = test_name(row, _stem(path)), time_utc(row)
        place = {
            name: value[name] if isinstance(value[name], str) else labels.get(name)
            for name in NAMING
        }
        series = place | {"test": test, "variable": variable, "unit": unit}
        identity = json.dumps([*series.values(), time, number])
        others = own_columns(row, dict(PARAMETER.findall(test)), variables_of(row))
        others |= {name: text for name, text in labels.items() if name not in place}
        result = row.get(f"{name}_result") or row.get("result")
        value_id = hashlib.sha256(identity.encode()).hexdigest()[:32]
        table[value_id] = series | {
            "value_id": value_id,
            "time_utc": time,
            "value": number,
            "reference": _number(row.get(f"{name}_ref")),
            "lower": _number(row.get(f"{name}_lower_thres")),
            "upper": _number(row.get(f"{name}_upper_thres")),
            "result": str(result) if result else None,
            "labels": json.dumps(others) if others else None,
            "source": path_text(path),
        }
    return pd.DataFrame(list(table.values()), columns=VALUE_COLUMNS)


def _stem(path: Path) -> str:
    """Return the name of the test that wrote a log, from the log's name."""
    return path_text(path.name).split(".log")[0]


def _number(text: object) -> float | None:
    """Return a finite number, or None."""
    try:
        number = float(str(text))
    except ValueError:
        return None
    return number if math.isfinite(number) else None
