"""One machine without Slurm: each MPI's own mpiexec starts the ranks."""

import os
import sys
from pathlib import Path

from reframe.core.backends import register_launcher
from reframe.core.launchers import JobLauncher
from switchpoint.sites import site_common

HERE = Path(__file__).resolve().parent

# Debian's `mpirun` can be any MPI, so each MPI is named in full.


@register_launcher("mpiexec.openmpi", local=True)
class OpenMpiLauncher(JobLauncher):
    """Open MPI's mpiexec, with each rank bound to its own core."""

    def command(self, job):
        """Words of the launch command."""
        return ["mpiexec.openmpi", "--bind-to", "core", "-n", str(job.num_tasks)]


@register_launcher("mpiexec.mpich", local=True)
class MpichLauncher(JobLauncher):
    """MPICH's mpiexec, with each rank bound to its own core."""

    def command(self, job):
        """Words of the launch command."""
        return [site_common.mpich_program("mpiexec"), "-bind-to", "core", "-n", str(job.num_tasks)]


@register_launcher("mpiexec.intelmpi", local=True)
class IntelMpiLauncher(JobLauncher):
    """Intel MPI's mpiexec, which binds each rank to its own core by default."""

    def command(self, job):
        """Words of the launch command."""
        return [f"{sys.prefix}/bin/mpiexec.hydra", "-n", str(job.num_tasks)]


def _partition(mpi, env_vars=()):
    return {
        "name": mpi,
        "descr": f"this machine, ranks started by mpiexec.{mpi}",
        "scheduler": "local",
        "launcher": f"mpiexec.{mpi}",
        "environs": [mpi],
        "max_jobs": 1,
        "env_vars": list(env_vars),
        **site_common.placed(HERE / "placements.yaml", most_ranks=len(os.sched_getaffinity(0))),
    }


# Open MPI refuses to start as root, but containers and CI machines run as root.
_AS_ROOT = [["OMPI_ALLOW_RUN_AS_ROOT", "1"], ["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"]]

# Intel MPI in addition to Debian's MPIs, if it is installed.
_INTEL = site_common.intel_mpi()

site_configuration = {
    "systems": [
        {
            "name": "local",
            "descr": "this machine, without Slurm",
            "hostnames": [".*"],
            "partitions": [
                _partition("openmpi", _AS_ROOT if os.geteuid() == 0 else ()),
                _partition("mpich"),
                *(_partition(environ["name"]) for environ in _INTEL),
            ],
        }
    ],
    "environments": [
        {
            "name": "openmpi",
            "cc": "mpicc.openmpi",
            "features": ["mpi"],
            "extras": {"mpi": "openmpi", **site_common.netpipe("NPopenmpi")},
        },
        {
            "name": "mpich",
            "cc": site_common.mpich_program("mpicc"),
            "features": ["mpi"],
            "extras": {
                "mpi": "mpich",
                **site_common.netpipe("NPmpich2"),
                **site_common.intel_imb_with("/usr/lib/x86_64-linux-gnu/libmpich.so.12"),
            },
        },
        *_INTEL,
    ],
    "general": [site_common.GENERAL],
    "logging": [site_common.logging()],
}
