"""Tries Switchpoint on other systems than this one, as new users of each would, and prints a table.

Each system is a userland made by debootstrap, in which `session.sh` runs `make run` in an account
with sudo, and a smoke session in an ordinary account and as root. It shares this machine's kernel.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

#: What a person has before the README's first line.
PACKAGES = [
    "make",
    "git",
    "python3",
    "python3-venv",
    "ca-certificates",
    "sudo",
    "iproute2",
    "procps",
]

#: Behind a proxy, programs need to be told; anything else of this machine's environment stays out.
KEPT_VARIABLES = (
    "proxy",
    "SSL_",
    "PIP_CERT",
    "PIP_INDEX_URL",
    "UV_INDEX_URL",
    "REQUESTS_CA_BUNDLE",
)


#: Where the cause of each MPI's switch must be known, and what counts as known: UCX may compute it.
PLACEMENT = "one_node_network"
MPIS = 2
KNOWN = ("confirmed", "governed")


@dataclass(frozen=True)
class System:
    """A release that debootstrap can make."""

    name: str
    suite: str
    keyring: str
    components: str = "main"
    #: debootstrap's script for releases younger than debootstrap itself.
    script: str | None = None


_DEBIAN = "debian-archive-keyring"
_UBUNTU = "ubuntu-archive-keyring"
SYSTEMS = [
    System("Debian 12", "bookworm", _DEBIAN),
    System("Debian 13", "trixie", _DEBIAN, script="sid"),
    System("Ubuntu 22.04", "jammy", _UBUNTU, "main,universe", script="gutsy"),
    System("Ubuntu 24.04", "noble", _UBUNTU, "main,universe", script="gutsy"),
]


def main() -> int:
    """Command line: which systems, and where their userlands are kept."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = ", ".join(system.suite for system in SYSTEMS)
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"of {names}; default: all")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "systems")
    parser.add_argument("--list", action="store_true", help="print the systems and end")
    arguments = parser.parse_args()
    if unknown := set(arguments.suites) - {system.suite for system in SYSTEMS}:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; there are {names}")
    chosen = [s for s in SYSTEMS if not arguments.suites or s.suite in arguments.suites]
    if arguments.list:
        print("\n".join(f"{system.suite}: {system.name}" for system in chosen))
        return 0
    if lack := lacking():
        print(f"try_systems: {lack}", file=sys.stderr)
        return 2
    outcomes = [outcome(system, try_system(system, arguments.folder)) for system in chosen]
    print_table(outcomes)
    return 0 if all(row["green"] == "yes" for row in outcomes) else 1


def lacking() -> str | None:
    """What this machine lacks for the trial, with the fix, or None."""
    if os.geteuid() != 0:
        return "userlands are mounted: run this as root"
    if shutil.which("debootstrap") is None:
        return "no debootstrap: apt-get install debootstrap"
    return None


