"""The page of predictions, in a real browser: each picture, or what it would need."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from axe_core_python.selenium import Axe
from pages_in_browser import opened_page, requests_of
from predicted_site import FAR, NEAR, SORT, ping_pong, ring, whole_site, write_run
from selenium import webdriver
from selenium.webdriver.common.by import By
from switchpoint import read_files, report

PAGE = "predictions.html"
SECTIONS = ["against", "timelines", "crossovers", "planes"]


def report_of(files: list[Path], folder: Path) -> Path:
    gathered = read_files(files)
    assert gathered.measurements is not None
    return report(gathered.measurements, folder / "report").parent / PAGE


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the page of a site with all that it needs."""
    folder = tmp_path_factory.mktemp("predictions")
    return report_of(whole_site(folder), folder)


@pytest.fixture
def page(browser: webdriver.Chrome, page_file: Path) -> webdriver.Chrome:
    """The page, which is opened again only after another one."""
    if browser.current_url != page_file.as_uri():
        opened_page(browser, page_file)
    return browser


def plot_of(page: webdriver.Chrome, name: str) -> dict[str, Any]:
    """What Plotly drew into one figure."""
    found: dict[str, Any] = page.execute_script(
        "const plot = document.getElementById(arguments[0]);"
        "return {traces: plot.data, layout: plot.layout,"
        "  drawn: plot.querySelectorAll('.trace, .contourlayer path').length}",
        name,
    )
    return found


def words_of(page: webdriver.Chrome, section: str) -> str:
    """Heading and sentences of a section."""
    return page.find_element(By.XPATH, f"//section[h2[@id='{section}']]").text


