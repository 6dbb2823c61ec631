"""What the page of predictions is made from: the runs of each site, and few of their points."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from switchpoint.errors import InputError
from switchpoint.models.fitting import KERNEL
from switchpoint.models.kernels import KERNELS
from switchpoint.models.links import Place
from switchpoint.models.simgrid import LINKS_OF
from switchpoint.models.site_model import Curve, SiteModel
from switchpoint.records.rank_layout import layout_of
from switchpoint.reporting.pages.contents import Contents
from switchpoint.tables.columns import identity_columns
from switchpoint.tables.measurements import Measurements

#: The page shows so many sites.
_MOST_SITES = 4

#: The modes of the ping-pong from which other kernels are predicted.
_LINK_MODES = ["send", "stream", "bistream"]

#: Of each curve so many sizes are predicted, and of each kernel so many points. A point costs about
#: the square of its ranks.
_MOST_SIZES = 6
_MOST_POINTS = 60
_MOST_COST = 64**2


@dataclass(frozen=True)
class SitePart:
    """One site's runs of kernels that a model is fitted to or predicts.

    Attributes
    ----------
    site : str or None
        None if no run names its site.
    alone : bool
        Whether it is the only site.
    measurements : Measurements
        Of the ping-pong only the modes from which other kernels are predicted.
    findings : DataFrame or None
        What `detect` found in the ping-pong; None if that is not known.
    """

    site: str | None
    alone: bool
    measurements: Measurements
    findings: pd.DataFrame | None


def site_parts(contents: Contents) -> Iterator[SitePart]:
    """Yield what each shown site's predictions are made from; a process can work on it."""
    measurements = contents.measurements
    runs = _measured_runs(measurements)
    chosen = runs[runs["kernel"].isin(KERNELS)]
    shown, _ = sites_of(contents)
    for site in shown:
        own = chosen if site is None else chosen[chosen["site"] == site]
        samples = measurements.samples
        samples = samples[samples["run_id"].isin(set(own["run_id"]))]
        if {"kernel", "mode"} <= set(samples):
            other = (samples["kernel"] != KERNEL) | samples["mode"].isin(_LINK_MODES)
            samples = samples[other]
        yield SitePart(
            site, len(shown) == 1, Measurements(samples, own),
            _of_ping_pongs(contents.findings, set(own["run_id"])),
        )  # fmt: skip


def sites_of(contents: Contents) -> tuple[list[str | None], list[str | None]]:
    """Return the measured sites that are shown, and those that are left out.

    Those with the most runs of the ping-pong are shown; None stands for runs without a site.
    """
    runs = _measured_runs(contents.measurements)
    counts = runs[runs["kernel"] == KERNEL]["site"].value_counts()
    named = sorted(set(runs["site"].dropna()))
    every = sorted(named, key=lambda site: -int(counts.get(site, 0))) or [None]
    return every[:_MOST_SITES], every[_MOST_SITES:]


def _measured_runs(measurements: Measurements) -> pd.DataFrame:
    """Return the runs with a record that were not simulated."""
    samples, runs = measurements.samples, measurements.runs
    recorded = runs[runs["header"].notna()]
    if LINKS_OF not in samples:
        return recorded
    simulated = samples.loc[samples[LINKS_OF].notna(), "run_id"].unique()
    return recorded[~recorded["run_id"].isin(set(simulated))]


def _of_ping_pongs(findings: pd.DataFrame, run_ids: set[Any]) -> pd.DataFrame | None:
    if not {"kernel", "mode", "run_id"} <= set(findings):
        return None
    here = findings["run_id"].isin(run_ids) & (findings["kernel"] == KERNEL)
    return findings[here & findings["mode"].isin(_LINK_MODES)]


class Attempts:
    """What fails for one kernel or place is left out, unless it fails for all of them."""

    def __init__(self) -> None:
        self._errors: list[InputError] = []

    def __enter__(self) -> None:
        """Begin an attempt."""

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool:
        """Keep the error of an attempt that failed."""
        if isinstance(error, InputError):
            self._errors.append(error)
            return True
        return False

    def require(self, made: Sized) -> None:
        """Raise the first error if nothing was made."""
        if self._errors and not made:
            raise self._errors[0]


def places_of(model: SiteModel, most: int, *, between_nodes: bool) -> list[Place]:
    """Return where the messages of at most so many MPIs take longest, between nodes or within."""
    far: dict[tuple[str | None, ...], tuple[float, Curve]] = {}
    for curve in model.curves:
        if curve.mode != "send" or not curve.segments or (curve.nodes > 1) != between_nodes:
            continue
        key = (curve.mpi, curve.environ, curve.partition)
        start_us = curve.segments[0].start_us.value
        if key not in far or start_us > far[key][0]:
            far[key] = (start_us, curve)
    ordered = sorted(far, key=lambda key: tuple(map(str, key)))
    return [Place(far[key][1].placement, *key) for key in ordered][:most]


def few_points(measurements: Measurements, kernel: str) -> Measurements:
    """Return measurements of a kernel with few points, of as many places and sizes as possible."""
    runs = measurements.runs
    runs = runs[(runs["kernel"] == kernel) & runs["header"].notna()]
    ranks = {
        run_id: len(layout_of(json.loads(header)).nodes)
        for run_id, header in zip(runs["run_id"], runs["header"], strict=True)
    }
    samples = measurements.samples
    samples = samples[samples["run_id"].isin(ranks) & samples["mode"].isin(KERNELS[kernel].modes)]
    same = [name for name in identity_columns(samples) if name != "run_id"]
    point = samples.groupby([*same, "size_bytes"], dropna=False, observed=True).ngroup()
    heads = samples.assign(_point=point).drop_duplicates("_point").sort_values("_point")
    heads["_curve"] = heads.groupby(same, dropna=False, observed=True).ngroup()
    heads = heads[_few_sizes(heads["_curve"])]
    places = [name for name in ("mpi", "placement", "mode") if name in heads]
    curves = heads.drop_duplicates("_curve")
    turn = curves.groupby(places, dropna=False, observed=True).cumcount()
    heads["_turn"] = heads["_curve"].map(dict(zip(curves["_curve"], turn, strict=True)))
    heads["_cost"] = heads["run_id"].astype(str).map(ranks).astype(float) ** 2
    heads = heads.sort_values(["_turn", "_cost", "_point"], kind="stable")
    heads = heads[heads["_cost"] <= _MOST_COST].head(_MOST_POINTS)
    kept = heads.loc[(heads["_cost"].cumsum() <= _MOST_COST).to_numpy(), "_point"]
    return dataclasses.replace(measurements, samples=samples[point.isin(set(kept))], runs=runs)


def _few_sizes(curve: pd.Series[int]) -> Any:
    """Return which sizes of each curve to keep, evenly spaced, its first and last one among them.

    `curve` has the number of the curve of each point, by curve and size.
    """
    place = curve.groupby(curve).cumcount().to_numpy()
    count = curve.groupby(curve).transform("size").to_numpy()
    slots = min(_MOST_SIZES, int(count.max(initial=1)))
    wanted = np.round(np.linspace(0, 1, slots)[None] * (count[:, None] - 1)).astype(int)
    return (wanted == place[:, None]).any(axis=1)
