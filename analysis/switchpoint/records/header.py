"""The shape of a run record's header; docs/reference/run-record.md has its tables from here.

Fields that later versions added may be missing; those that are there have to be as documented.
"""

from __future__ import annotations

from datetime import datetime
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    InstanceOf,
    TypeAdapter,
    ValidationError,
    with_config,
)
from typing_extensions import NotRequired, TypedDict  # pydantic refuses those of Python 3.11

from switchpoint.limits import COLUMNS, LABELS, NAME_CHARACTERS
from switchpoint.records.run_facts import TIME_FORMAT
from switchpoint.records.samples import SAMPLE_TYPES

#: An object of a header or footer. Unknown fields do not matter.
Part = with_config(ConfigDict(extra="ignore", strict=True))


def _time(text: str) -> str:
    try:
        datetime.strptime(text, TIME_FORMAT)
    except ValueError:
        raise ValueError("is not a time such as 2026-11-21T10:00:00.000000Z") from None
    return text


#: The time in UTC at which something happened.
Time = Annotated[str, AfterValidator(_time)]


@Part
class Kernel(TypedDict):
    """The program that measured."""

    #: Its name and version, and what a message size is the size of (see Bandwidths).
    name: str
    pattern: NotRequired[str | None]
    version: NotRequired[str | None]
    #: Ends in `+` if the kernels' sources were changed since; null outside git.
    git_commit: NotRequired[str | None]
    #: `cmake` or `spack`, and Spack's hash or null.
    builder: NotRequired[str | None]
    spec_hash: NotRequired[str | None]
    #: What compiled it.
    compiler: NotRequired[str | None]
    flags: NotRequired[str | None]


@Part
class Plan(TypedDict):
    """What a kernel was to measure, and how."""

    #: The kernel's options.
    seed: NotRequired[int | None]
    modes: NotRequired[list[str]]
    sizes_bytes: NotRequired[list[int]]
    passes: NotRequired[int | None]
    samples_per_pass: NotRequired[int | None]
    block_time_us: NotRequired[float | None]
    pass_time_us: NotRequired[float | None]
    point_time_us: NotRequired[float | None]
    precision_percent: NotRequired[float | None]
    warmup: NotRequired[int | None]
    window: NotRequired[int | None]
    window_kib: NotRequired[int | None]
    rotate_mib: NotRequired[int | None]
    buffer_offset_bytes: NotRequired[int | None]
    pause_us: NotRequired[float | None]
    #: The value of the library's variable that chooses the algorithm of a mode, by mode.
    algorithms: NotRequired[dict[str, int]]
    #: 0: none.
    time_budget_s: NotRequired[float | None]
    #: The messages in flight of each mode that streams.
    windows: NotRequired[dict[str, int]]
    #: `agreed`, `barrier`, or null in kernels that are timed by rank 0 alone.
    start: NotRequired[str | None]
    #: For each mode `slowest`, `mean` or `root`.
    time_of: NotRequired[dict[str, str]]
    #: From how many samples of a point on some are left out.
    kept_per_point: NotRequired[int | None]


@Part
class Clock(TypedDict):
    """The clock that a kernel read."""

    #: Which clock, and its tick as documented.
    source: NotRequired[str | None]
    tick_ns: NotRequired[float | None]
    #: The smallest step seen, and the median cost of a reading.
    step_ns: NotRequired[float | None]
    overhead_ns: NotRequired[float | None]
    #: Whether times and phases are without that cost.
    overhead_taken_out: NotRequired[bool | None]


@Part
class UcxSettings(TypedDict):
    """The settings of UCX."""

    #: Its version, and name and value of all options, as `ucx_info -c` prints them.
    version: str
    settings: dict[str, str]
    #: The names of those in memory units.
    sizes: list[str]


@Part
class LibfabricSettings(TypedDict):
    """The settings of libfabric."""

    #: Its version, and name and value of all parameters; null if the environment does not set it.
    version: str
    settings: dict[str, str | None]
    #: The names of those of an integer type.
    sizes: list[str]


