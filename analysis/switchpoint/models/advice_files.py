"""Writes recommendations as files that MPI libraries and Slurm read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from switchpoint.errors import InputError
from switchpoint.models.collectives import rules_of
from switchpoint.models.libraries import mpich
from switchpoint.models.recommend import Recommendation
from switchpoint.models.site_model import write_whole


def write_advice(
    recommendation: Recommendation,
    folder: Path,
    mpich_library: Path | None = None,
    hosts: Sequence[str] = (),
) -> list[Path]:
    """Write the files that follow from a recommendation.

    Parameters
    ----------
    recommendation
        As from `recommend`, perhaps checked.
    folder
        Created if it does not exist.
    mpich_library
        MPICH's library or JSON file with its own decisions; without it MPICH gets variables.
    hosts
        The nodes' names, for Slurm's host file of a map: A is the first one.

    Returns
    -------
    list of Path
        Settings files have lines NAME=VALUE of the environment.

    Raises
    ------
    InputError
        If a file cannot be written, or there are fewer hosts than nodes.
    """
    files: dict[str, str] = {}
    library = recommendation.library
    rules = rules_of(recommendation.algorithms)
    if library.files is not None and rules:
        where = str(folder.resolve())
        if library is mpich.MPICH and mpich_library is not None:
            files |= mpich.files(rules, where, mpich.built_in_decisions(mpich_library))
        else:
            files |= library.files(rules, where)
    for advice in recommendation.maps:
        if advice.best_map is not None and advice.winner == "several nodes":
            files |= map_files(advice.best_map, hosts)
    if not files:
        return []
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            folder, f"cannot be created: {error.strerror}; choose another folder"
        ) from None
    return [write_whole(folder / name, text) for name, text in files.items()]


def map_files(process_map: str, hosts: Sequence[str] = ()) -> dict[str, str]:
    """Return Open MPI's rank file of a map, and with hosts Slurm's host file.

    >>> print(map_files("AAB", ["a1", "b1"])["sort-AAB.rankfile"], end="")
    rank 0=+n0 slot=0
    rank 1=+n0 slot=1
    rank 2=+n1 slot=0
    """
    taken: Counter[str] = Counter()
    lines = []
    for rank, letter in enumerate(process_map):
        lines.append(f"rank {rank}=+n{_node(letter)} slot={taken[letter]}")
        taken[letter] += 1
    files = {f"sort-{process_map}.rankfile": "".join(f"{line}\n" for line in lines)}
    if hosts:
        if len(hosts) < len(taken):
            raise InputError(
                "--hosts",
                f"names {len(hosts)} of the {len(taken)} nodes of {process_map}; name all of them",
            )
        names = [hosts[_node(letter)] for letter in process_map]
        files[f"sort-{process_map}.hosts"] = "".join(f"{name}\n" for name in names)
    return files


def _node(letter: str) -> int:
    return ord(letter) - ord("A")
