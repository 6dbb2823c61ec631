"""What a user of `switchpoint` types, sees and gets as exit code."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import RECORDS, SIZES, write_record
from typer.testing import Result

Run = Callable[..., Result]

OUTPUTS = Path(__file__).parent / "outputs"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A tidy CSV of two curves, one of them with a step at 65,536 B."""
    rows = [
        f"{net},{size},{(3 + size * 2e-4) * (1.5 if net == 'tcp' and size >= 65536 else 1):.4f}"
        for net in ("tcp", "ib")
        for size in SIZES
    ]
    path = tmp_path / "curves.csv"
    path.write_text("net,size_bytes,time_us\n" + "\n".join(rows) + "\n")
    return path


def test_detect_prints_json_in_the_documented_shape(switchpoint: Run, table: Path) -> None:
    result = switchpoint("detect", table, "--json")

    assert result.exit_code == 0
    content = json.loads(result.stdout)
    assert set(content) == {"findings"}
    [finding] = content["findings"]
    assert finding["kind"] == "step"
    assert (finding["last_size_before"], finding["size_bytes"]) == (52015, 65536)
    assert finding["magnitude"] == pytest.approx(0.5, abs=0.02)
    assert 0.5 < finding["confidence"] <= 1
    assert finding["curve"] == {"net": "tcp"}
    assert set(finding["evidence"]) == {
        "before", "after", "jump_us", "noise", "sizes", "posterior", "bend", "launches",
        "of_launches", "siblings", "of_siblings", "real",
    }  # fmt: skip
    assert finding["suspects"] == []


def test_detect_names_the_suspect_to_people(switchpoint: Run) -> None:
    result = switchpoint("detect", RECORDS / "openmpi-network-limit-65536.record.gz")

    assert result.exit_code == 0
    words = " ".join(result.stdout.split())
    assert "Open MPI 4.1.4 step 52,016 to 65,536 B +36 % 17.6 us 76 % 1 of 1" in words
    assert "pingpong, one_node_network, send" in words
    assert (
        "suspect btl_tcp_eager_limit = 65536 less 56 B header:"
        " last eager byte 65480, first rendezvous byte 65481"
    ) in words


def test_detect_says_when_there_is_nothing(switchpoint: Run, tmp_path: Path) -> None:
    path = write_record(tmp_path / "run.record", step_at=None)

    assert switchpoint("detect", path).stdout == "Nothing found in 1 curve.\n"
    assert json.loads(switchpoint("detect", path, "--json").stdout) == {"findings": []}


