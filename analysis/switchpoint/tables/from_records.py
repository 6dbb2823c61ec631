"""Converts run records to measurements: samples with the identity of their curve, and the run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pandas as pd

from switchpoint.data_warnings import text_of_warnings
from switchpoint.printable import path_text
from switchpoint.tables.columns import (
    MEASURES,
    PASSING_LABELS,
    RESERVED,
    RUN_COLUMNS,
    Run,
    values_of,
)
from switchpoint.tables.identity import IDENTITY
from switchpoint.tables.measurements import Measurements, constant, repeated
from switchpoint.tables.mpi_names import mpi_name
from switchpoint.tables.sweeps import ZOOM

if TYPE_CHECKING:
    from switchpoint.records.header import Plan
    from switchpoint.records.record import Facts, Record


#: What a kernel can be set about its buffers and its pace; each is part of a curve's identity
#: unless it is 0, the default.
_CONDITIONS = ("rotate_mib", "buffer_offset_bytes", "pause_us")


def from_record(record: Record, labels: dict[str, str] | None = None) -> Measurements:
    """Add the identity of their curve to a run record's samples.

    A kernel's phase columns stay in the record; they are not part of a curve of `time_us`.

    Parameters
    ----------
    record
        A record that was read.
    labels
        The record's labels, completed from its path and folders; by default only its own.
    """
    samples = record.samples
    labels = record.header["labels"] if labels is None else labels
    run = describe_run(record, labels)
    texts = dict(zip(IDENTITY, values_of(run, IDENTITY), strict=True)) | own_labels(labels)
    columns: dict[str, Any] = {name: constant(text, len(samples)) for name, text in texts.items()}
    modes = samples["mode"].array
    in_order = sorted(modes.categories)  # not in the order of the seed
    columns["mode"] = modes.reorder_categories(in_order)
    columns |= _definition(record.header["plan"], columns["mode"])
    columns |= {name: samples[name].array for name in MEASURES}
    described = pd.DataFrame([run], columns=RUN_COLUMNS)
    return Measurements(pd.DataFrame(columns, copy=False), described)


def _definition(plan: Plan, modes: pd.Categorical) -> dict[str, pd.Categorical]:
    """Return the columns that say what a time means, as far as a kernel could define it otherwise.

    They come from the plan, so no label is needed. Old records do not say it, and their curves do
    not have the columns.
    """
    columns = {}
    for name in _CONDITIONS:
        if value := plan.get(name):
            columns[name] = constant(f"{value:.15g}", len(modes))
    if windows := plan.get("windows"):
        columns["window_size"] = _by_mode(modes, windows)
    if start := plan.get("start"):
        columns["start"] = constant(start, len(modes))
        columns["time_of"] = _by_mode(modes, plan.get("time_of", {}))
    return columns


def _by_mode(modes: pd.Categorical, values: dict[str, Any]) -> pd.Categorical:
    """Return the value of each sample's mode, null where the mode has none."""
    texts = [str(values[mode]) if mode in values else None for mode in modes.categories]
    return repeated(texts, [1] * len(texts)).take(modes.codes)


def own_labels(labels: dict[str, str]) -> dict[str, str]:
    """Return labels that distinguish a run's curves within a kernel, such as its grain.

    The check's name is not one: a smoke run and a sweep measure the same curve.
    """
    not_own = RESERVED | PASSING_LABELS | {*IDENTITY, "check"}
    return {name: value for name, value in labels.items() if name not in not_own}


def describe_run(facts: Facts, labels: dict[str, str]) -> Run:
    """Return a row of the runs table from a record's header and footer and the run's labels."""
    header = facts.header
    kernel = header["kernel"]
    proved = kernel.get("spec_hash") and labels.get("spack_hash") == kernel["spec_hash"]
    return {
        "run_id": facts.run_id,
        "format": "record",
        "source": path_text(facts.path),
        "site": labels.get("site"),
        "date": header["start_utc"][:10],
        "start_utc": header["start_utc"],
        "partition": labels.get("partition"),
        "mpi": mpi_name(header["mpi"].get("library", "")),
        "environ": labels.get("environ"),
        "kernel": ZOOM if header["plan"].get("searches") else kernel.get("name"),
        "placement": labels.get("placement"),
        "session": labels.get("session"),
        "complete": facts.complete,
        "tool": f"{kernel.get('name')} {kernel.get('version')}",
        "program": json.dumps(kernel),
        "builder": kernel.get("builder"),
        "spec_hash": kernel.get("spec_hash"),
        # A label is a claim, and the program's own hash proves it.
        "spack_spec": labels.get("spack_spec") if proved else None,
        "spack_hash": kernel.get("spec_hash"),
        "lock_hash": None,  # the files beside a record are read with it, see `importing.lock`
        "lock": None,
        "labels": json.dumps(labels),
        "header": json.dumps(header),
        "footer": None if facts.footer is None else json.dumps(facts.footer),
        "warnings": text_of_warnings(facts.warnings),
    }
