"""Reads what a row of ReFrame's logs says about its test, except the values."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from typing import Any

from switchpoint.tables.columns import RESERVED

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
