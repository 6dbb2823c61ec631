"""The shape of a run record's header; docs/reference/run-record.md has its tables from here.

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
    #: Its name and version, and what a message size is the size of (see Bandwidths).
    name: str
    pattern: str | None = None
    version: str | None = None
    #: Ends in `+` if the kernels' sources were changed since; null outside git.
    git_commit: str | None = None
    #: `cmake` or `spack`, and Spack's hash or null.
    builder: str | None = None
    spec_hash: str | None = None
    #: What compiled it.
    compiler: str | None = None
    flags: str | None = None


class _Plan(Part):
    #: The kernel's options.
    seed: int | None = None
    modes: list[str] = []
    sizes_bytes: list[int] = []
    passes: int | None = None
    samples_per_pass: int | None = None
    block_time_us: float | None = None
    pass_time_us: float | None = None
    point_time_us: float | None = None
    precision_percent: float | None = None
    warmup: int | None = None
    window: int | None = None
    window_kib: int | None = None
    rotate_mib: int | None = None
    buffer_offset_bytes: int | None = None
    pause_us: float | None = None
    #: 0: none.
    time_budget_s: float | None = None
    #: The messages in flight of each mode that streams.
    windows: dict[str, int] = {}
    #: `agreed`, `barrier`, or null in kernels that are timed by rank 0 alone.
    start: str | None = None
    #: For each mode `slowest`, `mean` or `root`.
    time_of: dict[str, str] = {}
    #: From how many samples of a point on some are left out.
    kept_per_point: int | None = None


class _Clock(Part):
    #: Which clock, and its tick as documented.
    source: str | None = None
    tick_ns: float | None = None
    #: The smallest step seen, and the median cost of a reading.
    step_ns: float | None = None
    overhead_ns: float | None = None
    #: Whether times and phases are without that cost.
    overhead_taken_out: bool | None = None


class _UcxSettings(Part):
    #: Its version, and name and value of all options, as `ucx_info -c` prints them.
    version: str
    settings: dict[str, str]
    #: The names of those in memory units.
    sizes: list[str]


class _LibfabricSettings(Part):
    #: Its version, and name and value of all parameters; null if the environment does not set it.
    version: str
    settings: dict[str, str | None]
    #: The names of those of an integer type.
    sizes: list[str]


class _Stack(Part):
    #: Null if the process has no endpoint of UCX.
    ucx: _UcxSettings | None = None
    #: Null if the process has not initialised libfabric.
    libfabric: _LibfabricSettings | None = None
    #: Open MPI's components in use: `pml`, `mtl`, `btl`, each an array of names; `btl` is empty if
    #: the PML does not use BTLs.
    selected: dict[str, list[str]] = {}
    #: The kernel's settings of TCP and sockets, from `/proc/sys/net/ipv4` and `/proc/sys/net/core`,
    #: by the name of their file.
    tcp: dict[str, int | str | list[int]] = {}


class _Mpi(Part):
    #: The first line of the version string, and all of it.
    library: str = ""
    description: str = ""
    #: `"3.1"`.
    standard: str | None = None
    #: Name and value of every readable MPI_T control variable.
    cvars: InstanceOf[dict[str, Any]] = {}  # thousands: any value will do
    #: The variables of MPI libraries, PMIx, UCX, libfabric and other transports, without addresses
    #: and keys.
    environment: dict[str, str] = {}
    #: What lies below MPI, see there.
    stack: _Stack | None = None


class _Interface(Part):
    #: Also loopback and InfiniBand ports (`"mlx5_0/1"`). They count other programs too.
    name: str
    mtu: int | None
    rx_bytes: int
    tx_bytes: int
    speed_Mbps: float | None = None  # noqa: N815 (the unit's own capitals)
    numa_node: int | None = None


class Conditions(Part):
    """The conditions of a rank, before or after the run."""

    #: Of the whole machine, the last two from `/proc/stat`.
    load1: float
    steal_ticks: int
    softirq_ticks: int | None = None
    #: Of this process.
    voluntary_switches: int | None = None
    involuntary_switches: int
    cpu_time_us: int | None = None
    #: How long the CPUs of `cpus_allowed` were not idle, and handled soft interrupts, since the
    #: machine started; summed over these CPUs.
    cores_busy_us: int | None = None
    cores_softirq_us: int | None = None
    #: Sent in its network namespace, and sent again.
    tcp_segments: int | None = None
    tcp_retransmissions: int | None = None
    #: What this process's open TCP sockets sent and received.
    tcp_socket_bytes: int | None = None
    #: Its sockets of other protocols, which do not report what they carried.
    untold_sockets: int | None = None
    #: Frequency, or null; where it runs now.
    cpu_khz: float | None = None
    cpu: int | None = None
    #: One object for each interface.
    interfaces: list[_Interface]


class _Cache(Part):
    #: `type` is `unified`, `data` or `instruction`.
    level: int
    type: Literal["unified", "data", "instruction"]
    size_bytes: int
    line_bytes: int
    #: How many there are, and how many hardware threads share one.
    count: int
    hardware_threads: int


class _Topology(Part):
    #: Of the machine.
    sockets: int
    numa_nodes: int
    cores: int
    hardware_threads: int
    caches: list[_Cache]
    #: On which this rank may run.
    rank_sockets: list[int]
    rank_numa_nodes: list[int]
    smt_siblings: list[int]


class _HugePages(Part):
    #: `always`, `madvise` or `never`.
    transparent: str | None
    #: Of the reserved ones.
    size_bytes: int | None
    total: int | None
    free: int | None


class _Rank(Part):
    #: `host` is that of gethostname.
    rank: int
    host: str
    pid: int | None = None
    cpu_model: str | None = None
    cores_online: int | None = None
    kernel_release: str | None = None
    #: Where it ran at the start.
    cpu: int | None = None
    #: `SLURM_TOPOLOGY_ADDR` and `SLURM_TOPOLOGY_ADDR_PATTERN`, or null.
    topology_address: str | None = None
    topology_pattern: str | None = None
    #: The CPUs that the operating system lets it use, read back and not requested.
    cpus_allowed: list[int]
    #: An inode, which distinguishes nodes that share an operating system.
    net_namespace: int | None = None
    #: What hwloc sees, or null in a build without it (Debian: `libhwloc-dev`; Spack: `+hwloc`, the
    #: default).
    topology: _Topology | None = None
    #: 0 if a rank may copy from another one's memory, as single-copy transfers do; null if the
    #: system has no such rule.
    ptrace_scope: int | None = None
    #: The system's large pages.
    huge_pages: _HugePages | None = None
    #: Of the running operating system, or null. Ranks with the same `boot_id` share its cores,
    #: whatever their host names are.
    boot_id: str | None = None
    #: The conditions before the sweep.
    before: Conditions


class Header(Part):
    """The whole header, beside `record` and `schema`."""

    #: 32 hexadecimal digits, random; the identity of the run.
    run_id: str = Field(pattern=r"^[0-9a-f]{32}$")
    #: ISO 8601, microseconds, `Z`.
    start_utc: Time
    #: Which program it was.
    kernel: _Kernel
    #: All arguments.
    arguments: list[str] = []
    #: `--label KEY=VALUE` of the caller; claims, not proofs. By convention `site`, `partition`,
    #: `environ`, `placement`, `check`, `session`, `spack_spec`, `spack_hash`, `launch`,
    #: `scheduler_options`, `modules`, `container_image`. Any other is part of the identity of the
    #: curves.
    labels: dict[str, str]
    #: What it was to measure.
    plan: _Plan
    #: How it measured time.
    clock: _Clock
    #: The MPI library.
    mpi: _Mpi
    #: `job_id`, `step_id`, `node_list`, `cluster`, `partition`, if they are set.
    slurm: dict[str, str | int | None] = {}
    #: One object for each rank.
    ranks: list[_Rank] = Field(min_length=1)
    #: The CSV's columns, in order.
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
        Header.model_validate(header)
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
