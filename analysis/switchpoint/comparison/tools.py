"""Holds message-passing tools against one another, as study 004 does with its echo.

The kernel `echo` measures them: MPI, raw TCP sockets and PVM.
"""

from __future__ import annotations

import pandas as pd

from switchpoint.errors import InputError
from switchpoint.tables.curves import summarise
from switchpoint.tables.measurements import Measurements

_KERNEL = "echo"

#: What modes of the kernel are called beside MPI, which is called by its library's name.
_TOOLS = {
    "sockets": "TCP sockets",
    "sockets_polling": "TCP sockets, polling",
    "pvm": "PVM, by its daemons",
    "pvm_direct": "PVM, direct",
}
_FLOOR = ["sockets", "sockets_polling"]

#: Tools that a whole table has, by what their names start with.
EXPECTED = ["TCP sockets", "PVM", "Open MPI", "MPICH", "Intel MPI"]


def tools(measurements: Measurements) -> pd.DataFrame:
    """Tabulate the round trips of each tool.

    Parameters
    ----------
    measurements
        With runs of the kernel `echo`.

    Returns
    -------
    DataFrame
        Ordered by site, placement, tool and size: `site`, `placement`, `tool`, `size_bytes`;
        `round_trip_us`, the mean of a run's round trips without the best and the worst (Hariri et
        al., study 004, of 100), and `median_us`, their median, both as the median over runs;
        `over_sockets`, the ratio of `median_us` to that of TCP sockets at the same place and size,
        of the faster of the two ways to wait on them, missing where they were not measured; `runs`
        and `samples`.

    Raises
    ------
    InputError
        If there is no run of `echo`.
    """
    if not has_echo(measurements):
        raise InputError(
            "tools",
            "there is no run of the kernel echo; run the checks Echo and EchoOverPvm"
            " (reframe -t study-004) and import their records",
        )
    samples = measurements.samples
    curves = summarise(samples[samples["kernel"].eq(_KERNEL)])
    names = curves["mode"].astype(str).map(_TOOLS)
    place = ["site", "placement"]
    point = [*place, "size_bytes"]
    curves = curves.assign(
        **{name: curves[name].astype("object").fillna("unknown") for name in place},
        tool=names.fillna(curves["mpi"].astype("object")).fillna("MPI, unknown"),
        round_trip_us=2 * curves["trimmed_us"],
        median_us=2 * curves["time_us"],
        floor=curves["mode"].isin(_FLOOR),
    )
    table = (
        curves.groupby([*place, "tool", "floor", "size_bytes"], observed=True)
        .agg(
            round_trip_us=("round_trip_us", "median"),
            median_us=("median_us", "median"),
            runs=("run_id", "nunique"),
            samples=("count", "sum"),
        )
        .reset_index()
    )
    floor = table[table["floor"]].groupby(point)["median_us"].min().rename("floor_us")
    table = table.merge(floor.reset_index(), how="left", on=point)
    table["over_sockets"] = table["median_us"] / table["floor_us"]
    return table.drop(columns=["floor", "floor_us"])


def has_echo(measurements: Measurements) -> bool:
    """Whether there is a run of the kernel `echo`."""
    samples = measurements.samples
    return "kernel" in samples and bool(samples["kernel"].eq(_KERNEL).any())


def missing_tools(table: pd.DataFrame) -> list[str]:
    """Name the tools of the study's kind that a table of `tools` lacks."""
    return [name for name in EXPECTED if not table["tool"].str.startswith(name).any()]
