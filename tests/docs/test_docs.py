"""The documentation's site: every link leads somewhere, nothing is loaded from elsewhere."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import typer.main
from report.pages_in_browser import chromium, requests_of
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait
from switchpoint.cli.command import app

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("docs/**/*.md"), ROOT / "README.md"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site; the build is strict."""
    folder = tmp_path_factory.mktemp("docs") / "site"
    done = subprocess.run(
        [Path(sys.executable).with_name("mkdocs"), "build", "--strict", "--site-dir", folder],
        cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


class Page(HTMLParser):
    """The links and places of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.places: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Collect what the tag leads to, loads and names."""
        told = {name: value or "" for name, value in attributes}
        self.places |= {told["id"]} if "id" in told else set()
        if tag == "a" and "href" in told:
            self.links.append(told["href"])
        elif tag in {"script", "img"} and "src" in told:
            self.loaded.append(told["src"])
        elif tag == "link" and told.get("rel") in {"stylesheet", "icon"}:
            self.loaded.append(told["href"])


@pytest.mark.slow
def test_every_link_leads_to_a_page_and_a_place_on_it(site: Path) -> None:
    pages = {path.resolve(): Page(path) for path in site.rglob("*.html") if path.name != "404.html"}
    assert len(pages) > 30
    for path, page in pages.items():
        for link in page.links:
            if link.startswith(("http:", "https:", "data:")):
                continue
            target, _, place = unquote(link).partition("#")
            there = (path.parent / target).resolve() if target else path
            assert there.is_file(), (path, link)
            assert not place or place in pages[there].places, (path, link)


@pytest.mark.slow
def test_pages_load_only_files_of_the_site(site: Path) -> None:
    for path in site.rglob("*.html"):
        for link in Page(path).loaded:
            if not link.startswith("data:") and path.name != "404.html":
                assert (path.parent / unquote(link).partition("?")[0]).is_file(), (path, link)


@pytest.mark.slow
def test_pages_from_the_code_name_what_the_code_has(site: Path) -> None:
    folder = site / "reference"
    for page, words in {
        "options": ["switchpoint detect", "switchpoint model fit", "--switches"],
        "functions": ["half a round trip at", "share_of_link"],
        "columns": ["size_bytes", "last_size_before"],
        "findings": ["last_size_before", "slope_change", "other_work"],
        "gate": ["runs are truncated, or curves have fewer launches"],
        "models": ["eager_known_from", "scatter_allgather_ring", "send_window"],
        "placements": ["The path that the bytes must take"],
        "testbed": ["uplink.burst", "powers of 1024"],
        "kernels": [
            "what one message between two ranks costs",
            "like send, with MPI_Ssend, which always waits for the receiver",
            "PingPongSweep",
            "study-001",
            "step_limit_s",
        ],
        "catalogue": ["btl_tcp_eager_limit", "UCX_RNDV_THRESH"],
    }.items():
        text = (folder / f"{page}.html").read_text(encoding="utf-8")
        assert [word for word in words if word not in text] == [], page


@pytest.mark.browser
def test_a_page_opened_as_a_file_is_searched_without_any_server(site: Path) -> None:
    with chromium() as browser:
        browser.get((site / "index.html").as_uri())
        field = browser.find_element(By.CSS_SELECTOR, "input[data-md-component=search-query]")
        browser.execute_script("arguments[0].focus()", field)
        field.send_keys("rendezvous")
        found = WebDriverWait(browser, 30).until(
            lambda page: page.find_elements(By.CSS_SELECTOR, ".md-search-result__link")
        )
        asked = [url for url in requests_of(browser) if not url.startswith(("data:", "blob:"))]
        problems = [one for one in browser.get_log("browser") if one["level"] == "SEVERE"]

    assert found
    assert all(url.startswith((site.as_uri(), "about:", "chrome")) for url in asked), asked
    assert problems == []


@pytest.mark.browser
def test_the_copy_button_leaves_prompts_and_output_out(site: Path) -> None:
    with chromium() as browser:
        browser.get((site / "tutorial/first-run.html").as_uri())
        copied = browser.execute_script(
            "return [...document.querySelectorAll('.highlight code')].map(code => {"
            " code.setAttribute('data-md-copying', ''); return code.innerText; })"
        )
        shown = browser.find_elements(By.CSS_SELECTOR, ".highlight .gp")

    assert shown and copied
    lines = [line for block in copied for line in block.splitlines() if line]
    assert "make run" in lines
    assert not [line for line in lines if line.startswith(("$", "OK ", "== "))]


def typed() -> Iterator[tuple[str, list[str]]]:
    """The commands that the documentation tells to type, with their page."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8").replace("\\\n", " ")
        for block in re.findall(r"^ *```console\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL):
            for line in re.findall(r"^ *\$ (.*)$", block, re.MULTILINE):
                try:
                    words = shlex.split(line.replace('"$(switchpoint checks)"', "x"), comments=True)
                except ValueError:
                    continue  # it continues on the next line
                yield page.name, words


def test_every_command_that_is_told_exists_with_its_options() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    checked = 0
    for page, words in typed():
        if words and words[0] == "make":
            targets = [word for word in words[1:] if "=" not in word and word not in {"&&", "make"}]
            for target in targets:
                assert f"\n{target}:" in makefile or f" {target} " in makefile, (page, words)
        if words and words[0].rpartition("/")[2] == "switchpoint":
            command: Any = typer.main.get_command(app)  # Typer may have a Click of its own
            rest = words[1:]
            while hasattr(command, "commands") and rest and not rest[0].startswith("-"):
                assert rest[0] in command.commands, (page, words)
                command = command.commands[rest.pop(0)]
            known = {name for one in command.params for name in one.opts} | {"--help"}
            used = [word.partition("=")[0] for word in rest if re.match(r"--[a-z]", word)]
            assert [option for option in used if option not in known] == [], (page, words)
            checked += 1
    assert checked > 30
