"""Checks what this machine needs to measure MPI. Each problem comes with its fix.

It changes nothing, and nothing runs for longer than a second.
"""

from __future__ import annotations

import importlib.metadata
import itertools
import os
import re
import resource
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

#: Names of compiler wrappers in Debian, in Spack and from vendors.
_WRAPPERS = ["mpicc", "mpicc.openmpi", "mpicc.mpich", "mpiicx", "mpiicc"]

#: Clock sources that need a system call or have coarse ticks.
_SLOW_CLOCKS = {"hpet", "acpi_pm", "jiffies", "pit", "xen"}

#: The oldest CMake that can build the kernels, as in src/CMakeLists.txt.
_CMAKE = (3, 22)

_NOISE_SECONDS = 0.3
_NOISE_GAP_NS = 20_000  # a turn of a loop that only reads the clock takes much less than 1 us
_NOISY = 0.1  # a quota or a shared core takes more; timers and a quiet host's VM took up to 0.023
_BUSY_CORES = 0.5  # a tick of 10 ms is 0.03 of the cores in 0.3 s, and daemons take some


@dataclass
class Fact:
    """The result of one check.

    Attributes
    ----------
    topic : str
        What was checked.
    state : str
        `ok`, `poor` (measurements suffer) or `missing` (something cannot run).
    found : str
        What was found, in words.
    fix : str
        What to do about a problem; empty if there is none.
    place : str
        File and line of the fix, such as ``placements.yaml:12``; otherwise empty.
    """

    topic: str
    state: str
    found: str
    fix: str = ""
    place: str = ""


def doctor() -> pd.DataFrame:
    """Check this machine.

    Returns
    -------
    DataFrame
        Columns `topic`, `state`, `found`, `fix`, `place`, as `Fact`.
    """
    import pandas as pd

    return pd.DataFrame([asdict(fact) for fact in examine()])


def examine() -> Iterator[Fact]:
    """Yield the result of each check."""
    yield from _mpi()
    yield cmake()
    yield _slurm()
    yield from _launch_types()
    yield _reframe()
    yield _spack()
    yield _namespaces()
    yield _cores()
    yield _clock()
    yield _frequency()
    yield noise()


def _mpi() -> Iterator[Fact]:
    """Return which MPI each compiler wrapper on the path compiles for."""
    libraries = mpi_libraries()
    for path, library in libraries.items():
        wrapper = Path(path).name
        state = "ok" if library else "poor"
        fix = "" if library else f"see what `{wrapper} -show` prints; it may be partly installed"
        yield Fact(f"MPI: {wrapper}", state, f"{library or 'unknown'}, {path}", fix)
    if not libraries:
        yield Fact(
            "MPI", "missing", "no mpicc on the path",
            "apt install openmpi-bin libopenmpi-dev, or load your site's MPI module",
        )  # fmt: skip


def mpi_libraries() -> dict[str, str | None]:
    """Return the compiler wrappers on the path, with name and version of their MPI library."""
    paths = filter(None, map(shutil.which, _WRAPPERS))
    return {path: _library_behind(path) for path in paths}


def _library_behind(wrapper: str) -> str | None:
    """Return name and version of the MPI library that a compiler wrapper links."""
    output = program_output(wrapper, "--showme:version")
    if version := re.search(r"Open MPI:? v?(\S+)", output):
        return f"Open MPI {version[1]}"
    command = program_output(wrapper, "-show")
    beside = Path(wrapper).resolve().parent / "mpichversion"
    for teller in (str(beside), "mpichversion"):
        if "mpich" in command.lower() and (
            version := re.search(r"\d+\.\d+\S*", program_output(teller))
        ):
            return f"MPICH {version[0]}"
    if version := re.search(r"/mpi/(\d+\.\d+\S*?)[/\"\s]", command):
        return f"Intel MPI {version[1]}"
    return None


def cmake() -> Fact:
    """Return the version of CMake, which must build the kernels."""
    output = _first_line(program_output("cmake", "--version")) if shutil.which("cmake") else ""
    version = tuple(map(int, re.findall(r"\d+", output)[:2]))
    if version >= _CMAKE:
        return Fact("C build", "ok", output)
    least = ".".join(map(str, _CMAKE))
    fix = f"{least} or newer is needed: load its module, or pip install cmake"
    return Fact("C build", "missing", output or "no cmake", fix)


def _slurm() -> Fact:
    if shutil.which("srun") is None:
        return Fact(
            "Slurm", "missing", "no srun",
            "use the site `local` (mpiexec), or apt install slurm-client",
        )  # fmt: skip
    output = re.search(r"^slurm\S* \S+$", program_output("srun", "--version"), re.MULTILINE)
    version = output[0] if output else "installed"
    answer = program_output("scontrol", "ping", seconds=3)
    if "UP" in answer:
        return Fact("Slurm", "ok", f"{version}, controller answers")
    return Fact(
        "Slurm", "missing", f"{version}, no controller answers",
        "on a cluster ask its administrators; on a single machine start the testbed: testbed up",
    )  # fmt: skip