def test_a_file_that_may_not_be_read_costs_only_itself(
    switchpoint: Run, tmp_path: Path, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = write_record(tmp_path / "run.record")
    access, opened = os.access, os.open

    def allowed(path: Any, mode: int, **more: Any) -> bool:  # the tests may run as root
        return Path(path) != closed and access(path, mode, **more)

    def open_if_allowed(path: Any, *arguments: Any, **more: Any) -> Any:
        if isinstance(path, str | os.PathLike) and Path(path) == closed:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return opened(path, *arguments, **more)

    monkeypatch.setattr(os, "access", allowed)
    monkeypatch.setattr(os, "open", open_if_allowed)

    found = switchpoint("detect", table, closed, "--json")

    assert len(json.loads(found.stdout)["findings"]) == 1
    assert found.stderr == f"switchpoint: {closed}: Permission denied; check the path\n"


def test_import_then_detect_and_report_from_the_store(
    switchpoint: Run, tmp_path: Path, table: Path
) -> None:
    store = tmp_path / "results"
    record = write_record(tmp_path / "run.record")

    first = switchpoint("import", record, table, "--store", store)
    again = switchpoint("import", record, "--store", store, "--json")
    found = switchpoint("detect", "--store", store, "--json")
    page = switchpoint("report", "--store", store, "--output", tmp_path / "page", "--json")

    assert first.stdout == f"2 runs added to {store}\n"
    assert json.loads(again.stdout) == {
        "added": 0, "already_stored": 1, "values_added": 0, "values_already_stored": 0, "failed": []
    }  # fmt: skip
    curves = [finding["curve"] for finding in json.loads(found.stdout)["findings"]]
    assert {"net": "tcp"} in curves
    assert {
        "site": "here", "mpi": "Open MPI 4.1.4", "kernel": "pingpong",
        "placement": "one_node_network", "mode": "send",
    } in curves  # fmt: skip
    assert json.loads(page.stdout) == {"report": str(tmp_path / "page" / "index.html")}
    assert (tmp_path / "page" / "index.html").is_file()
    assert len(list((tmp_path / "page" / "runs").glob("*.html"))) == 2


def test_what_a_file_holds_besides_is_told_at_import_and_not_again(
    switchpoint: Run, tmp_path: Path
) -> None:
    store = tmp_path / "results"
    log = tmp_path / "Latency.log"
    text = (OUTPUTS / "reframe-variables.log").read_text()
    log.write_text(text.replace("|1.0|s|", "|1.0||"))  # a number without a unit says nothing

    first = switchpoint("import", log, "--store", store)
    later = switchpoint("detect", "--store", store)

    assert "warning" in first.stderr and "startup" in first.stderr
    assert "startup" not in later.stderr


def test_a_truncated_run_is_warned_of_once_and_marked_in_the_report(
    switchpoint: Run, tmp_path: Path
) -> None:
    store = tmp_path / "results"
    record = write_record(tmp_path / "run.record", footer=False)

    assert "truncated" in switchpoint("import", record, "--store", store).stderr
    for verb in ("detect", "explain", "reach"):
        assert "truncated" not in switchpoint(verb, "--store", store).stderr
    switchpoint("report", "--store", store, "-o", tmp_path / "page")
    assert "truncated" in (tmp_path / "page" / "index.html").read_text()


def test_bad_files_are_named_one_a_line_and_the_rest_goes_on(
    switchpoint: Run, tmp_path: Path, table: Path
) -> None:
    empty = tmp_path / "empty.record"
    empty.touch()

    result = switchpoint("detect", empty, "/none", table, "--json")

    assert result.exit_code == 0
    assert len(json.loads(result.stdout)["findings"]) == 1
    assert [line.split(": ")[:2] for line in result.stderr.splitlines()] == [
        ["switchpoint", str(empty)],
        ["switchpoint", "/none"],
    ]


@pytest.mark.parametrize("verb", ["detect", "report", "import"])
def test_nothing_usable_exits_with_2_and_writes_nothing(
    switchpoint: Run, tmp_path: Path, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    bad = tmp_path / "bad"
    bad.write_bytes(b"\x00\x01")

    result = switchpoint(verb, bad)

    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["bad"]


def test_a_truncated_record_is_used_with_a_warning(switchpoint: Run, tmp_path: Path) -> None:
    path = write_record(tmp_path / "run.record", footer=False)

    result = switchpoint("detect", path, "--json")

    assert result.exit_code == 0
    assert len(json.loads(result.stdout)["findings"]) == 1
    assert "warning" in result.stderr
    assert "truncated" in result.stderr


def test_curves_too_noisy_to_judge_are_warned_of(switchpoint: Run, tmp_path: Path) -> None:
    quiet = write_record(tmp_path / "run.record", step_at=None)
    lines = quiet.read_text().splitlines()
    for number in range(2, len(lines) - 1):
        *fields, time = lines[number].split(",")
        lines[number] = ",".join([*fields, str(float(time) * (1 + number * 7919 % 10))])
    noisy = tmp_path / "noisy.record"
    noisy.write_text("\n".join(lines) + "\n")

    assert switchpoint("detect", quiet).stderr == ""
    assert "too noisy" in switchpoint("detect", noisy).stderr


def test_an_output_that_cannot_be_written_is_named(
    switchpoint: Run, tmp_path: Path, table: Path
) -> None:
    taken = tmp_path / "file"
    taken.touch()

    for arguments, problem in (
        (["report", table, "-o", taken], "cannot be written"),
        (["import", table, "--store", taken], "is a file, not a store"),
    ):
        result = switchpoint(*arguments)
        assert result.exit_code == 2
        assert problem in result.stderr
        assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["detect", "--nonsense"], ["import"]], ids=" ".join
)
def test_bad_usage_exits_with_2(switchpoint: Run, arguments: list[str]) -> None:
    assert switchpoint(*arguments).exit_code == 2


def test_a_store_within_the_folder_is_not_imported(switchpoint: Run, tmp_path: Path) -> None:
    write_record(tmp_path / "a.record")
    arguments = ["import", tmp_path, "--store", tmp_path / "results"]
    assert switchpoint(*arguments).exit_code == 0

    again = switchpoint(*arguments)

    assert again.exit_code == 0
    assert again.stderr == ""


