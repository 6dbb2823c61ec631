"""Holds recommendations beside launches with their rules and without: confirmed or withdrawn.

Both sides are runs of the kernels' mode `library`, distinguished by the label `rules`. The label
`rules_digest` says which rules a run used.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from typing import Any

import pandas as pd

from switchpoint.errors import InputError
from switchpoint.models.advice_files import rules_digests
from switchpoint.models.collectives import Advice
from switchpoint.models.confirmation import Checked
from switchpoint.models.kernels import LIBRARY
from switchpoint.models.libraries.library import BROADCAST, EXCHANGE
from switchpoint.models.recommend import Recommendation
from switchpoint.models.repeats import (
    LEAST_LAUNCHES,
    Repeats,
    interval,
    pass_medians,
    repeats_by,
)
from switchpoint.models.rules_files import DIGEST_LABEL, RULES_LABEL, WITH, WITHOUT, uses
from switchpoint.records.rank_layout import layout_of
from switchpoint.tables.columns import identity_columns
from switchpoint.tables.measurements import Measurements, without_damaged

#: The kernels whose mode `library` calls the operation.
_KERNELS = {"broadcast": BROADCAST, "alltoall": EXCHANGE}

#: The columns that say where an advice holds.
PLACE = ("site", "mpi", "environ", "placement")

#: Operation, ranks, nodes and size.
Key = tuple[str, int, int, int]


def check_advice(
    recommendation: Recommendation,
    measurements: Measurements,
    source: str | os.PathLike[str] = "measurements",
    mpich_library: str | os.PathLike[str] | None = None,
) -> Recommendation:
    """Return a recommendation whose advice has what was measured with and without their rules.

    Parameters
    ----------
    recommendation
        As from `recommend`.
    measurements
        Runs of the kernels `broadcast` and `alltoall` in their mode `library`. The label `rules` is
        `recommended` or `default`; with rules the label `rules_digest` is that of their folder
        (`rules_files.read_rules`). Runs with other rules, or without the label, are left out, and
        a note says so.
    source
        Where they come from, for messages.
    mpich_library
        As it was for `write_advice` when the rules were written.

    Raises
    ------
    InputError
        If no run has such labels, none used these rules, or none suits an advice that changes
        something.
    """
    digests = rules_digests(recommendation, mpich_library)
    if not digests:
        raise InputError(
            os.fspath(source),
            f"cannot confirm recommendations that write no rules for {recommendation.library.name};"
            " use others, or for MPICH --mpich-library",
        )
    place = {name: getattr(recommendation, name) for name in PLACE}
    digest = next(iter(digests.values()))
    found, notes = measured_sides(measurements, os.fspath(source), _KERNELS, place, digest)
    algorithms = [
        _beside(advice, found) if advice.operation in digests else advice
        for advice in recommendation.algorithms
    ]
    if not any(advice.checked for advice in algorithms):
        raise InputError(
            os.fspath(source),
            f"has no size and group that these recommendations change in {LEAST_LAUNCHES} launches"
            f" of each side; measure those with the label {RULES_LABEL}={WITH} and"
            f" {RULES_LABEL}={WITHOUT}",
        )
    notes = [*recommendation.notes, *notes]
    return dataclasses.replace(recommendation, algorithms=algorithms, notes=notes)


def measured_sides(
    measurements: Measurements,
    source: str,
    operations: Mapping[str, str],
    place: Mapping[str, str | None],
    digest: str,
) -> tuple[dict[Key, dict[str, Repeats]], list[str]]:
    """Return the repeats with rules and without, by operation, ranks, nodes and size, and notes.

    Parameters
    ----------
    measurements, source
        As of `check_advice`.
    operations
        The operation of each kernel whose mode `library` calls it.
    place
        The values of the columns of the runs that count, by name; None: any.
    digest
        Of the rules.

    Raises
    ------
    InputError
        If no run has the labels and the place, or none used these rules.
    """
    measurements, notes = without_damaged(measurements, source)
    samples = _labelled(measurements, source, operations, place)
    samples, others = _of_rules(samples, digest, source)
    layouts = {
        str(run): layout_of(json.loads(header))
        for run, header in zip(
            measurements.runs["run_id"], measurements.runs["header"], strict=True
        )
        if isinstance(header, str)
    }
    return _found(samples, layouts, operations), [*notes, *others]


def _labelled(
    measurements: Measurements,
    source: str,
    operations: Mapping[str, str],
    place: Mapping[str, str | None],
) -> pd.DataFrame:
    """Return the samples of both sides, of the same site, MPI, environment and placement."""
    samples = measurements.samples
    labels = samples[RULES_LABEL].astype("str") if RULES_LABEL in samples else pd.Series(dtype=str)
    if not {WITH, WITHOUT} <= set(labels.unique()):
        raise InputError(
            source,
            f"has no runs with the label {RULES_LABEL}={WITH} beside {RULES_LABEL}={WITHOUT};"
            " bench/recommend.py shows how to make them",
        )
    chosen = samples[
        samples["kernel"].isin([*operations])
        & (samples["mode"] == LIBRARY)
        & labels.isin([WITH, WITHOUT])
    ]
    for name, wanted in place.items():
        if wanted is None:
            continue
        values = chosen.get(name, pd.Series(index=chosen.index, dtype=object)).astype("object")
        here = chosen[values == wanted]
        if here.empty:
            others = " and ".join(sorted(values.dropna().unique())) or f"no {name}"
            raise InputError(
                source,
                f"has runs of {others}, but the advice is for {wanted}; use runs of that {name}",
            )
        chosen = here
    return chosen


def _of_rules(samples: pd.DataFrame, digest: str, source: str) -> tuple[pd.DataFrame, list[str]]:
    """Leave out runs with other rules; say so, or refuse if no others are left."""
    none = pd.Series(index=samples.index, dtype=object)
    digests = samples.get(DIGEST_LABEL, none).astype("object")
    used = digests.isin([text for text in digests.dropna().unique() if uses(text, digest)])
    others = (samples[RULES_LABEL] == WITH) & ~used
    if not used.any():
        known = [f"{DIGEST_LABEL}={text}" for text in sorted(digests[others].dropna().unique())]
        raise InputError(
            source,
            f"has no launches with these rules ({DIGEST_LABEL}={digest}), only with"
            f" {' and '.join(known) or f'rules that no label {DIGEST_LABEL} names'}; give the"
            " options with which their rules were written, or measure with these rules",
        )
    left_out = samples.loc[others, "run_id"].nunique()
    notes = [
        f"{left_out} launch{'es'[: 2 * (left_out != 1)]} with other rules than these, or without"
        f" the label {DIGEST_LABEL}, {'was' if left_out == 1 else 'were'} left out"
    ]
    return samples[~others], notes if left_out else []


def _found(
    samples: pd.DataFrame, layouts: Mapping[str, Any], operations: Mapping[str, str]
) -> dict[Key, dict[str, Repeats]]:
    passes = pass_medians(samples, identity_columns(samples))
    of_run = [layouts.get(str(run)) for run in passes["run_id"]]
    passes["ranks"] = [len(layout.nodes) if layout else 0 for layout in of_run]
    passes["nodes"] = [len(set(layout.nodes)) if layout else 0 for layout in of_run]
    keys = ["kernel", "ranks", "nodes", "size_bytes", RULES_LABEL]
    found: dict[Key, dict[str, Repeats]] = {}
    for values, repeats in repeats_by(passes, keys):
        key = (operations[str(values["kernel"])], int(values["ranks"]), int(values["nodes"]),
               int(values["size_bytes"]))  # fmt: skip
        found.setdefault(key, {})[str(values[RULES_LABEL])] = repeats
    return found


def _beside(advice: Advice, found: Mapping[Key, Mapping[str, Repeats]]) -> Advice:
    key = advice.operation, advice.ranks, advice.nodes, advice.size_bytes
    checked = None if advice.predicted_rule is None else checked_by(found.get(key, {}))
    return advice if checked is None else dataclasses.replace(advice, checked=checked)


def checked_by(sides: Mapping[str, Repeats]) -> Checked | None:
    """Return the times with a rule and without; None if a side has too few launches.

    What wins within two launches may lose in the next.
    """
    if not {WITH, WITHOUT} <= set(sides):
        return None
    launches = min(len(sides[name].runs) for name in (WITH, WITHOUT))
    if launches < LEAST_LAUNCHES:
        return None
    return Checked(_figure(sides[WITH]), _figure(sides[WITHOUT]), launches)


def _figure(repeats: Repeats) -> tuple[float, float, float]:
    """Return the median and its interval; of a single repeat all the same."""
    draws = repeats.medians_us()[:, 0]
    low, high = interval(draws) or (draws[0], draws[0])
    return float(draws[0]), float(low), float(high)
