"""Formats that people bring beside OSU's and Intel's. All numbers here are the test's own."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from switchpoint import Store, read, read_files
from switchpoint.errors import InputError
from switchpoint.importing.choices import Choices
from switchpoint.importing.files import Found
from switchpoint.importing.reading import read_found
from switchpoint.tables.columns import MEASURES
from switchpoint.tables.measurements import Measurements
from typer.testing import Result

Run = Callable[..., Result]

OSU = "# OSU MPI {title} Test v5.9\n# Size          {column}\n{rows}"


def written(folder: Path, text: str, name: str = "result.txt") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def osu(rows: dict[int, float], title: str = "Latency", column: str = "Latency (us)") -> str:
    lines = "".join(f"{size:<10} {value:18.2f}\n" for size, value in rows.items())
    return OSU.format(title=title, column=column, rows=lines)


def times(path: Path, **choices: object) -> dict[tuple[str, int], float]:
    """Return the time of each kernel and size."""
    found = read_found([Found(path, None, Choices(**choices))])  # type: ignore[arg-type]
    assert found.measurements is not None, found.failures
    samples = found.measurements.samples
    return {(row.kernel, row.size_bytes): round(row.time_us, 4) for row in samples.itertuples()}


PERFTEST = """\
------------------------------------------------------------
                    {title} Test
 Dual-port       : OFF          Device         : mlx5_0
 Number of qps   : {queues}     Transport type : IB
 Link type       : Ethernet
------------------------------------------------------------
 #bytes     #iterations    BW peak[{unit}/sec]    BW average[{unit}/sec]   MsgRate[Mpps]
 65536      5000             2000.00            1000.00                   0.016000
 131072     5000             2100.00            2000.00                   0.016000
------------------------------------------------------------
"""


@pytest.mark.parametrize(
    ("unit", "time_us"), [("MB", 62.5), ("MiB", 62.5), ("Gb", 65536 * 8 / 1e6)]
)
def test_perftests_megabytes_are_binary(tmp_path: Path, unit: str, time_us: float) -> None:
    text = PERFTEST.format(title="RDMA_Write BW", unit=unit, queues=1)

    assert times(written(tmp_path, text))["ib_write_bw", 65536] == pytest.approx(time_us, abs=1e-4)


def test_perftests_settings_tell_curves_apart(tmp_path: Path) -> None:
    two = [PERFTEST.format(title="Send BW", unit="MB", queues=n) for n in (1, 8)]

    samples = read(written(tmp_path, "".join(two))).samples

    assert {*samples["queue_pairs"]} == {"1", "8"}
    assert {*samples["link_type"]} == {"Ethernet"}


def test_mpibench_names_operation_and_ranks(tmp_path: Path) -> None:
    row = (
        "{name:20}\tBytes:\t{size:8}\tIters:\t1000\tAvg:\t{avg:8.4f}\tMin:\t{low:8.4f}\tMax:\t9.5000"
        "\tComm: MPI_COMM_WORLD\tRanks: {ranks}\n"
    )
    cases = [("Bcast", 8, 2.5, 4), ("Bcast", 16, 2.75, 4), ("Allreduce", 8, 4.5, 16)]
    rows = (row.format(name=n, size=s, avg=a, low=a / 2, ranks=r) for n, s, a, r in cases)
    path = written(tmp_path, f"START mpiBench v1.5\n0 : n1\n{''.join(rows)}END mpiBench\n")

    assert times(path) == {
        ("mpibench_bcast", 8): 2.5, ("mpibench_bcast", 16): 2.75, ("mpibench_allreduce", 8): 4.5,
    }  # fmt: skip
    assert times(path, statistic="min")["mpibench_bcast", 8] == 1.25
    samples = read(path).samples
    assert {*zip(samples["kernel"], samples["processes"], strict=True)} == {
        ("mpibench_bcast", "4"), ("mpibench_allreduce", "16"),
    }  # fmt: skip


def test_skampis_loops_are_curves(tmp_path: Path) -> None:
    text = (
        '# SKaMPI Version 5.0 rev. 191\n\nbegin result "MPI_Bcast-nodes-length"\n'
        "nodes= 2 count= 2        8       3.5       0.1       54       3.1       6.6\n"
        "nodes= 2 count= 4       16       4.5       0.1       54       3.1       6.6\n"
        "nodes= 4 count= 2        8       7.5       0.1       54       3.1       6.6\n"
        "end result\n"
    )

    samples = read(written(tmp_path, text)).samples

    found = samples[["kernel", "processes", "size_bytes", "time_us"]].astype(object)
    assert found.to_numpy().tolist() == [
        ["skampi_mpi_bcast", "2", 8, 3.5],
        ["skampi_mpi_bcast", "2", 16, 4.5],
        ["skampi_mpi_bcast", "4", 8, 7.5],
    ]


REPROMPI = """\
#@operation=MPI_SUM
#@datatype=MPI_DOUBLE
{bytes}#@nprocs=4
               test       nrep        count    runtime_sec
      MPI_Allreduce          0            4   0.0000125000
      MPI_Allreduce          1            4   0.0000135000
      MPI_Allreduce          0            8   0.0000225000
      MPI_Allreduce          1            8   0.0000215000
