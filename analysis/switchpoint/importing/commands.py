"""Reads from the command above a table what the table does not say: processes, nodes, windows."""

from __future__ import annotations

import re
from collections.abc import Mapping

from switchpoint.tables.collectives import is_collective

#: The numbers of processes and of nodes; `mpirun -N` counts the processes of each node.
_PROCESSES = re.compile(r"\s(?:-np|-n|--np|--ntasks)(?:\s+|=|(?=\d))(\d+)\b")
_NODES = re.compile(r"\bsrun\b.*?\s(?:-N|--nodes)(?:\s+|=|(?=\d))(\d+)(?!-)\b")
_WINDOW = re.compile(r"\bosu_(?:bw|bibw|mbw_mr)\b.*?\s(?:-W|--window-size)(?:\s+|=)(\d+)\b")

#: A program starts at its name: what follows are its own options.
_PROGRAM = re.compile(r"\b(?:osu_[a-z_]+|IMB-\w+|\w+_perf(?:_mpi)?|ib_\w+|NP\w+)\b")

#: The window of OSU's benchmarks without the option.
_USUAL_WINDOW = "64"


def facts_of_command(command: str, identity: Mapping[str, str]) -> dict[str, str]:
    """Return what a command says about the table that it printed.

    >>> facts_of_command("mpirun -np 8 ./osu_allreduce", {"kernel": "osu_allreduce"})
    {'processes': '8'}
    >>> facts_of_command("srun -N2 -n 2 ./osu_bw -W 16", {"kernel": "osu_bw"})
    {'nodes': '2', 'window_size': '16'}
    """
    kernel = identity.get("kernel", "")
    program = _PROGRAM.search(command)
    launcher = f"{command[: program.start()] if program else command} "
    facts: dict[str, str] = {}
    # The number of processes is not part of the identity of a pair's benchmarks.
    if is_collective(kernel) and (processes := _PROCESSES.findall(launcher)):
        facts["processes"] = processes[-1]
    if nodes := _NODES.search(launcher):
        facts["nodes"] = nodes[1]
    if (window := _WINDOW.search(command)) and window[1] != _USUAL_WINDOW:
        facts["window_size"] = window[1]
    return facts
