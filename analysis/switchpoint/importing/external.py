"""Gives tables of times from other tools the shape of measurements, and names their bad rows."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pandas as pd

from switchpoint.errors import InputError
from switchpoint.importing.labels import IDENTITY_LABELS, read_labels
from switchpoint.measurements import Measurements, concat, constant, mpi_name
from switchpoint.record import open_maybe_gzip
from switchpoint.shapes import MEASURES, PASSING_LABELS, RUN_COLUMNS

#: More than this of one file, unpacked, is no table of another tool's, and would fill the memory.
LARGEST_BYTES = 2**27


def content(path: Path) -> bytes:
    """Whole content of a file, unpacked if gzipped; raises InputError, also if it is huge."""
    with open_maybe_gzip(path) as stream:
        try:
            data = stream.read(LARGEST_BYTES + 1)
            if len(data) > LARGEST_BYTES:
                raise InputError(
                    path, f"has over {LARGEST_BYTES // 2**20} MiB; split it, such as by curve"
                )
            return data
        except (OSError, EOFError) as error:
            raise InputError(path, f"cannot be read ({error}); copy it again") from None


def as_measurements(
    path: Path,
    form: str,
    data: bytes,
    samples: pd.DataFrame,
    warnings: list[str],
    tool: str | None = None,
) -> Measurements:
    """Join samples with the row of each run: one per kernel, whose identity is the content.

    The labels in or beside the file say what its own words do not (`importing.labels`).

    Parameters
    ----------
    path, form, data
        The file, the name of its format, its unpacked content.
    samples
        `size_bytes`, `time_us`, perhaps `pass` and `iterations`, and the identity columns.
    warnings
        One sentence each.
    tool
        Name and version of what measured, where the file says it.
    """
    labels = read_labels(path, data)
    if "mpi" in labels:
        labels["mpi"] = mpi_name(labels["mpi"])
    for name in IDENTITY_LABELS:
        if name in labels and name not in samples:
            samples[name] = constant(labels[name], len(samples))
    for name in ("pass", "iterations"):
        if name not in samples:
            samples[name] = int(name == "iterations")
    repeats = samples.groupby(
        [name for name in samples if name not in {"time_us", "iterations"}],
        observed=True,
        dropna=False,
    )
    samples["sample"] = repeats.cumcount()
    samples = samples.astype(
        {"size_bytes": "int64", "pass": "int32", "sample": "int32", "iterations": "int64"}
    )
    content_hash = hashlib.sha256(data)
    if labels:
        content_hash.update(json.dumps(labels, sort_keys=True).encode())
    shared: dict[str, object] = {name: labels.get(name) for name in PASSING_LABELS}
    shared |= {
        "format": form,
        "source": str(path),
        "date": labels.get("start_utc", "")[:10] or None,
        "complete": True,
        "tool": tool,
        "labels": json.dumps(labels) if labels else None,
        "warnings": "\n".join(warnings) or None,
    }
    kernels = samples["kernel"].unique() if "kernel" in samples else [None]
    parts = []
    for kernel in kernels:
        identity = content_hash.copy()
        part = samples
        if len(kernels) > 1:
            identity.update(str(kernel).encode())
            part = samples[samples["kernel"] == kernel]
        parts.append(_one_run(part, identity.hexdigest()[:32], shared))
    return concat(parts)


def _one_run(samples: pd.DataFrame, run_id: str, shared: dict[str, object]) -> Measurements:
    samples = samples.reset_index(drop=True).assign(run_id=constant(run_id, len(samples)))
    run: dict[str, object] = dict.fromkeys(RUN_COLUMNS)
    for name in set(RUN_COLUMNS) & set(samples):
        values = samples[name].unique()
        run[name] = values[0] if len(values) == 1 else None
    run |= shared | {"run_id": run_id}
    order = [name for name in samples if name not in MEASURES] + MEASURES
    return Measurements(samples[order], pd.DataFrame([run], columns=RUN_COLUMNS))


def check_sizes(path: Path, sizes: pd.Series[float], lines: pd.Series[int]) -> None:
    """Raise InputError at the first size that is not a whole number of bytes, 0 or more."""
    bad = ~(sizes.ge(0) & sizes.mod(1).eq(0) & sizes.lt(2**62))
    _refuse(path, bad, sizes, lines, "size_bytes", "sizes are whole numbers of bytes, 0 or more")


def check_positive(path: Path, values: pd.Series[float], lines: pd.Series[int]) -> None:
    """Raise InputError at the first value that is not positive and finite."""
    bad = ~(values.gt(0) & values.lt(np.inf))
    _refuse(path, bad, values, lines, str(values.name), "it must be a positive number")


def _refuse(
    path: Path,
    bad: pd.Series[bool],
    values: pd.Series[float],
    lines: pd.Series[int],
    field: str,
    rule: str,
) -> None:
    if bad.any():
        row = int(bad.to_numpy().argmax())
        value = values.iloc[row]
        shown = int(value) if np.isfinite(value) and value == int(value) else value
        raise InputError(
            path, f"{field} is {shown}; {rule}: correct or remove the row", int(lines.iloc[row])
        )
