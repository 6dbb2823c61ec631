"""The embedded Slurm cluster of ``testbed up`` as a ReFrame site.

ReFrame may run outside the cluster: the commands in the instance's ``bin/`` enter it.
"""

import os
from pathlib import Path

import switchpoint.sites.scontrol_scheduler  # noqa: F401  (registers the scheduler)
from switchpoint.shipped import in_checkout, shipped
from switchpoint.sites import site_common

HERE = Path(__file__).resolve().parent

_INSTANCE = os.environ.get("TESTBED_NAME", "main")
_PARENT = shipped("") if in_checkout() else Path.cwd()
_STATE = Path(os.environ.get("SWITCHPOINT_TESTBED_DIR", _PARENT / ".testbed"))
if "SWITCHPOINT_TESTBED" not in os.environ:
    os.environ["PATH"] = f"{_STATE / _INSTANCE / 'bin'}{os.pathsep}{os.environ['PATH']}"

# Beside Debian's MPIs Intel's, where it is installed.
_INTEL = site_common.intel_mpi(
    # Without it Intel MPI starts unconnected single processes under srun.
    {"I_MPI_PMI_LIBRARY": "/usr/lib/x86_64-linux-gnu/libpmi2.so.0"},
    launcher_options=["--mpi=pmi2"],
)

site_configuration = {
    "systems": [
        {
            "name": "testbed",
            "descr": "Slurm cluster in network namespaces on one machine",
            "hostnames": [".*"],
            "partitions": [
                {
                    "name": "batch",
                    "descr": "two nodes on each of two emulated hosts",
                    "scheduler": "scontrol",
                    "launcher": "srun",
                    "environs": ["openmpi", "mpich", *(environ["name"] for environ in _INTEL)],
                    # All nodes are one machine's cores: two jobs at once would measure each other.
                    "max_jobs": 1,
                    **site_common.placed(
                        HERE / "placements.yaml", most_ranks=len(os.sched_getaffinity(0))
                    ),
                }
            ],
        }
    ],
    "environments": [
        {
            "name": "openmpi",
            "cc": "mpicc.openmpi",
            "features": ["mpi"],
            "extras": {
                "mpi": "openmpi",
                "launcher_options": ["--mpi=pmix"],
                "netpipe": "NPopenmpi",
            },
        },
        {
            "name": "mpich",
            "cc": "mpicc.mpich",
            "features": ["mpi"],
            "extras": {
                "mpi": "mpich",
                # Under pmix MPICH starts unconnected single processes without a word.
                "launcher_options": ["--mpi=pmi2"],
                "netpipe": "NPmpich2",
                **site_common.intel_imb_with("/usr/lib/x86_64-linux-gnu/libmpich.so.12"),
            },
        },
        *_INTEL,
    ],
    "general": [site_common.GENERAL],
}
