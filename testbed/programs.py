"""The programs that the testbed starts, and the Debian package of each."""

from __future__ import annotations

import os
import shutil

from testbed.errors import TestbedError

#: Commands for users of the cluster, which get a wrapper.
CLIENTS = ("sbatch", "srun", "salloc", "scontrol", "squeue", "sinfo", "scancel")

#: Commands that get one where Slurm's package has them: scrontab from Slurm 23.02 on.
OPTIONAL_CLIENTS = ("scrontab",)

_PACKAGES = {
    **dict.fromkeys(CLIENTS, "slurm-client"),
    "slurmctld": "slurmctld",
    "slurmd": "slurmd",
    "munged": "munge",
    "ip": "iproute2",
    "tc": "iproute2",
    "unshare": "util-linux",
    "nsenter": "util-linux",
    "setpriv": "util-linux",
    "taskset": "util-linux",
}


def search_path(avoid: str = "") -> str:
    """Return PATH without the folder `avoid` and with the folders of daemons."""
    # Debian's folders of daemons, ip and tc are not in an ordinary user's PATH.
    folders = os.environ.get("PATH", "/usr/bin:/bin").split(":")
    for sbin in ("/usr/sbin", "/sbin"):
        if sbin not in folders:
            folders.append(sbin)
    return ":".join(folder for folder in folders if folder != avoid)


def check_installed() -> None:
    """Raise TestbedError, naming the packages, if a program is missing."""
    missing = [name for name in _PACKAGES if shutil.which(name, path=search_path()) is None]
    if missing:
        packages = " ".join(sorted({_PACKAGES[name] for name in missing}))
        names = ", ".join(missing)
        raise TestbedError(f"missing {names}: install with `apt-get install {packages}`")


def clients(avoid: str) -> list[str]:
    """Return the commands for users that are not only in the folder `avoid`."""
    path = search_path(avoid)
    return [*CLIENTS, *(name for name in OPTIONAL_CLIENTS if shutil.which(name, path=path))]


def find(name: str, avoid: str) -> str:
    """Return the path of a program that is not in the folder `avoid`."""
    path = shutil.which(name, path=search_path(avoid))
    if path is None:
        raise TestbedError(f"missing {name}: install with `apt-get install {_PACKAGES[name]}`")
    return path
