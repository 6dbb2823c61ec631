"""Measures how often the zoom is right to the byte, and its time, over every transport.

Each run sets the eager limit to a known size between 4 and 256 KiB, most of them no powers of two,
and asks the probe for it without a hint, and the bisection within the bracket that a sweep of three
sizes an octave would leave. Every tenth run is a control with the limit out of range.

The bisection does not know the limit. It is also right if the same launch times the two sizes
at the limit and sees no jump between them, or if it locates another step. Another launch must find
this step at the same byte, or it must have an origin in the catalogue, such as the end of a TCP
segment.

Run it on an idle machine. Results are kept in build/bench/zoom.jsonl, so several calls add up.
Usage: ``.venv/bin/python bench/zoom.py [RUNS [SECONDS]]``: up to RUNS (224), ending after SECONDS
"""

from __future__ import annotations

import json
import random
import tempfile
import time
from pathlib import Path
from typing import Any

import pandas as pd
from arguments import add_count, parser
from on_testbed import PLACEMENTS, ROOT, kernel, launch, testbed
from switchpoint.explanation.origins import origins_of_run
from switchpoint.explanation.zooms import beside
from switchpoint.records.record import Facts, read_facts
from switchpoint.records.run_facts import prove

KEPT = ROOT / "build" / "bench" / "zoom.jsonl"
SEED = 20261121
#: The largest size that the probe searches, in bytes; limits are between 4 and 256 KiB.
LARGEST = 320 << 10
#: At 500,000 Open MPI uses TCP instead of shared memory, and the probe finds TCP's limit.
OUT_OF_RANGE = 400_000
CONTROL_EVERY = 10

#: Settings of the limit, with the bytes from it to the last eager size.
LIMITS = {
    ("openmpi", "shared_memory"): (
        ("OMPI_MCA_btl_vader_eager_limit", "OMPI_MCA_btl_sm_eager_limit"),
        -56,
    ),
    ("openmpi", "network"): (("OMPI_MCA_btl_tcp_eager_limit",), -56),
    ("mpich", "shared_memory"): (("UCX_RNDV_THRESH",), -1),
    ("mpich", "network"): (("UCX_RNDV_THRESH",), -1),
}
#: Verdicts on a bisection: at the limit; another step to the byte; correct, because this launch has
#: no jump at the limit; a step that does not recur; no answer.
RIGHT = ["right", "another", "nothing"]
WORDS = [*RIGHT, "other", "interval", "none", "unsure"]
CASES = [(mpi, placement) for mpi in ("openmpi", "mpich") for placement in PLACEMENTS.placements]


def planned_limit(index: int) -> int | None:
    """The limit of one run in bytes: log-uniform, a quarter powers of two; None for a control."""
    if index // len(CASES) % CONTROL_EVERY == CONTROL_EVERY - 1:
        return None
    draw = random.Random(SEED + index)
    exponent = draw.uniform(12, 18)
    return 2 ** round(exponent) if draw.random() < 0.25 else round(2**exponent)


def measure(name: str, index: int, folder: Path) -> dict[str, Any]:
    """One run: what was set, and the results of the probe and the bisection."""
    mpi, placement = CASES[index % len(CASES)]
    limit = planned_limit(index)
    run = {"index": index, "mpi": mpi, "placement": placement, "last": None}
    if limit is None:
        facts = zoom(name, mpi, placement, None, ["--mode=late"], folder)
        return run | {"probe": searches(facts)[0]}
    last = limit + LIMITS[mpi, PLACEMENTS.placements[placement].path][1]
    brackets = [(round(last * 0.88), round(last * 1.11)), (last, last + 1)]
    facts = zoom(name, mpi, placement, limit, ["--mode=late,send", in_words(brackets)], folder)
    probe, bisection, there, *_ = searches(facts)
    run |= {"last": last, "probe": probe, "bisection": bisection, "there": there}
    if verdict(run) == "other":
        run["origin"] = origin(facts, bisection)
        _, low, high = beside("send", bisection["last_size_bytes"], bisection["first_size_bytes"])
        words = ["--mode=send", in_words([(low, high)])]
        run["again"] = searches(zoom(name, mpi, placement, limit, words, folder))[0]
    return run


def in_words(brackets: list[tuple[int, int]]) -> str:
    """The option that asks for bisections."""
    return "--brackets=" + ",".join(f"{last}-{first}" for last, first in brackets)


