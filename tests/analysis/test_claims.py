"""Claims of the studies: each can hold, fail, or be open, and says which from samples alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest import RECORDS, write_osu_latency, write_record
from switchpoint import Measurements, Store, claims, fit_model, import_files, predict
from switchpoint.models.efficiency import fit_link
from switchpoint.studies.claims import CLAIMS, Figure, efficiencies
from switchpoint.studies.evidence import Evidence
from switchpoint.studies.study_000 import bytes_over_network
from switchpoint.tables.columns import MEASURES, RUN_COLUMNS
from switchpoint.tables.identity import IDENTITY
from typer.testing import Result

pytestmark = pytest.mark.slow

PLACEMENTS = ["one_node", "one_node_network", "two_nodes_one_host", "two_nodes_two_hosts"]
HOSTS = "two_nodes_two_hosts"
OPEN_MPI, MPICH = "Open MPI 4.1.4", "MPICH 4.0.2"


@dataclass
class Site:
    """Measurements as a site with enough cores would have them, whose truth is written down."""

    noise: float = 0.005
    machines: int = 2
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(20261121))
    samples: list[dict[str, Any]] = field(default_factory=list)
    runs: dict[str, dict[str, Any]] = field(default_factory=dict)

    def run(
        self,
        kernel: str,
        times: dict[tuple[str, int], float],
        placement: str = HOSTS,
        *,
        ranks: int = 2,
        cores: int = 64,
        mpi: str | None = OPEN_MPI,
        passes: int = 12,
        noise: float | None = None,
        plan: dict[str, Any] | None = None,
        **labels: str,
    ) -> Site:
        """Add a run that took `times` by mode and size."""
        run_id = f"{len(self.runs):032x}"
        nodes = 1 if placement.startswith("one_node") else 2
        machines = min(nodes, self.machines)
        header = {
            "ranks": [
                {"host": f"n{rank % nodes}", "boot_id": f"m{rank % machines}",
                 "cores_online": cores, "before": {"load1": 0.1}, "cpus_allowed": [0],
                 "rank": rank}
                for rank in range(ranks)
            ],
            "mpi": {"library": mpi},
            "plan": {"block_time_us": 200} | (plan or {}),
        }  # fmt: skip
        self.runs[run_id] = dict.fromkeys(RUN_COLUMNS) | {
            "run_id": run_id, "format": "record", "header": json.dumps(header), "kernel": kernel
        }  # fmt: skip
        if kernel != "pingpong":
            labels["ranks"] = str(ranks)  # as the checks do
        scatter = self.noise if noise is None else noise
        for (mode, size), time_us in times.items():
            for index in range(passes):
                for sample in range(3):
                    self.samples.append(
                        {"site": "here", "partition": "batch", "mpi": mpi, "environ": "gcc",
                         "kernel": kernel, "placement": placement, "mode": mode, "run_id": run_id,
                         "size_bytes": size, "pass": index, "sample": sample, "iterations": 1,
                         "time_us": time_us * (1 + self.random.normal(0, scatter))} | labels
                    )  # fmt: skip
        return self

    def measurements(self) -> Measurements:
        """What the store would return."""
        table = pd.DataFrame(self.samples)
        table = table.astype({name: "category" for name in table if name not in MEASURES})
        assert set(IDENTITY) <= set(table)
        return Measurements(table, pd.DataFrame(list(self.runs.values()), columns=RUN_COLUMNS))


def verdict(site: Site, claim: str) -> str:
    """Return what `claims` says of a claim such as `001.3`."""
    return str(row(site, claim)["verdict"])


def row(site: Site, claim: str) -> dict[str, Any]:
    found = claims(site.measurements(), claim[:3])
    [only] = found[found["number"] == int(claim[4:])].to_dict("records")
    return dict(only)


# One truth in which each claim holds, one in which it fails, one in which it cannot be told.


def by_size(mode: str, **times: float) -> dict[tuple[str, int], float]:
    return {(mode, int(size[1:])): time for size, time in times.items()}


def sweep(jump: float = 1.0) -> dict[tuple[str, int], float]:
    """Send over sizes, the time of 64 KiB and beyond being `jump` times what went before."""
    sizes = [8, 1024, 33000, 41000, 52000, 65536, 131072, 524288, 1048576]
    return {("send", size): (2 + size / 5000) * (jump if size >= 65536 else 1.0) for size in sizes}


def sorts(
    times: dict[str, float], site: Site, serial: float | None = None, cores: int = 64
) -> Site:
    for nodes, time_us in times.items():
        placement = "one_node" if set(nodes) == {"A"} else HOSTS
        site.run("mergesort", {("tree", 200_000): time_us}, placement, ranks=7, cores=cores,
                 process_map=nodes)  # fmt: skip
    if serial is not None:
        site.run("mergesort", {("tree", 200_000): serial}, "one_node", ranks=1, process_map="A")
    return site


def study_000_times(per_byte: float, parallel: float = 0.0) -> dict[str, float]:
    """Times that follow the bytes, the map of figure 13 paying `parallel` more."""
    maps = ["AABAABB", "AAAAABB", "AAAAAAB", "AABABBB", "AABABAB", "ABBAAAA", "AAAAAAA"]
    times = {nodes: 20.0 + per_byte * bytes_over_network(nodes) for nodes in maps}
    times["ABBAAAA"] += parallel
    return times


def ring(site: Site, times: Callable[[int, int, int], float], **run: Any) -> Site:
    """A grid over s in percent, np = 4 and L in words, T = 10 ms."""
    for serial in (0, 1):
        grid = {("alternate", 4 * words): times(serial, 4, words) for words in (1, 1000, 10_000)}
        grid |= {("serial", 4 * words): 10_000.0 for words in (1, 1000, 10_000)}
        labels = {"grain_us": "10000", "serial_percent": str(serial)}
        site.run("ring", grid, **({"ranks": 4} | run), **labels)
    return site.run("pingpong", {("send", 4 * n): 10 + 0.01 * n for n in (1, 1000, 10_000)})


def rings(times: Callable[[int, int, int], float], **run: Any) -> Site:
    return ring(Site(), times, **run)


def expected_ring(start_us: float, word_us: float) -> Callable[[int, int, int], float]:
    """Times by the study's own equations."""

    def times(serial: int, ranks: int, words: int) -> float:
        share = serial / 100
        exchange_us = 2 * (start_us + word_us * ranks / 2 * words)
        return 10_000 * (share + (1 - share) / ranks) + exchange_us

    return times


