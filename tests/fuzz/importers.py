"""Fuzzes the importers for some minutes, in a process of its own whose memory and time are bounded.

A batch that goes wrong is tried again file by file; the smallest file that goes wrong is kept.
"""

from __future__ import annotations

import hashlib
import random
import sys
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from fuzz import processes
from fuzz.inputs import hostile_files
from fuzz.judgement import VERBS, Outcome, judge
from fuzz.processes import BYTES, COUNTS, SECONDS, TooLongError, bounded, largest_bytes

TOGETHER = 24
BATCHES = 6

#: How many of the verbs that only print are run on a batch.
VERBS_AT_ONCE = 5

Verbs = list[list[str]]
Files = list[tuple[str, bytes]]


def fuzz(minutes: float, first_seed: int, failures: Path) -> dict[str, int]:
    """Run batches until the time is over. Return counts; write each failing input to a folder."""
    return processes.until(minutes, "fuzz.importers", first_seed, failures)


def _batches(number: int, failures: Path) -> dict[str, int]:
    counts = dict.fromkeys(COUNTS, 0)
    draw = random.Random(number)
    before = largest_bytes()

    @seed(number)
    @settings(
        max_examples=BATCHES,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(hostile_files(), min_size=TOGETHER, max_size=TOGETHER))
    def run(files: Files) -> None:
        nonlocal before
        share = draw.random()
        page = share < 0.03
        verbs = draw.sample(VERBS, VERBS_AT_ONCE) if share < 0.25 else []
        outcome, kind = _timed(files, verbs, page=page)
        counts["inputs"] += len(files)
        counts["accepted"] += outcome.accepted
        counts["refused"] += outcome.refused
        grown, before = largest_bytes() - before, largest_bytes()
        if kind is None and grown > BYTES:
            kind = "too large"
        if kind is None and outcome.problems:
            kind = "problems"
        if kind is not None:
            counts[kind] += 1
            _keep_smallest(files, outcome.problems or [kind], failures, verbs, page=page)

    run()
    return counts


def _timed(files: Files, verbs: Verbs, *, page: bool) -> tuple[Outcome, str | None]:
    seconds = SECONDS * (1 + len(verbs)) + len(files)
    try:
        return bounded(lambda: judge(files, verbs=verbs, page=page), seconds), None
    except TooLongError:
        return Outcome(), "hangs"
    except Exception as error:
        return Outcome(problems=[f"import: {type(error).__name__}: {str(error)[:200]}"]), None


def _keep_smallest(
    files: Files, problems: list[str], failures: Path, verbs: Verbs, *, page: bool
) -> None:
    """Write the file that goes wrong alone, or the smallest part that goes wrong together."""
    print("importers:", *problems, sep="\n  ", file=sys.stderr, flush=True)
    while len(files) > 1:
        for half in (files[: len(files) // 2], files[len(files) // 2 :]):
            outcome, kind = _timed(half, verbs, page=page)
            if kind or outcome.problems:
                files, problems = half, outcome.problems or [str(kind)]
                break
        else:
            break
    digest = hashlib.sha256(b"".join(content for _, content in files)).hexdigest()[:8]
    failures.mkdir(parents=True, exist_ok=True)
    for number, (name, content) in enumerate(files):
        (failures / f"{digest}-{number}-{name}").write_bytes(content)
    (failures / f"{digest}.why").write_text("\n".join(problems) + "\n")
    print(f"importers: {failures}/{digest}-*", file=sys.stderr, flush=True)


if __name__ == "__main__":
    processes.run(_batches)
