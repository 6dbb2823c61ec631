"""What a finding is: its columns and kinds, with types, units and words.

The tables that stages exchange, JSON, the terminal, the HTML page and the tables of
docs/reference/findings.md are made from here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from switchpoint.records.run_facts import During
from switchpoint.tables.identity import CurveIdentity
from switchpoint.tables.units import percent, place_text


class Line(TypedDict):
    """The line through the times of one side of a boundary, and between which sizes it lies."""

    first_size_bytes: int
    last_size_bytes: int
    intercept_us: float
    per_byte_us: float


class Violated(TypedDict):
    """One size at which a collective takes `factor` times as long as what should be slower."""

    size_bytes: int
    factor: float
    low: float
    high: float
    than: str


class Forced(TypedDict):
    """The algorithm that is fastest if it is forced, and its part of the choice's time."""

    algorithm: str
    part: float


class Evidence(During, total=False):
    """What supports a finding. Each kind has some of this, see `KINDS`."""

    before: Line
    after: Line
    jump_us: float
    noise: float
    posterior: float
    bend: float
    real: float
    launches: int
    of_launches: int
    siblings: int
    of_siblings: int
    caveat: str
    states: dict[str, float]
    standard_errors: float
    passes: list[int]
    slower: list[float]
    of_passes: int
    first_size_bytes: int
    last_size_bytes: int
    #: How many; of a guideline, which.
    sizes: int | list[Violated]
    largest: float
    other: dict[str, Any]
    launch_scatter: float
    guideline: str
    says: str
    ranks: int
    worst_size_bytes: int
    forced: Forced | None
    predicted_us: float
    predicted_low_us: float
    predicted_high_us: float
    measured_us: float
    measured_low_us: float
    measured_high_us: float
    looks_like: str | None
    notes: list[str]
    other_work: float


#: The value of a setting: a number, a text such as `8K` or `auto`, or null if it is not known.
SettingValue = int | float | str | None


class Suspect(TypedDict):
    """A setting of a run whose value predicts a step, see `explanation.suspects`.

    Sizes are null if the library chooses the value, `environment` if nothing can set it.
    """

    name: str
    value: SettingValue
    set_by: str
    last_size: int | None
    first_size: int | None
    governs: str
    reason: str
    source: str
    ends_eager: bool
    environment: str | None
    most_bytes: int | None


class Origin(TypedDict):
    """A guess at what a finding comes from; its evidence consists of sentences."""

    guess: str
    means: str
    evidence: list[str]
    source: str


class Anomaly(CurveIdentity):
    """What timing shows in a curve: `ANOMALY_COLUMNS`, beside the identity of the curve."""

    kind: str
    size_bytes: int
    last_size_before: int
    magnitude: float
    confidence: float
    evidence: Evidence


class Finding(Anomaly):
    """An anomaly with its causes: `FINDING_COLUMNS`."""

    suspects: list[Suspect]
    origin: Origin | None


@dataclass(frozen=True)
class Kind:
    """What one kind of finding asserts, in the words of the reference page."""

    name: str
    asserts: str
    evidence: str
    #: Whether it lies between two neighbouring sizes of one curve.
    is_boundary: bool = False

    @property
    def words(self) -> str:
        """The name as people read it."""
        return self.name.replace("_", " ")

    @property
    def short(self) -> str:
        """The same, for narrow tables."""
        return self.words.removesuffix(" change")


KINDS = {
    kind.name: kind
    for kind in [
        Kind(
            "step",
            "the time jumps between two neighbouring sizes",
            "the line on each side (time = `intercept_us` + bytes * `per_byte_us`), `jump_us`, the"
            " typical relative `noise` of a point, the number of `sizes` behind the lines,"
            " `posterior` (the probability of a boundary in this bracket), `bend` (that the lines"
            " meet and the time does not jump), how many `launches` of `of_launches` show it, and"
            " how many other modes of its run (`siblings` of `of_siblings`), `real` (the share of"
            " such boundaries that were real), a `caveat` that says what the sizes or the noise"
            " leave open, and `states`, if visits have [two](#visits-in-two-states)",
            is_boundary=True,
        ),
        Kind(
            "slope_change",
            "the time per byte changes without a jump",
            "the same",
            is_boundary=True,
        ),
        Kind(
            "outlier",
            "one size differs by 5 % or more, while the sizes on either side agree: by five"
            " standard errors from three neighbours on either side, or between two boundaries",
            "`standard_errors`, `noise`, and a `caveat` if the size was measured once and differs"
            " by half or more: it may be the first size after a step",
        ),
        Kind(
            "noise_burst",
            "some passes over the shuffled sweep are slower than the others at all sizes: another"
            " program ran",
            "`passes`, how much `slower` each was, `of_passes`, `last_size_bytes`; for a run"
            " record also `involuntary_switches`, `steal_ticks` and `load_before`: what the"
            " machine did",
        ),
        Kind(
            "placement_inversion",
            "over at least three neighbouring sizes a nearer placement is slower than a farther"
            " one. The order is `one_node`, `one_node_network`, `two_nodes_one_host`,"
            " `two_nodes_two_hosts`",
            "`first_size_bytes`, `last_size_bytes`, `sizes`, the `largest` ratio minus 1, what"
            " differs in the `other` curve, `launch_scatter`",
        ),
        Kind(
            "mode_inversion",
            "`send` is slower than `ssend`, or `stream` is slower than `sstream`, in the same run",
            "the same",
        ),
        Kind(
            "asymmetry",
            "one direction is slower than the other, for curves with columns `from` and `to`,"
            " `source` and `target`, or `sender` and `receiver`",
            "the same",
        ),
        Kind(
            "guideline_violation",
            "a collective takes longer than what does the same: other calls of the library, itself"
            " with the next larger size or number of ranks, two calls with half of the size, or, in"
            " proportion to the ranks, itself on fewer",
            "`says`, the finding as a sentence; `guideline` (the mode of the replacement,"
            " `more_bytes`, `two_calls`, `more_ranks` or `fewer_ranks`), `ranks`, `launches`, the"
            " `sizes` that every launch shows: how many times as long (`factor`, `low`, `high`),"
            " and `than` what; the `worst_size_bytes`, whose `algorithm` is as fast if it is"
            " `forced`, in which `part` of the time",
        ),
        Kind(
            "prediction_gap",
            "a measured time and its prediction from a [site model](models.md) differ by more than"
            " their intervals; `switchpoint model predict --against` finds it",
            "`predicted_us` and `measured_us` with their intervals, what the gap `looks_like`"
            " (contention, overlap, cache: never proof), `notes` on what limits the prediction",
        ),
    ]
}

