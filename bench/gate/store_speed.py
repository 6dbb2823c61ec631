"""Measures the store: a night of 5,000 curves, ten million samples, and a year of nights.

Usage: .venv/bin/python bench/gate/store_speed.py [night] [samples] [gate[=SESSIONS]]
           [year[=NIGHTS]] [large] (default: all but large)

night    a night of 5,000 curves with three launches each is appended; target 30 s
samples  10 million samples are imported from run records, and searched; target 60 s and 4 GB
gate     two sessions of 5,000 curves are compared with the 30 nights before; target 60 s and 2 GB;
         gate=30 counts what a month of nights in which nothing changes finds: at most one
year     365 nights of few curves in which nothing changes, each judged: files, false failures, and
         whether time and size grow in proportion; writes docs/images/store-growth.svg, but not
         with another number of nights
large    as gate, after a year of nights; takes half an hour and the disk for it
CPU seconds count, because the machine may have other work. Memory is that of all processes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
from switchpoint import Store, gate

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))
from arguments import count, parser
from synthetic import MODES, PASSES, SIZES, Site
from year import Night, files_of, fill

ROOT = Path(__file__).resolve().parents[2]
COMMAND = ROOT / ".venv/bin/switchpoint"
PLOT = ROOT / "docs/images/store-growth.svg"

CURVES = 5000
LAUNCHES = 3
SAMPLES = 10_000_000

#: Few enough for a year in a quarter of an hour; files do not depend on it.
CURVES_OF_A_YEAR = 80
NIGHTS = 365


class Watch:
    """Measures a process and all that it starts, four times a second.

    Attributes
    ----------
    most_mb : float
        The most memory of all together; pages that they share count once (PSS).
    """

    def __init__(self, process: int) -> None:
        self.process = process
        self.most_mb = 0.0
        self._ticks: dict[str, int] = {}
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    @property
    def cpu_seconds(self) -> float:
        """What each process had used when it was last seen."""
        return sum(self._ticks.values()) / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        """Stop watching."""
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.25):
            self._look()

    def _look(self) -> None:
        memory_kb = 0
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                if int(fields[3]) != self.process:  # its session
                    continue
                self._ticks[folder.name] = int(fields[11]) + int(fields[12])
                for line in (folder / "smaps_rollup").read_text().splitlines():
                    memory_kb += int(line.split()[1]) if line.startswith("Pss:") else 0
            except OSError:  # it ended
                continue
        self.most_mb = max(self.most_mb, memory_kb / 1e3)


def measured(*words: object) -> tuple[str, float, float, float]:
    """Run the command; return its output, seconds, CPU seconds and the most memory in MB."""
    start = time.perf_counter()
    with subprocess.Popen(
        [COMMAND, *map(str, words)],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        watch = Watch(process.pid)
        assert process.stdout is not None
        output = process.stdout.read()
        watch.end()
    if process.returncode not in (0, 1):  # 1: the gate found something
        sys.exit(f"switchpoint {' '.join(map(str, words))}: exit code {process.returncode}")
    return output, time.perf_counter() - start, watch.cpu_seconds, watch.most_mb


def night() -> None:
    """Append a night to a store that has some."""
    with scratch() as folder:
        for one in fill(folder / "store", CURVES, 3, LAUNCHES, []):
            print(
                f"night {one.number}: {one.samples:,} samples of {CURVES:,} curves with"
                f" {LAUNCHES} launches stored in {one.seconds:.1f} s,"
                f" {one.cpu_seconds:.1f} s of CPU; store {one.size_bytes / 1e6:.0f} MB",
                flush=True,
            )


def samples() -> None:
    """Import ten million samples from records, and search them."""
    with scratch() as folder:
        records = folder / "records"
        records.mkdir()
        per_night = CURVES * PASSES * len(SIZES)
        passes = -(-SAMPLES // per_night) * PASSES
        count = write_records(records, passes)
        told = f"{count:,} samples of {CURVES:,} curves"
        output, took, cpu, most = measured("import", records, "--store", folder / "store", "--json")
        print(
            f"import of {told}: {took:.1f} s, {cpu:.1f} s of CPU, at most {most:.0f} MB;"
            f" {json.loads(output)['added']:,} runs",
            flush=True,
        )
        output, took, cpu, most = measured("detect", "--store", folder / "store", "--json")
        print(
            f"detect of {told}: {took:.1f} s, {cpu:.1f} s of CPU, at most {most:.0f} MB;"
            f" {len(json.loads(output)['findings']):,} findings",
            flush=True,
        )


def write_records(folder: Path, passes: int) -> int:
    """Write the records of one launch of all curves with so many passes; return the samples."""
    site = Site(CURVES)
    times = np.concatenate(
        [site.times_us(0, launch, []) for launch in range(passes // PASSES)], axis=2
    )
    mode, turn, place = (axis.ravel() for axis in np.indices(times.shape[1:]))
    rows = [
        f"{MODES[one]},{SIZES[size]},{number},0,10,"
        for one, size, number in zip(mode, place, turn, strict=True)
    ]
    header = site.night(0, 1).runs["header"]
    footer = json.loads(site.night(0, 1).runs["footer"].iloc[0])
    end = json.dumps(footer | {"samples": len(rows), "points": []})
    columns = "mode,size_bytes,pass,sample,iterations,time_us"
    for number, text in enumerate(header):
        told = json.loads(text) | {"columns": columns.split(",")}
        values = times[number].ravel()
        body = "\n".join(f"{row}{value:.6f}" for row, value in zip(rows, values, strict=True))
        (folder / f"{number}.record").write_text(f"{json.dumps(told)}\n{columns}\n{body}\n{end}\n")
    return times.size


def judge(sessions: int = 2, before: int = 44) -> None:
    """Compare some sessions with the nights before them; by default these are more than a month."""
    false: dict[str, int] = {}
    with scratch() as folder:
        store = folder / "store"
        for one in fill(store, CURVES, before + sessions, LAUNCHES, []):
            if one.number < before:
                if one.number % 30 == 29:
                    print(
                        f"night {one.number}: {one.files} files, {one.size_bytes / 1e6:,.0f} MB",
                        flush=True,
                    )
                continue
            session = f"night-{one.number:04}"
            told, took, cpu, most = measured("gate", "--store", store, "--session", session)
            print(
                f"{told.splitlines()[-1]}: {took:.1f} s, {cpu:.1f} s of CPU, at most {most:.0f} MB",
                flush=True,
            )
            if failing := sum(line.startswith("FAIL ") for line in told.splitlines()):
                false[session] = failing
    print(
        f"{sessions} sessions in which nothing changed: {sum(false.values())} false findings"
        f" {false or ''}"
    )


def year(count: int = NIGHTS) -> None:
    """Fill a store with nights and judge each of them; count files; draw the growth of a year."""
    with scratch() as folder:
        store, nights, files = folder / "store", [], 0
        failed: list[int] = []
        judging = 0.0
        for one in fill(store, CURVES_OF_A_YEAR, count, LAUNCHES, []):
            nights.append(one)
            start = time.process_time()
            if gate(Store(store), session=f"night-{one.number:04}", keep=True).fails:
                failed.append(one.number)
            judging += time.process_time() - start
            files = max(files, len(files_of(store)))
            if one.number % 30 == 0:
                print(f"night {one.number}: {len(files_of(store))} files", flush=True)
        tables = Counter(path.relative_to(store).parts[0] for path in files_of(store))
        told = ", ".join(f"{number} in {table}" for table, number in sorted(tables.items()))
        size = sum(path.stat().st_size for path in files_of(store))
        print(
            f"{count} nights of {CURVES_OF_A_YEAR} curves: {tables.total()} files ({told}), at most"
            f" {files}; {size / 1e6:.0f} MB\n"
            f"{count} verdicts on nights in which nothing changed: {len(failed)} failed"
            f"{f' ({failed})' if failed else ''}; {judging / count:.2f} s of CPU each"
        )
        start, cpu = time.perf_counter(), time.process_time()
        runs = Store(store).runs(session=f"night-{count // 2:04}")
        print(
            f"runs of one session: {len(runs)} in {time.perf_counter() - start:.2f} s,"
            f" {time.process_time() - cpu:.2f} s of CPU"
        )
        if count == NIGHTS:
            draw(nights)


def draw(nights: list[Night]) -> None:
    """Write the plot of time and size against the night."""
    width, height, edge = 720, 300, 50
    size = np.array([one.size_bytes for one in nights]) / 1e6
    cpu = np.cumsum([one.cpu_seconds for one in nights])
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
        ' font-family="sans-serif" font-size="12"><title>Growth of the store over a year</title>'
    ]
    for number, (values, title, colour) in enumerate(
        [(size, "size of the store in MB", "#1f77b4"), (cpu, "CPU seconds of storing", "#d62728")]
    ):
        left = edge + number * width / 2
        across = width / 2 - 1.5 * edge
        x = left + across * np.arange(len(values)) / len(values)
        y = height - edge - (height - 2 * edge) * values / values[-1]
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
        parts += [
            f'<line x1="{left}" y1="{height - edge}" x2="{left + across}" y2="{edge}"'
            ' stroke="#999" stroke-dasharray="4"/>',
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>',
            f'<text x="{left}" y="{edge - 15}">{title}: {values[-1]:,.0f}</text>',
            f'<text x="{left}" y="{height - edge + 20}">night 0</text>',
            f'<text x="{left + across}" y="{height - edge + 20}" text-anchor="end">'
            f"night {len(values)}</text>",
        ]
    PLOT.write_text("\n".join([*parts, "</svg>\n"]), encoding="utf-8")
    print(f"written: {PLOT.relative_to(ROOT)}")


def large() -> None:
    """Compare two sessions with the nights before them, in a store of a year."""
    judge(before=NIGHTS - 2)


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder that is removed afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def part(text: str) -> Callable[[], None]:
    """Return what measures a part, told as `gate` or, of the months and years, `gate=30`."""
    name, _, number = text.partition("=")
    if name not in PARTS or (number and name not in {"gate", "year"}):
        told = f"there is no {text}; choose from {', '.join(PARTS)}, gate=SESSIONS and year=NIGHTS"
        raise argparse.ArgumentTypeError(told)
    return partial(PARTS[name], count(number)) if number else PARTS[name]


PARTS = {"night": night, "samples": samples, "gate": judge, "year": year, "large": large}

if __name__ == "__main__":
    options = parser(__doc__)
    usual = [night, samples, judge, year]
    options.add_argument("parts", type=part, nargs="*", default=usual, metavar="PART[=NUMBER]")
    for measure in options.parse_args().parts:
        measure()
