"""The shape of a run record's header, as docs/reference/run-record.md documents it.

Fields that later versions added may be missing; those that are there have to be as documented.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, InstanceOf, ValidationError, field_validator

from switchpoint.records.samples import SAMPLE_TYPES

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)


class _Kernel(_Part):
    name: str | None = None
    pattern: str | None = None
    version: str | None = None
    git_commit: str | None = None
    builder: str | None = None
    spec_hash: str | None = None
    compiler: str | None = None
    flags: str | None = None


class _Plan(_Part):
    seed: int | None = None
    modes: list[str] = []
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
    pause_us: float | None = None
    round_time: bool | None = None  # before `start`
    start: str | None = None
    time_of: dict[str, str] = {}
    kept_per_point: int | None = None


class _Clock(_Part):
    source: str | None = None
    tick_ns: float | None = None
    step_ns: float | None = None
    overhead_ns: float | None = None
    overhead_taken_out: bool | None = None


class _Mpi(_Part):
    library: str = ""
    description: str = ""
    standard: str | None = None
    cvars: InstanceOf[dict[str, Any]] = {}  # thousands: any value will do
    environment: dict[str, str] = {}


class _Interface(_Part):
    name: str
    mtu: int | None
    rx_bytes: int
    tx_bytes: int
    speed_Mbps: float | None = None  # noqa: N815 (the unit's own capitals)
    numa_node: int | None = None


class _Conditions(_Part):
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
    cpu_khz: float | None = None
    cpu: int | None = None
    interfaces: list[_Interface]


class _Cache(_Part):
    level: int
    type: Literal["unified", "data", "instruction"]
    size_bytes: int
    line_bytes: int
    count: int
    hardware_threads: int


class _Topology(_Part):
    sockets: int
    numa_nodes: int
    cores: int
    hardware_threads: int
    caches: list[_Cache]
    rank_sockets: list[int]
    rank_numa_nodes: list[int]
    smt_siblings: list[int]


class _HugePages(_Part):
    transparent: str | None
    size_bytes: int | None
    total: int | None
    free: int | None


class _Rank(_Part):
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
    before: _Conditions


class _Header(_Part):
    run_id: str
    start_utc: str
    kernel: _Kernel
    arguments: list[str] = []
    labels: dict[str, str]
    plan: _Plan
    clock: _Clock
    mpi: _Mpi
    slurm: dict[str, str | int | None] = {}
    ranks: list[_Rank]
    columns: list[str]

    @field_validator("columns")
    @classmethod
    def _has_ours(cls, columns: list[str]) -> list[str]:
        missing = [name for name in SAMPLE_TYPES if name not in columns]
        if missing:
            raise ValueError(f"lacks {missing[0]!r}")
        return columns


def header_problem(header: dict[str, Any]) -> str | None:
    """Say what is wrong with a header and name the field, if anything is."""
    try:
        _Header.model_validate(header)
    except ValidationError as error:
        return _worded(error.errors(include_url=False)[0])
    return None


def _worded(error: ErrorDetails) -> str:
    field = ".".join(map(str, error["loc"]))
    if error["type"] == "missing":
        problem = "is missing"
    elif error["type"] == "value_error":
        problem = error["msg"].removeprefix("Value error, ")
    else:
        problem = f"has the wrong type ({error['msg'][0].lower()}{error['msg'][1:]})"
    return f"header field {field!r} {problem}"
