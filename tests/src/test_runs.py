"""Whole runs of the kernels under the build's own mpiexec, judged by what users see.

Exit code, the lines on standard error, the record on disk. Python's standard library only, since
ctest runs this with whatever Python there is.
"""

# ruff: noqa: D101, D102 -- the names of the tests are sentences

from __future__ import annotations

import functools
import json
import math
import multiprocessing
import os
import platform
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from multiprocessing.connection import Connection
from pathlib import Path

MPIEXEC = os.environ["SWITCHPOINT_MPIEXEC"]
KERNELS = Path(os.environ["SWITCHPOINT_KERNELS"])
PINGPONG = KERNELS / "pingpong"
ECHO = KERNELS / "echo"
MULTIPAIR = KERNELS / "multipair"
RING = KERNELS / "ring"
BROADCAST = KERNELS / "broadcast"
ALLTOALL = KERNELS / "alltoall"
MERGESORT = KERNELS / "mergesort"
ZOOM = KERNELS / "zoom"
TEST_KERNELS = Path(os.environ["SWITCHPOINT_TEST_KERNELS"])
EXCHANGE = TEST_KERNELS / "exchange"

# Containers run as root and have fewer cores than ranks; tests care for neither.
ENVIRONMENT = {
    **os.environ,
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
}
#: What new processes can get, which is more than what is free.
AVAILABLE_GIB = next(
    int(line.split()[1]) / 2**20
    for line in Path("/proc/meminfo").read_text().splitlines()
    if line.startswith("MemAvailable:")
)
#: Which tests run: with "only" those that judge times, with "none" all others, else all.
TIMES = os.environ.get("SWITCHPOINT_TIMES", "")
QUICK = ["--block-time", "20", "--samples", "3", "--passes", "2"]
#: Messages that a repetition's time is divided by, with a window of four.
MESSAGES = dict.fromkeys(
    ("send", "ssend", "isend", "bsend", "resend", "rsend", "persistent", "sendrecv"), 2
) | {"stream": 4, "sstream": 4, "bistream": 8}
MODES = list(MESSAGES)


def run(program: Path, *arguments: str, ranks: int = 2, **environment: str):
    """Run a kernel to its end under mpiexec."""
    return subprocess.run(
        [MPIEXEC, "-n", str(ranks), program, *arguments],
        env={**ENVIRONMENT, **environment},
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
        timeout=100,
    )


def said(program: Path, done: subprocess.CompletedProcess) -> list[str]:
    """Give what the kernel itself, not the launcher, printed on standard error."""
    return [line for line in done.stderr.splitlines() if line.startswith(f"{program.name}: ")]


def together(start: Callable, cases: Iterable) -> list:
    """Start a run for each case, several at once: a refused run spends its time in the launcher."""
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(start, cases))


def assert_each_refused(test: unittest.TestCase, program: Path, *cases: tuple[list[str], str]):
    """Assert that each list of arguments gets one line with its words, on a single rank."""

    def start(case):
        return subprocess.run(
            [program, *case[0]], env=ENVIRONMENT, capture_output=True, text=True, timeout=100
        )

    for (arguments, words), done in zip(cases, together(start, cases), strict=True):
        with test.subTest(arguments=arguments):
            test.assertEqual((done.returncode, done.stdout), (2, ""))
            (line,) = done.stderr.splitlines()
            test.assertIn(words, line)


def of_time(test: Callable) -> Callable:
    """Let a test that judges measured times try again, twice at most.

    Another process may take a core from a rank at any moment, which changes a time once; a defect
    changes it in every attempt. What such a test finds it must raise: a `subTest` would keep it.
    """

    @functools.wraps(test)
    def tried(self):
        for _ in range(2):
            try:
                return test(self)
            except AssertionError as error:  # noqa: PERF203
                print(f"{self.id()} is tried again: {error}", file=sys.stderr)
        return test(self)

    tried.judges_times = True
    return tried


class Chosen(unittest.TestLoader):
    """Finds the tests that are to run, see `TIMES`."""

    def getTestCaseNames(self, testCaseClass):  # noqa: N802, N803  unittest's names
        names = super().getTestCaseNames(testCaseClass)
        wanted = {"only": (True,), "none": (False,)}.get(TIMES, (True, False))
        return [n for n in names if hasattr(getattr(testCaseClass, n), "judges_times") in wanted]


def most_in_flight(test: unittest.TestCase, program: Path, *arguments: str) -> dict:
    """Run a kernel on three ranks over counting MPI calls; give sends and receives by rank."""
    done = run(program, *arguments, ranks=3)
    test.assertEqual(done.returncode, 0, done.stderr)
    counted = re.findall(
        r"^rank (\d+): most in flight: sends (\d+), receives (\d+)$", done.stderr, re.MULTILINE
    )
    return {int(rank): (int(sends), int(receives)) for rank, sends, receives in counted}