@Part
class GlibcSettings(TypedDict):
    """The C library and its tunables."""

    #: Its version, and name and value in use of all tunables, as `ld.so --list-tunables` prints
    #: them, but in decimal. Without glibc 2.33 or newer there are none.
    version: str
    settings: dict[str, str]
    #: The names of those from which on messages are copied in another way.
    sizes: list[str]
    #: `erms` if the processor calls copies with `rep movsb` fast, `fsrm` if it calls short ones
    #: fast too.
    cpu_flags: list[str]


@Part
class Stack(TypedDict):
    """What lies below MPI."""

    #: Null if the process has no endpoint of UCX.
    ucx: NotRequired[UcxSettings | None]
    #: Null if the process has not initialised libfabric.
    libfabric: NotRequired[LibfabricSettings | None]
    #: Open MPI's components in use: `pml`, `mtl`, `btl`, each an array of names; `btl` is empty if
    #: the PML does not use BTLs.
    selected: NotRequired[dict[str, list[str]]]
    #: The kernel's settings of TCP and sockets, from `/proc/sys/net/ipv4` and `/proc/sys/net/core`,
    #: by the name of their file.
    tcp: NotRequired[dict[str, int | str | list[int]]]
    #: Null with another C library.
    glibc: NotRequired[GlibcSettings | None]


@Part
class Mpi(TypedDict):
    """The MPI library and its settings."""

    #: The first line of the version string, and all of it.
    library: NotRequired[str]
    description: NotRequired[str]
    #: `"3.1"`.
    standard: NotRequired[str | None]
    #: Name and value of every readable MPI_T control variable.
    cvars: NotRequired[InstanceOf[dict[str, Any]]]  # thousands: any value will do
    #: The variables of MPI libraries, PMIx, UCX, libfabric, other transports and glibc, without
    #: addresses and keys.
    environment: NotRequired[dict[str, str]]
    #: What lies below MPI, see there.
    stack: NotRequired[Stack | None]


@Part
class Interface(TypedDict):
    """One network interface, and what it carried since the machine started."""

    #: Also loopback and InfiniBand ports (`"mlx5_0/1"`). They count other programs too.
    name: str
    mtu: int | None
    rx_bytes: int
    tx_bytes: int
    speed_Mbps: NotRequired[float | None]
    numa_node: NotRequired[int | None]


@Part
class Conditions(TypedDict):
    """The conditions of a rank, before or after the run."""

    #: Of the whole machine, the last two from `/proc/stat`.
    load1: float
    steal_ticks: int
    softirq_ticks: NotRequired[int | None]
    #: Of this process.
    voluntary_switches: NotRequired[int | None]
    involuntary_switches: int
    cpu_time_us: NotRequired[int | None]
    #: How long the CPUs of `cpus_allowed` were not idle, and handled soft interrupts, since the
    #: machine started; summed over these CPUs.
    cores_busy_us: NotRequired[int | None]
    cores_softirq_us: NotRequired[int | None]
    #: Sent in its network namespace, and sent again.
    tcp_segments: NotRequired[int | None]
    tcp_retransmissions: NotRequired[int | None]
    #: What this process's open TCP sockets sent and received.
    tcp_socket_bytes: NotRequired[int | None]
    #: Its sockets of other protocols, which do not report what they carried.
    untold_sockets: NotRequired[int | None]
    #: Frequency, or null; where it runs now.
    cpu_khz: NotRequired[float | None]
    cpu: NotRequired[int | None]
    #: One object for each interface.
    interfaces: list[Interface]


@Part
class Cache(TypedDict):
    """The caches of one level and type."""

    #: `type` is `unified`, `data` or `instruction`.
    level: int
    type: Literal["unified", "data", "instruction"]
    size_bytes: int
    line_bytes: int
    #: How many there are, and how many hardware threads share one.
    count: int
    hardware_threads: int


@Part
class Topology(TypedDict):
    """What hwloc sees of a machine."""

    #: Of the machine.
    sockets: int
    numa_nodes: int
    cores: int
    hardware_threads: int
    caches: list[Cache]
    #: On which this rank may run.
    rank_sockets: list[int]
    rank_numa_nodes: list[int]
    smt_siblings: list[int]


@Part
class HugePages(TypedDict):
    """The large pages of a machine."""

    #: `always`, `madvise` or `never`.
    transparent: str | None
    #: Of the reserved ones.
    size_bytes: int | None
    total: int | None
    free: int | None