"""


def test_reprompis_counts_become_bytes_and_repetitions_samples(tmp_path: Path) -> None:
    text = REPROMPI.format(bytes="#@datatype_size_bytes=8\n")

    samples = read(written(tmp_path, text)).samples

    assert samples["size_bytes"].tolist() == [32, 32, 64, 64]
    assert samples["time_us"].round(6).tolist() == [12.5, 13.5, 22.5, 21.5]
    assert samples["sample"].tolist() == [0, 1, 0, 1]
    assert {*samples["processes"]} == {"4"}


def test_reprompi_without_the_size_of_an_element_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 5: no line '#@datatype_size_bytes="):
        read(written(tmp_path, REPROMPI.format(bytes="")))


@pytest.mark.parametrize("end", ["json", "yaml", "ipynb"])
def test_output_in_strings_is_read_with_what_differs_beside_it(tmp_path: Path, end: str) -> None:
    runs = [
        {"nodes": nodes, "job_id": nodes * 7, "stdout": osu({1: 1.5 * nodes, 2: 2.5, 4: 3.5})}
        for nodes in (1, 2)
    ]
    if end == "ipynb":
        runs = [run | {"stdout": str(run["stdout"]).splitlines(keepends=True)} for run in runs]
    text = json.dumps({"runs": runs}, indent=1)
    if end == "yaml":
        text = "runs:\n" + "".join(
            f"  - nodes: {run['nodes']}\n    stdout: {json.dumps(run['stdout'])}\n" for run in runs
        )

    samples = read(written(tmp_path, text, f"results.{end}")).samples

    ones = samples[samples["size_bytes"] == 1]
    assert dict(zip(ones["nodes"], ones["time_us"], strict=True)) == {"1": 1.5, "2": 3.0}
    assert "job_id" not in samples


@pytest.mark.parametrize(
    "table",
    [
        "| Size | **Latency (us)** |\n|-----:|:----|\n| 64K | 7.50 |\n| 1 MiB | `97.50` |\n",
        "+-------+--------------+\n| Size  | Latency (us) |\n+=======+==============+\n"
        "| 64K   | 7.50         |\n+-------+--------------+\n| 1 MiB | 97.50        |\n"
        "+-------+--------------+\n",
        "=====  ============\nSize   Latency (us)\n=====  ============\n64K    7.50\n1 MiB  97.50\n"
        "=====  ============\n",
    ],
)
def test_drawn_tables_are_read_wherever_they_are_in_a_text(tmp_path: Path, table: str) -> None:
    samples = read(written(tmp_path, f"Results\n=======\n\n{table}\nThe end.\n", "page.md")).samples

    assert samples["size_bytes"].tolist() == [65536, 1048576]
    assert samples["time_us"].tolist() == [7.5, 97.5]


def test_two_drawn_tables_are_two_curves(tmp_path: Path) -> None:
    table = "| Size | Latency (us) |\n|---|---|\n| 1 | {} |\n| 2 | 2.50 |\n\n"

    found = read(written(tmp_path, table.format("1.50") + table.format("1.51"), "page.md"))

    assert {*found.samples["table"]} == {"1", "2"}
    assert "lines 1, 6 may be of different systems" in found.warnings[0].message


def test_mpibenchmarks_of_julia_is_read_and_refused_without_units(tmp_path: Path) -> None:
    rows = "".join(f"{2**n},1000,{n + 1}.5e-6,{n + 2}.5e-6,{n + 2}.0e-6\n" for n in range(6))
    names = "size (bytes),iteratons,min_time ({0}),max_time ({0}),avg_time ({0})\n"

    found = read(written(tmp_path, names.format("seconds") + rows, "imb.csv"))

    assert found.samples["time_us"].round(6).tolist() == [2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    assert found.samples["iterations"].tolist() == [1000] * 6
    with pytest.raises(InputError, match="has no column of times or bandwidths with a unit"):
        read(written(tmp_path, "size (bytes),iterations,min_time\n1,1000,2e-6\n", "no.csv"))


def test_a_table_without_its_title_has_the_name_that_the_command_says(tmp_path: Path) -> None:
    rows = "Size Latency (us)\n0 0.52\n1 0.61\n2 0.62\n"

    named = read(written(tmp_path, f"mpirun -np 2 --bind-to core osu_latency\n{rows}"))
    unnamed = read(written(tmp_path, rows, "plain.txt"))

    assert {*named.samples["kernel"]} == {"osu_latency"}
    assert named.warnings == []
    assert "kernel" not in unnamed.samples
    assert "no line names the benchmark: give the label kernel" in unnamed.warnings[0].message


def test_each_statistic_of_a_table_can_be_the_curve(tmp_path: Path) -> None:
    column = "Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations"
    rows = "".join(f"{2**n} {n + 2}.00 {n + 1}.00 {n + 3}.00 100\n" for n in range(4))
    text = OSU.format(title="Allreduce Latency", column=column, rows=rows)
    path = written(tmp_path, text)

    assert times(path)["osu_allreduce", 1] == 2.0
    assert times(path, statistic="min")["osu_allreduce", 1] == 1.0
    [lowest] = {*read_found([Found(path, None, Choices(statistic="max"))]).measurements.samples[
        "statistic"]}  # type: ignore[union-attr]  # fmt: skip
    assert lowest == "max"


def test_commands_above_a_table_say_its_processes_nodes_and_window(tmp_path: Path) -> None:
    allreduce = osu({4: 9.5, 8: 9.6, 16: 9.9}, "Allreduce Latency", "Avg Latency(us)")
    bandwidth = osu({1: 2.5, 2: 5.5, 4: 9.9}, "Bandwidth", "Bandwidth (MB/s)")
    first = "$ mpirun -np 8 --mca pml ucx -x UCX_TLS=rc ./osu_allreduce -i 100 -x 10 -T mpi_float"
    second = "$ srun -N 2 ./osu_bw -W 16 -m 1:4 -d cuda D H"
    text = f"{first}\n{allreduce}{second}\n{bandwidth}"

    samples = read(written(tmp_path, text)).samples.drop_duplicates("kernel").set_index("kernel")

    names = ["processes", "datatype", "settings"]
    settings = "OMPI_MCA_pml=ucx UCX_TLS=rc"
    assert samples.loc["osu_allreduce", names].tolist() == ["8", "MPI_FLOAT", settings]
    names = ["nodes", "window_size", "accelerator", "buffers"]
    assert samples.loc["osu_bw", names].tolist() == ["2", "16", "cuda", "D H"]
    assert {*samples} - {*MEASURES} == {"run_id", "processes", "datatype", "settings", *names}


def test_printed_places_of_buffers_are_named_as_in_commands(tmp_path: Path) -> None:
    places = "# Send Buffer on DEVICE (D) and Receive Buffer on HOST (H)\n"
    text = "# OSU MPI-CUDA Latency Test v5.6\n" + places + "# Size  Latency (us)\n1 1.5\n2 1.6\n"

    assert set(read(written(tmp_path, text)).samples["buffers"]) == {"D H"}


def test_commands_that_are_listed_first_say_nothing(tmp_path: Path) -> None:
    allreduce = osu({4: 9.5, 8: 9.6, 16: 9.9}, "Allreduce Latency", "Avg Latency(us)")
    text = f"mpirun -np 4 ./osu_allreduce\nmpirun -np 8 ./osu_allreduce\n{allreduce}"

    assert "processes" not in read(written(tmp_path, text)).samples


@pytest.mark.parametrize(("factor", "told"), [(1.1, False), (20.0, True)])
def test_runs_that_differ_by_more_than_launches_do_are_other_curves(
    switchpoint: Run, tmp_path: Path, factor: float, told: bool
) -> None:
    for number, scale in enumerate((1.0, factor)):
        rows = {2**n: scale * (100 + n + number / 9) for n in range(2, 14)}
        text = osu(rows, "Allreduce Latency", "Avg Latency(us)")
        written(tmp_path, text, f"nodes-{number}.txt")

    result = switchpoint("detect", tmp_path, "--all")

    warning = "osu_allreduce: 2 runs of an unknown number of processes have the same names"
    assert (warning in result.output) == told
    found = read_files([tmp_path]).measurements
    assert found is not None
    warned = any(warning in str(line) for line in found.warnings)
    assert ("series" in found.samples) == told == warned


def test_runs_of_several_days_are_history_not_other_curves(
    switchpoint: Run, tmp_path: Path
) -> None:
    for day, scale in ((1, 1.0), (2, 5.0)):
        text = osu({2**n: scale * (n + 1) for n in range(12)})
        label = f'# switchpoint: {{"start_utc": "2026-05-0{day}"}}\n'
        written(tmp_path, label + text, f"{day}.txt")

    assert "have the same names" not in switchpoint("detect", tmp_path).output


def test_near_misses_are_counted_with_what_they_lack(switchpoint: Run, tmp_path: Path) -> None:
    for name in ("a", "b"):
        written(tmp_path / "in", "X.bytes,t\n1,2\n", f"{name}.csv")
    written(tmp_path / "in", "[ ID] Interval           Transfer\n", "iperf.txt")
    written(tmp_path / "in", "".join(f"{2**n} {n}.50\n" for n in range(9)), "numbers.txt")
    written(tmp_path / "in", "hello\n", "notes.txt")

    lines = switchpoint("import", tmp_path / "in", "--store", tmp_path / "s").stderr.splitlines()

    assert [line.removeprefix("switchpoint: skipped: ")[:40] for line in lines] == [
        "2 files look like CSV of messages: it ha",
        "1 file looks like iperf's output: it has",
        "1 file looks like tables of message size",
        "1 file that is not a result (.txt)",
    ]
    assert "time_us=NAME" in lines[0]


@pytest.mark.parametrize(
    "dressed",
    [
        "2026-05-04T10:11:12.123456Z 01O {}".format,
        "2026-05-04T10:11:12.1234567Z {}".format,
        "\x1b[0;32m{}\x1b[0m".format,
        "> {}".format,
        "0: {}".format,
        lambda line: "\t".join(re.split(r"\s{2,}", line)),
    ],
    ids=["GitLab", "GitHub", "colours", "mail", "srun -l", "tabs"],
)
def test_lines_in_the_dress_of_a_log_are_read(
    tmp_path: Path, dressed: Callable[[str], str]
) -> None:
    times = {2**n: 1.5 + n / 4 for n in range(12)}
    lines = [dressed(line) for line in osu(times).splitlines()]

    found = read(written(tmp_path, "\n".join([*lines, ""])))

    assert dict(zip(found.samples["size_bytes"], found.samples["time_us"], strict=True)) == times
    assert set(found.samples["kernel"]) == {"osu_latency"}


@pytest.mark.parametrize(
    ("heading", "column", "time_us"),
    [
        ("bytes,latency_ms", "time_us=latency_ms", 2000.0),
        ("bytes,duration_ms", "time_us=duration_ms", 2000.0),
        ("bytes,bandwidth_gbps", "bandwidth_MBps=bandwidth_gbps", None),
        ("bytes,bandwidth_gbps", "bandwidth_Gbps=bandwidth_gbps", 8 / 250),
        ("size_kb,time_us", "size_bytes=size_kb", None),
        ("elements,time_us", "size_bytes=elements", 2.0),
        ("n_elements,time_us", "size_bytes=n_elements", None),
    ],
)
def test_a_chosen_column_keeps_the_unit_in_its_name(
    switchpoint: Run, tmp_path: Path, heading: str, column: str, time_us: float | None
) -> None:
    path = written(tmp_path, f"{heading}\n8,2.0\n16,3.0\n32,5.0\n", "a.csv")

    result = switchpoint("import", path, "--column", column, "--store", tmp_path / "s")

    if time_us is None:
        assert "whose unit is not that of" in result.stderr
    else:
        assert Store(tmp_path / "s").read().samples["time_us"].iloc[0] == time_us


def test_several_imports_of_a_file_keep_each_statistic(switchpoint: Run, tmp_path: Path) -> None:
    heading = "# Size  Avg Latency(us)  Min Latency(us)  Max Latency(us)  Iterations\n"
    rows = "".join(f"{2**n} {n + 3}.25 {n + 2}.25 {n + 6}.25 1000\n" for n in range(8))
    path = written(tmp_path, "# OSU MPI Allreduce Latency Test v7.2\n" + heading + rows)
    store = tmp_path / "s"

    for chosen in ("avg", "min", "max", "min"):
        switchpoint("import", path, "--statistic", chosen, "--store", store)

    samples = Store(store).read().samples
    first = samples[samples["size_bytes"] == 1].set_index("statistic")["time_us"]
    assert first[first.index.notna()].to_dict() == {"min": 2.25, "max": 6.25}
    assert first[first.index.isna()].tolist() == [3.25]


def test_a_sentence_with_commas_is_no_csv(switchpoint: Run, tmp_path: Path) -> None:
    path = written(tmp_path, "We measured latency, bandwidth, and others.\n1, 2, 3\n" * 2)
    prose = written(tmp_path, "The latency, as osu_latency prints it\nis low.\n", "b.txt")

    result = switchpoint("import", path, prose, "--store", tmp_path / "s")

    assert "b.txt: is not recognised" in result.stderr


#: As HPCC prints them, with numbers of our own.
HPCC_DETAILS = """Begin of LatencyBandwidth section.
Latency-Bandwidth-Benchmark R1.5.1 (c) HLRS, University of Stuttgart
Message Length: 8
Latency   min / avg / max:   0.009000 /   0.009000 /   0.009000 msecs
Bandwidth min / avg / max:      0.889 /      0.889 /      0.889 MByte/s
Detailed benchmark results:
Ping Pong:
Latency   min / avg / max:   0.001500 /   0.002500 /   0.004500 msecs
Bandwidth min / avg / max:   1000.000 /   4000.000 /   8000.000 MByte/s
Ring:
On naturally ordered ring: latency=      0.003500 msec, bandwidth=   2000.000000 MB/s
On randomly  ordered ring: latency=      0.005500 msec, bandwidth=    500.000000 MB/s
 The ring communication was done in both directions on 16 processes
