"""Finds steps on workers that Slurm starts: `testbed exec -- python work_on_slurm.py CURVES OUT`.

It runs on the testbed's controller, as a user would on a login node.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from dask_jobqueue import SLURMCluster
from switchpoint import detect, read
from switchpoint.cores import VARIABLE

#: The controller of every testbed.
ADDRESS = "10.0.0.1"


def main(curves: Path, output: Path) -> None:
    """Write the findings as JSON, and the hosts that worked, one in a line."""
    logs = str(output.parent)
    with SLURMCluster(
        queue="batch",
        cores=1,
        processes=1,
        memory="1GB",
        walltime="00:05:00",
        job_directives_skip=["--mem"],
        log_directory=logs,
        local_directory="/tmp",
        python=sys.executable,
        scheduler_options={"host": ADDRESS, "dashboard": False},
    ) as cluster:
        cluster.scale(jobs=2)
        os.environ[VARIABLE] = cluster.scheduler_address
        found = detect(read(curves))
        workers = cluster.scheduler_info["workers"].values()
        hosts = "\n".join(sorted({worker["host"] for worker in workers}))
    output.write_text(found.to_json(double_precision=15))
    output.with_suffix(".hosts").write_text(hosts)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
