"""Finds tables in what benchmarks print, and says of each other line of a table why it is no row.

A tool's grammar knows its titles and headings. A table ends at the first line that is no row.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from switchpoint.importing.commands import facts_of_command
from switchpoint.importing.printed_lines import Line
from switchpoint.importing.problems import NO_ROWS, Problem
from switchpoint.importing.row_forms import decimals
from switchpoint.limits import ROW_CHARACTERS

#: A field that should be a number. `0,16` and `0x20` are counted as lost.
NUMBER = r"(?:-?(?:0x[\da-f]+|(?=[.,]?\d)[\d.]*(?:,[\d.]+)*(?:e[-+]?\d+)?)|-?nan|-?inf)"

_FIELD = re.compile(rf"{NUMBER}|pass(?:ed)?|fail(?:ed)?", re.IGNORECASE)

_FIELDS = 40

#: The first two fields of a line that began as a row: a size such as `4096` or `4K`, and a number.
_BROKEN_ROW = re.compile(r"\d[\w.,]*\W?\s+-?[\d.,][^\s:/-]*(?:\s|$)")

#: A number within a line that is no row, perhaps with a unit behind it, and colours of terminals.
_NUMBER_WITHIN = re.compile(r"(?<![\d.])(?:\d{1,3}(?:[,']\d{3})+|\d+)(?:\.\d+)?(?![\d.])")

_COLOUR = re.compile(r"\x1b\[[\d;]*m")

#: So many lines of numbers with rising sizes are rows of a table.
_LEAST_ROWS = 3

#: A row at the end of another line.
_ROW_BEHIND = re.compile(r"\d\s+\d+\.\d+$")

#: A row that goes on after other lines is not more than so much larger than the last one. Tables
#: have each power of two, or each second one.
_LARGEST_STEP = 4

#: The key of tables that are drawn in Markdown or reStructuredText.
DRAWN = "Markdown or reStructuredText"

#: A title of each tool, wherever a line contains it.
TITLES = {
    "OSU Micro-Benchmarks": re.compile(r"#\s*OSU MPI(?:-\w+)?[ _].+ Test\b"),
    "Intel MPI Benchmarks": re.compile(r"#\s*Benchmarking\s+[\w-]+"),
    "nccl-tests": re.compile(r"#\s*size\s+count\s+type\b.*\balgbw\b"),
    "perftest": re.compile(
        r"^(?:Dual-port )?(?:RDMA_\w+|Send|Atomic)(?: \w+){0,4} (?:BW|Latency) Test$"
    ),
    "mpiBench": re.compile(r"^\w+\s+Bytes:\s+\d+\s+Iters:\s+\d+\s+Avg:"),
    "SKaMPI": re.compile(r'^begin result "'),
    DRAWN: re.compile(r"^\|[^|]*\b(?:size|bytes)\b[^|]*\|.*\|$|^=+(?:\s+=+)+$", re.IGNORECASE),
    "ReproMPI": re.compile(
        r"^test\s+(?:\w+\s+){0,12}?(?:count|msize)\s+(?:\w+\s+){0,12}?\w*runtime_sec\b"
    ),
    "NetPIPE": re.compile(r"(?<!\d)\d+ bytes +\d+ times -->|^\d+\s+\d+\.\d{6}\s+\d+\.\d{8}$"),
    "ReFrame": re.compile(r"^result\|job_completion_time\||^[^|]*\|reframe \d"),
    "CSV": re.compile(
        r"^(?:.*,)?\s*\"?size_bytes\"?\s*(?:,|$)"
        r"|^(?:[^,;]*[,;])*\s*\"?(?:x\.)?(?:message[ _.])?(?:size|bytes)\b[^,;]*[,;]"
        r"|^(?:[^,;]*[,;])+\s*\"?(?:x\.)?(?:message[ _.])?(?:size|bytes)\b[^,;]*$",
        re.IGNORECASE,
    ),
}

#: A line that starts a benchmark: a launcher with its options, or a program at the start.
_COMMAND = re.compile(
    r"\b(?:srun|mpirun|mpiexec(?:\.\w+)?|aprun|jsrun|prun|ibrun|flux run)\s+[-./].*"
    r"|(?:^|(?<=[$#>+] ))(?:[\w.~-]*/)*(?:osu_[a-z_]+|IMB-[A-Z]\w+|NP[a-z]\w*)(?:\s+[-DHM].*)?$"
)


def find_tables(lines: Iterable[Line], grammar: Grammar) -> tuple[list[Table], list[Problem]]:
    """Return the tables of a file in their order, those of each rank for itself, and problems."""
    scans: dict[str, _Scan] = {}
    command = ""
    since_rows: set[str] = set()  # several commands in a row do not say which one printed a table
    started = False
    alone: dict[str, bool] = {}
    for line in lines:
        if not line.text[:1].isdigit() and (match := _COMMAND.search(line.text)):
            command = match[0]
            since_rows = {command} if started else since_rows | {command}
            started = False
            alone[command] = len(since_rows) == 1
        elif line.text[:1].isdigit():
            started = True
        scans.setdefault(line.rank, _Scan(grammar, line.rank)).take(line, command)
    tables: list[Table] = []
    problems: list[Problem] = []
    for scan in scans.values():
        scan.end_title()
        tables += scan.tables
        problems += scan.problems
    for rank, scan in scans.items():
        strays = [line for line, row in scan.strays if any(_is_row_of(row, of) for of in tables)]
        if strays and not scan.tables:
            what = f"a row behind '{rank}', which printed no title, is skipped"
            problems += [Problem(line, what) for line in strays]
    tables.sort(key=lambda table: table.lines[0] if table.lines else 0)
    for table in tables:
        if alone.get(table.command):
            table.identity = facts_of_command(table.command, table.identity) | table.identity
    return tables, problems


class _Scan:
    """Reads the lines of one rank, one after the other."""

    def __init__(self, grammar: Grammar, rank: str) -> None:
        self.tables: list[Table] = []
        self.problems: list[Problem] = []
        #: Numbers without a title above them: their line and fields.
        self.strays: list[tuple[int, list[str]]] = []
        self._grammar, self._rank = grammar, rank
        self._identity: dict[str, str] = {}
        self._ahead: dict[str, str] = {}
        self._title_line = self._told = 0  # the problems before the title
        self._skipped_tool: str | None = None
        self._of_title: list[Table] = []
        self._after_another = False
        self._open: Table | None = None
        self._skipped_heading = False
        #: The first line after the last row that is no row, if there is one.
        self._gap: Line | None = None
        #: Lines of numbers behind the gap that have another form than the table's rows.
        self._foreign: list[tuple[int, list[str]]] = []

    def take(self, line: Line, command: str) -> None:
        """Read the next line; `command` is the last one that started a benchmark."""
        fields = self._grammar.row(line.text)
        if fields and self._open is not None:
            self._row(line, fields)
        elif part := self._grammar.part(line.text, self._identity):
            self._take_part(line.number, part, command)
            if _ROW_BEHIND.search(line.text):
                self._tell(line.number, "a row behind other text is skipped")
        elif tool := other_tool(line.text, self._grammar.tool):
            self._other_table(line.number, tool)
        elif fields:
            self._row(line, fields)
        else:
            self._other(line)

    def _other_table(self, number: int, tool: str) -> None:
        self.end_title()
        self._identity = {}
        if tool != self._skipped_tool:
            what = f"a table of {tool} begins, which is skipped: import it from its own file"
            self._tell(number, what)
        self._skipped_tool = tool

    def _take_part(self, number: int, part: Part, command: str) -> None:
        if isinstance(part, Title):
            self.end_title()
            self._title_line, self._told, self._skipped_tool = number, len(self.problems), None
            self._skipped_heading = False
            again = self._after_another and (
                self._identity.get("kernel") == part.identity.get("kernel")
            )
            facts = self._identity if again else {}
            self._identity, self._ahead = facts | part.identity | self._ahead, {}
            if part.columns:
                self._start(part.columns, command)
        elif isinstance(part, Heading):
            self._heading(number, part, command)
        elif isinstance(part, Lost):
            self._tell(number, part.what)
        elif part.ahead:
            self._ahead |= part.identity
        else:
            self._identity = self._identity | part.identity
            if self._open is not None:  # OSU 7.1 prints the datatype below the heading
                self._start(self._open.columns, command)

    def end_title(self) -> None:
        """End the tables of the last title. Say so if there are none."""
        self._end_table()
        rows = any(table.rows for table in self._of_title)
        self._after_another = bool(self._title_line) and not rows
        if self._after_another and len(self.problems) == self._told:
            self._tell(self._title_line, NO_ROWS)
        self._title_line, self._of_title, self._open = 0, [], None

    def _end_table(self) -> None:
        """Say which lines below the last rows are rows of another form."""
        sizes = [_number(fields[0]) for _, fields in self._foreign]
        rising = all(size < after for size, after in itertools.pairwise(sizes))
        if len(sizes) >= _LEAST_ROWS and rising:
            what = "rows of another form than the table's begin, which are skipped"
            self._tell(self._foreign[0][0], what)
        self._foreign = []

    def _heading(self, number: int, heading: Heading, command: str) -> None:
        self._end_table()
        self._open, self._skipped_heading = None, True
        before = next((table for table in self._of_title if table.rows), None)
        shown = "  ".join(heading.columns)[:60]
        if heading.problem:
            self._tell(number, f"the columns '{shown}' {heading.problem}: the table is skipped")
        elif len({*heading.columns}) < len(heading.columns):
            self._tell(number, f"'{shown}' names a column twice: the table is skipped")
        elif before is not None and before.columns != heading.columns:
            what = f"a second table '{shown}' has no title of its own: it is skipped"
            self._tell(number, what)
        else:
            if before is not None and before.identity == self._identity:
                what = (
                    "a second heading below one title: its rows are taken for the same benchmark's"
                )
                self._tell(number, what)
            self._start(heading.columns, command)
            for name in heading.left_out:
                self._tell(number, f"column '{name[:40]}' is not known and is left out")

    def _start(self, columns: list[str], command: str) -> None:
        self._open = Table(self._identity, columns, self._rank, command, self._after_another)
        self._skipped_heading = False
        self._of_title.append(self._open)
        self.tables.append(self._open)
        self._gap = None

    def _row(self, line: Line, fields: list[str]) -> None:
        table = self._open
        if table is None:
            if self._title_line and not self._skipped_heading:
                self._tell(line.number, "a row without a heading above it is skipped")
            elif not self.tables:
                self.strays.append((line.number, fields))
            return
        if table.rows and self._gap is not None:
            if not _alike(fields, table.rows[-1], fixed=self._grammar.fixed):
                if tool := other_tool(line.text, self._grammar.tool):
                    self._other_table(line.number, tool)
                else:  # numbers of another program
                    self._foreign.append((line.number, fields))
                return
            if not _goes_on(fields, table, self._grammar.size):
                self._tell(line.number, "a row after the end of the table is skipped")
                return
            text = f"'{self._gap.text[:40]}'" if self._gap.text else "a blank line"
            self._tell(self._gap.number, f"{text} is no row; the table goes on after it")
        self._gap = None
        table.rows.append(fields)
        table.lines.append(line.number)
        if not line.ended:
            table.not_ended.add(line.number)

    def _other(self, line: Line) -> None:
        if self._open is None:
            return
        in_table = self._gap is None or not self._gap.text
        between_sizes = not line.text and self._open.columns[0] == "Group"  # as IMB prints them
        if (in_table and _BROKEN_ROW.match(line.text)) or _shows_row(
            line.text, self._open, self._grammar
        ):
            self._tell(line.number, f"'{line.text[:40]}' is no plain row and is skipped")
        elif in_table and not between_sizes:
            self._gap = line

    def _tell(self, line: int, what: str) -> None:
        self.problems.append(Problem(line, what, self._identity.get("kernel", "")))


def other_tool(text: str, tool: str) -> str | None:
    """Return the name of another tool whose title a line, or the start of a long one, contains."""
    text = text[:ROW_CHARACTERS]
    others = (name for name, title in TITLES.items() if name != tool and title.search(text))
    return next(others, None)


def plain_row(text: str, field: re.Pattern[str] = _FIELD) -> list[str]:
    """Return the fields of a plain row; none if a line is not one."""
    if not text[:1].isdigit() and not (text[:1] == "-" and text[1:2].isdigit()):
        return []
    fields = text.split(maxsplit=_FIELDS)
    return fields if all(map(field.fullmatch, fields)) else []


def _alike(fields: list[str], others: list[str], *, fixed: bool) -> bool:
    """Return whether a line has the form of a row: as many fields, and decimals in the same."""
    return len(fields) == len(others) and all(
        not fixed or bool(decimals(field)) == bool(decimals(other))
        for field, other in zip(fields, others, strict=True)
        if None not in (decimals(field), decimals(other))
    )


def _goes_on(fields: list[str], table: Table, column: str) -> bool:
    """Return whether a row has the next size of a table, in the column of sizes."""
    place = table.columns.index(column) if column in table.columns else 0
    last, size = (
        _number(row[place]) if place < len(row) else math.nan for row in (table.rows[-1], fields)
    )
    return last < size <= max(_LARGEST_STEP * last, _LARGEST_STEP)


def _is_row_of(fields: list[str], table: Table) -> bool:
    """Return whether numbers have the form of a table's rows."""
    return any(_alike(fields, row, fixed=True) for row in table.rows[:1])


