"""Imports hostile files in batches, and uses what was accepted.

A batch that goes wrong is tried again in halves; the smallest part that goes wrong is kept.
"""

from __future__ import annotations

import hashlib
import random
import sys
from pathlib import Path

from hypothesis import strategies as st

from fuzz.examples import for_each_example
from fuzz.inputs import hostile_files
from fuzz.judgement import VERBS, Outcome, judge
from fuzz.processes import BYTES, Counts, largest_bytes

#: Files of a batch, as many as Hypothesis draws in one example; verbs take hardly longer for more.
TOGETHER = 144
BATCHES = 2

#: The share of batches on which verbs run, and that of which a page is written.
_VERBS_SHARE, _PAGE_SHARE = 0.1, 0.015

#: How many of the verbs that only print are run on a batch.
_VERBS_AT_ONCE = 5

Verbs = list[list[str]]
Files = list[tuple[str, bytes]]


def one_round(number: int, failures: Path) -> Counts:
    """Judge some batches. Return counts; write each failing input to a folder."""
    counts = dict.fromkeys(("inputs", "accepted", "refused", "problems", "hangs", "too large"), 0)
    inputs: set[bytes] = set()
    draw = random.Random(number)
    before = largest_bytes()

    def batch(files: Files) -> None:
        nonlocal before
        share = draw.random()
        page = share < _PAGE_SHARE
        verbs = draw.sample(VERBS, _VERBS_AT_ONCE) if share < _VERBS_SHARE else []
        outcome = _judged(files, verbs, page=page)
        counts["inputs"] += len(files)
        counts["accepted"] += outcome.accepted
        counts["refused"] += outcome.refused
        inputs.update(hashlib.sha256(repr(file).encode()).digest()[:8] for file in files)
        grown, before = largest_bytes() - before, largest_bytes()
        if kind := outcome.kind or ("too large" if grown > BYTES else None):
            counts[kind] += 1
            _keep_smallest(files, outcome.problems or [kind], failures, verbs, page=page)

    files = st.lists(hostile_files(), min_size=TOGETHER, max_size=TOGETHER)
    for_each_example(files, BATCHES, number, batch)
    return counts, inputs


def _judged(files: Files, verbs: Verbs, *, page: bool) -> Outcome:
    try:
        return judge(files, verbs=verbs, page=page)
    except Exception as error:
        return Outcome(problems=[f"import: {type(error).__name__}: {str(error)[:200]}"])


def _keep_smallest(
    files: Files, problems: list[str], failures: Path, verbs: Verbs, *, page: bool
) -> None:
    """Write the file that goes wrong alone, or the smallest part that goes wrong together."""
    print("importers:", *problems, sep="\n  ", file=sys.stderr, flush=True)
    while len(files) > 1:
        for half in (files[: len(files) // 2], files[len(files) // 2 :]):
            outcome = _judged(half, verbs, page=page)
            if outcome.problems:
                files, problems = half, outcome.problems
                break
        else:
            break
    digest = hashlib.sha256(b"".join(content for _, content in files)).hexdigest()[:8]
    failures.mkdir(parents=True, exist_ok=True)
    for number, (name, content) in enumerate(files):
        (failures / f"{digest}-{number}-{name}").write_bytes(content)
    (failures / f"{digest}.why").write_text("\n".join(problems) + "\n")
    print(f"importers: {failures}/{digest}-*", file=sys.stderr, flush=True)
