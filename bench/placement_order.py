"""Measures what makes two nodes of one host slower than nodes of two hosts, as in study 001.

On its own testbed it changes one thing at a time: which cores the ranks have, where packets are
handled, and what else runs on the cores. Launches of all cases take turns. Each launch measures 8 B
over blocks that are longer than a scheduler's time slice, and like the study it takes the mean.
Usage: ``.venv/bin/python bench/placement_order.py [LAUNCHES] [--block-time US]``
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from arguments import add_count, count, parser
from on_testbed import BIN, ROOT, kernel, launch, sharing_cores, testbed
from ratios import median_ratio
from switchpoint.explanation.slower_runs import slower_because
from switchpoint.records.core_use import core_uses
from switchpoint.records.record import Record, read_facts
from switchpoint.records.run_facts import prove, run_seconds
from switchpoint.tables.units import significant

MPI, MPI_NAME = "openmpi", "Open MPI"
ONE_HOST, TWO_HOSTS = "two_nodes_one_host", "two_nodes_two_hosts"
MODES = ["send", "ssend"]
OPTIONS = [
    "--mode=send,ssend", "--sizes=8", "--passes=2", "--samples=3", "--pass-time=1000", "--quiet",
]  # fmt: skip

#: Study 001's table: latency in microseconds.
STUDY_US = {
    "one_node": {"send": 0.295, "ssend": 0.583},
    "one_node_network": {"send": 10.867, "ssend": 26.135},
    "two_nodes_one_host": {"send": 151.720, "ssend": 453.183},
    "two_nodes_two_hosts": {"send": 102.250, "ssend": 258.753},
}
#: The time of one host over that of two hosts.
STUDY_RATIOS = {mode: STUDY_US[ONE_HOST][mode] / STUDY_US[TWO_HOSTS][mode] for mode in MODES}

#: Ranks that wait give up their core, in both placements.
YIELD = sharing_cores("openmpi")


@dataclass(frozen=True)
class Case:
    """One thing that is changed.

    Attributes
    ----------
    name : str
        As in the table.
    one_core : bool
        Both nodes of a host have the same core. Nodes of two hosts keep a core each.
    settings : dict
        Environment variables of both placements.
    packets : bool
        One core handles all packets of a host: the first core those of host a, the second those
        of host b.
    busy : list of int
        Cores of host a on which another program runs all the time, a core for each program. This
        machine has two cores, so two hosts are measured without it: it would run on host b's core
        too.
    one_session : bool
        These programs are of one session. Linux divides a core among sessions, not programs
        (`sched_autogroup_enabled`), and so have two programs of one session half a share each.
    """

    name: str
    one_core: bool = False
    settings: dict[str, str] | None = None
    packets: bool = False
    busy: tuple[int, ...] = ()
    one_session: bool = False


CASES = [
    Case("nothing"),
    Case("nodes of a host share a core; waiting ranks poll", one_core=True),
    Case("the same; waiting ranks give up the core", one_core=True, settings=YIELD),
    Case("one core handles a host's packets", packets=True),
    Case("another program on one of the host's two cores", busy=(1,)),
    Case("another program on each of the host's two cores", busy=(0, 1)),
    Case("the same; both programs are of one session", busy=(0, 1), one_session=True),
    Case("two other programs on each of the host's two cores", busy=(0, 1, 0, 1)),
]


def measure(launches: int, block_us: int) -> pd.DataFrame:
    """Measure every case in turn: a row per case, launch, placement and mode."""
    rows = []
    with testbed() as name, tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
        record = Path(folder) / "order.record"
        for number in range(launches):
            for case in CASES:
                for placement in (ONE_HOST, TWO_HOSTS):
                    facts = run(name, case, placement, block_us, record)
                    same = {"case": case.name, "launch": number, "placement": placement,
                            "facts": facts, **seen(facts)}  # fmt: skip
                    rows += [
                        same | {"mode": point["mode"], "time_us": point["mean_us"]}
                        for point in (facts.footer or {})["points"]
                    ]
    return pd.DataFrame(rows)


def run(name: str, case: Case, placement: str, block_us: int, record: Path) -> Record:
    """Launch once and return the record's facts."""
    one_host = placement == ONE_HOST
    prefix: list[str | Path] = ["taskset", "-c", "0"] if case.one_core and one_host else []
    command = [*prefix, kernel(MPI, "pingpong"), *OPTIONS]
    command += [f"--block-time={block_us}", f"--record={record}"]
    busy = case.busy if one_host else ()
    with packets_on_one_core(name, case.packets), programs(busy, one_session=case.one_session):
        launch(name, MPI, placement, command, record.parent, case.settings)
    return read_facts(record)


