"""Damages the files that Switchpoint itself writes, and runs every verb that reads them.

Site models, policies, reports, bundles whose hash is right, and tables of a store as another
program may have written them.
"""

from __future__ import annotations

import hashlib
import io
import json
import random
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from hypothesis import strategies as st
from switchpoint import Store, import_files

from fuzz.examples import for_each_example
from fuzz.inputs import SEEDS, VALUES, Draw, change, damage
from fuzz.judgement import VERBS, Outcome, advice, of_command, of_store
from fuzz.processes import BYTES, Counts, largest_bytes

#: The nights of the store, fewer than any history and enough for all parts of the gate.
_NIGHTS = 6

_POLICY = """\
minimum_effect: {latency: 0.05, bandwidth: 0.05, time: 0.1, noise: 1.0, value: 0.05}
fails: [regression, missing_curve]
false_discovery_rate: 0.01
baseline_sessions: 30
settled_after_sessions: 14
better: {triad: higher}
"""

_LOG = (
    "result|job_completion_time|name|system|partition|environ|perf_var|perf_value|perf_unit"
    "|perf_ref"
)

_SIZES = [2**octave for octave in range(3, 21)]

#: What a cell of a table may become, by the type of its column.
_CELLS: dict[str, list[Any]] = {
    "text": [None, "", "x", "../x", "\x1b[2J", "nan", "{", "[]", "{}", "null", "[1]", '{"a": 1}',
             "0" * 32, "9999-12-31T23:59:59.999999Z", "2026-13-01", "x" * 20000],
    "number": [None, 0, -1, 1, 2**31 - 1, -(2**31)],
    "large": [2**62 - 1, 2**62, 2**63 - 1, -(2**63)],
    "real": [None, float("nan"), float("inf"), float("-inf"), 0.0, -1.0, 1e300, 5e-324],
    "truth": [None, True, False],
}  # fmt: skip

KINDS = ["model", "policy", "report", "bundle", "table"]

#: Inputs of a round, which share the sound files.
INPUTS = 40

#: Of so many files one is used in the ways that take longest.
_SLOW_ONE_IN = 6

#: One text of a table that has gigabytes if each of its rows has it.
_LONG_TEXT, _LONG_ROWS = " " * 2**22, 300


