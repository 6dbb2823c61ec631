"""Runs of the kernels under SimGrid, where times are exact: what a platform's numbers say they are.

Python's standard library only, since ctest runs this with whatever Python there is.
"""

# ruff: noqa: D101, D102 -- the names of the tests are sentences

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

SMPIRUN = os.environ["SWITCHPOINT_MPIEXEC"]
KERNELS = Path(os.environ["SWITCHPOINT_KERNELS"])

#: Each host's own link, which a message leaves by and arrives by.
LINK_LATENCY_US = 20
LINK_BANDWIDTH_MBPS = 125
PLATFORM = f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="star" prefix="host" suffix="" radical="0-3" speed="10Gf"
           bw="{LINK_BANDWIDTH_MBPS}MBps" lat="{LINK_LATENCY_US}us"/>
</platform>
"""

#: Nothing costs time but the links: no computation, no factors on top of them.
EXACT = [
    "--log=root.thres:error",
    "--cfg=smpi/host-speed:10Gf",
    "--cfg=smpi/simulate-computation:no",
    "--cfg=smpi/bw-factor:0:1",
    "--cfg=smpi/lat-factor:0:1",
    "--cfg=network/crosstraffic:0",
]


class OnASimulatedPlatform(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "platform.xml").write_text(PLATFORM)
        (self.folder / "hosts").write_text("".join(f"host{i}\n" for i in range(4)))

    def run_kernel(self, kernel: str, *arguments: str, ranks: int) -> subprocess.CompletedProcess:
        return subprocess.run(
            [
                *(SMPIRUN, "-np", str(ranks), "-platform", "platform.xml", "-hostfile", "hosts"),
                *(*EXACT, KERNELS / kernel, *arguments),
            ],
            cwd=self.folder, capture_output=True, text=True, timeout=60,
        )  # fmt: skip

    def footer_of(self, kernel: str, *arguments: str, ranks: int) -> dict:
        done = self.run_kernel(kernel, *arguments, "--record", "run.record", ranks=ranks)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        lines = (self.folder / "run.record").read_text().splitlines()
        header, footer = json.loads(lines[0]), json.loads(lines[-1])
        self.assertRegex(header["mpi"]["library"], "SMPI")
        self.assertFalse(header["start_utc"].startswith("1970"))
        self.assertEqual(footer["verification"]["errors"], 0)
        return footer

    def test_a_message_takes_latency_and_size_over_bandwidth(self):
        sizes = [1, 1000, 125000]
        sweep = ("--mode", "send", "--sizes", ",".join(map(str, sizes)))
        footer = self.footer_of("pingpong", *sweep, ranks=2)
        for point in footer["points"]:
            expected_us = 2 * LINK_LATENCY_US + point["size_bytes"] / LINK_BANDWIDTH_MBPS
            self.assertAlmostEqual(point["median_us"] / expected_us, 1, delta=0.01)
        # Three passes over three sizes, compared by both ranks.
        self.assertEqual(footer["verification"]["checks"], 3 * 3 * 2)

    def test_ranks_start_a_broadcast_together_though_their_machine_has_few_cores(self):
        sizes = [1, 1000, 125000]
        sweep = ("--mode", "repeated", "--sizes", ",".join(map(str, sizes)))
        footer = self.footer_of("broadcast", *sweep, ranks=4)
        self.assertIn("start", footer)  # at an agreed time
        for point in footer["points"]:
            # Rank 0's link carries one message after the other; the last one to arrive counts.
            least_us = 2 * LINK_LATENCY_US + 3 * point["size_bytes"] / LINK_BANDWIDTH_MBPS
            self.assertGreater(point["rank_max_us"], 0.99 * least_us)
            self.assertLess(point["rank_max_us"], 1.01 * least_us + 3 * 2 * LINK_LATENCY_US)
            self.assertAlmostEqual(point["min_us"] / point["max_us"], 1, places=3)
        self.assertEqual(footer["start"]["late_calls"], 0)

    def test_the_trees_of_study_004_bring_every_message_to_31_and_21_ranks(self):
        for mode, ranks in (("binary_ack", 31), ("two_level_ack", 21)):
            sweep = ("--mode", mode, "--sizes", "1,65536", "--passes", "1", "--samples", "1")
            footer = self.footer_of("broadcast", *sweep, "--block-time", "0", ranks=ranks)
            self.assertEqual(len(footer["points"]), 2)
            self.assertGreaterEqual(footer["verification"]["checks"], 2 * (ranks - 1))

    def test_one_block_of_one_call_is_the_only_one_that_is_simulated(self):
        sweep = ("--mode", "repeated", "--sizes", "1000", "--passes", "1", "--samples", "1")
        footer = self.footer_of("broadcast", *sweep, "--block-time", "0", "--warmup", "0", ranks=4)
        (point,) = footer["points"]
        self.assertEqual(point["count"], 1)
        self.assertEqual(footer["verification"]["bytes_moved"], 3 * 1000)

    def test_the_record_names_simulated_hosts(self):
        self.footer_of("pingpong", "--mode", "send", "--sizes", "1", ranks=2)
        header = json.loads((self.folder / "run.record").read_text().splitlines()[0])
        self.assertEqual([rank["host"] for rank in header["ranks"]], ["host0", "host1"])
        stack = header["mpi"]["stack"]
        self.assertEqual(
            [stack[part] for part in ("ucx", "libfabric", "selected", "glibc")],
            [None, None, {}, None],
        )

    def test_collectives_bring_every_message(self):
        for kernel in ("alltoall", "broadcast", "multipair"):
            with self.subTest(kernel=kernel):
                sweep = ("--sizes", "1,70000", "--passes", "1", "--samples", "1")
                footer = self.footer_of(kernel, *sweep, "--block-time", "0", ranks=4)
                self.assertGreater(footer["verification"]["checks"], 0)

    def test_a_mistake_gets_its_line_and_exit_code(self):
        cases = [
            ("pingpong", ["--sizes", "big"], "pingpong: --sizes: 'big' is not a size"),
            ("echo", [], "echo: --mode: a simulated platform has no sockets; choose mode mpi"),
        ]
        for kernel, arguments, words in cases:
            with self.subTest(kernel=kernel):
                done = self.run_kernel(kernel, *arguments, ranks=2)
                self.assertEqual(done.returncode, 2)
                self.assertIn(words, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
