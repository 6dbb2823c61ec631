"""What the report's pages show, in a real browser: every curve, its findings and its provenance.

`test_pages` tests what all pages have in common.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from pages_in_browser import opened_page
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait
from switchpoint import read, read_files, report, summarise

RECORDS = Path(__file__).parents[1] / "analysis" / "records"
NETWORK = RECORDS / "openmpi-network-limit-65536.record.gz"
MEMORY = RECORDS / "openmpi-memory-limit-4096.record.gz"
MPICH = RECORDS / "mpich-memory.record.gz"
SIMULATED = sorted((RECORDS / "simulated").glob("*.record.gz"))
MERGESORT = RECORDS / "openmpi-mergesort-two-nodes.record.gz"
SESSION = Path(__file__).parent / "session"

#: The page of the kernel that most tests measure, and the first page of a run.
KERNEL = "kernels/pingpong-send.html"
RUN = "runs/*.html"

#: What a label may hold: each would run, or break the page, if it were not escaped.
HOSTILE = "</script><script>document.title='broken'</script>&\"'<b>%{x}"


def opened(
    browser: webdriver.Chrome, tmp_path: Path, *files: Path, page: str = "index.html"
) -> webdriver.Chrome:
    """Report on files unless that was done, and open the first page that matches."""
    folder = tmp_path / "report"
    if not folder.exists():
        gathered = read_files(files)
        assert gathered.measurements is not None
        report(gathered.measurements, folder)
    return opened_page(browser, sorted(folder.glob(page))[0])


def relabelled(tmp_path: Path, source: Path, **changes: Any) -> Path:
    """Copy a record with other labels, host name or library and another identity."""
    lines = gzip.decompress(source.read_bytes()).decode().splitlines()
    header = json.loads(lines[0])
    header["labels"] |= changes.get("labels", {})
    header["mpi"]["library"] = changes.get("library", header["mpi"]["library"])
    for rank in header["ranks"]:
        rank["host"] = changes.get("host", rank["host"])
    header["run_id"] = hashlib.sha256(repr(changes).encode()).hexdigest()[:32]
    path = tmp_path / f"{header['run_id']}.record"
    path.write_text("\n".join([json.dumps(header), *lines[1:]]) + "\n")
    return path


def terms_of(browser: webdriver.Chrome, path: Path) -> str:
    """Provenance on the page of a run."""
    page = opened_page(browser, path)
    page.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
    return page.find_element(By.CSS_SELECTOR, "dl").text


def figures(page: webdriver.Chrome) -> list[dict[str, Any]]:
    """What Plotly drew: each figure's traces and axes."""
    return page.execute_script(
        "return [...document.querySelectorAll('.plot')].map(plot => ({"
        "traces: plot.data.map(trace => ({name: trace.name, mode: trace.mode,"
        "  dash: (trace.line || {}).dash, symbol: (trace.marker || {}).symbol,"
        "  colour: (trace.line || {}).color, points: trace.x.length})),"
        "titles: [...plot.querySelectorAll('.xtitle, .ytitle, .x2title')].map(e => e.textContent),"
        "types: [plot.layout.xaxis.type, plot.layout.yaxis.type],"
        "ticks: [...plot.querySelectorAll('.xtick text')].map(e => e.textContent)}))"
    )


def test_every_curve_is_drawn_on_logarithmic_axes_with_units(
    browser: webdriver.Chrome, tmp_path: Path
) -> None:
    drawn = figures(opened(browser, tmp_path, NETWORK, MEMORY, page=KERNEL))

    assert len(drawn) == 3  # the third is of the samples' scatter
    for figure, metric in zip(
        drawn[:2], ("Half round trip / µs", "Bandwidth / (10⁶ B/s)"), strict=True
    ):
        assert set(figure["titles"]) == {"Message size / B", metric}
        assert figure["types"] == ["log", "log"]
        assert {"1 B", "64 B", "4 KiB", "1 MiB"} & set(figure["ticks"])
        curves = [trace for trace in figure["traces"] if trace["mode"] == "lines+markers"]
        assert {trace["name"] for trace in curves} == {"one_node", "one_node_network"}
        assert [trace["points"] for trace in curves] == [64, 64]


