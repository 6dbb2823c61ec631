"""The page of measured rules: what wins where, by how much, and what fresh launches showed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from switchpoint.models.kernels import LIBRARY
from switchpoint.reporting.algorithms import used_text
from switchpoint.reporting.pages.contents import Contents
from switchpoint.reporting.pages.page import (
    Cell,
    Page,
    Row,
    Section,
    Table,
    address,
    number,
    whole_number,
    word,
)
from switchpoint.tables.columns import records
from switchpoint.tables.units import counted
from switchpoint.tuning.facts import CONFIRMED, NOT_CHECKED, WITHDRAWN, Group, Tuning, Winner

_WORDS = (
    "Default: the library's own choice, if runs of this report show it. Gain: how many times as"
    " fast the algorithm is, the mean over launches; at least and at most: of all launches with"
    " their errors. Fresh gain: the same of launches with the rules beside launches without them,"
    " with the interval that both allow."
)

_HEADINGS = ["size / B", "default", "use", "gain", "at least", "at most", "launches",
             "fresh launches", "fresh gain", "fresh at least", "fresh at most"]  # fmt: skip


def rules(contents: Contents) -> Page | None:
    """Return the page, or None if there are no rules to show."""
    if not contents.tunings:
        return None
    sections = [
        _section(contents, folder, tuning, group)
        for folder, tuning in contents.tunings.items()
        for group in tuning.groups
    ]
    notes = [note for tuning in contents.tunings.values() for note in tuning.notes]
    answer = [*_answer([*contents.tunings.values()]), _WORDS]
    return Page("rules.html", "Rules", answer, sections=sections, warnings=notes)


def _answer(tunings: list[Tuning]) -> Iterator[str]:
    """Yield how many rules there are and what came of them, and the one that gains most."""
    found = [
        (one.gain, group, one, tuning.mpi)
        for tuning in tunings
        for group in tuning.groups
        for one in group.winners
    ]
    if not found:
        yield "Nothing is faster than the library's choice in every launch."
        return
    count = Counter(one.verdict for _, _, one, _ in found)
    verdicts = [f"{count[one]} {one}" for one in (CONFIRMED, WITHDRAWN, NOT_CHECKED) if count[one]]
    yield (
        f"An algorithm won at {counted(len(found), 'size')}; after fresh launches:"
        f" {', '.join(verdicts)}."
    )
    kept = [row for row in found if not row[2].withdrawn]
    if kept:
        gain, group, one, mpi = max(kept, key=lambda row: row[0])
        yield (
            f"The largest gain: {group.kernel} of {one.size_bytes:,} B on {group.ranks} ranks with"
            f" {mpi} is {number(gain).text} times as fast with {one.algorithm}."
        )


def _section(contents: Contents, folder: str, tuning: Tuning, group: Group) -> Section:
    name = address(folder, group.kernel, str(group.ranks))
    place = ", ".join(filter(None, [tuning.site, tuning.environ, tuning.placement]))
    where = f"{place}: " if place else ""
    winners = {one.size_bytes: one for one in group.winners}
    choices = _choices(contents, tuning, group)
    rows = [
        Row([whole_number(size), word(choices.get(size)), *_cells(winners.get(size))])
        for size in group.sizes_bytes
    ]
    return Section(
        name,
        f"{group.place}, {tuning.mpi}",
        f"{where}{', '.join(tuning.hosts)}, measured {tuning.days}. A rule gains more than"
        f" {100 * tuning.least_gain:g} % in every launch. Rules in {folder}.",
        tables=[Table(f"{name}-sizes", _HEADINGS, rows)],
    )


def _choices(contents: Contents, tuning: Tuning, group: Group) -> dict[int, str]:
    """Return what the library uses at each size, if runs of the report say so."""
    table = contents.algorithms
    wanted = {
        "mode": LIBRARY, "kernel": group.kernel, "ranks": group.ranks, "mpi": tuning.mpi,
        "site": tuning.site, "environ": tuning.environ, "placement": tuning.placement,
    }  # fmt: skip
    for name, value in wanted.items():
        if value is not None and table is not None:
            table = table[table[name] == value] if name in table else None
    if table is None or table["size_bytes"].duplicated().any():
        return {}
    return {row["size_bytes"]: used_text(row["used"]) for row in records(table)}


def _cells(winner: Winner | None) -> Iterator[Cell]:
    """Yield what to use at a size, its gain, and that in fresh launches."""
    if winner is None:
        yield word("default")
        yield from [Cell("-")] * (len(_HEADINGS) - 3)
        return
    yield word(f"default ({winner.algorithm} withdrawn)" if winner.withdrawn else winner.algorithm)
    yield from map(number, (winner.gain, winner.gain_low, winner.gain_high))
    yield whole_number(winner.launches)
    yield word(winner.verdict)
    again = winner.checked
    fresh = (None,) * 3 if again is None else (again.gain, *again.gain_interval)
    yield from map(number, fresh)
