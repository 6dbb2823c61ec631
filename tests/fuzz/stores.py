"""Kills writers, imports again and again, and flips bits: a store loses nothing and says so.

Each round is judged: what was written is there once, what is damaged is named, and every command
ends as it should.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from switchpoint import InputError, Store, import_files, read
from switchpoint.store.compaction import compact
from switchpoint.store.upkeep import verify

from fuzz.inputs import SEEDS

WRITERS = 8
RUNS = 6

_KILLED = "a writer was killed"


def fuzz(minutes: float, first_seed: int, failures: Path) -> dict[str, int]:
    """Run rounds until the time is over, and write what went wrong to a folder."""
    counts = dict.fromkeys(("killed writers", "imports again", "flipped bits", "problems"), 0)
    draw = random.Random(first_seed)
    ends = time.monotonic() + 60 * minutes
    multiprocessing.set_forkserver_preload(["switchpoint.store.importing"])
    while time.monotonic() < ends:
        for name, one_round in _ROUNDS.items():
            folder = Path(tempfile.mkdtemp(prefix="switchpoint-fuzz-"))
            try:
                number, problems = one_round(folder, draw)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            counts[name] += number
            counts["problems"] += len(problems)
            if problems:
                failures.mkdir(parents=True, exist_ok=True)
                with (failures / "stores.txt").open("a", encoding="utf-8") as stream:
                    stream.writelines(f"{name}: {problem}\n" for problem in problems)
                print(*(f"stores: {name}: {problem}" for problem in problems), sep="\n")
    return counts


def _records(folder: Path, count: int) -> list[Path]:
    """Write records that differ in their identity."""
    folder.mkdir(parents=True)
    header, rest = SEEDS["mpich-memory.record"].split(b"\n", 1)
    facts = json.loads(header)
    paths = []
    for number in range(count):
        facts["run_id"] = f"{number:032x}"
        path = folder / f"{number}.record"
        path.write_bytes(json.dumps(facts).encode() + b"\n" + rest)
        paths.append(path)
    return paths


def _write(paths: list[Path], url: str) -> None:
    for path in paths:
        import_files([path], Store(url))


def _killed_writers(folder: Path, draw: random.Random) -> tuple[int, list[str]]:
    """Let eight writers add runs, kill one of them, and look for what is missing."""
    paths = _records(folder / "inputs", WRITERS * RUNS)
    shares = [paths[number::WRITERS] for number in range(WRITERS)]
    url = str(folder / "results")
    context = multiprocessing.get_context("forkserver")
    writers = [context.Process(target=_write, args=(share, url)) for share in shares]
    for writer in writers:
        writer.start()
    time.sleep(draw.uniform(0.05, 1.5))
    victim = draw.randrange(WRITERS)
    if writers[victim].pid is not None:
        os.kill(writers[victim].pid, signal.SIGKILL)
    for writer in writers:
        writer.join()
    problems = [
        f"writer {number} ended with {writer.exitcode}"
        for number, writer in enumerate(writers)
        if number != victim and writer.exitcode != 0
    ]
    store = Store(url)
    there = set(store.runs()["run_id"])
    wanted = {
        f"{int(path.stem):032x}"
        for number, share in enumerate(shares)
        if number != victim
        for path in share
    }
    if lost := wanted - there:
        problems.append(f"{len(lost)} runs of writers that were not killed are lost")
    problems += [line for line in verify(store) if _KILLED not in line]
    import_files(paths, store)
    for left in Path(url).rglob("*.parquet"):
        os.utime(left, (0, 0))  # orphans are removed only when they are old
    compact(store)
    problems += verify(store)
    samples = store.read().samples
    each = samples.groupby("run_id", observed=True).size()
    if len(each) != len(paths) or each.nunique() != 1:
        problems.append(f"{len(each)} runs of {len(paths)} after all were imported again")
    return 1, problems


def _imports_again(folder: Path, _draw: random.Random) -> tuple[int, list[str]]:
    """Import the same records several times at once, which loads every core."""
    paths = _records(folder / "inputs", RUNS)
    command = [sys.executable, "-m", "switchpoint", "import", str(folder / "inputs"),
               "--store", str(folder / "results")]  # fmt: skip
    import_files(paths, Store(str(folder / "results")))
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    problems = []
    for process in running:
        out, err = process.communicate()
        aborted = "terminate called" in err or "Traceback" in err
        if process.returncode != 0 or aborted or f"{RUNS} already stored" not in out:
            problems.append(f"exit code {process.returncode}: {out[:200]} {err[:500]}")
    return len(running), problems


def _flipped_bits(folder: Path, draw: random.Random) -> tuple[int, list[str]]:
    """Flip bits one after the other: each is named, none is read as another number."""
    store = Store(str(folder / "results"))
    for path in _records(folder / "inputs", 2):
        store.add(read(path))
    whole, problems = store.read(), []
    files = sorted(Path(store.url).rglob("*.parquet"))
    for path in draw.choices(files, weights=[file.stat().st_size for file in files], k=20):
        content = path.read_bytes()
        place, bit = draw.randrange(len(content)), draw.randrange(8)
        path.write_bytes(
            content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :]
        )
        where = f"{path.parent.parent.name} of {len(content)} B, byte {place}, bit {bit}"
        if not any(str(path) in line for line in verify(store)):
            problems.append(f"not named: {where}")
        try:
            found = store.read()
        except InputError as error:
            if str(path) not in str(error):
                problems.append(f"another error: {where}: {error}")
        else:
            named = any(str(path) in line for line in found.not_taken)
            if not named and not found.samples.equals(whole.samples):
                problems.append(f"read as other numbers: {where}")
        path.write_bytes(content)
    return 20, problems


_ROUNDS = {
    "killed writers": _killed_writers,
    "imports again": _imports_again,
    "flipped bits": _flipped_bits,
}
