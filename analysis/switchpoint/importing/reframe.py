"""Reads ReFrame's performance logs, rotated ones too, and JSON run reports.

A value becomes a point of a curve if its variable's name ends in a message size (`bw_64KiB`) or if
the test has a variable or parameter `message_size`. Any other with a unit is a single value.
"""

from __future__ import annotations

import csv
import dataclasses
import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from switchpoint.errors import InputError, NotRecognisedError, Reason
from switchpoint.importing.external import as_measurements, content
from switchpoint.importing.labels import Surroundings, read_labels
from switchpoint.importing.reframe_curves import NAMING, points_and_others
from switchpoint.importing.reframe_rows import (
    PARAMETER,
    SIZES,
    own_columns,
    test_name,
    time_utc,
    variables_of,
)
from switchpoint.printable import path_text
from switchpoint.tables.columns import RESERVED, VALUE_COLUMNS
from switchpoint.tables.measurements import Measurements, of_values

NAME = "ReFrame's performance logs and run reports"

_LOG = b"result|job_completion_time|"
_REPORT = re.compile(rb'^\s*\{\s*"session_info"\s*:\s*\{')

#: What a run report lists of each value, in its order.
_REPORTED = ("value", "ref", "lower_thres", "upper_thres", "unit", "result")


def recognises(head: bytes) -> bool:
    """Tell whether a file begins as a default performance log or a run report does."""
    return head.startswith(_LOG) or _REPORT.match(head) is not None


def read(path: Path, around: Surroundings) -> Measurements:
    """Read a performance log or run report; identity: the test as `kernel`, its variables."""
    data = content(path)
    around = dataclasses.replace(  # the test names itself
        around, layout={name: text for name, text in around.layout.items() if name != "test"}
    )
    not_taken: list[str] = []
    is_log = data.startswith(_LOG)
    rows = list(_log_rows(path, data, not_taken) if is_log else _report_rows(path, data))
    values = pd.DataFrame(list(_values(rows, _stem(path))))
    samples, others = points_and_others(values)
    labels = around.complete(read_labels(path, data))
    single = _single_values(path, rows, others, labels)
    lost = sorted(set(others["variable"]) - set(single["variable"]))
    if lost:
        not_taken.append(
            f"{path}: left out, for they have no unit or no number:"
            f" {', '.join(lost[:8])}{' and more' if len(lost) > 8 else ''}"
        )
    if len(samples):
        found = as_measurements(path, around, "reframe", data, samples, [], tool="ReFrame")
        return dataclasses.replace(found, not_taken=not_taken, single_values=single)
    if single.empty:
        what = "a performance log" if is_log else "a run report"
        raise NotRecognisedError(
            path, f"is {what} of ReFrame's without values; measure again", Reason.NO_VALUES
        )
    return of_values(single, not_taken)


def _log_rows(path: Path, data: bytes, not_taken: list[str]) -> Iterator[dict[str, Any]]:
    lines = data.decode("utf-8", errors="replace").splitlines()
    table = csv.reader(lines, delimiter="|", quoting=csv.QUOTE_NONE)
    names = next(table)
    cut = 0
    for fields in table:
        if len(fields) == len(names):
            yield dict(zip(names, fields, strict=True))
        else:
            cut += bool(fields)
    if cut:
        not_taken.append(
            f"{path}: {cut} rows do not have the {len(names)} fields of the first line"
        )


def _report_rows(path: Path, data: bytes) -> Iterator[dict[str, Any]]:
    """One row a test case, its variables named as in a performance log."""
    try:
        report = json.loads(data)
        cases = [case for run in report["runs"] for case in run["testcases"]]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            path, f"is a damaged run report of ReFrame's ({error}); copy it again"
        ) from None
    for case in cases:
        row = {**(case.get("check_vars") or {}), **case}
        for name, value in (case.get("perfvalues") or {}).items():
            short = name.rsplit(":", 1)[-1]
            told = zip(_REPORTED, value, strict=False)
            row |= {f"{short}_{end}": what for end, what in told}
        if not case.get("perfvalues"):  # before 4.6
            for entry in case.get("perfvars") or []:
                names = {"ref": "reference", "lower_thres": "thres_lower",
                         "upper_thres": "thres_upper"}  # fmt: skip
                row |= {
                    f"{entry['name']}_{end}": entry.get(names.get(end, end)) for end in _REPORTED
                }
        yield row


def _values(rows: Iterable[dict[str, Any]], otherwise: str) -> Iterator[dict[str, Any]]:
    """Each value of each row with its variable, unit, the row's size, and what names the curve.

    `otherwise` names a test that the row does not.
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
            "row_size": next((row[name] for name in SIZES if row.get(name)), None),
        }
        if row.get("perf_var"):  # perflog_multiline: a row for each variable
            yield shared | {
                "variable": row["perf_var"], "value": row["perf_value"], "unit": row["perf_unit"],
            }  # fmt: skip
        for variable in variables:
            yield shared | {
                "variable": variable,
                "value": row[f"{variable}_value"],
                "unit": row.get(f"{variable}_unit"),
            }


def _single_values(
    path: Path, rows: list[dict[str, Any]], values: pd.DataFrame, labels: dict[str, str]
) -> pd.DataFrame:
    """Table of the values that make no curve, each with the identity that it has in any file.

    Parameters
    ----------
    path, rows, labels
        The file, what it holds, and what else is said of it.
    values
        `variable`, number of the `row`, and where it was measured.
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
    """Name of the test whose log a file is, as ReFrame names logs."""
    return path_text(path.name).split(".log")[0]


def _number(text: object) -> float | None:
    """Return a finite number, or None."""
    try:
        number = float(str(text))
    except ValueError:
        return None
    return number if math.isfinite(number) else None
