"""Reads run records: a JSON header, CSV samples, a JSON footer (docs/reference/run-record.md).

Importing this module is fast (no pandas), so that ReFrame's sanity functions can use `read_facts`.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from json import JSONDecodeError
from pathlib import Path
from typing import TYPE_CHECKING, cast

from switchpoint.data_warnings import DataWarning
from switchpoint.errors import RecordError
from switchpoint.printable import path_text
from switchpoint.records.lines import first_line, last_line
from switchpoint.records.run_facts import damaged_payloads
from switchpoint.records.samples import parse_samples
from switchpoint.records.start import start_warnings
from switchpoint.strict_json import parse_json

if TYPE_CHECKING:
    import pandas as pd

    from switchpoint.records.footer import Footer
    from switchpoint.records.header import Header

SCHEMA = 1


@dataclass
class Facts:
    """Everything in a record except its samples.

    Attributes
    ----------
    path : Path
    header, footer : dict
        As documented; `footer` is None if the record is truncated.
    warnings : list of DataWarning
        What a reader should know before using the numbers.
    """

    path: Path
    header: Header
    footer: Footer | None
    warnings: list[DataWarning] = field(default_factory=list)

    @property
    def run_id(self) -> str:
        """Identity of the run: 32 hexadecimal digits."""
        return str(self.header["run_id"])

    @property
    def complete(self) -> bool:
        """Whether the end marker was found."""
        return self.footer is not None


@dataclass
class Record(Facts):
    """A complete record: `Facts` and the samples (one row per sample, columns of the header)."""

    samples: pd.DataFrame = field(kw_only=True)


def read_record(path: str | os.PathLike[str]) -> Record:
    """Read a run record, plain or gzipped.

    Parameters
    ----------
    path
        The record's file.

    Returns
    -------
    Record
        For a truncated record: its complete rows, with a warning.

    Raises
    ------
    RecordError
        If the file is missing, empty, binary, not a record, of a newer schema, or has a bad row.
    """
    path = Path(path)
    header = read_header(path)
    samples, footer_line = parse_samples(path, header)
    footer = _parse_footer(path, footer_line, header)
    warnings = _judge(header, footer)
    if footer is not None and footer["samples"] != len(samples):
        what = (
            f"the footer counts {footer['samples']} samples, the file contains {len(samples)}; it"
            " was edited or damaged: measure again before you use it"
        )
        warnings.append(DataWarning("edited_record", what, path_text(path)))
    if footer is None:
        warnings.insert(0, _truncated(path, len(samples)))
    return Record(path, header, footer, warnings, samples=samples)


def read_facts(path: str | os.PathLike[str]) -> Facts:
    """Read a record's header and footer without its samples, which takes constant time.

    Raises
    ------
    RecordError
        As `read_record`, except for bad rows.
    """
    path = Path(path)
    header = _parse_header(path, first_line(path))
    footer = _parse_footer(path, last_line(path), header)
    warnings = _judge(header, footer)
    if footer is None:
        warnings.insert(0, _truncated(path, None))
    return Facts(path, header, footer, warnings)


def read_header(path: str | os.PathLike[str]) -> Header:
    """Read and check only a record's header; raises RecordError as `read_record`."""
    path = Path(path)
    return _parse_header(path, first_line(path))


def is_record(head: bytes) -> bool:
    """Return whether a file that begins with `head` claims to be a run record."""
    return head.lstrip().startswith(b"{") and re.search(rb'"record"\s*:\s*"', head) is not None


def _parse_header(path: Path, line: bytes) -> Header:
    if not line.strip():
        empty = path.stat().st_size == 0
        problem = "is empty" if empty else "begins with an empty line, so it is not a run record"
        raise RecordError(path, f"{problem}; measure again, or remove it")
    if b"\0" in line:
        raise RecordError(path, "is a binary file; give a run record (its first line is JSON)")
    reason = ""
    try:
        header = parse_json(line)
    except ValueError as error:
        header, reason = None, "" if isinstance(error, JSONDecodeError) else f": it is {error}"
    if not isinstance(header, dict) or header.get("record") != "switchpoint":
        raise RecordError(
            path,
            f'is not a run record: the first line is not JSON with "record": "switchpoint"{reason}',
            1,
        )
    schema = header.get("schema")
    if schema != SCHEMA:
        raise RecordError(
            path,
            f"has schema {schema!r}, but this Switchpoint reads schema {SCHEMA};"
            " install the version that wrote it or a newer one",
            1,
        )
    from switchpoint.records.header import header_problem  # pydantic takes a while to load

    if wrong := header_problem(header):
        raise RecordError(path, f"{wrong}; measure again", 1)
    return cast("Header", header)


def _parse_footer(path: Path, line: bytes, header: Header) -> Footer | None:
    try:
        footer = parse_json(line) if line else None
    except ValueError:
        return None
    if not isinstance(footer, dict) or footer.get("end") != "switchpoint":
        return None
    if not isinstance(footer.get("samples"), int):
        return None
    from switchpoint.records.footer import footer_problem  # pydantic takes a while to load

    if wrong := footer_problem(footer, header):
        raise RecordError(path, f"{wrong}; measure again")
    return cast("Footer", footer)


def _truncated(path: Path, rows: int | None) -> DataWarning:
    used = "" if rows is None else f"; its {rows} complete rows are used"
    what = f"truncated, the run did not end{used}: measure again for all points"
    return DataWarning("truncated", what, path_text(path))


def _judge(header: Header, footer: Footer | None) -> list[DataWarning]:
    if footer is None:
        return []
    warnings = []
    if errors := damaged_payloads(footer):
        what = f"{errors} payloads arrived damaged; do not trust this run's times"
        warnings.append(DataWarning("damaged_payload", what))
    if footer.get("shortened"):
        plan = header.get("plan", {})
        ended = (
            "the searches"
            if "switches" in footer
            else f"the sweep before its {plan.get('passes')} passes were done"
        )
        what = f"shortened: its time budget of {plan.get('time_budget_s')} s ended {ended}"
        warnings.append(DataWarning("shortened", what))
    run = f"run {header['run_id'][:8]}"
    return [warning.at(run) for warning in (*warnings, *start_warnings(footer))]
