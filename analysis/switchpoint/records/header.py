"""The shape of a run record's header, as docs/reference/run-record.md documents it.

Fields that later versions added may be missing; those that are there have to be as documented.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    InstanceOf,
    ValidationError,
    field_validator,
)

from switchpoint.limits import COLUMNS, LABELS, NAME_CHARACTERS
from switchpoint.records.run_facts import TIME_FORMAT
from switchpoint.records.samples import SAMPLE_TYPES


class Part(BaseModel):
    """An object of a header or footer. Unknown fields do not matter."""

    model_config = ConfigDict(extra="ignore", strict=True)


def _time(text: str) -> str:
    try:
        datetime.strptime(text, TIME_FORMAT)
    except ValueError:
        raise ValueError("is not a time such as 2026-11-21T10:00:00.000000Z") from None
    return text


#: The time in UTC at which something happened.
Time = Annotated[str, AfterValidator(_time)]


class _Kernel(Part):
    name: str
    pattern: str | None = None
    version: str | None = None
    git_commit: str | None = None
    builder: str | None = None
    spec_hash: str | None = None
    compiler: str | None = None
    flags: str | None = None


class _Plan(Part):
    seed: int | None = None
    modes: list[str] = []
    algorithms: dict[str, int] = {}
    sizes_bytes: list[int] = []
    passes: int | None = None
    samples_per_pass: int | None = None
    block_time_us: float | None = None
    pass_time_us: float | None = None
    point_time_us: float | None = None
    precision_percent: float | None = None
    time_budget_s: float | None = None
    warmup: int | None = None
    window: int | None = None
    window_kib: int | None = None
    windows: dict[str, int] = {}
    rotate_mib: int | None = None
    buffer_offset_bytes: int | None = None
    pause_us: float | None = None
    round_time: bool | None = None  # before `start`
    start: str | None = None
    time_of: dict[str, str] = {}
    kept_per_point: int | None = None


class _Clock(Part):
    source: str | None = None
    tick_ns: float | None = None
    step_ns: float | None = None
    overhead_ns: float | None = None
    overhead_taken_out: bool | None = None


class _UcxSettings(Part):
    version: str
    settings: dict[str, str]
    sizes: list[str]


class _LibfabricSettings(Part):
    version: str
    settings: dict[str, str | None]
    sizes: list[str]


class _Stack(Part):
    ucx: _UcxSettings | None = None
    libfabric: _LibfabricSettings | None = None
    selected: dict[str, list[str]] = {}
    tcp: dict[str, int | str | list[int]] = {}


class _Mpi(Part):
    library: str = ""
    description: str = ""
    standard: str | None = None
    cvars: InstanceOf[dict[str, Any]] = {}  # thousands: any value will do
    environment: dict[str, str] = {}
    stack: _Stack | None = None


class _Interface(Part):
    name: str
    mtu: int | None
    rx_bytes: int
    tx_bytes: int
    speed_Mbps: float | None = None  # noqa: N815 (the unit's own capitals)
    numa_node: int | None = None


class Conditions(Part):
    """The conditions of a rank, before or after the run."""

    load1: float
    steal_ticks: int
    softirq_ticks: int | None = None
    voluntary_switches: int | None = None
    involuntary_switches: int
    cpu_time_us: int | None = None
    cores_busy_us: int | None = None
    cores_softirq_us: int | None = None
    tcp_segments: int | None = None
    tcp_retransmissions: int | None = None
    tcp_socket_bytes: int | None = None
    untold_sockets: int | None = None
    cpu_khz: float | None = None
    cpu: int | None = None
    interfaces: list[_Interface]


class _Cache(Part):
    level: int
    type: Literal["unified", "data", "instruction"]
    size_bytes: int
    line_bytes: int
    count: int
    hardware_threads: int


class _Topology(Part):
    sockets: int
    numa_nodes: int
    cores: int
    hardware_threads: int
    caches: list[_Cache]
    rank_sockets: list[int]
    rank_numa_nodes: list[int]
    smt_siblings: list[int]


class _HugePages(Part):
    transparent: str | None
    size_bytes: int | None
    total: int | None
    free: int | None


class _Rank(Part):
    rank: int
    host: str
    topology_address: str | None = None
    topology_pattern: str | None = None
    cpus_allowed: list[int]
    cpu: int | None = None
    cpu_model: str | None = None
    cores_online: int | None = None
    kernel_release: str | None = None
    pid: int | None = None
    net_namespace: int | None = None
    topology: _Topology | None = None
    ptrace_scope: int | None = None
    huge_pages: _HugePages | None = None
    boot_id: str | None = None
    before: Conditions


class _Header(Part):
    run_id: str = Field(pattern=r"^[0-9a-f]{32}$")
    start_utc: Time
    kernel: _Kernel
    arguments: list[str] = []
    labels: dict[str, str]
    plan: _Plan
    clock: _Clock
    mpi: _Mpi
    slurm: dict[str, str | int | None] = {}
    ranks: list[_Rank] = Field(min_length=1)
    columns: list[str] = Field(max_length=COLUMNS)

    @field_validator("labels")
    @classmethod
    def _are_labels(cls, labels: dict[str, str]) -> dict[str, str]:
        if len(labels) > LABELS:
            raise ValueError(f"has {len(labels)} labels; at most {LABELS} are read")
        if any(not name.strip() for name in labels):
            raise ValueError("has a label without a name")
        if any(len(word) > NAME_CHARACTERS for pair in labels.items() for word in pair):
            raise ValueError(f"has a label of more than {NAME_CHARACTERS:,} characters")
        return labels

    @field_validator("ranks")
    @classmethod
    def _are_different(cls, ranks: list[_Rank]) -> list[_Rank]:
        if len({rank.rank for rank in ranks}) < len(ranks):
            raise ValueError("has the same rank twice")
        return ranks

    @field_validator("columns")
    @classmethod
    def _has_ours(cls, columns: list[str]) -> list[str]:
        if len({*columns}) < len(columns):
            raise ValueError("has the same column twice")
        missing = [name for name in SAMPLE_TYPES if name not in columns]
        if missing:
            raise ValueError(f"lacks {missing[0]!r}")
        return columns


def header_problem(header: dict[str, Any]) -> str | None:
    """Say what is wrong with a header and name the field, if anything is."""
    try:
        _Header.model_validate(header)
    except ValidationError as error:
        return worded("header", error)
    return None


def worded(part: str, error: ValidationError) -> str:
    """Name the first wrong field of a header or footer, and what is wrong with it."""
    first = error.errors(include_url=False)[0]
    field = ".".join(map(str, first["loc"])) or part
    message = first["msg"].removeprefix("Value error, ")
    if first["type"] == "missing":
        problem = "is missing"
    elif first["type"] == "value_error":
        problem = message
    else:
        is_type = first["type"].endswith("_type") or first["type"] == "is_instance_of"
        what = "has the wrong type" if is_type else "is wrong"
        problem = f"{what} ({message[0].lower()}{message[1:]})"
    return f"{part} field {field!r} {problem}"