def test_an_unknown_store_is_named(switchpoint: Run, tmp_path: Path) -> None:
    for url in (tmp_path / "none", "nonsense://bucket/results"):
        result = switchpoint("detect", "--store", url)
        assert result.exit_code == 2
        assert result.stderr.startswith(f"switchpoint: {url}: ")
        assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"size_bytes,time_us\n8,NaN\n", "has no rows with time_us"),
        (b"size_bytes,time_us\n8,-1\n", "line 2: time_us is -1"),
        (b"size_bytes,time_us\n-8,1\n", "line 2: size_bytes is -8"),
        (b"size_bytes,bandwidth\n8,1\n", "has no column of times or bandwidths with a unit"),
        (b"size_bytes,time_us\n8,1us\n16,1ms\n", "line 2: time_us is '1us', not a number"),
        (b"\x7fELF\x02\x01\0\0", "is a binary file"),
        (b"", "is empty"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    switchpoint: Run, tmp_path: Path, content: bytes, problem: str
) -> None:
    path = tmp_path / "curves.csv"
    path.write_bytes(content)

    result = switchpoint("detect", "--json", path)

    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"switchpoint: {path}: ")
    assert problem in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "rows",
    [
        ["8,1"],
        ["8,1", "16,2"],
        ["8,1", "8,2", "8,3"],
        ["0,1", "8,1"],
        [f"{2**power},5" for power in range(20)],
    ],
    ids=["one size", "two points", "one size repeated", "zero bytes", "constant"],
)
def test_curves_too_poor_for_a_finding_have_none(
    switchpoint: Run, tmp_path: Path, rows: list[str]
) -> None:
    path = tmp_path / "curves.csv"
    path.write_text("\n".join(["size_bytes,time_us", *rows]) + "\n")

    result = switchpoint("detect", "--json", path)

    assert result.exit_code == 0
    assert json.loads(result.stdout) == {"findings": []}


@pytest.mark.parametrize("sizes", [[8], [8, 8, 8], [8, 16]], ids=str)
def test_curves_too_short_for_a_step_are_warned_of(
    switchpoint: Run, tmp_path: Path, sizes: list[int]
) -> None:
    path = tmp_path / "short.csv"
    path.write_text("size_bytes,time_us\n" + "".join(f"{size},1.5\n" for size in sizes))

    result = switchpoint("detect", "--json", path)

    assert json.loads(result.stdout) == {"findings": []}
    assert "no curve has 6 sizes, which the search for steps needs" in result.stderr


def test_sizes_may_come_in_any_order_and_repeat(switchpoint: Run, tmp_path: Path) -> None:
    rows = [f"{2**p},{(2 + 3e-4 * 2**p) * (1.5 if p > 15 else 1)}" for p in range(21)] * 2
    printed = []
    for name, order in (("up", rows), ("down", rows[::-1])):
        path = tmp_path / f"{name}.csv"
        path.write_text("\n".join(["size_bytes,time_us", *order]) + "\n")
        [finding] = json.loads(switchpoint("detect", "--json", path).stdout)["findings"]
        printed.append(finding | {"run_id": None})

    assert printed[0] == printed[1]
    assert (printed[0]["last_size_before"], printed[0]["size_bytes"]) == (32768, 65536)


@pytest.mark.parametrize("head", ["", "size_bytes,time_us\n" + "8,1.5\n" * 20000])
def test_a_huge_file_is_refused_without_reading_all_of_it(
    switchpoint: Run, tmp_path: Path, head: str
) -> None:
    path = tmp_path / "huge"
    path.write_text(head)
    with path.open("r+b") as stream:
        stream.truncate(2**30)  # sparse: a gigabyte that takes no room

    result = switchpoint("detect", path)

    assert result.exit_code == 2
    assert ("is larger than 128 MiB; split it" if head else "is a binary file") in result.stderr


def test_thousands_of_files_go_in_and_the_rest_is_listed(switchpoint: Run, tmp_path: Path) -> None:
    folder = tmp_path / "output"
    folder.mkdir()
    for number in range(300):
        (folder / f"{number}.csv").write_text(f"size_bytes,time_us,node\n8,1,{number}\n")
        (folder / f"{number}.log").write_text("all is well\n")

    result = switchpoint("import", folder, "--store", tmp_path / "store", "--json")

    assert json.loads(result.stdout)["added"] == 300
    assert len(json.loads(result.stdout)["failed"]) == 300
    # Where it takes long, lines before it say how far it is.
    last = "switchpoint: skipped: 300 files that are not results (.log)\n"
    assert result.stderr.endswith(last) and result.stderr.count("skipped") == 1


def test_detect_writes_the_report_from_the_same_findings(switchpoint: Run, tmp_path: Path) -> None:
    record = write_record(tmp_path / "run.record")

    result = switchpoint("detect", record, "--report", tmp_path / "report")

    page = tmp_path / "report" / "index.html"
    assert result.stdout.splitlines()[-1] == str(page)
    assert "52,015 to 65,536 B" in page.read_text()


