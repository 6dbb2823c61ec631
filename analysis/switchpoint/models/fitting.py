"""Fits a site model: a line for each protocol segment of each ping-pong curve, and compute rates.

Only ping-pong and calibrations of computing are used, never what the model is to predict.
"""

from __future__ import annotations

import dataclasses
import os
from datetime import datetime, timezone
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
from pydantic import ValidationError

from switchpoint.detection.search import find_in_curves
from switchpoint.errors import InputError
from switchpoint.models.boundaries import Boundary, boundaries_of
from switchpoint.models.compute_rates import compute_rates
from switchpoint.models.eager_limits import PLACE, Limit, limit_by_settings, probed_limits
from switchpoint.models.lines import fit_lines
from switchpoint.models.loggp import loggp_of
from switchpoint.models.repeats import Repeats, interval, pass_medians, repeats_by
from switchpoint.models.senders import senders
from switchpoint.models.site_model import Curve, Figure, NotFitted, Segment, SiteModel
from switchpoint.records.rank_layout import RankLayout, layout_of
from switchpoint.tables.columns import identity_columns, values_of
from switchpoint.tables.identity import IDENTITY
from switchpoint.tables.measurements import Measurements

KERNEL = "pingpong"

#: One size says nothing of the time per byte.
_LEAST_SIZES = 2

#: Limits of the eager protocol are below this.
_LARGEST = 2**30

#: Of the points of all repeats, the shares of the line's time between which 95 % lie.
_MOST_POINTS = 2.5, 97.5


def fit_model(
    measurements: Measurements,
    site: str | None = None,
    made_from: str | os.PathLike[str] = "measurements",
    findings: pd.DataFrame | None = None,
) -> SiteModel:
    """Fit the curves of a site.

    Parameters
    ----------
    measurements
        Runs of the kernel `pingpong`, and for compute rates of `mergesort`, `ring` and the
        applications. Each run is a launch; from three launches of a curve on, intervals are over
        launches.
    site
        The site; it may be omitted if the measurements have one.
    made_from
        The store or file, for the model's provenance and for messages.
    findings
        As from `detect`, of at least these curves; they are found if they are not given.

    Returns
    -------
    SiteModel
        Its `curves` have a line in microseconds and bytes for each segment between boundaries that
        `detect` finds. Segments that cannot be fitted are named with the reason; `notes` say what
        else was left out.

    Raises
    ------
    InputError
        If the site is not clear, or no curve can be fitted.
    """
    source = os.fspath(made_from)
    here = _of_site(measurements, site, source)
    curves = _curves(_of_kernel(here, KERNEL), probed_limits(here), findings)
    if not any(curve.segments for curve in curves):
        reasons = [one.reason for curve in curves for one in curve.not_fitted]
        why = f": {reasons[0]}" if reasons else ""
        raise InputError(
            source,
            f"contains no ping-pong of a record that can be fitted{why};"
            " measure with `make measure TAG=sweep`",
        )
    names = set(here.runs["site"].dropna())
    sending = senders(here)
    loggp, without_loggp = loggp_of(curves, sending)
    rates, without_rates = compute_rates(here)
    return SiteModel(
        site=str(names.pop()) if names else None,
        made_utc=datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        made_by=f"switchpoint {version('switchpoint')}",
        made_from=source,
        curves=curves,
        senders=sending,
        loggp=loggp,
        compute_rates=rates,
        notes=[*without_loggp, *without_rates],
    )


def _of_site(measurements: Measurements, site: str | None, source: str) -> Measurements:
    """Select the runs of a site; without a name, of the only one."""
    sites = sorted(measurements.runs["site"].dropna().unique())
    if site is None:
        if len(sites) > 1:
            raise InputError(source, f"has runs of {' and '.join(sites)}; choose one with --site")
        return measurements
    if site not in sites:
        known = f"; it has {', '.join(sites)}" if sites else ""
        raise InputError("--site", f"{source} has no run of '{site}'{known}")
    return _of_runs(measurements, measurements.runs["site"] == site)


def _of_kernel(measurements: Measurements, kernel: str) -> Measurements:
    runs = measurements.runs
    return _of_runs(measurements, (runs["kernel"] == kernel) & runs["header"].notna())


def _of_runs(measurements: Measurements, chosen: pd.Series[bool]) -> Measurements:
    runs = measurements.runs[chosen]
    samples = measurements.samples
    samples = samples[samples["run_id"].isin(set(runs["run_id"]))]
    return dataclasses.replace(measurements, samples=samples, runs=runs)


