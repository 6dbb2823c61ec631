"""Reads what linux-rdma's perftest prints: `ib_write_bw`, `ib_read_lat` and their like.

Their `MB/sec` are 2^20 B/s, as `MiB/sec` in newer versions. A latency is printed as half of a
round trip, except for reads and atomic operations.
"""

from __future__ import annotations

import re
from pathlib import Path

from switchpoint.importing.external import content
from switchpoint.importing.labels import Surroundings
from switchpoint.importing.printed import Columns, as_runs, parts_of
from switchpoint.importing.printed_lines import BEFORE_TITLE, printed_lines
from switchpoint.importing.printed_tables import Fact, Heading, Part, Title, find_tables, plain_row
from switchpoint.tables.measurements import Measurements

NAME = "perftest"

_TITLE = re.compile(
    r"(?:Dual-port )?(?P<operation>RDMA_Write|RDMA_Read|Send|Atomic)(?P<more>(?: \w+)*?)"
    r" (?P<metric>BW|Latency) Test"
)
_RECOGNISED = re.compile(
    BEFORE_TITLE + rb"(?:Dual-port )?(?:RDMA_\w+|Send|Atomic)(?: \w+){0,4} (?:BW|Latency) Test\b",
    re.MULTILINE,
)

#: Lines above a table have one or two facts.
_FACT = re.compile(r"(?P<name>[A-Z][\w ./-]*?)\s*:\s+(?P<value>\S+)")
_FACTS = {
    "Number of qps": "queue_pairs",
    "Connection type": "connection",
    "Transport type": "transport",
    "TX depth": "depth",
    "CQ Moderation": "moderation",
    "Mtu": "mtu",
    "Link type": "link_type",
    "Device": "device",
}

#: Names may contain blanks, and end with their unit.
_NAME = re.compile(r"#bytes|#iterations|[^\s#\]][^#\]]*\]")

_COLUMNS = Columns(
    size="#bytes",
    iterations="#iterations",
    metrics={
        "t_avg[usec]": "time",
        "BW average[MB/sec]": "MiB/s",
        "BW average[MiB/sec]": "MiB/s",
        "BW average[Gb/sec]": "Gb/s",
    },
    statistics={
        "t_typical[usec]": ("median", "time"),
        "t_min[usec]": ("min", "time"),
        "t_max[usec]": ("max", "time"),
        "99% percentile[usec]": ("p99", "time"),
        # The largest bandwidth is of the smallest time.
        "BW peak[MB/sec]": ("min", "MiB/s"),
        "BW peak[MiB/sec]": ("min", "MiB/s"),
        "BW peak[Gb/sec]": ("min", "Gb/s"),
    },
    fixed=False,
)


def recognises(head: bytes) -> bool:
    """Return whether a line is the title of one of the programs."""
    return b"\0" not in head and b"#bytes" in head and _RECOGNISED.search(head) is not None


def read(path: Path, around: Surroundings, data: bytes | None = None) -> Measurements:
    """Read the output; identity: `kernel`, such as ib_write_bw, and what the lines above say."""
    data = content(path) if data is None else data
    tables, problems = find_tables(printed_lines(path, data), _Grammar())
    parts, of_rows = parts_of(tables, _COLUMNS, around.choices.statistic)
    return as_runs(path, around, "perftest", _Grammar.tool, data, parts, [*problems, *of_rows])


class _Grammar:
    """What the programs print."""

    tool = "perftest"
    size = "#bytes"
    fixed = False

    def row(self, text: str) -> list[str]:
        """Return the fields of a plain row."""
        return plain_row(text)

    def part(self, text: str, identity: dict[str, str]) -> Part | None:
        """Return what a line is, if it is no plain row."""
        if title := _TITLE.fullmatch(text):
            operation = title["operation"].lower().removeprefix("rdma_")
            names = {"kernel": f"ib_{operation}_{'bw' if title['metric'] == 'BW' else 'lat'}"}
            if more := title["more"].strip().lower():
                names["variant"] = more
            return Title(names)
        if "kernel" not in identity:
            return None
        if text.startswith("#bytes"):
            names_of_columns = _NAME.findall(text)
            known = _COLUMNS.choose(names_of_columns, "") is not None
            return Heading(names_of_columns, "" if known else "are not known")
        facts = {
            _FACTS[fact["name"]]: fact["value"]
            for fact in _FACT.finditer(text)
            if fact["name"] in _FACTS
        }
        return Fact(facts) if facts else None
