"""Answer study 001 with our own runs: write docs/studies/001.md and its figures.

Reads records of `reframe -t explain` and `reframe -n PingPongNear64K`, from the store or from
FILES. Measures on its own testbed which cell and which segment the jumps at 64 KiB follow, with
the MPICH of --ch3. The study's numbers come from its text. Needs Debian's chromium for the
figures.
Usage: ``.venv/bin/python bench/study_001.py [--ch3 FOLDER] [--cells KIB=FOLDER]... [--order FILE]
[--launches N] [--docs FOLDER] [FILES...]``
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
from arguments import count, parser
from on_testbed import BIN, PLACEMENTS, PMI, ROOT, kernel, run, srun_words, testbed
from placement_order import STUDY_US
from plotly.offline import get_plotlyjs
from selenium import webdriver
from switchpoint import Store, claims, detect, explain, read_files, summarise
from switchpoint.explanation.notes import note
from switchpoint.records.record import read_facts
from switchpoint.records.run_facts import prove
from switchpoint.reporting.figures.curves import draw
from switchpoint.reporting.figures.figure import Figure
from switchpoint.tables.measurements import Measurements
from switchpoint.tables.units import percent, significant

LATENCY_BYTES = 8
SWITCH_BYTES = 64 << 10
NEAR = (48 << 10, 80 << 10)
MODES = ["send", "ssend"]

#: MTUs of the loopback interface. Linux's own is 65,536.
MTUS = (65536, 49152, 40000)
#: The setting that moves the end of eager in shared memory away from the end of the cell.
EAGER = "MPIR_CVAR_NEMESIS_SHM_EAGER_MAX_SZ"
#: From how many bytes on glibc copies with the processor's instruction `rep movsb`, as settings of
#: glibc: its default where the processor calls short copies fast (FSRM), others, and never.
REP_MOVSB = "glibc.cpu.x86_rep_movsb_threshold"
REP_MOVSB_FROM = (2112, 2500, 3000)
NEVER = 1 << 28

INTRODUCTION = """\
# Study 001: why does the curve switch at 64 KB?

The study (ping-pong with `MPI_Send` and `MPI_Ssend` on four placements, AGH Krakow) saw throughput
jump at exactly 64 KB. It rises through shared memory, falls over the network path of one node, and
does not change between nodes. The study ends: "I cannot say why".

**In short.** Through shared memory the jump is where a message no longer fits into one cell of the
library, and a cell has 64 KiB. Over the network path of one node it is where a message no longer
fits into one packet of the loopback interface, whose MTU is 64 KiB. Other cells and another MTU
move the jumps, to the byte. Between nodes neither exists.

The study does not name its MPI. Its node file has lines such as `vnode-03...:4`. Open MPI refuses
such a line, and MPICH's launcher takes it. So this page uses an MPICH with the device
`ch3:nemesis`, which was MPICH's default before ch4, beside the two MPIs of Debian.
"""

COMMANDS = """\
## Repeat it

```console
$ apt-get source mpich && cd mpich-4.0.2
$ ./configure --prefix=$HOME/mpich-ch3 --with-device=ch3:nemesis --disable-fortran && make install
$ for k in 32 128; do
>   sed -i "s/^#define MPID_NEM_CELL_LEN .*/#define MPID_NEM_CELL_LEN ($k*1024)/" \\
>     src/mpid/ch3/channels/nemesis/include/mpid_nem_datatypes.h
>   make && mkdir -p $HOME/cell-$k && cp -a lib/.libs/libmpi.so* $HOME/cell-$k
> done
```

Debian's source package needs a `deb-src` line in `/etc/apt/sources.list`. Then, in this project:

```console
$ export SWITCHPOINT_MPIS=$HOME/mpich-ch3
$ make up
$ CHECKS=".venv/bin/reframe -C site-configs/testbed/settings.py -c checks -R -r"
$ $CHECKS -t explain
$ $CHECKS -n PingPongNear64K --reruns=4
$ .venv/bin/switchpoint import output
$ .venv/bin/python bench/placement_order.py 7 >order.md
$ .venv/bin/python bench/study_001.py --ch3 $HOME/mpich-ch3 --order order.md \\
    --cells 32=$HOME/cell-32 --cells 128=$HOME/cell-128
```

