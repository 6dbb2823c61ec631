"""Reads our own run records into measurements."""

from __future__ import annotations

from pathlib import Path

from switchpoint.importing.labels import Surroundings
from switchpoint.records.record import is_record, read_record
from switchpoint.tables.from_records import from_record
from switchpoint.tables.measurements import Measurements

NAME = "run records"

recognises = is_record


def read(path: Path, around: Surroundings) -> Measurements:
    """Read a run record; raises RecordError. Its own labels have priority over its path."""
    record = read_record(path)
    own = {name: text for name, text in record.header["labels"].items() if text is not None}
    return from_record(record, around.complete(own) | own)