def test_placements_are_told_apart_without_colour(
    browser: webdriver.Chrome, tmp_path: Path
) -> None:
    placements = ["one_node", "one_node_network", "two_nodes_one_host", "two_nodes_two_hosts"]
    files = [relabelled(tmp_path, NETWORK, labels={"placement": name}) for name in placements]

    curves = [
        trace
        for trace in figures(opened(browser, tmp_path, *files, page=KERNEL))[0]["traces"]
        if trace["mode"] == "lines+markers"
    ]

    assert sorted(trace["name"] for trace in curves) == placements
    for distinction in ("dash", "symbol", "colour"):
        assert len({trace[distinction] for trace in curves}) == 4


def test_steps_are_marked_on_their_curve_and_listed_with_suspects(
    browser: webdriver.Chrome, tmp_path: Path
) -> None:
    page = opened(browser, tmp_path, NETWORK, page=KERNEL)

    marks = [trace for trace in figures(page)[0]["traces"] if trace["mode"] == "markers"]
    assert len(marks) == 1
    assert "triangle-up" in marks[0]["symbol"]
    row = next(
        row.text
        for row in page.find_elements(By.CSS_SELECTOR, "#findings-table tbody tr")
        if "65,536" in row.text
    )
    assert "52,016" in row
    assert "btl_tcp_eager_limit = 65536" in row
    assert "first rendezvous byte 65481" in row


def test_each_mpi_has_its_own_panel(browser: webdriver.Chrome, tmp_path: Path) -> None:
    ours = relabelled(tmp_path, MEMORY, labels={"site": "local"})

    page = opened(browser, tmp_path, ours, MPICH, page=KERNEL)

    panels = page.execute_script(
        "return document.querySelector('.plot').layout.annotations.map(a => a.text)"
    )
    assert panels == ["<b>MPICH 4.0.2</b>", "<b>Open MPI 4.1.4</b>"]


def test_a_simulated_curve_is_drawn_beside_the_measured_one_with_its_error(
    browser: webdriver.Chrome, tmp_path: Path
) -> None:
    page = opened(browser, tmp_path, *SIMULATED, page="kernels/broadcast-binomial.html")

    (curves,) = page.execute_script(
        "return [...document.querySelectorAll('.plot')].filter(plot => plot.id === 'beside')"
        ".map(plot => plot.data.filter(trace => trace.mode === 'lines+markers')"
        "  .map(trace => [trace.name, trace.x.length]))"
    )
    assert sorted(curves) == [["Open MPI 4.1.4, measured", 8], ["Open MPI 4.1.4, simulated", 8]]
    table = page.find_element(By.ID, "simulated-table")
    headings = [cell.text for cell in table.find_elements(By.CSS_SELECTOR, "th")]
    cells = [cell.text for cell in table.find_elements(By.CSS_SELECTOR, "tbody tr:last-child td")]
    row = dict(zip(headings, cells, strict=True))
    simulated, measured = (
        float(row[f"{name} / µs"].replace(",", "")) for name in ("simulated", "measured")
    )
    assert row["size / B"] == "65,536"
    assert row["error"].endswith(" %")
    assert float(row["error"].removesuffix(" %")) == pytest.approx(
        100 * (measured / simulated - 1), abs=1
    )
    assert page.get_log("browser") == []


def test_a_run_and_the_one_that_runs_it_again_are_drawn_together(
    browser: webdriver.Chrome, tmp_path: Path
) -> None:
    first = json.loads(gzip.decompress(NETWORK.read_bytes()).splitlines()[0])["run_id"]
    labels = {"reproduces": first, "site": "elsewhere"}
    again = relabelled(tmp_path, NETWORK, labels=labels, host="other")

    page = opened(browser, tmp_path, NETWORK, again, page="comparison.html")

    curves = [
        trace["name"]
        for figure in figures(page)
        for trace in figure["traces"]
        if trace["mode"] == "lines+markers"
    ]
    second = again.stem
    assert set(curves) == {f"{first[:8]}, first", f"{second[:8]}, again"}
    rows = [
        row.text
        for row in page.find_elements(By.CSS_SELECTOR, f"#again-{second[:8]}-table tbody tr")
    ]
    assert {row.split()[0] for row in rows} == {"started", "site", "ranks"}
    assert any(row.endswith("elsewhere") for row in rows)
    same = page.find_element(By.TAG_NAME, "main").text
    assert "The same in both: placement, MPI, MPI settings, kernel" in same