def table_of(page: webdriver.Chrome, name: str) -> list[list[str]]:
    page.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
    rows = page.find_elements(By.CSS_SELECTOR, f"#{name} tbody tr")
    return [[cell.text for cell in row.find_elements(By.TAG_NAME, "td")] for row in rows]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_accessible_and_fits_the_screen(
    browser: webdriver.Chrome, page_file: Path, scheme: str
) -> None:
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    narrow = {"width": 390, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", narrow)
    page = opened_page(browser, page_file)

    wide = "return document.documentElement.scrollWidth"
    assert page.execute_script(wide) <= narrow["width"]
    found = [*Axe().run(page)["violations"]]
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert page.execute_script(wide) <= 1300
    found += Axe().run(page)["violations"]
    ink = page.execute_script("return getComputedStyle(document.querySelector('.xtick text')).fill")

    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == []
    assert ink == ("rgb(26, 26, 26)" if scheme == "light" else "rgb(232, 232, 232)")
    assert browser.get_log("browser") == []
    assert all(url.startswith(("file:", "data:", "blob:")) for url in requests_of(browser))


def test_measured_times_are_drawn_over_predicted_ones(page: webdriver.Chrome) -> None:
    drawn = plot_of(page, "predicted-ring-testbed")

    diagonal, points = drawn["traces"]
    assert diagonal["x"] == diagonal["y"]
    assert points["name"].endswith(FAR)
    assert len(points["x"]) == 6  # two modes at three sizes
    assert points["y"] == pytest.approx(points["x"], rel=0.1)
    assert len(points["error_x"]["array"]) == len(points["error_y"]["arrayminus"]) == 6
    assert drawn["layout"]["xaxis"]["type"] == drawn["layout"]["yaxis"]["type"] == "log"
    assert drawn["layout"]["xaxis"]["range"] == drawn["layout"]["yaxis"]["range"]


def test_a_table_has_the_errors_by_kernel_and_map(page: webdriver.Chrome) -> None:
    rows = table_of(page, "errors-table-testbed")

    told = {(row[0], row[3]): row for row in rows}
    assert {("ring", "-"), ("broadcast", "-"), ("mergesort", "AABAABB")} <= set(told)
    assert told["ring", "-"][4:8] == ["6", told["ring", "-"][5], told["ring", "-"][6], "no"]
    assert float(told["ring", "-"][5].removesuffix(" %")) < 5
    assert told["mergesort", "AABAABB"][7] == "yes"  # seven ranks on two cores


def test_the_timeline_of_a_sort_is_predicted_above_the_measured_one(page: webdriver.Chrome) -> None:
    drawn = plot_of(page, "sort-testbed")

    panels = {trace["yaxis"] for trace in drawn["traces"]}
    assert panels == {"y", "y2"}
    assert drawn["layout"]["yaxis"]["domain"][0] > drawn["layout"]["yaxis2"]["domain"][1]
    named = [trace["name"] for trace in drawn["traces"] if trace["showlegend"]]
    assert sorted(named) == ["compute", "receive", "send", "wait"]
    end = drawn["layout"]["xaxis"]["range"][1]
    for trace in drawn["traces"]:
        assert max(a + b for a, b in zip(trace["base"], trace["x"], strict=True)) <= end
    assert "3,200,000 B by map AABAABB" in words_of(page, "timelines-testbed")


@pytest.mark.parametrize("operation", ["broadcast", "exchange"])
def test_a_crossover_map_has_one_algorithm_or_none_in_each_cell(
    page: webdriver.Chrome, operation: str
) -> None:
    section = page.find_element(By.XPATH, "//section[h2[@id='crossovers-testbed']]")
    [name] = [
        plot.get_attribute("id")
        for plot in section.find_elements(By.CLASS_NAME, "plot")
        if plot.get_attribute("id").startswith(operation)
    ]
    drawn = plot_of(page, name)

    groups = {"broadcast": ["2", "4", "8", "16"], "exchange": ["2", "4", "8"]}[operation]
    columns = {"broadcast": 8, "exchange": 6}[operation]
    cells = [
        [row[place] for trace in drawn["traces"] for row in trace["z"]] for place in range(columns)
    ]
    assert all(sum(value is not None for value in column) == len(groups) for column in cells)
    colours = [trace["colorscale"][0][1] for trace in drawn["traces"]]
    assert len(set(colours)) == len(colours)
    letters = {trace["name"][0] for trace in drawn["traces"]}
    assert len(letters) == len(colours)
    rows = table_of(page, f"{name}-table")
    assert {row[0] for row in rows} == {*groups}
    if operation == "broadcast":  # of two ranks all trees are the same
        assert len(drawn["traces"]) > 1
        assert {row[2] for row in rows if row[0] == "2" and row[1] == "64 B"} == {"no difference"}


def test_measured_efficiencies_lie_on_the_planes(page: webdriver.Chrome) -> None:
    section = page.find_element(By.XPATH, "//section[h2[@id='planes-testbed']]")
    name = section.find_element(By.CLASS_NAME, "plot").get_attribute("id")
    drawn = plot_of(page, name)

    planes = [trace for trace in drawn["traces"] if trace["type"] == "contour"]
    points = [trace for trace in drawn["traces"] if trace["type"] == "scatter"]
    assert len(planes) == len(points) == 3
    assert all(0 <= value <= 1 for plane in planes for row in plane["z"] for value in row)
    [row] = [row for row in table_of(page, f"{name}-measured") if row[0] == "10,000"]
    # 2,000 us of work in 1,000 us and two messages of 100 us.
    assert float(row[3]) == pytest.approx(2000 / (2 * 1200), rel=0.03)
    assert float(row[4]) == pytest.approx(2000 / (2 * 1200), rel=0.03)
    assert drawn["drawn"] > 10


def test_simulated_ranks_scale(page: webdriver.Chrome) -> None:
    for kind, work in (("weak", 1.0), ("strong", 4 / 8)):
        time, efficiency = plot_of(page, f"scaling-{kind}")["traces"]
        assert time["x"] == efficiency["x"] == [4, 8]
        expected = work * time["y"][0] / time["y"][1]
        assert efficiency["y"] == pytest.approx([1, expected], rel=1e-4)


def test_without_such_runs_each_picture_says_what_is_missing(
    browser: webdriver.Chrome, tmp_path: Path
) -> None:
    page = opened_page(browser, report_of([ping_pong(tmp_path, NEAR)], tmp_path))

    assert "No kernel that can be predicted was measured" in words_of(page, "against-testbed")
    assert "No merge sort by several ranks" in words_of(page, "timelines-testbed")
    assert "No ping-pong between nodes" in words_of(page, "crossovers-testbed")
    assert "No kernel was simulated" in words_of(page, "scaling")
    assert len(page.find_elements(By.CLASS_NAME, "plot")) == 1  # the planes of one node


@pytest.mark.parametrize(
    ("files", "says"),
    [
        (lambda folder: [ring(folder)], "This report contains no ping-pong of a record"),
        (lambda folder: [tidy(folder)], "This report contains no ping-pong of a record"),
        (lambda folder: [one_size(folder)], "that can be fitted: 1 measured size from"),
    ],
)
def test_a_model_that_cannot_be_fitted_is_one_sentence(
    browser: webdriver.Chrome, tmp_path: Path, files: Any, says: str
) -> None:
    page = opened_page(browser, report_of(files(tmp_path), tmp_path))

    sentences = [one.text for one in page.find_elements(By.CSS_SELECTOR, "section p.quiet")]
    assert len(sentences) == 2  # the other one is of scaling
    assert says in sentences[0]
    assert not page.find_elements(By.CLASS_NAME, "plot")


def tidy(folder: Path) -> Path:
    path = folder / "curves.csv"
    path.write_text("size_bytes,time_us\n1,2.0\n2,2.1\n4,2.2\n")
    return path


def one_size(folder: Path) -> Path:
    return write_run(folder, "pingpong", {("send", 1024): 20.0}, "AB", placement=FAR)


def test_a_sort_without_a_calibration_says_which_run_is_missing(
    browser: webdriver.Chrome, tmp_path: Path
) -> None:
    files = [*(ping_pong(tmp_path, placement) for placement in (NEAR, FAR)), SORT]
    page = opened_page(browser, report_of(files, tmp_path))

    assert "run the check MergeSortAlone" in words_of(page, "timelines-testbed")
    [row] = table_of(page, "errors-table-testbed")
    assert row[4:7] == ["0", "-", "-"]
    assert "run the check MergeSortAlone" in row[8]


def test_a_strange_record_costs_only_its_own_points(
    browser: webdriver.Chrome, tmp_path: Path
) -> None:
    large = {("repeated", 1024): 100.0}
    strange = write_run(tmp_path, "ring", {("alternate", 4): 1e4}, "AB", "--grain=x", placement=FAR)
    files = [
        *whole_site(tmp_path), strange,
        write_run(tmp_path, "broadcast", large, "A" * 128, placement=FAR, ranks="128"),
    ]  # fmt: skip

    page = opened_page(browser, report_of(files, tmp_path))

    assert "t_start" in words_of(page, "planes-testbed")
    [_, points] = plot_of(page, "predicted-broadcast-testbed")["traces"]
    assert len(points["x"]) == 4


def test_runs_without_a_placement_have_a_page(browser: webdriver.Chrome, tmp_path: Path) -> None:
    times = {("send", 1 << bit): 20.0 + 0.002 * (1 << bit) for bit in range(21)}
    files = [
        write_run(tmp_path, "pingpong", times, "AB"),
        write_run(tmp_path, "broadcast", {("repeated", 1024): 22.0}, "AB"),
    ]

    page = opened_page(browser, report_of(files, tmp_path))

    assert "predicted" in words_of(page, "against-testbed")


def test_each_site_has_its_own_pictures_and_hostile_names_are_text(
    browser: webdriver.Chrome, tmp_path: Path
) -> None:
    names = ["<script>document.title='broken'</script>", "%{x}</script><b>&amp;"]
    files = [ping_pong(tmp_path, FAR, site=name, environ=name) for name in names]
    page = opened_page(browser, report_of(files, tmp_path))

    assert browser.get_log("browser") == []
    assert page.title != "broken"
    headings = [heading.text for heading in page.find_elements(By.TAG_NAME, "h2")]
    assert all(any(heading.startswith(name) for heading in headings) for name in names)
    assert len(page.find_elements(By.CLASS_NAME, "plot")) == 2 * 3


def test_few_of_many_sites_are_shown_and_the_others_are_named(
    browser: webdriver.Chrome, tmp_path: Path
) -> None:
    files = [ping_pong(tmp_path, NEAR, site=f"site{number}") for number in range(6)]
    page = opened_page(browser, report_of(files, tmp_path))

    answers = [one.text for one in page.find_elements(By.CLASS_NAME, "answer")]
    assert answers[1] == "These sites are not shown: site4, site5."


def test_of_many_points_a_few_of_each_curve_are_predicted(
    browser: webdriver.Chrome, tmp_path: Path
) -> None:
    modes = ["repeated", "binary", "two_level", "binomial", "pipelined", "scatter_allgather"]
    many = {(mode, 1 << bit): 100.0 for mode in modes for bit in range(16)}
    files = [ping_pong(tmp_path, FAR)]
    files += [
        write_run(tmp_path, "broadcast", many, "ABCD", placement=FAR, turn=str(turn))
        for turn in range(2)
    ]

    page = opened_page(browser, report_of(files, tmp_path))
    [_, points] = plot_of(page, "predicted-broadcast-testbed")["traces"]

    told = [text.split(", ") for text, _ in points["customdata"]]
    assert len(told) == 60
    assert {mode for mode, *_ in told} == set(modes)
    assert {"1 B", "32 KiB"} <= {size for _, size, *_ in told}