def exchange(site: Site, ranks: int = 4, cores: int = 64, **factors: float) -> Site:
    """Schedules at 64 B and 1 MiB: factors over synchronous shuffle, by mode and size."""
    times = {}
    for mode in ("synchronous_shuffle", "group_shuffle", "shift", "pairwise"):
        for name, size, base in (("short", 64, 100.0), ("long", 2**20, 35_000.0)):
            times[mode, size] = base * factors.get(f"{mode}_{name}", 1.0)
    return site.run("alltoall", times, ranks=ranks, cores=cores)


def stream(site: Site, time_us: float) -> Site:
    return site.run("pingpong", {("stream", 2**20): time_us})


def broadcasts(site: Site, ranks: int, cores: int = 64, **times: float) -> Site:
    sizes = (1, 256, 1024, 16384, 65536)
    return site.run(
        "broadcast", {(mode, size): time for mode, time in times.items() for size in sizes},
        ranks=ranks, cores=cores,
    )  # fmt: skip


def growing(site: Site, *times: float) -> Site:
    return site.run("broadcast", {("library", s): t for s, t in zip((1, 256, 1024), times)})  # noqa: B905


def tools(site: Site, mpich: float, pvm: float = 30.0) -> Site:
    for mpi, time_us in ((OPEN_MPI, 30.0), (MPICH, mpich)):
        site.run("echo", {("mpi", 1): time_us, ("pvm", 1): pvm}, mpi=mpi)
    return site


