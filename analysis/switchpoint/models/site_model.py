"""The site model file: its schema, its reader and its writer (docs/reference/models.md)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from switchpoint import whole_files
from switchpoint.errors import InputError
from switchpoint.strict_yaml import NotYamlError, read_yaml

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

FORMAT = "switchpoint site model"
VERSION = 1

#: Times are written with this many significant digits.
_DIGITS = 6

Number = Annotated[float, AfterValidator(lambda value: float(f"{value:.{_DIGITS}g}"))]
Bytes = Annotated[int, Field(ge=0)]
Count = Annotated[int, Field(ge=1)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Figure(_Part):
    """A fitted number with its 95 % interval; null if one repeat showed no scatter."""

    value: Number
    low: Number | None = None
    high: Number | None = None


class Segment(_Part):
    """The line of the sizes between two boundaries: time = start_us + bytes * per_byte_us."""

    #: The first and the last size that was measured.
    first_size_bytes: Bytes
    last_size_bytes: Bytes
    #: How many sizes were measured.
    sizes: Count
    #: The line.
    start_us: Figure
    per_byte_us: Figure
    #: The measured time divided by the line's: 95 % of all repeats' points lie between these.
    least_over_line: Number
    most_over_line: Number

    @model_validator(mode="after")
    def _possible(self) -> Segment:
        if self.per_byte_us.value < 0:
            raise ValueError("no message takes less time than none")
        if self.time_us(self.first_size_bytes) <= 0:
            raise ValueError("the time of its first size is not above 0")
        if not 0 < self.least_over_line <= self.most_over_line:
            raise ValueError("least_over_line is not above 0 and at most most_over_line")
        return self

    def time_us(self, size_bytes: float) -> float:
        """Return the line's time."""
        return self.start_us.value + size_bytes * self.per_byte_us.value


class NotFitted(_Part):
    """A segment without a line."""

    #: Its first and last size, and why it has no line.
    first_size_bytes: Bytes
    last_size_bytes: Bytes
    reason: str


class Measured(_Part):
    """Where figures come from."""

    #: What they are of.
    partition: str | None = None
    mpi: str | None = None
    environ: str | None = None
    #: The IDs of the runs, and when the first and the last one started.
    runs: list[str]
    first_utc: str | None = None
    last_utc: str | None = None
    #: What the intervals are over, and how many there are.
    interval_over: Literal["launches", "passes"]
    repeats: Count


class Curve(Measured):
    """One ping-pong curve: a placement and a mode, with the lines of its segments."""

    #: Which curve it is.
    placement: str
    mode: str
    #: What else distinguishes it from other curves, such as `window_size`.
    labels: dict[str, str] = {}
    #: Of the runs.
    nodes: Count
    #: Running operating systems: emulated nodes share one, and its cores.
    machines: Count
    cores_per_machine: Count | None = None
    #: Those with a line, and those of one size, for which nothing is predicted.
    segments: list[Segment]
    not_fitted: list[NotFitted] = []
    #: The last size that is sent without waiting for the receiver, and how that is known: `probe`
    #: (a zoom proved it), or the name of a setting that predicts it.
    eager_last_size_bytes: Bytes | None = None
    eager_known_from: str | None = None

    @model_validator(mode="after")
    def _in_order(self) -> Curve:
        ranges = [(one.first_size_bytes, one.last_size_bytes) for one in self.segments]
        if any(first > last for first, last in ranges) or ranges != sorted(ranges):
            raise ValueError("the segments must ascend")
        return self


class ComputeRate(Measured):
    """How fast a core works in a kernel."""

    #: The kernel.
    kernel: str
    #: The mode that was measured, where the modes of a kernel have rates of their own.
    mode: str | None = None
    #: What `time_us` is the time of.
    work: str
    time_us: Figure

    @model_validator(mode="after")
    def _possible(self) -> ComputeRate:
        figure = self.time_us
        if any(time is not None and time <= 0 for time in (figure.low, figure.value, figure.high)):
            raise ValueError("time_us is not above 0")
        return self


class SendCall(_Part):
    """After which time a call that sends a message returns."""

    #: The size of the message, and the time.
    size_bytes: Bytes
    time_us: Number


