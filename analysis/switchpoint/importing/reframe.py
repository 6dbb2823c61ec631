"""Reads ReFrame's performance logs, also rotated ones, JSON run reports and databases of results.

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
from collections.abc import Iterable, Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pandas as pd

from switchpoint.data_warnings import DataWarning
from switchpoint.errors import InputError, NotRecognisedError, Reason
from switchpoint.importing import reframe_database, reframe_logs
from switchpoint.importing.external import as_measurements, content
from switchpoint.importing.labels import Surroundings, read_labels
from switchpoint.importing.problems import Problem, warnings_of
from switchpoint.importing.reframe_curves import NAMING, points_and_others
from switchpoint.limits import LOG_VALUES
from switchpoint.printable import path_text
from switchpoint.records.lines import guarded, open_maybe_gzip
from switchpoint.strict_json import parse_json
from switchpoint.tables.columns import RESERVED, VALUE_COLUMNS
from switchpoint.tables.measurements import Measurements, of_values

NAME = "ReFrame's performance logs, run reports and databases"

_REPORT = re.compile(rb'^\s*\{\s*"session_info"\s*:\s*\{')

#: What a run report lists of each value, in its order.
_REPORTED = ("value", "ref", "lower_thres", "upper_thres", "unit", "result")

#: Columns with the message size of all values of a row, in bytes.
SIZES = ["message_size", "msg_size", "message_bytes", "size_bytes"]

#: Parameters, also of fixtures, as a test's name shows them: `%mpi_tasks=16`.
PARAMETER = re.compile(r"%(?:[\w.]*\.)?(\w+)=(\S+)")

#: The suffixes that a performance log's columns add to a variable's name.
_ENDS = ("value", "unit", "ref", "lower_thres", "upper_thres", "result")

#: ReFrame's own columns. The others in a row are the test's variables and parameters.
_REFRAMES_OWN = frozenset(
    """
    basename build_jobid build_locally build_stderr build_stdout build_time_limit check_vars
    dependencies_actual dependencies_conceptual descr display_name env_vars environ
    exclusive_access executable executable_opts extra_resources fail_phase fail_reason filename
    fixture hashcode info job_completion_time job_completion_time_unix job_exitcode job_nodelist
    job_stderr job_stdout job_submit_time jobid keep_files local maintainers max_pending_time
    modules name nodelist num_cpus_per_task num_gpus_per_node num_tasks_per_core
    num_tasks_per_socket outputdir partition perf_lower_thres perf_ref perf_result perf_unit
    perf_upper_thres perf_value perf_var perfvalues perfvars pipeline_timeout postbuild_cmds
    postrun_cmds prebuild_cmds prefix prerun_cmds readonly_files result run_index scheduler
    session_info session_uuid short_name sourcepath sourcesdir stagedir strict_check sysenv
    system tags time_compile time_limit time_performance time_run time_sanity time_setup
    time_total unique_name use_multithreading uuid valid_prog_environs valid_systems variables
    version
    """.split()  # noqa: SIM905, a list of so many words
)


def recognises(head: bytes) -> bool:
    """Return whether a file starts like a performance log, a run report or a database."""
    if head.startswith(reframe_database.START):
        return True
    head = head.removeprefix(codecs.BOM_UTF8)
    return reframe_logs.is_log(head) or _REPORT.match(head) is not None


def read(path: Path, around: Surroundings) -> Measurements:
    """Read a performance log or run report; identity: the test as `kernel`, its variables."""
    with open_maybe_gzip(path) as stream:
        start = guarded(path, stream.read, len(reframe_database.START))
    is_database = start == reframe_database.START
    data = b"" if is_database else content(path)
    around = dataclasses.replace(  # the test names itself
        around, layout={name: text for name, text in around.layout.items() if name != "test"}
    )
    problems: list[Problem] = []
    is_log = reframe_logs.is_log(data)
    if is_log:
        rows = _few(path, reframe_logs.rows_of(path, data, problems))
    else:
        reports = reframe_database.sessions_of(path) if is_database else iter([data])
        rows = _few(path, (row for report in reports for row in _report_rows(path, report)))
    labels = around.complete(read_labels(path, data))
    values = pd.DataFrame(_few(path, _values(rows, _stem(path), data, labels)))
    named = {name: text for name, text in labels.items() if name not in NAMING}
    samples, others, doubts = points_and_others(values, named)
    single = _single_values(path, rows, others, labels)
    lost = sorted(set(others["variable"]) - set(single["variable"]))
    told = [*warnings_of(problems), *doubts, *_skipped(lost)]
    not_taken = [warning.at(path_text(path)) for warning in told]
    if len(samples):
        curves = as_measurements(path, around, "reframe", data, samples, [], tool="ReFrame")
        return dataclasses.replace(curves, not_taken=not_taken, single_values=single)
    if single.empty and problems:
        raise InputError(path, f"{problems[0].what}; no other row has a value", problems[0].line)
    if single.empty:
        what = "a performance log" if is_log else "a database" if is_database else "a run report"
        raise NotRecognisedError(
            path, f"is {what} of ReFrame without values; measure again", Reason.NO_VALUES
        )
    return of_values(single, not_taken)


def _skipped(variables: list[str]) -> Iterator[DataWarning]:
    """Name the variables of which no value is read."""
    if variables:
        more = " and more" if len(variables) > 8 else ""
        what = f"skipped, because they have no unit or no number: {', '.join(variables[:8])}{more}"
        yield DataWarning("values", what)


def _few(path: Path, rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return all rows or values; raises InputError if there are too many."""
    first = list(itertools.islice(rows, LOG_VALUES + 1))
    if len(first) > LOG_VALUES:
        raise InputError(
            path, f"has more than {LOG_VALUES:,} values; split it, for example by year"
        )
    return first


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
        entries = zip(_REPORTED, value, strict=False)
        row |= {f"{short}_{end}": what for end, what in entries}
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


