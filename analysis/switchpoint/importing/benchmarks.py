"""The readers of what benchmarks print, into files or into strings of JSON and YAML."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from switchpoint.importing import (
    hpcc,
    imb,
    mpibench,
    nccl,
    netpipe,
    osu,
    perftest,
    reprompi,
    skampi,
)
from switchpoint.importing.labels import Surroundings
from switchpoint.tables.measurements import Measurements


class BenchmarkReader(Protocol):
    """The reader of one benchmark's output."""

    NAME: str

    def recognises(self, head: bytes) -> bool:
        """Return whether a text that starts so is such output."""

    def read(self, path: Path, around: Surroundings, data: bytes | None = None) -> Measurements:
        """Read the file, or `data` that is a part of it; raises InputError."""


#: The first one that recognises the start of a text reads it.
BENCHMARKS: list[BenchmarkReader] = [
    netpipe, osu, imb, nccl, perftest, mpibench, skampi, reprompi, hpcc,
]  # fmt: skip
