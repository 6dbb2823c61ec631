"""Makes hostile files: real results of each format, damaged as transfers and people do it."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

TESTS = Path(__file__).resolve().parents[1]
CORPUS = Path(__file__).parent / "corpus"

Draw = Callable[..., Any]

#: Bytes of a seed that are used, so that thousands of inputs take minutes.
_SEED_BYTES = 6000

#: What is written in place of something else, or between other text.
_TOKENS = [
    b"", b"\0", b"\n", b"\r", b"\r\n", b"\x0b", b"\x1b[31m", b"\x1b]0;owned\x07", b"\xff\xfe",
    b"\xef\xbb\xbf", b"\xed\xa0\x80", "\u2028\u202e\u0085".encode(), b'"', b"'", b",", b"|", b"{",
    b"}", b"[", b"]", b"#", b"# ", b":", b"../../x", b"<script>alert(1)</script>", b"%s{}$(id)",
    b"-", b"--", b"null", b"true", b"nan", b"inf", b"-inf", b"1e400", b"1e-400", b"-1", b"0",
    b"1.5", b"0x10", b"9223372036854775807", b"9223372036854775808", b"18446744073709551616",
    b"4611686018427387903", b"4611686018427387904", b"1" * 400, b"1e18", b"x" * 5000,
    b"9" * 5000, b"[" * 3000, b'{"a":' * 3000, b"\\ud800", b"\\u0000", b"\\",
    b"# switchpoint: {}\n", b'# switchpoint: {"site": "\\ud800"}\n',
    b'# switchpoint: {"start_utc": "2026-13-01"}\n',
    b"# OSU MPI Latency Test v7.4\n# Size          Latency (us)\n", b"size_bytes,time_us\n",
    b" times -->", b"#repetitions",
]  # fmt: skip

#: JSON values in place of others.
VALUES: list[Any] = [
    None, True, False, 0, -1, 2, 10**6, 2**63, 2**64 - 1, 1.5, 1e300, -0.0, "", "x", "1", "\x1b[2J",
    "\u202e", "../x", "0" * 32, "x" * 20000, [], [None], [[]], [0], ["x"], {}, {"": 0}, {"a": {}},
    "2026-11-21T10:00:00.000000Z", "9999-99-99T99:99:99.000000Z",
]  # fmt: skip

_NUMBER = re.compile(rb"\d+(?:\.\d+)?")
_WORD = re.compile(rb"[^\s,|]+")


def _small_record(path: Path) -> bytes:
    """Return a real record with few settings and rows."""
    header, *rows, footer = gzip.decompress(path.read_bytes()).splitlines()
    facts = json.loads(header)
    facts["mpi"]["cvars"] = dict(list(facts["mpi"]["cvars"].items())[:6])
    heading, *rows = rows[:60]
    end = json.dumps(json.loads(footer) | {"samples": len(rows)}).encode()
    return b"\n".join([json.dumps(facts).encode(), heading, *rows, end]) + b"\n"


def _seeds() -> dict[str, bytes]:
    outputs = sorted((TESTS / "analysis/outputs").iterdir())
    seeds = {path.name: path.read_bytes()[:_SEED_BYTES] for path in outputs if path.suffix != ".gz"}
    records = ["openmpi-mergesort-two-nodes", "mpich-memory", "explain/segment-intervention",
               "explain/openmpi-tcp-zoom", "explain/mpich-fifo-intervention"]  # fmt: skip
    for name in records:
        path = TESTS / "analysis/records" / f"{name}.record.gz"
        seeds[f"{path.stem}"] = _small_record(path)
    report = gzip.decompress((TESTS / "analysis/outputs/reframe-report.json.gz").read_bytes())
    small = json.loads(report)
    for run in small["runs"]:
        run["testcases"] = run["testcases"][:2]
    seeds["report.json"] = json.dumps(small).encode()
    seeds["tidy.csv"] = (
        b"size_bytes,time_us,rep,mode,host\n"
        + b"".join(b"%d,%d.5,%d,send,a1\n" % (8 << i, 3 + (8 << i) // 900, r)
                   for r in range(2) for i in range(14))
    )  # fmt: skip
    seeds["bandwidth.csv"] = b"# c\nsize_bytes,bandwidth_MBps,site\n8,1.5,x\n16,3,x\n"[4:]
    return seeds


#: A small real file of each format, by name.
SEEDS = _seeds()


def _place(draw: Draw, content: bytes) -> int:
    return draw(st.integers(0, len(content)))


def _flip(draw: Draw, content: bytes) -> bytes:
    if not content:
        return content
    place, bit = draw(st.integers(0, len(content) - 1)), draw(st.integers(0, 7))
    return content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :]


def _cut(draw: Draw, content: bytes) -> bytes:
    start, end = sorted([_place(draw, content), _place(draw, content)])
    return content[:start] + content[end:]


def _end_early(draw: Draw, content: bytes) -> bytes:
    return content[: _place(draw, content)]


def _repeat(draw: Draw, content: bytes) -> bytes:
    start, end = sorted([_place(draw, content), _place(draw, content)])
    return content[:end] + content[start:end] * draw(st.integers(1, 5)) + content[end:]


def _insert(draw: Draw, content: bytes) -> bytes:
    place = _place(draw, content)
    return content[:place] + draw(st.sampled_from(_TOKENS)) + content[place:]


def _replace(draw: Draw, content: bytes, pattern: re.Pattern[bytes]) -> bytes:
    found = list(pattern.finditer(content))
    if not found:
        return content
    match = found[draw(st.integers(0, len(found) - 1))]
    return content[: match.start()] + draw(st.sampled_from(_TOKENS)) + content[match.end() :]


def _number(draw: Draw, content: bytes) -> bytes:
    return _replace(draw, content, _NUMBER)


def _word(draw: Draw, content: bytes) -> bytes:
    return _replace(draw, content, _WORD)


def _line(draw: Draw, content: bytes) -> bytes:
    lines = content.splitlines(keepends=True)
    if not lines:
        return content
    here, there = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
    moved = lines.pop(here) if draw(st.booleans()) else lines[here]
    lines.insert(there, moved)
    return b"".join(lines)


def _splice(draw: Draw, content: bytes) -> bytes:
    other = SEEDS[draw(st.sampled_from(sorted(SEEDS)))]
    start, end = sorted([_place(draw, other), _place(draw, other)])
    place = _place(draw, content)
    return content[:place] + other[start:end] + content[place:]


def _json(draw: Draw, content: bytes) -> bytes:
    """Change a value of one of the lines that are JSON."""
    lines = content.split(b"\n")
    objects = [number for number, line in enumerate(lines) if line[:1] == b"{"]
    if not objects:
        return _word(draw, content)
    number = draw(st.sampled_from(objects))
    try:
        value = json.loads(lines[number])
    except (ValueError, RecursionError):
        return _insert(draw, content)
    change(draw, value)
    lines[number] = json.dumps(value).encode()
    return b"\n".join(lines)


def change(draw: Draw, value: Any) -> None:
    """Walk down to any depth, and change, remove, rename or repeat something there."""
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not keys:
            return
        key = draw(st.sampled_from(keys))
        if isinstance(value[key], dict | list) and value[key] and draw(st.integers(0, 4)):
            value = value[key]
            continue
        act = draw(st.integers(0, 4))
        if act == 0:
            del value[key]
        elif act == 1 and isinstance(value, dict):
            value[draw(st.sampled_from(["", "x", "kernel", "run_id", "size_bytes"]))] = value[key]
        elif act == 1:
            value.append(value[key])
        else:
            value[key] = draw(st.sampled_from(VALUES))
        return


_MUTATIONS = [
    _flip, _cut, _end_early, _repeat, _insert, _number, _number, _word, _line, _splice, _json, _json
]  # fmt: skip


def damage(draw: Draw, content: bytes) -> bytes:
    """Damage a text once."""
    damaged: bytes = draw(st.sampled_from(_MUTATIONS))(draw, content)
    return damaged


@st.composite
def hostile_files(draw: Draw) -> tuple[str, bytes]:
    """Return the name and the content of a damaged file."""
    name = draw(st.sampled_from(sorted(SEEDS)))
    content = SEEDS[name]
    for _ in range(draw(st.integers(1, 3))):
        content = damage(draw, content)
    packed = draw(st.integers(0, 19))
    if packed < 2:
        content = gzip.compress(content, mtime=0)
        content = _flip(draw, content) if packed == 0 else content
    elif packed == 2:
        name = f"labelled-{name}"
    return name, content


def corpus() -> list[Path]:
    """Return the inputs that once broke something, or that a limit is for."""
    return sorted(path for path in CORPUS.iterdir() if path.is_file())