def test_provenance_and_proof_of_placement_are_shown(
    browser: webdriver.Chrome, tmp_path: Path
) -> None:
    page = opened(browser, tmp_path, NETWORK, page=RUN)
    page.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")

    facts = page.find_element(By.CSS_SELECTOR, "dl").text

    for fact in (
        "Path of the payload (proof)\nnetwork", "Open MPI v4.1.4", "GNU 12.2.0", "seed 3105243168",
        "rank 0 on", "CPUs 0", "involuntary context switches", "OMPI_MCA_btl=self,tcp", "MPI_Wtime",
    ):  # fmt: skip
        assert fact in facts


def test_what_built_a_run_is_shown(browser: webdriver.Chrome, tmp_path: Path) -> None:
    labels = {"spack_spec": "switchpoint-kernels@main ^openmpi", "spack_hash": "bev6b7zp2kvd"}
    record = relabelled(tmp_path, NETWORK, labels=labels)
    lock = '{"roots": [], "concrete_specs": {}}'
    (tmp_path / "spack.lock").write_text(lock)
    osu = tmp_path / "osu_latency.out"
    osu.write_text(
        '# switchpoint: {"site": "here", "builder": "spack"}\n'
        "# OSU MPI Latency Test v7.4\n# Size       Avg Latency(us)\n8      1.5\n16     1.6\n"
    )

    opened(browser, tmp_path, record, osu)
    first, second = (terms_of(browser, path) for path in (tmp_path / "report/runs").iterdir())
    ours, theirs = (first, second) if "cmake" in first else (second, first)
    digest = hashlib.sha256(lock.encode()).hexdigest()[:32]
    for fact in (*labels.values(), "Builder\ncmake", f"Spack's lock (SHA-256)\n{digest}"):
        assert fact in ours
    for fact in ("Builder\nspack", "OSU Micro-Benchmarks 7.4", "site=here"):
        assert fact in theirs


def test_baselines_lie_beside_ours_with_their_ratio(
    browser: webdriver.Chrome, tmp_path: Path
) -> None:
    labels = {"site": "here", "environ": "openmpi", "placement": "one_node"}
    record = relabelled(tmp_path, MEMORY, labels=labels)
    ours = summarise(read(record)).query("mode == 'send'").set_index("size_bytes")["time_us"]
    heading = "# OSU MPI Latency Test v7.4\n# Size       Avg Latency(us)\n"
    rows = "".join(f"{size}   {2 * ours[size]:.9f}\n" for size in (8, 1024, 65536))
    for placement in ("one_node", "two_nodes_one_host"):  # where we did not measure
        known = json.dumps(labels | {"placement": placement})  # the MPI is known from our run
        osu = tmp_path / f"{placement}.out"
        osu.write_text(f"# switchpoint: {known}\n{heading}{rows}")

    page = opened(browser, tmp_path, record, *tmp_path.glob("*.out"), page="comparison.html")

    assert page.get_log("browser") == []
    drawn = page.execute_script(
        "const plot = document.getElementById('baseline-0'); return [plot.data"
        ".filter(trace => trace.mode === 'lines+markers').map(trace => trace.name),"
        "plot.layout.annotations.map(a => a.text)]"
    )
    assert drawn == [["pingpong", "osu_latency"], ["<b>one_node</b>"]]
    [row] = page.find_elements(By.CSS_SELECTOR, "#ratios-0 tbody tr")
    cells = [cell.text for cell in row.find_elements(By.TAG_NAME, "td")]
    assert cells[:2] == ["one_node", "osu_latency"]
    ratio, low, high = map(float, re.findall(r"[\d.]+", cells[3]))
    assert ratio == pytest.approx(0.5, rel=0.05)
    assert low <= ratio <= high


