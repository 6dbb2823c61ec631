"""What a search of a collective proves, from records whose algorithms and times are known."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import RECORDS
from switchpoint import explain, read_files
from switchpoint.reporting.terminal.switches import print_switches

LAST, FIRST, TURNS = 8184, 8192, 25

#: Times in us before and after the switch, by algorithm; the empty name is the library's choice.
Times = Mapping[str, tuple[float, float]]

#: Recursive doubling becomes Rabenseifner's algorithm, as in Open MPI 4.1 with 4 ranks.
CHANGE = {
    "": (1500, 1200), "recursive_doubling": (1500, 1501), "rabenseifner": (1199, 1200),
    "ring": (1900, 1901),
}  # fmt: skip

#: Two ranks leave the eager protocol: every algorithm whose messages are so long steps.
PROTOCOL = {
    "": (1500, 1900), "recursive_doubling": (1500, 1900), "rabenseifner": (1199, 1200),
    "ring": (1650, 1651),
}  # fmt: skip


def searched(folder: Path, times: Times, launches: int, noise: float, seed: int = 1) -> list[Path]:
    """Write records of searches that found the switch, with the scatter of each visit."""
    with gzip.open(RECORDS / "openmpi-memory-limit-9000.record.gz", "rt") as template:
        lines = template.read().splitlines()
    header, footer = json.loads(lines[0]), json.loads(lines[-1])
    rng = np.random.default_rng(seed)
    paths = []
    for launch in range(launches):
        modes = {f"library:{name}" if name else "library": both for name, both in times.items()}
        rows = [
            f"{mode},{size},{turn},0,1,{time * np.exp(noise * rng.standard_t(3)):.6f}"
            for mode, both in modes.items()
            for size, time in zip((LAST, FIRST), both, strict=True)
            for turn in range(TURNS)
        ]
        header["run_id"] = f"{launch:032x}"
        header["kernel"] |= {"name": "allreduce", "pattern": "allreduce"}
        header["plan"] |= {"modes": [*modes], "sizes_bytes": [8, 65536], "searches": True}
        for part in (header, footer):
            part["ranks"] = [part["ranks"][0] | {"rank": rank} for rank in range(4)]
        search = {
            "method": "bisection", "mode": "library", "low_bytes": 4096, "high_bytes": 16384,
            "verdict": "exact", "last_size_bytes": LAST, "first_size_bytes": FIRST,
            "jump": times[""][1] / times[""][0] - 1, "visits": 200, "compared_turns": TURNS,
            "pause_us": 0, "time_us": 1e6, "involuntary_switches": 0, "reason": "time changes",
        }  # fmt: skip
        footer |= {"samples": len(rows), "points": [], "switches": [search]}
        path = folder / f"{seed}-{launch}.record"
        columns = "mode,size_bytes,pass,sample,iterations,time_us"
        path.write_text("\n".join([json.dumps(header), columns, *rows, json.dumps(footer)]) + "\n")
        paths.append(path)
    return paths


def answer(paths: list[Path]) -> dict[str, Any]:
    """Return the only switch."""
    measurements = read_files(paths).measurements
    assert measurements is not None
    (switch,) = explain(measurements).to_dict("records")
    return dict(switch)


def test_a_change_of_algorithm_is_confirmed_by_forcing_both(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = searched(tmp_path, CHANGE, launches=2, noise=0.02)
    switch = answer(paths)
    assert (switch["cause"], switch["status"]) == (
        "allreduce changes from recursive_doubling to rabenseifner", "confirmed",
    )  # fmt: skip
    assert "4 ranks, from 8,192 B on" in switch["reason"]
    assert switch["exact"]
    assert switch["causes"][0]["environment"] == "OMPI_MCA_coll_tuned_allreduce_algorithm"
    measurements = read_files(paths).measurements
    assert measurements is not None
    print_switches(explain(measurements))
    assert "confirmed" in capsys.readouterr().out


def test_algorithms_that_decide_by_size_themselves_refute_nothing(tmp_path: Path) -> None:
    times = CHANGE | {"smp": CHANGE[""], "nb": (1510, 1210)}
    switch = answer(searched(tmp_path, times, launches=2, noise=0.02))
    assert (switch["cause"], switch["status"]) == (
        "allreduce changes from recursive_doubling to rabenseifner", "confirmed",
    )  # fmt: skip


def test_algorithms_that_cannot_be_told_apart_are_named_together(tmp_path: Path) -> None:
    times = CHANGE | {"segmented_ring": CHANGE["rabenseifner"]}
    switch = answer(searched(tmp_path, times, launches=2, noise=0.02))
    assert switch["cause"].endswith("from recursive_doubling to rabenseifner or segmented_ring")


@pytest.mark.parametrize(
    ("times", "launches", "noise", "status", "words"),
    [
        (CHANGE, 1, 0.02, "suspected", "one launch"),
        (CHANGE, 2, 0.12, "suspected", "scatter|may have a step"),
        (PROTOCOL, 2, 0.1, "suspected", "may have a step|takes as long|scatter"),
        (PROTOCOL, 2, 0.02, "refuted", "with recursive_doubling, .*not a change of algorithm"),
        (
            {name: both for name, both in CHANGE.items() if name != "rabenseifner"}, 2, 0.02,
            "suspected", "takes as long as it after the switch",
        ),
    ],
)  # fmt: skip
def test_what_is_not_proved_is_not_confirmed(
    tmp_path: Path, times: Times, launches: int, noise: float, status: str, words: str
) -> None:
    switch = answer(searched(tmp_path, times, launches, noise))
    (cause,) = [cause for cause in switch["causes"] if "allreduce" in cause["name"]]
    assert cause["status"] == status
    assert re.search(words, cause["reason"]), cause["reason"]


def ping_pong(folder: Path, of_collective: Path, last: int) -> Path:
    """Write a search at the same place whose messages switch after `last` bytes."""
    lines = of_collective.read_text().splitlines()
    header, footer = json.loads(lines[0]), json.loads(lines[-1])
    header["run_id"] = "f" * 32
    header["kernel"] |= {"name": "pingpong", "pattern": "message"}
    header["plan"] |= {"modes": ["send"]}
    [search] = footer["switches"]
    search |= {"mode": "send", "last_size_bytes": last, "first_size_bytes": last + 1}
    search |= {"compared_turns": 0}
    rows = [f"send,{size},0,0,1,{size / 10}" for size in (last, last + 1)]
    footer |= {"samples": len(rows)}
    path = folder / "pingpong.record"
    path.write_text("\n".join([json.dumps(header), lines[1], *rows, json.dumps(footer)]) + "\n")
    return path


@pytest.mark.parametrize(
    ("last", "words"),
    [
        (2046, "messages of 1/4 of the size switch as pingpong send does from 2,047 B on"),
        (8190, "messages of the whole size switch as pingpong send does from 8,191 B on"),
        (32750, "messages of 4 times the size switch as pingpong send does from 32,751 B on"),
        (3000, None),
        (1000, None),  # an eighth, of 4 ranks
    ],
)
def test_a_step_of_the_messages_is_linked_to_that_of_ping_pong(
    tmp_path: Path, last: int, words: str | None
) -> None:
    paths = searched(tmp_path, PROTOCOL, launches=2, noise=0.02)
    paths.append(ping_pong(tmp_path, paths[0], last))
    measurements = read_files(paths).measurements
    assert measurements is not None
    rows = explain(measurements).to_dict("records")
    [switch] = [row for row in rows if row["kernel"] == "allreduce"]
    [cause] = [cause for cause in switch["causes"] if "allreduce" in cause["name"]]
    assert cause["reason"].endswith(words or "not a change of algorithm")
