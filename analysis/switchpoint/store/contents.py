"""What a store contains: by month and site, or of one run."""

from __future__ import annotations

from typing import Any

import pandas as pd

from switchpoint.data_warnings import DataWarning, warnings_of_text
from switchpoint.errors import InputError
from switchpoint.store.batches import TABLES, UNDATED, batch_bytes, month_of, path
from switchpoint.store.scan import MAKE_READABLE, unread
from switchpoint.store.steady import steady
from switchpoint.store.store import Store
from switchpoint.store.wanted import Query
from switchpoint.tables.columns import none_for_nulls, records

#: Columns of `contents`.
CONTENTS = [
    "month", "site", "runs", "sessions", "first", "last", "truncated", "parameters", "findings",
    "size_bytes",
]  # fmt: skip

#: What tables are joined by: pandas cannot join two empty columns of its own texts.
_KEYS = {"month": object, "site": object}


@steady
def contents(store: Store, **wanted: Query) -> tuple[pd.DataFrame, list[DataWarning]]:
    """Count what is stored.

    Parameters
    ----------
    store
        The store.
    **wanted
        As for every query of a `Store`.

    Returns
    -------
    DataFrame
        `CONTENTS`, one row for each month and site: `first` and `last` are dates; `parameters` and
        `findings` are rows; `size_bytes` are those of the files, divided among sites by their runs
        and rows.
    list of DataWarning
        What could not be read.
    """
    counted, damaged = _runs(store, wanted)
    table = counted
    for name in store.ledgers:
        rows, lost = _rows(store, name, wanted)
        damaged += lost
        table = table.merge(rows, on=["month", "site"], how="outer")
        table["size_bytes"] = table["size_bytes"].fillna(0.0) + table.pop("bytes").fillna(0.0)
    numbers = ["runs", "sessions", "truncated", *store.ledgers, "size_bytes"]
    table[numbers] = table[numbers].fillna(0).round().astype(int)
    table = table.sort_values(["month", "site"], ignore_index=True)
    return none_for_nulls(table[CONTENTS]), damaged


def _runs(store: Store, wanted: dict[str, Query]) -> tuple[pd.DataFrame, list[DataWarning]]:
    """Count runs by month and site; return what could not be read too."""
    stored, damaged = store.stored(**wanted)
    damaged += _not_counted(store, stored.runs)
    runs = stored.runs.assign(
        month=stored.runs["date"].str[:7],
        session=stored.runs["session"].fillna(stored.runs["date"]),  # as the gate does
        size_bytes=_bytes_of_runs(store, stored.runs),
    )
    table = runs.groupby(["month", "site"], dropna=False, as_index=False).agg(
        runs=("run_id", "size"),
        sessions=("session", "nunique"),
        first=("date", "min"),
        last=("date", "max"),
        truncated=("complete", lambda complete: int((~complete.astype(bool)).sum())),
        size_bytes=("size_bytes", "sum"),
    )
    return table.astype(_KEYS), damaged


def _rows(
    store: Store, name: str, wanted: dict[str, Query]
) -> tuple[pd.DataFrame, list[DataWarning]]:
    """Count the rows of a ledger by month and site, with their bytes."""
    counts, damaged = store.ledgers[name].counts("site", wanted)
    counts["month"] = counts["file"].map(
        {file: month_of(file).removeprefix("month=") for file in counts["file"].unique()}
    )
    counts["month"] = counts["month"].mask(counts["month"] == UNDATED)
    sizes = {file: store.files.size(file) for file in counts["file"].unique()}
    per_file = counts.groupby("file")["rows"].transform("sum")
    counts["bytes"] = counts["file"].map(sizes).astype(float) * counts["rows"] / per_file
    table = counts.groupby(["month", "site"], dropna=False, as_index=False)[["rows", "bytes"]].sum()
    return table.rename(columns={"rows": name}).astype(_KEYS), damaged


def _bytes_of_runs(store: Store, runs: pd.DataFrame) -> pd.Series[float]:
    """Return each run's share of the bytes of its batch."""
    sizes = {batch: batch_bytes(store.files, batch) for batch in runs["batch"].unique()}
    per_batch = runs.groupby("batch")["run_id"].transform("size")
    return (runs["batch"].map(sizes).astype(float) / per_batch).fillna(0.0)


def _not_counted(store: Store, runs: pd.DataFrame) -> list[DataWarning]:
    """Return a warning for each file of some runs whose bytes are not known."""
    files = store.files
    names = [path(files, table, batch) for batch in runs["batch"].unique() for table in TABLES]
    return [
        unread(
            name,
            "cannot be read (it is a link that leads nowhere); its bytes are not counted."
            f" {MAKE_READABLE}",
        )
        for name in names
        if files.leads_nowhere(name)
    ]


def one_run(store: Store, run: str) -> dict[str, Any]:
    """Return the row of one run, the kinds of its warnings, and how many points it has.

    Raises
    ------
    InputError
        As from `find_run`.
    """
    run_id = find_run(store, run)
    points = store.curves(run_id=run_id)
    row = records(store.runs(run_id=run_id))[0]
    row.pop("program")
    warnings = warnings_of_text(row["warnings"])
    return {str(name): value for name, value in row.items()} | {
        "warnings": "\n".join(map(str, warnings)) or None,
        "warning_kinds": [warning.kind for warning in warnings],
        "modes": ", ".join(sorted(points["mode"].dropna().unique())) if "mode" in points else None,
        "points": len(points),
        "parameters": len(store.parameters(run_id=run_id)),
    }


def find_run(store: Store, run: str, besides: str = "") -> str:
    """Return the only run ID that starts with these digits.

    Parameters
    ----------
    store, run
        Where to look, and the first digits.
    besides
        What else the text is not, for the message.

    Raises
    ------
    InputError
        If no run ID in the store starts with these digits, or several do.
    """
    ids = store.run_ids()
    found = ids[ids.str.startswith(run)]
    if not run or found.empty:
        raise InputError(
            run or "''", f"{besides}no run ID in the store {store.url} starts with this"
        )
    if len(found) > 1:
        names = ", ".join(found.str[: len(run) + 8].head(5))
        raise InputError(run, f"is the start of {len(found)} run IDs ({names}); give more digits")
    return str(found.iloc[0])
