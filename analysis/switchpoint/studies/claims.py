"""What five published studies claim, evaluated from our own measurements.

Only the claims come from the studies. Each verdict is a test on our samples. If they cannot decide
a claim, it says what is missing. Facts of the studies: docs/reference/studies.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypedDict

import pandas as pd

from switchpoint.errors import InputError
from switchpoint.studies import study_000, study_001, study_002, study_003, study_004
from switchpoint.studies.claim import Claim
from switchpoint.studies.evidence import Evidence
from switchpoint.studies.points import Data, NotTestableError, data_of
from switchpoint.tables.columns import none_for_nulls, records
from switchpoint.tables.measurements import Measurements

HOLDS = "holds"
FAILS = "does not hold"
OPEN = "not testable here"

CLAIMS: list[Claim] = [
    *study_000.CLAIMS, *study_001.CLAIMS, *study_002.CLAIMS, *study_003.CLAIMS, *study_004.CLAIMS
]  # fmt: skip

#: Measurements with different values of these are never compared. Two environments may have two
#: builds of one MPI's version.
_PLACE = ["site", "partition"]
_MPI = ["mpi", "environ"]
PLACE = (*_PLACE, *_MPI)


class Figure(TypedDict):
    """An `Evidence` in a table."""

    what: str
    value: float
    low: float
    high: float
    wanted: str
    holds: bool | None
    unit: str
    units: int
    runs: tuple[str, ...]


class ClaimRow(TypedDict):
    """A claim at a place, see `claims`."""

    study: str
    number: int
    claim: str
    published: str
    site: str | None
    partition: str | None
    mpi: str | None
    environ: str | None
    verdict: str
    evidence: list[Figure]
    reason: str | None
    fix: str | None


COLUMNS = [*ClaimRow.__annotations__]


def claims(measurements: Measurements, study: str | None = None) -> pd.DataFrame:
    """Evaluate every claim of the studies, for each site and MPI that was measured.

    Parameters
    ----------
    measurements
        Measurements of any number of runs. More launches make the verdicts more certain.
    study
        Only this study, such as `002`.

    Returns
    -------
    DataFrame
        One row per claim and place: `study`, `number`, `claim`, `published` (the study's figure);
        `site`, `partition`, `mpi` and
        `environ` (null for claims that compare tools); `verdict` is `holds`, `does not hold` or
        `not testable here`; `evidence`, a list of dictionaries as `studies.evidence.Evidence`;
        `reason` and `fix`, null unless not testable.

    Raises
    ------
    InputError
        If there is no such study.
    """
    known = dict.fromkeys(claim.study for claim in CLAIMS)
    if study is not None and study not in known:
        raise InputError("--study", f"'{study}' is not one of the studies; use {', '.join(known)}")
    everything = data_of(measurements)
    # Runs over sockets say nothing about an MPI: only claims that compare tools use them.
    every = list(places_of(everything))
    here = [(place, data) for place, data in every if place["mpi"]] or every
    across = list(places_of(everything, _PLACE))
    rows = [
        {
            "study": claim.study,
            "number": claim.number,
            "claim": claim.text,
            "published": claim.published,
            **place,
        }
        | asdict(_evaluate(claim, data))
        for claim in CLAIMS
        if study in (None, claim.study)
        for place, data in (across if claim.across_tools else here)
    ]
    return none_for_nulls(pd.DataFrame(rows, columns=COLUMNS))


def efficiencies(measurements: Measurements) -> pd.DataFrame:
    """Return speed-up and efficiency of study 002: see `study_002.parallel_efficiency`.

    Returns
    -------
    DataFrame
        `site`, `partition`, `mpi` and `environ`, then that table's columns; empty if no ring was
        measured.
    """
    rows = [
        place | row
        for place, data in places_of(data_of(measurements))
        for row in records(study_002.parallel_efficiency(data))
    ]
    return none_for_nulls(
        pd.DataFrame(rows, columns=[*_PLACE, *_MPI, *study_002.EFFICIENCY_COLUMNS])
    )


@dataclass
class _Verdict:
    verdict: str
    evidence: list[Evidence]
    reason: str | None = None
    fix: str | None = None


def places_of(data: Data, names: Sequence[str] = PLACE) -> Iterator[tuple[dict[str, Any], Data]]:
    """Yield each combination of columns in the run records with its data."""
    passes = data.passes.reindex(columns=[*dict.fromkeys([*data.passes, *names])])
    none = dict.fromkeys([*_PLACE, *_MPI])
    if passes.empty:
        yield none, data
    for values, rows in passes.groupby([*names], dropna=False, sort=True):
        place = {n: v if isinstance(v, str) else None for n, v in zip(names, values, strict=True)}
        here = data.samples["run_id"].isin(set(rows["run_id"]))
        facts = data.facts[data.facts.index.isin(rows["run_id"])]
        yield none | place, Data(rows, facts, data.samples[here])


def _evaluate(claim: Claim, data: Data) -> _Verdict:
    """Collect a claim's evidence until it ends or something is missing.

    A single figure outside its wanted range refutes the claim, even if something is missing. The
    claim only holds if nothing is missing.
    """
    found: list[Evidence] = []
    missing: NotTestableError | None = None
    try:
        for evidence in claim.evidence(data):
            found.append(evidence)  # noqa: PERF402 (what came before the error counts)
    except NotTestableError as error:
        missing = error
    if any(evidence.holds is False for evidence in found):
        return _Verdict(FAILS, found)
    if missing is not None:
        fix = missing.fix or f"make measure TAG=study-{claim.study}"
        return _Verdict(OPEN, found, missing.reason, fix)
    vague = [evidence for evidence in found if evidence.holds is None]
    if vague:
        reason = f"{len(vague)} of {len(found)} intervals cross the bound"
        return _Verdict(OPEN, found, reason, "measure again: more launches, or -S passes=20")
    return _Verdict(HOLDS, found)
