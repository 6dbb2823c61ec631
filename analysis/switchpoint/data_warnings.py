"""Warnings: what to know before numbers are used, each with its kind and what it is about.

Importing this module is fast, because the checks read records with it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal

from switchpoint.errors import InputError
from switchpoint.printable import path_text
from switchpoint.strict_json import parse_json

Kind = Literal[
    "truncated", "damaged_payload", "edited_record", "shortened", "clock_error", "late_starts",
    "other_lock", "rows", "columns", "values", "several_ranks", "separate_curves", "no_kernel",
    "skipped_part", "imported_before", "unread_file", "missing_file", "removed", "unfinished",
    "too_noisy", "step_or_noise", "few_sizes", "many_sizes", "steps_not_searched", "same_site",
    "unknown_option", "model", "maintenance", "future_session", "not_judged", "no_baseline",
    "short_baseline", "new_level", "acceptances", "rules", "not_kept", "no_reference", "older_runs",
    "other",
]  # fmt: skip

#: What each kind says, in the words of the reference page.
KINDS: Final[dict[Kind, str]] = {
    "truncated": "a run did not end; its complete rows are used",
    "damaged_payload": "payloads arrived damaged",
    "edited_record": "a record contains another number of samples than it counts",
    "shortened": "the time budget ended a run before its plan was done",
    "clock_error": "times are shorter than the error of the clocks that started the calls",
    "late_starts": "many calls started late and were repeated",
    "other_lock": "the Spack lock beside a result is not of its program, and is not stored",
    "rows": "rows of a file are skipped, count once, or are read with a doubt",
    "columns": "columns of a file are left out, or say more than names of curves",
    "values": "values are skipped, are no points of a curve, or may not mean what they seem to",
    "several_ranks": "ranks printed a table each, as separate programs do",
    "separate_curves": "tables or runs with the same names are curves of their own",
    "no_kernel": "no line names the operation",
    "skipped_part": "one of the tables or texts of a file cannot be read",
    "imported_before": "rows were imported from a shorter version of the file",
    "unread_file": "a file is damaged, cannot be read, or does not belong to the store",
    "missing_file": "a file of the store is missing",
    "removed": "samples of the store were removed, as `store prune` does",
    "unfinished": "runs are being stored, or their writer was killed",
    "too_noisy": "medians are too uncertain to show a step of this size",
    "step_or_noise": "neighbouring sizes differ by much, but by less than a finding needs",
    "few_sizes": "no curve has as many sizes as the search for steps needs",
    "many_sizes": "a curve has more sizes than are searched",
    "steps_not_searched": "a zoom searches only some of the steps",
    "same_site": "two sides name one site, but ran on other machines",
    "unknown_option": "a run has an option that no kernel takes, and is not predicted",
    "model": "what limits a model or a platform",
    "maintenance": "the session ran during maintenance, so nothing fails",
    "future_session": "sessions start in the future, and do not count",
    "not_judged": "single values or runs are left out of this verdict",
    "no_baseline": "no earlier session measured the same",
    "short_baseline": "few baseline sessions show only large changes",
    "new_level": "a change that nobody accepted is the level of the baseline now",
    "acceptances": "accepted findings are not the gate's, and do not count",
    "rules": "what is not known of rules for MPI libraries, or what they need",
    "not_kept": "the store could not keep a verdict",
    "no_reference": "a series of single values has no reference yet",
    "older_runs": "older runs of the store are left out",
    "other": "stored by a version that kept no kind, or has other kinds",
}


@dataclass(frozen=True)
class DataWarning:
    """What to know before some numbers are used. Its text is one line.

    Attributes
    ----------
    kind : str
        One of the kinds of warnings.
    message : str
        What is wrong, and what to do.
    place : str
        What it is about: a file, a run or a curve; empty if the message says it, or it is about
        everything.
    """

    kind: Kind
    message: str
    place: str = ""

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message

    def at(self, place: str) -> DataWarning:
        """Return the same warning about a place."""
        return replace(self, place=place)


def warning_of_error(kind: Kind, error: InputError) -> DataWarning:
    """Return a warning in place of an error, where work goes on without the file."""
    line = "" if error.line is None else f"line {error.line}: "
    return DataWarning(kind, f"{line}{error.problem}", path_text(error.source))


def entries_of_warnings(warnings: Iterable[DataWarning]) -> list[dict[str, str]]:
    """Return warnings as objects that JSON can contain."""
    return [asdict(warning) for warning in warnings]


def warning_of_entry(entry: Any) -> DataWarning:
    """Return a warning of such an object, or of the line that earlier versions stored.

    Any program may have written it.
    """
    if not isinstance(entry, dict):
        return DataWarning("other", str(entry))
    kind = entry.get("kind")
    known: Kind = kind if isinstance(kind, str) and kind in KINDS else "other"
    return DataWarning(known, str(entry.get("message", "")), str(entry.get("place", "")))


def text_of_warnings(warnings: Iterable[DataWarning]) -> str | None:
    """Return warnings as they are stored with a run: a JSON list, or null if there is none."""
    entries = entries_of_warnings(warnings)
    return json.dumps(entries) if entries else None


def warnings_of_text(text: object) -> list[DataWarning]:
    """Return the warnings that are stored with a run; of earlier versions, one for each line."""
    if not isinstance(text, str):
        return []
    try:
        entries = parse_json(text)
    except ValueError:
        entries = None
    lines = entries if isinstance(entries, list) else text.splitlines()
    return [warning_of_entry(line) for line in lines]
