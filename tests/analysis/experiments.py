"""Makes the records of an experiment from a recorded zoom: other settings, another switch."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from conftest import RECORDS
from switchpoint import Measurements, read_files

EXPLAIN = RECORDS / "explain"

#: Where `late` says that no switch is.
EAGER = "MPI_Send returns before its receive is posted up to 1048576 bytes"


class Experiment:
    """A recorded zoom, and trials that are made from it."""

    def __init__(self, folder: Path, name: str, base: Mapping[str, str] | None = None) -> None:
        """Take a zoom by its name, with other settings of its environment if they are given."""
        self.folder = folder
        text = gzip.decompress((EXPLAIN / f"{name}.record.gz").read_bytes()).decode()
        header, *self._rows, footer = text.splitlines()
        self._header, self._footer = json.loads(header), json.loads(footer)
        self.records: list[Path] = []
        probes = [s for s in self._footer["switches"] if s["method"] == "late_receiver"]
        self._footer["switches"] = probes
        self._environment = dict(base or {})
        self.trial({}, probes[0]["last_size_bytes"])

    @property
    def last(self) -> int:
        """The last eager size of the zoom."""
        return int(self._footer["switches"][0]["last_size_bytes"])

    def value(self, cvar: str) -> Any:
        """The value of a control variable in the zoom."""
        return self._header["mpi"]["cvars"][cvar]

    def starts_at(self, last: int) -> Experiment:
        """Move the switch of the zoom itself."""
        self._footer["switches"][0] |= {"last_size_bytes": last, "first_size_bytes": last + 1}
        self.records.clear()
        return self.trial({}, last)

    def trial(
        self,
        changed: Mapping[str, int | str],
        last: int | None,
        labels: Mapping[str, str] | None = None,
        lanes: list[str] | None = None,
        ucx: Mapping[str, str] | None = None,
    ) -> Experiment:
        """Add a run: settings by control variable or environment variable, and its last eager size.

        `last` is None if MPI_Send stayed eager. `ucx` are the values that UCX lists.
        """
        header, footer = json.loads(json.dumps(self._header)), json.loads(json.dumps(self._footer))
        number = len(self.records)
        header["run_id"] = f"{number:032x}"
        header["labels"]["session"] = "an experiment"
        if changed:
            header["labels"]["intervention"] = f"{len(changed)} settings"
        header["labels"] |= labels or {}
        mpi = header["mpi"]
        mpi["environment"] |= self._environment
        for name, value in changed.items():
            ours = name in mpi["cvars"] and "Open MPI" in mpi["library"]
            mpi["environment"][f"OMPI_MCA_{name}" if ours else name] = str(value)
            if name in mpi["cvars"]:
                mpi["cvars"][name] = value
        if ucx is not None:
            listed = {**ucx, **{name: str(value) for name, value in changed.items()}}
            mpi["stack"] = {
                "ucx": {"version": "1.13.1", "settings": listed, "sizes": list(listed)},
                "libfabric": None, "selected": {}, "tcp": {},
            }  # fmt: skip
        if lanes is not None:
            end = 2**62 if last is None else last
            protocols = [
                {"first_bytes": 0, "last_bytes": end, "protocol": "egr/bcopy"},
                {"first_bytes": end + 1, "last_bytes": None, "protocol": "rndv"},
            ]
            footer["ranks"][0]["ucx_endpoints"] = [{"lanes": lanes, "tag_send": protocols}]
        (search,) = footer["switches"]
        if last is None:
            search |= {"verdict": "none", "last_size_bytes": None, "first_size_bytes": None}
            search |= {"stayed_eager": True, "reason": EAGER}
        else:
            search |= {"verdict": "exact", "last_size_bytes": last, "first_size_bytes": last + 1}
        path = self.folder / f"trial-{number:02}.record"
        path.write_text("\n".join([json.dumps(header), *self._rows, json.dumps(footer)]) + "\n")
        self.records.append(path)
        return self

    @property
    def measurements(self) -> Measurements:
        """All records, the zoom first."""
        gathered = read_files(self.records)
        assert not gathered.failures
        assert gathered.measurements is not None
        return gathered.measurements


#: Settings of Open MPI that could end the eager protocol over TCP at 65,480 B too.
RIVALS = ["btl_tcp_rndv_eager_limit"]


def proved_openmpi(folder: Path) -> Experiment:
    """A complete proof: Open MPI's limit over TCP, two values above it, one below, its rivals."""
    proof = Experiment(folder, "openmpi-tcp-zoom")
    for value in (73728, 98304, 57344):
        proof.trial({"btl_tcp_eager_limit": value}, value - 56)
    return proof.trial(dict.fromkeys(RIVALS, 98304), proof.last)
