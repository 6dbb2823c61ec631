"""What all pages of the report share: offline, accessible, narrow, dark, safe and linked."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from analysis.synthetic_nights import add_nights, from_night, in_placement
from axe_core_python.selenium import Axe
from pages_in_browser import opened_page, requests_of
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from switchpoint import (
    Measurements,
    Store,
    accept,
    gate,
    read_files,
    report,
    tune,
    write_tuning,
)
from switchpoint.gating.kept import keep_verdict
from switchpoint.gating.policy import Policy
from switchpoint.reporting.pages.contents import Contents
from switchpoint.reporting.pages.history import history
from switchpoint.reporting.pages.overview import overview

RECORDS = Path(__file__).parents[1] / "analysis" / "records"
NAMES = (
    "openmpi-network-limit-65536",
    "openmpi-memory-limit-4096",
    "mpich-memory",
    "openmpi-mergesort-two-nodes",
)

#: Each would run, reorder the page or stretch it, if it were not treated as text.
HOSTILE = (
    "<script>document.title='broken'</script>",
    "\u0645\u0648\u0642\u0639 \u05d0\u05ea\u05e8 \u202e reversed",
    "n" * 500,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a report of runs at two sites, with a kernel that records what its ranks did."""
    scratch = tmp_path_factory.mktemp("pages")
    files = [RECORDS / f"{name}.record.gz" for name in NAMES]
    files.append(at_site("elsewhere", scratch, files[0]))
    write_tuning(tune(races()), scratch / "rules")
    return report_of(files, scratch, rules=[scratch / "rules"])


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a report of runs and rules whose sites, placements and hosts have hostile names."""
    scratch = tmp_path_factory.mktemp("hostile")
    source = RECORDS / f"{NAMES[0]}.record.gz"
    folders = []
    for number, name in enumerate(HOSTILE):
        folders.append(scratch / f"rules-{number}")
        hostile = {"mpi": name, "site": name, "placement": name, "hosts": [name], "notes": [name]}
        write_tuning(tune(races()).model_copy(update=hostile), folders[-1])
    files = [at_site(name, scratch, source) for name in HOSTILE]
    return report_of(files, scratch, rules=folders)


def races() -> Measurements:
    """Read launches of collectives with all of their algorithms."""
    found = read_files([RECORDS / "rules" / "races"]).measurements
    assert found is not None
    return found


def report_of(files: list[Path], scratch: Path, **how: Any) -> Path:
    gathered = read_files(files)
    assert gathered.measurements is not None
    return report(gathered.measurements, scratch / "report", **how).parent


def at_site(name: str, scratch: Path, source: Path) -> Path:
    """Copy a record as if it came from another site, placement and host."""
    header, _, rest = gzip.decompress(source.read_bytes()).decode().partition("\n")
    told = json.loads(header)
    told["labels"] |= {"site": name, "placement": name}
    told["run_id"] = hashlib.sha256(name.encode()).hexdigest()[:32]
    for rank in told["ranks"]:
        rank["host"] = name
    path = scratch / f"{told['run_id']}.record"
    path.write_text(f"{json.dumps(told)}\n{rest}")
    return path


def pages(folder: Path) -> list[Path]:
    """Return one page of each sort."""
    kinds = ("*.html", "kernels/*.html", "runs/*.html", "sites/*.html")
    one = [sorted(folder.glob(kind))[:2] for kind in kinds[1:]]
    return [*sorted(folder.glob(kinds[0])), *(page for some in one for page in some)]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_is_accessible_fits_the_screen_and_asks_only_for_its_own_files(
    browser: webdriver.Chrome, folder: Path, scheme: str
) -> None:
    prefer(browser, scheme)
    for page in pages(folder):
        open_and_check_width(browser, page)
        assert browser.get_log("browser") == [], page
        asked = [url for url in requests_of(browser) if not url.startswith(("data:", "blob:"))]
        assert all(url.startswith(folder.as_uri()) for url in asked), page
        policy = browser.find_element(By.CSS_SELECTOR, "meta[http-equiv]").get_attribute("content")
        assert "default-src 'none'" in policy
        assert "http" not in policy and "*" not in policy
        found = Axe().run(browser)
        told = [(one["id"], one["nodes"][0]["html"][:200]) for one in found["violations"]]
        assert told == [], page
    prefer(browser, "light")


def open_and_check_width(browser: webdriver.Chrome, page: Path) -> None:
    """Open a page on a narrow screen, then widen it: the page is never wider."""
    narrow = {"width": 390, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", narrow)
    opened_page(browser, page)
    wide = "return document.documentElement.scrollWidth"
    assert browser.execute_script(wide) <= narrow["width"], page
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert browser.execute_script(wide) <= 1300, page


def test_the_policy_stops_requests_and_scripts_of_others(
    browser: webdriver.Chrome, folder: Path
) -> None:
    page = opened_page(browser, folder / "index.html")
    stopped = page.execute_async_script(
        "const done = arguments[0], stopped = [];"
        "document.addEventListener('securitypolicyviolation',"
        "  event => stopped.push(event.effectiveDirective));"
        "fetch('http://127.0.0.1:9/').catch(() => 0);"
        "new Image().src = 'http://127.0.0.1:9/';"
        "const script = document.createElement('script'); script.textContent = 'window.ran = 1';"
        "document.body.append(script); setTimeout(() => done([stopped, window.ran]), 500);"
    )

    assert sorted(stopped[0]) == ["connect-src", "img-src", "script-src-elem"]
    assert stopped[1] is None
    browser.get_log("browser")


def test_no_plot_offers_to_send_its_data_away(browser: webdriver.Chrome, folder: Path) -> None:
    page = opened_page(browser, folder / "kernels/pingpong-send.html")

    buttons = page.find_elements(By.CSS_SELECTOR, ".modebar-btn")
    words = [button.get_attribute("data-title") or button.accessible_name for button in buttons]
    assert len(words) == 2 * 3 + 3  # two figures of curves, one of samples
    assert not [word for word in words if "cloud" in word.lower() or "chart studio" in word.lower()]
    assert not page.find_elements(By.CSS_SELECTOR, "a[href^=http]")


def prefer(browser: webdriver.Chrome, scheme: str) -> None:
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)


def test_pages_and_plots_follow_a_dark_preference(browser: webdriver.Chrome, folder: Path) -> None:
    colours = []
    for scheme in ("light", "dark"):
        prefer(browser, scheme)
        page = opened_page(browser, folder / "kernels/pingpong-send.html")
        colours.append(
            page.execute_script(
                "return [getComputedStyle(document.body).backgroundColor,"
                "getComputedStyle(document.querySelector('.xtick text')).fill]"
            )
        )
    prefer(browser, "light")

    assert colours == [
        ["rgb(255, 255, 255)", "rgb(26, 26, 26)"],
        ["rgb(18, 18, 18)", "rgb(232, 232, 232)"],
    ]


def test_legends_never_cover_axes(browser: webdriver.Chrome, folder: Path, hostile: Path) -> None:
    for page in (*folder.glob("kernels/*.html"), *hostile.glob("kernels/*.html")):
        opened_page(browser, page)
        overlaps = browser.execute_script(
            "const box = e => e.getBoundingClientRect();"
            "return [...document.querySelectorAll('.plot')].flatMap(plot => {"
            "  const legend = plot.querySelector('.legend .bg');"
            "  if (!legend) return [];"
            "  return [...plot.querySelectorAll('.xtitle, .xtick text, .ytick text')]"
            "    .filter(e => box(e).bottom > box(legend).top + 1"
            "      && box(e).right > box(legend).left && box(e).left < box(legend).right)"
            "    .map(e => e.textContent)})"
        )
        assert overlaps == [], page


def test_hostile_names_are_text_on_every_page_and_widen_none(
    browser: webdriver.Chrome, hostile: Path
) -> None:
    said = ""
    for page in sorted(hostile.rglob("*.html")):
        open_and_check_width(browser, page)
        assert browser.get_log("browser") == [], page
        assert browser.title != "broken"
        said += browser.find_element(By.TAG_NAME, "main").get_attribute("textContent")
    assert all(name in said for name in HOSTILE[::2])
    assert all(len(path.name) < 120 and path.name.isascii() for path in hostile.rglob("*"))


def test_the_first_stop_of_the_tab_key_skips_to_the_content(
    browser: webdriver.Chrome, folder: Path
) -> None:
    page = opened_page(browser, folder / "runs.html")
    page.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    skip = page.switch_to.active_element

    assert skip.text == "Skip to the content"
    assert skip.is_displayed() and skip.location["x"] >= 0
    skip.send_keys(Keys.ENTER)
    assert page.switch_to.active_element.get_attribute("id") == "main"


def test_every_link_leads_to_a_page_and_a_place_on_it(folder: Path) -> None:
    from html.parser import HTMLParser

    class Links(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.links: list[str] = []
            self.places: list[str] = []

        def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
            told = dict(attributes)
            self.links += [told[name] or "" for name in ("href", "src", "action") if name in told]
            self.places += [told["id"] or ""] if "id" in told else []

    parsed = {}
    for page in folder.rglob("*.html"):
        parser = Links()
        parser.feed(page.read_text())
        parsed[page.resolve()] = parser
    for page, parser in parsed.items():
        assert len(parser.places) == len(set(parser.places)), page
        for link in parser.links:
            path, _, place = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            assert target.is_file(), (page, link)
            assert not place or place in parsed[target].places, (page, link)


def test_a_deep_link_opens_its_place(browser: webdriver.Chrome, folder: Path) -> None:
    page = opened_page(browser, folder / "findings.html")
    link = page.find_element(By.CSS_SELECTOR, "#minor-findings td a").get_attribute("href")
    path, _, anchor = link.partition("#")

    page = opened_page(browser, Path(path.removeprefix("file://")), f"#{anchor}")

    row = page.find_element(By.ID, anchor)
    assert row.is_displayed()
    assert page.execute_script(
        "const box = arguments[0].getBoundingClientRect();"
        "return box.top >= 0 && box.bottom <= innerHeight", row
    )  # fmt: skip


def test_the_csv_of_a_table_is_the_table(browser: webdriver.Chrome, folder: Path) -> None:
    compared = 0
    for name in ("findings.html", "runs.html", "comparison.html", "kernels/pingpong-send.html"):
        page = opened_page(browser, folder / name)
        for sheet in page.find_elements(By.CSS_SELECTOR, ".sheet"):
            link = sheet.find_element(By.CSS_SELECTOR, "a[download]").get_attribute("href")
            text = Path(link.removeprefix("file://")).read_text()
            shown = page.execute_script(
                "return [...arguments[0].querySelectorAll('tr')].map(row => [...row.cells].map("
                "cell => cell.dataset.value === undefined ? cell.textContent"
                " : Number(cell.dataset.value)))", sheet
            )  # fmt: skip
            rows = list(csv.reader(io.StringIO(text)))
            assert rows[0] == shown[0]
            for written, seen in zip(rows[1:], shown[1:], strict=True):
                for one, other in zip(written, seen, strict=True):
                    if isinstance(other, str):
                        assert one.removeprefix("'") == other
                    else:
                        assert float(one) == pytest.approx(other)
                    compared += 1
    assert compared > 100


def test_the_csv_of_a_plot_has_its_points(browser: webdriver.Chrome, folder: Path) -> None:
    page = opened_page(browser, folder / "kernels/pingpong-send.html")
    link = page.find_element(By.CSS_SELECTOR, "figcaption a").get_attribute("href")
    rows = list(csv.DictReader(io.StringIO(Path(link.removeprefix("file://")).read_text())))

    drawn = page.execute_script(
        "return document.querySelector('.plot').data.filter(t => t.mode === 'lines+markers')"
        ".flatMap(t => t.x.map((x, i) => [x, t.y[i]]))"
    )

    written = [(float(row["size_bytes"]), float(row["time_us"])) for row in rows]
    assert sorted(map(tuple, drawn)) == sorted(point for point in written if point[0] > 0)


def test_tables_are_sorted_by_value(browser: webdriver.Chrome, folder: Path) -> None:
    page = opened_page(browser, folder / "kernels/pingpong-send.html")
    sheet = page.find_element(By.ID, "sizes-table-sheet")
    head = next(b for b in sheet.find_elements(By.CLASS_NAME, "sort") if b.text.startswith("64 K"))

    place = [b.text for b in sheet.find_elements(By.CLASS_NAME, "sort")].index(head.text)

    def times() -> list[float]:
        cells = sheet.find_elements(By.CSS_SELECTOR, f"tbody td:nth-child({place + 1})")
        return [float(cell.get_attribute("data-value")) for cell in cells]

    before = times()
    head.click()
    assert head.find_element(By.XPATH, "..").get_attribute("aria-sort") == "ascending"
    assert len(before) > 2 and times() == sorted(before)
    head.click()
    assert times() == sorted(before, reverse=True)


def test_search_finds_curves_and_findings_by_words(browser: webdriver.Chrome, folder: Path) -> None:
    page = opened_page(browser, folder / "index.html")
    box = page.find_element(By.NAME, "q")
    box.send_keys("elsewhere step", Keys.ENTER)
    opened_page(browser, folder / "search.html", f"?q={quote('elsewhere step')}")

    rows = [row.text for row in browser.find_elements(By.CSS_SELECTOR, "#search-table tbody tr")]
    assert rows
    assert all("elsewhere" in row and "step" in row for row in rows)
    browser.find_element(By.CSS_SELECTOR, "#search-table tbody a").click()
    assert "/runs/" in browser.current_url


def few_curves(tmp_path: Path) -> Path:
    """Return a report with one curve: other tables of five rows or fewer have no filter."""
    table = tmp_path / "few.csv"
    table.write_text("size_bytes,time_us\n" + "".join(f"{2**n},{n + 1}\n" for n in range(12)))
    return report_of([table], tmp_path)


def test_the_table_of_the_search_always_has_its_filter(tmp_path: Path) -> None:
    folder = few_curves(tmp_path)

    assert 'class="search"' in (folder / "search.html").read_text()
    assert 'class="search"' not in (folder / "runs.html").read_text()


def test_search_works_in_a_report_of_few_curves(browser: webdriver.Chrome, tmp_path: Path) -> None:
    page = opened_page(browser, few_curves(tmp_path) / "search.html", "?q=curve")

    assert len(page.find_elements(By.CSS_SELECTOR, "#search-table tbody tr")) == 1
    filter_box = page.find_element(By.CSS_SELECTOR, "#search-table-sheet .search")
    assert filter_box.get_attribute("value") == "curve"
    assert page.get_log("browser") == []


def test_at_most_a_dozen_curves_are_visible_and_the_others_can_be_chosen(
    browser: webdriver.Chrome, tmp_path: Path
) -> None:
    source = RECORDS / f"{NAMES[0]}.record.gz"
    many = [at_site(f"site{number}", tmp_path, source) for number in range(15)]
    page = opened_page(browser, report_of(many, tmp_path) / "kernels/pingpong-send.html")

    shown, hidden = page.execute_script(
        "const lines = document.querySelector('.plot').data"
        "  .filter(t => t.mode === 'lines+markers');"
        "return [lines.filter(t => t.visible !== 'legendonly').length,"
        "lines.filter(t => t.visible === 'legendonly').length]"
    )

    assert (shown, hidden) == (12, 3)


def test_a_report_that_did_not_change_is_not_written_again(folder: Path, tmp_path: Path) -> None:
    files = [RECORDS / f"{name}.record.gz" for name in NAMES]
    first = report_of(files, tmp_path)
    before = {path: path.stat().st_mtime_ns for path in first.rglob("*") if path.is_file()}

    report_of(files, tmp_path)
    assert {path: path.stat().st_mtime_ns for path in before} == before

    report_of([*files, at_site("new", tmp_path, files[0])], tmp_path)
    runs = [path for path in before if path.parent.name == "runs"]
    assert len(runs) == len(files)
    assert [path.stat().st_mtime_ns for path in runs] == [before[path] for path in runs]


def test_runs_without_any_curve_have_pages_with_their_provenance(
    browser: webdriver.Chrome, tmp_path: Path
) -> None:
    first = report_of([RECORDS / "explain" / "mpich-tcp-zoom.record.gz"], tmp_path)
    [run] = (first / "runs").glob("*.html")

    page = opened_page(browser, run)

    page.find_element(By.TAG_NAME, "summary").click()
    assert "Path of the payload (proof)" in page.find_element(By.TAG_NAME, "dl").text
    assert not list(first.glob("kernels/*"))


def test_the_first_page_answers_in_three_sentences_and_is_small(
    browser: webdriver.Chrome, folder: Path
) -> None:
    page = opened_page(browser, folder / "index.html")

    sentences = [one.text for one in page.find_elements(By.CLASS_NAME, "answer")]
    assert len(sentences) == 3
    assert sentences[1] == "There is no earlier session of the same curves to compare with."
    assert "highest confidence adds" in sentences[2]
    assert page.find_element(By.CSS_SELECTOR, "svg.ladders").is_displayed()
    loaded = sum((folder / name).stat().st_size for name in ("assets/report.css", "index.html"))
    scripts = page.find_elements(By.CSS_SELECTOR, "script[src]")
    names = [Path(one.get_attribute("src").removeprefix("file://")) for one in scripts]
    assert loaded + sum(name.stat().st_size for name in names) < 300_000


def test_the_history_shows_what_changed_and_what_was_accepted(
    browser: webdriver.Chrome, tmp_path: Path
) -> None:
    store = Store(tmp_path / "store")
    change: Any = from_night(5, in_placement("two_nodes_two_hosts", latency_us=1.3))
    add_nights(store, range(6), change=change)
    finding = gate(store, keep=True).findings["finding_id"].iloc[0]
    accept(store, finding, "the switch was replaced", by="mary", until="2099-01-01")

    first = report(store.latest(), tmp_path / "report", store=store)
    page = opened_page(browser, first.parent / "history.html")

    changes = page.find_element(By.ID, "changes-table").text
    assert "latency of two_nodes_two_hosts" in changes.replace("`", "")
    assert "accepted" in changes
    nights, marks = page.execute_script(
        "const plot = document.querySelector('.plot');"
        "return [plot.data[0].y, plot.layout.annotations.map(a => a.text)]"
    )
    assert len(nights) == 6 and nights[5] > 1.1 > max(nights[:5])
    assert marks == ["change", "accepted"]
    accepted = page.find_element(By.ID, "accepted-table").text
    assert "mary" in accepted and "the switch was replaced" in accepted
    assert browser.get_log("browser") == []
    page = opened_page(browser, first)
    sentence = page.find_elements(By.CLASS_NAME, "answer")[1].text
    assert sentence == "Compared with 5 baseline sessions, nothing became worse."


def test_the_history_shows_what_the_gate_said_and_does_not_judge_again(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    change: Any = from_night(5, in_placement("two_nodes_two_hosts", latency_us=1.3))
    placements, modes = ["two_nodes_two_hosts"], ["send"]
    add_nights(store, range(6), change=change, placements=placements, modes=modes)

    def words_and_sentences() -> tuple[str, list[str]]:
        contents = Contents.of(store.latest(), store=store)
        page = history(contents)
        assert page is not None
        [shown] = contents.verdicts
        return page.answer[0], [*shown.findings["sentence"]]

    assert words_and_sentences()[0].endswith("1 finding, 1 failing.")

    lenient = Policy.model_validate({"minimum_effect": {"latency": 0.5}})
    gate(store, policy=lenient, keep=True)
    assert words_and_sentences()[0].endswith("0 findings, 0 failing.")

    verdict = gate(store)
    gone = verdict.findings.assign(fails=False)
    gone["sentence"] += "; not seen again in 3 more launches"
    keep_verdict(store, replace(verdict, findings=gone))
    words, sentences = words_and_sentences()
    assert words.endswith("1 finding, 0 failing.") and sentences == [*gone["sentence"]]

    gate(store, policy=lenient, keep=True)  # what earlier verdicts said does not count
    assert words_and_sentences()[0].endswith("0 findings, 0 failing.")


def test_the_history_shows_the_verdict_on_each_site(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    slow: Any = from_night(5, in_placement("two_nodes_two_hosts", latency_us=1.3))
    alone: Any = {"placements": ["two_nodes_two_hosts"], "modes": ["send"]}
    add_nights(store, range(6), site="beta", seed=2, change=slow, **alone)
    add_nights(store, range(6), site="alpha", **alone)
    for site in ("beta", "alpha"):
        gate(store, site=site, keep=True)

    contents = Contents.of(store.latest(), store=store)
    page = history(contents)

    assert page is not None
    assert page.answer == [
        "Session night-005 at alpha after 5 baseline sessions: 0 findings, 0 failing.",
        "Session night-005 at beta after 5 baseline sessions: 1 finding, 1 failing.",
    ]
    changes = page.sections[0]
    [row] = changes.tables[0].rows
    assert changes.tables[0].headings[0] == "site" and row.cells[0].text == "beta"
    assert len(changes.plots) == 1
    words = overview(contents).answer[1]
    assert "1 finding of the newest session fails: at beta, latency of" in words
