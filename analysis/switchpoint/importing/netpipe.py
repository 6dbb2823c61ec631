"""Reads NetPIPE's files `np.out` of versions 3 and 5, and what version 3 prints.

The files have no heading. Times are one-way, in seconds or microseconds. A Mbit is 2^20 bits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from switchpoint.errors import InputError
from switchpoint.importing.external import (
    as_measurements,
    check_sizes,
    check_times,
    content,
    few_enough,
    known_repeats,
)
from switchpoint.importing.labels import Surroundings
from switchpoint.limits import ROW_CHARACTERS
from switchpoint.tables.measurements import Measurements, constant

NAME = "NetPIPE's output"


@dataclass(frozen=True)
class _Form:
    """One format of a row.

    Attributes
    ----------
    row
        An expression with groups `size`, `rate`, `time` and perhaps `iterations`.
    rate_unit_bits, time_unit_us
        The unit of the rate in bits per second, and the unit of the time in microseconds.
    rate_step, time_step
        The step of the last written digit.
    """

    row: re.Pattern[bytes]
    rate_unit_bits: float
    rate_step: float
    time_unit_us: float
    time_step: float


_VERSION_3 = _Form(
    re.compile(rb"\s*(?P<size>\d+)\s+(?P<rate>\d+\.\d+)\s+(?P<time>\d+\.\d{6,})\s*"),
    2**20, 1e-6, 1e6, 1e-8,
)  # fmt: skip
#: The rates are the mean, the minimum and the maximum. The time is the mean. More may follow.
_VERSION_5 = _Form(
    re.compile(
        rb"\s*(?P<size>\d+)\s+(?P<rate>\d+\.\d{3})(?:\s+\d+\.\d{3}){2}"
        rb"\s+(?P<time>\d+\.\d\d)(?:\s+[\d.]+ \w+(?:/sec)?)?\s*"
    ),
    1e9, 1e-3, 1.0, 1e-2,
)  # fmt: skip
_PRINTED_BY_3 = _Form(
    re.compile(
        rb"\s*(?:\d+:\s+)+(?P<size>\d+) bytes\s+(?P<iterations>\d+) times -->\s+"
        rb"(?P<rate>[\d.]+) Mbps in\s+(?P<time>[\d.]+) usec\s*"
    ),
    2**20, 1e-2, 1.0, 1e-2,
)  # fmt: skip

_PRINTED = re.compile(rb"\d times -->")


def recognises(head: bytes) -> bool:
    """Return whether the first lines without comments are rows, or some are NetPIPE's output."""
    return _PRINTED.search(head) is not None or any(
        _is_table(head, form) for form in (_VERSION_3, _VERSION_5)
    )


def read(path: Path, around: Surroundings) -> Measurements:
    """Read NetPIPE output; the curve's identity is `kernel` = netpipe."""
    data = content(path)
    form = next((form for form in (_VERSION_3, _VERSION_5) if _is_table(data, form)), None)
    rows = list(enumerate(few_enough(path, data.splitlines()), start=1))
    if form is None:
        form = _PRINTED_BY_3
        rows = [(number, row) for number, row in rows if _PRINTED.search(row)]
    numbered = [
        (number, match)
        for number, row in rows
        if len(row) <= ROW_CHARACTERS and (match := form.row.fullmatch(row))
    ]
    if not numbered:
        raise InputError(path, "contains no times of NetPIPE at exact sizes; import its np.out")
    lines = np.array([number for number, _ in numbered])
    fields = pd.DataFrame([match.groupdict() for _, match in numbered])
    fields = fields.apply(pd.to_numeric, errors="coerce").astype(float)
    size = fields["size"].to_numpy()
    time_us = _times(form, size, fields["rate"].to_numpy(), fields["time"].to_numpy())
    check_sizes(path, size, lines)
    check_times(path, time_us, lines)
    samples = pd.DataFrame(
        {"kernel": constant("netpipe", len(size)), "size_bytes": size, "time_us": time_us}
    )
    if "iterations" in fields:
        samples["iterations"] = known_repeats(fields["iterations"].to_numpy())
    lost = len([row for _, row in rows if row.strip() and not row.startswith(b"#")])
    lost -= len(numbered)
    warnings = []
    if lost:
        rows_are = "1 row is" if lost == 1 else f"{lost} rows are"
        warnings.append(f"{path}: {rows_are} incomplete and skipped: measure again")
    return as_measurements(path, around, "netpipe", data, samples, warnings)


def _is_table(data: bytes, form: _Form) -> bool:
    """Return whether each of the first lines, except comments, is a row of such a file."""
    rows = [row for row in data[: 2**16].splitlines() if not row.startswith(b"#")][:20]
    rows = rows[:-1] if len(rows) > 1 else rows
    return bool(rows) and all(
        len(row) <= ROW_CHARACTERS and form.row.fullmatch(row) for row in rows
    )


def _times(
    form: _Form,
    size: npt.NDArray[np.float64],
    rate: npt.NDArray[np.float64],
    time: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """Return times in microseconds, from the rate if it has more digits and is for one pair."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        of_rate = 1e6 * 8 * size / (rate * form.rate_unit_bits)
        rate_error = form.rate_step / rate
        time_error = form.time_step / time
    agree = np.abs(of_rate / (time * form.time_unit_us) - 1) <= rate_error + time_error
    return np.where(agree & (rate_error < time_error), of_rate, time * form.time_unit_us)
