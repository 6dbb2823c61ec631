"""What other tools write comes back as it was measured. All numbers here are the test's own."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from switchpoint import Store, read, read_files
from switchpoint.tables.columns import identity_columns
from switchpoint.tables.measurements import Measurements
from switchpoint.tables.mpi_names import is_mpi
from switchpoint.tables.units import size_text
from typer.testing import Result

Run = Callable[..., Result]


def written(folder: Path, text: str, name: str = "result.txt") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def curves(found: Measurements, *names: str) -> dict[str, dict[int, float]]:
    """Return the times of each curve by the given names, or by all."""
    names = names or tuple(n for n in identity_columns(found.samples) if n != "run_id")
    table: dict[str, dict[int, float]] = {}
    for row in found.samples.to_dict("records"):
        curve = " ".join(str(row[name]) for name in names if isinstance(row[name], str))
        table.setdefault(curve, {})[int(row["size_bytes"])] = round(float(row["time_us"]), 3)
    return table


NCCL = """\
# nccl-tests version 2.17.1 nccl-headers=22304 nccl-library=22304
# Collective test starting: reduce_scatter_perf
# nThread 1 nGpus 1 minBytes 65536 maxBytes 16777216 step: 16(factor) warmup iters: 5
# Using devices
#  Rank  0 Group  0 Pid  101 on n1 device  0 [0000:07:00] GPU
#  Rank  1 Group  0 Pid  102 on n1 device  1 [0000:46:00] GPU
#                                                out-of-place                in-place
#       size     count   type redop  root    time  algbw  busbw #wrong    time  algbw  busbw #wrong
#        (B) (elements)                      (us) (GB/s) (GB/s)           (us) (GB/s) (GB/s)
       65536     16384  float   sum    -1   31.07   2.11   1.05      0   28.55   2.30   1.15    N/A
     1048576    262144  float   sum    -1   104.8  10.01   5.00      0   102.3  10.25   5.12    N/A
    16777216   4194304  float   sum    -1  1210.4  13.86   6.93      0  1198.2  14.00   7.00    N/A
       65536     32768   half   max    -1   33.07   1.98   0.99      0   30.55   2.15   1.07      0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 3.41
