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
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pandas as pd

from switchpoint.errors import InputError, NotRecognisedError, Reason
from switchpoint.importing.external import as_measurements, content
from switchpoint.importing.labels import Surroundings, read_labels
from switchpoint.printable import path_text
from switchpoint.tables.columns import RESERVED, VALUE_COLUMNS
from switchpoint.tables.measurements import Measurements, of_values, times_before
from switchpoint.tables.units import SCALES

NAME = "ReFrame's performance logs and run reports"

_LOG = b"result|job_completion_time|"
_REPORT = re.compile(rb'^\s*\{\s*"session_info"\s*:\s*\{')

#: Columns that hold the message size of all values of a row, in bytes.
_SIZES = ["message_size", "msg_size", "message_bytes", "size_bytes"]

#: A variable's name: what is measured, then the size.
_SIZED = re.compile(
    r"(?P<metric>.*[^\d\W_])[_-]?(?<![\d.])(?P<number>\d+)_?(?P<scale>[KMG]?)(?P<i>i?)(?P<byte>B|bytes)?",
    re.IGNORECASE,
)
#: Where a test ran, as the columns of all tables name it.
_NAMING = ("site", "partition", "environ")

#: Parameters, those of fixtures too, as a test's name shows them: `%mpi_tasks=16`.
_PARAMETER = re.compile(r"%(?:[\w.]*\.)?(\w+)=(\S+)")

#: A bare number is a size where so many variables of a test differ in nothing else, unless they
#: are numbered one after the other or the name says what is counted: `gpu_0`, `nodes_4`.
_LEAST_BARE = 3
_COUNTED = re.compile(
    r"(?:core|cpu|device|gpu|iter|iteration|job|node|numa|proc|process|rank|run|socket|step|task"
    r"|thread|trial|worker)(?:s|es)?$",
    re.IGNORECASE,
)

#: Units, in small letters: microseconds, or bytes a microsecond, that one of them is.
_TIMES = {
    **dict.fromkeys(("us", "usec", "usecs", "μs", "µs", "microseconds"), 1.0),
    **dict.fromkeys(("ns", "nsec", "nanoseconds"), 1e-3),
    **dict.fromkeys(("ms", "msec", "milliseconds"), 1e3),
    **dict.fromkeys(("s", "sec", "seconds"), 1e6),
}
_BANDWIDTHS = {
    **dict.fromkeys(("mb/s", "mb/sec", "mbytes/s", "mbytes/sec", "mbps"), 1.0),
    **dict.fromkeys(("kb/s", "kb/sec"), 1e-3),
    **dict.fromkeys(("gb/s", "gb/sec", "gbytes/s", "gbytes/sec"), 1e3),
    **dict.fromkeys(("mib/s", "mib/sec"), 2**20 / 1e6),
    **dict.fromkeys(("gib/s", "gib/sec"), 2**30 / 1e6),
    **dict.fromkeys(("gbit/s", "gbits/s"), 125.0),
    **dict.fromkeys(("mbit/s", "mbits/s"), 0.125),
}

#: What a performance log's columns add to a variable's name.
_ENDS = ("value", "unit", "ref", "lower_thres", "upper_thres", "result")

#: The order of the same in a run report.
_REPORTED = ("value", "ref", "lower_thres", "upper_thres", "unit", "result")

