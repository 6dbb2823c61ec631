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
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path

from switchpoint import InputError, Store, import_files, read
from switchpoint.store.compaction import compact
from switchpoint.store.verification import verify

from fuzz.inputs import SEEDS
from fuzz.processes import Counts, Round

WRITERS = 8
RUNS = 6

#: Flipped bits of a round, one after the other.
FLIPS = 20

_KILLED = "a writer was killed"


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


def _killed_writers(folder: Path, draw: random.Random) -> tuple[dict[str, int], list[str]]:
    """Let eight writers add runs, kill one of them, and look for what is missing."""
    paths = _records(folder / "inputs", WRITERS * RUNS)
    shares = [paths[number::WRITERS] for number in range(WRITERS)]
    url = str(folder / "results")
    context = multiprocessing.get_context("fork")  # importing the package would take longest
    writers = [context.Process(target=_write, args=(share, url)) for share in shares]
    for writer in writers:
        writer.start()
    victim = _kill_one(writers, Path(url), draw)
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
    counts = {"rounds": 1, "killed writers": int(writers[victim].exitcode != 0)}
    return counts, problems


def _kill_one(writers: list[BaseProcess], store: Path, draw: random.Random) -> int:
    """Kill a writer that still writes, after some runs have been written; return its number."""
    enough = draw.randrange(len(writers) * (RUNS - 1))
    while len([*store.glob("runs/*/*.parquet")]) < enough and all(
        writer.is_alive() for writer in writers
    ):
        time.sleep(0.001)
    time.sleep(draw.uniform(0, 0.05))
    alive = [number for number, writer in enumerate(writers) if writer.is_alive()]
    victim = draw.choice(alive or [0])
    writers[victim].kill()
    return victim


def _imports_again(folder: Path, _draw: random.Random) -> tuple[dict[str, int], list[str]]:
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
    return {"imports again": len(running)}, problems


def _flipped_bits(folder: Path, draw: random.Random) -> tuple[dict[str, int], list[str]]:
    """Flip bits one after the other: each is named, none is read as another number."""
    store = Store(str(folder / "results"))
    for path in _records(folder / "inputs", 2):
        store.add(read(path))
    whole, problems = store.read(), []
    files = sorted(Path(store.url).rglob("*.parquet"))
    for path in draw.choices(files, weights=[file.stat().st_size for file in files], k=FLIPS):
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
            named = any(str(path) == warning.place for warning in found.not_taken)
            if not named and not found.samples.equals(whole.samples):
                problems.append(f"read as other numbers: {where}")
        path.write_bytes(content)
    return {"flipped bits": FLIPS}, problems


def _one_round(
    act: Callable[[Path, random.Random], tuple[dict[str, int], list[str]]],
    number: int,
    failures: Path,
) -> Counts:
    folder = Path(tempfile.mkdtemp(prefix="switchpoint-fuzz-"))
    try:
        counts, problems = act(folder, random.Random(number))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if problems:
        told = [f"seed {number}: {problem}" for problem in problems]
        failures.mkdir(parents=True, exist_ok=True)
        with (failures / "stores.txt").open("a", encoding="utf-8") as stream:
            stream.writelines(f"{line}\n" for line in told)
        print(*told, sep="\n", file=sys.stderr, flush=True)
    return counts | {"problems": len(problems)}, set()


killed_writers: Round = partial(_one_round, _killed_writers)
imports_again: Round = partial(_one_round, _imports_again)
flipped_bits: Round = partial(_one_round, _flipped_bits)