@Part
class Rank(TypedDict):
    """Where a rank ran, and under which conditions."""

    #: `host` is that of gethostname.
    rank: int
    host: str
    pid: NotRequired[int | None]
    cpu_model: NotRequired[str | None]
    cores_online: NotRequired[int | None]
    kernel_release: NotRequired[str | None]
    #: Where it ran at the start.
    cpu: NotRequired[int | None]
    #: `SLURM_TOPOLOGY_ADDR` and `SLURM_TOPOLOGY_ADDR_PATTERN`, or null.
    topology_address: NotRequired[str | None]
    topology_pattern: NotRequired[str | None]
    #: The CPUs that the operating system lets it use, read back and not requested.
    cpus_allowed: list[int]
    #: An inode, which distinguishes nodes that share an operating system.
    net_namespace: NotRequired[int | None]
    #: What hwloc sees, or null in a build without it (Debian: `libhwloc-dev`; Spack: `+hwloc`, the
    #: default).
    topology: NotRequired[Topology | None]
    #: 0 if a rank may copy from another one's memory, as single-copy transfers do; null if the
    #: system has no such rule.
    ptrace_scope: NotRequired[int | None]
    #: The system's large pages.
    huge_pages: NotRequired[HugePages | None]
    #: Of the running operating system, or null. Ranks with the same `boot_id` share its cores,
    #: whatever their host names are.
    boot_id: NotRequired[str | None]
    #: The conditions before the sweep.
    before: Conditions


def _are_labels(labels: dict[str, str]) -> dict[str, str]:
    if len(labels) > LABELS:
        raise ValueError(f"has {len(labels)} labels; at most {LABELS} are read")
    if any(not name.strip() for name in labels):
        raise ValueError("has a label without a name")
    if any(len(word) > NAME_CHARACTERS for pair in labels.items() for word in pair):
        raise ValueError(f"has a label of more than {NAME_CHARACTERS:,} characters")
    return labels


def _are_different(ranks: list[Rank]) -> list[Rank]:
    if len({rank["rank"] for rank in ranks}) < len(ranks):
        raise ValueError("has the same rank twice")
    return ranks


def _have_ours(columns: list[str]) -> list[str]:
    if len({*columns}) < len(columns):
        raise ValueError("has the same column twice")
    missing = [name for name in SAMPLE_TYPES if name not in columns]
    if missing:
        raise ValueError(f"lacks {missing[0]!r}")
    return columns


@Part
class Header(TypedDict):
    """The whole header, beside `record` and `schema`."""

    #: 32 hexadecimal digits, random; the identity of the run.
    run_id: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
    #: ISO 8601, microseconds, `Z`.
    start_utc: Time
    #: Which program it was.
    kernel: Kernel
    #: All arguments.
    arguments: NotRequired[list[str]]
    #: `--label KEY=VALUE` of the caller; claims, not proofs. By convention `site`, `partition`,
    #: `environ`, `placement`, `check`, `session`, `spack_spec`, `spack_hash`, `launch`,
    #: `scheduler_options`, `modules`, `container_image`. Any other is part of the identity of the
    #: curves.
    labels: Annotated[dict[str, str], AfterValidator(_are_labels)]
    #: What it was to measure.
    plan: Plan
    #: How it measured time.
    clock: Clock
    #: The MPI library.
    mpi: Mpi
    #: `job_id`, `step_id`, `node_list`, `cluster`, `partition`, if they are set.
    slurm: NotRequired[dict[str, str | int | None]]
    #: One object for each rank.
    ranks: Annotated[list[Rank], Field(min_length=1), AfterValidator(_are_different)]
    #: The CSV's columns, in order.
    columns: Annotated[list[str], Field(max_length=COLUMNS), AfterValidator(_have_ours)]


def header_problem(header: dict[str, Any]) -> str | None:
    """Say what is wrong with a header and name the field, if anything is."""
    try:
        _reader().validate_python(header)
    except ValidationError as error:
        return worded("header", error)
    return None


@cache
def _reader() -> TypeAdapter[Header]:
    return TypeAdapter(Header)


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
