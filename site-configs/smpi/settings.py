"""SimGrid's SMPI on this machine as a ReFrame site: ranks and network are simulated.

Only checks that write a platform run here, such as `Scale`.
"""

import os

from reframe.core.backends import register_launcher
from reframe.core.launchers import JobLauncher
from switchpoint.sites import site_common

#: With SMPI's own defaults each rank sends to each other one while a kernel starts and ends. These
#: algorithms send along trees, so that 256 ranks take seconds and not many minutes. A kernel's own
#: modes send their messages themselves.
COLLECTIVES = {
    "allreduce": "rdb",
    "barrier": "ompi_recursivedoubling",
    "bcast": "binomial_tree",
    "gather": "ompi_binomial",
    "reduce": "binomial",
}


@register_launcher("smpirun", local=True)
class SmpiLauncher(JobLauncher):
    """SimGrid's smpirun; its platform and hosts are files of the check."""

    def command(self, job):
        """Words of the launch command."""
        return [
            *("smpirun", "-np", str(job.num_tasks)),
            *("-platform", "platform.xml", "-hostfile", "hosts", "--log=root.thres:error"),
            *("--cfg=smpi/host-speed:10Gf", "--cfg=smpi/simulate-computation:no"),
            *(f"--cfg=smpi/{name}:{algorithm}" for name, algorithm in COLLECTIVES.items()),
        ]


site_configuration = {
    "systems": [
        {
            "name": "simgrid",
            "descr": "simulated hosts",
            "hostnames": [".*"],
            "partitions": [
                {
                    "name": "simulated",
                    "descr": "SimGrid on this machine",
                    "scheduler": "local",
                    "launcher": "smpirun",
                    "environs": ["smpi"],
                    # Simulated times do not depend on what else runs.
                    "max_jobs": len(os.sched_getaffinity(0)),
                }
            ],
        }
    ],
    "environments": [
        {
            "name": "smpi",
            "cc": "smpicc",
            "features": ["mpi", "simulated"],
            "extras": {"mpi": "smpi", "spack_mpi": None},
        }
    ],
    "general": [site_common.GENERAL],
    "logging": [site_common.logging()],
}
