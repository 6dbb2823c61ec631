"""Measures what the pages of the five studies need, each on a testbed of its own shape.

Studies 000 to 004 take 11 minutes on an idle machine of two cores. The records are imported
into the store, from which ``switchpoint studies`` writes the pages. Study 003's schedules run on
four nodes with slow links, where the links and not two cores decide. What needs more processors
than the machine has (rings of 8, exchanges of 16, trees of 31) is simulated if SimGrid is there.
Usage: ``.venv/bin/python bench/studies.py [STUDY...] [--store STORE] [--smoke]``
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from arguments import one_of, parser
from on_testbed import (
    BIN,
    PLACEMENTS,
    PMI,
    ROOT,
    kernel,
    run,
    sharing_cores,
    srun_words,
    testbed,
)
from switchpoint.studies.study_000 import FIGURE_10, FIGURE_13, LAYOUTS

#: Nodes of processes 0 to 6, where not all are on one.
MAPS = [*dict.fromkeys(nodes for _, nodes in LAYOUTS if len(set(nodes)) > 1)]

#: T in microseconds: around break-even here, and around the study's.
GRAINS_US = [250, 500, 1000, 2000, 5000, 20_000, 50_000]
STUDY_GRAINS_US = [10_000, 50_000, 200_000, 1_000_000]
SERIAL_GRAIN_US = 20_000
WORDS = "4,4000,40000"

#: For the band of single runs.
LAUNCHES = 5

#: A run ends after this time with what it has, and is left out if it does not.
BUDGET_S, LONGEST_S = 15, 120

FOUR = "four_nodes_four_hosts"
SERVERNET = "two_nodes_servernet"
A_NODE_EACH = "one_rank_per_node"
SCHEDULES = ("shift", "pairwise", "group_shuffle", "synchronous_shuffle")
BEYOND = "simulated"
APPLICATIONS = {"fft": 16 * 256 * 256, "jpeg": 1 << 20, "psrs": 1 << 20,
                "backpropagation": 256 << 10, "voting": 1 << 20}  # fmt: skip

#: Studies 002 and 004: a cable of 0.8 MB/s (5 us a word) that all share, and 1,500 us for each
#: message.
ETHERNET = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="star" prefix="host" suffix="" radical="0-31" speed="10Gf" bw="1GBps" lat="0us"
           bb_bw="800kBps" bb_lat="1500us"/>
</platform>
"""
#: Study 000: two machines of two processors and a cable; one process sorts in about 85 ms.
#: The rates of their memory and of ServerNet are guesses.
TWO_MACHINES = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="machines" routing="Full">
    <host id="host0" speed="0.36Gf" core="2"/><host id="host1" speed="0.36Gf" core="2"/>
    <link id="cable" {cable}/>
    <link id="memory" bandwidth="400MBps" latency="10us" sharing_policy="FATPIPE"/>
    <route src="host0" dst="host1"><link_ctn id="cable"/></route>
    <route src="host0" dst="host0"><link_ctn id="memory"/></route>
    <route src="host1" dst="host1"><link_ctn id="memory"/></route>
  </zone>
