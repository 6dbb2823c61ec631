"""Describes a run in the report, in terms with their texts: what measured, where, and how."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from switchpoint.records.mpi_environment import mpi_settings
from switchpoint.records.run_facts import Proof, prove
from switchpoint.tables.columns import Run
from switchpoint.tables.units import size_text

if TYPE_CHECKING:
    from switchpoint.records.footer import Footer
    from switchpoint.records.header import Header, Plan, Rank


def tool_terms(run: Run) -> list[tuple[str, str]]:
    """Return what another tool's output and its labels contain."""
    labels = json.loads(run["labels"]) if isinstance(run["labels"], str) else {}
    terms = [("Started", run["start_utc"]), ("Tool", run["tool"]), ("Labels", _pairs(labels))]
    return [(term, text) for term, text in terms if isinstance(text, str) and text]


def build_terms(run: Run) -> list[tuple[str, str]]:
    """Return how a run's program was built, as far as it is known."""
    terms = [
        ("Builder", run["builder"]),
        ("Spack's hash of the kernels", run["spec_hash"]),
        ("Spack's spec", run["spack_spec"]),
        ("Spack's hash of the spec", run["spack_hash"]),
        ("Spack's lock (SHA-256)", run["lock_hash"]),
    ]
    return [(term, text) for term, text in terms if isinstance(text, str)]


def record_terms(header: Header, footer: Footer | None) -> list[tuple[str, str]]:
    """Return what a run record says of its run."""
    kernel, clock = header.get("kernel", {}), header.get("clock", {})
    plan, mpi = header.get("plan", {}), header.get("mpi", {})
    proof = prove(header, footer)
    ranks = header["ranks"]
    path = f"{proof.path}: {proof.evidence}"
    if proof.interface:
        path += f"; {proof.interface}, MTU {proof.mtu}"
    if proof.speed_mbps:
        path += f", {proof.speed_mbps:g} Mbit/s"
    terms = [
        ("Started", header["start_utc"]),
        ("Labels (claims)", _pairs(header["labels"])),
        ("Ranks (proof)", _where(ranks)),
        ("Path of the payload (proof)", path),
        (
            "Kernel",
            f"{kernel.get('name')} {kernel.get('version')},"
            f" commit {kernel.get('git_commit') or 'unknown'}",
        ),
        ("Compiler", f"{kernel.get('compiler')} {kernel.get('flags')}"),
        ("MPI", f"{mpi.get('library')} (standard {mpi.get('standard')})"),
        ("MPI settings", _pairs(mpi_settings(mpi.get("environment", {}))) or "none set"),
        ("Arguments", " ".join(map(str, header.get("arguments", [])))),
        (
            "Clock",
            f"{clock.get('source')}, tick {clock.get('tick_ns')} ns, smallest step"
            f" {clock.get('step_ns')} ns, reading costs {clock.get('overhead_ns')} ns",
        ),
        ("Plan", _plan(plan)),
        ("Machine", "; ".join(sorted({_machine(rank) for rank in ranks}))),
        ("Conditions", _conditions(proof, ranks)),
    ]
    return terms if footer is None else [*terms, *_verification_terms(footer)]


def _verification_terms(footer: Footer) -> Iterator[tuple[str, str]]:
    checks = footer.get("verification", {})
    arrived = checks.get("arrived")
    compared = f"{checks.get('checks')}" + (f" of {arrived:,}" if arrived is not None else "")
    yield "Verification", f"{compared} payloads compared, {checks.get('errors')} errors"
    if checks.get("bytes_between_nodes") is not None:
        yield (
            "Between nodes",
            f"{checks['bytes_between_nodes']:,} of {checks['bytes_moved']:,} B sent",
        )


def _where(ranks: list[Rank]) -> str:
    return "; ".join(
        f"rank {rank['rank']} on {rank['host']}"
        + (f" ({rank['topology_address']})" if rank.get("topology_address") else "")
        + f", CPUs {_cpu_list(rank['cpus_allowed'])}"
        for rank in ranks
    )


def _conditions(proof: Proof, ranks: list[Rank]) -> str:
    load = f"load {max(rank['before']['load1'] for rank in ranks)} at start"
    if proof.involuntary_switches is None:
        return load
    return (
        f"{load}; {proof.involuntary_switches} involuntary context switches,"
        f" {proof.steal_ticks} ticks stolen"
    ) + (
        f"; {proof.tcp_retransmissions} TCP segments sent again"
        if proof.tcp_retransmissions is not None
        else ""
    )


def _plan(plan: Plan) -> str:
    text = f"seed {plan.get('seed')}, {plan.get('passes')} passes"
    if start := plan.get("start"):
        text += f", calls start {'at an agreed time' if start == 'agreed' else 'from a barrier'}"
    return text


def _machine(rank: Rank) -> str:
    cores = rank.get("cores_online")  # None where cores are simulated
    machine = (
        f"{rank.get('cpu_model')}, "
        + (f"{cores} cores, " if cores else "")
        + f"kernel {rank.get('kernel_release')}"
    )
    if topology := rank.get("topology"):
        machine += (
            f"; sockets: {topology['sockets']}, numa nodes: {topology['numa_nodes']},"
            f" cores: {topology['cores']}, hardware threads: {topology['hardware_threads']}"
        )
        machine += "".join(
            f", L{cache['level']}: {cache['count']} x {size_text(cache['size_bytes'])}"
            for cache in topology["caches"]
            if cache["type"] != "instruction"
        )
    return machine


def _cpu_list(cpus: list[int]) -> str:
    return ",".join(map(str, cpus)) if len(cpus) <= 8 else f"{cpus[0]} to {cpus[-1]} ({len(cpus)})"


def _pairs(entries: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={value}" for name, value in entries.items())
