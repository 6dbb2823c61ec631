"""Leaves out of a file what was imported from it before, when it was shorter.

The identity of a run that another tool printed is its content. So a file to which a job still
writes is another run each time, and each run would contain the rows of those before.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import TypedDict

import pandas as pd

from switchpoint.data_warnings import DataWarning
from switchpoint.importing.files import Found
from switchpoint.printable import path_text
from switchpoint.store.store import Store
from switchpoint.tables.columns import records
from switchpoint.tables.measurements import Measurements

#: Formats of runs without an identity of their own.
_FORMATS = ["osu", "imb", "netpipe", "tidy"]

#: Two launches never agree in so many different times.
_LEAST_TIMES = 5

#: What is the same in the samples of a file that has grown.
_SAMPLE = ["kernel", "mode", "size_bytes", "time_us"]


class ImportedRun(TypedDict):
    """From which file a run came."""

    run_id: str
    format: str
    source: str
    labels: str | None


#: The runs of each file in a store, by its path: their IDs and labels.
Earlier = dict[str, dict[str, str]]


def earlier_runs(store: Store, files: Iterable[Found]) -> Earlier:
    """Return the runs that were imported from these paths before."""
    paths = {path_text(file.path) for file in files}
    runs = store.files_imported()
    known: Earlier = {}
    chosen = runs["format"].isin(_FORMATS) & runs["source"].isin(paths)
    for run in records(runs[chosen], ImportedRun):
        known.setdefault(run["source"], {})[run["run_id"]] = _text(run["labels"])
    return known


def without_earlier(found: Measurements, store_url: str, earlier: Earlier) -> Measurements:
    """Leave out the samples that earlier runs of the same file have, and say so."""
    for run in records(found.runs, ImportedRun):
        known = earlier.get(run["source"], {})
        same_labels = [one for one, labels in known.items() if labels == _text(run["labels"])]
        if same_labels and run["run_id"] not in known and run["format"] in _FORMATS:
            samples = Store(store_url).read(run_id=same_labels).samples
            before = [part for _, part in samples.groupby("run_id", observed=True)]
            found = _without(found, run["run_id"], before)
    return found


def _without(found: Measurements, run_id: str, before: list[pd.DataFrame]) -> Measurements:
    """Leave out of one run the samples of those runs before that are completely in it."""
    samples = found.samples
    mine = samples["run_id"] == run_id
    keys = _keys(samples[mine])
    complete = [of_run for of_run in before if _keys(of_run).isin(keys).all()]
    again = keys[keys.isin([key for of_run in complete for key in _keys(of_run)])]
    if samples["time_us"].loc[again.index].nunique() < _LEAST_TIMES:
        return found
    left = samples.drop(index=again.index)
    [source] = found.runs.loc[found.runs["run_id"] == run_id, "source"]
    what = f"{len(again)} rows were imported from this file before: they count once"
    runs = found.runs
    if len(again) == mine.sum():
        runs = runs[runs["run_id"] != run_id]
    return dataclasses.replace(
        found,
        samples=left.reset_index(drop=True),
        runs=runs.reset_index(drop=True),
        not_taken=[*found.not_taken, DataWarning("imported_before", what, source)],
    )


def _text(labels: object) -> str:
    return labels if isinstance(labels, str) else ""


def _keys(samples: pd.DataFrame) -> pd.Series[str]:
    """Return what makes each sample the same as another, as text."""
    names = [name for name in _SAMPLE if name in samples]
    keys = pd.Series("", index=samples.index)
    for name in names:
        keys += samples[name].astype(str) + " "
    return keys