class Sender(_Part):
    """What sending costs the sender, from broadcasts of the mode `repeated`."""

    #: Where.
    partition: str | None = None
    mpi: str | None = None
    environ: str | None = None
    placement: str
    #: The IDs of the runs.
    runs: list[str]
    #: By two ranks: PLogP's os(m), in ascending sizes.
    calls: list[SendCall] = []
    #: By three ranks or more, none on rank 0's node: the sizes of which messages to several
    #: receivers follow each other, and those of which they share the sender's link.
    in_order_bytes: list[Bytes] = []
    shared_bytes: list[Bytes] = []


class ModelError(_Part):
    """How far measured times lie outside the links' bounds, from `--calibrate`."""

    #: The MPI, pattern and number of ranks (a power of two) that it is for, and whether they share
    #: nodes, and cores.
    mpi: str | None = None
    pattern: Literal["broadcast", "alltoall", "ring", "application"]
    ranks: Count
    shared: bool
    oversubscribed: bool = False
    #: How many predictions it is from.
    points: Count
    #: Natural logarithms: of measured times 5 % are below the lower bound times exp(-low), 5 %
    #: above the upper one times exp(high).
    low: Number
    high: Number


class LogGP(_Part):
    """A placement's parameters in LogGP (with S, LogGPS)."""

    #: Where.
    partition: str | None = None
    mpi: str | None = None
    environ: str | None = None
    placement: str
    #: L, g of the shortest message, and G of the longest in a stream.
    latency_us: Number
    gap_us: Number
    gap_per_byte_us: Number
    #: o of the shortest message that was measured; None: not measured, it is at most g.
    overhead_us: Number | None = None
    #: S: longer messages wait for their receiver.
    eager_last_size_bytes: Bytes | None = None


class SiteModel(_Part):
    """Everything that was fitted at one site."""

    #: What the file is.
    format: Literal["switchpoint site model"] = "switchpoint site model"
    version: Literal[1] = 1
    #: The site; when, by which version, and from which store or file it was made.
    site: str | None
    made_utc: str
    made_by: str
    made_from: str
    #: What was fitted, see below.
    curves: list[Curve]
    senders: list[Sender] = []
    loggp: list[LogGP] = []
    compute_rates: list[ComputeRate] = []
    errors: list[ModelError] = []
    #: What of the runs was left out, and why.
    notes: list[str] = []

    #: The file that it was read from.
    _source: str = "the model"

    @property
    def source(self) -> str:
        """The file that it was read from, for messages."""
        return self._source


def load_model(path: str | os.PathLike[str]) -> SiteModel:
    """Read and check a site model file.

    Raises
    ------
    InputError
        If it cannot be read, or a field is wrong; it names the field.
    """
    file = Path(path)
    try:
        content = read_yaml(file)
    except OSError as error:
        raise InputError(
            file, f"cannot be read: {error.strerror}; `switchpoint model fit` writes one"
        ) from None
    except NotYamlError as error:
        raise InputError(file, f"not YAML: {error.problem}; fit again", error.line) from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(file, "not a site model; `switchpoint model fit` writes one")
    if content.get("version") != VERSION:
        raise InputError(
            file,
            f"version {content.get('version')!r} is not known, only {VERSION};"
            " use the Switchpoint that wrote it, or fit again",
        )
    try:
        model = SiteModel.model_validate(content)
    except ValidationError as error:
        raise InputError(file, _worded(error.errors(include_url=False)[0])) from None
    model._source = str(file)
    return model


def save_model(model: SiteModel, path: str | os.PathLike[str]) -> Path:
    """Write a site model file, completely or not at all."""
    text = yaml.dump(
        model.model_dump(mode="json"), Dumper=_DUMPER, sort_keys=False, allow_unicode=True,
        default_flow_style=None, width=120,
    )  # fmt: skip
    return write_whole(path, text)


def write_whole(path: str | os.PathLike[str], text: str) -> Path:
    """Write a text file, completely or not at all.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    file = Path(path)
    try:
        whole_files.write_whole(file, text.encode())
    except OSError as error:
        raise InputError(
            file, f"cannot be written: {error.strerror}; choose another file"
        ) from None
    return file


def _worded(error: ErrorDetails) -> str:
    """Return pydantic's problem in one line that names the field."""
    field = ".".join(map(str, error["loc"])) or "top level"
    if error["type"] == "missing":
        return f"{field}: is missing; fit again"
    if error["type"] == "extra_forbidden":
        return f"{field}: is not a field; remove it"
    message = error["msg"].removeprefix("Value error, ")
    return f"{field}: {message[0].lower()}{message[1:]}; correct it or fit again"


#: The fast writer, if PyYAML was built with it.
_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