def applications(site: Site, primitives: float, **gains: float) -> Site:
    for mpi, factor in ((OPEN_MPI, 1.0), (MPICH, primitives)):
        site.run("pingpong", {("send", 65536): 100 * factor}, mpi=mpi)
        site.run("broadcast", {("library", 65536): 100 * factor}, mpi=mpi)
        for app, gain in gains.items():
            times = {("parallel", 0): 1000 * (gain if mpi == MPICH else 1.0)}
            times |= {(alone, 0): 1000.0 for alone in ("one_rank", "serial")}  # where no tool sends
            site.run(app, times, mpi=mpi)
    return site


def everywhere(times: Callable[[str], dict[tuple[str, int], float]], **run: Any) -> Site:
    site = Site()
    for placement in PLACEMENTS:
        site.run("pingpong", times(placement), placement, **run)
    return site


def noisy_at(placement: str) -> Site:
    site = Site()
    for place in PLACEMENTS:
        site.run("pingpong", sweep(), place, noise=0.05 if place == placement else 0.005)
    return site


def streams(small: float, large: float, network: float) -> Site:
    site = Site()
    for placement in ("one_node", "one_node_network"):
        times = {}
        for size in (8, 1024, 65536, 1048576):
            through = small if size <= 1024 else large
            factor = network if placement == "one_node_network" else through
            times |= {("stream", size): 10.0, ("sstream", size): 10.0 * factor}
        site.run("pingpong", times, placement)
    return site


def blocks(long_noise: float) -> Site:
    site = Site()
    for block, noise in ((200, 0.05), (5000, long_noise)):
        site.run("pingpong", sweep(), noise=noise, plan={"block_time_us": block})
    return site


def launches(spread: float) -> Site:
    site = Site(noise=0.0001)
    for number in range(8):
        factor = 1 + spread * number
        site.run("ring", {("alternate", 4000): 3000 * factor}, grain_us="10000", serial_percent="0")
    return site


def latencies(ssend: float) -> Site:
    return everywhere(lambda _: {("send", 8): 1.0, ("ssend", 8): ssend})


def hosts(one_host: float) -> Site:
    site = Site()
    for placement, factor in zip(PLACEMENTS[2:], (one_host, 1.0), strict=True):
        times = {key: time * factor for key, time in sweep().items()}
        site.run("pingpong", times, placement)
    return site


def level(mbitps: float) -> Site:
    times = {("send", size): 8 * size / mbitps for size in (31_744, 63_488)}
    return Site().run("pingpong", times, "one_node")


def at_64_kib(placement: str, jump: float) -> Site:
    return Site().run("pingpong", sweep(jump), placement)


def between_nodes(jump: float) -> Site:
    site = Site()
    for placement in PLACEMENTS[2:]:
        site.run("pingpong", sweep(jump), placement)
    return site


def drops(load: float) -> Site:
    """Four runs, two of them with a slow pass and another load."""
    site = Site(noise=0.01)
    for number in range(8):
        disturbed = number % 2 == 1
        times = {key: time * (1.6 if disturbed else 1) for key, time in sweep().items()}
        site.run("pingpong", times, "two_nodes_one_host")
        run = site.runs[f"{number:032x}"]
        header = json.loads(run["header"])
        for rank in header["ranks"]:
            rank["before"]["load1"] = (load if disturbed else 0.5) + 0.01 * number
        run["header"] = json.dumps(header)
    return site


def serial_ring(cores: int, visible: bool) -> Site:
    times = expected_ring(5, 0.002)
    return ring(Site(), times if visible else lambda _, np, words: times(0, np, words), cores=cores)


def tree_sites(p: int, cores: int = 64, **times: float) -> Site:
    return broadcasts(Site(), p, cores, **times)


def groups(*times: float) -> Site:
    site = Site()
    for ranks, time_us in zip((2, 4, 8), times, strict=True):
        broadcasts(site, ranks, repeated=time_us)
    return site


