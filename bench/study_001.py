"""Answer study 001 with our own runs: write docs/studies/001.md and its figures.

Reads records of `reframe -t explain` and `reframe -n PingPongNear64K`, from the store or from
FILES. Measures on its own testbed how the kernel's copy affects the curve at 64 KiB, and what
turns the order of placements round. The study's numbers come from its text. Needs Debian's
chromium for the figures.
Usage: ``.venv/bin/python bench/study_001.py [--name NAME] [--launches N] [--docs FOLDER]
[FILES...]``
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
import placement_order
from arguments import count, parser
from on_testbed import ROOT, kernel, launch, testbed
from plotly.offline import get_plotlyjs
from selenium import webdriver
from switchpoint import Store, detect, explain, read_files, summarise
from switchpoint.explanation.notes import note
from switchpoint.records.mpi_environment import mpi_settings
from switchpoint.records.record import read_facts
from switchpoint.records.run_facts import prove
from switchpoint.reporting.figures.curves import draw
from switchpoint.reporting.figures.figure import Figure
from switchpoint.tables.measurements import Measurements
from switchpoint.tables.units import percent, significant

#: Study 001's table: latency in microseconds.
STUDY_US = {
    "one_node": {"send": 0.295, "ssend": 0.583},
    "one_node_network": {"send": 10.867, "ssend": 26.135},
    "two_nodes_one_host": {"send": 151.720, "ssend": 453.183},
    "two_nodes_two_hosts": {"send": 102.250, "ssend": 258.753},
}
LATENCY_BYTES = 8
NEAR = (48 << 10, 80 << 10)
MODES = ["send", "ssend"]

#: A limit of Open MPI for shared memory whose last eager byte is the study's 64 KiB, and a bracket
#: around it that is so narrow that its ends show whether there is a jump.
LIMIT_BYTES, LAST_EAGER_BYTES = (64 << 10) + 56, 64 << 10
BRACKET = (LAST_EAGER_BYTES - 31, LAST_EAGER_BYTES + 32)
COPIES = {"cma": "by the kernel, once", "none": "through a shared buffer, twice"}

INTRODUCTION = """\
# Study {name}: why does the curve switch at 64 KB?

The study (ping-pong with `MPI_Send` and `MPI_Ssend` on four placements, AGH Krakow) saw throughput
jump at exactly 64 KB. It rises through shared memory, falls over the network path of one node, and
does not change between nodes. The study ends: "I cannot say why". These commands wrote this page
on the [testbed](../explanation/testbed.md):