def _shows_row(text: str, table: Table, grammar: Grammar) -> bool:
    """Return whether a line contains a row of a table: the next one, or the first one.

    Colours, quotation marks of mails, a time stamp, a bar of a drawn table, a message in front of
    the row or a unit behind a number make it a line that is no row.
    """
    width = len(table.columns)
    if width < 2:
        return False
    words = _COLOUR.sub("", text).split()
    found = _NUMBER_WITHIN.findall(_COLOUR.sub("", text))
    numbers = [number.replace(",", "").replace("'", "") for number in found]
    windows = [numbers[start : start + width] for start in range(len(numbers) - width + 1)]
    if not table.rows:
        return any("." not in row[0] and "." in "".join(row) for row in windows)
    if any(
        _alike(row, table.rows[-1], fixed=grammar.fixed) and _goes_on(row, table, grammar.size)
        for row in windows
    ):
        return True
    return len(words) == width and _goes_on(words, table, grammar.size)


def _number(text: str) -> float:
    """Return a number; NaN for other text."""
    try:
        return float(text)
    except ValueError:
        return math.nan


@dataclass
class Table:
    """One printed table.

    Attributes
    ----------
    identity : dict of str to str
        What the text around it says about the curve, such as `kernel` and `processes`.
    columns : list of str
        In the printed order.
    rank, command : str
        The rank that printed it, and the command before it; empty if they are not known.
    after_another : bool
        Whether the title before its own has no rows, so that the rows may be of both.
    rows, lines : list
        The fields of each row as text, and the row's line in the file, counted from 1.
    not_ended : set of int
        Rows' lines without a line end: the rest of the last number may be lost.
    """

    identity: dict[str, str]
    columns: list[str]
    rank: str = ""
    command: str = ""
    after_another: bool = False
    rows: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    not_ended: set[int] = field(default_factory=set)