def two_sizes(group_many: float) -> Site:
    site = exchange(Site(), ranks=4)
    return exchange(site, ranks=8, group_shuffle_long=group_many)


def ping_pongs() -> Site:
    """Messages of 10 us and 1 ns a byte, and the sort of one process."""
    site = Site()
    for placement in ("one_node", HOSTS):
        times = {("send", 1 << bit): 10 + (1 << bit) / 1000 for bit in range(0, 21, 2)}
        site.run("pingpong", times, placement)
    return sorts({}, site, serial=85_000.0)


def predicted_sorts(measured_over_predicted: float, cores: int = 64) -> Site:
    site = ping_pongs()
    model = fit_model(site.measurements())
    times = {}
    for nodes in ("AABAABB", "ABBAAAA"):
        found = predict(model, "mergesort", placement=HOSTS, process_map=nodes, modes=["tree"],
                        sizes_bytes=[200_000])  # fmt: skip
        times[nodes] = measured_over_predicted * found["time_us"].iloc[0]
    return sorts(times, site, cores=cores)


def predicted_trees(measured_over_predicted: float) -> Site:
    site = ping_pongs()
    model, modes = fit_model(site.measurements()), ["binary_ack", "two_level_ack"]
    found = predict(model, "broadcast", placement=HOSTS, process_map="ABAB", modes=modes,
                    sizes_bytes=[1024, 65536])  # fmt: skip
    times = {
        (row["mode"], row["size_bytes"]): measured_over_predicted * row["time_us"]
        for row in found.to_dict("records")
    }
    return site.run("broadcast", times, ranks=4)