The testbed's nodes are namespaces of one machine. The order of the placements and the sizes of the
switches are results. The microseconds are only valid for this machine.
"""


def conditions(measurements: Measurements) -> str:
    """When and on which machine the runs were made, and how much they were disturbed."""
    runs = measurements.runs
    machines, switches = set(), 0
    for run_id in runs["run_id"]:
        header, footer = measurements.facts(run_id)
        rank = header["ranks"][0]
        machines.add(
            f"{rank['cpu_model']}, {rank['cores_online']} cores, Linux {rank['kernel_release']}"
        )
        switches += prove(header, footer).involuntary_switches or 0
    return (
        f"Conditions: {len(runs)} runs from {runs['start_utc'].min()[:16]} to "
        f"{runs['start_utc'].max()[:16]} UTC; {'; '.join(sorted(machines))}; "
        f"{', '.join(sorted(set(runs['mpi'])))}; ranks were taken off their cores {switches:,} "
        "times in total, by the kernel's own threads or by other work.\n"
    )


def latency_table(curves: pd.DataFrame) -> str:
    """The study's table beside ours: half a round trip of 8 B."""
    points = curves[(curves["size_bytes"] == LATENCY_BYTES) & curves["mode"].isin(MODES)]
    ours = points.assign(mpi=points.apply(mpi_of, axis=1)).pivot_table(
        index="placement",
        columns=["mpi", "mode"],
        values="time_us",
        observed=True,
        aggfunc="median",
    )
    libraries = list(dict.fromkeys(ours.columns.get_level_values("mpi")))
    ours = ours.reindex(columns=pd.MultiIndex.from_product([libraries, MODES]))
    head = ["placement", "study: Send", "Ssend", "ratio"]
    for library in libraries:
        head += [f"{library}: Send", "Ssend", "ratio"]
    lines = [f"| {' | '.join(head)} |", f"|---{'|---:' * (len(head) - 1)}|"]
    for placement, study in STUDY_US.items():
        cells = [placement, *_pair(study["send"], study["ssend"])]
        for library in libraries:
            measured = placement in ours.index and ours.loc[placement, library].notna().all()
            cells += _pair(*ours.loc[placement, library][MODES]) if measured else ["-"] * 3
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _pair(send_us: float, ssend_us: float) -> list[str]:
    return [significant(send_us), significant(ssend_us), f"{ssend_us / send_us:.2f}"]


def mpi_of(row: Any) -> str:
    """The MPI of a run or curve, with the environment's name if that says more."""
    usual = {"openmpi", "mpich"}
    environ = row.get("environ")
    return row["mpi"] if environ in usual or pd.isna(environ) else f"{row['mpi']} ({environ})"


def switch_table(switches: pd.DataFrame, with_causes: bool = True) -> str:
    """Switches to the byte and large steps; those that agree at several placements are one row."""
    head = ["MPI", "mode", "last B", "first B", "placement", "throughput"]
    same = ["MPI", "mode", "last_size_bytes", "first_size_bytes"]
    if with_causes:
        head, same = [*head, "kind", "cause", "verdict"], [*same, "kind", "cause", "status"]
    table = switches.assign(MPI=switches.apply(mpi_of, axis=1))
    lines = [f"| {' | '.join(head)} |", f"|---|---|---:|---:{'|---' * (len(head) - 4)}|"]
    for _, group in table.groupby(same, sort=False, dropna=False):
        row = group.iloc[0]
        sizes = [f"{row[name]:,}" for name in ("last_size_bytes", "first_size_bytes")]
        cells = [row["MPI"], row["mode"], *sizes, ", ".join(group["placement"])]
        cells.append(", ".join(map(bandwidth_change, group["magnitude"])))
        if with_causes:
            cells += [row["kind"].replace("_", " "), row["cause"] or "-", row["status"]]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def bandwidth_change(slower: float) -> str:
    """The change of throughput of a change of time."""
    return "-" if pd.isna(slower) else percent(1 / (1 + slower) - 1)


def reasons(switches: pd.DataFrame) -> str:
    """Each proved cause and governor in one sentence, with the placements that it is true of."""
    proved = switches[switches["status"].isin(["confirmed", "governed"])]
    sends = proved[proved["mode"] == "send"]
    table = sends.assign(MPI=sends.apply(mpi_of, axis=1))
    return "\n".join(
        f"- {mpi}, {', '.join(group['placement'])}, {status}: {reason}."
        for (mpi, status, reason), group in table.groupby(["MPI", "status", "reason"], sort=False)
    )


