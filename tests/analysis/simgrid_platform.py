"""Kernels on SimGrid's simulated hosts, where times have no noise."""

from __future__ import annotations

import shutil

import pytest

needs_simgrid = pytest.mark.skipif(
    shutil.which("smpicc") is None, reason="no smpicc here (Debian: libsimgrid-dev)"
)

#: Only messages take time, and every send is treated alike: no protocol of point to point switches.
EXACT = [
    "--log=root.thres:error",
    "--cfg=smpi/host-speed:10Gf",
    "--cfg=smpi/simulate-computation:no",
    "--cfg=smpi/lat-factor:0:1",
    "--cfg=network/crosstraffic:0",
    "--cfg=smpi/send-is-detached-thresh:100000000",
    "--cfg=smpi/async-small-thresh:0",
    "--cfg=smpi/wtime:1e-6",
]

#: Messages have the whole bandwidth at every size.
NO_STEP = "--cfg=smpi/bw-factor:0:1"


def platform_of(hosts: int, latency_us: int, megabytes_per_s: int = 1250) -> str:
    """Return a platform file: hosts around a switch, each with a link of its own."""
    return f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="star" prefix="host" suffix="" radical="0-{hosts - 1}" speed="10Gf"
           bw="{megabytes_per_s}MBps" lat="{latency_us}us"/>
</platform>
"""


def hosts_of(count: int) -> str:
    """Return a file of hosts: a rank on each."""
    return "".join(f"host{number}\n" for number in range(count))
