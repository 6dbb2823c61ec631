"""Says what a file that no reader reads looks like, so that a person knows what it lacks."""

from __future__ import annotations

import re

from switchpoint.importing.choices import Choices
from switchpoint.importing.column_names import is_latency
from switchpoint.importing.column_plan import NoPlanError, has_kind, plan_of
from switchpoint.importing.printed_tables import plain_row
from switchpoint.importing.tidy import heading, without_comments

#: What a text of a kind contains, and the kind in words: what it is, and why it is not read.
_KINDS = [
    (
        re.compile(rb"^[ \t]*#bytes\s+#iterations\s+(?:BW peak|BW average|t_min|t_avg)", re.M),
        "perftest's output: no title, such as 'RDMA_Write BW Test', says what was measured; add it",
    ),
    (
        re.compile(
            rb"^[ \t]*#[ \t]*OSU MPI\S*[ _].+ Test\b|^#?[ \t]*Size[ \t]+(?:Avg )?Latency ?\(us\)",
            re.M,
        ),
        "OSU Micro-Benchmarks' output: there is no table below the title; measure again",
    ),
    (
        re.compile(rb"^[ \t]*#bytes\s+#repetitions\s", re.M),
        "Intel MPI Benchmarks' output: no line '# Benchmarking NAME' says what was measured; add"
        " it",
    ),
    (
        re.compile(rb"\balgbw\b[^\r\n]{0,64}\bbusbw\b"),
        "nccl-tests' output: no heading 'size count type ... algbw' is whole; copy it again",
    ),
    (
        re.compile(rb"\|reframe \d|\breframe \d+\.\d+[^|]*\|", re.I),
        "performance logs of ReFrame: no line has a value with its unit",
    ),
    (
        re.compile(rb"^\[ *ID\] +Interval +Transfer", re.M),
        "iperf's output: it has no message sizes",
    ),
    (
        re.compile(rb"^\.\. (?:list|csv)-table::", re.M),
        "a list-table or csv-table of reStructuredText: write it as a grid, or as CSV",
    ),
]

#: A row of a CSV has a field that is a number.
_HAS_NUMBER = re.compile(rb"(?:^|[,;\t])[\s\"]{0,8}\d[\d.,eE+-]{0,30}[\s\"]{0,8}(?:[,;\t]|$)")

#: So many lines of numbers with rising sizes are a table.
_LEAST_ROWS = 6


def near_miss(head: bytes) -> str:
    """Return what a file with this start looks like, and why it is not read; or nothing."""
    for pattern, words in _KINDS:
        if pattern.search(head):
            return words
    return _csv(head) or _numbers(head)


def _csv(head: bytes) -> str:
    """Return what a CSV with message sizes, or with times of messages, lacks."""
    head = without_comments(head)
    names, _ = heading(head)
    timed = any(map(is_latency, names)) and len(names) > 1
    if not (has_kind(names, "size") or timed) or len(names) < 2:
        return ""
    rows = [line for line in head.splitlines()[1:3] if line.strip()]
    if not any(len(heading(row)[0]) == len(names) and _HAS_NUMBER.search(row) for row in rows):
        return ""  # a sentence with commas
    try:
        plan_of(names, Choices())
    except NoPlanError as error:
        return f"CSV of messages: it {error}"
    return ""


def _numbers(head: bytes) -> str:
    """Return whether a text contains a table of numbers whose names are lost."""
    last, rows = -1.0, 0
    for line in head.decode("utf-8", errors="replace").splitlines():
        fields = plain_row(line.strip())
        if len(fields) > 1 and fields[0].isdigit() and "." in "".join(fields[1:]):
            size = float(fields[0])
            doubled = last < 0 or size == 2 * last or (last == 0 and size in (1, 2, 4, 8))
            rows = rows + 1 if doubled else 0
            last = size
            if rows >= _LEAST_ROWS:
                return (
                    "tables of message sizes: no heading says what the numbers are; write"
                    " size_bytes,time_us above them, with commas between them"
                )
    return ""
