"""What takes long says how far it is, and can be interrupted."""

from __future__ import annotations

import random
import re
import signal
import time
from contextlib import suppress
from pathlib import Path

import pytest
from switchpoint.importing.reading import read_files
from switchpoint.reporting.terminal import progress as module
from switchpoint.reporting.terminal.progress import progress


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Speak after a tenth of a second, not after two or ten."""
    monkeypatch.setattr(module, "_SILENT_S", 0.1)
    monkeypatch.setattr(module, "_LINE_EVERY_S", 0.3)
    monkeypatch.setattr(module, "_REWRITTEN_S", 0.1)


@pytest.mark.usefixtures("hasty")
def test_in_a_pipe_long_work_prints_a_line_now_and_then(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with progress("reading", 40) as advance:
        advance()
        time.sleep(0.8)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert set(lines) <= {f"switchpoint: reading: 1 of 40, {second} s" for second in (0, 1)}


@pytest.mark.usefixtures("hasty")
def test_on_a_terminal_long_work_rewrites_one_line_and_removes_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("TERM", "xterm")
    with progress("reading"):
        time.sleep(0.5)
    shown = capsys.readouterr().err
    assert "reading: 0 s" in shown
    assert len(re.findall("reading", shown)) > 1
    assert shown.count("\n") == 1  # below the line, which is then removed
    assert shown.endswith("\x1b[1A\x1b[2K")


def test_short_work_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("reading", 40) as advance:
        advance()
    assert capsys.readouterr().err == ""


def test_an_interrupt_while_a_table_is_read_is_no_fault_of_the_table(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    rows = "".join(f"{2 ** (row % 20)},{row}.5,{row}\n" for row in range(20_000))
    table.write_text(f"size_bytes,time_us,rep\n{rows}")
    started = time.monotonic()
    read_files([table])
    full_s = time.monotonic() - started
    random.seed(1)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        for _ in range(40):
            with suppress(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, random.uniform(0, full_s / 2))
                assert read_files([table]).failures == []
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
