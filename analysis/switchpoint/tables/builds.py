"""Distinguishes builds of one program if curves differ in nothing else.

Spack's concrete spec identifies a build, or otherwise what the program reports about itself.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from typing import Any

import pandas as pd

from switchpoint.tables.columns import BUILD, lasting_labels
from switchpoint.tables.measurements import Measurements, repeated

#: Other columns that distinguish the curves of two runs.
RUN_IDENTITY = ["format", "site", "partition", "mpi", "environ", "kernel", "placement"]

#: Columns of the runs table that identify builds.
_TOLD_BY = ["builder", "spack_spec", "program"]

_COMMIT = re.compile(r"\b[0-9a-f]{40}\b")


def tell_builds(measurements: Measurements) -> Measurements:
    """Add the identity column `build` if curves differ only in their builds.

    It contains the words of each build that not all of the curve's builds share, such as
    ``build_type=Debug``. It is null if a curve has one build. It is absent if it would be null
    everywhere.
    """
    runs = measurements.runs
    if BUILD in measurements.samples or runs["builder"].dropna().empty:
        return measurements
    named: dict[str, str] = {}
    builds = [" ".join(build_words(run)) or None for run in runs[_TOLD_BY].to_dict("records")]
    curves = runs[RUN_IDENTITY].assign(labels=runs["labels"].map(lasting_labels))
    curve = curves.groupby(list(curves), dropna=False, sort=False).ngroup()
    several = pd.Series(builds, index=runs.index).groupby(curve).transform("nunique") > 1
    for _, rows in runs[several].groupby(curve[several]):
        named |= _named(rows)
    if not named:
        return measurements
    of_samples = measurements.samples["run_id"].array
    names = [named.get(str(run)) for run in of_samples.categories]
    of_runs = repeated(names, [1] * len(names))
    build = of_runs.take(of_samples.codes)
    samples = measurements.samples.copy(deep=False)
    samples[BUILD] = build
    points = measurements.points
    if len(points):
        points = points.assign(**{BUILD: points["run_id"].astype(object).map(named)})
    return dataclasses.replace(measurements, samples=samples, points=points)


def build_words(run: Mapping[Any, Any]) -> list[str]:
    """Return what is known of a run's build as words; empty if its builder is not known.

    The commit is only included for builds with Spack. Builds with CMake name the commit of the
    whole checkout, which also changes with its documents.
    """
    if not isinstance(run["builder"], str):
        return []
    if isinstance(run["spack_spec"], str):
        return [run["builder"], *_words(run["spack_spec"])]
    return _own_words(run)


def _named(rows: pd.DataFrame) -> dict[str, str]:
    """Return a build name for each run of one curve, if there are two builds or more."""
    records = [row for row in rows.to_dict("records") if isinstance(row["builder"], str)]
    specs = all(isinstance(row["spack_spec"], str) for row in records)
    words = [build_words(row) if specs else _own_words(row) for row in records]
    if len({tuple(build) for build in words}) < 2:
        return {}
    shared = set.intersection(*map(set, words))
    return {
        str(row["run_id"]): " ".join(word for word in build if word not in shared) or "(plain)"
        for row, build in zip(records, words, strict=True)
    }


def _own_words(run: Mapping[Any, Any]) -> list[str]:
    """Return what a program reports about its build."""
    kernel = json.loads(run["program"]) if isinstance(run["program"], str) else {}
    words = [str(run["builder"])]
    if compiler := kernel.get("compiler"):
        words.append(str(compiler))
    words += str(kernel.get("flags") or "").split()
    if run["builder"] == "spack" and (commit := kernel.get("git_commit")):
        words.append(f"commit={str(commit)[:12]}")
    return words


def _words(spec: str) -> list[str]:
    """Split a spec into words: single variants, complete quoted values, short commits."""
    words = re.findall(r'[^\s"]+"[^"]*"|\S+', spec)
    switches = re.compile(r"[+~][\w-]+")
    split = [
        part
        for word in words
        for part in (switches.findall(word) if switches.match(word) else [word])
    ]
    return [_COMMIT.sub(lambda commit: commit[0][:12], word) for word in split]