# claim: (a site where it holds, one where it fails, one that cannot tell)
CASES: dict[str, tuple[Callable[[], Site], Callable[[], Site], Callable[[], Site]]] = {
    "000.1": (
        lambda: sorts(study_000_times(0.001), Site()),
        lambda: sorts(dict.fromkeys(study_000_times(0), 50.0) | {"AAAAAAB": 500.0}, Site()),
        lambda: sorts({"AABAABB": 50.0}, Site()),
    ),
    "000.2": (
        lambda: sorts({"AABAABB": 200.0, "AABABAB": 410.0, "ABBAAAA": 790.0}, Site()),
        lambda: sorts({"AABAABB": 200.0, "AABABAB": 210.0, "ABBAAAA": 220.0}, Site()),
        lambda: sorts({"AABAABB": 200.0, "AABABAB": 400.0}, Site()),
    ),
    "000.3": (
        lambda: sorts({"AABAABB": 200.0, "AAAAABB": 205.0}, Site()),
        lambda: sorts({"AABAABB": 200.0, "AAAAABB": 300.0}, Site()),
        lambda: sorts({"AABAABB": 200.0, "AAAAABB": 220.0}, Site(noise=0.1)),
    ),
    "000.4": (
        lambda: sorts({"AABAABB": 200.0, "AAAAAAA": 50.0}, Site()),
        lambda: sorts({"AABAABB": 40.0, "AAAAAAA": 50.0}, Site()),
        lambda: sorts({"AABAABB": 200.0}, Site()),
    ),
    "000.5": (
        lambda: sorts({"AABAABB": 30.0, "AAAAAAA": 50.0}, Site()),
        lambda: sorts({"AABAABB": 60.0, "AAAAAAA": 50.0}, Site()),
        lambda: sorts({"AABAABB": 30.0, "AAAAAAA": 50.0}, Site(machines=1)),
    ),
    "000.6": (
        lambda: sorts(study_000_times(0.001), Site()),
        lambda: sorts(study_000_times(0.001, parallel=500), Site()),
        lambda: sorts(study_000_times(0.001), Site(machines=1)),
    ),
    "000.7": (
        lambda: sorts({"AAAAAAA": 50.0}, Site(), serial=85.0),
        lambda: sorts({"AAAAAAA": 50.0}, Site(), serial=45.0),
        lambda: sorts({"AAAAAAA": 50.0}, Site()),
    ),
    "000.8": (
        lambda: predicted_sorts(1.0), lambda: predicted_sorts(1.5),
        lambda: sorts(study_000_times(0.001), Site()),
    ),
    "001.1": (lambda: latencies(1.5), lambda: latencies(1.0), lambda: Site().run(
        "pingpong", {("send", 8): 1.0, ("ssend", 8): 2.0}, "one_node")),
    "001.2": (lambda: level(40_000), lambda: level(90_000), lambda: Site().run(
        "pingpong", {("send", 8): 1.0}, "one_node")),
    "001.3": (
        lambda: at_64_kib("one_node", 0.7), lambda: at_64_kib("one_node", 1.0),
        lambda: at_64_kib("two_nodes_two_hosts", 0.7),
    ),
    "001.4": (
        lambda: at_64_kib("one_node_network", 1.4), lambda: at_64_kib("one_node_network", 0.9),
        lambda: Site().run("pingpong", {("send", 65536): 1.0}, "one_node_network"),
    ),
    "001.5": (
        lambda: between_nodes(1.0), lambda: between_nodes(1.3),
        lambda: at_64_kib("two_nodes_one_host", 1.0),
    ),
    "001.6": (lambda: hosts(1.5), lambda: hosts(0.5), lambda: Site().run(
        "pingpong", sweep(), "two_nodes_one_host")),
    "001.7": (
        lambda: streams(1.5, 1.0, 1.5), lambda: streams(1.5, 1.4, 1.5),
        lambda: Site().run("pingpong", {("stream", 8): 1.0, ("sstream", 8): 2.0}, "one_node"),
    ),
    "001.8": (lambda: noisy_at(HOSTS), lambda: noisy_at("one_node"), lambda: latencies(1.0)),
    "001.9": (lambda: drops(4.0), lambda: drops(0.5), lambda: hosts(1.0)),
    "001.10": (lambda: blocks(0.01), lambda: blocks(0.1), lambda: latencies(1.0)),
    "002.1": (
        lambda: rings(expected_ring(3000, 10)), lambda: rings(expected_ring(10, 0.01)),
        lambda: rings(expected_ring(3000, 10), cores=1),
    ),
    "002.2": (
        lambda: rings(expected_ring(300, 0.1)), lambda: rings(expected_ring(2, 0.001)),
        lambda: rings(expected_ring(300, 0.1), cores=1),
    ),
    "002.3": (
        lambda: rings(expected_ring(5, 0.01)), lambda: rings(expected_ring(5, 0.1)),
        lambda: rings(expected_ring(5, 0.01), cores=1),
    ),
    "002.4": (lambda: serial_ring(64, True), lambda: serial_ring(64, False),
              lambda: serial_ring(1, True)),
    "002.5": (lambda: launches(0.02), lambda: launches(0.0), lambda: rings(expected_ring(5, 0.01))),
    "003.1": (
        lambda: stream(exchange(Site()), 8700.0), lambda: stream(exchange(Site()), 5000.0),
        lambda: stream(exchange(Site(), cores=1), 5000.0),
    ),
    "003.2": (
        lambda: exchange(Site(), shift_short=1.4, pairwise_short=1.3), lambda: exchange(Site()),
        lambda: exchange(Site(), shift_short=1.4, pairwise_short=1.3, cores=1),
    ),
    "003.3": (
        lambda: exchange(Site(), shift_short=1.4, pairwise_short=1.3),
        lambda: exchange(Site(), shift_long=1.4, shift_short=1.4, pairwise_short=1.4),
        lambda: exchange(Site(), ranks=2),
    ),
    "003.5": (
        lambda: exchange(Site(), group_shuffle_long=1.02),
        lambda: exchange(Site(), group_shuffle_long=1.3),
        lambda: Site().run("alltoall", {("shift", 64): 1.0}, "one_node"),
    ),
    "003.6": (lambda: two_sizes(0.8), lambda: two_sizes(1.2), lambda: Site().run(
        "alltoall", {("shift", 64): 1.0}, "one_node")),
    "004.1": (lambda: tools(Site(), 31.0), lambda: tools(Site(), 60.0), lambda: Site().run(
        "echo", {("mpi", 1): 30.0})),
    "004.2": (
        lambda: growing(Site(), 10.0, 12.5, 20.0), lambda: growing(Site(), 10.0, 10.0, 10.0),
        lambda: Site().run("broadcast", {("library", 1): 1.0}),
    ),
    "004.3": (lambda: groups(10, 30, 70), lambda: groups(10, 60, 12), lambda: broadcasts(
        Site(), 2, repeated=1.0)),
    "004.4": (
        lambda: broadcasts(tree_sites(2, repeated=10, binomial=10), 8, repeated=70, binomial=30),
        lambda: broadcasts(tree_sites(2, repeated=10, binomial=10), 8, repeated=20, binomial=30),
        lambda: broadcasts(Site(), 8, 2, repeated=70, binomial=30),
    ),
    "004.5": (
        lambda: tree_sites(8, library=70, repeated=70, binomial=30),
        lambda: tree_sites(8, library=25, repeated=70, binomial=30),
        lambda: tree_sites(4, library=70, repeated=70, binomial=30),
    ),
    "004.6": (
        lambda: applications(Site(), 1.5, fft=1.1, jpeg=1.2),
        lambda: applications(Site(), 1.5, fft=0.8, jpeg=1.2),
        lambda: applications(Site(), 1.0, fft=1.1, jpeg=1.2),
    ),
    "004.7": (
        lambda: applications(Site(), 1.5, fft=1.1, jpeg=1.3, psrs=1.3, backpropagation=1.6),
        lambda: applications(Site(), 1.5, fft=1.4, jpeg=1.3, psrs=1.3, backpropagation=1.6),
        lambda: applications(Site(), 1.5, fft=1.1, jpeg=1.3),
    ),
    "004.8": (
        lambda: tree_sites(21, binary_ack=40, two_level_ack=30),
        lambda: tree_sites(21, binary_ack=30, two_level_ack=40),
        lambda: tree_sites(4, binary_ack=40, two_level_ack=30),
    ),
    "004.9": (
        lambda: predicted_trees(1.0), lambda: predicted_trees(1.2),
        lambda: tree_sites(8, binary_ack=40, two_level_ack=30),
    ),
}  # fmt: skip