#: What ReFrame says of every test; the rest of a row are the test's own variables and parameters.
_REFRAMES_OWN = frozenset(
    """
    basename build_jobid build_locally build_stderr build_stdout build_time_limit check_vars
    dependencies_actual dependencies_conceptual descr display_name env_vars environ
    exclusive_access executable executable_opts extra_resources fail_phase fail_reason filename
    fixture hashcode job_completion_time job_completion_time_unix job_exitcode job_nodelist
    job_stderr job_stdout job_submit_time jobid keep_files local maintainers max_pending_time
    modules name nodelist num_cpus_per_task num_gpus_per_node num_tasks_per_core
    num_tasks_per_socket outputdir partition perf_lower_thres perf_ref perf_result perf_unit
    perf_upper_thres perf_value perf_var perfvalues perfvars pipeline_timeout postbuild_cmds
    postrun_cmds prebuild_cmds prefix prerun_cmds readonly_files result run_index scheduler
    session_info session_uuid short_name sourcepath sourcesdir stagedir strict_check sysenv
    system tags time_compile time_limit time_performance time_run time_sanity time_setup
    time_total unique_name use_multithreading uuid valid_prog_environs valid_systems variables
    """.split()  # noqa: SIM905, a list of so many words
)


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
    samples, others = _samples(values)
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
        name = _test(row, otherwise)
        variables = _variables(row)
        parameters = dict(_PARAMETER.findall(name))
        system, _, partition = str(row.get("system") or "").partition(":")
        shared = _own(row, parameters, variables) | {
            "kernel": name.split(" ")[0],
            "site": system or None,
            "partition": row.get("partition") or partition or None,
            "environ": row.get("environ"),
            "row": number,
            "parameters": tuple(f"test_{key}" if key in RESERVED else key for key in parameters),
            "row_size": next((row[name] for name in _SIZES if row.get(name)), None),
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


def _test(row: dict[str, Any], otherwise: str) -> str:
    """Name of a row's test, with its parameters."""
    return str(row.get("display_name") or row.get("name") or otherwise)


def _variables(row: dict[str, Any]) -> list[str]:
    return [key[:-6] for key in row if key.endswith("_value") and key != "perf_value"]


def _own(row: dict[str, Any], parameters: dict[str, str], variables: list[str]) -> dict[str, Any]:
    """What a row says of the test: neither ReFrame's own columns nor its performance variables."""
    told = {f"{variable}_{end}" for variable in variables for end in _ENDS}
    return {
        f"test_{key}" if key in RESERVED else key: str(value)
        for key, value in (row | parameters).items()
        if key and key not in _REFRAMES_OWN | told and key not in _SIZES
        and isinstance(value, str | int | float) and value not in ("", "null", "None")
    }  # fmt: skip


def _time_utc(row: dict[str, Any]) -> str | None:
    """When the job ended; without its Unix time as the row writes it, which may be local time."""
    try:
        ended = datetime.fromtimestamp(float(row["job_completion_time_unix"]), timezone.utc)
    except (KeyError, TypeError, ValueError, OverflowError, OSError):
        return str(row["job_completion_time"]) if row.get("job_completion_time") else None
    return f"{ended:%Y-%m-%dT%H:%M:%S.%fZ}"


def _samples(values: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Points of curves, `mode` being what is measured; and the values that are none."""
    if values.empty:
        return values, pd.DataFrame(columns=["variable", "row"])
    parts = [_split(variable) for variable in values["variable"]]
    values[["metric", "named_size", "bare"]] = pd.DataFrame(parts, index=values.index)
    trusted = values["named_size"].notna() & (~values["bare"] | _sizes_by_number(values))
    row_size = pd.to_numeric(values.pop("row_size"), errors="coerce")
    values["mode"] = values["metric"].where(trusted, values["variable"])
    values["size_bytes"] = values["named_size"].where(trusted, row_size).astype(float)
    number = pd.to_numeric(values["value"], errors="coerce")
    unit = values["unit"].astype(str).str.strip().str.lower()
    time = number * unit.map(_TIMES)
    values["time_us"] = time.fillna(values["size_bytes"] / (number * unit.map(_BANDWIDTHS)))
    good = values["size_bytes"].ge(0) & values["size_bytes"].mod(1).eq(0)
    good &= values["time_us"].gt(0) & values["time_us"].lt(float("inf"))
    others = values.loc[~good, ["variable", "row", *_NAMING]]
    parameters = {name for names in values.pop("parameters") for name in names}
    values = values[good].drop(columns=["metric", "named_size", "bare", "value", "unit"])
    # What differs in every row, such as a time, tells no curves apart, unless it is a parameter.
    rows = values.drop_duplicates("row").drop(columns="row")
    passing = {n for n in rows if len(rows) > 1 and rows[n].is_unique} - parameters
    values = values.drop(columns=passing - {"kernel", "mode", "size_bytes", "time_us"})
    values = values.drop(columns=[name for name in _NAMING if values[name].isna().all()])
    identity = [str(n) for n in values if n not in {"size_bytes", "time_us", "variable", "row"}]
    values[identity] = values[identity].astype("category")
    values["pass"] = times_before([values[name].array for name in (*identity, "size_bytes")])
    return values.drop(columns=["row", "variable"], errors="ignore").reset_index(drop=True), others


def _sizes_by_number(values: pd.DataFrame) -> pd.Series[bool]:
    """Tell whether bare numbers at the ends of a test's variables can be nothing but sizes."""
    keys = list(zip(values["kernel"], values["metric"], strict=True))
    sizes: dict[tuple[str, str], set[float]] = {}
    for key, size in zip(keys, values["named_size"], strict=True):
        if size == size:  # the variable's name ends in one
            sizes.setdefault(key, set()).add(size)
    trusted = {
        (kernel, metric)
        for (kernel, metric), known in sizes.items()
        if len(known) >= _LEAST_BARE
        and max(known) - min(known) != len(known) - 1  # numbered one after the other
        and not _COUNTED.search(metric)
    }
    return pd.Series([key in trusted for key in keys], index=values.index)


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
        test, time = _test(row, _stem(path)), _time_utc(row)
        place = {
            name: value[name] if isinstance(value[name], str) else labels.get(name)
            for name in _NAMING
        }
        series = place | {"test": test, "variable": variable, "unit": unit}
        identity = json.dumps([*series.values(), time, number])
        others = _own(row, dict(_PARAMETER.findall(test)), _variables(row))
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


def _split(variable: str) -> tuple[str, float | None, bool]:
    """Metric, size in bytes where the name ends in one, and whether that is a bare number.

    >>> _split("latency_64KiB"), _split("bw_8"), _split("latency")
    (('latency', 65536.0, False), ('bw', 8.0, True), ('latency', None, False))
    """
    found = _SIZED.fullmatch(variable)
    if found is None:
        return variable, None, False
    size = float(found["number"]) * SCALES[found["scale"].lower()]
    return found["metric"].rstrip("_-"), size, not (found["scale"] or found["byte"])
