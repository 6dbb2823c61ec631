"""Which ranks of a run share a node, and which share the cores of a machine."""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from switchpoint.records.header import Header


@dataclass(frozen=True)
class RankLayout:
    """Where the ranks are.

    Attributes
    ----------
    nodes : tuple of int
        Of each rank: its node, numbered from 0 in the order of the nodes' lowest ranks.
    machines : tuple of int
        The same for running operating systems: emulated nodes share one, and its cores.
    cores : int or None
        Cores of the machine with the fewest, if they are known.
    """

    nodes: tuple[int, ...]
    machines: tuple[int, ...]
    cores: int | None = None

    @property
    def oversubscribed(self) -> bool:
        """Whether some machine has more ranks than cores."""
        if self.cores is None or not self.machines:
            return False
        return max(Counter(self.machines).values()) > self.cores

    @property
    def process_map(self) -> str:
        """A letter for each rank: its node, from A on.

        >>> RankLayout((0, 0, 1), (0, 0, 1)).process_map
        'AAB'
        """
        letters = string.ascii_uppercase + string.ascii_lowercase
        return "".join(letters[node] if node < len(letters) else "?" for node in self.nodes)


def layout_of(header: Header) -> RankLayout:
    """Read from a record's header where its ranks ran. An empty header has no ranks.

    Fewer cores than 1 are not possible: then nothing is known. Simulated hosts are machines of
    their own.
    """
    ranks = header.get("ranks", [])
    if str(header.get("mpi", {}).get("library", "")).startswith("SMPI"):
        ranks = [{**rank, "boot_id": None} for rank in ranks]
    cores = [count for rank in ranks if (count := rank.get("cores_online") or 0) >= 1]
    return RankLayout(
        _numbered(rank.get("host") for rank in ranks),
        _numbered(rank.get("boot_id") or rank.get("host") for rank in ranks),
        min(cores, default=None),
    )


def nodes_of_map(process_map: str) -> int:
    """Count the nodes of a process map, which has the letter of its node for each rank.

    Rank 0 is on ``A``. Each new node has the next letter, in the order of its lowest rank.

    Raises
    ------
    ValueError
        If the text is not such a map.
    """
    letters = "".join(dict.fromkeys(process_map))
    if not letters or letters != string.ascii_uppercase[: len(letters)]:
        raise ValueError(
            f"'{process_map}' is not a process map: give each rank a letter, A for rank 0's node, "
            "the next letter for each new node, such as AABAABB"
        )
    return len(letters)


def _numbered(names: Iterable[Hashable]) -> tuple[int, ...]:
    numbers: dict[Hashable, int] = {}
    return tuple(numbers.setdefault(name, len(numbers)) for name in names)