def cases(which: int) -> list[Any]:
    return [pytest.param(claim, sites[which], id=claim) for claim, sites in CASES.items()]


@pytest.mark.parametrize(("claim", "site"), cases(0))
def test_a_claim_that_is_true_holds(claim: str, site: Callable[[], Site]) -> None:
    assert verdict(site(), claim) == "holds"


@pytest.mark.parametrize(("claim", "site"), cases(1))
def test_a_claim_that_is_false_does_not_hold(claim: str, site: Callable[[], Site]) -> None:
    assert verdict(site(), claim) == "does not hold"


@pytest.mark.parametrize(("claim", "site"), cases(2))
def test_a_claim_that_the_data_cannot_decide_says_why(claim: str, site: Callable[[], Site]) -> None:
    found = row(site(), claim)
    assert found["verdict"] == "not testable here"
    assert found["reason"]
    assert found["fix"]


def test_every_claim_is_tried_in_each_truth() -> None:
    known = {f"{claim.study}.{claim.number}" for claim in CLAIMS}
    assert known - set(CASES) == {"003.4"}  # decided by a simulation everywhere else


def test_head_of_line_blocking_is_judged_where_a_run_names_its_switch_or_by_simulation() -> None:
    simulated = row(exchange(Site()), "003.4")
    assert simulated["verdict"] == "holds"
    assert all(figure["what"].startswith("simulated") for figure in simulated["evidence"])
    for factor, expected in ((0.8, "holds"), (1.0, "does not hold")):
        times = {("synchronous_shuffle", 2**20): 100.0, ("group_shuffle", 2**20): 100.0 * factor}
        site = Site().run("alltoall", times, ranks=8, switch="input_buffered")
        assert verdict(site, "003.4") == expected