@dataclass(frozen=True)
class Title:
    """A line after which another benchmark's tables follow; `columns` if they have no heading."""

    identity: dict[str, str]
    columns: list[str] | None = None


@dataclass(frozen=True)
class Fact:
    """A line with facts about the tables of a title: of the next one, or of the last one."""

    identity: dict[str, str]
    ahead: bool = False


@dataclass(frozen=True)
class Heading:
    """The names of a table's columns.

    Attributes
    ----------
    columns : list of str
    problem : str
        Why the rows cannot be read, if they cannot.
    left_out : list of str
        Columns of which nothing is known.
    """

    columns: list[str]
    problem: str = ""
    left_out: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Lost:
    """A line in place of a row, and why there is none."""

    what: str


Part = Title | Fact | Heading | Lost


class Grammar(Protocol):
    """What a tool prints."""

    @property
    def tool(self) -> str:
        """Its key in `printed_tables.TITLES`."""

    @property
    def size(self) -> str:
        """The column of the message size; the first one if a table has no such column."""

    @property
    def fixed(self) -> bool:
        """Whether all numbers of a column have the same decimals."""

    def row(self, text: str) -> list[str]:
        """Return the fields of a plain row; none if a line is not one."""

    def part(self, text: str, identity: dict[str, str]) -> Part | None:
        """Return what a line is, if it is no plain row; `identity` is known so far."""
