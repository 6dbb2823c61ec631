"""What a user says about files that do not say it themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from switchpoint.errors import InputError


@dataclass(frozen=True)
class Choices:
    """Options of `import` about columns and days.

    Attributes
    ----------
    columns : dict of str to str
        The name that each column of a table has for us, such as `size_bytes`, by its own name.
    statistic : str
        Which column is the curve if a table has several: `avg`, `min`, `max`, `p99`.
    dates : bool
        Whether a run is of the day that its file names, or else of the file's last change.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    statistic: str = ""
    dates: bool = False


#: The statistics that a user can choose.
STATISTICS = ("avg", "min", "max", "median", "p90", "p95", "p99")


def parse_statistic(text: str | None) -> str:
    """Return the name of a statistic, or nothing; raises InputError for another name."""
    if text and text not in STATISTICS:
        raise InputError("--statistic", f"'{text}' is not one of {', '.join(STATISTICS)}")
    return text or ""


def parse_columns(texts: Iterable[str]) -> dict[str, str]:
    """Read options such as `size_bytes=X.bytes`.

    Raises
    ------
    InputError
        If one has no `=`, or two are about one column.
    """
    columns: dict[str, str] = {}
    for text in texts:
        ours, equals, theirs = (part.strip() for part in text.partition("="))
        if not (ours and equals and theirs):
            raise InputError("--column", f"'{text}' has no '='; write size_bytes=NAME")
        if theirs in columns:
            raise InputError("--column", f"'{theirs}' is given twice; give it once")
        columns[theirs] = ours
    return columns