End of LatencyBandwidth section.
"""
HPCC_SUMMARY = """Begin of Summary section.
CommWorldProcs=16
MaxPingPongLatency_usec=4.51234
RandomlyOrderedRingLatency_usec=5.51234
MinPingPongBandwidth_GBytes=1
NaturallyOrderedRingBandwidth_GBytes=2
RandomlyOrderedRingBandwidth_GBytes=0.5
MinPingPongLatency_usec=1.51234
AvgPingPongLatency_usec=2.51234
MaxPingPongBandwidth_GBytes=8
AvgPingPongBandwidth_GBytes=4
NaturallyOrderedRingLatency_usec=3.51234
End of Summary section.
"""


def hpcc_times(found: Measurements) -> dict[str, dict[int, float]]:
    """Return the times of each curve, without its last digits."""
    names = found.samples[["kernel", *({"mode"} & {*found.samples})]].astype(object).fillna("")
    curve = names.agg(" ".join, axis=1).str.strip()
    return {
        str(name): table.set_index("size_bytes")["time_us"].round(1).to_dict()
        for name, table in found.samples.groupby(curve)
    }


@pytest.mark.parametrize(
    "text", [HPCC_DETAILS, HPCC_SUMMARY, HPCC_DETAILS + HPCC_SUMMARY, HPCC_SUMMARY * 2]
)
def test_hpccs_latencies_and_bandwidths_are_two_points_of_a_curve(
    tmp_path: Path, text: str
) -> None:
    found = read(written(tmp_path, text, "hpccoutf.txt"))

    assert hpcc_times(found) == {
        "hpcc_pingpong": {8: 2.5, 2_000_000: 500.0},
        "hpcc_ring natural": {8: 3.5, 2_000_000: 1000.0},
        "hpcc_ring random": {8: 5.5, 2_000_000: 4000.0},
    }
    assert set(found.samples["processes"]) == {"16"}
    assert set(found.samples["pass"]) == ({0, 1} if text == HPCC_SUMMARY * 2 else {0})


def test_hpccs_largest_bandwidth_is_of_the_shortest_time(tmp_path: Path) -> None:
    path = written(tmp_path, HPCC_SUMMARY, "hpccoutf.txt")
    found = read_found([Found(path, None, Choices(statistic="min"))]).measurements

    assert found is not None
    assert hpcc_times(found) == {"hpcc_pingpong": {8: 1.5, 2_000_000: 250.0}}


def test_a_cut_of_hpccs_output_changes_no_number(tmp_path: Path) -> None:
    text = HPCC_DETAILS + HPCC_SUMMARY
    whole = hpcc_times(read(written(tmp_path, text)))
    for end in range(HPCC_DETAILS.index("Detailed"), len(text), 5):
        try:
            found = hpcc_times(read(written(tmp_path, text[:end])))
        except InputError:
            continue
        for curve, times in found.items():
            assert times.items() <= whole[curve].items()


def test_patterns_are_proposed_from_the_tree(switchpoint: Run, tmp_path: Path) -> None:
    for site in ("alpha", "beta"):
        for fabric in ("ib", "eth"):
            written(tmp_path / site / fabric / "OMPI4", osu({1: 1.5, 2: 2.5}))

    result = switchpoint("import", "--suggest", tmp_path)

    assert f"switchpoint import {tmp_path} --path '{{site}}/{{fabric}}/{{mpi}}/'" in result.stdout
    assert "{fabric} = eth, ib" in result.stdout


def test_no_pattern_without_names_is_proposed(switchpoint: Run, tmp_path: Path) -> None:
    """As for the curves that a report keeps in its folder."""
    (tmp_path / "report/data").mkdir(parents=True)
    written(tmp_path / "report/data", osu({1: 1.5, 2: 2.5}))

    result = switchpoint("import", "--suggest", tmp_path)

    assert result.exit_code == 2
    assert "has no result in a folder that needs a name" in result.stderr


def test_days_come_from_the_output_or_the_file_if_they_are_wanted(tmp_path: Path) -> None:
    stamped = written(tmp_path, "# Date  : Thu Jan 10 12:34:56 2019\n" + osu({1: 1.5, 2: 2.5}))
    plain = written(tmp_path, osu({1: 1.6, 2: 2.5}), "plain.txt")
    os.utime(plain, (1.6e9, 1.6e9))

    found = read_found([Found(path, None, Choices(dates=True)) for path in (stamped, plain)])

    assert found.measurements is not None
    assert found.measurements.runs["date"].tolist() == ["2019-01-10", "2020-09-13"]
    assert read(plain).runs["date"].tolist() == [None]
