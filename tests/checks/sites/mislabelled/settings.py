"""A site whose placements promise what its nodes do not do: each must be refuted by the record."""

import runpy
from pathlib import Path

HERE = Path(__file__).resolve().parent
site_configuration = runpy.run_path(
    str(HERE.parents[3] / "site-configs" / "testbed" / "settings.py")
)["site_configuration"]

extras = site_configuration["systems"][0]["partitions"][0]["extras"]
placements = extras["placements"]
# Shared memory where the network is promised; one host where two are.
placements["one_node_network"]["environment"] = {}
placements["two_nodes_two_hosts"]["scheduler_options"] = ["--switches=1"]
extras["references"] = {"openmpi": {"one_node": {"send_latency": (1e-6, None, 0.1, "us")}}}
