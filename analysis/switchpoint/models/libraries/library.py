"""What a library offers: its algorithms, its default choice, and the files with another choice."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from switchpoint.tables.units import size_text

#: The operations for which an algorithm is recommended.
BROADCAST, EXCHANGE = "broadcast", "exchange"

#: Those that are only measured.
ALLGATHER, ALLREDUCE = "allgather", "allreduce"
REDUCE, REDUCE_SCATTER = "reduce", "reduce_scatter"


@dataclass(frozen=True)
class Algorithm:
    """One algorithm, and the pattern that describes it.

    Attributes
    ----------
    name : str
        As the library calls it.
    kernel, mode : str
        Of `models.kernels`: its pattern. Or those that measured it.
    number : int
        By which the library's files name it, if they use numbers.
    segmented : bool
        Whether it can pass a message on in segments.
    """

    name: str
    kernel: str
    mode: str
    number: int = 0
    segmented: bool = False


@dataclass(frozen=True)
class Choice:
    """An algorithm with its segments in bytes (0: the whole message) and a chain's fan-out."""

    algorithm: Algorithm
    segment_bytes: int = 0
    fan_out: int = 0

    def same_pattern(self, other: Choice) -> bool:
        """Return whether two choices do the same; libraries have several names for some."""
        one, two = self.algorithm, other.algorithm
        return (one.kernel, one.mode, self.segment_bytes) == (
            two.kernel, two.mode, other.segment_bytes,
        )  # fmt: skip

    def __str__(self) -> str:
        segments = f", segments of {size_text(self.segment_bytes)}" if self.segment_bytes else ""
        return f"{self.algorithm.name}{segments}"


@dataclass(frozen=True)
class Group:
    """The ranks of an operation: how many, and on how many nodes."""

    ranks: int
    nodes: int


@dataclass(frozen=True)
class Rule:
    """What a library is to use from one size on; None: its default."""

    first_size_bytes: int
    choice: Choice | None


#: The rules of one operation and one number of ranks, from size 0 on.
Rules = Mapping[tuple[str, int], Sequence[Rule]]


@dataclass(frozen=True)
class Library:
    """Where an operation's algorithm can come from.

    Attributes
    ----------
    name : str
        Such as `Open MPI`.
    algorithms : mapping
        The algorithms of each operation that are worth a prediction.
    default : callable
        Returns what the library chooses by itself for an operation, a group, a size and the
        library's version; None if that is not described here.
    files : callable
        Returns the text of each file that makes the library follow rules, by its name. The second
        argument is the folder in which they will be.
    operations : set of str
        Those for which its files can have rules.
    without_rules : mapping
        The text of each file, by its name, if there is no rule: nothing is set.
    """

    name: str
    algorithms: Mapping[str, Sequence[Algorithm]]
    default: Callable[[str, Group, int, str], Choice | None]
    files: Callable[[Rules, str], dict[str, str]] | None
    operations: frozenset[str] = frozenset()
    without_rules: Mapping[str, str] = field(default_factory=dict)