def _curves(
    measurements: Measurements,
    probed: dict[tuple[Any, ...], Limit],
    findings: pd.DataFrame | None,
) -> list[Curve]:
    """Fit each curve, over all of its launches."""
    if measurements.samples.empty:
        return []
    identity = identity_columns(measurements.samples)
    same = [name for name in identity if name != "run_id"]
    passes = pass_medians(measurements.samples, identity)
    found = find_in_curves(measurements) if findings is None else findings
    boundaries = boundaries_of(found, same)
    starts = dict(zip(measurements.runs["run_id"], measurements.runs["start_utc"], strict=True))
    known: dict[str, tuple[RankLayout, Limit | None]] = {}
    curves = []
    for named, repeats in repeats_by(passes, same):
        newest = max(repeats.runs, key=lambda run: str(starts[run]))
        if newest not in known:
            facts = measurements.facts(newest)
            known[newest] = layout_of(facts[0]), limit_by_settings(*facts, _LARGEST)
        layout, by_settings = known[newest]
        curve = _curve(named, repeats, boundaries.get(tuple(named[name] for name in same), []))
        utc = sorted(str(starts[run]) for run in repeats.runs if isinstance(starts[run], str))
        eager = probed.get(values_of(named, PLACE)) or by_settings or (None, None)
        curves.append(
            Curve(
                **curve, nodes=len(set(layout.nodes)) or 1,
                machines=len(set(layout.machines)) or 1, cores_per_machine=layout.cores,
                first_utc=utc[0] if utc else None, last_utc=utc[-1] if utc else None,
                eager_last_size_bytes=eager[0], eager_known_from=eager[1],
            )
        )  # fmt: skip
    return curves


def _curve(named: dict[str, Any], repeats: Repeats, found: list[Boundary]) -> dict[str, Any]:
    """Return what a curve's repeats show: the fields of `Curve` without those of its runs."""
    shared = _apart([one for one in found if one.launches >= len(repeats.runs) / 2])
    ends = [one.last_size_before for one in shared] + [int(repeats.size_bytes[-1])]
    firsts = [0, *(one.size_bytes for one in shared)]
    fitted = [_segment(repeats, *ends_of) for ends_of in zip(firsts, ends, strict=True)]
    return {
        **{name: named.get(name) for name in ("partition", "mpi", "environ")},
        "runs": list(repeats.runs),
        "interval_over": repeats.over,
        "repeats": len(repeats.times_us),
        "placement": str(named.get("placement")),
        "mode": str(named["mode"]),
        "labels": {
            name: str(value)
            for name, value in named.items()
            if name not in IDENTITY and value is not None
        },
        "segments": [one for one in fitted if isinstance(one, Segment)],
        "not_fitted": [one for one in fitted if isinstance(one, NotFitted)],
    }


def _apart(found: list[Boundary]) -> list[Boundary]:
    """Leave out a boundary that overlaps the one before it: launches place one differently."""
    kept: list[Boundary] = []
    for one in found:
        if not kept or one.last_size_before >= kept[-1].size_bytes:
            kept.append(one)
    return kept


def _segment(repeats: Repeats, first_bytes: int, last_bytes: int) -> Segment | NotFitted:
    """Fit the line of the sizes in a range, or say why there is none."""
    inside = repeats.sizes_from(first_bytes, last_bytes)
    sizes = repeats.size_bytes[inside]
    if len(sizes) < _LEAST_SIZES:
        only = f"{len(sizes)} measured size{'' if len(sizes) == 1 else 's'}"
        return NotFitted(
            first_size_bytes=int(sizes.min(initial=first_bytes)) if len(sizes) else first_bytes,
            last_size_bytes=last_bytes,
            reason=f"{only} from {first_bytes:,} to {last_bytes:,} B, a line needs {_LEAST_SIZES}",
        )
    start, slope = fit_lines(sizes, repeats.medians_us()[:, inside])
    line_us = start[0] + slope[0] * sizes
    no_line = NotFitted(
        first_size_bytes=int(sizes[0]), last_size_bytes=last_bytes,
        reason=f"the times from {first_bytes:,} to {last_bytes:,} B do not follow a line",
    )  # fmt: skip
    if (line_us <= 0).any():
        return no_line
    ratios = repeats.times_us[:, inside] / line_us
    least, most = np.nanpercentile(ratios, _MOST_POINTS)
    try:
        return Segment(
            first_size_bytes=int(sizes[0]), last_size_bytes=int(sizes[-1]), sizes=len(sizes),
            start_us=_figure(start), per_byte_us=_figure(slope),
            least_over_line=float(least), most_over_line=float(most),
        )  # fmt: skip
    except ValidationError:  # with the digits that are written, it is not above 0
        return no_line


def _figure(draws: Any) -> Figure:
    low, high = interval(draws) or (None, None)
    return Figure(value=float(draws[0]), low=low, high=high)