def seen(facts: Record) -> dict[str, float]:
    """Return what the record says of the ranks' cores."""
    assert facts.footer is not None
    uses = core_uses(facts.header, facts.footer)
    switches = prove(facts.header, facts.footer).involuntary_switches or 0
    return {
        "ranks_per_core": max(len(use.ranks) / len(use.cores) for use in uses),
        "others": max(use.others for use in uses),
        "switches_per_s": switches / run_seconds(facts.header, facts.footer),
    }


@contextmanager
def packets_on_one_core(name: str, wanted: bool) -> Iterator[None]:
    """Let the first core handle all packets that host a receives, the second those of host b."""
    if wanted:
        steer(name, {"a": "1", "b": "2"})
    try:
        yield
    finally:
        if wanted:
            steer(name, {"a": "0", "b": "0"})


def steer(name: str, masks: dict[str, str]) -> None:
    """Set the cores that handle received packets, as a mask for each host; 0: the sender's."""
    for host, mask in masks.items():
        near = f"for d in /sys/class/net/{host}[0-9_]*/queues/rx-0/rps_cpus"
        inside(name, f"{near}; do echo {mask} > $d; done")
        for node in (f"{host}1", f"{host}2"):
            inside(name, f"echo {mask} > /sys/class/net/eth0/queues/rx-0/rps_cpus", node)


def inside(name: str, script: str, node: str | None = None) -> None:
    """Run a shell script on the controller of the testbed, which has all switches, or on a node."""
    where = ["--node", node] if node else []
    words = [BIN / "testbed", "exec", "--name", name, *where, "--", "sh", "-c", script]
    subprocess.run(words, check=True)