"""


def test_nccl_tests_are_read_by_place_data_type_and_operation(tmp_path: Path) -> None:
    found = read(written(tmp_path, NCCL))

    assert found.warnings == []
    assert curves(found, "kernel", "type", "redop", "mode", "processes") == {
        "nccl_reduce_scatter float sum out_of_place 2": {
            65536: 31.07, 1048576: 104.8, 16777216: 1210.4,
        },
        "nccl_reduce_scatter float sum in_place 2": {
            65536: 28.55, 1048576: 102.3, 16777216: 1198.2,
        },
        "nccl_reduce_scatter half max out_of_place 2": {65536: 33.07},
        "nccl_reduce_scatter half max in_place 2": {65536: 30.55},
    }  # fmt: skip
    assert found.runs["tool"].tolist() == ["nccl-tests 2.17.1"]


def test_several_calls_of_0_bytes_are_one_size(tmp_path: Path) -> None:
    empty = [
        f"           0         0  float   sum    -1   {time}   0.00   0.00      0   28.55   0.00"
        "   0.00    N/A\n"
        for time in (12.5, 12.7)
    ]
    before, after = NCCL.split("       65536     16384", 1)
    found = read(written(tmp_path, f"{before}{''.join(empty)}       65536     16384{after}"))

    assert found.warnings == []
    assert curves(found, "type", "mode")["float out_of_place"] == {
        0: 12.5, 65536: 31.07, 1048576: 104.8, 16777216: 1210.4,
    }  # fmt: skip


def test_a_time_of_nccl_tests_that_its_bandwidth_contradicts_is_skipped(tmp_path: Path) -> None:
    path = written(tmp_path, NCCL.replace("104.8", "10.48"))

    found = read(path)

    assert 1048576 not in curves(found, "mode", "type")["out_of_place float"]
    assert [*map(str, found.warnings)] == [
        f"{path}: nccl_reduce_scatter: line 11: time and algbw of out_of_place do not agree:"
        " the row is skipped"
    ]


def test_wrong_values_and_an_operation_without_a_name_are_reported(tmp_path: Path) -> None:
    text = NCCL.replace("# Collective test starting: reduce_scatter_perf\n", "")
    path = written(tmp_path, text.replace("5.00      0 ", "5.00     12 "))

    found = read(path)

    assert {warning.place for warning in found.warnings} == {str(path)}
    assert [warning.message for warning in found.warnings] == [
        "line 9: no line names the operation: give the label kernel, such as nccl_all_reduce",
        "line 10: the payload arrived damaged; do not trust this time",
    ]


def test_units_that_nccl_tests_do_not_print_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, NCCL.replace("(us)", "(ms)"))

    [failure] = read_files([path]).failures

    assert "need the units (us) and (GB/s)" in str(failure)


def test_operations_without_reduction_leave_its_column_blank(tmp_path: Path) -> None:
    text = NCCL.replace("   sum    -1", "        ").replace("   max    -1", "        ")

    found = curves(read(written(tmp_path, text)), "type", "mode")

    assert found["half in_place"] == {65536: 30.55}


def test_iterations_in_nccls_json_are_samples(tmp_path: Path) -> None:
    call = {"time": 40.5, "alg_bw": 1.6, "bus_bw": 2.4, "nwrong": 0.0}
    result = {
        "size": 65536, "count": 16384, "type": "float", "redop": "none", "root": "     0",
        "out_of_place": call, "in_place": None, "actual_iterations": 3,
        "out_of_place_per_iter": {"times_us": [40.0, 40.5, 41.0]},
    }  # fmt: skip
    report = {
        "version": 3, "args": ["/opt/broadcast_perf"], "nccl_version": 22304,
        "config": {"devices": [{"rank": rank} for rank in range(4)]}, "results": [result],
    }  # fmt: skip

    found = read(written(tmp_path, json.dumps(report), "broadcast.json"))

    assert found.samples["time_us"].tolist() == [40.0, 40.5, 41.0]
    assert set(curves(found, "kernel", "root", "mode", "processes")) == {
        "nccl_broadcast 0 out_of_place 4"
    }


SMALL = {1: 1.5, 1024: 2.25, 65536: 14.75, 1048576: 180.5}


@pytest.mark.parametrize(
    ("heading", "row"),
    [
        ("Size,Latency (us)", "{size},{time}"),
        (",Size,Avg Latency(us)", "{index},{size},{time}"),
        ('"","X.bytes","X.repetitions","t.usec.","Mbytes.sec"',
         "{index},{size},1000,{time},{mbps}"),
        ("Size,Bandwidth (MB/s)", "{size},{mbps}"),
        ("X..Size;Bandwidth..MB.s.", "{size};{mbps}"),
        ("Size\tLatency (us)", "{size}\t{time}"),
        ("message size;time_ms", "{size};{comma}"),
        ("size (bytes),iterations,latency (seconds)", "{size},{index},{sec}"),
        ("size (bytes),min_time (seconds),max_time (seconds),avg_time (seconds)",
         "{size},{less},{more},{sec}"),
        ("msg_size,bandwidth_GBps", '"{grouped}",{gbps}'),
        ("Size,Latency (us)", "{short},{time}"),
    ],
)  # fmt: skip
def test_csv_with_the_names_of_others_is_read(tmp_path: Path, heading: str, row: str) -> None:
    rows = [
        row.format(
            index=index, size=size, time=time, mbps=repr(size / time), gbps=repr(size / time / 1e3),
            comma=f"{time / 1e3:.6f}".replace(".", ","), sec=f"{time / 1e6:.8f}",
            less=f"{time / 2e6:.8f}", more=f"{time / 5e5:.8f}", grouped=f"{size:,}",
            short=size_text(size).replace("1 B", "1"),
        )
        for index, (size, time) in enumerate(SMALL.items(), start=1)
    ]  # fmt: skip

    found = read(written(tmp_path, "\n".join([heading, *rows, ""]), "curves.csv"))

    assert curves(found) == {"": SMALL}


@pytest.mark.parametrize(
    ("statistic", "named", "scale"), [("avg", "", 1), ("max", "max", 2), ("min", "min", 0.5)]
)
def test_one_of_several_statistics_is_chosen(
    tmp_path: Path, switchpoint: Run, statistic: str, named: str, scale: float
) -> None:
    text = "size_bytes,min_us_time,t_min[usec],t_max[usec],t_avg[usec]\n"
    text += "".join(f"{size},x,{t / 2},{t * 2},{t}\n" for size, t in SMALL.items())
    path = written(tmp_path, text, "imb.csv")

    result = switchpoint("import", path, "--store", tmp_path / "s", "--statistic", statistic)

    assert result.exit_code == 0, result.output
    stored = Store(tmp_path / "s").read()
    names = ["statistic"] if named else ["min_us_time"]
    assert curves(stored, *names) == {
        named or "x": {size: time * scale for size, time in SMALL.items()}
    }


def test_a_column_is_never_guessed_and_an_option_names_it(tmp_path: Path, switchpoint: Run) -> None:
    text = "n,elapsed\n" + "".join(f"{size},{t / 1e3}\n" for size, t in SMALL.items())
    path, store = written(tmp_path, text, "mine.csv"), tmp_path / "s"

    refused = switchpoint("import", path, "--store", store)
    half = switchpoint("import", path, "--store", store, "--column", "size_bytes=n")
    read = switchpoint(
        "import", path, "--store", store, "--column", "size_bytes=n", "--column", "time_ms=elapsed"
    )

    assert refused.exit_code == 2
    assert half.exit_code == 2
    assert (
        "line 1: has no column of times or bandwidths with a unit among size_bytes, elapsed;"
        " say which it is: --column time_us=NAME" in half.stderr
    )
    assert read.exit_code == 0, read.output
    assert curves(Store(store).read()) == {"": SMALL}


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--column", "size_bytes"], "--column: 'size_bytes' has no '='; write size_bytes=NAME"),
        (["--statistic", "p12"], "--statistic: 'p12' is not one of avg, min, max"),
    ],
)
def test_options_about_columns_are_checked(
    tmp_path: Path, switchpoint: Run, options: list[str], problem: str
) -> None:
    path = written(tmp_path, "size_bytes,time_us\n8,1\n", "a.csv")

    result = switchpoint("import", path, "--store", tmp_path / "s", *options)

    assert result.exit_code == 2
    assert problem in result.stderr


LATENCIES = {8: 1.75, 65536: 18.5}


@pytest.mark.parametrize(
    "row",
    [
        # of versions 2, 3.0 and 3.9, and with a column of a site
        "{time}|reframe 2.19 (rev: abc)|Lat on alpha:batch using gnu|jobid=7|lat_{size}B={us}"
        "|ref=1.0 (l=None, u=0.1)us",
        "{time}+01:00|reframe 3.0-dev6 (rev: abc)|Lat on alpha:batch using gnu|jobid=7"
        "|lat_{size}B={us}|us|ref=0 (l=None, u=None)|pairs=1,lat",
        "{time}|reframe 3.9.0|Lat on alpha:batch using gnu|jobid=7|lat_{size}B={us}"
        "|ref=1.0 (l=None, u=0.1)|us",
    ],
)
def test_logs_of_reframe_2_and_3_have_a_value_a_line(tmp_path: Path, row: str) -> None:
    rows = [
        row.format(time="2021-04-05T06:07:08", size=size, us=us) for size, us in LATENCIES.items()
    ]

    found = read(written(tmp_path, "\n".join([*rows, ""]), "Lat.log"))

    names = ("kernel", "site", "partition", "environ", "mode")
    assert curves(found, *names) == {"Lat alpha batch gnu lat": LATENCIES}


def test_a_value_of_an_old_log_without_a_size_is_a_single_value(tmp_path: Path) -> None:
    line = (
        "2021-04-05T06:07:08|reframe 3.1|Bw on alpha:batch using gnu|jobid=7|peak=12.5|GB/s"
        "|ref=12.0 (l=-0.1, u=None)|pairs=4\n"
    )

    [value] = read(written(tmp_path, line, "Bw.log")).single_values.to_dict("records")

    assert (value["test"], value["variable"], value["unit"]) == ("Bw", "peak", "GB/s")
    assert (value["value"], value["reference"], value["lower"]) == (12.5, 12.0, -0.1)
    assert json.loads(value["labels"]) == {"pairs": "4"}


def test_a_sites_own_log_is_read_by_its_heading(tmp_path: Path) -> None:
    names = [f"lat_{size}B_{end}" for size in LATENCIES for end in ("value", "unit", "ref")]
    heading = f"job_completion_time|version|info|jobid|{'|'.join(names)}|display_name|system"
    row = "2024-01-02T03:04:05|reframe 4.5|Lat %np=2 /0123abcd @alpha:batch+gnu|7|1.75|us|1"
    row += "|18.5|us|null|Lat %np=2|alpha"

    found = read(written(tmp_path, f"{heading}\n{row}\n", "Lat.log"))

    assert curves(found, "kernel", "np", "partition") == {"Lat 2 batch": LATENCIES}


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A database with the tables of ReFrame 4.7 and two sessions."""
    path = tmp_path / "results.db"
    sessions = []
    for day, factor in ((2, 1.0), (3, 2.0)):
        values = {f"alpha:batch:lat_{size}B": [us * factor, 0, None, None, "us", "pass"]
                  for size, us in LATENCIES.items()}  # fmt: skip
        case = {"name": "Lat", "system": "alpha", "partition": "batch", "environ": "gnu",
                "job_completion_time": f"2025-01-0{day}T00:00:00",
                "perfvalues": values}  # fmt: skip
        report = {"session_info": {"uuid": str(day)}, "runs": [{"testcases": [case]}]}
        sessions.append((str(day), float(day), float(day), json.dumps(report), ""))
    connection = sqlite3.connect(path)
    connection.execute(
        "CREATE TABLE sessions(uuid TEXT PRIMARY KEY, session_start_unix REAL,"
        " session_end_unix REAL, json_blob TEXT, report_file TEXT)"
    )
    connection.executemany("INSERT INTO sessions VALUES(?, ?, ?, ?, ?)", sessions)
    connection.commit()
    connection.close()
    return path


