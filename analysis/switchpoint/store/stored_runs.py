"""The runs of a store with their batches, each once."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from switchpoint.tables.builds import RUN_IDENTITY, build_words
from switchpoint.tables.columns import REPRODUCES, lasting_labels

_REPRODUCED = f'"{REPRODUCES}": ?"([^"]*)"'  # in the labels' JSON


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

    def newest(self, sessions: int) -> pd.DataFrame:
        """Return the runs of the newest sessions of every curve, and all runs without a date.

        A run without a session is one by itself. If a run repeats another run, that one is
        returned as well.
        """
        dated = self.runs[self.runs["start_utc"].notna()]
        builds = [" ".join(build_words(run)) for run in dated.to_dict("records")]
        telling = dated[RUN_IDENTITY].assign(
            labels=dated["labels"].map(lasting_labels), build=builds
        )
        session = dated["session"].fillna(dated["run_id"])
        of_curve = pd.DataFrame(
            {"curve": telling.groupby([*telling], dropna=False).ngroup(), "session": session}
        )
        # Runs are sorted by time, so a session is as new as its last run.
        newest = of_curve.drop_duplicates(keep="last").groupby("curve").tail(sessions)
        is_newest = pd.MultiIndex.from_frame(of_curve).isin(pd.MultiIndex.from_frame(newest))
        again = dated.loc[is_newest, "labels"].str.extract(_REPRODUCED, expand=False)
        chosen = dated[is_newest | dated["run_id"].isin(again)]
        return pd.concat([chosen, self.runs[self.runs["start_utc"].isna()]])

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
