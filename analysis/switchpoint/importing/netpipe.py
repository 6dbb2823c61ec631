"""Reads NetPIPE's output file `np.out`: bytes, Mbit/s and one-way seconds in three columns."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pandas as pd

from switchpoint.importing.external import as_measurements, check_positive, check_sizes, content
from switchpoint.measurements import Measurements, constant

NAME = "NetPIPE's np.out"

_ROW = re.compile(rb"\s*\d+\s+\d+\.\d+\s+\d+\.\d{6,}\s*")


def recognises(head: bytes) -> bool:
    """Tell whether each of the first lines is a whole number and two decimals."""
    rows = head.splitlines()[:20]
    rows = rows[:-1] if len(rows) > 1 else rows
    return bool(rows) and all(_ROW.fullmatch(row) for row in rows)


def read(path: Path) -> Measurements:
    """Read NetPIPE output; the curve's identity is `kernel` = netpipe."""
    data = content(path)
    table = pd.read_csv(
        io.BytesIO(data), sep=r"\s+", header=None, names=["size_bytes", "mbit", "seconds"]
    )
    lines = pd.Series(range(1, len(table) + 1))
    samples = pd.DataFrame({"kernel": constant("netpipe", len(table))})
    samples["size_bytes"] = table["size_bytes"].astype(float)
    samples["time_us"] = table["seconds"] * 1e6
    check_sizes(path, samples["size_bytes"], lines)
    check_positive(path, samples["time_us"], lines)
    return as_measurements(path, "netpipe", data, samples, [])