def test_reframes_database_has_a_run_for_each_session(database: Path) -> None:
    found = read(database)

    times = found.samples.groupby("run_id")["time_us"].apply(list).tolist()
    assert sorted(times) == [[1.75, 18.5], [3.5, 37.0]]
    assert [path.name for path in database.parent.iterdir()] == ["results.db"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("DROP TABLE sessions", "is a database, but not ReFrame's"),
        ("UPDATE sessions SET json_blob = '{'", "is a damaged run report"),
        (
            "ALTER TABLE sessions RENAME TO own; CREATE VIEW sessions AS SELECT * FROM own",
            "is a database, but not ReFrame's",
        ),
    ],
)
def test_other_databases_are_refused(database: Path, change: str, problem: str) -> None:
    connection = sqlite3.connect(database)
    connection.executescript(change)
    connection.commit()
    connection.close()

    [failure] = read_files([database]).failures

    assert problem in str(failure)


def test_sessions_that_are_not_in_the_database_yet_are_not_lost_without_a_word(
    database: Path,
) -> None:
    connection = sqlite3.connect(database)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("UPDATE sessions SET session_start_unix = 9.0 WHERE uuid = '2'")
    connection.commit()

    [failure] = read_files([database]).failures
    assert "has changes in results.db-wal that are not in it yet" in str(failure)

    connection.close()  # which moves them
    assert len(read(database).samples) == 4


