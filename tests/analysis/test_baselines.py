"""Our curves pair with baselines of the same pattern and place, and the ratio's interval holds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import write_record
from switchpoint import Measurements, read_files
from switchpoint.comparison.baselines import Pairing, pairings, ratios

PLACE = {"site": "here", "placement": "one_node_network", "mpi": "Open MPI 4.1.4"}
TITLES = {
    "osu_latency": "# OSU MPI Latency Test v7.4\n# Size     Avg Latency(us)\n",
    "osu_bw": "# OSU MPI Bandwidth Test v7.4\n# Size      Bandwidth (MB/s)\n",
    "imb_pingpong": "# Benchmarking PingPong\n# #processes = 2\n#bytes #repetitions t[usec]\n",
}


def gathered(tmp_path: Path, kernels: Sequence[str], **place: str) -> Measurements:
    """Read a record of `send` of ours and an output of each kernel at a place."""
    write_record(tmp_path / "run.record", sizes=[8, 1024, 65536], step_at=None)
    for kernel in kernels:
        row = "8 1000 6.0\n" if kernel.startswith("imb") else "8     6.0\n"
        labels = json.dumps(PLACE | place)
        (tmp_path / f"{kernel}.out").write_text(f"# switchpoint: {labels}\n{TITLES[kernel]}{row}")
    measurements = read_files([tmp_path]).measurements
    assert measurements is not None
    return measurements


def test_baselines_of_the_same_pattern_pair_with_ours(tmp_path: Path) -> None:
    [pairing] = pairings(gathered(tmp_path, ["osu_latency", "imb_pingpong", "osu_bw"]))

    assert pairing.place == {"site": "here", "mpi": "Open MPI 4.1.4"}
    assert pairing.mode == "send"
    assert set(pairing.samples["kernel"]) == {"pingpong", "osu_latency", "imb_pingpong"}
    table = ratios(pairing)
    assert table["kernel"].tolist() == ["osu_latency", "imb_pingpong"]
    assert table["size_bytes"].tolist() == [8, 8]
    assert table["ratio"].tolist() == pytest.approx([1, 1], rel=0.02)


def test_an_exchange_counts_as_two_messages(tmp_path: Path) -> None:
    labels = json.dumps(PLACE | {"mpi": "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4"})
    (tmp_path / "imb_sendrecv.out").write_text(
        f"# switchpoint: {labels}\n# Benchmarking Sendrecv\n# #processes = 2\n"
        "#bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec\n"
        "8         1000        11.0        13.0         12.0         1.33\n"
    )
    record = write_record(tmp_path / "run.record", sizes=[8, 1024], step_at=None)
    record.write_text(record.read_text().replace("\nsend,", "\nsendrecv,"))
    measurements = read_files([tmp_path]).measurements
    assert measurements is not None

    [pairing] = pairings(measurements)

    theirs = pairing.samples.query("kernel == 'imb_sendrecv'")
    assert pairing.mode == "sendrecv"
    assert theirs["time_us"].tolist() == [6.0]


@pytest.mark.parametrize(
    "other", [{"site": "there"}, {"placement": "one_node"}, {"mpi": "MPICH 4"}]
)
def test_what_was_measured_elsewhere_does_not_pair(tmp_path: Path, other: dict[str, str]) -> None:
    assert pairings(gathered(tmp_path, ["osu_latency"], **other)) == []


@pytest.mark.parametrize(("window", "pairs"), [("16", 1), ("64", 0), (None, 0)])
def test_streams_pair_if_they_have_the_same_window(
    tmp_path: Path, window: str | None, pairs: int
) -> None:
    # OSU prints no window; without a label it is the default, 64.
    own = {} if window is None else {"window_size": window}
    plan = {"seed": 1, "passes": 3, "windows": {"stream": 16}}
    record = write_record(tmp_path / "run.record", sizes=[8, 1024], step_at=None, plan=plan)
    record.write_text(record.read_text().replace("\nsend,", "\nstream,"))
    (tmp_path / "osu_bw.out").write_text(
        f"# switchpoint: {json.dumps(PLACE | own)}\n{TITLES['osu_bw']}8     6.0\n"
    )
    measurements = read_files([tmp_path]).measurements
    assert measurements is not None

    assert len(pairings(measurements)) == pairs


def samples(kernel: str, times: np.ndarray) -> pd.DataFrame:
    """One size, a pass for each time."""
    return pd.DataFrame(
        {
            "placement": "one_node", "kernel": kernel, "size_bytes": 8, "run_id": kernel,
            "pass": range(len(times)), "time_us": times,
        }
    )  # fmt: skip


@pytest.mark.slow
def test_the_interval_covers_the_true_ratio_about_as_often_as_it_says() -> None:
    random = np.random.default_rng(20261121)
    covered = 0
    for _ in range(200):
        both = [samples("pingpong", random.normal(1.2, 0.05, 20))]
        both += [samples("osu_latency", random.normal(1.0, 0.05, 20))]
        [row] = ratios(Pairing({}, "send", pd.concat(both))).to_dict("records")
        covered += row["low"] <= 1.2 <= row["high"]

    assert 0.90 <= covered / 200 <= 0.99


def test_a_single_number_is_taken_as_exact() -> None:
    both = [samples("pingpong", np.array([2.0])), samples("osu_latency", np.array([1.0]))]

    [row] = ratios(Pairing({}, "send", pd.concat(both))).to_dict("records")

    assert (row["ratio"], row["low"], row["high"]) == (2, 2, 2)
    assert (row["our_passes"], row["their_passes"]) == (1, 1)