def try_system(system: System, folder: Path) -> Path:
    """Run the session in a fresh copy of the system; return the folder of its results."""
    base = make_userland(system, folder / system.suite)
    layer = folder / f"{system.suite}-session"
    shutil.rmtree(layer, ignore_errors=True)
    for name in ("upper", "work", "root", "results"):
        (layer / name).mkdir(parents=True)
    print(f"== {system.name}: session, log in {layer}/results", flush=True)
    enter = ["unshare", "-mp", "--fork", "--kill-child", "bash", HERE / "enter.sh"]
    places = [str(base), str(layer), str(layer / "results"), str(ROOT)]
    with (layer / "results" / "session.log").open("w") as log:
        subprocess.run(
            [*enter, *places, "bash", "/src/tests/systems/session.sh"],
            env=environment(), stdout=log, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
    return layer / "results"


def make_userland(system: System, base: Path) -> Path:
    """Make the system's minimal userland with debootstrap, once."""
    if (base / "etc/os-release").exists() and not (base / "debootstrap").exists():
        return base
    print(f"== {system.name}: debootstrap into {base}", flush=True)
    shutil.rmtree(base, ignore_errors=True)
    base.parent.mkdir(parents=True, exist_ok=True)
    scripts = Path("/usr/share/debootstrap/scripts")
    own = (scripts / system.suite).exists() or system.script is None
    keyring = Path("/usr/share/keyrings", f"{system.keyring}.gpg")
    verify = f"--keyring={keyring}" if keyring.exists() else "--no-check-gpg"
    if not keyring.exists():
        print(f"note: {keyring} is not here, so the userland's first packages are not verified")
    log = base.with_suffix(".log")
    with log.open("w") as output:
        done = subprocess.run(
            [
                "debootstrap", "--variant=minbase", f"--components={system.components}",
                verify, f"--include={','.join(PACKAGES)}", system.suite, base,
                *([] if own else ["", scripts / str(system.script)]),
            ],
            stdout=output, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
    if done.returncode != 0:
        sys.exit(f"try_systems: debootstrap of {system.suite} failed: see {log}")
    return base


def environment() -> dict[str, str]:
    """What the userland sees of this machine's environment."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if any(word in name or word in name.lower() for word in KEPT_VARIABLES)
    }
    folders = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    return kept | {"HOME": "/root", "PATH": folders, "LANG": "C.UTF-8"}


def outcome(system: System, results: Path) -> dict[str, str]:
    """One row of the table."""
    versions = dict(line.split(": ", 1) for line in lines(results / "versions") if ": " in line)
    steps = {step: lines(results / f"{step}.exit") for step in ("run", "colleague", "root")}
    ended = {step: said[0].split()[0] == "0" if said else False for step, said in steps.items()}
    proved = limits(results / "switches.json")
    seconds = sum(int(said[0].split()[1]) for said in steps.values() if said)
    return {
        "system": system.name,
        "Slurm": versions.get("slurmd", "-"),
        "Open MPI": versions.get("mpiexec.openmpi", "-"),
        "MPICH": versions.get("mpichversion", "-"),
        "Python": versions.get("python3", "-"),
        "make run": yes(ended["run"]),
        "last eager size, cause": "; ".join(map(": ".join, sorted(proved.items()))),
        "smoke": yes(ended["colleague"]),
        "smoke as root": yes(ended["root"]),
        "minutes": f"{seconds / 60:.1f}",
        "green": yes(all(ended.values()) and len(proved) == MPIS),
    }


def limits(switches: Path) -> dict[str, str]:
    """For each MPI on one node's network path: its switch and its cause, or that it has none."""
    text = "\n".join(lines(switches))
    told = json.loads(text) if text else {"switches": [], "stayed_eager": []}
    found = {}
    for place in told.get("stayed_eager", []):
        if place["curve"].get("placement") == PLACEMENT:
            mpi, status = place["curve"]["mpi"], place["status"]
            if status in KNOWN:
                found[mpi] = f"{place['up_to_bytes']:,} B or more, {place['cause']} ({status})"
    for switch in told["switches"]:
        curve = switch["curve"]
        asked = curve.get("placement") == PLACEMENT and curve.get("mode") == "send"
        if asked and switch["status"] in KNOWN and switch["exact"]:
            told_of = f"{switch['cause']} ({switch['status']})"
            found[curve["mpi"]] = f"{switch['last_size_bytes']:,} B, {told_of}"
    return found


def lines(file: Path) -> list[str]:
    """Lines of a file, none if it is missing."""
    return file.read_text(errors="replace").splitlines() if file.exists() else []


def yes(good: bool) -> str:
    """Word for the table."""
    return "yes" if good else "NO"


def print_table(rows: list[dict[str, str]]) -> None:
    """Print rows as a Markdown table."""
    print(f"\nOn one kernel, Linux {os.uname().release}, {time.strftime('%Y-%m-%d')}:\n")
    print("|" + "|".join(f" {name} " for name in rows[0]) + "|")
    print("|" + "---|" * len(rows[0]))
    for row in rows:
        print("|" + "|".join(f" {cell} " for cell in row.values()) + "|")


if __name__ == "__main__":
    sys.exit(main())
