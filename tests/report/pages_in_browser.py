"""Opens pages of the report in Debian's Chromium, headless."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait


@contextmanager
def chromium() -> Iterator[webdriver.Chrome]:
    """Start Chromium, which keeps a log of its console and of every request."""
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1300,2000"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService("/usr/bin/chromedriver"))
    driver.set_script_timeout(120)
    try:
        yield driver
    finally:
        driver.quit()


def opened_page(browser: webdriver.Chrome, page: Path, rest: str = "") -> webdriver.Chrome:
    """Open a page, with a query or an anchor, and draw all of its plots, as printing does."""
    for kind in ("browser", "performance"):
        browser.get_log(kind)  # forget what earlier pages logged
    if rest.startswith("#"):
        browser.get("about:blank")  # otherwise it would only scroll
    browser.get(page.as_uri() + rest)
    WebDriverWait(browser, 60).until(
        lambda page: page.find_elements(By.CSS_SELECTOR, "[data-drawn]")
    )
    browser.execute_script("dispatchEvent(new Event('beforeprint'))")
    return browser


def requests_of(browser: webdriver.Chrome) -> list[str]:
    """Return the addresses that the page asked for since it was opened."""
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]