class Sound:
    """Sound files of each kind in a folder, which are copied before they are damaged."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = Store(folder / "results")
        import_files([_measured(folder / "inputs")], self.store)
        self.bundle, self.model = folder / "all.bundle", folder / "model.yaml"
        records = str(folder / "inputs/records")
        places = ["--store", self.store.url]
        for words in (
            ["gate", "--session", f"night-{_NIGHTS - 2}", *places],
            ["gate", *places],
            ["bundle", records, "-o", str(self.bundle)],
            ["model", "fit", records, "-o", str(self.model)],
        ):
            codes: list[int] = []
            problems = of_command(words, codes)
            if problems or codes == [2]:
                raise AssertionError(f"{words[:2]}: {problems or 'is refused'}")

    def content(self, kind: str) -> bytes:
        """Return a sound file."""
        match kind:
            case "model":
                return self.model.read_bytes()
            case "policy":
                return _POLICY.encode()
            case "report":
                return SEEDS["report.json"]
            case _:
                return self.bundle.read_bytes()

    def tables(self) -> list[Path]:
        """Return the files of the store."""
        return sorted(Path(self.store.url).rglob("*.parquet"))


def _measured(folder: Path) -> Path:
    """Write records of some nights, and the log of a test."""
    records = folder / "records"
    records.mkdir(parents=True)
    draw = random.Random(1)
    header = json.loads(SEEDS["mpich-memory.record"].split(b"\n", 1)[0])
    footer = json.loads(SEEDS["mpich-memory.record"].splitlines()[-1])
    start = header["start_utc"]
    for night in range(_NIGHTS):
        for launch in range(2):
            facts = header | {
                "run_id": f"{night}{launch}".ljust(32, "0"),
                "start_utc": f"2026-11-{night + 1:02}{start[10:-2]}{launch}Z",
                "labels": {
                    "site": "alpha",
                    "placement": "one_node",
                    "environ": "mpich",
                    "session": f"night-{night}",
                },
            }
            rows = [
                f"{mode},{size},{turn},0,10,{_time_us(size, night) * draw.gauss(1, 0.01):.6f}"
                for mode in ("send", "ssend")
                for turn in range(3)
                for size in _SIZES
            ]
            lines = [facts, "mode,size_bytes,pass,sample,iterations,time_us", *rows,
                     footer | {"samples": len(rows)}]  # fmt: skip
            texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
            (records / f"{night}-{launch}.record").write_text("\n".join(texts) + "\n")
    for name in ("openmpi-tcp-zoom", "openmpi-mergesort-two-nodes"):
        content = SEEDS[f"{name}.record"].replace(b'"site": "testbed"', b'"site": "alpha"')
        (records / f"{name}.record").write_bytes(content)
    rows = (
        f"pass|2026-11-{night + 1:02}T23:00:00|Stream %size=8|alpha|batch|gnu|triad|{200 + night}"
        "|GB/s|210"
        for night in range(_NIGHTS)
    )
    (folder / "Stream.log").write_text("\n".join([_LOG, *rows]) + "\n")
    return folder


def _time_us(size: int, night: int) -> float:
    """Return a time with a switch of protocol. The last night is slower."""
    return (2.0 + size * 1e-3 + 15.0 * (size >= 8192)) * (1.3 if night == _NIGHTS - 1 else 1.0)


@st.composite
def damaged_files(draw: Draw, sound: Sound, kind: str | None = None) -> tuple[str, str, bytes]:
    """Return the kind, the name and the content of a damaged file, of any kind or of this one."""
    kind = kind or draw(st.sampled_from(KINDS))
    if kind == "table":
        path = draw(st.sampled_from(sound.tables()))
        name = str(path.relative_to(sound.store.url))
        return kind, name, _written(_damaged_table(draw, pq.read_table(path, partitioning=None)))
    content = sound.content(kind)
    for _ in range(draw(st.integers(1, 2))):
        content = _damaged(draw, kind, content)
    return kind, f"damaged-{kind}", content


def _damaged(draw: Draw, kind: str, content: bytes) -> bytes:
    if kind == "bundle":
        return _damaged_bundle(draw, content)
    if draw(st.booleans()):
        return damage(draw, content)
    try:
        value = yaml.safe_load(content)
    except (yaml.YAMLError, ValueError, RecursionError):
        return damage(draw, content)
    if not isinstance(value, dict | list) or not value:
        return damage(draw, content)
    change(draw, value)
    return (json.dumps(value) if kind == "report" else yaml.safe_dump(value)).encode()


def _damaged_bundle(draw: Draw, content: bytes) -> bytes:
    """Change a part of a bundle, and correct its hash."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    name = draw(st.sampled_from(sorted(parts)))
    act = draw(st.integers(0, 9))
    if act == 0:
        parts[name] = damage(draw, parts[name])
    elif act == 1 and len(parts) > 1:
        del parts[name]
    elif name.endswith(".parquet"):
        try:
            table = pq.read_table(pa.BufferReader(parts[name]))
            parts[name] = _written(_damaged_table(draw, table))
        except (pa.ArrowException, OSError):
            parts[name] = b""
    else:
        try:
            value = json.loads(parts[name])
        except ValueError:
            value = draw(st.sampled_from(VALUES))
        if isinstance(value, dict | list):
            change(draw, value)
        parts[name] = json.dumps(value).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        archive.comment = b"0" * 64
        for part, data in parts.items():
            archive.writestr(part, data)
    body = buffer.getvalue()[:-64]
    return body + hashlib.sha256(body).hexdigest().encode()