@contextmanager
def programs(cores: tuple[int, ...], *, one_session: bool) -> Iterator[None]:
    """Keep cores busy with a program each, of this session or each of its own."""
    loop = ["sh", "-c", "while :; do :; done"]
    busy = [
        subprocess.Popen(["taskset", "-c", str(core), *loop], start_new_session=not one_session)
        for core in cores
    ]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def table(measured: pd.DataFrame) -> str:
    """Half round trips of each case, their ratio, and what the records of one host show."""
    lines = [
        "| changed | one host: Send | Ssend | two hosts: Send | Ssend | ratio: Send | Ssend"
        " | ranks a core | other work | taken off a second | finding |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|",
    ]
    for name, case in measured.groupby("case", sort=False):
        medians = case.groupby(["placement", "mode"])["time_us"].median()
        near = case[case["placement"] == ONE_HOST]
        cells = [str(name)]
        cells += [
            significant(float(medians[placement, mode]))
            for placement in (ONE_HOST, TWO_HOSTS)
            for mode in MODES
        ]
        for mode in MODES:
            slower, low, high = ratio(case, mode)
            cells.append(f"{slower:.2f} [{low:.2f}, {high:.2f}]")
        cells.append(f"{near['ranks_per_core'].median():.0f}")
        cells.append(f"{near['others'].median():.0%}")
        cells.append(f"{near['switches_per_s'].median():,.0f}")
        cells.append(named(case))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def section(measured: pd.DataFrame, block_us: int) -> str:
    """The section of the page on study 001."""
    rank = measured["facts"].iloc[0].header["ranks"][0]
    return (
        "## Two nodes of one host, slower than two hosts\n\nIn the study, 8 B take 152 us between"
        " two nodes of one host and 102 us between two hosts, at all times of day, and it cannot"
        " say why. Its nodes are virtual machines: those of one host share its cores. Here one"
        f" thing is changed at a time, with {measured['launch'].nunique()} launches of each case in"
        " turn; half round trips of 8 B in microseconds, means over blocks of"
        f" {block_us / 1000:g} ms, because the study takes means too"
        f" ({MPI_NAME}; {rank['cpu_model']}, {rank['cores_online']} cores;"
        " medians of the launches, ratios with their 95 % interval; the last four columns are what"
        f" the records of one host show):\n\n{table(measured)}\n\n"
        f"{beside_study(measured)}\n\n"
        "What decides is the share of each core that other work gets. A program beside each rank"
        " takes half of both cores, and one host is slower by about the study's factors; on"
        " another host of this kind (29 November 2026, noon) by 1.49 [1.16, 1.53] and 1.19 [0.96,"
        " 1.68]. Two programs of one session get a third of each core, because Linux divides cores"
        " among sessions first (`sched_autogroup_enabled`), and then one host is faster. Whether"
        " the study's host had such work is not known.\n\n"
        "To recognise it in your own runs: `switchpoint detect` reports a `placement_inversion`,"
        " and names `shared core` or `other work` as its origin if the records show one. In a"
        " record, compare `cpus_allowed` of ranks with the same `boot_id`, and `cores_busy_us` of"
        " a rank's cores with its own `cpu_time_us`; inside virtual machines `steal_ticks` counts"
        " what the host took away.\n"
    )


def beside_study(measured: pd.DataFrame) -> str:
    """Say which cases make one host slower, and which of them do so by as much as in the study."""
    cases = [str(name) for name in measured["case"].unique()]
    turned = [name for name in cases if all(_ratio(measured, name, mode)[1] > 1 for mode in MODES)]
    words = [f"Nodes of one host become slower than two hosts by: {_listed(turned)}."]
    for mode in MODES:
        study = STUDY_RATIOS[mode]
        fitting = [
            name
            for name in cases
            if _ratio(measured, name, mode)[1] <= study <= _ratio(measured, name, mode)[2]
        ]
        words.append(
            f"The study's factor for {mode.capitalize()} is {study:.2f}; it lies in the interval"
            f" of: {_listed(fitting)}."
        )
    return " ".join(words)


def _ratio(measured: pd.DataFrame, case: str, mode: str) -> tuple[float, float, float]:
    return ratio(measured[measured["case"] == case], mode)


def _listed(cases: list[str]) -> str:
    return ", ".join(f"*{name}*" for name in cases) or "none of these"


def ratio(case: pd.DataFrame, mode: str) -> tuple[float, float, float]:
    """Return the time of one host over that of two hosts, and its 95 % interval."""
    times = case[case["mode"] == mode].pivot_table(
        index="launch", columns="placement", values="time_us"
    )
    return median_ratio(times[ONE_HOST], times[TWO_HOSTS])


def named(case: pd.DataFrame) -> str:
    """Return the cause that a `placement_inversion` between these runs would name, if any."""
    pairs = case.pivot_table(index="launch", columns="placement", values="facts", aggfunc="first")
    guesses = [
        slower_because((near.header, near.footer), (far.header, far.footer))
        for near, far in zip(pairs[ONE_HOST], pairs[TWO_HOSTS], strict=True)
    ]
    words = sorted({guess["guess"].replace("_", " ") for guess in guesses if guess})
    return ", ".join(words) or "-"


if __name__ == "__main__":
    options = parser(__doc__)
    add_count(options, "launches", 7)
    options.add_argument("--block-time", type=count, default=100_000, metavar="US")
    given = options.parse_args()
    print(section(measure(given.launches, given.block_time), given.block_time))
