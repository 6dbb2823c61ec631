"""Writes recommendations as files that MPI libraries and Slurm read."""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from switchpoint.errors import InputError
from switchpoint.models.collectives import Advice, rules_of
from switchpoint.models.recommend import Recommendation
from switchpoint.models.rules_files import digest_of, settings_in
from switchpoint.models.rules_folder import files_without_rules, library_files, write_rules


def write_advice(
    recommendation: Recommendation,
    folder: str | os.PathLike[str],
    mpich_library: str | os.PathLike[str] | None = None,
    hosts: Sequence[str] = (),
    *,
    force: bool = False,
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
    force
        Whether to replace also files that others wrote.

    Returns
    -------
    list of Path
        Settings files have lines NAME=VALUE of the environment.

    Raises
    ------
    InputError
        As of `write_rules`, and if there are fewer hosts than nodes.
    """
    folder, library = Path(folder), recommendation.library
    files = library_files(folder, library, rules_of(recommendation.algorithms), mpich_library)
    files = files or files_without_rules(folder, library)
    for advice in recommendation.maps:
        if advice.best_map is not None and advice.winner == "several nodes":
            files |= map_files(advice.best_map, hosts)
    if not files:
        return []
    return write_rules(folder, files, by="model recommend", force=force)


def rules_digests(
    recommendation: Recommendation, mpich_library: str | os.PathLike[str] | None = None
) -> dict[str, str]:
    """Return the digest of the rules of a recommendation as it was before it was checked.

    Parameters
    ----------
    recommendation, mpich_library
        As of `write_advice`.

    Returns
    -------
    dict
        The digest, as in `rules_files.RulesFolder`, by each operation that the rules decide: none
        if nothing is written for the library.
    """
    unchecked = [dataclasses.replace(one, checked=None) for one in recommendation.algorithms]

    def files_of(algorithms: Sequence[Advice]) -> dict[str, str]:
        rules = rules_of(algorithms)
        return library_files(Path("rules"), recommendation.library, rules, mpich_library)

    files = files_of(unchecked)
    settings = [settings_in(text) for name, text in files.items() if name.endswith(".env")]
    return {
        operation: digest_of(settings[0], files)
        for operation in dict.fromkeys(one.operation for one in unchecked)
        if files_of([one for one in unchecked if one.operation == operation])
    }


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
