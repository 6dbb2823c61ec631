"""The testbed, with Open MPI in a container image that is said to be there."""

import os
import runpy
from pathlib import Path

HERE = Path(__file__).resolve().parent
site_configuration = runpy.run_path(
    str(HERE.parents[3] / "site-configs" / "testbed" / "settings.py")
)["site_configuration"]

site_configuration["environments"][0]["extras"]["container_image"] = "/images/mpi 5.sif"
if "WITHOUT_RUNTIME" not in os.environ:
    site_configuration["systems"][0]["partitions"][0]["container_platforms"] = [
        {"type": "Apptainer", "env_vars": [["PATH", f"{HERE / 'bin'}:$PATH"]]}
    ]