def zoom(
    name: str, mpi: str, placement: str, limit: int | None, words: list[str], folder: Path
) -> Facts:
    """Launch the zoom with a limit in bytes (None: out of range) and return its record."""
    path = PLACEMENTS.placements[placement].path
    settings = LIMITS[mpi, path][0]
    record = folder / "zoom.record"
    launch(
        name,
        mpi,
        placement,
        [kernel(mpi, "zoom"), f"--sizes=1,{LARGEST}", *words, f"--record={record}"],
        folder,
        dict.fromkeys(settings, str(limit or OUT_OF_RANGE)),
    )
    facts = read_facts(record)
    assert facts.footer is not None
    assert prove(facts.header, facts.footer).path == path
    return facts


def searches(facts: Facts) -> list[dict[str, Any]]:
    """Return the results of a zoom's searches, in their order."""
    assert facts.footer is not None
    return list(facts.footer["switches"])


def origin(facts: Facts, search: dict[str, Any]) -> str | None:
    """Return Switchpoint's guess at the origin of an exact step."""
    flat = {"per_byte_us": 0.0}
    finding = {
        "last_size_before": search["last_size_bytes"],
        "size_bytes": search["first_size_bytes"],
        "magnitude": search["jump"],
        "evidence": {"before": flat, "after": flat},
    }
    guess = origins_of_run(facts.header, facts.footer)(finding)
    return None if guess is None else str(guess["guess"])


def verdict(run: dict[str, Any]) -> str:
    """Return the verdict on the bisection of a run."""
    search = run["bisection"]
    if search["verdict"] == "exact" and search["last_size_bytes"] == run["last"]:
        return "right"
    if search["verdict"] == "exact":
        again = run.get("again", {"verdict": None})
        recurs = again["verdict"] == "exact" and (
            again["last_size_bytes"] == search["last_size_bytes"]
        )
        return "another" if recurs or run.get("origin") else "other"
    if run["there"]["verdict"] == "none":
        return "nothing"
    return str(search["verdict"])


def show(runs: list[dict[str, Any]]) -> None:
    """Print a row per transport and the totals, of limits and of controls."""
    table = pd.DataFrame(
        {
            "mpi": run["mpi"],
            "placement": run["placement"],
            "control": run["last"] is None,
            "probed": run["probe"]["verdict"] == "exact",
            "probe": run["probe"].get("last_size_bytes") == run["last"],
            "probe_ms": run["probe"]["time_us"] / 1e3,
            "word": None if run["last"] is None else verdict(run),
            "ms": None if run["last"] is None else run["bisection"]["time_us"] / 1e3,
        }
        for run in runs
    )
    groups = [*table.groupby(["mpi", "placement"], sort=False), (("all", ""), table)]
    rows = []
    for (mpi, placement), part in groups:
        known = part[~part["control"]]
        words = known["word"].value_counts().reindex(WORDS, fill_value=0)
        rows.append(
            {"MPI": mpi, "placement": placement, "limits": len(known)}
            | {"probe right": int(known["probe"].sum()), "ms, most": known["probe_ms"].max()}
            | words.to_dict()
            | {"ms, most ": known["ms"].max(), "controls": int(part["control"].sum())}
            | {"switches": int((part["control"] & part["probed"]).sum())}
        )
    print(pd.DataFrame(rows).to_markdown(index=False, floatfmt=".0f"))
    known = table[~table["control"]]
    good = known["word"].isin(RIGHT)
    print(f"\nprobe {known['probe'].mean():.1%}, bisection {good.mean():.1%} right")


def main(count: int, seconds: float) -> None:
    """Measure until there are enough runs or no time is left, and print the results."""
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    runs = [json.loads(line) for line in KEPT.read_text().splitlines()] if KEPT.exists() else []
    deadline = time.monotonic() + seconds
    for mpi in ("openmpi", "mpich"):
        kernel(mpi, "zoom")
    with testbed() as name, tempfile.TemporaryDirectory(dir=".") as scratch:
        for index in range(len(runs), count):
            if time.monotonic() > deadline:
                break
            runs.append(measure(name, index, Path(scratch).resolve()))
            with KEPT.open("a") as kept:
                kept.write(json.dumps(runs[-1]) + "\n")
    show(runs)


if __name__ == "__main__":
    options = parser(__doc__)
    add_count(options, "runs", 224)
    options.add_argument("seconds", type=float, nargs="?", default=1e9, metavar="SECONDS")
    given = options.parse_args()
    main(given.runs, given.seconds)
