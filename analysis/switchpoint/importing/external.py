"""Gives tables of times from other tools the shape of measurements, and names their bad rows."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pandas as pd

from switchpoint.errors import InputError
from switchpoint.measurements import Measurements, constant
from switchpoint.record import open_maybe_gzip
from switchpoint.shapes import MEASURES, RUN_COLUMNS


def content(path: Path) -> bytes:
    """Whole content of a file, unpacked if gzipped; raises InputError."""
    with open_maybe_gzip(path) as stream:
        try:
            return stream.read()
        except (OSError, EOFError) as error:
            raise InputError(path, f"cannot be read ({error}); copy it again") from None


def as_measurements(
    path: Path, form: str, data: bytes, samples: pd.DataFrame, warnings: list[str]
) -> Measurements:
    """Join samples with the row of their run, whose identity is the file's content.

    Parameters
    ----------
    path, form, data
        The file, the name of its format, its unpacked content.
    samples
        `size_bytes`, `time_us`, perhaps `pass`, and the identity columns as strings.
    warnings
        One sentence each.
    """
    run_id = hashlib.sha256(data).hexdigest()[:32]
    samples = samples.assign(run_id=constant(run_id, len(samples)), iterations=1)
    if "pass" not in samples:
        samples["pass"] = 0
    repeats = samples.groupby([name for name in samples if name != "time_us"], observed=True)
    samples["sample"] = repeats.cumcount()
    samples = samples.astype(
        {"size_bytes": "int64", "pass": "int32", "sample": "int32", "iterations": "int64"}
    )
    run: dict[str, object] = dict.fromkeys(RUN_COLUMNS)
    for name in set(RUN_COLUMNS) & set(samples):
        values = samples[name].unique()
        run[name] = values[0] if len(values) == 1 else None
    run |= {
        "run_id": run_id,
        "format": form,
        "source": str(path),
        "complete": True,
        "warnings": "\n".join(warnings) or None,
    }
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