def test_a_session_of_ours_osu_and_imb_lies_on_one_plot_with_what_built_each(
    browser: webdriver.Chrome, tmp_path: Path
) -> None:
    """What `reframe -S builder=spack -t smoke` left on a testbed for MPICH within one node."""
    page = opened(browser, tmp_path, *sorted(SESSION.rglob("*.*")), page="comparison.html")

    assert page.get_log("browser") == []
    title, panels, curves = page.execute_script(
        "const plot = document.getElementById('baseline-0');"
        "return [document.getElementById('baseline-0-title').textContent,"
        "plot.layout.annotations.map(a => a.text), plot.data"
        ".filter(trace => trace.mode === 'lines+markers').map(trace => trace.name)]"
    )
    assert title == "testbed, MPICH 4.0.2: send and its baselines"
    assert panels == ["<b>one_node</b>"]
    assert curves == ["pingpong", "osu_latency", "imb_pingpong"]
    rows = page.find_elements(By.CSS_SELECTOR, "#ratios-0 tbody tr")
    for row, baseline in zip(rows, ("imb_pingpong", "osu_latency"), strict=True):
        cells = [cell.text for cell in row.find_elements(By.TAG_NAME, "td")]
        assert cells[:2] == ["one_node", baseline]
        for cell in cells[3:]:
            numbers = re.findall(r"\d(?:[\d.]|,(?=\d))*", cell)
            ratio, low, high = (float(number.replace(",", "")) for number in numbers)
            assert low <= ratio <= high
    runs = [terms_of(browser, path) for path in (tmp_path / "report/runs").iterdir()]
    packages = ("switchpoint-kernels", "osu-micro-benchmarks", "intel-mpi-benchmarks")
    for package in packages:
        [facts] = [text for text in runs if f"{package}@" in text]
        [lock] = [path for path in SESSION.rglob("spack.lock") if package in path.read_text()]
        digest = hashlib.sha256(lock.read_bytes()).hexdigest()[:32]
        assert "Builder\nspack" in facts
        assert "^mpich@4.0.2" in facts
        assert json.loads(lock.read_text())["roots"][0]["hash"] in facts
        assert digest in facts


def test_names_from_records_are_shown_as_text_and_never_run(
    browser: webdriver.Chrome, tmp_path: Path
) -> None:
    labels = {"placement": HOSTILE, "site": HOSTILE, "environ": HOSTILE}
    hostile = relabelled(tmp_path, NETWORK, labels=labels, host=HOSTILE, library=HOSTILE)
    plain = relabelled(tmp_path, NETWORK, labels={"placement": "one_node", "site": HOSTILE})

    opened(browser, tmp_path, hostile, plain)
    legends, said = [], ""
    for path in sorted((tmp_path / "report").rglob("*.html")):
        page = opened_page(browser, path)
        page.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert "broken" not in page.title or HOSTILE in page.title  # a site's page has its name
        assert page.get_log("browser") == []
        assert (
            page.execute_script("return document.querySelectorAll('b, script script').length") == 0
        )
        legends += [entry.text for entry in page.find_elements(By.CSS_SELECTOR, ".legendtext")]
        said += page.find_element(By.TAG_NAME, "main").text if path.parent.name == "runs" else ""

    assert HOSTILE in legends
    assert HOSTILE in said


def test_hostile_names_are_text_in_hover_labels_too(
    browser: webdriver.Chrome, tmp_path: Path
) -> None:
    hostile = relabelled(tmp_path, NETWORK, labels={"placement": HOSTILE})
    page = opened(browser, tmp_path, hostile, page=KERNEL)

    page.execute_script(
        "Plotly.Fx.hover(document.querySelector('.plot'), [{curveNumber: 1, pointNumber: 20}])"
    )
    WebDriverWait(page, 10).until(lambda p: p.find_elements(By.CSS_SELECTOR, ".hovertext"))

    hover = page.find_element(By.CSS_SELECTOR, ".hovertext").text
    assert "95 % interval" in hover
    assert "</script>" in page.execute_script(
        "return document.querySelector('.hoverlayer').textContent"
    )