#: A boundary that is called a change of slope may still be a jump: unless it is smaller than this,
#: or less probable.
_SMALLEST_JUMP = 0.05
_LEAST_PROBABLE_JUMP = 0.05

#: Names of the kinds that lie between two neighbouring sizes of one curve.
BOUNDARIES = tuple(kind.name for kind in KINDS.values() if kind.is_boundary)


@dataclass(frozen=True)
class Column:
    """One column of the findings.

    Attributes
    ----------
    name : str
        In tables and in JSON.
    json_type : str
        What it is in JSON.
    unit : str
        Of numbers; empty for what has none.
    meaning : str
        In the words of the reference page.
    stage : str
        Which stage fills it: `detection` with what timing shows, `explanation` with causes.
    heading : str
        In tables for people, which leave columns without one out.
    text : callable
        Given a finding, how such tables write it.
    short : callable or None
        The same where room is scarce, if it differs.
    """

    name: str
    json_type: Literal["string", "integer", "number", "object", "array", "object or null"]
    unit: str
    meaning: str
    stage: Literal["detection", "explanation"] = "detection"
    heading: str = ""
    text: Callable[[Finding], str] = lambda row: ""
    short: Callable[[Finding], str] | None = None


def relative_jump(row: Anomaly) -> float:
    """Return the relative jump of the time at a boundary's first size, whatever its kind."""
    line, jump = row["evidence"]["before"], row["evidence"]["jump_us"]
    return float(jump / (line["intercept_us"] + line["per_byte_us"] * row["size_bytes"]))


def may_jump(row: Anomaly) -> bool:
    """Return whether the time jumps at a finding, or probably enough to look closer."""
    if row["kind"] == "step" or row["kind"] not in BOUNDARIES:
        return bool(row["kind"] == "step")
    probable = 1 - row["evidence"]["bend"] >= _LEAST_PROBABLE_JUMP
    return bool(probable and abs(relative_jump(row)) >= _SMALLEST_JUMP)


def place(row: Anomaly) -> str:
    """Write where a finding lies."""
    last_size = row["evidence"].get("last_size_bytes")
    return place_text(row["kind"], row["last_size_before"], row["size_bytes"], last_size)


def as_object(row: Finding) -> dict[str, object]:
    """Return a finding as an object of JSON, with its curve as an object."""
    known = {name: value for name, value in row.items() if name in FINDING_COLUMNS}
    others = {*FINDING_COLUMNS, "run_id"}
    curve = {name: v for name, v in row.items() if name not in others and isinstance(v, str)}
    return {**known, "curve": curve}


COLUMNS = [
    Column(
        "kind",
        "string",
        "",
        "one of the [kinds](#kinds)",
        heading="finding",
        text=lambda row: KINDS[row["kind"]].words,
        short=lambda row: KINDS[row["kind"]].short,
    ),
    Column(
        "size_bytes",
        "integer",
        "B",
        "for a boundary: the first measured size after it. For other kinds: the first affected one",
        heading="between sizes",
        text=place,
    ),
    Column(
        "last_size_before",
        "integer",
        "B",
        "for a boundary: the last measured size before it. For other kinds: the measured size"
        " before the first affected one (0: none)",
    ),
    Column(
        "magnitude",
        "number",
        "relative",
        "change of time, positive when slower. For a step both lines are compared at"
        " `size_bytes`; for a slope change at twice that size",
        heading="time",
        text=lambda row: percent(row["magnitude"]),
    ),
    Column(
        "confidence",
        "number",
        "0 to 1",
        "see [below](#what-the-confidence-means)",
        heading="confidence",
        text=lambda row: f"{100 * row['confidence']:.0f} %",
    ),
    Column(
        "evidence",
        "object",
        "",
        "depends on the kind, see [below](#kinds). If other work disturbed the run, also"
        " `other_work`: the share of its cores' time",
    ),
    Column(
        "suspects",
        "array",
        "",
        "settings of that run whose value predicts a step in this bracket. Never proof",
        stage="explanation",
    ),
    Column(
        "origin",
        "object or null",
        "",
        "a guess at the origin of a step or of a `placement_inversion`: `guess`, `means`,"
        " `evidence` (sentences), `source`. Never proof",
        stage="explanation",
    ),
]

#: Names of all columns, beside the identity of the curve; and of those that timing alone fills.
FINDING_COLUMNS = [column.name for column in COLUMNS]
ANOMALY_COLUMNS = [column.name for column in COLUMNS if column.stage == "detection"]

#: The columns of tables for people.
SHOWN = [column for column in COLUMNS if column.heading]
