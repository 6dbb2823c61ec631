"""Whole runs of the applications: right results on any number of ranks, refusals, phases.

An application whose library is absent was not built, and is passed over.
"""

# ruff: noqa: D101, D102 -- the names of the tests are sentences

from __future__ import annotations

import re
import subprocess
import sys
import unittest

from test_runs import (
    ENVIRONMENT,
    KERNELS,
    MPIEXEC,
    TEST_KERNELS,
    Chosen,
    InAFolder,
    Record,
    assert_each_refused,
    of_time,
    run,
    together,
)

#: Of each application: modes in parallel, sizes that no number of ranks divides, some tiny.
APPLICATIONS = {
    "psrs": (["parallel"], "100,1004,40000"),
    "fft": (["parallel"], "16,784,65536"),
    "linear": (["lu", "inv", "mult"], "8,200,42632"),
    "voting": (["everywhere", "shares"], "8,1000,40008"),
    "backpropagation": (["parallel"], "256,1792"),
    "jpeg": (["parallel", "both"], "4096,28672"),
}
ONE_SAMPLE = ["--passes", "1", "--samples", "1"]


def modes_of(name: str) -> list[str]:
    """Every mode, those on rank 0 alone included."""
    parallel = APPLICATIONS[name][0]
    if name == "voting":  # on one rank there is one ballot, and nothing to vote on
        return [*parallel, "serial"]
    alone = ["serial", "one_rank"]
    if name == "linear":
        alone = [f"{mode}_{form}" for mode in parallel for form in alone]
    if name == "jpeg":
        alone.append("both_serial")
    return [*parallel, *alone]


def built(name: str) -> bool:
    """Whether the application's library was there."""
    return (KERNELS / name).exists()