def located(
    name: str, mpi: str, path: str, bytes_: int, settings: dict[str, str]
) -> dict[str, Any]:
    """Search for the end of eager and the jump of MPI_Send near a size on one node, once.

    The jump is that at the end of eager, or if eager does not end there, a jump nearby.
    """
    around = bytes_ - 1024, bytes_ + 512
    options = [
        "--mode=late,send", "--search-time=5000", f"--brackets={around[0]}-{around[1]}",
        f"--sizes=1,{around[1]}",
    ]  # fmt: skip
    family = mpi if mpi in PMI else "mpich"
    variables = PLACEMENTS.placements[path].variables(family) | settings
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
        record = Path(folder) / "zoom.record"
        words = [*srun_words(family, 1, 2), "--nodelist=a1", kernel(mpi, "zoom"), *options]
        run(name, [*words, f"--record={record}"], variables, Path(folder))
        footer = read_facts(record).footer
    assert footer is not None
    probed, *timed = footer["switches"]
    return dict(timed[-1]) | {"last_eager_bytes": probed["last_size_bytes"]}


def rep_movsb_from(size_bytes: int) -> dict[str, str]:
    """Return the variable that lets glibc copy so many bytes and more with `rep movsb`."""
    return {"GLIBC_TUNABLES": f"{REP_MOVSB}={size_bytes}"}


#: How memory is copied, with the settings for it.
COPIES: dict[str, dict[str, str]] = {
    "with `rep movsb` (default)": {},
    "without": rep_movsb_from(NEVER),
}


def jumps_by_cell(mpi: str, cells: dict[int, Path], launches: int) -> pd.DataFrame:
    """Where throughput jumps in shared memory, by the size of the library's cells."""
    rows = []
    with testbed() as name:
        for _ in range(launches):
            for kib, folder in sorted({64: None, **cells}.items()):
                built = {"LD_LIBRARY_PATH": str(folder)} if folder else {}
                for eager, copies in product((-1, 3 * kib * 512), COPIES):
                    settings = built | {EAGER: str(eager)} | COPIES[copies]
                    ends = "with the cell (default)" if eager < 0 else f"after {eager - 1:,} B"
                    found = located(name, mpi, "one_node", kib << 10, settings)
                    rows.append({"cell": kib << 10, "eager": ends, "copies": copies, **found})
    return pd.DataFrame(rows)


def jumps_by_threshold(ch3: str, launches: int) -> pd.DataFrame:
    """Where throughput jumps in shared memory, by the size from which glibc uses `rep movsb`."""
    rows = []
    with testbed() as name:
        for _ in range(launches):
            for (words, mpi), threshold in product(
                {"MPICH ch3": ch3, "MPICH": "mpich", "Open MPI": "openmpi"}.items(), REP_MOVSB_FROM
            ):
                found = located(name, mpi, "one_node", threshold, rep_movsb_from(threshold))
                rows.append({"MPI": words, "rep movsb from": threshold, **found})
    return pd.DataFrame(rows)


def jumps_by_segment(mpi: str, launches: int) -> pd.DataFrame:
    """Where throughput jumps on the network path of one node, by the MTU of the loopback."""
    rows = []
    with testbed() as name:
        for _ in range(launches):
            for mtu in MTUS:
                with loopback_mtu(name, mtu):
                    rows.append({"MTU": mtu, **located(name, mpi, "one_node_network", mtu, {})})
    return pd.DataFrame(rows)


@contextmanager
def loopback_mtu(name: str, mtu: int) -> Iterator[None]:
    """Give the loopback interface of node a1 another MTU."""
    words = [BIN / "testbed", "exec", "--name", name, "--node", "a1", "--", "ip", "link", "set"]
    subprocess.run([*words, "lo", "mtu", str(mtu)], check=True)
    try:
        yield
    finally:
        subprocess.run([*words, "lo", "mtu", str(MTUS[0])], check=True)


