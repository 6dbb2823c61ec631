"""The browser of the report's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pages_in_browser import chromium
from selenium import webdriver


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    """Return Chromium, 1300 pixels wide."""
    with chromium() as driver:
        yield driver
