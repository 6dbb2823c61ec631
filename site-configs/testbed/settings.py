"""The embedded Slurm cluster of ``testbed up`` as a ReFrame site.

ReFrame may run outside the cluster: the commands in the instance's ``bin/`` enter it.
"""

import json
import os
from pathlib import Path

import switchpoint.sites.scontrol_scheduler  # noqa: F401  (registers the scheduler)
from reframe.core.backends import register_launcher
from reframe.core.launchers import JobLauncher
from switchpoint.shipped import in_checkout, shipped
from switchpoint.sites import site_common
from switchpoint.sites.launching import interface_of, offered_by_slurm

HERE = Path(__file__).resolve().parent

_INSTANCE = os.environ.get("TESTBED_NAME", "main")
_PARENT = shipped("") if in_checkout() else Path.cwd()
_STATE = Path(os.environ.get("SWITCHPOINT_TESTBED_DIR", _PARENT / ".testbed"))
# ReFrame runs sbatch, scontrol and scancel by name and has no option for their folder.
if "SWITCHPOINT_TESTBED" not in os.environ:
    os.environ["PATH"] = f"{_STATE / _INSTANCE / 'bin'}{os.pathsep}{os.environ['PATH']}"

#: What records call this site: several testbeds are several sites.
_SITE = os.environ.get("TESTBED_SITE", "testbed")

# Intel MPI in addition to Debian's MPIs, if it is installed.
_INTEL = site_common.intel_mpi(
    # Without this library Intel MPI starts unconnected single processes under srun.
    {"I_MPI_PMI_LIBRARY": "/usr/lib/x86_64-linux-gnu/libpmi2.so.0"},
    launcher_options=["--mpi=pmi2"],
)

_MPICH = site_common.mpich_program("mpicc")


@register_launcher("mpirun.openmpi")
class OpenMpiLauncher(JobLauncher):
    """Open MPI's mpirun in an allocation, for a Slurm without PMIx, as in Ubuntu 22.04."""

    def command(self, job):
        """Words of the launch command."""
        a_node = job.num_tasks_per_node or 1
        return ["mpirun.openmpi", "-n", str(job.num_tasks), "--map-by", f"ppr:{a_node}:node"]


def _started(cc):
    """Extras that say how the ranks of an MPI are started here."""
    interface = interface_of(cc) or "pmi2"
    if interface == "pmix" and "pmix" not in offered_by_slurm():
        return {"launcher": "mpirun.openmpi"}
    # A library that does not support the interface starts single processes without a message.
    return {"launcher_options": [f"--mpi={interface}"]}


def _placed():
    """Placements of a testbed, with the rate of its shape's uplinks if it is up."""
    found = site_common.placed(HERE / "placements.yaml", most_ranks=len(os.sched_getaffinity(0)))
    shape = _STATE / _INSTANCE / "shape.json"
    across = found["extras"]["placements"].get("two_nodes_two_hosts")
    if across and shape.exists():
        rate = json.loads(shape.read_text())["uplink"]["rate"]  # such as 200mbit
        across["link_Gbps"] = float(rate[:-4]) * {"k": 1e-6, "m": 1e-3, "g": 1}[rate[-4]]
    return found


# Intel MPI, and the folders that the variable SWITCHPOINT_MPIS lists.
_MORE = [*_INTEL, *site_common.more_mpis(_started)]

# Open MPI's mpirun refuses root, but containers and CI machines run as root.
_AS_ROOT = [["OMPI_ALLOW_RUN_AS_ROOT", "1"], ["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"]]

site_configuration = {
    "systems": [
        {
            "name": _SITE,
            "descr": "Slurm cluster in network namespaces on one machine",
            "hostnames": [".*"],
            "partitions": [
                {
                    "name": "batch",
                    "descr": "nodes on emulated hosts",
                    "scheduler": "scontrol",
                    "launcher": "srun",
                    "environs": ["openmpi", "mpich", *(mpi["name"] for mpi in _MORE)],
                    # All nodes share one machine's cores: two jobs at once disturb each other.
                    "max_jobs": 1,
                    **_placed(),
                }
            ],
        }
    ],
    "environments": [
        {
            "name": "openmpi",
            "cc": "mpicc.openmpi",
            "features": ["mpi"],
            "env_vars": _AS_ROOT if os.geteuid() == 0 else [],
            "extras": {
                "mpi": "openmpi",
                **_started("mpicc.openmpi"),
                **site_common.netpipe("NPopenmpi"),
            },
        },
        {
            "name": "mpich",
            "cc": _MPICH,
            "features": ["mpi"],
            "extras": {
                "mpi": "mpich",
                **_started(_MPICH),
                **site_common.netpipe("NPmpich2"),
                **site_common.intel_imb_with("/usr/lib/x86_64-linux-gnu/libmpich.so.12"),
            },
        },
        *_MORE,
    ],
    "general": [site_common.GENERAL],
    "logging": [site_common.logging()],
}