def _launch_types() -> Iterator[Fact]:
    if shutil.which("srun") is None:
        return
    kinds = program_output("srun", "--mpi=list")
    if "pmi" not in kinds:  # srun lists nothing without its configuration
        return
    for kind, library in (("pmix", "Open MPI"), ("pmi2", "MPICH and Intel MPI")):
        if re.search(rf"\b{kind}\b", kinds):
            yield Fact(f"srun --mpi={kind}", "ok", f"launches {library}")
        else:
            yield Fact(
                f"srun --mpi={kind}", "missing", f"{library} cannot be launched by srun",
                f"install Slurm's {kind} plugin (Debian: libpmix2, libpmi2-0), or use mpirun",
            )  # fmt: skip


def _reframe() -> Fact:
    try:
        return Fact("ReFrame", "ok", importlib.metadata.version("reframe-hpc"))
    except importlib.metadata.PackageNotFoundError:
        return Fact("ReFrame", "missing", "not installed", "pip install 'switchpoint[checks]'")


def _spack() -> Fact:
    if shutil.which("spack") is None:
        return Fact("Spack", "ok", "none; only builds with Spack need it")
    return Fact(
        "Spack", "ok", f"{_first_line(program_output('spack', '--version'))}; more: doctor --spack"
    )


def _namespaces() -> Fact:
    """Return whether the testbed can emulate nodes here."""
    if shutil.which("unshare") is None:
        return Fact("testbed", "missing", "no unshare", "apt install util-linux")
    if os.geteuid() == 0:
        if _succeeds("unshare", "-nm", "true"):
            return Fact("testbed", "ok", "network namespaces, as root")
        return Fact(
            "testbed", "missing", "root may not create namespaces here",
            "start the container with --privileged, or use a virtual machine",
        )  # fmt: skip
    if _succeeds("unshare", "-U", "--map-current-user", "--keep-caps", "-nm", "true"):
        return Fact("testbed", "ok", "user namespaces, no root needed")
    blocked = _read("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1"
    setting = (
        "kernel.apparmor_restrict_unprivileged_userns=0"
        if blocked
        else "user.max_user_namespaces=15000"
    )
    return Fact(
        "testbed", "missing", "no user namespaces",
        f"run as root, or ask root to set it: sysctl {setting}",
    )  # fmt: skip


def _cores() -> Fact:
    allowed, online = len(os.sched_getaffinity(0)), os.cpu_count() or 1
    state = f"{allowed} of {online} cores are allowed"
    if allowed < 2:
        return Fact(
            "CPU binding", "poor", state,
            "two ranks will share a core and wait for each other: allow two (taskset, cpuset)",
        )  # fmt: skip
    return Fact("CPU binding", "ok", state)


def _clock() -> Fact:
    source = _read("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    state = f"{source or 'unknown source'}, smallest step {_clock_step_ns()} ns"
    if source in _SLOW_CLOCKS:
        return Fact(
            "clock", "poor", state,
            "boot with clocksource=tsc if the processor's counter is steady",
        )  # fmt: skip
    return Fact("clock", "ok", state)


def _clock_step_ns() -> int:
    readings = [time.perf_counter_ns() for _ in range(10_000)]
    steps = (later - earlier for earlier, later in itertools.pairwise(readings))
    return min(step for step in steps if step > 0)


def _frequency() -> Fact:
    governor = _read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    if governor is None:
        return Fact("frequency", "ok", "Linux does not control it here")
    if governor in {"powersave", "ondemand", "conservative"}:
        return Fact(
            "frequency", "poor", f"governor {governor}",
            "ask root to set it: cpupower frequency-set -g performance",
        )  # fmt: skip
    return Fact("frequency", "ok", f"governor {governor}")


def noise() -> Fact:
    """Measure what other work takes: of a busy loop's time (fixed time quantum), and of all cores.

    Two ranks need two cores, and a loop alone finds a free one beside a busy one.
    """
    switches = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw
    busy, own = _busy_seconds(), time.process_time()
    lost, start = 0, time.perf_counter_ns()
    earlier = start
    while earlier - start < _NOISE_SECONDS * 1e9:
        now = time.perf_counter_ns()
        if now - earlier > _NOISE_GAP_NS:
            lost += now - earlier
        earlier = now
    switches = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw - switches
    seconds = (earlier - start) * 1e-9
    others = max(_busy_seconds() - busy - (time.process_time() - own), 0.0) / seconds
    cores = os.cpu_count() or 1
    share = lost * 1e-9 / seconds
    state = (
        f"other work took {100 * share:.1f} % of {_NOISE_SECONDS} s and {others:.1f} of {cores}"
        f" cores; {switches} involuntary context switches, load {os.getloadavg()[0]:.1f}"
    )
    if share > _NOISY or cores - others < min(cores, 2) - _BUSY_CORES:
        return Fact("noise", "poor", state, "end other programs, then measure")
    return Fact("noise", "ok", state)


def _busy_seconds() -> float:
    """Return how long all cores together have worked since the start; proc(5), /proc/stat."""
    user, nice, system, _, _, irq, softirq, steal = map(
        int, Path("/proc/stat").read_text().split()[1:9]
    )
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def program_output(*command: str, seconds: float = 10) -> str:
    """Return everything that a program prints; empty if it cannot run."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=seconds, check=False, errors="replace",
            stdin=subprocess.DEVNULL,  # srun would read what a shell is to read next
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr


def _succeeds(*command: str) -> bool:
    try:
        return subprocess.run(command, capture_output=True, timeout=10, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except OSError:
        return None


def _first_line(text: str) -> str:
    return text.strip().split("\n", 1)[0]