</platform>
"""
ETHERNET_CABLE = 'bandwidth="1MBps" latency="300us"'
SERVERNET_CABLE = 'bandwidth="40MBps" latency="20us"'

#: Links of 1 Gbit/s to a switch.
STAR = ETHERNET.replace('bw="1GBps" lat="0us"', 'bw="125MBps" lat="20us"').replace(
    '\n           bb_bw="800kBps" bb_lat="1500us"', ""
)
#: Messages up to 64 KiB are eager: they travel before their receive is posted.
EAGER = [f"--cfg=smpi/{name}:65537" for name in ("async-small-thresh", "send-is-detached-thresh")]
NO_COMPUTING = "--cfg=smpi/simulate-computation:no"


@dataclass(frozen=True)
class Run:
    """One run of a kernel.

    `nodes` are the names of the ranks' nodes. Without them the placement decides; in a simulation,
    the process map does, or each rank has a node.
    """

    kernel: str
    placement: str
    options: list[str]
    ranks: int = 2
    nodes: list[str] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    before: list[str | Path] = field(default_factory=list)


@dataclass(frozen=True)
class Bed:
    """A testbed of a shape, which is a site in the store, and what is measured there."""

    site: str
    shape: str | Path
    runs: list[Run]


@dataclass(frozen=True)
class Simulation:
    """A simulated site: its SimGrid platform, options of SMPI, and what runs there."""

    site: str
    platform: str
    options: list[str]
    runs: list[Run]


def beds(study: str, smoke: bool) -> Iterator[Bed]:
    """Return what a study needs."""
    sorts = ["--mode=tree", "--sizes=200000", *_repeats(5, 2, smoke)]
    if study == "000":
        shapes = (("shared-ethernet", "shared-ethernet", "100K"), ("testbed", "two-hosts", "1M"))
        for site, shape, far in shapes:
            yield Bed(site, shape, [*_ping_pongs(smoke, far), *_sorts(sorts, smoke)])
    elif study == "001":
        yield Bed("testbed", "two-hosts", _ping_pongs(smoke, "1M", "send,ssend,stream,sstream"))
    elif study == "002":
        yield Bed("testbed", "two-hosts", [*_ping_pongs(smoke, "64K", "send"), *_rings(smoke)])
    elif study == "003":
        yield Bed("slow-links", ROOT / "bench/shapes/slow-links.yaml", _exchanges(smoke))
    else:
        yield Bed("testbed", "two-hosts", [*_ping_pongs(smoke, "64K", "send"), *_tools(smoke)])


def _repeats(passes: int, samples: int, smoke: bool) -> list[str]:
    if smoke:
        return ["--passes=3", "--samples=1", "--warmup=0", "--block-time=0", "--pass-time=1"]
    return [f"--passes={passes}", f"--samples={samples}", "--warmup=1", "--pass-time=200"]


def _ping_pongs(smoke: bool, largest: str, modes: str = "send,stream,bistream") -> list[Run]:
    sizes = {"64K": "4,64,1K,4K,16K,40000,64K",
             "100K": "4,64,1K,4K,16K,64K,100000",
             "1M": "8,64,1K,4K,16K,26008,32K,41285,52016,64K,82570,128K,512K,1M",
             }[largest]  # fmt: skip
    options = [f"--mode={modes}", f"--sizes={sizes}", "--window=4", "--block-time=200",
               f"--passes={3 if smoke else 7}", f"--samples={1 if smoke else 6}",
               "--pass-time=10"]  # fmt: skip
    places = ["one_node", "one_node_network", "two_nodes_one_host", "two_nodes_two_hosts"]
    if largest == "100K":  # a message takes 80 ms there
        places = ["one_node", "two_nodes_two_hosts"]
        options += ["--passes=3", "--warmup=1"]
    return [Run("pingpong", place, options) for place in places[:: 3 if smoke else 1]]


def _sorts(options: list[str], smoke: bool) -> list[Run]:
    runs = [
        Run("mergesort", "one_node", options, len(nodes), labels={"process_map": nodes})
        for nodes in ("A", "AAAAAAA")
    ]
    for nodes in MAPS[1::5] if smoke else MAPS:
        names = [{"A": "a1", "B": "b1"}[letter] for letter in nodes]
        runs.append(Run("mergesort", "two_nodes_two_hosts", options, len(nodes), names,
                        {"process_map": nodes}))  # fmt: skip
    return runs


def _rings(smoke: bool) -> list[Run]:
    tasks = [(grain, 0, ranks) for grain in GRAINS_US for ranks in (2, 4)]
    tasks += [(SERIAL_GRAIN_US, serial, ranks) for serial in (1, 20) for ranks in (2, 4)]
    tasks += [(GRAINS_US[0], 0, 2)] * (LAUNCHES - 1)
    return [_ring(*task, smoke=smoke) for task in tasks[:: 6 if smoke else 1]]


def _ring(grain_us: int, serial: int, ranks: int, smoke: bool) -> Run:
    options = ["--mode=alternate,serial", f"--sizes={WORDS}", f"--grain={grain_us}",
               f"--serial={serial}", *_repeats(5, 4, smoke)]  # fmt: skip
    labels = {"grain_us": str(grain_us), "serial_percent": str(serial), "ranks": str(ranks)}
    return Run("ring", "two_nodes_two_hosts", options, ranks, labels=labels)


def _exchanges(smoke: bool) -> list[Run]:
    nodes = ["a1", "b1", "c1", "d1"]
    sizes = "64,1K,64K" if smoke else "64,1K,64K,4M"
    modes = [*SCHEDULES, "group_shuffle_windowed", "synchronous_shuffle_windowed", "library"]
    options = [f"--mode={','.join(modes)}", f"--sizes={sizes}", *_repeats(5, 1, smoke),
               "--warmup=0"]  # fmt: skip
    stream = ["--mode=stream", "--sizes=1M", "--window=16", *_repeats(5, 1, smoke)]
    return [
        Run("pingpong", FOUR, stream, 2, nodes[:2]),
        Run("alltoall", FOUR, options, 4, nodes, {"ranks": "4"}),
    ]


def _tools(smoke: bool) -> list[Run]:
    far = "two_nodes_two_hosts"
    sizes = "1,64K" if smoke else "1,1K,4K,8K,16K,32K,64K"
    echo = [f"--sizes={sizes}", "--passes=5", f"--samples={1 if smoke else 20}", "--block-time=0",
            "--pass-time=500"]  # fmt: skip
    daemons = ROOT / "checks/studies/pvm/with_daemons.sh"
    runs = [Run("echo", far, ["--mode=mpi,sockets,sockets_polling", *echo])]
    if shutil.which("pvmd"):
        runs.append(Run("echo", far, ["--mode=sockets,pvm,pvm_direct", *echo], before=[daemons]))
    tree = [f"--sizes={sizes if smoke else sizes.replace('1K', '256,1K')}",
            *_repeats(5, 3, smoke), "--pass-time=20"]  # fmt: skip
    runs.append(Run("broadcast", far, tree, labels={"ranks": "2"}))
    for name, size in APPLICATIONS.items():
        runs.append(Run(name, far, [f"--sizes={size >> 4 if smoke else size}",
                                    *_repeats(3, 3, smoke)], labels={"ranks": "2"}))  # fmt: skip
    return runs


def measure(bed: Bed, name: str, run_: Run, mpi: str, folder: Path, number: int) -> None:
    """Run a kernel on the testbed `name`, and leave its record in the folder."""
    wanted = PLACEMENTS.placements.get(run_.placement)
    nodes = len(set(run_.nodes)) or (wanted.nodes if wanted else 1)
    words: list[str | Path] = list(srun_words(mpi, nodes, run_.ranks))
    variables = wanted.variables(mpi) if wanted else {"UCX_TLS": "tcp,self"}
    if run_.nodes:
        hosts = folder / "hosts"
        hosts.write_text("".join(f"{node}\n" for node in run_.nodes))
        variables = variables | {"SLURM_HOSTFILE": str(hosts)}
        words = [word for word in words if "per-node" not in str(word)]
        words.append("--distribution=arbitrary")
    elif wanted:
        words += [*wanted.scheduler_options, *wanted.launcher_options]
    if run_.ranks > 2:
        variables = variables | sharing_cores(mpi)
    labels = {"site": bed.site, "partition": "batch", "environ": mpi,
              "placement": run_.placement} | run_.labels  # fmt: skip
    command = [*words, kernel(mpi, run_.kernel), *run_.options, "--quiet",
               f"--time-budget={6 * BUDGET_S if run_.kernel == 'alltoall' else BUDGET_S}",
               *(f"--label={key}={value}" for key, value in labels.items()),
               f"--record={folder / f'{number:04d}-{mpi}.record'}"]  # fmt: skip
    if run_.before:  # a job whose script runs it on the first node
        script = shlex.join(map(str, [*run_.before, *command]))
        asked = [word for word in map(str, words[2:]) if word.startswith("--")]
        command = ["sbatch", "--wait", "--quiet", "--output=job.out", *asked, f"--wrap={script}"]
    try:
        run(name, command, variables, folder, LONGEST_S)
    except TimeoutError as error:  # what a busy machine cannot measure stays open
        print(f"left out: {error}", file=sys.stderr, flush=True)


def simulations(study: str, smoke: bool) -> Iterator[Simulation]:
    """Return what needs more processors than this machine has."""
    few = ["--passes=3", "--samples=1", "--block-time=0", "--warmup=0"]
    far = "two_nodes_two_hosts"
    if study == "000":
        sorts = ["--mode=tree", "--sizes=200000", "--block-time=0", *_repeats(9, 3, smoke)]
        links = ["--mode=send,stream,bistream", "--window=4", "--sizes=4,1K,16K,64K,100000", *few]
        near = Run("pingpong", "one_node", links, nodes=["a1", "a1"])
        runs = [near, Run("pingpong", far, links), *_sorts(sorts, smoke)]
        yield Simulation("two-machines", TWO_MACHINES.format(cable=ETHERNET_CABLE), [], runs)
        runs = [Run("pingpong", SERVERNET, links)]
        runs += [
            Run("mergesort", SERVERNET, sorts, len(nodes), labels={"process_map": nodes})
            for nodes in (FIGURE_10, FIGURE_13)
        ]
        yield Simulation("two-machines", TWO_MACHINES.format(cable=SERVERNET_CABLE), [], runs)
    elif study == "002":
        grains = STUDY_GRAINS_US[: 1 if smoke else None]
        runs = [Run("pingpong", far, ["--mode=send", "--sizes=4,4000,40000"])]
        runs += [_ring(grain, 0, ranks, True) for grain in grains for ranks in (2, 4, 8)]
        yield Simulation("ethernet", ETHERNET, [], [*runs, _ring(grains[-1], 1, 4, True)])
    elif study == "003":
        modes = ",".join(SCHEDULES)
        options = [f"--mode={modes}", f"--sizes={'64,64K' if smoke else '64,1K,64K,1M'}", *few]
        stream = ["--mode=stream", "--sizes=1M", "--window=16", *few]
        runs = [Run("pingpong", A_NODE_EACH, stream)]
        runs += [
            Run("alltoall", A_NODE_EACH, options, ranks, labels={"ranks": str(ranks)})
            for ranks in (4, 8, 16)
        ]
        # What a message costs its sender and its receiver, so that many short ones are not free.
        costs = [f"--cfg=smpi/{name}:0:2e-6:0" for name in ("os", "or")]
        yield Simulation("star", STAR, [NO_COMPUTING, *costs], runs)
    elif study == "004":
        sizes = "--sizes=1,64,256,1K,4K,16K,64K"
        links = ["--mode=send,stream,bistream", "--window=4", f"{sizes},128K,256K", *few]
        tree = ["--mode=repeated,binomial,binary_ack,two_level_ack,library", sizes, *few]
        runs = [Run("pingpong", far, links)]
        runs += [
            Run("broadcast", far, tree, ranks, labels={"ranks": str(ranks)})
            for ranks in (2, 4, 8, 16, 21, 31)
        ]
        extra = [NO_COMPUTING, *EAGER, "--cfg=smpi/coll-selector:ompi"]
        for site, platform in (("star", STAR), ("ethernet", ETHERNET)):
            yield Simulation(site, platform, extra, runs)


def simulate(bed: Simulation, folder: Path) -> None:
    """Run it, and leave the records in the folder."""
    (folder / "platform.xml").write_text(bed.platform)
    for number, run_ in enumerate(bed.runs):
        names = run_.nodes or run_.labels.get("process_map", "")
        nodes = [ord(name[0].upper()) - ord("A") for name in names] or range(run_.ranks)
        (folder / "hosts").write_text("".join(f"host{node}\n" for node in nodes))
        labels = {"site": f"{bed.site}-{BEYOND}", "partition": BEYOND, "environ": "smpi",
                  "placement": run_.placement} | run_.labels  # fmt: skip
        subprocess.run(
            ["smpirun", "-np", str(run_.ranks), "-platform", "platform.xml", "-hostfile", "hosts",
             "--log=root.thres:error", "--cfg=smpi/host-speed:10Gf", "--cfg=smpi/bw-factor:0:1",
             "--cfg=smpi/lat-factor:0:1", "--cfg=network/crosstraffic:0", *bed.options,
             kernel("simgrid", run_.kernel), *run_.options, "--quiet",
             *(f"--label={key}={value}" for key, value in labels.items()),
             f"--record=simulated-{number}.record"],
            check=True, cwd=folder, stdout=subprocess.DEVNULL,
        )  # fmt: skip


def main(studies: list[str], store: str, smoke: bool) -> None:
    """Measure the studies, and import their records into the store."""
    for study in studies:
        start = time.monotonic()
        # The nodes of the testbed see this folder, and not /tmp.
        with tempfile.TemporaryDirectory(dir=ROOT / "build") as scratch:
            folder = Path(scratch)
            for bed in beds(study, smoke):
                with testbed(shape=bed.shape) as name:
                    for mpi in ("openmpi",) if smoke else tuple(PMI):
                        for number, run_ in enumerate(bed.runs):
                            measure(bed, name, run_, mpi, folder, number)
                        _import(folder, store)
            simulated = [*simulations(study, smoke)]
            if simulated and shutil.which("smpirun") is None:
                print(f"study {study}: no simulation: smpirun is missing (libsimgrid-dev)")
                simulated = []
            for more in simulated:
                simulate(more, folder)
                _import(folder, store)
        print(f"study {study}: measured in {time.monotonic() - start:.0f} s", flush=True)


def _import(folder: Path, store: str) -> None:
    records = sorted(folder.glob("*.record"))
    done = subprocess.run(
        [BIN / "switchpoint", "import", "--store", store, *records], stdout=subprocess.DEVNULL
    )
    if done.returncode:
        sys.exit(f"the records in {folder} could not be imported")
    for record in records:
        record.unlink()


if __name__ == "__main__":
    known = ["000", "001", "002", "003", "004"]
    options = parser(__doc__)
    options.add_argument("studies", nargs="*", type=one_of("study", known), metavar="STUDY",
                         help="default: all")  # fmt: skip
    options.add_argument("--store", default="build/studies/store", help="default %(default)s")
    options.add_argument("--smoke", action="store_true", help="as little as possible of each")
    given = options.parse_args()
    main(given.studies or known, given.store, given.smoke)