```console
$ make up
$ CHECKS=".venv/bin/reframe -C site-configs/testbed/settings.py -c checks -R -r"
$ $CHECKS -t explain
$ $CHECKS -n PingPongNear64K
$ .venv/bin/switchpoint import output
$ $CHECKS -n 'PingPongZoom.*one_node$' -p openmpi \\
    -S also_search=send:65528-65545,ssend:65528-65545 \\
    -S PingPongZoom.rank_environment=OMPI_MCA_btl_vader_eager_limit:65592
$ $CHECKS -n 'PingPongProof.*one_node$' -p mpich -S step=send:92
$ .venv/bin/switchpoint import output
$ .venv/bin/python bench/study_001.py{arguments}
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
    ours = points.pivot_table(
        index="placement", columns=["mpi", "mode"], values="time_us", observed=True
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


def switch_table(switches: pd.DataFrame) -> str:
    """Every switch that was located to the byte or whose step is large, with its cause."""
    lines = [
        "| MPI | placement | mode | last B | first B | throughput | kind | cause | status |",
        "|---|---|---|---:|---:|---:|---|---|---|",
    ]
    for row in switches.to_dict("records"):
        change = row["magnitude"]
        bandwidth = "-" if pd.isna(change) else percent(1 / (1 + change) - 1)
        lines.append(
            f"| {row['mpi']} | {row['placement']} | {row['mode']} | {row['last_size_bytes']:,} "
            f"| {row['first_size_bytes']:,} | {bandwidth} | {row['kind'].replace('_', ' ')} "
            f"| {row['cause'] or '-'} | {row['status']} |"
        )
    return "\n".join(lines)


def reasons(switches: pd.DataFrame) -> str:
    """Each proved cause and governor in one sentence."""
    proved = switches[switches["status"].isin(["confirmed", "governed"])]
    return "\n".join(
        f"- {row['mpi']}, {row['placement']}, {row['status']}: {row['reason']}."
        for row in proved[proved["mode"] == "send"].to_dict("records")
    )


def jumps_near(measurements: Measurements) -> pd.DataFrame:
    """Every jump near 64 KiB that a bisection located, with the setting that was changed for it."""
    rows = []
    usual = usual_settings(measurements)
    for run in measurements.runs.to_dict("records"):
        header, footer = measurements.facts(run["run_id"])
        for search in (footer or {}).get("switches", []):
            near = (search["first_size_bytes"] or 0) in range(*NEAR)
            if near and search["method"] == "bisection" and search["verdict"] == "exact":
                rows.append(
                    {
                        "MPI": run["mpi"],
                        "placement": run["placement"],
                        "mode": search["mode"],
                        "setting changed": changed_settings(header, usual),
                        "last B": search["last_size_bytes"],
                        "paused": "yes" if search.get("pause_us") else "no",
                        "throughput": 1 / (1 + search["jump"]) - 1,
                    }
                )
    keys = ["MPI", "placement", "mode", "setting changed", "last B", "paused"]
    table = pd.DataFrame(rows, columns=[*keys, "throughput"])
    return table.groupby(keys, as_index=False)["throughput"].median()


def usual_settings(measurements: Measurements) -> dict[tuple[str, str], dict[str, str]]:
    """The fewest settings of any run of an MPI at a placement."""
    fewest: dict[tuple[str, str], dict[str, str]] = {}
    for run in measurements.runs.to_dict("records"):
        header, _ = measurements.facts(run["run_id"])
        settings = mpi_settings(header["mpi"]["environment"])
        key = header["mpi"]["library"], header["labels"]["placement"]
        fewest[key] = min(fewest.get(key, settings), settings, key=len)
    return fewest


def changed_settings(header: dict[str, Any], usual: dict[tuple[str, str], dict[str, str]]) -> str:
    """The settings that a run has and others do not, without Open MPI's prefix; or none."""
    before = usual[header["mpi"]["library"], header["labels"]["placement"]]
    changed = [
        f"{name.removeprefix('OMPI_MCA_')}={value}"
        for name, value in mpi_settings(header["mpi"]["environment"]).items()
        if before.get(name) != value
    ]
    return " ".join(changed) or "none"


def answer(jumps: pd.DataFrame) -> str:
    """What these jumps say about the two of the study."""
    lines = [f"| {' | '.join(jumps.columns)} |", "|---" * len(jumps.columns) + "|"]
    for *words, last, paused, change in jumps.itertuples(index=False):
        lines.append(f"| {' | '.join(words)} | {last:,} | {paused} | {percent(change)} |")
    send = jumps[jumps["mode"] == "send"]
    memory = send[send["placement"] == "one_node"]
    up = memory[memory["throughput"] > 0]
    down = send[(send["placement"] == "one_node_network") & (send["throughput"] < 0)]
    if len(up) and len(down):
        lines.append(
            "\nSo one limit explains both jumps of the study. Where the eager protocol ends at 64"
            " KiB, throughput rises through shared memory and falls over the network path of one"
            " node. Timing shows the jumps. The late receiver shows that the eager protocol ends"
            " there. Changing the setting shows that it is the cause."
        )
    elif len(memory) and len(down):
        lines.append(
            "\nSo one limit explains both jumps of the study: where the eager protocol ends at 64"
            " KiB, throughput changes through shared memory and over the network path of one node."
            " Through shared memory it falls on this machine, and rises in the study. The next"
            " table says why."
        )
    elif len(down):
        lines.append(
            "\nThese runs show a fall over the network path of one node like the study's, and its"
            " cause is proved: the eager protocol over TCP ends at the default limit of 64 KiB less"
            " the header. They show no rise through shared memory, because the default limit there"
            " is much lower; the command with `btl_vader_eager_limit` above moves it to 64 KiB."
        )
    else:
        lines.append("\nThese runs show neither of the study's jumps.")
    return "\n".join(lines)


def between_hosts(near: pd.DataFrame, jumps: pd.DataFrame) -> str:
    """Why the study saw no jump between hosts: the same byte with and without pauses."""
    there = jumps[
        (jumps["placement"] == "two_nodes_two_hosts")
        & (jumps["mode"] == "send")
        & (jumps["setting changed"] == "none")
        & (jumps["paused"] == "yes")
    ]
    lines = []
    for found in there.to_dict("records"):
        curve = near[
            (near["placement"] == found["placement"])
            & (near["mode"] == found["mode"])
            & (near["mpi"] == found["MPI"])
        ].sort_values("size_bytes")
        last = curve[curve["size_bytes"] <= found["last B"]].tail(1)
        first = curve[curve["size_bytes"] > found["last B"]].head(1)
        if last.empty or first.empty:
            continue
        change = float(first["bandwidth_MBps"].iloc[0] / last["bandwidth_MBps"].iloc[0] - 1)
        sides = " to ".join(f"{int(side['size_bytes'].iloc[0]):,}" for side in (last, first))
        lines.append(
            f"- {found['MPI']}: without pauses, throughput changes by {percent(change)} from"
            f" {sides} B; with pauses, by {percent(found['throughput'])} after"
            f" {found['last B']:,} B."
        )
    if not lines:
        return ""
    return (
        "## Between hosts\n\nThe study saw no jump there. The link passes a limited number of bytes"
        " at full speed. A ping-pong soon uses them up and then runs at the link's rate, so the"
        " handshake of the rendezvous is too small to see. The bisection detects this and pauses"
        " before each message, so that the link recovers:\n\n" + "\n".join(lines) + "\n"
    )


def copies(launches: int) -> str:
    """Why shared memory changes at its limit: the same byte with and without one copy."""
    lines = [
        "Why does throughput change through shared memory? Above the limit the kernel copies a"
        " message once, from one process to the other. Up to it the message goes through a buffer"
        " between them, which takes two copies. Which of these is faster depends on the machine:"
        " the kernel has to be entered and to look up the pages of the other process, and two"
        f" copies through a small buffer may stay in the cache. This table has {launches} launches"
        f" of each in turn, with Open MPI's limit at {LIMIT_BYTES:,} B, and with the single copy"
        " allowed or not. In the second row only the handshake of the rendezvous, and the fragments"
        " that it sends, are new above the limit:\n",
        f"| large messages are copied | runs with a jump at {LAST_EAGER_BYTES:,} B | throughput "
        f"from {BRACKET[0]:,} to {BRACKET[1]:,} B or across that jump: median, least, most |",
        "|---|---|---|",
    ]
    with testbed() as name, tempfile.TemporaryDirectory(dir=ROOT) as folder:
        found = [
            (mechanism, search_near_64k(name, mechanism, Path(folder)))
            for _ in range(launches)
            for mechanism in COPIES
        ]
    for mechanism, words in COPIES.items():
        searches = [search for used, search in found if used == mechanism]
        jumps = [search["last_size_bytes"] == LAST_EAGER_BYTES for search in searches]
        jump = pd.Series([search["jump"] for search in searches], dtype=float)
        change = 1 / (1 + jump) - 1
        lines.append(
            f"| {words} (`btl_vader_single_copy_mechanism={mechanism}`) | {sum(jumps)} of "
            f"{len(jumps)} | {', '.join(map(percent, change.quantile([0.5, 0, 1])))} |"
        )
    return "\n".join(lines)


def search_near_64k(name: str, mechanism: str, folder: Path) -> dict[str, Any]:
    """Bisect around 64 KiB through shared memory, with the limit there."""
    record = folder / "zoom.record"
    settings = {
        "OMPI_MCA_btl_vader_eager_limit": str(LIMIT_BYTES),
        "OMPI_MCA_btl_vader_single_copy_mechanism": mechanism,
    }
    words = ["--mode=send", f"--brackets={BRACKET[0]}-{BRACKET[1]}", f"--sizes=1,{BRACKET[1]}"]
    program = kernel("openmpi", "zoom")
    launch(name, "openmpi", "one_node", [program, *words, f"--record={record}"], folder, settings)
    footer = read_facts(record).footer
    assert footer is not None
    return dict(footer["switches"][0])


def order_of_placements(launches: int) -> str:
    """What makes nodes of one host slower than nodes of two: each thing changed by itself."""
    measured = placement_order.measure(launches)
    turned = ", ".join(f"*{name}*" for name in placement_order.turned_round(measured))
    return (
        "## Two nodes of one host, slower than two hosts\n\nIn the study, 8 B take 152 us between"
        " two nodes of one host and 102 us between two hosts, at all times of day, and it cannot"
        " say why. Its nodes are virtual machines: those of one host share its cores. Here one"
        f" thing is changed at a time, with {launches} launches of each case in turn; half round"
        " trips of 8 B in microseconds, means over blocks of 100 ms, because the study takes means"
        f" too ({placement_order.MPI_NAME}; medians of the launches, ratios with their 95 %"
        " interval; the last four columns are what the records of one host show):\n\n"
        f"{placement_order.table(measured)}\n\n"
        f"Nodes of one host become slower than two hosts by: {turned or 'none of these'}.\n\n"
        "To recognise it in your own runs: `switchpoint detect` reports a `placement_inversion`,"
        " and names `shared core` or `other work` as its origin if the records show one. In a"
        " record, compare `cpus_allowed` of ranks with the same `boot_id`, and `cores_busy_us` of"
        " a rank's cores with its own `cpu_time_us`; inside virtual machines `steal_ticks` counts"
        " what the host took away.\n"
    )


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
                "const [data, layout, done] = arguments;"
                "Plotly.toImage({data, layout}, {format: 'svg', width: 1000, height: 460})"
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
    for mode in MODES:
        own = curves[curves["mode"] == mode]
        # One place and kernel: the title of each figure names them, and not each of its curves.
        told = [
            name
            for name in ("site", "partition", "kernel", "mode")
            if name in own and len(own[name].unique()) == 1 and own[name].notna().all()
        ]
        title = ", ".join(own[name].iloc[0] for name in told)
        drawn = draw(f"{title}: ", own, findings[findings["mode"] == mode], told)
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


def main(files: list[str], launches: int, docs: Path, name: str) -> None:
    """Write the page and its figures."""
    measurements = read_files(files).measurements if files else Store().latest()
    assert measurements is not None, "none of the files is a record"
    page, images = docs / f"studies/{name}.md", docs / "images"
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
    jumps = jumps_near(measurements)
    near = curves[curves["run_id"].isin(near_runs) & curves["size_bytes"].between(*NEAR)]
    everywhere = bandwidth_figures(sweeps, noted, f"{name}-all")
    close = bandwidth_figures(near, noted[noted["run_id"].isin(near_runs)], f"{name}-near")
    save(everywhere + close, images)
    others = [
        f"[{one.stem}]({one.name})" for one in sorted(page.parent.glob("001*.md")) if one != page
    ]
    sections = [
        INTRODUCTION.format(name=name, arguments="" if name == "001" else f" --name {name}"),
        f"The same on another machine: {', '.join(others)}.\n" if others else "",
        conditions(measurements),
        "## Latency\n\nHalf a round trip of 8 B in microseconds, medians. The study does not say "
        "which size it used, or whether it divided by two.\n",
        latency_table(sweeps) + "\n",
        "## Throughput\n",
        *map(shown, everywhere),
        "From 48 to 80 KiB with longer blocks (`-n PingPongNear64K`):\n" if near_runs else "",
        *map(shown, close),
        "## The switches, to the byte\n\nThe late receiver proves a *protocol switch*, or changing "
        "its setting does ([how](../reference/findings.md)). The column throughput is its change "
        "at this byte.\n",
        switch_table(switches[large & (switches["status"] != "unknown")]) + "\n",
        "Causes of the switches of `MPI_Send` ([what confirmed and governed mean]"
        "(../explanation/causes.md)):\n",
        reasons(switches) + "\n",
        "## At 64 KB\n\nEvery jump between 48 and 80 KiB that a bisection located to the byte, and "
        "the setting that was changed for it:\n",
        answer(jumps) + "\n",
        copies(launches) + "\n",
        between_hosts(near, jumps),
        order_of_placements(launches),
        "## What remains open\n\n"
        "- The study does not name its MPI library, so we cannot name the setting of its runs.\n"
        "- No setting of the catalogue predicts these steps, which are above 30 % or located to "
        "the byte:\n",
        switch_table(open_ones) + "\n" if len(open_ones) else "(none)\n",
    ]
    page.write_text("\n".join(section for section in sections if section), encoding="utf-8")
    print(page)


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument("files", nargs="*", help="records; without them the store `results`")
    options.add_argument("--name", default="001", help="of the page, for a second machine")
    options.add_argument(
        "--launches", type=count, default=7, help="of each case on its own testbed"
    )
    options.add_argument("--docs", type=Path, default=ROOT / "docs", help="where to write")
    given = options.parse_args()
    main(given.files, given.launches, given.docs, given.name)