def unique_keys(pairs: list[tuple[str, object]]) -> dict:
    """Make a dictionary of a JSON object, in which no key may come twice."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError(f"a key comes twice among {[key for key, _ in pairs]}")
    return made


class Record:
    """A record split into its three parts."""

    def __init__(self, path: Path):
        lines = path.read_text(encoding="utf-8").splitlines()
        self.header = json.loads(lines[0], object_pairs_hook=unique_keys)
        self.columns = lines[1].split(",")
        self.rows = [dict(zip(self.columns, line.split(","), strict=True)) for line in lines[2:-1]]
        self.footer = json.loads(lines[-1], object_pairs_hook=unique_keys)

    def order(self, pass_: int) -> list[tuple[str, int]]:
        """Give modes and sizes as they were visited in a pass."""
        visits = [(r["mode"], int(r["size_bytes"])) for r in self.rows if int(r["pass"]) == pass_]
        return list(dict.fromkeys(visits))


class InAFolder(unittest.TestCase):
    """Gives each test a folder of its own and a record's name in it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.path = self.folder / "run.record"

    def measured(self, program: Path, *arguments: str, ranks: int = 2, **environment: str):
        """Run and return the record, having asserted that all went well."""
        done = run(program, *arguments, "--record", str(self.path), ranks=ranks, **environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return Record(self.path)


class ACompleteRun(unittest.TestCase):
    SIZES = (0, 1, 8, 1000, 70000)

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as cls.home:
            cls.path = Path(folder) / "run.record"
            cls.arguments = ["--sizes", "0,1,8,1000,70000", "--seed", "42", "--window", "4", *QUICK]
            cls.arguments += ["--label", 'site=quo"te\\,\nµ', "--label", "empty="]
            cls.arguments += ["--record", str(cls.path)]
            steering = {"OMPI_MCA_test": "1", "UCX_LOG_LEVEL": "warn", "HOME": cls.home}
            steering |= {"MV2_IBA_EAGER_THRESHOLD": "1", "MVP_X": "1", "HFI_UNIT": "0"}
            steering |= {"MLX5_SINGLE_THREADED": "0", "CXI_FORK_SAFE": "0"}
            cls.done = run(PINGPONG, *cls.arguments, **steering)
            cls.left = sorted(p.name for p in Path(folder).iterdir())
            cls.record = Record(cls.path) if cls.path.exists() else None

    def test_ends_well_with_the_marker_as_its_last_line(self):
        self.assertEqual(self.done.returncode, 0, self.done.stderr)
        self.assertEqual(
            self.done.stdout.splitlines()[-1],
            f"switchpoint: complete kernel=pingpong points=55 samples={len(self.record.rows)} "
            f"payload_errors=0 record={self.path}",
        )

    def test_prints_a_line_for_each_point(self):
        points = [line.split()[:2] for line in self.done.stdout.splitlines()[1:-1]]
        self.assertEqual(points, [[m, str(s)] for m in MODES for s in self.SIZES])

    def test_leaves_the_record_and_nothing_else(self):
        self.assertEqual(self.left, ["run.record"])

    def test_header_says_what_ran(self):
        header = self.record.header
        self.assertEqual((header["record"], header["schema"]), ("switchpoint", 1))
        self.assertRegex(header["run_id"], r"^[0-9a-f]{32}$")
        self.assertRegex(header["start_utc"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")
        self.assertEqual(header["arguments"][1:], self.arguments)
        self.assertEqual(header["labels"], {"site": 'quo"te\\,\nµ', "empty": ""})
        kernel = header["kernel"]
        self.assertEqual(kernel["name"], "pingpong")
        self.assertRegex(kernel["version"], r"^\d+\.\d+\.\d+$")
        self.assertIn(kernel["builder"], ["cmake", "spack"])
        self.assertRegex(kernel["git_commit"] or "0" * 40, r"^[0-9a-f]{40}\+?$")
        self.assertTrue(kernel["compiler"])
        self.assertIn("flags", kernel)
        self.assertIn("spec_hash", kernel)

    def test_header_does_not_name_the_home_directory(self):
        settings = self.record.header["mpi"]["cvars"]
        self.assertNotIn(self.home, json.dumps(settings))
        if "mca_base_param_files" in settings:  # Open MPI's
            self.assertRegex(settings["mca_base_param_files"], r"^~/\.openmpi/.*,/")

    def test_a_sweep_without_a_time_budget_is_not_shortened(self):
        self.assertIs(self.record.footer["shortened"], False)

    def test_header_holds_the_plan(self):
        self.assertEqual(
            self.record.header["plan"],
            {
                "seed": 42,
                "modes": MODES,
                "algorithms": {},
                "sizes_bytes": list(self.SIZES),
                "searches": False,
                "passes": 2,
                "samples_per_pass": 3,
                "block_time_us": 20,
                "pass_time_us": 20000,
                "point_time_us": 0,
                "precision_percent": 0,
                "time_budget_s": 0,
                "warmup": 3,
                "window": 4,
                "window_kib": 262144,
                "windows": {"stream": 4, "sstream": 4, "bistream": 4},
                "rotate_mib": 0,
                "buffer_offset_bytes": 0,
                "pause_us": 0,
                "start": None,
                "time_of": dict.fromkeys(MODES, "root"),
                "kept_per_point": 1000,
            },
        )

    def test_header_describes_clock_and_mpi(self):
        clock = self.record.header["clock"]
        self.assertEqual(clock["source"], "CLOCK_MONOTONIC_RAW")
        self.assertIs(clock["overhead_taken_out"], True)
        for fact in ("tick_ns", "step_ns", "overhead_ns"):
            self.assertGreater(clock[fact], 0)
        mpi = self.record.header["mpi"]
        self.assertRegex(mpi["library"], "MPI")
        self.assertRegex(mpi["standard"], r"^\d\.\d$")
        self.assertGreater(len(mpi["cvars"]), 50)
        self.assertEqual(mpi["environment"]["OMPI_MCA_test"], "1")
        self.assertEqual(mpi["environment"]["UCX_LOG_LEVEL"], "warn")
        for name in ("MV2_IBA_EAGER_THRESHOLD", "MVP_X", "HFI_UNIT", "MLX5_SINGLE_THREADED",
                     "CXI_FORK_SAFE"):  # fmt: skip
            self.assertIn(name, mpi["environment"])
        self.assertNotIn("PATH", mpi["environment"])
        self.assertFalse([name for name in mpi["environment"] if "transports" in name])

    def test_header_and_footer_tell_where_each_rank_was_and_how_it_fared(self):
        ranks = self.record.header["ranks"]
        self.assertEqual([rank["rank"] for rank in ranks], [0, 1])
        for rank in ranks:
            self.assertEqual(rank["host"], os.uname().nodename)
            self.assertEqual(rank["kernel_release"], os.uname().release)
            self.assertEqual(rank["cpus_allowed"], sorted(os.sched_getaffinity(0)))
            self.assertIn(rank["cpu"], rank["cpus_allowed"])
            self.assertEqual(rank["net_namespace"], Path("/proc/self/ns/net").stat().st_ino)
            self.assertEqual(rank["cores_online"], os.sysconf("SC_NPROCESSORS_ONLN"))
            self.assertIn("cpu_model", rank)
            boot_id = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
            self.assertEqual(rank["boot_id"], boot_id)
            self.assertIsNone(rank["topology_address"])
        self.assertNotEqual(ranks[0]["pid"], ranks[1]["pid"])

        self.assertEqual([rank["rank"] for rank in self.record.footer["ranks"]], [0, 1])
        for before, after in zip(ranks, self.record.footer["ranks"], strict=True):
            self.assertEqual(before["before"].keys(), after["after"].keys())
            counters = ("voluntary_switches", "involuntary_switches", "softirq_ticks",
                        "cpu_time_us", "cores_busy_us", "cores_softirq_us")  # fmt: skip
            for counter in counters:
                self.assertGreaterEqual(after["after"][counter], before["before"][counter])
            loopback = [i for i in before["before"]["interfaces"] if i["name"] == "lo"]
            mtu = int(Path("/sys/class/net/lo/mtu").read_text())
            self.assertEqual([i["mtu"] for i in loopback], [mtu])

    def test_header_has_the_topology_if_hwloc_was_there(self):
        for rank in self.record.header["ranks"]:
            topology = rank["topology"]
            self.assertEqual(topology is not None, os.environ["SWITCHPOINT_HWLOC"] == "ON")
            if topology is None:
                continue
            for fact in ("sockets", "numa_nodes", "cores", "hardware_threads"):
                self.assertGreaterEqual(topology[fact], 1)
            self.assertGreaterEqual(topology["hardware_threads"], len(rank["cpus_allowed"]))
            self.assertFalse({*topology["smt_siblings"]} & {*rank["cpus_allowed"]})
            self.assertTrue(topology["rank_sockets"])
            for cache in topology["caches"]:
                self.assertGreater(cache["size_bytes"], 0)
                self.assertIn(cache["type"], ("unified", "data", "instruction"))

    def test_header_and_footer_tell_what_the_system_lets_messages_do(self):
        def first_line(path: str) -> str | None:
            try:
                return Path(path).read_text().splitlines()[0]
            except OSError:
                return None

        scope = first_line("/proc/sys/kernel/yama/ptrace_scope")
        transparent = first_line("/sys/kernel/mm/transparent_hugepage/enabled")
        for rank in self.record.header["ranks"]:
            self.assertEqual(rank["ptrace_scope"], None if scope is None else int(scope))
            pages = rank["huge_pages"]
            self.assertEqual(
                pages["transparent"],
                None if transparent is None else re.search(r"\[(.*)\]", transparent)[1],
            )
            self.assertGreater(pages["size_bytes"], 0)
            self.assertGreaterEqual(pages["total"], pages["free"])
            for entry in rank["before"]["interfaces"]:
                speed = first_line(f"/sys/class/net/{entry['name']}/speed")
                known = speed is not None and int(speed) > 0
                self.assertEqual(entry["speed_Mbps"], int(speed) if known else None)
                self.assertIn("numa_node", entry)
        for before, after in zip(
            self.record.header["ranks"], self.record.footer["ranks"], strict=True
        ):
            for counter in ("tcp_segments", "tcp_retransmissions"):
                self.assertGreaterEqual(after["after"][counter], before["before"][counter])

    def test_footer_counts_context_switches_of_each_visit(self):
        for point in self.record.footer["points"]:
            for switches in ("voluntary_switches", "involuntary_switches"):
                self.assertEqual(len(point[switches]), point["passes"])
                self.assertGreaterEqual(min(point[switches]), 0)

    def test_columns_are_those_of_the_header(self):
        columns = ["mode", "size_bytes", "pass", "sample", "iterations", "time_us"]
        self.assertEqual(self.record.columns, columns)
        self.assertEqual(self.record.header["columns"], columns)

    def test_every_planned_point_is_there_in_every_pass(self):
        planned = {(mode, size) for mode in MODES for size in self.SIZES}
        for pass_ in (0, 1):
            self.assertEqual(set(self.record.order(pass_)), planned)
        for row in self.record.rows:
            self.assertGreater(float(row["time_us"]), 0)
            self.assertGreaterEqual(int(row["iterations"]), 1)

    def test_each_block_lasts_as_long_as_was_asked(self):
        blocks = [
            float(row["time_us"]) * int(row["iterations"]) * MESSAGES[row["mode"]]
            for row in self.record.rows
        ]
        self.assertGreaterEqual(statistics.median(blocks), 20)

    def test_bandwidths_are_size_over_time(self):
        self.assertEqual(self.record.header["kernel"]["pattern"], "message")
        for point in self.record.footer["points"]:
            expected = point["size_bytes"] / point["median_us"]
            self.assertAlmostEqual(point["algorithm_MBps"] / (expected or 1), bool(expected))
            self.assertEqual(point["algorithm_MBps"], point["bus_MBps"])

    def test_footer_sums_up_the_rows(self):
        footer = self.record.footer
        self.assertEqual(footer["end"], "switchpoint")
        self.assertEqual(footer["samples"], len(self.record.rows))
        self.assertEqual(len(footer["points"]), 55)
        for point in footer["points"]:
            times = [
                float(row["time_us"])
                for row in self.record.rows
                if (row["mode"], int(row["size_bytes"])) == (point["mode"], point["size_bytes"])
            ]
            self.assertEqual(
                (point["count"], point["kept"], point["stride"]), (len(times),) * 2 + (1,)
            )
            self.assertAlmostEqual(point["mean_us"], statistics.mean(times), places=5)
            self.assertAlmostEqual(point["median_us"], statistics.median(times), places=5)
            self.assertAlmostEqual(point["min_us"], min(times), places=5)
            self.assertAlmostEqual(point["max_us"], max(times), places=5)
            self.assertTrue(
                math.isclose(
                    point["variance_us2"], statistics.variance(times), rel_tol=1e-3, abs_tol=1e-9
                )
            )
            self.assertEqual(point["payload_errors"], 0)

    def test_every_payload_of_a_byte_or_more_was_compared(self):
        # Per pass and size, each message that a repetition leaves behind: all that it moves.
        verification = self.record.footer["verification"]
        self.assertEqual(verification["checks"], 2 * 4 * sum(MESSAGES.values()))
        self.assertEqual(verification["errors"], 0)

    def test_bytes_moved_cover_what_the_rows_account_for(self):
        measured = sum(
            int(row["size_bytes"]) * int(row["iterations"]) * MESSAGES[row["mode"]]
            for row in self.record.rows
        )
        self.assertGreater(self.record.footer["verification"]["bytes_moved"], measured)


def well_known(values: list[float], share: float) -> bool:
    """Tell whether a 95 % interval of the median, from order statistics, is within a share of it.

    The ends are as many values in as leave at most 2.5 % of a fair coin's tosses outside.
    """
    n, out, outside = len(values), 0, 0
    while (outside + math.comb(n, out)) / 2**n <= 0.025:
        outside += math.comb(n, out)
        out += 1
    if out == 0:
        return False
    middle, inside = statistics.median(values), sorted(values)[out - 1 : n + 1 - out]
    return inside[0] >= (1 - share) * middle and inside[-1] <= (1 + share) * middle


class TheSweep(InAFolder):
    SWEEP = ("--mode", "stream,send", "--sizes", "1:1K", *QUICK)

    @unittest.skipIf(AVAILABLE_GIB < 12, "two ranks need 8 GiB of buffers")
    def test_a_message_that_an_int_cannot_count_arrives_whole(self):
        record = self.measured(
            PINGPONG, "--mode", "send", "--sizes", "2147483649",
            *("--block-time", "0", "--samples", "1", "--passes", "1", "--warmup", "0"),
        )  # fmt: skip
        self.assertEqual([row["size_bytes"] for row in record.rows], ["2147483649"])
        self.assertEqual(record.footer["points"][0]["size_bytes"], 2147483649)
        verification = record.footer["verification"]
        self.assertEqual((verification["checks"], verification["errors"]), (2, 0))

    def test_a_seed_reproduces_the_order_and_another_does_not(self):
        first = self.measured(PINGPONG, *self.SWEEP, "--seed", "5")
        again = self.measured(PINGPONG, *self.SWEEP, "--seed", "5")
        other = self.measured(PINGPONG, *self.SWEEP, "--seed", "6")
        for pass_ in (0, 1):
            self.assertEqual(first.order(pass_), again.order(pass_))
            self.assertNotEqual(first.order(pass_), other.order(pass_))
        self.assertNotEqual(first.order(0), first.order(1))

    def test_a_drawn_seed_is_recorded_and_differs_from_run_to_run(self):
        first = self.measured(PINGPONG, *self.SWEEP)
        other = self.measured(PINGPONG, *self.SWEEP)
        self.assertNotEqual(first.header["plan"]["seed"], other.header["plan"]["seed"])
        self.assertNotEqual(first.header["run_id"], other.header["run_id"])
        seed = str(first.header["plan"]["seed"])
        self.assertEqual(
            self.measured(PINGPONG, *self.SWEEP, "--seed", seed).order(0), first.order(0)
        )

    def test_thinning_keeps_one_of_each_stride_and_counts_all(self):
        record = self.measured(
            PINGPONG, "--mode", "send", "--sizes", "8", "--block-time", "0", "--passes", "4",
            "--samples", "25", "--kept", "30", "--pass-time", "60000",
        )  # fmt: skip
        (point,) = record.footer["points"]
        self.assertEqual((point["count"], point["kept"], point["stride"]), (100, 25, 4))
        taken = [int(row["pass"]) * 25 + int(row["sample"]) for row in record.rows]
        self.assertEqual([place // 4 for place in taken], list(range(25)))
        self.assertGreater(len({place % 4 for place in taken}), 1)
        self.assertEqual({row["iterations"] for row in record.rows}, {"1"})

    def test_pass_time_bounds_the_blocks_but_leaves_one(self):
        record = self.measured(
            PINGPONG, "--mode", "send", "--sizes", "8", "--block-time", "2000", "--pass-time", "1",
            "--passes", "3", "--samples", "50",
        )  # fmt: skip
        self.assertEqual([(r["pass"], r["sample"]) for r in record.rows], [(p, "0") for p in "012"])

    @of_time
    def test_context_switches_of_the_timed_blocks_are_counted(self):
        record = self.measured(
            PINGPONG, "--mode", "send", "--sizes", "8", "--block-time", "0", "--passes", "3",
            "--samples", "4", "--pause", "1000", "--pass-time", "60000",
        )  # fmt: skip
        (point,) = record.footer["points"]
        # Both ranks sleep before each of four blocks.
        self.assertEqual(len(point["voluntary_switches"]), 3)
        self.assertGreaterEqual(min(point["voluntary_switches"]), 2 * 4)

    def test_what_the_library_counts_is_recorded_for_each_rank(self):
        arguments = ("--mode", "send", "--mpi-counters", "eager_sends", *QUICK)
        counted = {}
        for size in ("8", "2000"):
            record = self.measured(
                TEST_KERNELS / "pingpong_fake_counters", *arguments, "--sizes", size
            )
            counted[size] = [rank["mpi_counters"] for rank in record.footer["ranks"]]
        self.assertGreater(min(own["eager_sends"] for own in counted["8"]), 0)
        self.assertEqual([own["eager_sends"] for own in counted["2000"]], [0, 0])

    def test_what_the_library_does_not_count_is_refused(self):
        for name in ("longest_queue", "sends_of_comm", "unknown"):  # no counter of the process
            with self.subTest(name=name):
                done = run(
                    TEST_KERNELS / "pingpong_fake_counters", "--mpi-counters", f"eager_sends,{name}"
                )
                self.assertEqual(done.returncode, 2, done.stderr)
                (line,) = said(PINGPONG, done)
                self.assertIn(f"has no counter '{name}'; it has: eager_sends", line)

    def test_protocols_that_ucx_chose_are_recorded_where_the_library_uses_it(self):
        arguments = ("--mode", "send", "--sizes", "8", "--ucx-protocols", *QUICK)
        # New releases of UCX need no UCX_PROTO_ENABLE.
        done = run(PINGPONG, *arguments, "--record", self.path, UCX_PROTO_ENABLE="y")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^mode .*\nsend .*\nswitchpoint: complete ")
        record = Record(self.path)
        for rank in record.footer["ranks"]:
            tables = rank["ucx_protocols"]
            self.assertEqual(bool(tables), "ch4:ucx" in record.header["mpi"]["description"])
            for table in tables:
                self.assertRegex(table["operation"], "^(tagged|active) message")
                first = 0
                for part in table["ranges"]:
                    self.assertEqual(part["first_bytes"], first)
                    first = (part["last_bytes"] or 0) + 1
                self.assertIsNone(table["ranges"][-1]["last_bytes"])
        self.assertNotIn("UCX_PROTO_INFO", record.header["mpi"]["environment"])

    @of_time
    def test_a_pause_before_each_block_is_no_part_of_its_time(self):
        record = self.measured(
            PINGPONG, "--mode", "send", "--sizes", "8", "--block-time", "0", "--passes", "2",
            "--samples", "3", "--pause", "30000", "--pass-time", "60000",
        )  # fmt: skip
        self.assertEqual(record.header["plan"]["pause_us"], 30000)
        self.assertEqual(len(record.rows), 6)
        moments = (record.header["start_utc"], record.footer["end_utc"])
        start, end = (datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ") for text in moments)
        self.assertGreaterEqual((end - start).total_seconds(), 6 * 0.03)
        self.assertLess(min(float(row["time_us"]) for row in record.rows), 15000)

    @of_time
    def test_a_point_is_measured_until_its_median_is_known_well_enough(self):
        record = self.measured(
            PINGPONG, "--mode", "send,stream", "--sizes", "1,64K", "--block-time", "0",
            "--samples", "15", "--passes", "60", "--precision", "30",
        )  # fmt: skip
        self.assertEqual(record.header["plan"]["precision_percent"], 30)
        for point in record.footer["points"]:
            times: dict[int, list[float]] = {}
            for row in record.rows:
                if (row["mode"], int(row["size_bytes"])) == (point["mode"], point["size_bytes"]):
                    times.setdefault(int(row["pass"]), []).append(float(row["time_us"]))
            medians = [statistics.median(times[pass_]) for pass_ in sorted(times)]
            self.assertEqual(sorted(times), list(range(point["passes"])))
            known = [well_known(medians[:n], 0.3) for n in range(len(medians) + 1)]
            # Not before, and then at once; or never, and in every pass.
            self.assertFalse(any(known[:-1]))
            self.assertTrue(known[-1] or point["passes"] == 60)
        # One at least of four medians of single messages is known to 30 % within 60 passes: of 15
        # in each pass, for where others take the cores; and all 900 are kept in the record.
        self.assertLess(min(point["passes"] for point in record.footer["points"]), 60)

    def test_a_point_that_has_used_its_time_is_left_out_of_later_passes(self):
        # A block sleeps for 1 ms or more.
        warmth = TEST_KERNELS / "warmth"
        sweep = ("--mode", "slow", "--sizes", "1,8", "--block-time", "0", "--samples", "1",
                 "--passes", "4")  # fmt: skip
        done = run(warmth, *sweep, "--point-time", "2", "--record", self.path, ranks=1)
        self.assertEqual(done.returncode, 0, done.stderr)
        record = Record(self.path)
        self.assertEqual(record.header["plan"]["point_time_us"], 2000)
        self.assertFalse(record.footer["shortened"])
        for point in record.footer["points"]:
            self.assertIn(point["passes"], [1, 2])
        self.assertIn("2 of 2 points used their --point-time of 2 ms in fewer", done.stdout)

        done = run(warmth, *sweep, "--record", self.path, ranks=1)
        record = Record(self.path)
        self.assertEqual(record.header["plan"]["point_time_us"], 0)
        self.assertEqual({point["passes"] for point in record.footer["points"]}, {4})
        self.assertNotIn("--point-time", done.stdout)

    @of_time
    def test_a_time_budget_ends_a_sweep_with_a_whole_record(self):
        record = self.measured(
            PINGPONG, "--mode", "send,ssend", "--sizes", "8", "--block-time", "20",
            "--samples", "1", "--passes", "1000000", "--time-budget", "1",
        )  # fmt: skip
        self.assertIs(record.footer["shortened"], True)
        for point in record.footer["points"]:
            self.assertGreater(point["passes"], 1)
            self.assertLess(point["passes"], 1000000)

    def test_a_visit_that_the_time_budget_does_not_cover_is_not_begun(self):
        # Each visit takes 1.5 s: two fit into 4 s, and the third would end after them.
        record = self.measured(
            PINGPONG, "--mode", "send", "--sizes", "8", "--pause", "1500000", "--samples", "1",
            "--passes", "5", "--time-budget", "4",
        )  # fmt: skip
        self.assertIs(record.footer["shortened"], True)
        self.assertIn(record.footer["points"][0]["passes"], [1, 2])

    @of_time
    def test_a_first_visit_has_as_many_blocks_as_the_time_budget_has_room_for(self):
        start_s = time.monotonic()
        record = self.measured(
            PINGPONG, "--mode", "send", "--sizes", "8", "--block-time", "10000",
            *("--pass-time", "3600000", "--samples", "1000", "--passes", "1"),
            *("--time-budget", "1"),
        )  # fmt: skip
        self.assertLess(time.monotonic() - start_s, 20)
        self.assertIs(record.footer["shortened"], True)
        (point,) = record.footer["points"]
        self.assertEqual((point["passes"], point["count"]), (1, len(record.rows)))
        self.assertIn(len(record.rows), range(1, 101))  # 1 s has room for 100; other work for fewer

    @of_time
    def test_a_first_visit_that_the_time_budget_does_not_cover_is_not_begun(self):
        start_s = time.monotonic()
        record = self.measured(
            PINGPONG, "--mode", "send", "--sizes", "8", "--block-time", "60000000",
            "--time-budget", "5",
        )  # fmt: skip
        self.assertLess(time.monotonic() - start_s, 20)
        self.assertIs(record.footer["shortened"], True)
        self.assertEqual(record.rows, [])

    @of_time  # a point that other work made slow is not warmed up
    def test_every_block_finds_its_buffers_as_the_repetition_before_left_them(self):
        # All but a few bytes that are wrong so that nothing from before passes for a transfer.
        record = self.measured(
            TEST_KERNELS / "warmth", "--sizes", "8,64K", "--block-time", "0", "--samples", "3",
            "--passes", "3", "--pass-time", "2", ranks=1,
        )  # fmt: skip
        self.assertEqual(len({(r["mode"], r["size_bytes"], r["pass"]) for r in record.rows}), 18)
        for row in record.rows:
            changed, first = float(row["changed_us"]), row["sample"] == "0"
            wrong = 17 * (8 if row["mode"] == "result" else 1)
            self.assertLessEqual(changed, wrong if first else 0)
            self.assertGreaterEqual(changed, 1 if first else 0)
            self.assertGreaterEqual(float(row["earlier_us"]), 3)

    def test_both_buffers_begin_where_in_a_page_the_user_wants_them(self):
        sweep = ("--sizes", "8,64K", "--block-time", "0", "--passes", "1")
        for offset, modes in ((0, "quick,result"), (33, "quick"), (4095, "quick"), (64, "result")):
            with self.subTest(offset=offset):
                record = self.measured(
                    TEST_KERNELS / "warmth", "--mode", modes, *sweep,
                    "--buffer-offset", str(offset), ranks=1,
                )  # fmt: skip
                for buffer in ("before_sent_us", "before_received_us"):
                    self.assertEqual({float(row[buffer]) for row in record.rows}, {offset})
                self.assertEqual(record.header["plan"]["buffer_offset_bytes"], offset)

    def test_every_mode_is_verified_wherever_its_buffers_begin(self):
        sweep = ("--sizes", "0,1,4097,64K", "--window", "4", *QUICK)
        for rotated in ((), ("--rotate", "1", "--mode", "send,sendrecv")):
            with self.subTest(rotated=rotated):
                record = self.measured(PINGPONG, *sweep, *rotated, "--buffer-offset", "4095")
                self.assertEqual(record.footer["verification"]["errors"], 0)

    def test_one_window_serves_every_size_of_a_stream(self):
        # Four messages of the largest size fit, and many more of the smallest.
        sweep = ("--mode", "send,stream", "--sizes", "1,64K,1M", "--samples", "1", "--passes", "1")
        done = run(PINGPONG, *sweep, "--window", "8", "--window-kib", "4096", "--record", self.path)
        self.assertEqual(done.returncode, 0, done.stderr)
        record = Record(self.path)
        self.assertEqual(record.header["plan"]["window"], 8)
        self.assertEqual(record.header["plan"]["windows"], {"stream": 4})
        windows = {(p["mode"], p["size_bytes"]): p.get("window") for p in record.footer["points"]}
        for size in (1, 65536, 1048576):
            self.assertIsNone(windows["send", size])
            self.assertEqual(windows["stream", size], 4)
        self.assertEqual(record.footer["verification"]["checks"], 3 * (2 + 4))
        self.assertIn("streams have 4 messages in flight at every size, not 8", done.stdout)

        record = self.measured(PINGPONG, *sweep)
        self.assertEqual(record.header["plan"]["windows"], {"stream": 64})
        self.assertEqual(record.footer["verification"]["checks"], 3 * (2 + 64))

    @of_time
    def test_buffers_that_take_turns_are_all_verified(self):
        # A page for each copy of 1 byte, 18 pages of 4 KiB for 70,000: powers of two of copies.
        copies = {1: 256, 70000: 16}
        modes = "send,ssend,isend,rsend,sendrecv"
        sweep = ("--sizes", "1,70000", "--rotate", "1", *QUICK)
        record = self.measured(PINGPONG, "--mode", modes, *sweep)
        self.assertEqual(record.header["plan"]["rotate_mib"], 1)
        repetitions: dict[tuple[str, str, str], int] = {}
        for row in record.rows:
            visit = (row["mode"], row["size_bytes"], row["pass"])
            repetitions[visit] = repetitions.get(visit, 0) + int(row["iterations"])
        turns = [min(n, copies[int(size)]) for (_, size, _), n in repetitions.items()]
        self.assertGreater(max(turns), 1)
        self.assertEqual(record.footer["verification"]["checks"], 2 * sum(turns))

        idle = run(
            TEST_KERNELS / "pingpong_no_transfer", "--mode", modes, *sweep, "--record", self.path
        )
        self.assertEqual(idle.returncode, 1, idle.stderr)
        verification = Record(self.path).footer["verification"]
        self.assertEqual(verification["errors"], verification["checks"])

    def test_quiet_prints_the_last_line_only(self):
        done = run(PINGPONG, "--sizes", "1", "--quiet", *QUICK)
        self.assertEqual(done.returncode, 0, done.stderr)
        (line,) = done.stdout.splitlines()
        self.assertRegex(line, r"^switchpoint: complete kernel=pingpong points=11 .* record=none$")


class WhatLiesBelowMPI(InAFolder):
    ARGUMENTS = ("--mode", "send", "--sizes", "8,64K", *QUICK)

    def setUp(self):
        super().setUp()
        done = run(PINGPONG, "--version", ranks=1)
        self.has_ucx = "MPICH" in done.stdout and self.measured(PINGPONG, *self.ARGUMENTS).header[
            "mpi"
        ]["description"].count("ch4:ucx")
        self.is_openmpi = "Open MPI" in done.stdout

    def stack(self, **environment: str) -> dict:
        return self.measured(PINGPONG, *self.ARGUMENTS, **environment).header["mpi"]["stack"]

    def test_the_kernels_tcp_settings_are_those_of_the_system(self):
        tcp = self.stack()["tcp"]
        folder = Path("/proc/sys/net/ipv4")
        for name in ("tcp_rmem", "tcp_wmem"):
            self.assertEqual(tcp[name], [int(word) for word in (folder / name).read_text().split()])
        control = (folder / "tcp_congestion_control").read_text().strip()
        self.assertEqual(tcp["tcp_congestion_control"], control)
        self.assertIn(tcp["tcp_slow_start_after_idle"], (0, 1))

    def test_tunables_of_glibc_have_their_values_in_the_process(self):
        glibc = self.stack()["glibc"]
        library, version = platform.libc_ver()
        if library != "glibc":
            self.assertIsNone(glibc)
            return
        self.assertEqual(glibc["version"], version)
        flags = {*re.findall(r"\b(?:erms|fsrm)\b", Path("/proc/cpuinfo").read_text())}
        self.assertEqual({*glibc["cpu_flags"]}, flags)
        self.assertLessEqual({*glibc["sizes"]}, {*glibc["settings"]})
        if tuple(map(int, version.split("."))) < (2, 33):
            return  # its loader lists none
        self.assertEqual(glibc["settings"]["glibc.malloc.check"], "0")
        name = "glibc.cpu.x86_rep_movsb_threshold"
        self.assertEqual(name in glibc["sizes"], platform.machine() == "x86_64")
        if name not in glibc["sizes"]:
            return
        set_to = f"glibc.malloc.check=1:{name}=0xbb8"
        record = self.measured(PINGPONG, *self.ARGUMENTS, GLIBC_TUNABLES=set_to)
        changed = record.header["mpi"]["stack"]["glibc"]["settings"]
        self.assertEqual(changed, glibc["settings"] | {name: "3000", "glibc.malloc.check": "1"})
        self.assertEqual(record.header["mpi"]["environment"]["GLIBC_TUNABLES"], set_to)

    def test_settings_of_ucx_have_their_values_in_the_process(self):
        with tempfile.TemporaryDirectory() as home:
            changed = {"UCX_SYSV_SEG_SIZE": "12352", "HOME": home, "UCX_LOG_FILE": f"{home}/log"}
            ucx = self.stack(**changed)["ucx"]
        self.assertEqual(ucx is not None, bool(self.has_ucx))
        if ucx is None:
            return
        self.assertRegex(ucx["version"], r"^\d+\.\d+\.\d+$")
        settings = ucx["settings"]
        self.assertEqual(settings["UCX_RNDV_THRESH"][:4], "auto")
        self.assertIn(settings["UCX_SYSV_SEG_SIZE"], ("12352", "12352B"))
        self.assertEqual(settings["UCX_LOG_FILE"], "~/log")
        self.assertIn("UCX_TCP_TX_SEG_SIZE", ucx["sizes"])
        self.assertIn("UCX_SYSV_SEG_SIZE", ucx["sizes"])
        self.assertNotIn("UCX_TLS", ucx["sizes"])
        self.assertLessEqual({*ucx["sizes"]}, {*settings})

    def test_endpoints_of_ucx_have_their_lanes_and_protocols(self):
        for changed in ({}, {"UCX_TLS": "tcp,self"}):
            with self.subTest(**changed):
                record = self.measured(PINGPONG, *self.ARGUMENTS, **changed)
                for rank in record.footer["ranks"]:
                    self.assertEqual(len(rank["ucx_endpoints"]), 1 if self.has_ucx else 0)
                    for endpoint in rank["ucx_endpoints"]:
                        self.assert_describes(endpoint, "tcp/" if changed else "sysv/memory")

    def assert_describes(self, endpoint: dict, lane: str):
        self.assertEqual(endpoint["count"], 1)
        self.assertTrue(endpoint["lanes"][0].startswith(lane), endpoint["lanes"])
        self.assertFalse([name for name in endpoint["lanes"] if name.startswith("self/")])
        first = 0
        for part in endpoint["tag_send"]:
            self.assertEqual(part["first_bytes"], first)
            first = (part["last_bytes"] or 0) + 1
        self.assertIsNone(endpoint["tag_send"][-1]["last_bytes"])
        self.assertRegex(endpoint["tag_send"][-1]["protocol"], "rndv|rendezvous")

    def test_protocols_are_those_of_the_code_that_chooses_them(self):
        record = self.measured(PINGPONG, *self.ARGUMENTS, UCX_PROTO_ENABLE="y")
        for rank in record.footer["ranks"]:
            for endpoint in rank["ucx_endpoints"]:
                self.assertFalse([p for p in endpoint["tag_send"] if p["path"] is None])

    def test_what_open_mpi_selects_is_read_and_not_what_was_asked(self):
        if not self.is_openmpi:
            self.assertEqual(self.stack()["selected"], {})
            return
        chosen = self.stack(OMPI_MCA_btl="^tcp")["selected"]
        self.assertEqual((chosen["pml"], chosen["mtl"]), (["ob1"], []))
        self.assertIn("self", chosen["btl"])
        self.assertNotIn("tcp", chosen["btl"])
        over_tcp = self.stack(OMPI_MCA_btl="self,tcp")["selected"]
        self.assertEqual(over_tcp, {"pml": ["ob1"], "mtl": [], "btl": ["self", "tcp"]})

    def test_open_mpi_over_ucx_and_libfabric(self):
        any_device = {
            f"OMPI_MCA_{part}_{what}": "any"
            for part in ("pml_ucx", "opal_common_ucx")
            for what in ("tls", "devices")
        }
        providers = {"OMPI_MCA_mtl_ofi_provider_include": "tcp;ofi_rxm,tcp,sockets"}
        for part, how in (
            ("ucx", any_device),
            ("cm", providers | {"OMPI_MCA_mtl": "ofi"}),
        ):
            how |= {"OMPI_MCA_pml": part}
            if not self.is_openmpi or run(PINGPONG, "--version", ranks=1, **how).returncode:
                continue  # not every build has both
            with self.subTest(pml=part):
                stack = self.stack(**how)
                mtl = ["ofi"] if part == "cm" else []
                self.assertEqual(stack["selected"], {"pml": [part], "mtl": mtl, "btl": []})
                self.assertIsNotNone(stack["ucx" if part == "ucx" else "libfabric"])
                if part == "cm":
                    known = stack["libfabric"]["settings"]
                    self.assertIsNone(known["FI_OFI_RXM_BUFFER_SIZE"])
                    self.assertIn("FI_OFI_RXM_BUFFER_SIZE", stack["libfabric"]["sizes"])
                    self.assertNotIn("FI_PROVIDER", stack["libfabric"]["sizes"])


class OtherKernels(InAFolder):
    """What the engine offers beyond ping-pong, through a kernel of the tests."""

    EXCHANGE = ("--mode", "alltoall", "--sizes", "1,13,4096", *QUICK)

    def test_any_number_of_ranks_with_phases_and_an_option_of_its_own(self):
        record = self.measured(EXCHANGE, *self.EXCHANGE, "--grain", "some", ranks=3)
        self.assertEqual(record.header["columns"][-2:], ["rank_max_us", "compute_us"])
        self.assertEqual(record.columns, record.header["columns"])
        self.assertEqual(len(record.header["ranks"]), 3)
        for row in record.rows:
            self.assertLess(0, float(row["compute_us"]))
            self.assertLess(float(row["compute_us"]), float(row["time_us"]))
        # Per pass and size: three ranks receive from three.
        self.assertEqual(record.footer["verification"]["checks"], 2 * 3 * 9)
        self.assertEqual(record.footer["verification"]["errors"], 0)

    def test_ranks_and_values_that_it_cannot_serve_are_refused(self):
        cases = [
            (1, [], "needs 2 or more"),
            (4, [], "takes at most 3"),
            (2, ["--grain", "lots"], "--grain: 'lots' is neither none nor some"),
        ]
        runs = together(lambda case: run(EXCHANGE, *self.EXCHANGE, *case[1], ranks=case[0]), cases)
        for (ranks, arguments, words), done in zip(cases, runs, strict=True):
            with self.subTest(ranks=ranks, arguments=arguments):
                self.assertEqual(done.returncode, 2, done.stderr)
                (line,) = said(EXCHANGE, done)
                self.assertIn(words, line)

    def test_processes_that_do_not_find_each_other_are_named_as_that(self):
        """As under srun with an interface that the MPI library does not speak."""
        for program in (PINGPONG, EXCHANGE):
            with self.subTest(program=program.name):
                done = subprocess.run(
                    [program],
                    capture_output=True,
                    text=True,
                    env=ENVIRONMENT | {"SLURM_STEP_NUM_TASKS": "2"},
                    timeout=100,
                )
                self.assertEqual(done.returncode, 2, done.stderr)
                (line,) = said(program, done)
                self.assertIn("started as 2 jobs of one rank, not as one job", line)
                self.assertIn("--mpi=pmix or --mpi=pmi2", line)

    @of_time
    def test_a_slow_moment_during_calibration_leaves_no_short_blocks_behind(self):
        record = self.measured(
            EXCHANGE, "--mode", "hiccup", "--sizes", "8", "--passes", "3", "--samples", "3",
            "--block-time", "20000",
        )  # fmt: skip
        iterations = {row["pass"]: int(row["iterations"]) for row in record.rows}
        self.assertEqual(iterations["0"], 1)
        self.assertGreater(iterations["2"], 1)

    def test_an_mpi_error_ends_the_job_and_names_the_call(self):
        done = run(EXCHANGE, "--mode", "overflow", "--sizes", "8", *QUICK, "--record", self.path)
        self.assertNotIn(done.returncode, (0, 1, 2))
        self.assertRegex(done.stderr, r"(?m)^switchpoint: rank 1: MPI_Recv failed: .*[Tt]runcat")
        self.assertFalse(self.path.exists())

    def test_help_shows_its_ranks_and_its_option(self):
        done = run(EXCHANGE, "--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("RANKS: 2 or more, at most 3", done.stdout)
        self.assertRegex(done.stdout, r"--grain +none\|some +work before each exchange \(none\)")


class KernelsThatCompute(InAFolder):
    """A result is verified where there is one, through a kernel of the tests."""

    SUM = ("--mode", "sum", "--sizes", "8,4096", *QUICK)

    def test_every_part_of_the_result_is_compared_and_every_byte_sent_is_counted(self):
        record = self.measured(TEST_KERNELS / "sums", *self.SUM, ranks=3)
        verification = record.footer["verification"]
        self.assertEqual(verification["checks"], 2 * (1 + 512))
        self.assertEqual(verification["errors"], 0)
        blocks = [int(row["size_bytes"]) * int(row["iterations"]) for row in record.rows]
        self.assertGreater(verification["bytes_moved"], 2 * sum(blocks))
        self.assertEqual(verification["bytes_moved"] % (2 * 8), 0)

    def test_results_that_nobody_computed_are_caught(self):
        cases = [
            ("sums", ["--mode", "idle", "--sizes", "8,4096"]),
            ("sums_no_transfer", [*self.SUM]),
            ("sums_stale_transfer", [*self.SUM]),
        ]
        for program, arguments in cases:
            with self.subTest(program=program):
                done = run(
                    TEST_KERNELS / program, *arguments, *QUICK, "--record", self.path, ranks=3
                )
                self.assertEqual(done.returncode, 1, done.stderr)
                verification = Record(self.path).footer["verification"]
                self.assertEqual(verification["checks"], 2 * (1 + 512))
                self.assertEqual(verification["errors"], verification["checks"])
                self.assertIn("sums: payload errors: mode ", done.stderr)
                self.assertIn("1024 of 1024 results wrong", done.stderr)


class TheClock(InAFolder):
    """Blocks are timed by the system's raw clock, and what its readings cost is no part of them."""

    def test_a_clock_that_is_set_during_the_run_spoils_no_time(self):
        record = self.measured(
            TEST_KERNELS / "ring_stepping_clock", "--sizes", "0,4", "--grain", "100", *QUICK
        )
        self.assertEqual(record.header["clock"]["source"], "CLOCK_MONOTONIC_RAW")
        for row in record.rows:
            for column in ("time_us", "compute_us", "exchange_us"):
                self.assertGreaterEqual(float(row[column]), 0)
                self.assertLess(float(row[column]), 60e6)

    def test_a_clock_that_goes_back_fails_the_run_with_its_reason(self):
        done = run(TEST_KERNELS / "ring_returning_clock", "--record", self.path, *QUICK)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("switchpoint: the clock CLOCK_MONOTONIC_RAW went back by 999", done.stderr)
        self.assertNotIn("complete", done.stdout)
        self.assertFalse(Path(self.path).exists())

    def test_the_cost_of_its_readings_is_recorded_and_taken_out(self):
        # Nothing takes time there but readings, of which each costs a microsecond.
        record = self.measured(
            TEST_KERNELS / "ring_counting_clock", "--sizes", "0,4", "--grain", "0",
            "--block-time", "0", "--samples", "3", "--passes", "2",
        )  # fmt: skip
        clock = record.header["clock"]
        self.assertEqual((clock["overhead_ns"], clock["overhead_taken_out"]), (1000, True))
        for row in record.rows:
            self.assertEqual((float(row["compute_us"]), float(row["exchange_us"])), (0, 0))
            self.assertLessEqual(float(row["time_us"]), 0.001)


class TheRing(InAFolder):
    """The task is divided over the ranks, and each hears from its left neighbour."""

    SWEEP = ("--sizes", "0,4,40000", "--grain", "2000", "--samples", "3", "--passes", "2")

    def test_phases_are_parts_of_a_step(self):
        record = self.measured(RING, *self.SWEEP)
        self.assertEqual(record.columns[-2:], ["compute_us", "exchange_us"])
        # Per pass: both sizes that are not empty, by two ranks, in two of the three modes.
        self.assertEqual(record.footer["verification"]["checks"], 2 * 2 * 2 * 2)
        for row in record.rows:
            self.assertEqual(float(row["exchange_us"]) == 0, row["mode"] == "serial")
            self.assertLessEqual(float(row["compute_us"]), float(row["time_us"]))

    @of_time
    def test_each_rank_does_its_share_and_the_serial_part_stays_whole(self):
        # By a clock that stands while others have the core: a loaded machine may take it from one
        # mode more often than from another. The ranks do not share that clock, so agree on no time.
        computed = {}
        for serial_percent in (0, 100):
            record = self.measured(
                TEST_KERNELS / "ring_cpu_clock", *self.SWEEP, "--serial", str(serial_percent),
                "--start", "barrier",
            )  # fmt: skip
            computed[serial_percent] = {
                mode: min(float(row["compute_us"]) for row in record.rows if row["mode"] == mode)
                for mode in ("alternate", "serial")
            }
        self.assertLess(computed[0]["alternate"], 0.75 * computed[0]["serial"])
        self.assertGreater(computed[100]["alternate"], 0.75 * computed[100]["serial"])

    def test_time_to_compute_is_no_bandwidth(self):
        arguments = ("--mode", "sendrecv", "--sizes", "8", "--grain", "10", *QUICK)
        done = run(RING, *arguments, "--record", self.path)
        (point,) = Record(self.path).footer["points"]
        self.assertIsNone(point["algorithm_MBps"])
        heading, row, *_ = done.stdout.splitlines()
        self.assertEqual(heading.split()[-4:], ["MB/s", "bus", "MB/s", "samples"])
        self.assertEqual(row.split()[-3:-1], ["-", "-"])

    def test_an_odd_ring_needs_the_exchange_at_once(self):
        record = self.measured(
            RING, "--mode", "sendrecv,serial", "--sizes", "4", "--grain", "10", *QUICK, ranks=3
        )
        self.assertEqual(record.footer["verification"]["checks"], 2 * 3)
        self.path.unlink()
        done = run(RING, "--record", self.path, ranks=3)
        self.assertEqual(done.returncode, 2)
        (line,) = said(RING, done)
        self.assertIn("an even number of ranks, not 3", line)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_values_that_it_cannot_serve_are_refused(self):
        assert_each_refused(
            self,
            RING,
            (["--grain", "1e3"], "--grain: '1e3' is not a whole number from 0"),
            (["--serial", "101"], "--serial: '101' is not a whole number from 0 to 100"),
        )


class TheCollectives(InAFolder):
    """Every collective of the library gives every rank what it should have."""

    MOVED = {  # the replacements; payloads of all modes for n ranks
        "allgather": ("gather_then_bcast,by_allgatherv", lambda n: 3 * n * n),
        "alltoall": ("by_alltoallv", lambda n: 2 * n * n),
        "gather": ("by_allgather,by_gatherv", lambda n: n + n * n + n),
        "scatter": ("by_bcast,by_scatterv", lambda n: n + n + (n - 1) + n),
    }
    REDUCED = {
        "allreduce": "in_place,reduce_then_bcast", "reduce": "by_allreduce",
        "reduce_scatter": "reduce_then_scatter",
    }  # fmt: skip

    def test_payloads_arrive_with_any_number_of_ranks(self):
        for kernel, (replacements, payloads) in self.MOVED.items():
            for ranks in (2, 5):
                with self.subTest(kernel=kernel, ranks=ranks):
                    record = self.measured(
                        KERNELS / kernel, "--mode", f"library,{replacements}", "--sizes", "1,13",
                        "--samples", "1", "--passes", "1", ranks=ranks,
                    )  # fmt: skip
                    verification = record.footer["verification"]
                    self.assertEqual(verification["checks"], 2 * payloads(ranks))
                    self.assertEqual(verification["errors"], 0)

    def test_unequal_counts_arrive_and_are_as_many_as_equal_ones(self):
        once = ("--sizes=8,13", "--samples=1", "--passes=1", "--warmup=0", "--block-time=0")
        once += ("--start=barrier",)  # nothing is repeated
        for kernel in ("allgather", "gather", "scatter"):
            for ranks in (2, 5):
                with self.subTest(kernel=kernel, ranks=ranks):
                    equal, unequal = (
                        self.measured(
                            KERNELS / kernel, f"--mode={which}_{kernel}v", *once, ranks=ranks
                        ).footer["verification"]
                        for which in ("by", "growing")
                    )
                    # Rank 0's count is 0, which is no payload.
                    parts = (ranks - 1) * (ranks if kernel == "allgather" else 1)
                    self.assertEqual((unequal["checks"], unequal["errors"]), (2 * parts, 0))
                    self.assertEqual(unequal["bytes_moved"], equal["bytes_moved"])

    def test_results_are_those_of_an_own_computation(self):
        for kernel, others in self.REDUCED.items():
            for kind, ranks in (("double", 3), ("float", 2), ("int", 2)):
                with self.subTest(kernel=kernel, type=kind):
                    record = self.measured(
                        KERNELS / kernel, "--sizes", "8,4000", f"--type={kind}",
                        f"--mode=library,{others}",
                        f"--op={'max' if kind == 'int' else 'sum'}", "--samples", "1",
                        "--passes", "1", ranks=ranks,
                    )  # fmt: skip
                    self.assertGreater(record.footer["verification"]["checks"], 500)
                    self.assertEqual(record.footer["verification"]["errors"], 0)
                    self.assertGreater(record.footer["verification"]["bytes_moved"], 0)

    def test_sizes_between_the_ends_of_a_range_are_whole_elements(self):
        for kind, sizes in (("double", [8, 16, 24, 32]), ("int", [8, 12, 16, 20, 24, 32])):
            arguments = ("--sizes=8:32/3", f"--type={kind}", *QUICK)
            record = self.measured(KERNELS / "allreduce", *arguments)
            self.assertEqual(
                sorted({point["size_bytes"] for point in record.footer["points"]}), sizes
            )

    def test_a_library_that_reduces_nothing_is_caught(self):
        program = TEST_KERNELS / "reduce_scatter_no_reduction"
        done = run(program, "--sizes", "64", "--record", self.path, *QUICK)
        self.assertEqual(done.returncode, 1, done.stderr)
        record = Record(self.path)
        # A replacement, which would be right here, is measured only by name.
        self.assertEqual(record.header["plan"]["modes"], ["library"])
        verification = record.footer["verification"]
        self.assertEqual(verification["errors"], verification["checks"])

    def test_a_barrier_has_a_time_and_no_payload(self):
        record = self.measured(KERNELS / "barrier", "--mode", "library,by_allreduce", *QUICK)
        self.assertEqual([point["size_bytes"] for point in record.footer["points"]], [0, 0])

    def test_each_algorithm_of_the_library_is_a_mode_of_the_same_launch(self):
        for kernel, replacement in (
            ("allreduce", "reduce_then_bcast"), ("broadcast", "scatter_then_allgather"),
            ("allgather", "gather_then_bcast"),  # Open MPI has an algorithm for two ranks alone
        ):  # fmt: skip
            with self.subTest(kernel=kernel):
                record = self.measured(
                    KERNELS / kernel, "--mode", f"{replacement},library", "--algorithms", "all",
                    "--sizes", "64", *QUICK, ranks=3,
                )  # fmt: skip
                modes = record.header["plan"]["modes"]
                self.assertGreater(len(modes), 4)
                self.assertEqual(modes[:2], [replacement, "library"])
                self.assertTrue(all(mode.startswith("library:") for mode in modes[2:]), modes)
                values = record.header["plan"]["algorithms"]
                self.assertEqual([*values], modes[2:])
                self.assertEqual(len({*values.values()} - {0}), len(values))
                self.assertEqual(record.footer["verification"]["errors"], 0)
                chosen = modes[-1].partition(":")[2]
                one = self.measured(
                    KERNELS / kernel, "--mode", "library", "--algorithms", chosen, "--sizes", "64",
                    *QUICK,
                )  # fmt: skip
                self.assertEqual(one.header["plan"]["modes"], ["library", modes[-1]])

    def test_algorithms_that_the_library_does_not_have_are_named(self):
        for arguments, reason in (
            ((KERNELS / "reduce", "--algorithms", "quantum"), "no 'quantum'; this library has: "),
            ((PINGPONG, "--algorithms", "all"), "no mode of pingpong that is chosen calls a"),
            ((KERNELS / "reduce", "--sizes", "12"), "12 B are not a whole number of elements"),
            ((KERNELS / "reduce", "--op", "xor"), "'xor' is not an operation; choose from sum"),
            (
                (KERNELS / "allgather", "--mode", "gather_then_bcast", "--sizes", "1G"),
                "1073741824 B from each of 2 ranks are more than the 2147483647 B that one call",
            ),
        ):
            done = run(*arguments)
            self.assertEqual(done.returncode, 2)
            self.assertIn(reason, done.stderr)


class TheBroadcast(InAFolder):
    """Every algorithm brings the root's message to every other rank."""

    MODES = 12
    SIZES = "0,1,13,20000"  # fewer bytes than ranks, no equal parts, several segments

    def test_all_others_get_the_message_in_groups_of_any_size(self):
        for ranks in (2, 5):
            with self.subTest(ranks=ranks):
                record = self.measured(
                    BROADCAST, "--sizes", self.SIZES, "--segment", "6000", "--samples", "1",
                    "--passes", "1", ranks=ranks,
                )  # fmt: skip
                verification = record.footer["verification"]
                self.assertEqual(verification["checks"], self.MODES * 3 * (ranks - 1))
                self.assertEqual(verification["errors"], 0)

    def test_a_pipeline_has_its_next_receive_posted(self):
        pipelined = ("--mode", "pipelined", "--sizes", "9000", "--segment", "1000")
        for window in ("1", "64"):  # which pipelines do not heed
            with self.subTest(window=window):
                most = most_in_flight(
                    self, TEST_KERNELS / "broadcast_in_flight", *pipelined,
                    *("--samples", "1", "--passes", "1", "--window", window),
                )  # fmt: skip
                self.assertEqual({rank: most[rank][1] for rank in (1, 2)}, {1: 2, 2: 2})

    def test_messages_that_never_move_are_caught(self):
        program = TEST_KERNELS / "broadcast_no_transfer"
        trees = "repeated,binary_ack,two_level,binomial,pipelined,scatter_allgather"
        done = run(program, "--mode", trees, "--sizes", "8", "--record", self.path, *QUICK, ranks=3)
        self.assertEqual(done.returncode, 1, done.stderr)
        verification = Record(self.path).footer["verification"]
        self.assertEqual(verification["checks"], 6 * 2 * 2)
        self.assertEqual(verification["errors"], verification["checks"])

    # Two ranks wait busily at most, and any machine that builds this has as many cores.
    ONE_CALL = ("--sizes", "8", "--block-time", "0", "--samples", "5", "--passes", "2")

    @of_time
    def test_calls_that_a_rank_starts_late_are_redone(self):
        arguments = ("--mode", "repeated", *self.ONE_CALL, "--start", "agreed")
        arguments += ("--pass-time", "10000")
        in_time = self.measured(BROADCAST, *arguments)
        late = self.measured(TEST_KERNELS / "broadcast_late_starter", *arguments)
        for record in (in_time, late):
            self.assertEqual(record.header["plan"]["start"], "agreed")
            self.assertEqual(len(record.rows), 2 * 5)
            self.assertEqual(record.footer["verification"]["errors"], 0)
            self.assertLess(record.footer["start"]["clock_error_us"], 1000)
        # From a notice of 20 us, doubled each time, to one of more than 3 ms.
        self.assertGreaterEqual(late.footer["start"]["late_calls"], 7)

    @of_time
    def test_a_block_whose_calls_become_late_ends_before_its_last_call(self):
        """Else a node that becomes busy makes a block of 20 ms last for minutes."""
        record = self.measured(
            TEST_KERNELS / "broadcast_late_after_a_while", "--mode", "repeated", "--sizes", "8",
            *("--start", "agreed", "--block-time", "20000", "--pass-time", "100", "--passes", "2"),
        )  # fmt: skip
        late = {int(row["iterations"]) for row in record.rows if row["pass"] == "1"}
        self.assertEqual(late, {1})
        self.assertEqual(record.footer["verification"]["errors"], 0)

    @of_time
    def test_ranks_that_leave_a_barrier_late_do_not_change_what_starts_at_an_agreed_time(self):
        fastest = {}
        for start in ("agreed", "barrier"):
            record = self.measured(
                TEST_KERNELS / "broadcast_late_leaver", *self.ONE_CALL, "--sizes", "1M",
                *("--mode", "repeated", "--start", start, "--pass-time", "10000"),
            )  # fmt: skip
            fastest[start] = min(float(row["time_us"]) for row in record.rows)
        # Rank 1 leaves the barrier 20 ms late, and rank 0's long message waits for it.
        self.assertLess(fastest["agreed"], 10e3)
        self.assertGreater(fastest["barrier"], 10e3)

    def test_ranks_with_a_core_each_start_at_an_agreed_time_and_others_from_a_barrier(self):
        allowed = os.sched_getaffinity(0)
        self.addCleanup(os.sched_setaffinity, 0, allowed)
        for cpus, start in ((sorted(allowed)[:2], "agreed"), (sorted(allowed)[:1], "barrier")):
            os.sched_setaffinity(0, cpus)
            record = self.measured(BROADCAST, "--mode", "binomial,binomial_ack", *self.ONE_CALL)
            self.assertEqual(record.header["plan"]["start"], start)
            self.assertEqual(
                record.header["plan"]["time_of"], {"binomial": "slowest", "binomial_ack": "root"}
            )
            self.assertEqual("start" in record.footer, start == "agreed")

    def test_ranks_that_are_bound_to_one_core_do_not_have_a_core_each(self):
        # The CPUs of each rank as a mask. In the last case rank 0 must leave CPU 0 to rank 1.
        for cpus, start in (("111f", "barrier"), ("124f", "agreed"), ("31c4", "agreed")):
            with self.subTest(cpus=cpus):
                record = self.measured(
                    TEST_KERNELS / "broadcast_dealt_cpus", "--mode", "binomial", "--sizes", "8",
                    *("--block-time", "0", "--samples", "1", "--passes", "1"),
                    ranks=4, DEALT_CPUS=cpus,
                )  # fmt: skip
                self.assertEqual(record.header["plan"]["start"], start)

    def test_clocks_of_many_systems_are_compared_in_a_tree(self):
        done = run(TEST_KERNELS / "test_clock_offset", ranks=7)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_ranks_whose_clocks_drift_start_together_within_the_recorded_error(self):
        done = run(TEST_KERNELS / "test_start", DRIFT_PPM="200")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_every_sample_has_the_fastest_the_mean_and_the_slowest_rank(self):
        columns = ["rank_min_us", "rank_mean_us", "rank_max_us"]
        for time_of, column in (("slowest", "rank_max_us"), ("mean", "rank_mean_us")):
            record = self.measured(
                BROADCAST, "--mode", "repeated", *self.ONE_CALL, "--time-of", time_of, ranks=3
            )
            self.assertEqual(record.header["plan"]["time_of"], {"repeated": time_of})
            self.assertEqual(record.columns[-4:], ["time_us", *columns])
            for row in record.rows:
                least, mean, most = (float(row[name]) for name in columns)
                self.assertLessEqual(least, mean)
                self.assertLessEqual(mean, most)
                self.assertEqual(row["time_us"], row[column])
            (point,) = record.footer["points"]
            self.assertLessEqual(point["rank_min_us"], point["rank_max_us"])

    @of_time
    def test_an_acknowledged_broadcast_ends_when_its_root_knows(self):
        record = self.measured(BROADCAST, "--mode", "repeated_ack", *self.ONE_CALL, ranks=3)
        for row in record.rows:
            self.assertLessEqual(float(row["rank_min_us"]), float(row["time_us"]))
            self.assertLessEqual(float(row["time_us"]), float(row["rank_max_us"]))
        self.assertLess(
            statistics.median(float(row["rank_min_us"]) for row in record.rows),
            statistics.median(float(row["time_us"]) for row in record.rows),
        )

    @of_time
    def test_a_block_holds_as_many_calls_as_fill_its_time(self):
        record = self.measured(
            BROADCAST, "--mode", "library", "--sizes", "8", "--block-time", "500000",
            *("--pass-time", "4000", "--samples", "1", "--passes", "2"),
        )  # fmt: skip
        self.assertGreater(max(int(row["iterations"]) for row in record.rows), 1)

    def test_what_it_cannot_serve_is_refused(self):
        assert_each_refused(
            self,
            BROADCAST,
            ([], "started with 1 rank but needs 2 or more"),
            (["--segment", "0"], "--segment: '0' is not a whole number from 1"),
        )


class TheCompleteExchange(InAFolder):
    """Every schedule brings each rank's message to each other rank."""

    QUICK = ("--samples", "1", "--passes", "1", "--packet", "3000")
    SIZES = ("--sizes", "0,1,3000,7000")  # no packet, a short one, a whole one, several
    SHUFFLES = (
        "group_shuffle,synchronous_shuffle,group_shuffle_windowed,synchronous_shuffle_windowed"
    )

    def test_bandwidths_count_the_messages_of_all_pairs(self):
        arguments = ("--mode", "library", "--sizes", "3000", *self.QUICK)
        record = self.measured(ALLTOALL, *arguments, ranks=4)
        (point,) = record.footer["points"]
        for field, messages in (("algorithm_MBps", 4), ("bus_MBps", 3)):
            self.assertAlmostEqual(point[field] * point["median_us"] / (messages * 3000), 1)

    def test_only_windowed_shuffles_wait_for_room_in_a_window(self):
        # Three ranks exchange three packets with each of two peers: six are sent at each rank.
        for mode, in_flight in (
            ("synchronous_shuffle", 6),
            ("group_shuffle", 6),
            ("synchronous_shuffle_windowed", 2),
            ("group_shuffle_windowed", 2),
        ):
            with self.subTest(mode=mode):
                most = most_in_flight(
                    self, TEST_KERNELS / "alltoall_in_flight",
                    "--mode", mode, "--sizes", "9000", "--group", "3", *self.QUICK,
                )  # fmt: skip
                self.assertEqual(most, dict.fromkeys(range(3), (in_flight, 6)))

    def test_all_pairs_get_their_messages(self):
        cases = [
            (4, f"shift,pairwise,{self.SHUFFLES}", ["--send-window", "2"]),
            (6, f"shift,{self.SHUFFLES}", ["--group", "3"]),
        ]
        for ranks, modes, options in cases:
            with self.subTest(ranks=ranks):
                record = self.measured(
                    ALLTOALL, "--mode", f"{modes},library", *self.SIZES, *self.QUICK, *options,
                    ranks=ranks,
                )  # fmt: skip
                verification = record.footer["verification"]
                # Each rank copies its own message too, as MPI_Alltoall does.
                schedules = len(modes.split(","))
                self.assertEqual(verification["checks"], 3 * (schedules + 1) * ranks * ranks)
                self.assertEqual(verification["errors"], 0)

    def test_messages_that_never_move_are_caught(self):
        program = TEST_KERNELS / "alltoall_no_transfer"
        done = run(
            program, "--mode", "shift,group_shuffle", "--sizes", "8", "--record", self.path, *QUICK
        )
        self.assertEqual(done.returncode, 1, done.stderr)
        verification = Record(self.path).footer["verification"]
        self.assertEqual(verification["checks"], 2 * 2 * 2 * 2)
        self.assertEqual(verification["errors"], 2 * 2 * 2)  # each rank copies its own message

    def test_ranks_that_a_schedule_cannot_serve_are_refused_together(self):
        cases = [
            ("pairwise", [], "--mode: pairwise needs a power of two of ranks, not 3"),
            ("group_shuffle", [], "--group: groups of 2 do not divide 3 ranks"),
            ("shift", ["--packet=1", "--sizes=1G"], "are 2147483648 messages from each of 3"),
        ]

        def start(case):
            return run(ALLTOALL, "--mode", case[0], *case[1], "--record", self.path, ranks=3)

        for (mode, _, words), done in zip(cases, together(start, cases), strict=True):
            with self.subTest(mode=mode):
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                (line,) = said(ALLTOALL, done)
                self.assertIn(words, line)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_values_that_it_cannot_serve_are_refused(self):
        assert_each_refused(
            self,
            ALLTOALL,
            (["--packet", "0"], "--packet: '0' is not a whole number from 1"),
            (["--group", "0"], "--group: '0' is not a whole number from 1"),
            (["--send-window", "0"], "--send-window: '0' is not a whole number from 1"),
        )


class TheMultiPair(InAFolder):
    """Rank i and rank i + n/2 are a pair, and all pairs are busy at once."""

    def test_every_pair_gets_its_messages(self):
        record = self.measured(
            MULTIPAIR, "--sizes", "1,20000", "--window", "3", "--samples", "1", "--passes", "1",
            ranks=4,
        )  # fmt: skip
        # Per size: each of four ranks in seven modes, two receivers of two windows, all both ways.
        self.assertEqual(record.footer["verification"]["checks"], 2 * (8 * 4 + 2 * 2 * 3 + 4 * 3))
        self.assertEqual(record.footer["verification"]["errors"], 0)

    @of_time
    def test_a_stream_counts_the_messages_of_all_pairs(self):
        block_us = 20000
        record = self.measured(
            MULTIPAIR, "--mode", "stream", "--sizes", "1K", "--window", "4", "--samples", "5",
            "--passes", "3", "--block-time", str(block_us), "--pass-time", "1000", ranks=4,
        )  # fmt: skip
        blocks = [float(row["time_us"]) * int(row["iterations"]) * 4 * 2 for row in record.rows]
        self.assertGreaterEqual(max(blocks), block_us)

    def test_the_record_says_of_how_many_payloads_some_were_compared(self):
        record = self.measured(
            MULTIPAIR, "--mode", "bistream", "--sizes", "1K", "--window", "4", "--samples", "5",
            "--passes", "1", "--block-time", "1000", ranks=4,
        )  # fmt: skip
        verified = record.footer["verification"]
        self.assertEqual(verified["checks"], 4 * 4)
        self.assertEqual(verified["arrived"] * 1024, verified["bytes_moved"])
        self.assertGreater(verified["arrived"], verified["checks"])

    def test_an_odd_number_of_ranks_is_refused(self):
        done = run(MULTIPAIR, "--record", self.path, ranks=3)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        (line,) = said(MULTIPAIR, done)
        self.assertIn("started with 3 ranks but needs an even number; use mpirun -n 4", line)
        self.assertEqual(list(self.folder.iterdir()), [])


class TheEcho(InAFolder):
    """Every tool brings each rank's message to the other."""

    # One byte, and more than one packet of TCP or of PVM's.
    SWEEP = ("--sizes", "1,100000", "--samples", "2", "--passes", "1", "--block-time", "0")

    def assert_all_arrived(self, record: Record, modes: int):
        # Per size: both ranks compare one message.
        self.assertEqual(record.footer["verification"]["checks"], modes * 2 * 2)
        self.assertEqual(record.footer["verification"]["errors"], 0)

    def test_mpi_and_sockets_carry_every_message(self):
        modes = "mpi,sockets,sockets_polling"
        record = self.measured(ECHO, "--mode", modes, "--interface", "lo", *self.SWEEP)
        self.assert_all_arrived(record, 3)

    def test_a_node_without_pvm_is_one_line(self):
        if " pvm " not in run(ECHO, "--help").stdout:
            self.skipTest("the kernels were built without PVM: install pvm-dev and build again")
        nowhere = {"PVM_VMID": f"none-{os.getpid()}"}
        done = run(ECHO, "--mode", "pvm", "--record", str(self.path), **nowhere)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(len(said(ECHO, done)), 1)
        self.assertIn("--mode: PVM does not connect the nodes", done.stderr)
        self.assertNotIn("libpvm", done.stderr)

    @unittest.skipUnless(shutil.which("pvmd"), "no PVM here: install the packages pvm and pvm-dev")
    def test_pvm_carries_every_message_through_its_daemon_and_directly(self):
        if " pvm " not in run(ECHO, "--help").stdout:
            self.skipTest("the kernels were built without PVM: install pvm-dev and build again")
        own = {"PVM_ROOT": "/usr/lib/pvm3", "PVM_VMID": str(os.getpid()), "PVM_ALLOW_ROOT": "1"}
        here = {"env": {**os.environ, **own}, "cwd": self.folder}
        with subprocess.Popen(
            ["pvmd"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, **here,
        ) as daemon:  # fmt: skip
            try:
                self.assertIn("pvm", daemon.stdout.readline())  # its socket: it is ready
                record = self.measured(ECHO, "--mode", "pvm,pvm_direct", *self.SWEEP, **own)
            finally:
                subprocess.run(
                    "pvm", input="halt\n", text=True, capture_output=True, timeout=60, **here
                )
        self.assert_all_arrived(record, 2)

    def test_messages_that_never_move_are_caught(self):
        program = TEST_KERNELS / "echo_no_transfer"
        done = run(program, "--mode", "sockets", "--sizes", "1,8", "--record", self.path, *QUICK)
        self.assertEqual(done.returncode, 1, done.stderr)
        verification = Record(self.path).footer["verification"]
        self.assertEqual(verification["checks"], 2 * 2 * 2)
        self.assertEqual(verification["errors"], verification["checks"])

    def test_what_it_cannot_serve_is_refused(self):
        cases = [
            (["--sizes", "0,1"], "--sizes: sockets cannot carry an empty message; leave out 0"),
            (["--interface", "none"], "--interface: no interface 'none' with an IPv4 address"),
        ]
        for arguments, words in cases:
            with self.subTest(arguments=arguments):
                done = run(ECHO, "--mode", "sockets", *arguments, "--record", self.path)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                (line,) = said(ECHO, done)
                self.assertIn(words, line)
        self.assertEqual(list(self.folder.iterdir()), [])


class TheMergeSort(InAFolder):
    """Rank 0's numbers come back to it in order, whatever tree they went through."""

    QUICK = ("--samples", "1", "--passes", "1", "--block-time", "0", "--warmup", "0")
    #: Fewer numbers than leaves, unequal halves, messages of both protocols.
    SIZES = ("--sizes", "0,4,12,400004")
    NUMBERS = 0 + 1 + 3 + 100001

    def test_the_numbers_come_back_in_order(self):
        for ranks, tree in ((1, []), (7, []), (5, ["--tree", "0,0,2,2"])):
            with self.subTest(ranks=ranks, tree=tree):
                record = self.measured(MERGESORT, *self.SIZES, *self.QUICK, *tree, ranks=ranks)
                verification = record.footer["verification"]
                self.assertEqual(verification["checks"], 2 * self.NUMBERS)  # in both modes
                self.assertEqual(verification["errors"], 0)

    @of_time
    def test_the_record_says_what_went_over_the_edges_and_who_did_what_when(self):
        record = self.measured(MERGESORT, "--sizes", "400000", *self.QUICK, ranks=7)
        traffic = {point["mode"]: point["traffic"] for point in record.footer["points"]}
        # The array goes down two levels and up again, over six edges; here all within one node.
        nowhere = {"messages_between_nodes": 0, "bytes_between_nodes": 0}
        self.assertEqual(traffic["tree"], {"messages": 12, "bytes": 4 * 400000, **nowhere})
        self.assertEqual(traffic["serial"], {"messages": 0, "bytes": 0, **nowhere})
        self.assertEqual(record.footer["verification"]["bytes_between_nodes"], 0)

        activity = record.footer["activity"]
        self.assertEqual(activity["phases"], ["compute_us", "send_us", "receive_us", "wait_us"])
        tree = next(point for point in activity["points"] if point["mode"] == "tree")
        self.assertLess(tree["clock_error_us"], 1000)
        phases = {rank: [s[1] for s in tree["spans"] if s[0] == rank] for rank in range(7)}
        compute, send, receive, wait = range(4)
        back = [wait, receive, wait, receive, compute]
        self.assertEqual(phases[0], [send, send, *back])
        for inner in (1, 2):
            self.assertEqual(phases[inner], [wait, receive, send, send, *back, send])
        for leaf in (3, 4, 5, 6):
            self.assertEqual(phases[leaf], [wait, receive, compute, send])
        for rank in range(7):
            edges = [edge for span in tree["spans"] if span[0] == rank for edge in span[2:]]
            self.assertEqual(edges, sorted(edges))
        root = sum(end - start for rank, _, start, end in tree["spans"] if rank == 0)
        self.assertLessEqual(root, tree["length_us"])
        self.assertGreater(root, 0.9 * tree["length_us"])

    @of_time
    def test_nothing_arrives_before_it_is_sent_whose_clock_ever_tells(self):
        # By the clock of the operating system, and by messages where ranks share none.
        for program in (MERGESORT, TEST_KERNELS / "mergesort_own_kernels"):
            record = self.measured(
                program, "--mode", "tree", "--sizes", "400000", *self.QUICK, ranks=3
            )
            (point,) = record.footer["activity"]["points"]
            exact = program is MERGESORT
            self.assertEqual(point["clock_error_us"] == 0, exact)
            within = 2 * point["clock_error_us"]
            of = {r: [s[1:] for s in point["spans"] if s[0] == r] for r in range(3)}
            _, send, receive, _ = range(4)
            sent = [span for span in of[0] if span[0] == send]
            got = [span for span in of[0] if span[0] == receive]
            for leaf, down, up in zip((1, 2), sent, got, strict=True):
                (arrived,) = [span for span in of[leaf] if span[0] == receive]
                (returned,) = [span for span in of[leaf] if span[0] == send]
                self.assertGreater(arrived[2], down[1] - within)
                self.assertLess(returned[1], up[2] + within)

    def test_an_order_that_nobody_made_is_caught(self):
        # What nobody sent is all wrong; what nobody sent again, at the places that were marked.
        for mutation, least in (("no_transfer", 1000), ("stale_transfer", 1)):
            with self.subTest(mutation=mutation):
                program = TEST_KERNELS / f"mergesort_{mutation}"
                done = run(
                    program, "--mode", "tree", "--sizes", "4000", *self.QUICK, "--record",
                    self.path, ranks=3,
                )  # fmt: skip
                self.assertEqual(done.returncode, 1, done.stderr)
                verification = Record(self.path).footer["verification"]
                self.assertEqual(verification["checks"], 1000)
                self.assertGreaterEqual(verification["errors"], least)

    def test_trees_and_ranks_that_do_not_fit_are_refused_together(self):
        cases = [
            (4, [], "started with 4 ranks, but a full binary tree has an odd number"),
            (3, ["--tree=0,0,1,1,2,2"], "--tree: has 7 ranks, but 3 were started"),
            (5, ["--tree=0,0", "--mode=serial"], "--tree: has 3 ranks, but 5 were started"),
            (3, ["--sizes=4,10"], "--sizes: 10 bytes are not a whole number of 4-byte ints; use 8"),
        ]

        def start(case):
            return run(MERGESORT, *case[1], "--record", self.path, ranks=case[0])

        for (ranks, _, words), done in zip(cases, together(start, cases), strict=True):
            with self.subTest(ranks=ranks):
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                (line,) = said(MERGESORT, done)
                self.assertIn(words, line)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_what_is_no_tree_is_refused(self):
        assert_each_refused(
            self,
            MERGESORT,
            (["--tree", "0,0,1,1,2,1"], "is not a full binary tree: rank 1 has 3 children"),
            (["--tree", "0,0,1"], "is not a full binary tree: rank 1 has 1 child"),
            (["--tree", "0,2"], "must give, for each rank from 1 on, a lower rank as its parent"),
            (["--tree", "0;0"], "must give, for each rank from 1 on, a lower rank as its parent"),
        )


class TheSockets(InAFolder):
    """What the ranks' own sockets carried, beside a program that fills the loopback interface."""

    def test_the_traffic_of_other_programs_is_not_counted(self):
        forced = TheZoom.PATHS["network"][0]
        for path, settings in (("shared_memory", {}), ("network", forced)):
            with self.subTest(path=path), loopback_traffic():
                record = self.measured(PINGPONG, "--mode", "send", "--sizes", "64K", **settings)
                payload = record.footer["verification"]["bytes_moved"]
                for before, after in zip(
                    record.header["ranks"], record.footer["ranks"], strict=True
                ):
                    carried = after["after"]["tcp_socket_bytes"]
                    carried -= before["before"]["tcp_socket_bytes"]
                    # Each rank sends a half and receives a half.
                    self.assertEqual(carried > payload / 2, path == "network", carried)

    def test_connections_that_are_closed_after_each_point_are_untold(self):
        for mode, untold in (("mpi", False), ("sockets", True)):
            with self.subTest(mode=mode):
                record = self.measured(ECHO, "--mode", mode, "--sizes", "64K", "--passes", "1")
                for rank in record.footer["ranks"]:
                    self.assertEqual(rank["after"]["untold_sockets"] > 0, untold)


@contextmanager
def loopback_traffic() -> Iterator[None]:
    """Send over the loopback interface as fast as it can."""
    sender, receiver = multiprocessing.Pipe()
    traffic = multiprocessing.Process(target=send_to_itself, args=(sender,), daemon=True)
    traffic.start()
    receiver.recv()
    try:
        yield
    finally:
        traffic.terminate()
        traffic.join()


def send_to_itself(started: Connection) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        near = socket.create_connection(server.getsockname())
        far, _ = server.accept()
        started.send(True)
        while True:
            near.sendall(bytes(65536))
            far.recv(65536, socket.MSG_WAITALL)


class TheZoom(InAFolder):
    """The probe against limits that are set here; how large a step is in time is not asked."""

    #: Paths, how each is forced, and the settings that hold the limit there.
    PATHS = {
        "shared_memory": (
            {},
            ("OMPI_MCA_btl_vader_eager_limit", "OMPI_MCA_btl_sm_eager_limit", "UCX_RNDV_THRESH"),
        ),
        "network": (
            {"OMPI_MCA_btl": "self,tcp", "MPIR_CVAR_NOLOCAL": "1", "UCX_TLS": "tcp,self"},
            ("OMPI_MCA_btl_tcp_eager_limit", "UCX_RNDV_THRESH"),
        ),
    }

    @staticmethod
    def last_eager(record: Record, limit: int) -> int:
        """Open MPI's limit counts its header; UCX's is the first size that is not eager."""
        library = record.header["mpi"]["library"]
        return limit - (80 if "Open MPI v5" in library else 56 if "Open MPI" in library else 1)

    def zoomed(self, path: str, limit: int, *arguments: str) -> Record:
        force, settings = self.PATHS[path]
        limits = dict.fromkeys(settings, str(limit))
        return self.measured(ZOOM, *arguments, **force, **limits)

    def test_the_end_of_the_eager_protocol_is_found_to_the_byte_and_by_itself(self):
        for path, limit, sizes in (("shared_memory", 9001, "4K,16K"), ("network", 65536, "1,1M")):
            with self.subTest(path=path, limit=limit):
                record = self.zoomed(path, limit, "--mode", "late", "--sizes", sizes)
                (found,) = record.footer["switches"]
                last = self.last_eager(record, limit)
                self.assertEqual(found["verdict"], "exact", found)
                self.assertEqual(found["method"], "late_receiver")
                self.assertEqual(found["mode"], "send")
                self.assertIsNone(found["stayed_eager"])
                self.assertEqual(
                    (found["last_size_bytes"], found["first_size_bytes"]), (last, last + 1)
                )
                # Every probe is kept, and only eager sends returned early.
                self.assertEqual(record.columns[-2:], ["held_us", "send_us"])
                self.assertEqual(len(record.rows), found["visits"])
                early = {int(r["size_bytes"]) for r in record.rows if float(r["held_us"]) == 0}
                self.assertEqual(max(early), last)
                self.assertEqual(record.footer["verification"]["checks"], len(record.rows))

    def through_a_layer(self, kind: str, **values: int) -> tuple[int, dict[str, int]]:
        """Give the last eager byte over a layer of ours, and the variables that it shows.

        The MPI's own limit in shared memory is raised far above the layer's.
        """
        variables = {}
        for name, value in values.items():
            variables[f"OMPI_MCA_fake_layer_{name}"] = str(value)
            variables[f"MPIR_CVAR_FAKE_LAYER_{name.upper()}"] = str(value)
        record = self.measured(
            TEST_KERNELS / "zoom_fake_layer", "--mode", "late", "--sizes", "1,150000",
            FAKE_LAYER=kind, **dict.fromkeys(self.PATHS["shared_memory"][1], "200000"), **variables,
        )  # fmt: skip
        (found,) = record.footer["switches"]
        self.assertEqual(found["verdict"], "exact", found)
        shown = {
            re.sub("^(mpir_cvar_)?fake_layer_", "", name.lower()): value
            for name, value in record.header["mpi"]["cvars"].items()
            if "fake_layer" in name.lower()
        }
        return found["last_size_bytes"], shown

    def test_a_limit_of_a_variable_that_no_catalogue_knows(self):
        for value in (5000, 70000):
            with self.subTest(value=value):
                last, shown = self.through_a_layer("one", limit=value)
                self.assertEqual((last, shown), (value - 24, {"limit": value}))

    def test_the_lower_of_two_limits_decides(self):
        for limit, segment in ((70000, 5000), (9001, 9001)):
            with self.subTest(limit=limit, segment=segment):
                last, shown = self.through_a_layer("two", limit=limit, segment_size=segment)
                self.assertEqual(last, min(limit, segment) - 24)
                self.assertEqual(shown, {"limit": limit, "segment_size": segment})

    def test_a_limit_that_no_variable_moves(self):
        for value in (1000, 70000):
            with self.subTest(value=value):
                last, shown = self.through_a_layer("constant", limit=value, segment_size=value)
                self.assertEqual((last, shown), (2024, {}))

    def test_a_limit_out_of_range_gives_no_switch_and_a_reason(self):
        for sizes, eager, words in (
            ("1,16K", True, "up to 16384 bytes"),
            ("100000,200000", False, "at 100000 bytes"),
        ):
            with self.subTest(sizes=sizes):
                record = self.zoomed("network", 65536, "--mode", "late", "--sizes", sizes)
                (found,) = record.footer["switches"]
                self.assertEqual((found["verdict"], found["first_size_bytes"]), ("none", None))
                self.assertIs(found["stayed_eager"], eager)
                self.assertIn(words, found["reason"])

    def test_on_a_single_core_the_probe_is_right_and_times_are_not_believed(self):
        allowed = os.sched_getaffinity(0)
        self.addCleanup(os.sched_setaffinity, 0, allowed)
        os.sched_setaffinity(0, {min(allowed)})
        record = self.zoomed("network", 65536, "--sizes", "64000,66000")
        probe, timed = record.footer["switches"]
        self.assertEqual(probe["last_size_bytes"], self.last_eager(record, 65536))
        self.assertEqual(timed["verdict"], "unsure")
        self.assertIn("fewer cores than ranks", timed["reason"])

    def test_brackets_are_searched_in_the_modes_that_they_name(self):
        record = self.zoomed(
            "network", 65536, "--mode", "send,ssend", "--brackets", "ssend:2000-2100,500-520"
        )
        searched = [(f["mode"], f["low_bytes"], f["high_bytes"]) for f in record.footer["switches"]]
        self.assertEqual(searched, [("send", 500, 520), ("ssend", 2000, 2100), ("ssend", 500, 520)])
        for found in record.footer["switches"]:
            self.assertEqual(found["method"], "bisection")
            self.assertGreater(found["visits"], 0)
            last, first = found["last_size_bytes"], found["first_size_bytes"]
            if found["verdict"] in ("exact", "interval"):
                self.assertLessEqual(found["low_bytes"], last)
                self.assertLess(last, first)
                self.assertLessEqual(first, found["high_bytes"])
            else:
                self.assertEqual((last, first), (None, None))
                self.assertTrue(found["reason"])

    def test_a_search_that_runs_out_of_time_says_so(self):
        record = self.zoomed(
            "network", 65536, "--mode", "send", "--brackets", "500-5000", "--search-time", "1"
        )
        (found,) = record.footer["switches"]
        self.assertEqual((found["verdict"], found["first_size_bytes"]), ("unsure", None))
        self.assertRegex(
            found["reason"], "^ran out of time: --search-time 1 ms .* [1-9][0-9]* visits"
        )
        self.assertIs(record.footer["shortened"], False)

    def test_a_time_budget_ends_the_searches_with_a_whole_record(self):
        brackets = [f"{500 * k}-{500 * k + 400}" for k in range(1, 120)]
        record = self.zoomed(
            "network", 65536, "--mode", "send", "--brackets", ",".join(brackets),
            "--time-budget", "1",
        )  # fmt: skip
        self.assertIs(record.footer["shortened"], True)
        switches = record.footer["switches"]
        self.assertEqual([f"{s['low_bytes']}-{s['high_bytes']}" for s in switches], brackets)
        self.assertEqual((switches[-1]["verdict"], switches[-1]["visits"]), ("unsure", 0))
        self.assertIn("ran out of time: --time-budget 1 s", switches[-1]["reason"])
        self.assertGreater(switches[0]["visits"], 0)

    def test_a_time_budget_ends_a_search_that_has_begun(self):
        long_visits = ("--samples", "1000", "--block-time", "200000", "--pass-time", "3600000")
        for arguments in (
            ("--mode", "send", "--brackets", "500-5000", *long_visits),
            ("--mode", "late", "--pause", "400000"),
        ):
            record = self.measured(ZOOM, *arguments, "--time-budget", "1")
            self.assertIs(record.footer["shortened"], True)
            (found,) = record.footer["switches"]
            self.assertEqual((found["verdict"], found["jump"]), ("unsure", None))
            self.assertRegex(
                found["reason"], "^ran out of time: --time-budget 1 s was over after [1-9]"
            )
            # A first visit alone would take 200 s or more: 1000 samples of 200 ms, or their pauses.
            self.assertLess(found["time_us"], 60e6)

    def test_there_is_room_at_every_size_between_the_ends(self):
        # More copies rotate between the ends than at the ends, and streams have a window.
        for arguments in (
            ("--sizes", "1,1000000", "--mode", "stream,bistream", "--brackets", "60000-60020"),
            ("--sizes", "1,65535", "--mode", "send", "--rotate", "1", "--brackets", "59990-60000"),
        ):
            with self.subTest(arguments=arguments):
                record = self.measured(ZOOM, *arguments)
                self.assertTrue(record.footer["switches"])
                self.assertEqual(record.footer["verification"]["errors"], 0)

    def test_a_size_that_the_buffers_do_not_hold_ends_the_run(self):
        beyond = ("--mode", "send", "--sizes", "8,4096", "--record", self.path)
        done = run(TEST_KERNELS / "overreach", *beyond)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("mode send at 4097 bytes does not fit the buffers", done.stderr)
        self.assertFalse(self.path.exists())

    def test_brackets_that_make_no_sense_are_refused(self):
        words = "is not [MODE:]LAST-FIRST"
        assert_each_refused(
            self, ZOOM,
            *((["--brackets", text], f"'{text.split(',')[-1]}' {words}")
              for text in ("5", "9-5", "5-5", "-5", "5-", "a:1-2", "1-2,x", "1-99999999999")),
        )  # fmt: skip

    def test_brackets_that_nothing_would_search_are_refused(self):
        cases = [
            (
                ("send", "2000000-3000000"),
                "2000000-3000000 is not between .*; use --sizes 1,3000000",
            ),
            (
                ("send", "1000000-1048577"),
                "1000000-1048577 is not between .*; use --sizes 1,1048577",
            ),
            (("send", "0-8"), "0-8 is not between .*; use --sizes 0,1048576"),
            (("ssend", "500-520,send:1000-2000"), "nothing searches 1000-2000; add mode send"),
            (("late", "1000-2000"), "nothing searches 1000-2000; add mode send"),
        ]

        def start(case):
            mode, brackets = case[0]
            return run(ZOOM, "--mode", mode, "--brackets", brackets, "--record", self.path)

        for (arguments, words), done in zip(cases, together(start, cases), strict=True):
            with self.subTest(arguments=arguments):
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                (line,) = said(ZOOM, done)
                self.assertRegex(line, f"^zoom: --brackets: {words}")
                self.assertFalse(self.path.exists())


class AskingForHelp(unittest.TestCase):
    def test_help_lists_modes_options_and_units_once(self):
        done = run(PINGPONG, "--help")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout.count("usage: mpirun -n 2 pingpong"), 1)
        for word in [*MODES, "--sizes", "--record", "--label", "--seed", "Exit code", "source:"]:
            self.assertIn(word, done.stdout)

    def test_what_does_not_fit_a_line_of_help_goes_on_below_its_text(self):
        for program in (PINGPONG, BROADCAST, ZOOM):
            lines = run(program, "--help", ranks=1).stdout.splitlines()
            measuring, writing = lines.index("what to measure:"), lines.index("what to write:")
            end = lines.index("", writing)
            for line in lines[measuring + 1 : writing - 1] + lines[writing + 1 : end]:
                before, text = line[:28], line[28:]
                with self.subTest(program=program.name, line=line):
                    self.assertRegex(before, r"^( {28}|  --\S+ .* )$")
                    self.assertTrue(text)

    def test_version_names_the_mpi_it_runs_on(self):
        done = run(PINGPONG, "--version")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"^pingpong \d+\.\d+\.\d+ \(commit ")
        self.assertRegex(done.stdout, "MPI")


class BadInput(InAFolder):
    """One line on rank 0 that names the option and what would do; exit code 2; no record."""

    TABLE = (
        (["--bogus", "1"], "--bogus: unknown option; --help"),
        (["-n", "2"], "'-n' is not an option"),
        (["stray"], "'stray' is not an option"),
        (
            ["--mode", "send,sned"],
            "no mode 'sned'; choose from send, ssend, isend",
        ),
        (["--mode", ""], "--mode: needs a value"),
        (["--mode", "send,"], "--mode: no mode ''"),
        (["--sizes", "big"], "--sizes: 'big' is not a size"),
        (["--sizes", "8:1"], "--sizes: '8:1' ends below its start"),
        (["--sizes=2048G"], "--sizes: '2048G' is not a size from 0 to 1099511627776"),
        (["--sizes"], "--sizes: needs a value"),
        (["--passes", "0"], "--passes: '0' is not a whole number from 1"),
        (["--samples", "-3"], "--samples: '-3' is not a whole number from 1"),
        (["--block-time", "1e3"], "--block-time: '1e3' is not a whole number"),
        (["--window", "65537"], "--window: '65537' is not a whole number from 1 to 65536"),
        (["--kept", "99999999999999999999"], "--kept: '99999999999999999999' is not a whole"),
        (["--seed", "-1"], "--seed: '-1' is not a whole number"),
        (["--warmup", "2 "], "--warmup: '2 ' is not a whole number"),
        (["--start", "barrier"], "--start: pingpong is timed by rank 0 alone"),
        (["--time-of", "mean"], "--time-of: pingpong is timed by rank 0 alone"),
        (["--precision", "5"], "--precision: needs 6 passes or more for an interval, not 3"),
        (["--label", "placement"], "--label: 'placement' is not KEY=VALUE"),
        (["--label", "a=1", "--label", "a=2"], "--label: 'a' is given twice"),
        (["--mode", "two\nlines"], "--mode: no mode 'two?lines'"),
    )

    def assert_refused(self, done: subprocess.CompletedProcess, words: str):
        self.assertEqual(done.returncode, 2, done.stderr)
        (line,) = said(PINGPONG, done)
        self.assertIn(words, line)
        self.assertEqual(done.stdout, "")

    def test_each_mistake_gets_its_line(self):
        # Started without mpiexec, all that is on standard error is the kernel's.
        def start(case):
            return subprocess.run(
                [PINGPONG, "--record", self.path, *case[0]],
                env=ENVIRONMENT, capture_output=True, text=True, timeout=100,
            )  # fmt: skip

        for (arguments, words), done in zip(self.TABLE, together(start, self.TABLE), strict=True):
            with self.subTest(arguments=arguments):
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assert_refused(done, words)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_long_words_are_shortened_so_that_the_fix_is_read(self):
        long = "x" * 1000
        table = (
            (["--label", long], "...", "is not KEY=VALUE"),
            ([f"--{long}", "1"], "...", "unknown option; --help lists the options"),
            (["--mode", f"send,{long}"], "...", "choose from send, ssend, isend"),
            (["--passes", "9" * 1000], "...", "is not a whole number from 1 to 1000000"),
        )
        for arguments, dots, fix in table:
            with self.subTest(arguments=arguments[0][:20]):
                done = subprocess.run(
                    [PINGPONG, *arguments],
                    env=ENVIRONMENT, capture_output=True, text=True, timeout=100,
                )  # fmt: skip
                self.assert_refused(done, fix)
                self.assertIn(dots, done.stderr)
                self.assertLess(len(done.stderr), 400)

    def test_all_ranks_leave_together(self):
        cases = [
            (2, ["--sizes", "none"], "--sizes: 'none' is not a size"),
            (1, [], "started with 1 rank but needs exactly 2"),
            (3, [], "started with 3 ranks but needs exactly 2"),
        ]
        runs = together(lambda case: run(PINGPONG, *case[1], ranks=case[0]), cases)
        for (ranks, arguments, words), done in zip(cases, runs, strict=True):
            with self.subTest(ranks=ranks, arguments=arguments):
                self.assert_refused(done, words)

    def test_ranks_with_different_arguments_or_kernels_are_refused(self):
        """A rank that sends as `ssend` would give the other a time of `send` that is of neither."""
        common = ["--sizes", "8", *QUICK, "--mode"]
        others = [
            [PINGPONG, *common, "ssend"],
            [PINGPONG, *common, "send", "--passes", "3"],
            [PINGPONG, "--help"],
            [MULTIPAIR, *common, "send"],
        ]

        def start(other):
            first = ["-n", "1", PINGPONG, *common, "send", "--record", self.path]
            return subprocess.run(
                [MPIEXEC, *first, ":", "-n", "1", *other],
                env=ENVIRONMENT, capture_output=True, text=True, timeout=100,
            )  # fmt: skip

        for other, done in zip(others, together(start, others), strict=True):
            with self.subTest(other=other):
                self.assert_refused(done, "the ranks were started with different")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_sizes_that_do_not_fit_memory(self):
        in_flight = ["--window", "65536", "--window-kib", "1073741824"]
        huge = ["--mode", "stream", "--sizes", "2147483647", *in_flight]
        done = run(PINGPONG, *huge, "--record", self.path)
        self.assert_refused(done, "GiB available; choose smaller --sizes or a smaller --window")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_sizes_that_a_mode_cannot_serve(self):
        done = run(PINGPONG, "--mode", "send,bsend", "--sizes", "8,1G", "--record", self.path)
        self.assert_refused(done, "--sizes: mode bsend takes messages of up to 53687")
        done = run(RING, "--mode", "sendrecv", "--sizes", "8,2G", "--record", self.path)
        (line,) = said(RING, done)
        self.assertIn("mode sendrecv takes messages of up to 2147483647 bytes; leave out 2", line)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_modes_whose_buffers_cannot_take_turns(self):
        done = run(PINGPONG, "--mode", "send,bsend", "--rotate", "1", "--record", self.path)
        self.assert_refused(done, "--rotate: mode bsend always uses the same buffers; choose other")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_modes_that_compute_need_numbers_where_a_processor_takes_them(self):
        words = "--buffer-offset: mode result computes with numbers in its buffers; give a multiple"
        assert_each_refused(
            self, TEST_KERNELS / "warmth", (["--mode", "result", "--buffer-offset", "32"], words)
        )

    def test_a_record_that_cannot_be_written(self):
        blocked, piped, linked = (self.folder / name for name in ("blocked", "piped", "linked"))
        Path(f"{blocked}.partial").mkdir()
        os.mkfifo(f"{piped}.partial")
        victim = self.folder / "victim"
        victim.write_text("precious")
        Path(f"{linked}.partial").symlink_to(victim)
        (self.folder / "link").symlink_to(victim)
        partial = "partial is not a regular file; remove it, or name another file"
        cases = [
            (self.folder / "missing" / "run.record", "No such file or directory"),
            (self.folder, "is not a regular file; name a file"),
            (Path("/dev/full"), "is not a regular file; name a file"),
            (self.folder / "link", "is not a regular file; name a file"),
            (blocked, partial),
            (piped, partial),
            (linked, partial),
        ]
        runs = together(lambda case: run(PINGPONG, *QUICK, "--record", case[0]), cases)
        for (path, words), done in zip(cases, runs, strict=True):
            with self.subTest(path=path):
                self.assert_refused(done, words)
        left = {"blocked.partial", "piped.partial", "linked.partial", "victim", "link"}
        self.assertEqual({p.name for p in self.folder.iterdir()}, left)
        self.assertEqual(victim.read_text(), "precious")

    def test_what_a_killed_run_left_is_replaced_and_no_other_name_of_it(self):
        partial = Path(f"{self.path}.partial")
        other = self.folder / "other"
        other.write_text("precious")
        os.link(other, partial)
        small = ("--mode", "send", "--sizes", "8", *QUICK)
        self.assertEqual(run(PINGPONG, *small, "--record", self.path).returncode, 0)
        self.assertEqual(other.read_text(), "precious")
        self.assertFalse(partial.exists())


class WhenThingsGoWrong(InAFolder):
    def test_a_full_disk_is_reported_and_leaves_the_old_record_alone(self):
        self.path.write_text("an older record")
        kernel = TEST_KERNELS / "pingpong_full_disk"
        done = run(kernel, "--sizes", "1:64", *QUICK, "--record", self.path)
        self.assertEqual(done.returncode, 2, done.stderr)
        (line,) = [x for x in done.stderr.splitlines() if x.startswith("switchpoint: --record: ")]
        self.assertIn("No space left on device", line)
        self.assertNotIn("complete", done.stdout)
        self.assertEqual(self.path.read_text(), "an older record")

    def test_a_number_of_rank_0_that_arrives_changed_ends_the_job(self):
        """Ranks that believed it measured other points, and waited for each other for ever."""
        kernel = TEST_KERNELS / "broadcast_changed_number"
        words = ["--sizes", "8", "--start", "agreed", *QUICK]

        def start(case):
            size, number = map(str, case)
            return run(kernel, *words, CHANGED_BYTES=size, CHANGED_NUMBER=number)

        cases = [*((16, number) for number in range(8)), (8, 0), (8, 1)]  # these: which node
        for case, done in zip(cases, together(start, cases), strict=True):
            with self.subTest(case=case):
                self.assertNotEqual(done.returncode, 0)
                self.assertIn("was changed on its way", done.stderr)

    def test_a_table_that_cannot_be_printed_is_one_line(self):
        for stdout in (">&-", ">/dev/full"):
            for record in ([], ["--record", self.path]):
                with self.subTest(stdout=stdout, record=bool(record)):
                    words = [PINGPONG, "--sizes", "8", *QUICK, *record]
                    done = run(Path("/bin/sh"), "-c", f'exec "$@" {stdout}', "sh", *words)
                    self.assertEqual(done.returncode, 2, done.stderr)
                    (line,) = said(PINGPONG, done)
                    self.assertIn("standard output cannot be written", line)
                    self.assertIn("the record is complete" if record else "measure again", line)
        self.assertEqual(json.loads(self.path.read_text().splitlines()[-1])["end"], "switchpoint")

    def test_a_killed_run_leaves_its_whole_passes_and_no_record(self):
        partial = Path(f"{self.path}.partial")
        command = [MPIEXEC, "-n", "2", PINGPONG, "--sizes", "1:16", "--passes", "100"]
        with subprocess.Popen(
            [*command, "--record", self.path],
            env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        ) as job:  # fmt: skip
            deadline = time.monotonic() + 30
            rows: list[str] = []
            while time.monotonic() < deadline and not any(r.split(",")[2:3] == ["1"] for r in rows):
                time.sleep(0.05)
                rows = partial.read_text().splitlines()[2:] if partial.exists() else []
            job.send_signal(signal.SIGTERM)
            job.wait(timeout=60)
        self.assertFalse(self.path.exists())
        header, columns, *rows = partial.read_text().rpartition("\n")[0].splitlines()
        self.assertEqual(json.loads(header)["columns"], columns.split(","))
        first_pass = {tuple(r.split(",")[:2]) for r in rows if r.split(",")[2] == "0"}
        self.assertEqual(len(first_pass), len(MODES) * 5)

    def test_a_run_that_is_killed_in_its_first_pass_leaves_what_it_has_measured(self):
        partial = Path(f"{self.path}.partial")
        slow = ["--mode", "send", "--sizes", "1:16M/2", "--samples", "1", "--pause", "300000"]
        with subprocess.Popen(
            [MPIEXEC, "-n", "2", PINGPONG, *slow, "--passes", "1", "--record", self.path],
            env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        ) as job:  # fmt: skip
            deadline = time.monotonic() + 30
            rows: list[str] = []
            while time.monotonic() < deadline and not rows:
                time.sleep(0.05)
                rows = partial.read_text().splitlines()[2:] if partial.exists() else []
            job.send_signal(signal.SIGTERM)
            job.wait(timeout=60)
        self.assertGreater(len(rows), 0)
        self.assertFalse(self.path.exists())

    def test_a_run_that_hangs_in_finalize_has_said_and_written_everything(self):
        for further in (), ("--ucx-protocols",):  # with it, standard output is kept back
            with self.subTest(further=further):
                self.assert_complete_while_it_hangs(*further)

    def assert_complete_while_it_hangs(self, *further: str):
        program = TEST_KERNELS / "pingpong_endless_finalize"
        sweep = ["--mode", "send", "--sizes", "1,8", *QUICK, *further]
        command = [MPIEXEC, "-n", "2", program, *sweep]
        printed = self.folder / "stdout"
        with printed.open("w") as stdout, subprocess.Popen(
            [*command, "--record", self.path],
            env=ENVIRONMENT, stdout=stdout, stderr=subprocess.DEVNULL,
        ) as job:  # fmt: skip
            deadline = time.monotonic() + 30
            while time.monotonic() < deadline and "complete" not in printed.read_text():
                time.sleep(0.05)
            self.assertIsNone(job.poll())
            self.assertRegex(printed.read_text(), "\nswitchpoint: complete kernel=pingpong ")
            self.assertEqual(Record(self.path).footer["end"], "switchpoint")
            job.send_signal(signal.SIGTERM)
            job.wait(timeout=60)

    def test_messages_that_never_move_are_caught_in_every_mode(self):
        program = TEST_KERNELS / "pingpong_no_transfer"
        done = run(program, "--sizes", "1,8,70000", *QUICK, "--record", self.path)
        self.assertEqual(done.returncode, 1, done.stderr)
        record = Record(self.path)
        verification = record.footer["verification"]
        self.assertGreater(verification["checks"], 0)
        self.assertEqual(verification["errors"], verification["checks"])
        self.assertTrue(all(point["payload_errors"] > 0 for point in record.footer["points"]))
        self.assertIn(f"payload_errors={verification['errors']} ", done.stdout.splitlines()[-1])
        self.assertEqual(len(said(PINGPONG, done)), len(MODES) * 3)

    def test_a_warm_up_does_not_vouch_for_timed_messages_that_never_move(self):
        program = TEST_KERNELS / "pingpong_stale_transfer"
        done = run(program, "--mode", "send", "--sizes", "1,8", *QUICK, "--record", self.path)
        self.assertEqual(done.returncode, 1, done.stderr)
        verification = Record(self.path).footer["verification"]
        self.assertEqual(verification["errors"], verification["checks"])


if __name__ == "__main__":
    unittest.main(testLoader=Chosen())
