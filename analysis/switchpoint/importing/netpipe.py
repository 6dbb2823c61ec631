"""Reads NetPIPE's output file `np.out`: bytes, Mbit/s (2^20) and one-way seconds, no heading."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd

from switchpoint.importing.external import as_measurements, check_positive, check_sizes, content
from switchpoint.measurements import Measurements, constant

NAME = "NetPIPE's np.out"

_ROW = re.compile(rb"\s*\d+\s+\d+\.\d+\s+\d+\.\d{6,}\s*")


def recognises(head: bytes) -> bool:
    """Tell whether each of the first lines, comments aside, is a whole number and two decimals."""
    rows = [row for row in head.splitlines() if not row.startswith(b"#")][:20]
    rows = rows[:-1] if len(rows) > 1 else rows
    return bool(rows) and all(_ROW.fullmatch(row) for row in rows)


def read(path: Path) -> Measurements:
    """Read NetPIPE output; the curve's identity is `kernel` = netpipe."""
    data = content(path)
    numbered = [row for row in enumerate(data.splitlines(), start=1) if _ROW.fullmatch(row[1])]
    fields = [row.split() for _, row in numbered]
    size = np.array([float(row[0]) for row in fields])
    time_us = 1e6 * np.array([float(row[2]) for row in fields])
    lines = np.array([number for number, _ in numbered])
    check_sizes(path, size, lines)
    check_positive(path, time_us, lines, "time_us")
    samples = pd.DataFrame(
        {"kernel": constant("netpipe", len(size)), "size_bytes": size, "time_us": time_us}
    )
    lost = len([row for row in data.splitlines() if row.strip() and not row.startswith(b"#")])
    lost -= len(numbered)
    warnings = [f"{path}: {lost} rows are cut short and left out: measure again"] if lost else []
    return as_measurements(path, "netpipe", data, samples, warnings)