def jump_table(searches: pd.DataFrame, keys: list[str], follows: str, *, eager: bool) -> str:
    """A row for each case: what its launches located to the byte, and by how much time jumps there.

    With `eager`, also the last size that was sent eagerly.
    """
    located = ["last B sent eagerly (launches)"] if eager else []
    head = [*keys, *located, "last B before the jump (launches)", f"{follows} less this",
            "throughput: median, least, most"]  # fmt: skip
    lines = [f"| {' | '.join(head)} |", f"|{'---:|' * len(head)}"]
    for case, group in searches.groupby(keys, sort=False):
        exact = group[group["verdict"] == "exact"]
        words = [f"{value:,}" if isinstance(value, int) else str(value) for value in case]
        if eager:
            words.append(_in_launches(group["last_eager_bytes"].dropna(), len(group)))
        words.append(_in_launches(exact["last_size_bytes"], len(group)))
        places = exact["last_size_bytes"].astype(int).value_counts().index
        words.append(", ".join(f"{group[follows].iloc[0] - last:,}" for last in places) or "-")
        change = (1 / (1 + exact["jump"].astype(float)) - 1).quantile([0.5, 0, 1])
        words.append(", ".join(map(percent, change)) if len(exact) else "-")
        lines.append(f"| {' | '.join(words)} |")
    return "\n".join(lines)


def _in_launches(sizes: pd.Series[Any], launches: int) -> str:
    """Each size with the number of launches that found it."""
    counts = sizes.astype(int).value_counts()
    return ", ".join(f"{size:,} ({count} of {launches})" for size, count in counts.items()) or "-"


def causes(mpi: str, cells: dict[int, Path], launches: int) -> str:
    """The two experiments that name the causes of the jumps."""
    by_cell = jump_table(
        jumps_by_cell(mpi, cells, launches), ["cell", "eager", "copies"], "cell", eager=True
    )
    by_threshold = jump_table(
        jumps_by_threshold(mpi, launches), ["MPI", "rep movsb from"], "rep movsb from", eager=False
    )
    by_segment = jump_table(jumps_by_segment(mpi, launches), ["MTU"], "MTU", eager=False)
    return f"""\
## Why at 64 KB: shared memory

ch3:nemesis sends through cells of 64 KiB (`MPID_NEM_CELL_LEN`, a constant of its source). If a
message and its headers fit into one cell, the sender copies all of it into the cell, and then the
receiver copies it out. For a larger message both ranks copy parts of 32 KiB at the same time, which
is faster.

The setting `{EAGER}` moves the end of eager. If it alone were
the cause, the jump would move with it. It does not: a smaller jump stays at 64 KiB, where a message
no longer fits into the one cell that each pair of ranks has for itself. MPICH built with other
cells shows that the size of the cell is the cause of both ({launches} launches of each case, in
turn; the probe of the late receiver finds the last eager byte without measuring a time; `-` is
where it found none below 512 B above the cell, or no jump near the cell):

{by_cell}

Where the jump lies belongs to the library, and how large it is to the machine. glibc copies
{REP_MOVSB_FROM[0]:,} B and more with the instruction `rep movsb` on processors that say it is fast,
up to the size of a cache; the other rows are the same launches without it
(`GLIBC_TUNABLES={REP_MOVSB}`). On another host of the same
kind (AMD EPYC, two cores, 29 November 2026, noon) no launch of 7 rose at 65,392 B with the default,
and all by +134 to +144 % without the instruction. On a third (28 November) it was +260 %
[+256, +274] with the default.

The same instruction is the cause of a step of MPICH ch3 near 2,112 B. Where it is set to begin
elsewhere, the step is there, for as long as the instruction is slower than what it replaces
({launches} launches of each case, in turn; `-`: no step). The other libraries show it on some hosts
only: on that of 29 November, noon, Open MPI had it after 2,112 to 2,113 B, 2,500 B and 3,000 B, in
7, 7 and 6 launches of 7:

{by_threshold}

## Why at 64 KB: the network path of one node

Eager ends at 131,040 B there, so the fall at 64 KiB is no switch of MPI's protocol. A packet of the
loopback interface has at most its MTU, and at most 65,535 B. A message whose headers and bytes are
more needs a second packet. The fall follows the MTU ({launches} launches of each case, in turn):

{by_segment}

So two things are near 64 KB because both have 2^16 B: a cell of the library and a packet of the
kernel. Between nodes the MTU is 1,500 B and no cell is used, so nothing happens at 64 KB. The eager
protocol ends at 131,040 B there, which may be the drop "not at 64 KB" that the study saw.

Open MPI has a third limit at the same place. With `btl_tcp_eager_limit` of 64 KiB eager ends at
65,480 B, 19 B after its messages need a second packet. This limit acts between nodes too, where the
study saw no jump.
"""