def test_where_another_schedule_fills_the_links_the_cores_are_not_what_is_missing() -> None:
    site = stream(exchange(Site(), cores=1, group_shuffle_long=0.5), 5000.0)
    assert verdict(site, "003.1") == "does not hold"


def test_the_studys_own_trees_have_as_many_members_and_not_as_many_ranks() -> None:
    site = broadcasts(tree_sites(31, binary_ack=40, two_level_ack=50), 21, two_level_ack=30)
    assert verdict(site, "004.8") == "holds"


def test_a_prediction_is_not_judged_by_ranks_that_share_cores() -> None:
    found = row(predicted_sorts(100.0, cores=2), "000.8")

    assert found["verdict"] == "not testable here"
    assert "more ranks than cores" in found["reason"]


def test_a_stranger_s_run_with_an_impossible_option_is_left_out_of_predictions() -> None:
    """The run of the broadcasts has it, then another run as well, which counts."""
    site = predicted_trees(1.0)
    bad = list(site.runs)[-1]
    times = {
        (sample["mode"], sample["size_bytes"]): sample["time_us"]
        for sample in site.samples if sample["run_id"] == bad
    }  # fmt: skip
    header = json.loads(site.runs[bad]["header"]) | {"arguments": ["broadcast", "--segment=x"]}
    site.runs[bad]["header"] = json.dumps(header)
    alone = row(site, "004.9")
    both = row(site.run("broadcast", times, ranks=4), "004.9")

    assert (alone["verdict"], both["verdict"]) == ("not testable here", "holds")


def test_nothing_measured_leaves_every_claim_open() -> None:
    found = claims(Site().run("unknown", {("mode", 8): 1.0}).measurements())

    assert set(found["verdict"]) == {"not testable here"}
    assert found["fix"].str.contains("make measure").any()


def test_a_difference_within_the_noise_is_left_open() -> None:
    found = row(everywhere(lambda _: {("send", 8): 1.0, ("ssend", 8): 1.06}, noise=0.2), "001.1")

    assert found["verdict"] == "not testable here"
    assert "intervals cross the bound" in found["reason"]


def test_few_passes_are_too_few() -> None:
    found = row(everywhere(lambda _: {("send", 8): 1.0, ("ssend", 8): 2.0}, passes=2), "001.1")

    assert found["reason"].startswith("2 passes of pingpong ssend")


def test_each_mpi_has_its_own_verdict() -> None:
    site = latencies(2.0)
    for placement in PLACEMENTS:
        site.run("pingpong", {("send", 8): 1.0, ("ssend", 8): 1.0}, placement, mpi=MPICH)
    site.run("echo", {("sockets", 1): 30.0}, mpi=None)
    found = claims(site.measurements(), "001")

    first = found[found["number"] == 1].set_index("mpi")["verdict"]
    assert first.to_dict() == {OPEN_MPI: "holds", MPICH: "does not hold"}


def test_curves_with_other_labels_are_not_pooled() -> None:
    site = latencies(2.0)
    for placement in PLACEMENTS:
        site.run("pingpong", {("ssend", 8): 0.5}, placement, passes=3, cache="cold")

    assert verdict(site, "001.1") == "holds"


def test_numbers_intervals_and_runs_come_with_the_verdict() -> None:
    for figure in row(latencies(1.5), "001.1")["evidence"]:
        assert figure["low"] < figure["value"] < figure["high"]
        assert figure["value"] == pytest.approx(1.5, rel=0.02)
        assert figure["wanted"] == "above 1.05"
        assert len(figure["runs"]) == 1


def test_a_link_is_fitted_to_a_ping_pong() -> None:
    sizes = np.array([4.0, 400, 4000, 40_000])

    link = fit_link(sizes, 7 + 0.003 * sizes / 4)

    assert (link.start_us, link.word_us) == pytest.approx((7, 0.003))