def _written(table: pa.Table) -> bytes:
    """Return a file as another program writes it: without a seal."""
    buffer = io.BytesIO()
    pq.write_table(table.replace_schema_metadata(None), buffer, dictionary_pagesize_limit=2**30)
    return buffer.getvalue()


def _damaged_table(draw: Draw, table: pa.Table) -> pa.Table:
    """Change a cell or a column, or repeat or remove a row."""
    number = draw(st.integers(0, table.num_columns - 1))
    name, act = table.schema.names[number], draw(st.integers(0, 11))
    if act == 0:
        return table.drop_columns([name])
    if act == 1:
        return table.rename_columns(
            [*table.schema.names[:number], "x", *table.schema.names[number + 1 :]]
        )
    if act == 2:
        return pa.concat_tables([table, table])
    if act == 3:
        return table.slice(draw(st.integers(0, len(table))), draw(st.integers(0, 2)))
    column = table[name]
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    cells = column.to_pylist()
    if act == 4 and pa.types.is_string(kind):
        return table.set_column(number, name, pa.array(range(len(cells)), pa.int64()))
    if act == 4:
        return table.set_column(number, name, pa.array([str(cell) for cell in cells]))
    if act == 5 and pa.types.is_string(column.type) and cells:
        once = pa.DictionaryArray.from_arrays(pa.array([0] * _LONG_ROWS), [_LONG_TEXT])
        return table.take([0] * _LONG_ROWS).set_column(number, name, once)
    if act in (6, 7) and any(_is_object(cell) for cell in cells):
        return table.set_column(number, name, pa.array(_changed(draw, cells), kind))
    value = draw(st.sampled_from(_cells(kind)))
    place = draw(st.integers(-1, len(cells) - 1))
    changed = [value if place in (-1, row) else cell for row, cell in enumerate(cells)]
    return table.set_column(number, name, pa.array(changed, kind).cast(column.type))


def _is_object(cell: Any) -> bool:
    return isinstance(cell, str) and cell.startswith("{")


def _changed(draw: Draw, cells: list[Any]) -> list[Any]:
    """Change a value within one of the cells that are JSON, such as a header."""
    row = draw(st.sampled_from([row for row, cell in enumerate(cells) if _is_object(cell)]))
    value = json.loads(cells[row])
    change(draw, value)
    return [*cells[:row], json.dumps(value), *cells[row + 1 :]]


def _cells(kind: pa.DataType) -> list[Any]:
    if pa.types.is_boolean(kind):
        return _CELLS["truth"]
    if pa.types.is_floating(kind):
        return _CELLS["real"]
    if pa.types.is_integer(kind):
        return _CELLS["number"] + (_CELLS["large"] if kind == pa.int64() else [])
    return _CELLS["text"]


def judge_own(sound: Sound, kind: str, name: str, content: bytes) -> Outcome:
    """Run the verbs that read a file of this kind, and say what went wrong."""
    folder = Path(tempfile.mkdtemp(prefix="switchpoint-fuzz-"))
    try:
        return _VERBS[kind](sound, folder, name, content)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _of_model(sound: Sound, folder: Path, name: str, content: bytes) -> Outcome:
    path = folder / name
    path.write_bytes(content)
    outputs = [
        ["model", "predict", str(path), kernel, "--placement", "one_node", *rest]
        for kernel, rest in (("ring", []), ("alltoall", ["--json", "--ranks=4"]))
    ]
    export = ["model", "export", str(path), "--placement", "one_node", "--simgrid"]
    slow = advice(str(path), sound.store.url) if _is_chosen(content) else []
    return _outcome([*outputs, [*export, str(folder / "platform.xml")], *slow])


def _of_policy(sound: Sound, folder: Path, name: str, content: bytes) -> Outcome:
    path = folder / name
    path.write_bytes(content)
    given = ["--policy", str(path), "--store", str(_copy(sound, folder))]
    return _outcome([["gate", "--json", *given], ["references", *given]])


