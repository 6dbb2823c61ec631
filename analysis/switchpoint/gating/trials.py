"""What to measure again: a plan of launches, each a job of one kernel, for the check `Confirm`.

A plan is a JSON file, so that whoever measures needs to know nothing of the analysis.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from switchpoint.errors import InputError
from switchpoint.tables.columns import PASSING_LABELS
from switchpoint.untrusted.kernel_options import kernel_arguments
from switchpoint.whole_files import write_whole

if TYPE_CHECKING:
    from switchpoint.records.header import Header

#: Labels that the check writes itself.
_OWN_LABELS = frozenset({"site", "partition", "environ", "placement", "check"} | PASSING_LABELS)

#: Options of a kernel that the check gives itself; each launch has a new order.
_OWN_OPTIONS = ("--mode", "--sizes", "--seed", "--time-budget", "--quiet")

#: The label of a launch that measured again: its name in the plan.
LABEL = "trial"


@dataclass(frozen=True)
class Trial:
    """A job that measures some curves of one kernel again.

    Attributes
    ----------
    partition, environ, placement, kernel : str
        As in the labels of the run that is repeated.
    modes : tuple of str
    sizes_bytes : tuple of int
    ranks : int
    options : tuple of str
        Other options of the kernel, as in that run.
    labels : dict
        Labels that are part of the identity of its curves.
    nodes : tuple of str
        The nodes to run on. Any others that the placement allows take the place of avoided ones.
    avoided : tuple of str
        Nodes not to run on.
    environment : dict
        Variables to set, or to remove if the value is null.
    lock : str
        The text of the Spack lock that it is built from; empty for a build without Spack.
    built_before : bool
        Whether this is the lock of the sessions before, and not the current session's.
    variant : str
        What is different from the current session; empty for nothing.
    number : int
        Of the launch.
    """

    partition: str
    environ: str
    placement: str
    kernel: str
    modes: tuple[str, ...]
    sizes_bytes: tuple[int, ...]
    ranks: int
    options: tuple[str, ...] = ()
    labels: dict[str, str] = field(default_factory=dict)
    nodes: tuple[str, ...] = ()
    avoided: tuple[str, ...] = ()
    environment: dict[str, str | None] = field(default_factory=dict)
    lock: str = field(default="", repr=False)
    built_before: bool = False
    variant: str = ""
    number: int = 0

    @property
    def job(self) -> tuple[str, ...]:
        """What distinguishes it from trials of other curves."""
        labels = sorted(self.labels.items())
        return (self.partition, self.environ, self.placement, self.kernel, *map("=".join, labels))

    @property
    def where(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Its job and the nodes of the run that it repeats.

        Two findings of one job may have been seen on different nodes.
        """
        return self.job, tuple(sorted((*self.nodes, *self.avoided)))


def trial_of(
    header: Header, modes: Iterable[str], sizes_bytes: Iterable[int], lock: str = ""
) -> Trial:
    """Return a job that repeats some curves of a run on the same nodes.

    Parameters
    ----------
    header
        Of the run's record.
    modes, sizes_bytes
        The curves, and the sizes that are enough.
    lock
        The text of its Spack lock, if Spack built it.
    """
    labels = header["labels"]
    given = kernel_arguments(header.get("arguments", [])[1:])
    return Trial(
        partition=labels.get("partition", ""),
        environ=labels.get("environ", ""),
        placement=labels.get("placement", ""),
        kernel=str(header["kernel"]["name"]),
        modes=tuple(modes),
        sizes_bytes=tuple(sizes_bytes),
        ranks=len(header["ranks"]),
        options=tuple(given.words(without=_OWN_OPTIONS)),
        labels={name: text for name, text in labels.items() if name not in _OWN_LABELS},
        nodes=hosts_of(header),
        lock=lock,
    )


def hosts_of(header: Header) -> tuple[str, ...]:
    """Return the nodes that the ranks of a run were on, from its header."""
    return tuple(dict.fromkeys(str(rank["host"]) for rank in header["ranks"]))


def interleaved(variants: Sequence[Trial], launches: int, first: int = 0) -> list[Trial]:
    """Return so many launches of each trial, such that those of one are far from each other.

    Every second round runs backwards, so that a drift of the machine affects all alike.
    """
    plan = []
    for number in range(first, first + launches):
        in_order = variants if number % 2 == 0 else variants[::-1]
        plan += [replace(trial, number=number) for trial in in_order]
    return plan


def write_plan(plan: Sequence[Trial], path: Path) -> None:
    """Write a plan for the check, and beside it the locks of each environment."""
    trials = [asdict(trial) | {"name": name_of(plan, index)} for index, trial in enumerate(plan)]
    locks: dict[str, dict[str, str]] = {}
    for trial in trials:
        if text := trial.pop("lock"):
            when = "before" if trial["built_before"] else "now"
            of_environ = locks.setdefault(trial["environ"], {})
            number = [*locks].index(trial["environ"])  # a name from a record is no name of a file
            file = path.with_name(f"environ-{number}-{when}.lock")
            write_whole(file, text.encode())
            of_environ[when] = str(file)
    content = {"label": LABEL, "locks": locks, "trials": trials}
    write_whole(path, (json.dumps(content, indent=1) + "\n").encode())


def name_of(plan: Sequence[Trial], index: int) -> str:
    """Return the name of a trial, a label of its record. Names sort as they run."""
    return f"{index:0{len(str(len(plan)))}d}"


def trial_named(plan: Sequence[Trial], name: str, source: str | os.PathLike[str]) -> Trial:
    """Return the trial with this name."""
    if not name.isdecimal() or int(name) >= len(plan):
        raise InputError(source, f"is no launch of this plan (label {LABEL}={name})")
    return plan[int(name)]
