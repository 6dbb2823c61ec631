"""Scores `detect` on tables that others published, whose truth was labelled by eye.

`.venv/bin/python bench/detection/published.py [--wrong] [--truth FOLDER] FOLDER` prints how many
steps `detect` finds, and how many it reports where none is: of all that `--json` has, of what the
terminal prints of such a file, and of what is 85 % sure, as the terminal prints of several files.
`--wrong` lists every disagreement of the first. `--truth FOLDER` has other lists than those beside
this file.

The tables are not part of this repository; `published_tables.csv` says where each is. To get one,
open `https://github.com/SOURCE/blob/COMMIT/PATH`, or the thread `https://github.com/SOURCE/PATH`
where COMMIT names a comment. Save its table number NUMBER, with its heading, as FOLDER/TABLE.txt.
Where TITLE is not empty, nothing in the table says what it measures: write TITLE above it. Remove
tags such as `[1,0]<stdout>:`, marks of quoting, and rows of nccl-tests with 0 B. Tables that are
not in FOLDER are left out.

`published_truth.csv` has a row for each place where a curve changes. A `step` is a ratio of
neighbouring times that differs by 10 % and more from what the ratios beside it lead to expect. A
`boundary` is a step or a change of slope. At an `odd` size the time is off and returns. A change
is `unclear` if it is of 7 to 12 %, next to an end, or within the scatter; it counts neither as
missed nor as false, as do findings that begin at 0 B.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from switchpoint.errors import InputError
from switchpoint.explanation.causes import PROMINENT_CONFIDENCE, detect, matters
from switchpoint.importing.reading import read
from switchpoint.tables.findings import BOUNDARIES

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from arguments import parser

#: The kinds of places where a step is to be found.
WANTED = ("step", "boundary")

HEADING = (
    "| tables | curves | steps | recall | kinds right | wrong sign | bends found | odd sizes found"
    " | false steps a curve | false bends | false odd sizes |\n" + "|---" * 11 + "|"
)


@dataclass
class Place:
    """A row of the truth: where a curve changes, by the indices of the first sizes past it."""

    kind: str
    sizes: tuple[int, int]
    first: int
    last: int
    percent: float
    reason: str
    found: Finding | None = None

    def __str__(self) -> str:
        return f"{self.kind} {_range(*self.sizes)}, {self.percent:+.0f} % ({self.reason})"

    def overlaps(self, one: Finding, wider: int) -> bool:
        """Whether a finding is here, or as many sizes away."""
        return one.first - wider <= self.last and one.last + wider >= self.first

    def contains(self, size_bytes: float) -> bool:
        """Whether this size may be off."""
        lower, upper = self.sizes
        return lower < size_bytes < upper if self.kind == "odd" else lower <= size_bytes <= upper


@dataclass
class Finding:
    """What `detect` reports at one place."""

    kind: str
    sizes: tuple[float, float]
    first: int
    last: int
    magnitude: float
    confidence: float
    place: Place | None = None

    def __str__(self) -> str:
        text = f"{self.kind} {_range(*self.sizes)}, {self.magnitude:+.0%}"
        return f"{text}, confidence {self.confidence:.0%}"


@dataclass
class Score:
    """What is counted over curves."""

    curves: int = 0
    wanted: list[bool] = field(default_factory=list)
    kinds: list[bool] = field(default_factory=list)
    signs: list[bool] = field(default_factory=list)
    bends: list[bool] = field(default_factory=list)
    odd: list[bool] = field(default_factory=list)
    false: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def add(self, name: str, places: list[Place], findings: list[Finding]) -> None:
        """Count one curve."""
        self.curves += 1
        match(places, findings)
        wrong = [*self._places(places, findings), *self._false(places, findings)]
        self.wrong += [f"{name}: {one}" for one in wrong]

    def _places(self, places: list[Place], findings: list[Finding]) -> Iterator[str]:
        """Count what is there, and say what is not found or reported otherwise."""
        for place in places:
            found = place.found
            if place.kind in WANTED:
                self.wanted.append(found is not None)
                if found is None:
                    yield f"missed {place}"
            elif place.kind == "slope_change":
                self.bends.append(found is not None)
            elif place.kind == "odd":
                odd = [one.sizes[1] for one in findings if one.kind == "outlier"]
                self.odd.append(any(place.contains(size) for size in odd))
            if found is not None and place.kind in BOUNDARIES:
                self.kinds.append(found.kind == place.kind)
                if found.kind != place.kind:
                    yield f"{place} is reported as {found}"
            if found is not None and found.kind == place.kind == "step":
                self.signs.append(bool(np.sign(found.magnitude) == np.sign(place.percent)))
                if not self.signs[-1]:
                    yield f"{place} has another sign: {found}"

    def _false(self, places: list[Place], findings: list[Finding]) -> Iterator[str]:
        """Count what is reported where nothing is."""
        for one in findings:
            if one.kind == "outlier":
                is_there = any(place.contains(one.sizes[1]) for place in places)
            else:
                here = (place for place in places if place.kind != "odd")
                is_there = bool(one.place) or any(place.overlaps(one, 0) for place in here)
            if not is_there:
                self.false.append(one.kind)
                yield f"false {one}"

    def cells(self) -> Iterator[str]:
        """Yield the cells of a line of the table."""
        yield f"{self.curves}"
        yield f"{len(self.wanted)}"
        yield _share(self.wanted)
        yield _share(self.kinds)
        yield f"{self.signs.count(False)}"
        for several in (self.bends, self.odd):
            yield f"{sum(several)} of {len(several)}"
        for kind in ("step", "slope_change", "outlier"):
            yield f"{self.false.count(kind) / self.curves:.2f}"


def match(places: list[Place], findings: list[Finding]) -> None:
    """Give each boundary to the largest free place that it is at, or else within a grid step of."""
    for wider in (0, 1):
        for one in findings:
            free = [
                place
                for place in places
                if place.kind in (*WANTED, "slope_change")
                and place.found is None
                and place.overlaps(one, wider)
            ]
            if free and one.place is None and one.kind in BOUNDARIES:
                one.place = max(free, key=lambda place: abs(place.percent))
                one.place.found = one


def places_of(truth: pd.DataFrame, sizes: npt.NDArray[np.float64]) -> list[Place]:
    """Return the rows of one table's truth."""
    places = []
    for row in truth[truth["kind"] != "none"].to_dict("records"):
        ends = int(row["lower"]), int(row["upper"])
        before, after = (int(place) for place in np.searchsorted(sizes, ends))
        percent = float(row["percent"] or 0)
        places.append(Place(row["kind"], ends, before + 1, after, percent, row["reason"]))
    return places