def test_warnings_are_shown(browser: webdriver.Chrome, tmp_path: Path) -> None:
    cut = tmp_path / "cut.record"
    cut.write_bytes(gzip.decompress(NETWORK.read_bytes())[:-9000])

    page = opened(browser, tmp_path, cut)

    assert "truncated" in page.find_element(By.CSS_SELECTOR, ".warning").text
    page = opened(browser, tmp_path, cut, page=RUN)
    assert "Its record is truncated." in page.find_element(By.TAG_NAME, "main").text


def test_a_table_without_any_name_is_drawn(browser: webdriver.Chrome, tmp_path: Path) -> None:
    path = tmp_path / "bare.csv"
    rows = (f"{2**power},{1 + 2**power * 1e-4}" for power in range(20))
    path.write_text("size_bytes,time_us\n0,1\n" + "\n".join(rows) + "\n")

    page = opened(browser, tmp_path, path, page="kernels/*.html")

    assert page.get_log("browser") == []
    assert [trace["points"] for trace in figures(page)[0]["traces"]][-1] == 20  # no place for 0 B
    page = opened(browser, tmp_path, path, page="findings.html")
    assert "There are no findings." in page.find_element(By.TAG_NAME, "main").text


@pytest.mark.parametrize("rows", ["0,1\n", "8,1\n", "8,1\n8,2\n64,2\n"])
def test_the_smallest_tables_still_make_a_page(
    browser: webdriver.Chrome, tmp_path: Path, rows: str
) -> None:
    path = tmp_path / "small.csv"
    path.write_text("size_bytes,time_us\n" + rows)

    assert opened(browser, tmp_path, path).get_log("browser") == []


def test_what_each_rank_did_when_is_drawn_rank_by_rank(
    browser: webdriver.Chrome, tmp_path: Path
) -> None:
    page = opened(browser, tmp_path, MERGESORT, page=RUN)

    (figure,) = page.execute_script(
        "return [...document.querySelectorAll('.plot')]"
        ".filter(plot => plot.id === 'ranks').map(plot => ({"
        "shown: plot.data.filter(trace => trace.visible)"
        "  .map(trace => [trace.name, trace.x.length]),"
        "rows: [...plot.querySelectorAll('.ytick text')].map(e => e.textContent),"
        "menu: plot.layout.updatemenus[0].buttons.map(button => button.label)}))"
    )
    # Seven ranks: the root's, two inner ranks' and four leaves' spans of the first point.
    assert figure["shown"] == [["compute", 7], ["send", 12], ["receive", 12], ["wait", 12]]
    assert sorted(figure["rows"]) == [
        "0 on a1", "1 on a1", "2 on a2", "3 on a1", "4 on a1", "5 on a2", "6 on a2"
    ]  # fmt: skip
    assert len(figure["menu"]) == 5
    assert figure["menu"][0] == "tree, 200,000 B"
    assert page.get_log("browser") == []


def test_launches_that_only_their_run_tells_apart_are_named_by_their_start(
    browser: webdriver.Chrome, tmp_path: Path
) -> None:
    starts = ("2026-11-21T10:00:00Z", "2026-11-22T10:00:00Z", "2026-11-22T10:00:30Z")
    for number, start in enumerate(starts):
        path = tmp_path / f"{number}.csv"
        rows = "".join(f"{2**power},{number + 2**power * 1e-4}\n" for power in range(1, 20))
        path.write_text(f"size_bytes,time_us\n{rows}")
        Path(f"{path}.labels.json").write_text(json.dumps({"site": "here", "start_utc": start}))

    page = opened(browser, tmp_path, *tmp_path.glob("*.csv"), page="kernels/*.html")

    names = {trace["name"] for trace in figures(page)[0]["traces"] if "lines" in trace["mode"]}
    assert {name for name in names if name} == {
        "2026-11-21 10:00", "2026-11-22 10:00:00", "2026-11-22 10:00:30",
    }  # fmt: skip
