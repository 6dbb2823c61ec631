"""Everything that the pages show, computed once."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from switchpoint.comparison.algorithms import algorithms
from switchpoint.comparison.ladder import ladder
from switchpoint.comparison.reach import reach_of_sides
from switchpoint.comparison.selections import Selection
from switchpoint.comparison.sides import Side
from switchpoint.data_warnings import DataWarning
from switchpoint.detection.doubts import doubt_warnings
from switchpoint.detection.launches import MOST_SIZES
from switchpoint.errors import InputError
from switchpoint.explanation.causes import detect
from switchpoint.explanation.notes import note
from switchpoint.explanation.switches import explain
from switchpoint.gating.gate import judged_last
from switchpoint.gating.trends import TREND_COLUMNS, trends
from switchpoint.gating.verdict import Verdict
from switchpoint.models.simgrid import LINKS_OF
from switchpoint.models.simulated import beside_measured
from switchpoint.reporting.pages.page import address
from switchpoint.store.store import Store
from switchpoint.tables.columns import Run, identity_columns, records, values_of
from switchpoint.tables.curves import many_sizes_warnings, noise_warnings, summary_of
from switchpoint.tables.identity import CurveIdentity
from switchpoint.tables.measurements import Measurements
from switchpoint.tables.naming import run_names
from switchpoint.tuning.facts import Tuning

#: What the runs on one page have in common, and how many there are at most.
_ALIKE = ("site", "partition", "mpi", "environ", "kernel")
_MOST_RUNS = 30

#: Columns of the place of a curve, whose newest runs are shown first.
_PLACE = ["site", "mpi", "environ", "placement"]


@dataclass(frozen=True)
class Contents:
    """What the pages show.

    Attributes
    ----------
    measurements : Measurements
    findings : DataFrame
        As from `detect`, with `notes`.
    switches : DataFrame
        As from `explain`.
    rungs : DataFrame
        As from `ladder`.
    curves : DataFrame
        As from `summarise`.
    verdicts : sequence of Verdict
        As from `judged_last`; empty without an earlier session.
    accepted : DataFrame
        The accepted findings of the store, newest first.
    trends : DataFrame
        As from `gating.trends`.
    tunings : mapping
        Rules of `tune`, by their folder.
    """

    measurements: Measurements
    findings: pd.DataFrame
    switches: pd.DataFrame
    rungs: pd.DataFrame
    curves: pd.DataFrame
    verdicts: Sequence[Verdict] = ()
    accepted: pd.DataFrame = field(default_factory=pd.DataFrame)
    trends: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=TREND_COLUMNS))
    tunings: Mapping[str, Tuning] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        measurements: Measurements,
        findings: pd.DataFrame | None = None,
        store: Store | None = None,
        tunings: Mapping[str, Tuning] | None = None,
    ) -> Contents:
        """Compute what the pages show."""
        found = detect(measurements) if findings is None else findings
        switches = explain(measurements, found)
        past = _history(store) if store is not None else {}
        return cls(
            measurements,
            note(found, switches),
            switches,
            ladder(measurements, findings=found),
            _most_telling_first(summary_of(measurements), measurements.runs),
            tunings=tunings or {},
            **past,
        )

    @functools.cached_property
    def identity(self) -> list[str]:
        """The columns that distinguish the curves."""
        return identity_columns(self.curves)

    @functools.cached_property
    def runs(self) -> list[Run]:
        """The runs as rows, newest first."""
        runs = self.measurements.runs.sort_values("start_utc", ascending=False, kind="stable")
        return records(runs, Run)

    @functools.cached_property
    def run_names(self) -> dict[str, str]:
        """The names of runs that only their ID distinguishes."""
        return run_names(self.measurements.runs)

    @functools.cached_property
    def sites(self) -> list[str]:
        """The names of the sites."""
        return sorted({site for run in self.runs if (site := run["site"]) is not None})

    @functools.cached_property
    def kernels(self) -> list[tuple[str | None, str | None]]:
        """Kernel and mode of the curves; each pair has a page."""
        told = [name for name in ("kernel", "mode") if name in self.curves]
        pairs = records(self.curves[told].drop_duplicates(), CurveIdentity)
        found = {(row.get("kernel"), row.get("mode")) for row in pairs}
        return sorted(found, key=lambda pair: tuple(map(str, pair)))

    @functools.cached_property
    def algorithms(self) -> pd.DataFrame | None:
        """As from `algorithms`; None if no run measured any beside the library's choice."""
        try:
            return algorithms(self.measurements)
        except InputError:
            return None

    @functools.cached_property
    def beside_measured(self) -> pd.DataFrame:
        """As from `beside_measured`."""
        return beside_measured(self.measurements)

    @functools.cached_property
    def curve_warnings(self) -> list[DataWarning]:
        """Which curves are too noisy, may hide a cliff, or have more sizes than are searched."""
        noise = [*noise_warnings(self.curves), *doubt_warnings(self.curves, self.findings)]
        return [*noise, *many_sizes_warnings(self.curves, MOST_SIZES)]

    @functools.cached_property
    def pages_of_runs(self) -> dict[str, list[Run]]:
        """The runs on each page, by its path.

        A run record has its own page. Tables of other tools say little about their run, so those
        of one benchmark, site, MPI and environment share pages.
        """
        alike: dict[tuple[Any, ...], list[Run]] = {}
        for run in self.runs:
            own = run["run_id"] if run["header"] is not None else None
            alike.setdefault((own, *values_of(run, _ALIKE)), []).append(run)
        pages: dict[str, list[Run]] = {}
        for key, runs in alike.items():
            for start in range(0, len(runs), _MOST_RUNS):
                some = runs[start : start + _MOST_RUNS]
                number = str(start // _MOST_RUNS + 1) if len(runs) > _MOST_RUNS else None
                shared = f"runs/{address(*key[1:], number)}.html"
                pages[run_path(some[0]["run_id"]) if len(some) == 1 else shared] = some
        return pages

    @functools.cached_property
    def page_of(self) -> dict[str, str]:
        """The path of the page of each run."""
        return {run["run_id"]: page for page, runs in self.pages_of_runs.items() for run in runs}

    @functools.cached_property
    def curves_of_runs(self) -> dict[str, pd.DataFrame]:
        """The points of each run."""
        return {str(run): own for run, own in self.curves.groupby("run_id", observed=True)}

    @functools.cached_property
    def findings_of_runs(self) -> dict[str, pd.DataFrame]:
        """The findings of each run."""
        return {str(run): own for run, own in self.findings.groupby("run_id", observed=True)}

    def sides(self, column: str) -> Iterator[Side]:
        """Yield the measured curves of each value of a column, in order, as sides to compare."""
        curves, runs = self.curves, self.measurements.runs
        if LINKS_OF in curves:  # simulated curves are only beside those that they simulate
            curves = curves[curves[LINKS_OF].isna()]
        values = sorted(set(runs[column].dropna()))
        for value, letter in zip(values, "ABCDEFGHIJKLMNOPQRSTUVWXYZ", strict=False):
            own = runs.loc[runs[column] == value, "run_id"]
            points = curves[curves["run_id"].isin(own)]
            if len(points):
                selection = Selection(f"{column}={value}", wanted={column: value})
                yield Side(letter, selection, self.measurements, points, [])

    @functools.cached_property
    def reached(self) -> pd.DataFrame:
        """What the places reach, as from `reach_of_sides`."""
        everything = Side("A", Selection.everything(), self.measurements, self.curves, [])
        return reach_of_sides([everything], [self.rungs])


def site_path(site: str) -> str:
    """Return the path of a site's page."""
    return f"sites/{address(site)}.html"


def kernel_path(kernel: object, mode: object) -> str:
    """Return the path of the page of a kernel and its mode."""
    return f"kernels/{address(kernel, mode)}.html"


def run_path(run_id: str) -> str:
    """Return the path of a run's page."""
    return f"runs/{address(run_id)}.html"


def _history(store: Store) -> dict[str, Any]:
    """Return what the gate said of the newest session, what was accepted, and the trends.

    A store without a session has no history; this is no error of a report.
    """
    try:
        verdicts = judged_last(store)
    except InputError:
        return {}
    if not any(verdict.sessions for verdict in verdicts):
        verdicts = []
    found: dict[str, Any] = {"verdicts": verdicts}
    followed = [own for verdict in verdicts if len(own := trends(store, verdict))]
    if followed:
        found["trends"] = pd.concat(followed, ignore_index=True)
    kept = store.findings()
    if len(kept) and "accepted_utc" in kept:
        accepted = kept[kept["accepted_utc"].notna()]
        found["accepted"] = accepted.sort_values("accepted_utc", ascending=False)
    return found


def _most_telling_first(curves: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Order curves: the best of each place, then the second best of each, and so on.

    That with the most sizes is the best, and the newest of those. A figure shows the first dozen,
    which so are of as many places as possible.
    """
    if curves.empty:
        return curves
    identity = identity_columns(curves)
    curve = curves.groupby(identity, dropna=False, observed=True, sort=False).ngroup()
    heads = curves[identity].assign(_curve=curve).drop_duplicates("_curve").astype(object)
    heads["_sizes"] = heads["_curve"].map(curve.value_counts()).astype(int)
    started = runs.drop_duplicates("run_id").set_index("run_id")["start_utc"]
    heads["_started"] = heads["run_id"].map(started).fillna("")
    heads = heads.sort_values(["_sizes", "_started"], ascending=False, kind="stable")
    within = [name for name in [*_PLACE, "kernel", "mode"] if name in heads]
    turn = heads.groupby(within, dropna=False).cumcount() if within else 0
    heads = heads.assign(_turn=turn).sort_values(["_turn", *within], kind="stable")
    place = {number: place for place, number in enumerate(heads["_curve"])}
    order = curve.map(place).sort_values(kind="stable")
    return curves.loc[order.index].reset_index(drop=True)
