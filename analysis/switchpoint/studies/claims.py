"""What five published studies claim, evaluated from our own measurements.

Nothing is taken over from the studies but the claims: each verdict is a test on our samples, and a
claim that they cannot decide says what is missing. Facts of the studies: docs/reference/studies.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from switchpoint.errors import InputError
from switchpoint.studies import study_000, study_001, study_002, study_003, study_004
from switchpoint.studies.claim import Claim
from switchpoint.studies.evidence import Evidence
from switchpoint.studies.points import Data, NotTestableError, data_of
from switchpoint.tables.columns import none_for_nulls
from switchpoint.tables.measurements import Measurements

HOLDS = "holds"
FAILS = "does not hold"
OPEN = "not testable here"

CLAIMS: list[Claim] = [
    *study_000.CLAIMS, *study_001.CLAIMS, *study_002.CLAIMS, *study_003.CLAIMS, *study_004.CLAIMS
]  # fmt: skip

#: What was measured in different places is never compared.
_PLACE = ["site", "partition"]

COLUMNS = [
    "study", "number", "claim", "site", "partition", "mpi", "verdict", "evidence", "reason", "mend"
]  # fmt: skip


def claims(measurements: Measurements, study: str | None = None) -> pd.DataFrame:
    """Evaluate every claim of the studies, for each site and MPI that was measured.

    Parameters
    ----------
    measurements
        Of any number of runs; the more launches, the surer the verdicts.
    study
        Only of this study, such as `002`.

    Returns
    -------
    DataFrame
        One row per claim and place: `study`, `number`, `claim`; `site`, `partition` and `mpi`
        (null for claims that compare tools); `verdict` is `holds`, `does not hold` or `not
        testable here`; `evidence`, a list of dictionaries as `studies.evidence.Evidence`; `reason`
        and `mend`, null unless not testable.

    Raises
    ------
    InputError
        If there is no such study.
    """
    known = dict.fromkeys(claim.study for claim in CLAIMS)
    if study is not None and study not in known:
        raise InputError("--study", f"'{study}' is none of the studies; use {', '.join(known)}")
    everything = data_of(measurements)
    # Runs over bare sockets tell nothing of an MPI: only claims that compare tools look at them.
    every = list(_places(everything, [*_PLACE, "mpi"]))
    places = [(place, data) for place, data in every if place["mpi"]] or every
    across = list(_places(everything, _PLACE))
    rows = [
        {"study": claim.study, "number": claim.number, "claim": claim.text, **place}
        | asdict(_evaluate(claim, data))
        for claim in CLAIMS
        if study in (None, claim.study)
        for place, data in (across if claim.across_tools else places)
    ]
    return none_for_nulls(pd.DataFrame(rows, columns=COLUMNS))


def efficiencies(measurements: Measurements) -> pd.DataFrame:
    """Speed-up and efficiency of study 002 at each place: see `study_002.parallel_efficiency`.

    Returns
    -------
    DataFrame
        `site`, `partition` and `mpi`, then that table's columns; empty where no ring was measured.
    """
    rows = [
        place | row
        for place, data in _places(data_of(measurements), [*_PLACE, "mpi"])
        for row in study_002.parallel_efficiency(data).to_dict("records")
    ]
    return none_for_nulls(
        pd.DataFrame(rows, columns=[*_PLACE, "mpi", *study_002.EFFICIENCY_COLUMNS])
    )


@dataclass
class _Verdict:
    verdict: str
    evidence: list[Evidence]
    reason: str | None = None
    mend: str | None = None


def _places(data: Data, names: list[str]) -> Iterator[tuple[dict[str, Any], Data]]:
    """Each combination of columns that run records were measured at, with its data."""
    passes = data.passes.reindex(columns=[*dict.fromkeys([*data.passes, *names])])
    none = dict.fromkeys([*_PLACE, "mpi"])
    if passes.empty:
        yield none, data
    for values, rows in passes.groupby(names, dropna=False, sort=True):
        place = {n: v if isinstance(v, str) else None for n, v in zip(names, values, strict=True)}
        here = data.samples["run_id"].isin(set(rows["run_id"]))
        facts = data.facts[data.facts.index.isin(rows["run_id"])]
        yield none | place, Data(rows, facts, data.samples[here])


def _evaluate(claim: Claim, data: Data) -> _Verdict:
    """Gather a claim's evidence until it ends or something is missing.

    One figure outside of what is wanted refutes the claim whatever else is missing; it holds only
    when nothing is.
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
        mend = missing.mend or f"make measure TAG=study-{claim.study}"
        return _Verdict(OPEN, found, missing.reason, mend)
    vague = [evidence for evidence in found if evidence.holds is None]
    if vague:
        reason = f"{len(vague)} of {len(found)} intervals reach over the bound"
        return _Verdict(OPEN, found, reason, "measure again: more launches, or -S passes=20")
    return _Verdict(HOLDS, found)