def answers(measurements: Measurements) -> str:
    """The study's sentences one by one, as `switchpoint claims` decides them."""
    table = claims(measurements, "001")
    table["place"] = table.apply(mpi_of, axis=1)
    places = list(dict.fromkeys(table["place"]))
    lines = [f"| the study | {' | '.join(places)} |", "|---" * (len(places) + 1) + "|"]
    for text, group in table.groupby("claim", sort=False):
        by_place = {row["place"]: row for row in group.to_dict("records")}
        cells = [answer(by_place[place]) for place in places]
        if len(set(cells)) == 1:
            cells[1:] = ["the same"] * len(cells[1:])
        lines.append(f"| {text} | {' | '.join(cells)} |")
    return "\n".join(lines)


def answer(claim: dict[str, Any]) -> str:
    """A verdict with the figure that decides it."""
    figures = sorted(claim["evidence"], key=lambda one: [False, None, True].index(one["holds"]))
    if not figures:
        return f"{claim['verdict']}: {claim['reason']}"
    value, low, high = (significant(figures[0][name]) for name in ("value", "low", "high"))
    unit = f" {figures[0]['unit']}" if figures[0]["unit"] else ""
    return f"{claim['verdict']}: {figures[0]['what']} is {value} [{low}, {high}]{unit}"


def save(figures: list[tuple[str, Figure]], images: Path) -> None:
    """Draw figures with Plotly in a browser and write them as SVG."""
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu"):
        options.add_argument(argument)
    driver = webdriver.Chrome(options, webdriver.ChromeService("/usr/bin/chromedriver"))
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "figures.html"
        page.write_text(f"<script>{get_plotlyjs()}</script>", encoding="utf-8")
        driver.get(page.as_uri())
        for name, figure in figures:
            driver.set_script_timeout(60)
            url = driver.execute_async_script(
                "const [data, layout, done] = arguments, {height} = layout;"
                "Plotly.toImage({data, layout}, {format: 'svg', width: 1000, height})"
                ".then(done, error => done(String(error)))",
                figure.data,
                figure.layout,
            )
            text = driver.execute_script("return decodeURIComponent(arguments[0])", url)
            (images / f"study-{name}.svg").write_text(text.partition(",")[2], encoding="utf-8")
    driver.quit()


def bandwidth_figures(
    curves: pd.DataFrame, findings: pd.DataFrame, part: str
) -> list[tuple[str, Figure]]:
    """Throughput against size for Send and Ssend, with a panel per MPI."""
    named = []
    curves = curves.assign(mpi=curves.apply(mpi_of, axis=1))
    if len(findings):
        findings = findings.assign(mpi=findings.apply(mpi_of, axis=1))
    for mode in MODES:
        own = curves[curves["mode"] == mode]
        # One place and kernel: the title of each figure names them, and not each of its curves.
        same = [
            name
            for name in ("site", "partition", "kernel", "mode")
            if name in own and len(own[name].unique()) == 1 and own[name].notna().all()
        ]
        title = ", ".join(own[name].iloc[0] for name in same)
        # The panel names the environment too.
        drawn, _ = draw(f"{title}: ", own, findings[findings["mode"] == mode], [*same, "environ"])
        named += [(f"{part}-{mode}", figure) for figure in drawn if "bandwidth" in figure.title]
    return named


def shown(named: tuple[str, Figure]) -> str:
    """Return the line of a page that shows a saved figure."""
    name, figure = named
    return f"![{figure.title}](../images/study-{name}.svg)\n"


def of_check(measurements: Measurements, check: str) -> set[Any]:
    """The runs of a check, selected by their label."""
    labels = measurements.runs["labels"].fillna("")
    return set(measurements.runs.loc[labels.str.contains(f'"check": "{check}"'), "run_id"])