def findings_of(table: pd.DataFrame, sizes: npt.NDArray[np.float64]) -> list[Finding]:
    """Return the boundaries and outliers of one curve that do not begin at 0 B."""
    judged = table[table["kind"].isin([*BOUNDARIES, "outlier"]) & (table["last_size_before"] != 0)]
    findings = []
    for row in judged.to_dict("records"):
        ends = row["last_size_before"], row["size_bytes"]
        before, after = (int(place) for place in np.searchsorted(sizes, ends))
        numbers = row["magnitude"], row["confidence"]
        findings.append(Finding(row["kind"], ends, before + 1, after, *numbers))
    return findings


def _range(before: float, after: float) -> str:
    return f"{after:,.0f} B" if pd.isna(before) else f"{before:,.0f} to {after:,.0f} B"


def _share(of: list[bool]) -> str:
    return f"{sum(of) / len(of):.1%}" if of else "-"


@dataclass(frozen=True)
class Curve:
    """A published curve, its rows of the truth, and what `detect` reports in it."""

    name: str
    fabric: str
    sizes: npt.NDArray[np.float64]
    truth: pd.DataFrame
    findings: pd.DataFrame


def curves(folder: Path, tables: pd.DataFrame, truth: pd.DataFrame) -> Iterator[Curve]:
    """Read each table and search its curve, or that of the mode which was labelled."""
    for name, fabric in zip(tables["table"], tables["fabric"], strict=True):
        measurements = read(folder / f"{name}.txt")
        findings, samples = detect(measurements), measurements.samples
        rows = truth[truth["table"] == name]
        if mode := rows["mode"].iloc[0]:
            findings, samples = (one[one["mode"] == mode] for one in (findings, samples))
        sizes = np.unique(samples["size_bytes"].to_numpy(float))
        yield Curve(name, fabric, sizes, rows, findings)


def scores(
    several: Iterable[Curve], select: Callable[[pd.DataFrame], pd.DataFrame]
) -> dict[str, Score]:
    """Return the score of each fabric, of the findings that are selected of each curve."""
    found: dict[str, Score] = {}
    for one in several:
        score = found.setdefault(one.fabric, Score())
        shown = findings_of(select(one.findings), one.sizes)
        score.add(one.name, places_of(one.truth, one.sizes), shown)
    return found


def everything(findings: pd.DataFrame) -> pd.DataFrame:
    """Select what `detect --json` prints."""
    return findings


def sure(findings: pd.DataFrame) -> pd.DataFrame:
    """Select what matters and is sure."""
    return findings[matters(findings) & (findings["confidence"] >= PROMINENT_CONFIDENCE)]


def printed(findings: pd.DataFrame) -> pd.DataFrame:
    """Select what the terminal prints of one curve: if nothing is sure, all that matters."""
    notable = sure(findings)
    return findings[matters(findings)] if notable.empty else notable


LEVELS = {
    "all findings": everything,
    "what the terminal prints of each file": printed,
    f"confidence of {PROMINENT_CONFIDENCE:.0%} and more": sure,
}


def total(several: Iterable[Score]) -> Score:
    """Return the sum of scores."""
    whole = Score()
    for one in several:
        for name, value in vars(one).items():
            setattr(whole, name, getattr(whole, name) + value)
    return whole


def main(folder: Path, lists: Path, *, show_wrong: bool) -> None:
    """Print a table for each level of what is shown."""
    tables, truth = (
        pd.read_csv(lists / f"published_{name}.csv", dtype=str, keep_default_na=False)
        for name in ("tables", "truth")
    )
    there = tables[[(folder / f"{name}.txt").is_file() for name in tables["table"]]]
    if there.empty:
        raise InputError(str(folder), "has none of the tables of published_tables.csv")
    judged = list(curves(folder, there, truth))
    for words, select in LEVELS.items():
        found = scores(judged, select)
        whole = total(found.values())
        print(f"\n{words}, {len(there)} of {len(tables)} tables\n\n{HEADING}")
        for name, one in [("all", whole), *sorted(found.items())]:
            print(f"| {name} | " + " | ".join(one.cells()) + " |")
        if show_wrong and select is everything:
            print("", *whole.wrong, sep="\n  ")


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument("--wrong", action="store_true")
    options.add_argument("--truth", type=Path, default=Path(__file__).parent)
    options.add_argument("folder", type=Path)
    given = options.parse_args()
    try:
        main(given.folder, given.truth, show_wrong=given.wrong)
    except InputError as error:
        options.error(str(error))
