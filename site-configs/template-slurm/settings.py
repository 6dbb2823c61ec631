"""Template for a Slurm site: copy the folder, replace what is marked with <-, delete the rest.

It is a plain ReFrame configuration
(https://reframe-hpc.readthedocs.io/en/stable/config_reference.html); only ``placed(...)`` is ours.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

# The scheduler 'scontrol' below comes from here. Where accounting (sacct) works, use ReFrame's
# own 'slurm' and drop this line.
import scontrol_scheduler  # noqa: E402, F401
import site_common  # noqa: E402

site_configuration = {
    "systems": [
        {
            "name": "example",  # <- your system's name: it becomes `site` in the store
            "descr": "template of a Slurm site",
            "hostnames": [".*"],  # <- e.g. [r"login\d+\.example\.org"]
            "modules_system": "nomod",  # <- e.g. "lmod"
            "partitions": [
                {
                    "name": "cpu",
                    "descr": "CPU nodes",
                    "scheduler": "scontrol",  # <- "slurm" where sacct works
                    "launcher": "srun",
                    # <- account and partition. No --constraint here: Slurm would have to AND it
                    # with a placement's own, which its grammar does not allow.
                    "access": ["--partition=cpu", "--account=myproject"],
                    "environs": ["openmpi", "mpich"],
                    # One at a time: two runs on one switch measure each other.
                    "max_jobs": 1,
                    **site_common.placed(HERE / "placements.yaml"),
                }
            ],
        }
    ],
    "environments": [
        {
            "name": "openmpi",
            # "modules": ["gcc/12", "openmpi/5.0"],  # <-
            "cc": "mpicc",
            "features": ["mpi"],
            "extras": {
                # The MPI family: the key under a placement's `environment`.
                "mpi": "openmpi",
                # How srun must start it; `srun --mpi=list` tells what your Slurm has. A core for
                # each rank: the record shows the binding that came of it.
                "launcher_options": ["--mpi=pmix", "--cpu-bind=cores"],
                # Baselines that are here already; -S builder=spack builds OSU and IMB instead.
                # "osu": "/opt/osu/openmpi/libexec/osu-micro-benchmarks/mpi",  # <-
                # "imb": "/opt/imb/openmpi/bin/IMB-MPI1",  # <-
            },
        },
        {
            "name": "mpich",
            # "modules": ["gcc/12", "mpich/4.2"],  # <-
            "cc": "mpicc",
            "features": ["mpi"],
            "extras": {
                "mpi": "mpich",
                "launcher_options": ["--mpi=pmi2", "--cpu-bind=cores"],
            },
        },
    ],
    "general": [site_common.GENERAL],
}