def test_efficiency_is_tabled_beside_what_was_foretold() -> None:
    table = efficiencies(ring(Site(), expected_ring(10, 0.01)).measurements())

    cell = table[(table["words"] == 10_000) & (table["serial"] == 0)].iloc[0]
    assert cell["efficiency"] == pytest.approx(10_000 / (4 * 2920), rel=0.01)
    assert cell["predicted"] == pytest.approx(cell["efficiency"], rel=0.02)
    assert cell["predicted_literature"] < 0.02
    assert cell["speedup"] == pytest.approx(4 * cell["efficiency"])


def test_bytes_over_the_network_are_those_of_the_maps() -> None:
    known = {
        "AABAABB": 200_000, "AAAAABB": 200_000, "AAAAAAB": 100_000, "AABABBB": 300_000,
        "AABABAB": 400_000, "AABBBAA": 600_000, "ABBAAAA": 800_000,
    }  # fmt: skip
    assert {nodes: bytes_over_network(nodes) for nodes in known} == known


def test_the_command_prints_verdicts_with_figures_and_mends(
    switchpoint: Callable[..., Result],
) -> None:
    record = RECORDS / "openmpi-network-limit-65536.record.gz"

    result = switchpoint("claims", record, "--study", "001")

    assert result.exit_code == 0
    words = " ".join(result.stdout.split())
    assert "001.4 holds at exactly 64 KiB it falls over the forced network" in words
    assert "wanted below 0.95" in words
    assert "no run of kernel pingpong with placement two_nodes_one_host; fix: make measure" in words


def test_the_command_prints_json(switchpoint: Callable[..., Result], tmp_path: Any) -> None:
    path = write_record(tmp_path / "run.record")

    result = switchpoint("claims", path, "--json")

    assert result.exit_code == 0
    content = json.loads(result.stdout)
    assert set(content) == {"claims", "efficiency"}
    assert {claim["study"] for claim in content["claims"]} == {"000", "001", "002", "003", "004"}
    assert all(claim["fix"] for claim in content["claims"] if claim["reason"])


def test_an_unknown_study_is_named_with_the_known_ones(switchpoint: Callable[..., Result]) -> None:
    result = switchpoint("claims", RECORDS, "--study", "7")

    assert result.exit_code == 2
    assert "'7' is not one of the studies; use 000, 001, 002, 003, 004" in result.stderr


def test_a_store_without_run_records_decides_no_claim(
    tmp_path: Path, switchpoint: Callable[..., Result]
) -> None:
    table = write_osu_latency(tmp_path / "one.out", "1 1.1 1.2 1.4 1.7 2 2.5 3")
    assert switchpoint("import", table, "--store", tmp_path / "s").exit_code == 0
    done = switchpoint("claims", "--store", tmp_path / "s", "--json")
    assert done.exit_code == 0, done.exception
    assert {row["verdict"] for row in json.loads(done.stdout)["claims"]} == {"not testable here"}


def test_of_a_long_history_the_newest_sessions_count(
    switchpoint: Callable[..., Result], tmp_path: Path
) -> None:
    """Each run needs memory, and a store may have a million."""
    records = tmp_path / "records"
    records.mkdir()
    for number in range(103):
        labels = {"site": "here", "placement": "one_node", "session": f"{number:03}"}
        start = f"2026-{1 + number // 28:02}-{1 + number % 28:02}T10:00:00.000000Z"
        write_record(
            records / f"{number}.record", run_id=f"{number:032x}", labels=labels, start_utc=start,
            sizes=[8], passes=1,
        )  # fmt: skip
    import_files([records], Store(tmp_path / "store"))

    done = switchpoint("claims", "--store", tmp_path / "store")

    assert done.exit_code == 0
    assert (
        "of each curve the newest 100 sessions count: 3 older runs are left out; --since and"
        " --until choose others\n"
    ) in done.stderr


def test_a_figure_of_a_claim_has_the_fields_of_its_evidence() -> None:
    assert [*Figure.__annotations__] == [field.name for field in fields(Evidence)]
