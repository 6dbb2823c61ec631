"""Reads our own run records into measurements."""

from __future__ import annotations

from pathlib import Path

from switchpoint.measurements import Measurements, from_record
from switchpoint.record import is_record, read_record

NAME = "run records"

recognises = is_record


def read(path: Path) -> Measurements:
    """Read a run record; raises RecordError."""
    return from_record(read_record(path))
