"""Measures the report: time to write it, sizes of its pages, and their loading times in Chromium.

Usage: .venv/bin/python bench/report_speed.py [CURVES]   (default 2,000)
Targets: 2,000 curves in under 60 s on 2 cores; the first page under 300 KB and drawn in under 1 s,
any page under 2 s; a report that did not change is not written again.
"""

from __future__ import annotations

import hashlib
import os
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from arguments import only_count
from selenium import webdriver
from switchpoint import Measurements, detect, report
from switchpoint.tables.columns import RUN_COLUMNS

SIZES = np.unique(np.geomspace(1, 2**22, 70).astype(int))[:64]
REPEATS = 5
MODES = ["send", "ssend", "isend", "stream", "sstream"]
PLACES = ["one_node", "one_node_network", "two_nodes_one_host", "two_nodes_two_hosts"]
MPIS = ["Open MPI 4.1.4", "MPICH 4.0.2"]
SITES = ["alpha", "beta"]


def measurements(curves: int) -> Measurements:
    """Return runs of several modes at two sites, each curve with two steps and 2 % noise."""
    rng = np.random.default_rng(1)
    time_us = (2 + 3e-4 * SIZES) * np.where(SIZES > 60000, 1.4, 1) * np.where(SIZES > 1400, 1.3, 1)
    rows = len(SIZES) * REPEATS
    number = np.arange(curves)
    run = number // len(MODES)
    values = {
        "site": [SITES[n % 2] for n in run],
        "mpi": [MPIS[n // 2 % 2] for n in run],
        "placement": [PLACES[n // 4 % 4] for n in run],
        "kernel": ["pingpong"] * curves,
        "mode": [MODES[n % len(MODES)] for n in number],
        "run_id": [hashlib.sha256(str(n).encode()).hexdigest()[:32] for n in run],
    }
    noise = 1 + rng.normal(0, 0.02, (curves, REPEATS, len(SIZES)))
    samples = pd.DataFrame(
        {name: pd.Categorical(np.repeat(value, rows)) for name, value in values.items()}
        | {
            "size_bytes": np.tile(SIZES, curves * REPEATS),
            "pass": np.tile(np.repeat(np.arange(REPEATS), len(SIZES)), curves),
            "sample": 0,
            "iterations": 1,
            "time_us": (noise * time_us).ravel(),
        }
    )
    runs = pd.DataFrame(values).drop_duplicates("run_id").drop(columns="mode")
    runs = runs.assign(
        format="bench", source="bench", date="2026-01-01", start_utc="2026-01-01T00:00:00Z",
        complete=True,
    ).reindex(columns=RUN_COLUMNS)  # fmt: skip
    return Measurements(samples, runs.astype(object).where(runs.notna(), None))


def browser() -> webdriver.Chrome:
    """Return Debian's Chromium, headless."""
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1300,2000"):
        options.add_argument(argument)
    return webdriver.Chrome(options, webdriver.ChromeService("/usr/bin/chromedriver"))


def loading_ms(driver: webdriver.Chrome, page: Path) -> tuple[float, float]:
    """Return when a page was painted first, and when all of its plots were drawn."""
    driver.get(page.as_uri())
    times = None
    while not times:  # a short page is drawn before the browser has painted it
        time.sleep(0.01)
        times = driver.execute_script(
            "const [painted, drawn] = ['first-contentful-paint', 'drawn'].map("
            "name => performance.getEntriesByName(name)[0]?.startTime);"
            " return painted && drawn && [painted, drawn]"
        )
    painted, drawn = times
    return painted, drawn


def main(curves: int) -> None:
    """Print times and sizes."""
    found = measurements(curves)
    start = time.perf_counter()
    findings = detect(found)
    detected = time.perf_counter() - start
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "report")
        start, spent = time.perf_counter(), time.process_time()
        first = report(found, folder, findings)
        wrote, spent = time.perf_counter() - start, time.process_time() - spent
        files = [path for path in folder.rglob("*") if path.is_file()]
        times = {path: path.stat().st_mtime_ns for path in files}
        start = time.perf_counter()
        report(found, folder, findings)
        again = time.perf_counter() - start
        changed = sum(path.stat().st_mtime_ns != when for path, when in times.items())
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        total = sum(path.stat().st_size for path in files) / 1e6
        print(
            f"{curves:,} curves, {len(found.runs):,} runs, {len(findings):,} findings on"
            f" {len(os.sched_getaffinity(0))} cores: detected in {detected:.1f} s; {len(files):,}"
            f" files ({total:.0f} MB) written in {wrote:.1f} s, of which this process computed"
            f" {spent:.1f} s; again in {again:.1f} s, {changed} files changed; at most"
            f" {most:.0f} MB"
        )
        pages = sorted(folder.rglob("*.html"), key=lambda page: page.stat().st_size)
        largest = [page for page in pages if "runs/" not in str(page)][::-1]
        driver = browser()
        try:
            for page in [first, *(page for page in largest if page != first), pages[0]]:
                painted, drawn = loading_ms(driver, page)
                kilobytes = page.stat().st_size / 1e3
                print(
                    f"{page.relative_to(folder)!s:40} {kilobytes:8.0f} KB, painted after"
                    f" {painted:5.0f} ms, drawn after {drawn:5.0f} ms"
                )
        finally:
            driver.quit()


if __name__ == "__main__":
    main(only_count(__doc__, "curves", 2_000))
