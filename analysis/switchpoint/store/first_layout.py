"""The first layout of a store, with two files for each run: read, and removed once migrated."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, unquote

import pandas as pd
import pyarrow as pa

from switchpoint.store.files import StoreFiles
from switchpoint.store.scan import FILE, Loss, scan
from switchpoint.store.soundness import problem_of_table
from switchpoint.store.tables import SAMPLES, partition_text, unpacked
from switchpoint.tables.columns import MEASURES, RUN_COLUMNS

#: The object `kernel` in a header's JSON, without parsing its thousands of settings.
_PROGRAM = r'"kernel": ?(\{[^{}]*\})'

_PARTITIONS = ["site", "date"]

#: A run with its row in `runs` would count as stored.
_LOST = Loss(
    "its samples are left out",
    "Remove it and the file of this name below `runs`, and import the run again",
)


class FirstLayout:
    """Runs that an older version stored.

    Parameters
    ----------
    files
        The store.
    paths
        Its files of runs in the first layout.
    """

    def __init__(self, files: StoreFiles, paths: list[str]) -> None:
        self._files, self._paths = files, paths

    def runs(self, names: list[str] = RUN_COLUMNS) -> tuple[pd.DataFrame, list[str]]:
        """Return these columns of all runs, and what could not be read."""
        stored = {*names, *(["header"] if "program" in names else [])} - {*_PARTITIONS}
        schema = pa.schema(
            [
                (name, pa.bool_() if name == "complete" else pa.string())
                for name in RUN_COLUMNS
                if name in stored
            ]
        )
        table, damaged = scan(
            self._files, self._paths, schema, with_file=True, check=problem_of_table
        )
        frame: pd.DataFrame = table.to_pandas()
        places = frame[FILE].str.extract(r"/site=(.*)/date=(.*)/[^/]*$")
        for number, name in enumerate(_PARTITIONS):
            texts = places[number].where(places[number] != partition_text(None))
            frame[name] = texts.map(unquote, na_action="ignore").astype("str")
        if "program" in names:
            frame["program"] = frame["header"].str.extract(_PROGRAM, expand=False)
        return frame[names], damaged

    def samples(self, runs: pd.DataFrame, condition: Any = None) -> tuple[pd.DataFrame, list[str]]:
        """Return the samples of some of its runs, and what could not be read."""
        schema = pa.schema([field for field in SAMPLES if field.name != "site"])
        tables, damaged = [], []
        for (site, date), part in runs.groupby(_PARTITIONS, dropna=False, sort=False):
            partition = f"site={partition_text(site)}/date={partition_text(date)}"
            folder = f"{self._files.root}/samples/{partition}"
            paths = [f"{folder}/{quote(run_id, safe='')}.parquet" for run_id in part["run_id"]]
            there = [path for path in paths if self._files.exists(path)]
            if len(there) < len(paths):
                damaged.append(f"{folder}: the samples of {len(paths) - len(there)} runs are gone")
            table, failed = scan(
                self._files, there, schema, condition, loss=_LOST, check=problem_of_table
            )
            named = pa.array([site] * len(table), pa.string()).dictionary_encode()
            tables.append(
                table.add_column(0, SAMPLES.field("site"), named.cast(SAMPLES.field("site").type))
            )
            damaged += failed
        if not tables:
            return unpacked(SAMPLES.empty_table(), MEASURES), damaged
        return unpacked(pa.concat_tables(tables).select(SAMPLES.names), MEASURES), damaged

    def remove(self) -> int:
        """Remove all its files: first the runs, so that no run is without its samples."""
        old = [path for path in self._files.below("samples") if "/date=" in path]
        self._files.remove(self._paths)
        self._files.remove(old)
        return len(self._paths) + len(old)
