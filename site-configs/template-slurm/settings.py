"""ReFrame settings of a Slurm site.

Lines to edit have an arrow in a comment: correct each line, then delete the comment. Nothing runs
while a mark remains; `switchpoint doctor --site FOLDER` lists the marks. Only ``placed`` and
``GENERAL`` come from Switchpoint. The rest is an ordinary ReFrame configuration
(https://reframe-hpc.readthedocs.io/en/stable/config_reference.html).
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
            "modules_system": "nomod",  # <- "lmod" or "tmod4"; "nomod" if there is none
            "partitions": [
                {
                    "name": "cpu",  # <- a name for the partition, preferably Slurm's
                    "descr": "CPU nodes",
                    "scheduler": "scontrol",
                    "launcher": "srun",
                    # No --constraint here: Slurm cannot combine it with a placement's.
                    "access": ["--partition=cpu"],  # <- Slurm's partition, and account
                    "environs": ["openmpi", "mpich"],  # <- the environments below that run here
                    # One job at a time: two runs on one switch disturb each other.
                    "max_jobs": 1,
                    # Your own features and extras: placed(..., features=[...], extras={...})
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
                # `srun --mpi=list` shows what Slurm supports.
                "launcher_options": ["--mpi=pmix", "--cpu-bind=cores"],  # <- how srun starts it
                # Baselines that are installed; -S builder=spack builds OSU and IMB instead.
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
    "logging": [site_common.logging()],
}