def _of_report(sound: Sound, folder: Path, name: str, content: bytes) -> Outcome:
    path = folder / name
    path.write_bytes(content)
    written = [f"--{form}={folder / form}" for form in ("junit", "gitlab", "markdown")]
    store = str(_copy(sound, folder))
    return _outcome([["gate", "--reframe-report", str(path), "--store", store, *written]])


def _of_bundle(_: Sound, folder: Path, name: str, content: bytes) -> Outcome:
    path = folder / f"{name}.bundle"
    path.write_bytes(content)
    places = ["--store", str(folder / "results")]
    outcome = _outcome([["import", str(path), *places], ["compare", str(path), str(path)]])
    if outcome.accepted:
        store = Store(folder / "results")
        page, only = _is_chosen(content), _some(content)
        outcome.problems += of_store(folder, store, page=page, only=only)
    return outcome


def _of_table(sound: Sound, folder: Path, name: str, content: bytes) -> Outcome:
    store = _copy(sound, folder)
    (store / name).write_bytes(content)
    problems = of_store(folder, Store(store), page=_is_chosen(content), only=_some(content))
    return Outcome(accepted=1, problems=problems)


_VERBS: dict[str, Callable[[Sound, Path, str, bytes], Outcome]] = {
    "model": _of_model,
    "policy": _of_policy,
    "report": _of_report,
    "bundle": _of_bundle,
    "table": _of_table,
}


def _some(content: bytes) -> list[list[str]]:
    """Choose some of the verbs that only print: all would take half a minute."""
    return random.Random(content).sample(VERBS, 5)


def _is_chosen(content: bytes) -> bool:
    return random.Random(content).randrange(_SLOW_ONE_IN) == 0


def _copy(sound: Sound, folder: Path) -> Path:
    return Path(shutil.copytree(sound.store.url, folder / "results"))


def _outcome(commands: list[list[str]]) -> Outcome:
    """Run commands that read the same file; the file is accepted if the first one accepts it."""
    codes: list[int] = []
    problems = [problem for words in commands for problem in of_command(words, codes)]
    accepted = int(codes[0] != 2) if codes else 0
    return Outcome(accepted, 1 - accepted, problems)


def one_round(number: int, failures: Path) -> Counts:
    """Judge some files, with one sound store for all. Write each failing input to a folder."""
    counts = dict.fromkeys(("inputs", "accepted", "refused", "problems", "hangs", "too large"), 0)
    inputs: set[bytes] = set()

    def one(damaged: tuple[str, str, bytes]) -> None:
        kind, name, content = damaged
        before = largest_bytes()
        outcome = judge_own(sound, kind, name, content)
        counts["inputs"] += 1
        counts["accepted"] += outcome.accepted
        counts["refused"] += outcome.refused
        inputs.add(hashlib.sha256(kind.encode() + content).digest()[:8])
        if largest_bytes() - before > BYTES:
            outcome.problems.append("needs more than a gigabyte")
            counts["too large"] += 1
        elif outcome.kind:
            counts[outcome.kind] += 1
        if outcome.problems:
            _keep(failures, kind, name, content, outcome.problems)

    with tempfile.TemporaryDirectory(prefix="switchpoint-fuzz-") as folder:
        sound = Sound(Path(folder))
        for_each_example(damaged_files(sound), INPUTS, number, one)
    return counts, inputs


def _keep(failures: Path, kind: str, name: str, content: bytes, problems: list[str]) -> None:
    digest = hashlib.sha256(content).hexdigest()[:8]
    failures.mkdir(parents=True, exist_ok=True)
    (failures / f"{digest}-{name.replace('/', '-')}").write_bytes(content)
    text = "\n".join([f"{kind}: {name}", *problems]) + "\n"
    (failures / f"{digest}.why").write_text(text)
    print(text, file=sys.stderr, flush=True)
