"""What a run was run with and on, as terms with texts, so that runs can be compared.

Used wherever two runs, two sides or two sessions are compared: one list of what counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from switchpoint.records.mpi_environment import mpi_settings
from switchpoint.records.run_facts import prove

if TYPE_CHECKING:
    from switchpoint.records.footer import Footer
    from switchpoint.records.header import Header, Stack

#: Control variables that name a job, a process, a host or a file: they differ from run to run.
_OF_THE_JOB = re.compile(
    r"(orte|prte|pmix|ess|mca_base|mca_param|opal_cr|schizo|plm|oob)(_|$)"
    r"|.*(pid|jobid|uri|hostname|tmpdir|session_dir|nodename|uuid|seed)",
    re.IGNORECASE,
)

#: What the operating system says of each rank.
_OF_RANKS = {
    "cpu_model": "CPU model",
    "cores_online": "cores online",
    "kernel_release": "kernel release",
    "ptrace_scope": "ptrace scope",
}


def run_terms(header: Header, footer: Footer | None) -> dict[str, str]:
    """Return what is known of a run from its record, without what differs from run to run.

    Parameters
    ----------
    header, footer
        Of a run record. An empty header (other formats) gives no terms.

    Returns
    -------
    dict of str to str
        Such as ``CPU model``, ``MTU`` or ``setting UCX_TLS``, and ``control variable NAME`` for
        each of the library's MPI_T variables.
    """
    if not header:
        return {}
    kernel, mpi = header["kernel"], header["mpi"]
    found = {
        "MPI library": mpi.get("library"),
        "kernel": " ".join(filter(None, [kernel.get("name"), kernel.get("version")])),
        "commit": kernel.get("git_commit"),
        "builder": kernel.get("builder"),
        "compiler": kernel.get("compiler"),
        "compiler flags": kernel.get("flags"),
        "Spack's hash": kernel.get("spec_hash"),
        "ranks": len(header["ranks"]),
        "launcher": header["labels"].get("launch"),
        "container image": header["labels"].get("container_image"),
        "scheduler options": header["labels"].get("scheduler_options"),
        "modules": header["labels"].get("modules"),
        **_of_ranks(header["ranks"]),
        **_of_stack(mpi.get("stack") or {}, footer),
        **_of_path(header, footer),
        **{f"setting {k}": v for k, v in mpi_settings(mpi.get("environment", {})).items()},
    }
    terms = {term: _one_line(value) for term, value in found.items() if value not in (None, "")}
    return terms | variable_terms(mpi.get("cvars", {}))


def variable_terms(variables: Mapping[str, Any]) -> dict[str, str]:
    """Return the library's control variables as terms, without those that name a job or a file."""
    return {
        f"control variable {name}": _one_line(value)
        for name, value in variables.items()
        if value not in (None, "") and "/" not in str(value) and not _OF_THE_JOB.match(name)
    }


def differing(
    sides: Sequence[Sequence[Mapping[str, str]]],
) -> Iterator[tuple[str, list[set[str]]]]:
    """Yield each term whose values differ between sides, with the values of each side.

    Parameters
    ----------
    sides
        Of each side the terms of its runs. A run without a term has no value for it. Control
        variables are compared only if all runs have the same library, because other libraries have
        other ones.
    """
    runs = [run for side in sides for run in side]
    same_library = len({run.get("MPI library") for run in runs}) == 1
    for term in dict.fromkeys(term for run in runs for term in run):
        if term.startswith("control variable ") and not same_library:
            continue
        known = [{value for run in side if (value := _value(run, term))} for side in sides]
        if all(known) and any(own != known[0] for own in known):
            yield term, known


def _value(run: Mapping[str, str], term: str) -> str | None:
    """Return a run's value; a setting that a record does not contain was not set."""
    setting = term.startswith(("setting ", "control variable "))
    return run.get(term, "not set" if setting and "MPI library" in run else None)


def _of_ranks(ranks: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    terms = {
        term: ", ".join(sorted({str(rank[name]) for rank in ranks if rank.get(name) is not None}))
        for name, term in _OF_RANKS.items()
    }
    bound = sorted({len(rank["cpus_allowed"]) for rank in ranks})
    nodes = {(rank["host"], rank.get("boot_id"), rank.get("net_namespace")) for rank in ranks}
    topologies = [rank["topology"] for rank in ranks if rank.get("topology")]
    return terms | {
        "nodes": str(len(nodes)),
        "CPUs that a rank may use": " or ".join(map(str, bound)),
        "sockets": _values(topologies, "sockets"),
        "NUMA nodes": _values(topologies, "numa_nodes"),
        "transparent huge pages": _values(
            [rank["huge_pages"] for rank in ranks if rank.get("huge_pages")], "transparent"
        ),
    }


def _of_stack(stack: Stack, footer: Footer | None) -> dict[str, str | None]:
    """Versions and transports below MPI, and the kernel's own settings of TCP."""
    endpoints = footer["ranks"][0].get("ucx_endpoints", []) if footer else []
    lanes = {lane for point in endpoints for lane in point["lanes"]}
    return {
        "UCX": ucx["version"] if (ucx := stack.get("ucx")) else None,
        "libfabric": libfabric["version"] if (libfabric := stack.get("libfabric")) else None,
        "glibc": glibc["version"] if (glibc := stack.get("glibc")) else None,
        "UCX's transports": ", ".join(sorted(lanes)),
        **{f"kernel's {name}": str(value) for name, value in (stack.get("tcp") or {}).items()},
    }


def _of_path(header: Header, footer: Footer | None) -> dict[str, str | float | None]:
    proof = prove(header, footer)
    return {
        "path": None if proof.path == "unknown" else proof.path.replace("_", " "),
        "interface": proof.interface,
        "MTU": proof.mtu,
        "link / (Mbit/s)": proof.speed_mbps,
    }


def _values(entries: Iterable[Mapping[str, Any]], name: str) -> str:
    return ", ".join(sorted({str(entry[name]) for entry in entries}))


def _one_line(value: object) -> str:
    return " ".join(str(value).split())
