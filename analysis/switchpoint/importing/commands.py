"""Reads from the command above a table what the table does not say: processes, types, settings."""

from __future__ import annotations

import re
from collections.abc import Mapping

from switchpoint.limits import NAME_CHARACTERS
from switchpoint.tables.collectives import is_collective
from switchpoint.untrusted.settings import known_settings

#: The numbers of processes and of nodes; `mpirun -N` counts the processes of each node.
_PROCESSES = re.compile(r"\s(?:-np|-n|--np|--ntasks)(?:\s+|=|(?=\d))(\d+)\b")
_NODES = re.compile(r"\bsrun\b.*?\s(?:-N|--nodes)(?:\s+|=|(?=\d))(\d+)(?!-)\b")
_WINDOW = re.compile(r"\bosu_(?:bw|bibw|mbw_mr)\b.*?\s(?:-W|--window-size)(?:\s+|=)(\d+)\b")

#: A program starts at its name: what follows are its own options.
_PROGRAM = re.compile(r"\b(?:osu_[a-z_]+|IMB-\w+|\w+_perf(?:_mpi)?|ib_\w+|NP\w+)\b")

#: The window of OSU's benchmarks without the option.
_USUAL_WINDOW = "64"

#: The type of the elements, of OSU's benchmarks and Intel's. Sizes, iterations and warm-ups (`-m`,
#: `-i`, `-x`) are no part of the identity.
_DATATYPE = re.compile(r"\s(?:-T|--type|-data_type)(?:\s+|=)(\w+)")
_USUAL_DATATYPES = ("MPI_CHAR", "MPI_BYTE", "MPI_ALL")

#: Where OSU's buffers are: `-d cuda D H`, or the last words alone.
_ACCELERATOR = re.compile(r"\s(?:-d|--accelerator)(?:\s+|=)(cuda|openacc|rocm|sycl)\b")
_BUFFERS = re.compile(r"\s((?:[HDM]|MH|MD) (?:[HDM]|MH|MD))(?=\s|$)")

#: How launchers are given settings: `-x UCX_TLS=rc`, `--mca pml ucx`, `-genv FI_PROVIDER tcp`.
_SETTINGS = re.compile(
    r"\s(?:-x\s+|-g?env\s+|--(?:export|env)(?:=|\s+)(?:ALL,)?)(?P<name>\w+)[=\s](?P<value>\S+)"
    r"|\s--?g?mca\s+(?P<mca>\w+)\s+(?P<of_mca>\S+)"
)
_MCA = "OMPI_MCA_"


def facts_of_command(command: str, identity: Mapping[str, str]) -> dict[str, str]:
    """Return what a command says about the table that it printed.

    >>> facts_of_command("mpirun -np 8 ./osu_allreduce", {"kernel": "osu_allreduce"})
    {'processes': '8'}
    >>> facts_of_command("srun -N2 -n 2 ./osu_bw -W 16", {"kernel": "osu_bw"})
    {'nodes': '2', 'window_size': '16'}
    >>> facts_of_command("mpirun -x UCX_TLS=rc osu_bw -d cuda D D", {"kernel": "osu_bw"})
    {'accelerator': 'cuda', 'buffers': 'D D', 'settings': 'UCX_TLS=rc'}
    """
    kernel = identity.get("kernel", "")
    program = _PROGRAM.search(command)
    launcher = f"{command[: program.start()] if program else command} "
    options = command[program.end() :] if program else ""
    facts: dict[str, str] = {}
    # The number of processes is not part of the identity of a pair's benchmarks.
    if is_collective(kernel) and (processes := _PROCESSES.findall(launcher)):
        facts["processes"] = processes[-1]
    if nodes := _NODES.search(launcher):
        facts["nodes"] = nodes[1]
    if (window := _WINDOW.search(command)) and window[1] != _USUAL_WINDOW:
        facts["window_size"] = window[1]
    if match := _DATATYPE.search(options):
        datatype = f"MPI_{match[1].upper().removeprefix('MPI_')}"
        facts |= {} if datatype in _USUAL_DATATYPES else {"datatype": datatype}
    if kernel.startswith("osu_"):
        places = {"accelerator": _ACCELERATOR, "buffers": _BUFFERS}
        facts |= {name: m[1] for name, place in places.items() if (m := place.search(options))}
    if settings := _settings(launcher):
        facts["settings"] = settings
    return facts


def _settings(launcher: str) -> str:
    """Return the settings of the MPI library and what lies below it that a launcher is given."""
    given = {
        match["name"] or _MCA + match["mca"]: (match["value"] or match["of_mca"]).strip("'\"")
        for match in _SETTINGS.finditer(launcher)
    }
    known = sorted(f"{name}={value}" for name, value in given.items() if name in known_settings())
    text = " ".join(known)
    return text if len(text) <= NAME_CHARACTERS else ""
