"""A hostile file is one line on stderr: it costs no good file, no value, no time and no memory."""

from __future__ import annotations

import gzip
import json
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest import write_record
from switchpoint import InputError, Measurements, Store, import_files, read
from switchpoint.limits import COLUMNS, COUNT, JSON_BYTES, LABELS, TEXT_BYTES, TEXT_LINES
from switchpoint.strict_json import parse_json
from switchpoint.tables.validity import problem_of
from typer.testing import Result

Run = Callable[..., Result]

GOOD = b"size_bytes,time_us,site\n8,1.5,good\n"


@contextmanager
def no_hang() -> Iterator[None]:
    """End what hangs: some of these inputs took minutes."""

    def stop(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(60)
    yield
    signal.alarm(0)


@pytest.fixture(autouse=True)
def _no_hang() -> Iterator[None]:
    """End a test that hangs."""
    with no_hang():
        yield


def report(value: object) -> bytes:
    return json.dumps(
        {"session_info": {}, "runs": [{"testcases": [value]}]}
    ).encode()  # fmt: skip


OSU = b"# OSU MPI Latency Test v7.4\n# Size          Latency (us)\n"
IMB = (
    b"# Benchmarking PingPong\n# #processes = 2\n"
    b"       #bytes #repetitions      t[usec]   Mbytes/sec\n"
)
PERFLOG = b"result|job_completion_time|bw_8B_value|bw_8B_unit\n"

#: Name, content and the words with which it is refused.
HOSTILE: dict[str, tuple[str, bytes, str]] = {
    "nested report": ("a.json", b'{"session_info": {"a": ' + b"[" * 100_000, "nested deeper than"),
    "nested labels": (
        "a.out", b"# switchpoint: " + b"[" * 60_000 + b"\n" + OSU + b"8 1\n", "nested"
    ),
    "number for a list": ("a.json", b'{"session_info": {}, "runs": 1}', "damaged run report"),
    "list for an object": ("a.json", report([1]), "damaged run report"),
    "half a character": (
        "a.out", b'# switchpoint: {"site": "\\ud800"}\n' + OSU + b"8 1\n", "half a character"
    ),
    "raw half a character": (
        "a.out", b'# switchpoint: {"site": "\xed\xa0\x80"}\n' + OSU + b"8 1\n", "not UTF-8 text"
    ),
    "many digits": ("a.out", b"8 1.5 " + b"9" * 200_000 + b"\n", "is not recognised"),
    "many digits printed": (
        "a.out", b"9" * 60_000 + b"\n 1: 8 bytes 9 times --> 1 Mbps in 1 usec\n" + b"9" * 200_000,
        "",
    ),
    "many blank lines": ("a.out", b"\n" * 9_000 + OSU, "heading of a table but no results"),
    "wide field": (
        "a.csv", b'size_bytes,time_us,"a"\n8,1,"' + b"x" * 200_000 + b'"\n', "a has 200,000 char"
    ),
    "wide heading": (
        "a.csv", b"size_bytes,time_us," + b"x" * 100_000 + b"\n8,1,1\n", "a first line of more"
    ),
    "many columns": (
        "a.csv",
        b"size_bytes,time_us," + b",".join(b"c%d" % n for n in range(COLUMNS)) + b"\n8,1\n",
        "keep at most 256",
    ),
    "many lines": ("a.out", OSU + b"\n" * TEXT_LINES, "more than 500,000 lines"),
    "many labels": (
        "a.out",
        b"# switchpoint: " + json.dumps({f"l{n}": "x" for n in range(LABELS + 1)}).encode()
        + b"\n" + OSU + b"8 1\n",
        "keep at most 256",
    ),
    "infinite time": ("a.csv", b"size_bytes,bandwidth_MBps\n8,1e-320\n", "line 2: time_us is inf"),
    "endless time": ("a.csv", b"size_bytes,time_us\n8,1e300\n", "line 2: time_us is 1e+300"),
    "huge size": ("a.csv", b"size_bytes,time_us\n1e30,1\n", "line 2: size_bytes is 1e+30"),
    "huge size of osu": ("a.out", OSU + b"99999999999999999999999 1.5\n", "size_bytes is 1e+23"),
    "negative size of osu": (
        "a.out",
        OSU + b"-8 1.5\n",
        "size_bytes is -8; sizes are whole numbers",
    ),
    "lonely time of imb": ("a.out", IMB + b" 8 1000 1e-300 0.00\n", "no usable t[usec]"),
    "gzip bomb": ("a.out", gzip.compress(OSU + b"8 1\n" * (TEXT_BYTES // 4)), "than 32 MiB"),
    "bomb of a header": (
        "a.record", gzip.compress(b'{"record": "switchpoint", "x": "' + b" " * JSON_BYTES), "larger"
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def imported(
    switchpoint: Run, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Result, dict[str, list[str]], Path]:
    """One import of these files and a good one: its result, the lines of each, the store."""
    folder = tmp_path_factory.mktemp("hostile")
    files = {}
    for number, (case, (name, content, _)) in enumerate(HOSTILE.items()):
        files[case] = folder / f"{number:02}-{name}"
        files[case].write_bytes(content)
    good = folder / "good.csv"
    good.write_bytes(GOOD)
    with no_hang():
        result = switchpoint("import", "-v", *files.values(), good, "--store", folder / "results")
    lines = result.stderr.splitlines()
    of_files = {case: [line for line in lines if file.name in line] for case, file in files.items()}
    return result, of_files, folder / "results"


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_file_is_one_line(
    imported: tuple[Result, dict[str, list[str]], Path], case: str
) -> None:
    _, _, words = HOSTILE[case]
    [line] = imported[1][case]

    assert words in line
    assert "do not import it" not in line, "an exception that nobody foresaw"
    assert len(line) < 500


def test_hostile_files_cost_no_good_file(
    imported: tuple[Result, dict[str, list[str]], Path],
) -> None:
    result, _, store = imported

    assert result.exit_code == 0
    assert "Traceback" not in result.output
    assert "good" in set(Store(store).runs()["site"].dropna())


#: What a long text may consist of: each took more than a second to be recognised, or to be read
#: below a title, or was refused as something that nobody foresaw.
REPEATED = [
    b" ", b"9", b"a ", b"| ", b"#", b"|a|", b"\n ", b"1 ", b"algbw ", b"# size count type ",
    b"# OSU MPI ", b"[1,0]<stdout>:", b"a Bytes: 1 Iters: 1 ", b"RDMA_Write BW ", b"test nrep ",
]  # fmt: skip
BEGINNINGS = [b"", OSU + b"8 1.5\n", b"| size_bytes | time_us |\n|---|---|\n| 8 | 1.5 |\n", GOOD]


@pytest.mark.parametrize("repeated", REPEATED)
def test_a_long_text_of_one_kind_costs_no_time(tmp_path: Path, repeated: bytes) -> None:
    path = tmp_path / "a.txt"
    for start in BEGINNINGS:
        path.write_bytes(start + repeated * (10**6 // len(repeated) if start else 2**16))
        before = process_time()
        try:
            read(path)
        except InputError as error:
            assert "do not import it" not in str(error), "an exception that nobody foresaw"
        assert process_time() - before < 5


@pytest.mark.parametrize("place", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("kind", ["tidy", "record"])
def test_damaged_gzip_is_one_line(tmp_path: Path, kind: str, place: float) -> None:
    text = GOOD + b"".join(b"%d,%d.5,good\n" % (8 * n, n * n % 977 + 1) for n in range(5000))
    if kind == "record":
        text = write_record(tmp_path / "plain.record").read_bytes()
    packed = bytearray(gzip.compress(text))
    for byte in range(20):
        packed[int(len(packed) * place) + byte] ^= 0xFF
    path = tmp_path / "damaged.gz"
    path.write_bytes(packed)

    with pytest.raises(InputError, match=r"cannot be read \(.*\); copy it again"):
        read(path)


@pytest.mark.parametrize("run_id", ["", "../x", "0" * 31, "0" * 33, "G" * 32, "A" * 32, 7, None])
def test_a_run_id_that_no_store_finds_again_is_refused(tmp_path: Path, run_id: Any) -> None:
    path = write_record(tmp_path / "a.record", run_id=run_id)

    with pytest.raises(InputError, match="header field 'run_id'"):
        read(path)


@pytest.mark.parametrize("start", ["", "yesterday", "../../..", "2026-02-30T00:00:00.0Z", "2026"])
def test_a_start_that_is_no_time_is_refused(tmp_path: Path, start: str) -> None:
    with pytest.raises(InputError, match="header field 'start_utc' is not a time such as"):
        read(write_record(tmp_path / "a.record", start_utc=start))


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("send,8,0,0,10,inf", "time inf us"),
        ("send,8,0,0,10,1e300", "time 1e+300 us"),
        ("send,8,0,0,0,1.0", "0 iterations"),
        ("send,8,-1,0,1,1.0", "pass -1"),
        (f"send,{COUNT},0,0,1,1.0", f"size {COUNT} B"),
    ],
)
def test_an_impossible_sample_of_a_record_is_named(tmp_path: Path, row: str, words: str) -> None:
    path = write_record(tmp_path / "a.record")
    lines = path.read_text().splitlines()
    lines[7] = row
    path.write_text("\n".join(lines) + "\n")

    with pytest.raises(InputError, match="line 8") as caught:
        read(path)
    assert words in str(caught.value)


#: A search that found a switch, but not where.
NOWHERE = {
    "method": "bisection", "mode": "send", "low_bytes": 1, "high_bytes": 9, "verdict": "exact",
    "last_size_bytes": None, "first_size_bytes": None,
}  # fmt: skip


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        (["verification"], {}, "footer field 'verification.checks' is missing"),
        (["ranks"], [], "footer field 'ranks'"),
        (["ranks", 0, "rank"], 7, "footer field 'ranks' has other ranks than the header"),
        (["ranks", 0, "after"], {}, "footer field 'ranks.0.after.load1' is missing"),
        (["points"], 3, "footer field 'points' has the wrong type"),
        (["end_utc"], "never", "footer field 'end_utc' is not a time"),
        (["switches"], [NOWHERE], "footer field 'switches.0' is exact, but does not say between"),
    ],
)
def test_a_wrong_footer_field_is_named(
    tmp_path: Path, field: list[str | int], value: object, problem: str
) -> None:
    path = write_record(tmp_path / "a.record")
    *lines, last = path.read_text().splitlines()
    footer = json.loads(last)
    part = footer
    for name in field[:-1]:
        part = part[name]
    part[field[-1]] = value
    path.write_text("\n".join([*lines, json.dumps(footer)]) + "\n")

    with pytest.raises(InputError) as caught:
        read(path)
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        b"[" * 65 + b"]" * 65, b"[NaN]", b"[Infinity]", b"[1e999]", b"[" + b"1" * 30 + b"]",
        b'["\\ud800"]', b'["\xed\xa0\x80"]', b'["\xff"]', b"[" * 10**6,
    ],
)  # fmt: skip
def test_json_that_no_table_could_store_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_json(text)


def test_other_json_is_parsed_as_ever() -> None:
    text = '{"a": [1, -1.5, 18446744073709551615, null, true, "\\ud83d\\ude00 µ"], "b": {}}'

    assert parse_json(text.encode()) == json.loads(text)
    assert parse_json(b"\xef\xbb\xbf{}") == {}


def valid(tmp_path: Path) -> Measurements:
    return read(write_record(tmp_path / "valid.record", sizes=[8, 64]))


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("time_us", np.inf), ("time_us", 0.0), ("time_us", np.nan), ("size_bytes", -1),
        ("size_bytes", COUNT), ("iterations", 0), ("pass", -1),
    ],
)  # fmt: skip
def test_nothing_impossible_is_stored_whoever_gives_it(
    tmp_path: Path, column: str, value: float
) -> None:
    found = valid(tmp_path)
    values = found.samples[column].to_numpy(copy=True)
    values[3] = value
    found.samples[column] = values

    with pytest.raises(InputError, match=f"cannot be stored: {column} is"):
        Store(tmp_path / "results").add(found)
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize("run_id", ["../x", "", "0" * 33])
def test_no_run_is_stored_that_is_never_found_again(tmp_path: Path, run_id: str) -> None:
    found = valid(tmp_path)
    runs = found.runs.assign(run_id=run_id)
    samples = found.samples.assign(run_id=pd.Categorical([run_id] * len(found.samples)))

    problem = problem_of(Measurements(samples, runs))

    assert problem is not None
    assert "32 hexadecimal digits" in problem


def test_many_bad_files_are_not_kept_in_memory(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.csv").write_bytes(b"size_bytes,time_us\n8,quick\n")

    failures = import_files([tmp_path], Store(tmp_path / "results")).failures

    assert len(failures) == 3
    assert all(failure.__traceback__ is None for failure in failures)
    assert all(failure.__context__ is None for failure in failures)
