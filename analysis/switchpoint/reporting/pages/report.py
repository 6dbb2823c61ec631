"""Writes the report: pages that work offline and from files, which people open first."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from switchpoint.cores import workers
from switchpoint.errors import InputError
from switchpoint.reporting.pages.algorithm_maps import algorithm_maps
from switchpoint.reporting.pages.comparisons import comparison
from switchpoint.reporting.pages.contents import Contents
from switchpoint.reporting.pages.history import history
from switchpoint.reporting.pages.kernels import kernel_pages
from switchpoint.reporting.pages.lists import finding_list, search
from switchpoint.reporting.pages.overview import overview
from switchpoint.reporting.pages.page import Page
from switchpoint.reporting.pages.places import site_pages
from switchpoint.reporting.pages.prediction_parts import site_parts
from switchpoint.reporting.pages.predictions import PATH as PREDICTIONS
from switchpoint.reporting.pages.predictions import predictions, site_sections
from switchpoint.reporting.pages.rendering import assets, files_of
from switchpoint.reporting.pages.rules import rules as rules_page
from switchpoint.reporting.pages.runs import RunPart, run_list, run_page, run_parts
from switchpoint.reporting.pages.writing import write_report
from switchpoint.store.store import Store
from switchpoint.tables.measurements import Measurements
from switchpoint.tuning.facts import read_tuning

#: The titles of pages to which every page has a link, if they exist.
_MENU = {
    "index.html": "Overview",
    "findings.html": "Findings",
    "comparison.html": "Comparison",
    "algorithms.html": "Algorithms",
    "rules.html": "Rules",
    PREDICTIONS: "Predictions",
    "history.html": "History",
    "runs.html": "Runs",
    "search.html": "Search",
}

#: Fewer runs are drawn faster than processes start.
_WORTH_A_POOL = 100


def report(
    measurements: Measurements,
    folder: str | os.PathLike[str] = "report",
    findings: pd.DataFrame | None = None,
    store: Store | None = None,
    *,
    rules: Sequence[str | os.PathLike[str]] = (),
    force: bool = False,
) -> Path:
    """Write the pages of a report into a folder. `index.html` is the first.

    Parameters
    ----------
    measurements
        The measurements to report.
    folder
        It is created if it does not exist. Pages of an older report are replaced, those that did
        not change are not written, and those that are no longer needed are removed. Other files
        are never replaced or removed.
    findings
        As from `detect`, which is called if they are not given.
    store
        The store of the measurements: its earlier sessions make the page of the history.
    rules
        Folders with rules of `switchpoint tune`, which get a page.
    force
        Whether the folder may contain other files, although no report was written there.

    Returns
    -------
    Path
        The path of the first page.

    Raises
    ------
    InputError
        If the folder, or the place of a page, contains what no report wrote; if a page cannot be
        written; if a folder of `rules` has none.
    """
    tunings = {os.fspath(place): read_tuning(place) for place in rules}
    contents = Contents.of(measurements, findings, store, tunings)
    target = Path(folder)
    lists = [page for page in _lists(contents) if page is not None]
    existing = {PREDICTIONS, *(page.path for page in lists)}
    menu = [(path, title) for path, title in _MENU.items() if path in existing]
    try:
        write_report(target, _files(contents, lists, menu), force=force)
    except OSError as error:
        raise InputError(
            folder, f"cannot be written ({error.strerror}); choose another folder"
        ) from None
    return target / "index.html"


def _files(
    contents: Contents, lists: list[Page], menu: list[tuple[str, str]]
) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of each file; pages come after those to which they have links."""
    yield from assets()
    with workers(worthwhile=len(contents.runs) >= _WORTH_A_POOL) as apply:
        for files in apply(functools.partial(_files_of_run, menu), run_parts(contents)):
            yield from files
        of_sites = [one for own in apply(site_sections, site_parts(contents)) for one in own]
    yield from files_of(predictions(contents, of_sites), menu)
    for page in (*kernel_pages(contents), *site_pages(contents), *reversed(lists)):
        yield from files_of(page, menu)


def _files_of_run(menu: list[tuple[str, str]], part: RunPart) -> list[tuple[str, bytes]]:
    return files_of(run_page(part), menu)


def _lists(contents: Contents) -> Iterator[Page | None]:
    """Yield the pages to which every page has a link, the first page first."""
    yield overview(contents)
    yield finding_list(contents)
    compared = comparison(contents)
    yield compared if compared.shown else None
    yield algorithm_maps(contents)
    yield rules_page(contents)
    yield history(contents)
    yield run_list(contents)
    yield search(contents)
