"""ReFrame settings of a Slurm site.

Places to edit carry an arrow in a comment: make each right, then delete the comment. Nothing runs
before, and `switchpoint doctor --site FOLDER` lists them. It is a plain ReFrame configuration
(https://reframe-hpc.readthedocs.io/en/stable/config_reference.html); only ``placed`` and
``GENERAL`` are Switchpoint's.
"""

from pathlib import Path

# The scheduler "scontrol" below comes from here. ReFrame's own "slurm" needs accounting (sacct).
import switchpoint.sites.scontrol_scheduler  # noqa: F401
from switchpoint.sites import site_common

HERE = Path(__file__).resolve().parent

site_configuration = {
    "systems": [
        {
            "name": "example",  # <- the system's name: it becomes `site` in the store
            "descr": "a Slurm cluster",
            "hostnames": [r"login\d+"],  # <- patterns of the names of its login nodes
            "modules_system": "nomod",  # <- "lmod" or "tmod4"; "nomod" where there is none
            "partitions": [
                {
                    "name": "cpu",  # <- a name for the partition, best Slurm's own
                    "descr": "CPU nodes",
                    "scheduler": "scontrol",
                    "launcher": "srun",
                    # No --constraint here: Slurm cannot join it to a placement's own.
                    "access": ["--partition=cpu"],  # <- Slurm's partition, and account
                    "environs": ["openmpi", "mpich"],  # <- those below that run here
                    # One at a time: two runs on one switch measure each other.
                    "max_jobs": 1,
                    # Own features and extras go in here: placed(..., features=[...], extras={...})
                    **site_common.placed(HERE / "placements.yaml"),
                }
            ],
        }
    ],
    "environments": [
        {
            "name": "openmpi",
            "modules": [],  # <- what to load, such as ["gcc/12", "openmpi/5.0"]
            "cc": "mpicc",  # <- its compiler wrapper
            "features": ["mpi"],
            "extras": {
                # The MPI family: the key under a placement's `environment`.
                "mpi": "openmpi",
                # `srun --mpi=list` tells what there is.
                "launcher_options": ["--mpi=pmix", "--cpu-bind=cores"],  # <- how srun starts it
                # Baselines that are here already; -S builder=spack builds OSU and IMB instead.
                # "osu": "/opt/osu/openmpi/libexec/osu-micro-benchmarks/mpi",
                # "imb": "/opt/imb/openmpi/bin/IMB-MPI1",
            },
        },
        {
            "name": "mpich",
            "modules": [],  # <- what to load, such as ["gcc/12", "mpich/4.2"]
            "cc": "mpicc",  # <- its compiler wrapper
            "features": ["mpi"],
            "extras": {
                "mpi": "mpich",
                "launcher_options": ["--mpi=pmi2", "--cpu-bind=cores"],  # <- how srun starts it
            },
        },
    ],
    "general": [site_common.GENERAL],
}