def test_doctor_tells_what_is_there_and_how_to_fix_the_rest(switchpoint: Run) -> None:
    result = switchpoint("doctor", "--json")

    assert result.exit_code == 0
    facts = json.loads(result.stdout)["facts"]
    assert {"clock", "noise", "CPU binding", "Slurm", "testbed"} <= {f["topic"] for f in facts}
    assert all(fact["found"] for fact in facts)
    assert all(bool(fact["fix"]) == (fact["state"] != "ok") for fact in facts)


def test_doctor_says_that_other_programs_keep_the_cores_busy(switchpoint: Run) -> None:
    spin = [sys.executable, "-c", "while True: pass"]
    busy = [subprocess.Popen(spin) for _ in range(os.cpu_count() or 1)]
    try:
        facts = json.loads(switchpoint("doctor", "--json").stdout)["facts"]
    finally:
        for program in busy:
            program.kill()
            program.wait()

    [noise] = [fact for fact in facts if fact["topic"] == "noise"]
    assert noise["state"] == "poor"
    assert noise["fix"] == "end other programs, then measure"


def test_doctor_names_the_library_behind_each_compiler_wrapper(
    switchpoint: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrapper = tmp_path / "mpicc"
    wrapper.write_text('#!/bin/sh\n[ "$1" = --showme:version ] && echo "mpicc: Open MPI 9.8.7"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    facts = {
        fact["topic"]: fact for fact in json.loads(switchpoint("doctor", "--json").stdout)["facts"]
    }

    assert facts["MPI: mpicc"]["found"] == f"Open MPI 9.8.7, {wrapper}"
    assert facts["C build"]["state"] == "missing"


@pytest.mark.parametrize(
    ("version", "state"), [("3.20.4", "missing"), ("3.22.1", "ok"), ("4.0.0", "ok")]
)
def test_doctor_knows_which_cmake_builds_the_kernels(
    switchpoint: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, state: str
) -> None:
    program = tmp_path / "cmake"
    program.write_text(f"#!/bin/sh\necho cmake version {version}\necho and more\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    facts = json.loads(switchpoint("doctor", "--json").stdout)["facts"]

    [found] = [fact for fact in facts if fact["topic"] == "C build"]
    assert (found["found"], found["state"]) == (f"cmake version {version}", state)
    assert ("3.22 or newer is needed" in found["fix"]) == (state == "missing")


def test_help_starts_without_loading_the_analysis() -> None:
    program = (
        "import sys; from switchpoint.cli.command import app\n"
        "try: app(['--help'])\n"
        "except SystemExit: pass\n"
        "assert not {'pandas', 'pyarrow', 'plotly'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("nosuch", "No such command 'nosuch'; `switchpoint -h` shows what it takes"),
        ("store nosuch", "No such command 'nosuch'; `switchpoint store -h` shows what it takes"),
        ("gate --nosuch", "No such option: --nosuch; `switchpoint gate -h` shows what it takes"),
        ("import", "Missing argument 'FILE...'; `switchpoint import -h` shows what it takes"),
        ("gate --history x", "Invalid value for '--history': "),
        ("import \033[2J --nosuch", "No such option: --nosuch"),
    ],
)
def test_a_mistake_in_the_words_is_one_line(words: str, told: str) -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("switchpoint"), *words.split()],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert line.startswith(f"switchpoint: {told}")


def test_help_in_a_pipe_has_no_trailing_blanks() -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("switchpoint"), "detect", "--help"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert lines[0] == "Usage: switchpoint detect [OPTIONS] [FILE]..."
    assert lines == [line.rstrip() for line in lines]


def test_no_words_show_the_help() -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("switchpoint"), "store"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2 and not done.stderr
    assert "compact" in done.stdout


