"""The runs of a store with their batches, each once."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd


class StoredRuns:
    """Runs and where they are.

    Parameters
    ----------
    rows : DataFrame
        `RUN_COLUMNS` as far as they were read, and `batch`, null in the first layout. A run that
        two writers stored has two rows.

    Attributes
    ----------
    runs : DataFrame
        Each run once, oldest first.
    """

    def __init__(self, rows: pd.DataFrame) -> None:
        # A complete run wins against a truncated one, then the newest batch.
        rows = rows.sort_values(["complete", "batch"], na_position="first", kind="stable")
        self._twice = set(rows.loc[rows["run_id"].duplicated(), "run_id"])
        self._batches = sorted(rows["batch"].dropna().unique())
        rows = rows.drop_duplicates("run_id", keep="last")
        self.runs = rows.sort_values(["start_utc", "run_id"], ignore_index=True)

    def batches(self) -> list[str]:
        """Return every batch, also those whose runs are newer elsewhere."""
        return self._batches

    def by_batch(self) -> Iterator[tuple[str, pd.DataFrame]]:
        """Yield each batch with its runs."""
        for batch, part in self.runs.groupby("batch"):
            yield str(batch), part

    def of(self, batches: list[str]) -> pd.DataFrame:
        """Return the runs of some batches."""
        return self.runs[self.runs["batch"].isin(batches)]

    def any_twice(self, runs: pd.DataFrame) -> bool:
        """Whether one of these runs is in several batches."""
        return bool(self._twice & set(runs["run_id"]))
