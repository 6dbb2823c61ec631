"""How much of its cores each rank of a run had, from the counters in its record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from switchpoint.records.run_facts import run_seconds

if TYPE_CHECKING:
    from switchpoint.records.footer import Footer
    from switchpoint.records.header import Conditions, Header, Rank

#: What the ranks and their cores count.
_Counter = Literal["cpu_time_us", "cores_busy_us"]

#: A run is disturbed if other work takes this share of the time of its ranks' cores, and these have
#: no more than this share left. Of 150 runs on two cores where nothing else ran, other work took at
#: most 0.18 in all but one; beside tests and builds 0.58 or more.
_LEAST_OTHERS = 1 / 3
_MOST_IDLE = 0.1


@dataclass(frozen=True)
class CoreUse:
    """Which cores the ranks of one machine shared, and what else ran there.

    Attributes
    ----------
    ranks : list of int
        Ranks under one running operating system that may use the same cores.
    cores : list of int
        The cores that they may use.
    own : float
        Share of the time of these cores that the ranks used themselves.
    others : float
        The same of everything else: other processes, the kernel's own threads, a hypervisor.
    """

    ranks: list[int]
    cores: list[int]
    own: float
    others: float

    @property
    def too_few(self) -> bool:
        """Whether the ranks are more than their cores."""
        return len(self.ranks) > len(self.cores)


def disturbance(header: Header, footer: Footer | None) -> float | None:
    """Return the share of its cores' time that other work took from a run, if that disturbed it.

    Nothing disturbs simulated ranks, whose times are not the machine's.
    """
    if header and str(header.get("mpi", {}).get("library", "")).startswith("SMPI"):
        return None
    shares = [
        use.others
        for use in core_uses(header, footer)
        if use.others >= _LEAST_OTHERS and use.own + use.others >= 1 - _MOST_IDLE
    ]
    return min(max(shares), 1.0) if shares else None


def core_uses(header: Header, footer: Footer | None) -> list[CoreUse]:
    """Derive how the cores of each group of ranks were used during a run.

    Returns
    -------
    list of CoreUse
        One for each group of ranks whose cores overlap, on each machine. Empty for a truncated
        record. Records made before the kernels counted this have shares of NaN.
    """
    if not header or footer is None or not footer.get("end_utc"):
        return []
    after = {rank["rank"]: rank["after"] for rank in footer["ranks"]}
    elapsed_us = run_seconds(header, footer) * 1e6
    return [_use(group, after, elapsed_us) for group in _groups(header["ranks"])]


def _groups(ranks: list[Rank]) -> list[list[Rank]]:
    """Divide ranks into groups that share no core with each other."""
    groups: dict[int, list[Rank]] = {}
    group_of: dict[tuple[str, int], int] = {}
    for number, rank in enumerate(ranks):
        cores = [(_machine(rank), core) for core in rank["cpus_allowed"]]
        near = {group_of[core] for core in cores if core in group_of}
        largest = max(near, key=lambda group: len(groups[group]), default=number)
        members = groups.setdefault(largest, [])
        for group in near - {largest}:
            moved = groups.pop(group)
            members += moved
            group_of |= {
                (_machine(other), core): largest
                for other in moved
                for core in other["cpus_allowed"]
            }
        members.append(rank)
        group_of |= dict.fromkeys(cores, largest)
    return list(groups.values())


def _machine(rank: Rank) -> str:
    """Return what distinguishes running operating systems, which share no cores."""
    return str(rank.get("boot_id") or rank["host"])


def _use(group: list[Rank], after: dict[int, Conditions], elapsed_us: float) -> CoreUse:
    cores = sorted({core for rank in group for core in rank["cpus_allowed"]})
    available_us = max(elapsed_us, 1.0) * len(cores)
    own_us = sum(_growth(rank, after, "cpu_time_us") for rank in group)
    # Ranks with the same cores read the same counters; those of the largest set contain the others.
    widest = max(group, key=lambda rank: len(rank["cpus_allowed"]))
    whole = len(widest["cpus_allowed"]) == len(cores)
    busy_us = _growth(widest, after, "cores_busy_us") if whole else float("nan")
    return CoreUse(
        ranks=sorted(rank["rank"] for rank in group),
        cores=cores,
        own=own_us / available_us,
        others=max(busy_us - own_us, 0.0) / available_us,
    )


def _growth(rank: Rank, after: dict[int, Conditions], counter: _Counter) -> float:
    first, last = rank["before"].get(counter), after[rank["rank"]].get(counter)
    return float("nan") if first is None or last is None else float(last - first)