def test_a_full_device_is_one_line() -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123  a device
        done = subprocess.run(
            [sys.executable, "-m", "switchpoint", "--version"],
            stdout=full, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == (
        "switchpoint: No space left on device: free some space and run the command again\n"
    )


@pytest.mark.parametrize("module", ["typing", "typer"])
def test_ctrl_c_before_the_command_is_loaded_prints_no_traceback(
    tmp_path: Path, module: str
) -> None:
    (tmp_path / f"{module}.py").write_text(
        "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)\n"
    )

    done = subprocess.run(
        [sys.executable, "-m", "switchpoint", "--version"],
        env=os.environ | {"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


def _command(*words: object, **named: Any) -> subprocess.CompletedProcess[str]:
    """Run the command as a process of its own."""
    line = [sys.executable, "-m", "switchpoint", *map(str, words)]
    return subprocess.run(line, stderr=subprocess.PIPE, text=True, check=False, **named)


def test_ctrl_c_exits_as_a_shell_says_and_not_as_a_finding(table: Path, tmp_path: Path) -> None:
    (tmp_path / "pyarrow.py").write_text(
        "import os, signal, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # the tests may ignore it
        "os.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)\n"
    )
    named: dict[str, Any] = {"env": os.environ | {"PYTHONPATH": str(tmp_path)}}
    done = _command("store", "ls", "--store", tmp_path, stdout=subprocess.PIPE, **named)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "switchpoint: interrupted\n")


def test_control_c_while_the_options_are_read_ends_without_a_traceback() -> None:
    program = (
        "import signal, typer.main as typer\n"
        "real = typer.get_command\n"
        "typer.get_command = lambda app: (signal.raise_signal(signal.SIGINT), real(app))[1]\n"
        "from switchpoint.__main__ import main\n"
        "main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "switchpoint: interrupted\n")


@pytest.mark.parametrize("module", ["pyarrow", "typer"])
def test_an_unexpected_failure_is_a_line_and_its_traceback_and_exits_with_3(
    tmp_path: Path, module: str
) -> None:
    (tmp_path / f"{module}.py").write_text('raise RuntimeError("odd \\033[2J thing")')
    done = _command("gate", env=os.environ | {"PYTHONPATH": str(tmp_path)}, cwd=tmp_path)
    assert done.returncode == 3
    first, *rest = done.stderr.splitlines()
    assert first == (
        "switchpoint: unexpected failure (RuntimeError: odd \\x1b[2J thing);"
        " please report it with these lines:"
    )
    assert rest[0] == "Traceback (most recent call last):"
    assert rest[-1] == "RuntimeError: odd \\x1b[2J thing"


def test_memory_that_is_full_is_one_line_and_exits_with_3(tmp_path: Path) -> None:
    (tmp_path / "pyarrow.py").write_text("raise MemoryError")
    done = _command("gate", env=os.environ | {"PYTHONPATH": str(tmp_path)}, cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (3, 1)
    assert done.stderr.startswith("switchpoint: needs more memory than there is")


@pytest.mark.parametrize("redirected", [">&-", "1</dev/null", ">&- 2>&- <&-"])
@pytest.mark.parametrize("words", ["detect curves.csv", "store ls", "--help"])
def test_a_closed_output_is_one_line(table: Path, redirected: str, words: str) -> None:
    done = subprocess.run(
        ["sh", "-c", f'"$0" -m switchpoint {words} {redirected}', sys.executable],
        cwd=table.parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
    told = "switchpoint: standard output is closed; redirect it to a file, or to /dev/null\n"
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == ("" if "2>&-" in redirected else told)


def test_a_closed_standard_error_costs_only_the_warnings(table: Path) -> None:
    done = subprocess.run(
        ["sh", "-c", '"$0" -m switchpoint detect nosuch.csv curves.csv 2>&-', sys.executable],
        cwd=table.parent, stdout=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert "65,536" in done.stdout and "nosuch" not in done.stdout


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_names_that_the_terminal_cannot_show_are_escapes(tmp_path: Path, encoding: str) -> None:
    rows = [
        f"{net},{size},{(3 + size * 2e-4) * (1.5 if size >= 65536 else 1):.4f}"
        for net in ("дом €", "tcp")
        for size in SIZES
    ]
    (tmp_path / "дом.csv").write_text("\n".join(["net,size_bytes,time_us", *rows, ""]), "utf-8")
    (tmp_path / "bad-дом.csv").write_text("net,size_bytes,time_us\n", "utf-8")
    named: dict[str, Any] = {
        "stdout": subprocess.PIPE, "cwd": tmp_path,
        "env": os.environ | {"PYTHONIOENCODING": encoding},
    }  # fmt: skip

    done = _command("detect", "дом.csv", "bad-дом.csv", "--all", **named)
    assert done.returncode == 0
    assert r"\u0434\u043e\u043c \u20ac" in done.stdout
    assert done.stderr.startswith(r"switchpoint: bad-\u0434\u043e\u043c.csv: has no rows")

    done = _command("detect", "дом.csv", "--json", **named)
    assert done.returncode == 0
    assert {f["curve"]["net"] for f in json.loads(done.stdout)["findings"]} == {"дом €", "tcp"}