class TheApplications(InAFolder):
    def test_results_are_right_on_any_number_of_ranks(self):
        cases = [(name, ranks) for name in APPLICATIONS if built(name) for ranks in (1, 2, 3)]

        def start(case):
            name, ranks = case
            record = self.folder / f"{name}-{ranks}"
            sizes = ["--sizes", APPLICATIONS[name][1], "--record", str(record)]
            return record, run(KERNELS / name, *sizes, *ONE_SAMPLE, ranks=ranks)

        for (name, ranks), (path, done) in zip(cases, together(start, cases), strict=True):
            with self.subTest(name=name, ranks=ranks):
                self.assertEqual(done.returncode, 0, done.stderr)
                footer = Record(path).footer
                self.assertEqual(footer["verification"]["errors"], 0)
                self.assertEqual(
                    {(point["mode"], point["size_bytes"]) for point in footer["points"]},
                    {
                        (mode, int(size))
                        for mode in modes_of(name)
                        for size in APPLICATIONS[name][1].split(",")
                    },
                )

    def test_phases_say_where_the_time_went(self):
        for name in filter(built, APPLICATIONS):
            size = APPLICATIONS[name][1].split(",")[-1]
            record = self.measured(KERNELS / name, "--sizes", size, *ONE_SAMPLE)
            with self.subTest(name=name):
                self.assertEqual(
                    record.columns[-3:], ["compute_us", "exchange_us", "distribute_us"]
                )
                for row in record.rows:
                    compute, exchange, distribute = (float(row[c]) for c in record.columns[-3:])
                    total = float(row["time_us"])
                    self.assertGreater(compute, 0)
                    self.assertLessEqual(max(compute, exchange, distribute), total)
                    if "serial" in row["mode"]:
                        self.assertEqual((exchange, distribute), (0, 0))
                    elif "one_rank" in row["mode"]:  # it copies where others send
                        self.assertLess(compute, total)
                    else:
                        self.assertGreater(exchange + distribute, 0)

    @unittest.skipUnless(built("fft"), "no FFTW")
    def test_two_transpositions_move_what_they_must(self):
        record = self.measured(
            KERNELS / "fft", "--mode", "parallel", "--sizes", "4096", *ONE_SAMPLE, ranks=4
        )
        # Three of four blocks each time: dealt out, exchanged twice, collected.
        (point,) = record.footer["points"]
        self.assertEqual(point["traffic"]["bytes"], 4 * 4096 * 3 // 4)

    def test_the_parallel_form_on_one_rank_sends_nothing(self):
        for name in filter(built, APPLICATIONS):
            modes = [mode for mode in modes_of(name) if "one_rank" in mode]
            if not modes:
                continue
            size = APPLICATIONS[name][1].split(",")[-1]
            record = self.measured(
                KERNELS / name, "--mode", ",".join(modes), "--sizes", size, *ONE_SAMPLE, ranks=3
            )
            with self.subTest(name=name):
                self.assertEqual(record.footer["verification"]["bytes_moved"], 0)
                self.assertGreater(record.footer["verification"]["checks"], 0)

    @of_time
    def test_the_time_on_one_rank_does_not_grow_with_the_ranks_that_wait_for_it(self):
        program = TEST_KERNELS / "backpropagation_slow_sign"
        for start in ("agreed", "barrier"):
            record = self.measured(
                *(program, "--mode", "serial,one_rank", "--sizes", "256", "--start", start),
                *("--passes", "1", "--samples", "3"),
                ranks=4,
            )
            for mode in ("serial", "one_rank"):
                times = [float(row["time_us"]) for row in record.rows if row["mode"] == mode]
                self.assertLess(min(times), 9000)  # to wake the others takes as long

    def test_a_rank_that_sorts_holds_its_share_and_not_all_keys(self):
        size = 8 << 20
        peaks = [self.second_largest_peak(sizes) for sizes in ("400", str(size))]
        # A share of its own, and twice two shares to merge: 5/4 of all keys on four ranks, and what
        # the C library's sort and the sanitizers add. Each of three buffers for all keys is 1.
        self.assertLess(peaks[1] - peaks[0], 2.5 * size)

    def second_largest_peak(self, sizes: str) -> int:
        """Bytes of memory that a rank other than rank 0 holds at most."""
        watched = (
            "import os, pathlib, resource, subprocess, sys\n"
            "code = subprocess.call(sys.argv[2:], close_fds=False)\n"
            "peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss\n"
            "pathlib.Path(sys.argv[1], str(os.getpid())).write_text(str(peak))\n"
            "sys.exit(code)"
        )
        folder = self.folder / sizes
        folder.mkdir()
        done = subprocess.run(
            [
                *(MPIEXEC, "-n", "4", sys.executable, "-c", watched, folder, KERNELS / "psrs"),
                *("--mode", "parallel", "--sizes", sizes, "--warmup", "0", *ONE_SAMPLE),
            ],
            env=ENVIRONMENT, capture_output=True, text=True, timeout=100,
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        peaks = sorted(int(path.read_text()) for path in folder.iterdir())
        self.assertEqual(len(peaks), 4)
        return peaks[-2] * 1024

    @unittest.skipUnless(built("fft"), "no FFTW")
    def test_no_plan_is_a_guess(self):
        done = run(TEST_KERNELS / "fft_plans", "--sizes", "1024", *ONE_SAMPLE)
        self.assertEqual(done.returncode, 0, done.stderr)
        plans = set(re.findall(r"^plan: (.*)$", done.stderr, re.MULTILINE))
        self.assertEqual(plans, {"rows measured", "matrix measured"})

    def test_results_of_messages_that_never_move_are_caught(self):
        cases = [("fft", "parallel", 1024), ("linear", "mult", 968)]
        for name, mode, size in [case for case in cases if built(case[0])]:
            with self.subTest(name=name, mode=mode):
                done = run(
                    TEST_KERNELS / f"{name}_no_transfer",
                    *["--mode", mode, "--sizes", str(size), *ONE_SAMPLE],
                    ranks=3,
                )
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(f"{name}: payload errors: mode {mode}, {size} bytes", done.stderr)

    def test_a_length_or_a_pivot_that_arrives_changed_is_an_error_and_no_crash(self):
        cases = {  # the mode, the bytes of all data, those of the message that is changed
            "jpeg": ("parallel", 16384, 8, "the length of a result"),
            "linear": ("lu", 32768, 128, "a pivot"),
            "psrs": ("parallel", 4096, 8, "the number of keys from another rank"),
        }
        for name in filter(built, cases):
            mode, size, changed, what = cases[name]
            with self.subTest(kernel=name):
                done = run(
                    TEST_KERNELS / f"{name}_changed_message",
                    *["--mode", mode, "--sizes", str(size), *ONE_SAMPLE],
                    ranks=3,
                    CHANGED_MESSAGE_BYTES=str(changed),
                )
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(
                    f"{what} arrived with an impossible value; the MPI library or the network"
                    " changed it",
                    done.stderr,
                )

    def test_sizes_that_are_no_problem_are_refused(self):
        refusals = {
            "psrs": [
                (["--sizes", "1002"], "1002 bytes are not one or more keys of 4 bytes; use 1004"),
                (["--sizes", "0"], "0 bytes are not one or more keys of 4 bytes; use 4"),
            ],
            "fft": [
                (["--sizes", "100"], "not a square matrix of numbers of 16 bytes; use 64 (n = 2)"),
                (["--sizes", "0"], "0 bytes hold no matrix; use 16"),
            ],
            "linear": [
                (["--sizes", "100"], "not a square matrix of numbers of 8 bytes; use 72 (n = 3)"),
                (["--sizes", "1"], "1 bytes hold no matrix; use 8"),
                (["--block", "0"], "--block: '0' is not a whole number from 1"),
            ],
            "voting": [
                (["--sizes", "12"], "12 bytes are not one or more votes of 8 bytes; use 16")
            ],
            "backpropagation": [
                (["--sizes", "1000"], "1000 bytes are not one or more patterns of 256 bytes"),
                (["--hidden", "0"], "--hidden: '0' is not a whole number from 1"),
                (["--epochs", "0"], "--epochs: '0' is not a whole number from 1"),
            ],
            "jpeg": [
                (["--sizes", "5000"], "5000 bytes are not one or more blocks of 64 x 64 pixels"),
                (["--quality", "101"], "--quality: '101' is not a whole number from 1 to 100"),
            ],
        }
        for name in filter(built, APPLICATIONS):
            assert_each_refused(self, KERNELS / name, *refusals[name])

    @unittest.skipUnless(built("linear"), "linear is not built")
    def test_a_size_without_a_matrix_is_refused_by_all_together(self):
        done = run(KERNELS / "linear", "--sizes", "1", "--record", self.path, ranks=3)
        self.assertEqual(done.returncode, 2)
        (line,) = [line for line in done.stderr.splitlines() if line.startswith("linear: ")]
        self.assertIn("1 bytes hold no matrix; use 8", line)
        self.assertFalse(self.path.exists())

    def test_too_few_keys_for_the_ranks_are_refused_by_all_together(self):
        done = run(KERNELS / "psrs", "--sizes", "32", "--record", self.path, ranks=3)
        self.assertEqual(done.returncode, 2)
        (line,) = [line for line in done.stderr.splitlines() if line.startswith("psrs: ")]
        self.assertIn("3 ranks need 9 keys", line)
        self.assertFalse(self.path.exists())


if __name__ == "__main__":
    unittest.main(testLoader=Chosen())
