"""Tables with more rows than a browser should lay out at once, and plots that are far below."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from axe_core_python.selenium import Axe
from many_curves import write_many_curves
from pages_in_browser import opened_page
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait
from switchpoint import read_files, report

CURVES = 770


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a report of many curves, every seventh with a step."""
    scratch = tmp_path_factory.mktemp("long")
    measurements = read_files([write_many_curves(scratch / "many.csv", CURVES)]).measurements
    assert measurements is not None
    return report(measurements, scratch / "report").parent


def rows_of(browser: webdriver.Chrome, table: str) -> list[str]:
    """The rows that are shown, as text."""
    return browser.execute_script(
        f"return [...document.querySelectorAll('#{table} tbody tr')].map(row => row.innerText)"
    )


def test_a_long_table_shows_its_first_rows_and_the_others_page_by_page(
    browser: webdriver.Chrome, folder: Path
) -> None:
    [path] = folder.glob("kernels/*.html")
    page = opened_page(browser, path)
    first = rows_of(page, "sizes-table")
    more = page.find_element(By.CSS_SELECTOR, "#sizes-table-sheet .more")
    assert (len(first), more.text) == (100, f"{CURVES - 100} more rows")

    more.click()
    assert page.switch_to.active_element.text == "1"
    seen = [*rows_of(page, "sizes-table")]
    for number in range(2, -(-CURVES // 100) + 1):
        page.find_element(By.XPATH, f"//ul[@class='pagination']//button[.='{number}']").click()
        seen += rows_of(page, "sizes-table")

    violations = Axe().run(page)["violations"]
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in violations] == []
    assert seen[:100] == first
    assert len(seen) == len(set(seen)) == CURVES


def test_a_filter_finds_rows_that_were_not_shown(browser: webdriver.Chrome, folder: Path) -> None:
    [path] = folder.glob("kernels/*.html")
    page = opened_page(browser, path)
    last = CURVES - 1
    assert not [row for row in rows_of(page, "sizes-table") if row.startswith(f"{last}\t")]

    page.find_element(By.CSS_SELECTOR, "#sizes-table-sheet .search").send_keys(str(last))
    WebDriverWait(page, 10).until(lambda page: len(rows_of(page, "sizes-table")) < 100)

    assert [row for row in rows_of(page, "sizes-table") if row.startswith(f"{last}\t")]


def test_a_search_looks_through_all_rows(browser: webdriver.Chrome, folder: Path) -> None:
    page = opened_page(browser, folder / "search.html", f"?q={CURVES - 1}")

    rows = rows_of(page, "search-table")

    assert 0 < len(rows) < 100
    assert all(str(CURVES - 1) in row for row in rows)


def test_a_link_to_a_row_opens_the_page_of_its_table(
    browser: webdriver.Chrome, folder: Path
) -> None:
    path = folder / "findings.html"
    [hidden] = re.findall(r"<template>(.*?)</template>", path.read_text(), re.DOTALL)
    anchors = re.findall(r'<tr id="(finding-\w+)"', hidden)

    page = opened_page(browser, path, f"#{anchors[-1]}")

    row = page.find_element(By.ID, anchors[-1])
    assert row.is_displayed()
    assert page.execute_script("return document.querySelector(':target')?.id") == anchors[-1]


def test_plots_below_the_screen_wait_until_they_come_near(
    browser: webdriver.Chrome, folder: Path
) -> None:
    [path] = folder.glob("kernels/*.html")
    browser.set_window_size(1300, 800)
    browser.get(path.as_uri())
    drawn = "return document.querySelectorAll('.plot.js-plotly-plot').length"
    WebDriverWait(browser, 60).until(
        lambda page: page.find_elements(By.CSS_SELECTOR, "[data-drawn]")
    )
    there = len(browser.find_elements(By.CSS_SELECTOR, ".plot"))
    assert 0 < browser.execute_script(drawn) < there

    browser.execute_script("[...document.querySelectorAll('.plot')].at(-1).scrollIntoView()")
    WebDriverWait(browser, 60).until(lambda page: page.execute_script(drawn) == there)
    browser.set_window_size(1300, 2000)