def main(given: argparse.Namespace) -> None:
    """Write the page and its figures."""
    measurements = read_files(given.files).measurements if given.files else Store().latest()
    assert measurements is not None, "none of the files is a record"
    page, images = given.docs / "studies/001.md", given.docs / "images"
    for folder in (page.parent, images):
        folder.mkdir(parents=True, exist_ok=True)
    near_runs = of_check(measurements, "PingPongNear64K")
    runs = measurements.runs
    sweep_runs = set(runs.loc[runs["kernel"] == "pingpong", "run_id"]) - near_runs
    curves = summarise(measurements)
    findings = detect(measurements)
    findings = findings[findings["run_id"].isin(sweep_runs)]
    switches = explain(measurements, findings)
    switches = switches[switches["mode"].isin(MODES)]
    large = switches["exact"] | (switches["magnitude"].abs() >= 0.3)
    open_ones = switches[large & (switches["status"] == "unknown")]
    noted = note(findings, switches)
    sweeps = curves[curves["run_id"].isin(sweep_runs)]
    samples = measurements.samples
    # Without their runs, launches are one curve.
    close_by = samples["run_id"].isin(near_runs) & samples["size_bytes"].between(*NEAR)
    near = summarise(samples[close_by].drop(columns="run_id"))
    everywhere = bandwidth_figures(sweeps, noted, "001-all")
    close = bandwidth_figures(near, noted[:0], "001-near")
    save(everywhere + close, images)
    sections = [
        INTRODUCTION,
        causes(given.ch3, dict(given.cells), given.launches) if given.ch3 else "",
        "## The study's sentences\n",
        answers(measurements) + "\n",
        conditions(measurements),
        "## Latency\n\nHalf a round trip of 8 B in microseconds, medians. The study does not say "
        "which size it used, or whether it divided by two.\n",
        latency_table(sweeps) + "\n",
        "## Throughput\n",
        "Marks are findings of `detect`: triangles are steps, to longer times (up) or shorter ones"
        " (down).\n",
        *map(shown, everywhere),
        "From 48 to 80 KiB with longer blocks (`-n PingPongNear64K`), all launches together:\n"
        if near_runs
        else "",
        *map(shown, close),
        "## The switches, to the byte\n\nEvery switch that a bisection or the late receiver located"
        " to the byte, and every other step of 30 % or more. The column throughput is its change"
        " at this byte, at each placement in turn.\n",
        switch_table(switches[large & (switches["status"] != "unknown")]) + "\n",
        "Causes of the switches of `MPI_Send` ([what confirmed and governed mean]"
        "(../explanation/causes.md)):\n",
        reasons(switches) + "\n",
        given.order.read_text(encoding="utf-8") if given.order else "",
        "## What remains open\n\n"
        "- The study does not name its MPI library. What is said above of MPICH is likely, because "
        "its node file and the places of its two jumps fit, and is not certain: how large the "
        "jumps and the level before them are depends on the machine.\n"
        "- The catalogue names no cause for these steps. One near "
        f"{REP_MOVSB_FROM[0]:,} B in shared memory would be glibc's, see above:\n",
        switch_table(open_ones, with_causes=False) + "\n" if len(open_ones) else "(none)\n",
        COMMANDS,
    ]
    page.write_text("\n".join(section for section in sections if section), encoding="utf-8")
    print(page)


def cell_library(word: str) -> tuple[int, Path]:
    """Read KIB=FOLDER."""
    kib, _, folder = word.partition("=")
    if not (kib.isdecimal() and Path(folder).is_dir()):
        raise argparse.ArgumentTypeError(f"{word}: write KIB=FOLDER of a libmpi.so, as 32=cell-32")
    return int(kib), Path(folder).resolve()


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument("files", nargs="*", help="records; without them the store `results`")
    options.add_argument("--ch3", help="folder of an MPICH with the device ch3:nemesis")
    options.add_argument(
        "--cells", type=cell_library, action="append", default=[], metavar="KIB=FOLDER",
        help="its libmpi.so, built with cells of KIB",
    )  # fmt: skip
    options.add_argument(
        "--launches", type=count, default=7, help="of each case on its own testbed"
    )
    options.add_argument("--order", type=Path, help="what bench/placement_order.py printed")
    options.add_argument("--docs", type=Path, default=ROOT / "docs", help="where to write")
    main(options.parse_args())