def test_a_damaged_database_is_named(database: Path) -> None:
    database.write_bytes(database.read_bytes()[:5000])

    [failure] = read_files([database]).failures

    assert "is a damaged database" in str(failure)


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("OMPI4", "Open MPI 4"), ("ompi3", "Open MPI 3"), ("openmpi412", "Open MPI 4.1.2"),
        ("impi19", "Intel MPI 2019"), ("IMPI182", "Intel MPI 2018.2"),
        ("impi-2019", "Intel MPI 2019"), ("MVAPICH231", "MVAPICH2 2.3.1"),
        ("mvapich2", "MVAPICH2"), ("CrayMPICH8015", "CRAY MPICH 8.0.15"), ("mpt", "HPE MPT"),
        ("mpich2", "mpich2"), ("gcc9-openmpi4-ucx", "gcc9-openmpi4-ucx"),
    ],
)  # fmt: skip
def test_names_of_folders_mean_an_mpi(
    tmp_path: Path, switchpoint: Run, folder: str, name: str
) -> None:
    (tmp_path / "old" / folder).mkdir(parents=True)
    written(tmp_path / "old" / folder, "size_bytes,time_us\n8,1.5\n", "a.csv")
    store = tmp_path / "s"

    result = switchpoint("import", tmp_path / "old", "--path", "{mpi}/", "--store", store)

    assert result.exit_code == 0, result.output
    assert Store(store).runs()["mpi"].tolist() == [name]


def test_glued_names_select_runs() -> None:
    assert is_mpi("Open MPI 4", "openmpi")
    assert is_mpi("Open MPI 4.1.2", "OMPI4")
    assert is_mpi("Intel MPI 2018.2", "impi18")
    assert not is_mpi("Open MPI 4", "openmpi5")