def test_name(row: dict[str, Any], otherwise: str) -> str:
    """Return the name of a row's test, with its parameters."""
    return str(row.get("display_name") or row.get("name") or otherwise)


def variables_of(row: dict[str, Any]) -> list[str]:
    """Return the names of a row's performance variables."""
    return [key[:-6] for key in row if key.endswith("_value") and key != "perf_value"]


def own_columns(
    row: dict[str, Any], parameters: dict[str, str], variables: list[str]
) -> dict[str, Any]:
    """Return the test's own columns of a row, without performance variables."""
    reserved = _REFRAMES_OWN | {f"{variable}_{end}" for variable in variables for end in _ENDS}
    return {
        f"test_{key}" if key in RESERVED else key: str(value)
        for key, value in (row | parameters).items()
        if key and key not in reserved and key not in SIZES
        and isinstance(value, str | int | float) and value not in ("", "null", "None")
    }  # fmt: skip


def time_utc(row: dict[str, Any]) -> str | None:
    """Return when the job ended. Without a Unix time in the row it may be local time."""
    try:
        ended = datetime.fromtimestamp(float(row["job_completion_time_unix"]), timezone.utc)
    except (KeyError, TypeError, ValueError, OverflowError, OSError):
        return str(row["job_completion_time"]) if row.get("job_completion_time") else None
    return f"{ended:%Y-%m-%dT%H:%M:%S.%fZ}"


def wall_clock(row: dict[str, Any]) -> str | None:
    """Return the local time when the job ended, to the second, as logs and reports write it.

    >>> wall_clock({"job_completion_time": "2026-11-21T14:43:30.5+01:00"})
    '2026-11-21T14:43:30'
    """
    text = str(row.get("job_completion_time") or "")
    match = re.match(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)", text)
    return f"{match[1]}T{match[2]}" if match else text or time_utc(row)
