"""Files are recognised by content; tidy CSV of any shape becomes curves, or one clear error."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest
from conftest import write_record
from switchpoint import InputError, Store, import_files, read, read_files, summarise
from switchpoint.tables.columns import identity_columns

#: Printed by OSU 5.3 to 7.4 (Open MPI; 7.1 and persistent collectives MPICH), IMB 2021.10 and .11
#: (Intel MPI) and NetPIPE 3 (Open MPI), with few repetitions; most are cut to some rows.
OUTPUTS = Path(__file__).parent / "outputs"


def written(tmp_path: Path, text: str, name: str = "curves.csv") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_every_other_column_is_part_of_the_curves_identity(tmp_path: Path) -> None:
    path = written(tmp_path, "net,size_bytes,time_us,rep,nodes\nib,8,1.5,0,2\nib,8,1.7,1,2\n")

    samples = read(path).samples

    assert identity_columns(samples) == ["run_id", "net", "nodes"]
    assert samples["nodes"].tolist() == ["2", "2"]
    assert samples["pass"].tolist() == [0, 1]
    assert samples["time_us"].tolist() == [1.5, 1.7]


def test_bandwidth_becomes_time(tmp_path: Path) -> None:
    samples = read(written(tmp_path, "size_bytes,bandwidth_MBps\n1000,500\n")).samples

    assert samples["time_us"].tolist() == [2.0]


def test_time_counts_where_both_are_given(tmp_path: Path) -> None:
    samples = read(written(tmp_path, "size_bytes,bandwidth_MBps,time_us\n1000,1,3\n")).samples

    assert samples["time_us"].tolist() == [3.0]
    assert identity_columns(samples) == ["run_id"]


def test_repeats_without_a_rep_column_are_samples_of_one_point(tmp_path: Path) -> None:
    samples = read(written(tmp_path, "size_bytes,time_us\n8,1\n8,2\n8,3\n")).samples

    assert samples["sample"].tolist() == [0, 1, 2]


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_spreadsheets_exports_are_read(tmp_path: Path, line_end: str) -> None:
    text = line_end.join(['"size_bytes", "time_us"', " 8 , 1.5 ", "", "16,2"]) + line_end
    path = tmp_path / "x.csv"
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())

    assert read(path).samples["size_bytes"].tolist() == [8, 16]


def test_rows_without_a_time_are_left_out_with_a_warning(tmp_path: Path) -> None:
    found = read(written(tmp_path, "size_bytes,time_us\n8,1\n16,\n32,NaN\n64,2\n"))

    assert found.samples["size_bytes"].tolist() == [8, 64]
    assert "lines 3 and 4: no time_us: the row is skipped" in found.warnings[0].message


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "size_bytes\n8\n",
            "line 1: has no column of times or bandwidths with a unit among size_bytes;"
            " say which it is: --column time_us=NAME",
        ),
        (
            "n,time_us\n8,1\n",
            "line 1: has no column of message sizes in bytes among n, time_us;"
            " say which it is: --column size_bytes=NAME",
        ),
        ("size_bytes,time_us\n", "has no rows with time_us"),
        ("size_bytes,time_us\n8,NaN\n", "has no rows with time_us"),
        ("size_bytes,time_us,time_us\n8,1,1\n", "line 1: has column 'time_us' twice"),
        ("size_bytes,time_us,\n8,1,1\n", "line 1: has no name for column 3"),
        (
            "size_bytes,time_us,count\n8,1,5\n",
            "line 1: has column 'count', which is a reserved name",
        ),
        ("size_bytes,time_us\n8,1\n16,-2\n", "line 3: time_us is -2"),
        ("size_bytes,time_us\n8,0\n", "line 2: time_us is 0"),
        ("size_bytes,time_us\n8,inf\n", "line 2: time_us is inf"),
        ("size_bytes,time_us\n8,quick\n", "line 2: time_us is 'quick', not a number"),
        ("size_bytes,time_us\n8,1\n64Q,1\n", "line 3: size_bytes is '64Q', not a number"),
        ("size_bytes;time_us\n8;1,500\n", "line 2: time_us is '1,500', which may be a thousand"),
        ("size_bytes,time_us\n,1\n", "line 2: size_bytes is ''"),
        ("size_bytes,time_us\n8.5,1\n", "line 2: size_bytes is 8.5"),
        ("size_bytes,time_us\n-8,1\n", "line 2: size_bytes is -8"),
        ("size_bytes,bandwidth_MBps\n0,1\n", "line 2: size_bytes is 0"),
        (
            "size (bytes),latency\n8,1\n",
            "looks like CSV of messages: it has no column of times or bandwidths",
        ),
        ("size_bytes,time_us\n8,1,5\n", "line 2: has more than 2 fields"),
        ("size_bytes,time_us\n8,1,3,4\n16,2\n", "line 2: has more than 2 fields"),
        ('size_bytes,time_us\n8,1\n"16,2\n32,3\n', "line 3: has a quotation mark that is never"),
    ],
)
@pytest.mark.filterwarnings("error")  # the reader's own words would come before ours
def test_a_value_that_cannot_be_is_named_with_its_line(
    tmp_path: Path, text: str, problem: str
) -> None:
    path = written(tmp_path, text)

    with pytest.raises(InputError) as caught:
        read(path)

    assert str(caught.value).startswith(str(path))
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=repr)
def test_lines_may_end_as_any_system_ends_them(tmp_path: Path, end: str) -> None:
    path = tmp_path / "curves.csv"
    path.write_bytes(end.join(["size_bytes,time_us", "8,1", "16,2", ""]).encode())

    assert read(path).samples["time_us"].tolist() == [1, 2]


def test_a_log_with_carriage_returns_is_not_recognised(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not recognised"):
        read(written(tmp_path, '10 %\r"20 %\rdone\n', "progress.log"))


def test_utf_16_is_named_as_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "curves.csv"
    path.write_text("size_bytes,time_us\n8,1\n", encoding="utf-16")

    with pytest.raises(InputError, match="is UTF-16 text; save it as UTF-8"):
        read(path)


def test_a_negative_time_of_osu_is_left_out_with_a_warning(tmp_path: Path) -> None:
    title = "# OSU MPI Latency Test v7.2\n# Size          Latency (us)\n"
    found = read(written(tmp_path, title + "1 -1.00\n2 1.00\n", "osu.txt"))

    assert found.samples["size_bytes"].tolist() == [2]
    [warning] = found.warnings
    assert "osu_latency: line 3: no usable Latency (us): the row is skipped" in warning.message


def test_netpipe_output_is_recognised_by_content(tmp_path: Path) -> None:
    path = written(tmp_path, "       1 12.500000   0.00000061\n    1024 8000.000000   0.00000100\n")

    found = read(path)

    assert found.runs["format"].tolist() == ["netpipe"]
    assert found.samples["size_bytes"].tolist() == [1, 1024]
    assert found.samples["time_us"].tolist() == pytest.approx([0.61, 1.0], rel=0.05)


def test_netpipes_short_times_are_read_from_its_rates_which_have_more_digits() -> None:
    found = read(OUTPUTS / "netpipe.out")

    assert found.samples["size_bytes"].tolist() == [1, 2, 3, 4, 65533, 65536, 65539]
    assert found.samples["time_us"].iloc[0] == pytest.approx(8e6 / (49.376639 * 2**20))
    assert found.samples["time_us"].iloc[-1] == pytest.approx(50.34, rel=1e-3)


def test_what_netpipe_prints_is_read_too() -> None:
    found = read(OUTPUTS / "netpipe-printed.txt")

    assert found.samples["size_bytes"].tolist() == [2, 3, 49152, 65536]
    assert found.samples["time_us"].tolist() == pytest.approx([1.11, 1.18, 34.63, 44.83], rel=1e-2)
    assert found.samples["iterations"].tolist() == [82163, 89846, 1983, 962]
    [warning] = found.warnings  # where it spoke between
    assert "line 9: '0:       1 bytes 165130 times --> Using ' is no whole row" in warning.message


@pytest.mark.parametrize("work", ["", "    12.34 GFlops"])
def test_netpipe_5_is_read(tmp_path: Path, work: str) -> None:
    row = f"{{:9d}} {{:9.3f}} {2.1:9.3f} {4.2:9.3f} {0.24:7.2f}{work}\n"

    found = read(written(tmp_path, row.format(64, 2.133) + row.format(128, 4.266), "np.out"))

    assert found.samples["time_us"].tolist() == pytest.approx([64 * 8e-3 / 2.133] * 2)
    assert found.samples["size_bytes"].tolist() == [64, 128]


def test_netpipe_without_times_is_named(tmp_path: Path) -> None:
    text = "  0:       5 bytes 280790 times -->  Integrity check passed\n"

    with pytest.raises(InputError, match="no times of NetPIPE at exact sizes"):
        read(written(tmp_path, text))


def test_gzipped_files_are_recognised(tmp_path: Path) -> None:
    path = tmp_path / "curves.csv.gz"
    path.write_bytes(gzip.compress(b"size_bytes,time_us\n8,1\n"))

    assert read(path).samples["size_bytes"].tolist() == [8]


def test_bad_files_are_listed_and_the_rest_is_read(tmp_path: Path) -> None:
    record = write_record(tmp_path / "run.record")
    table = written(tmp_path, "size_bytes,time_us\n8,1\n")
    prose = written(tmp_path, "Dear reader,\n", "letter.txt")
    binary = tmp_path / "program"
    binary.write_bytes(b"\x7fELF\0\0")

    gathered = read_files([record, prose, table, binary, tmp_path / "none"])

    assert sorted(gathered.measurements.runs["format"]) == ["record", "tidy"]
    assert [str(failure).split(": ")[0] for failure in gathered.failures] == [
        str(path) for path in (prose, binary, tmp_path / "none")
    ]
    assert "is not recognised; known are run records" in str(gathered.failures[0])


def test_a_run_given_twice_counts_once(tmp_path: Path) -> None:
    record = write_record(tmp_path / "run.record")
    copy = tmp_path / "copy.record"
    copy.write_bytes(record.read_bytes())

    gathered = read_files([record, copy])

    assert len(gathered.measurements.samples) == len(read(record).samples)


def test_curves_come_in_the_same_order_whatever_the_shuffle(tmp_path: Path) -> None:
    path = write_record(tmp_path / "run.record", sizes=[8])
    lines = path.read_text().splitlines()
    last = lines[-2].replace("send", "bcast")
    path.write_text("\n".join([*lines[:-2], last, lines[-1]]) + "\n")

    assert summarise(read(path))["mode"].tolist() == ["bcast", "send"]


def test_a_record_tells_its_curve(tmp_path: Path) -> None:
    labels = {"site": "here", "partition": "batch", "environ": "gnu", "placement": "one_node"}
    samples = read(write_record(tmp_path / "run.record", labels=labels)).samples

    first = samples.iloc[0]
    assert [first[name] for name in ("site", "partition", "mpi", "environ", "kernel")] == [
        "here", "batch", "Open MPI 4.1.4", "gnu", "pingpong",
    ]  # fmt: skip
    assert (first["placement"], first["mode"]) == ("one_node", "send")


def test_a_folder_is_walked_and_what_is_no_result_is_left_out(tmp_path: Path) -> None:
    deep = tmp_path / "testbed" / "openmpi" / "Osu"
    deep.mkdir(parents=True)
    shutil.copy(OUTPUTS / "osu-bw.txt", deep / "rfm_job.out")
    (deep / "rfm_job.err").touch()
    (deep / ".hidden").write_text("no result")

    gathered = read_files([tmp_path])

    assert gathered.measurements.runs["kernel"].tolist() == ["osu_bw"]
    assert [str(failure) for failure in gathered.failures] == [
        f"{deep / 'rfm_job.err'}: is empty; measure again, or remove it"
    ]


def test_a_store_in_place_of_files_is_named_with_the_option_for_it(tmp_path: Path) -> None:
    curve = written(tmp_path, "size_bytes,time_us\n8,1\n")
    import_files([curve], Store(tmp_path / "results"))

    store = tmp_path / "results"
    [failure] = read_files([store]).failures
    assert str(failure) == f"{store}: is a store; give it with --store {store}"
    gathered = read_files([tmp_path])
    assert gathered.measurements is not None and len(gathered.measurements.samples) == 1
    [failure] = gathered.failures
    assert "is a store" in str(failure)


@pytest.mark.parametrize("kept", ["run.record", "osu_latency.out"])
def test_what_a_job_printed_is_no_measurement_where_its_check_kept_the_curve(
    tmp_path: Path, kept: str
) -> None:
    """As OSU's verification of payloads, with one iteration, before the measurement."""
    curve = '# switchpoint: {"site": "here"}\n' + (OUTPUTS / "osu-latency.txt").read_text()
    if kept.endswith(".record"):
        write_record(tmp_path / kept)
    else:
        (tmp_path / kept).write_text(curve)
    for name in ("rfm_job.out", "rfm_build.out"):
        shutil.copy(OUTPUTS / "osu-bw.txt", tmp_path / name)
    (tmp_path / "rfm_job.sh").write_text("#!/bin/sh\n")

    gathered = read_files([tmp_path])

    assert [Path(source).name for source in gathered.measurements.runs["source"]] == [kept]
    assert gathered.failures == []


@pytest.mark.parametrize("name", ["reframe-variables.log", "reframe-report.json.gz"])
def test_reframe_variables_named_after_sizes_make_a_curve(name: str) -> None:
    found = read(OUTPUTS / name)
    samples = found.samples[found.samples["kernel"] == "Latency"]

    assert set(found.runs["format"]) == {"reframe"}
    assert set(samples["mode"]) == {"latency"}
    assert set(samples["size_bytes"]) == {2**power for power in range(21)}
    assert samples.loc[samples["size_bytes"] == 65536, "time_us"].iloc[0] == 30.6608
    assert samples[["site", "partition", "environ"]].iloc[0].tolist() == [
        "generic", "default", "builtin"
    ]  # fmt: skip
    [warning] = found.warnings
    assert "ends of latency_1, latency_2 and 19 more are taken for message sizes" in warning.message
    values = found.single_values
    assert set(zip(values["variable"], values["value"], values["unit"], strict=True)) == {
        ("startup", 1.0, "s")
    }


def test_reframe_tests_with_a_message_size_make_a_curve_of_each_other_parameter() -> None:
    samples = read(OUTPUTS / "reframe-sizes.log.h0").samples
    curves = samples.groupby("buffers", observed=True)

    assert set(curves.groups) == {"host", "device"}
    for _, curve in curves:
        assert sorted(set(curve["size_bytes"])) == [2**power for power in range(3, 12)]
        assert curve["run_id"].nunique() == 2  # sessions
        assert set(curve["pass"]) == {0}
    assert samples["time_us"].iloc[0] == pytest.approx(2.0024)  # from GB/s


@pytest.mark.parametrize(
    ("variables", "sizes"),
    [
        ("bw_64KiB", [65536]),
        ("bw_4MB bw_1K", [2**22, 1024]),
        ("latency_8B", [8]),
        ("lat_8 lat_16 lat_32", [8, 16, 32]),
        ("nodes_2", None),  # a bare number alone may be anything
        ("time_nodes_2 time_nodes_4 time_nodes_8", None),  # what is counted is said
        ("copy_1 copy_2 copy_3", None),  # numbered
        ("latency", None),
    ],
)
def test_sizes_are_read_from_names_that_can_mean_nothing_else(
    tmp_path: Path, variables: str, sizes: list[int] | None
) -> None:
    names = variables.split()
    heading = "|".join(f"{name}_value|{name}_unit" for name in names)
    row = "|".join(["1|us"] * len(names))
    log = f"result|job_completion_time|name|{heading}\npass|now|Test|{row}\n"
    path = written(tmp_path, log, "Test.log")

    if sizes is None:
        found = read(path)
        assert found.samples.empty
        assert found.single_values["variable"].tolist() == names
        assert set(found.single_values["test"]) == {"Test"}
    else:
        assert read(path).samples["size_bytes"].tolist() == sizes


def test_a_damaged_run_report_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, '{\n "session_info": {\n "version": "4.10.4"}}', "report.json")

    with pytest.raises(InputError, match="is a damaged run report"):
        read(path)


def points(path: Path) -> dict[str, dict[int, float]]:
    """Times by size for each kernel of a file."""
    samples = read(path).samples
    return {
        str(kernel): dict(zip(part["size_bytes"], part["time_us"], strict=True))
        for kernel, part in samples.groupby("kernel", observed=True)
    }


@pytest.mark.parametrize(
    ("name", "kernel", "size", "time_us"),
    [
        ("osu-latency.txt", "osu_latency", 65536, 7.21),
        ("osu-latency-c.txt", "osu_latency", 4096, 2.25),
        ("osu-tail.txt", "osu_latency", 1024, 0.26),
        ("osu-multi-lat.txt", "osu_multi_lat", 4096, 2.43),
        ("osu-bw.txt", "osu_bw", 65536, 65536 / 2398.01),
        ("osu-bibw.txt", "osu_bibw", 65536, 65536 / 19966.34),
        ("osu-mbw-mr.txt", "osu_mbw_mr", 4096, 4096 / 1614.34),
        ("osu-alltoall.txt", "osu_alltoall", 4096, 3.96),
        ("osu-ibcast.txt", "osu_ibcast", 4096, 5.61),
        ("osu-barrier.txt", "osu_barrier", 0, 4589.52),
    ],
)
def test_osu_output_becomes_a_curve(name: str, kernel: str, size: int, time_us: float) -> None:
    [(found, curve)] = points(OUTPUTS / name).items()

    assert found == kernel
    assert curve[size] == pytest.approx(time_us, rel=1e-6)
    assert read(OUTPUTS / name).runs["tool"].tolist() == ["OSU Micro-Benchmarks 7.4"]


@pytest.mark.parametrize(
    ("name", "curve", "size", "time_us"),
    [
        ("osu-5.3.2.txt", "osu_bcast", 4096, 2.81),
        ("osu-5.3.2.txt", "osu_ialltoallv", 64, 3.27),
        ("osu-5.3.2.txt", "osu_ibarrier", 0, 2.60),  # its heading has no number sign
        ("osu-5.3.2.txt", "osu_mbw_mr pairs=2 window_size=8", 65536, 65536 / 7407.87),
        ("osu-5.3.2.txt", "osu_mbw_mr pairs=2 window_size=128", 1, 1 / 3.04),
        (
            "osu-5.3.2.txt",
            "osu_get_acc_latency window_creation=MPI_Win_allocate synchronization=MPI_Win_flush",
            65536,
            3.37,
        ),
        ("osu-6.2.txt", "osu_latency_mt sender_threads=1 receiver_threads=2", 4096, 2.96),
        ("osu-6.2.txt", "osu_latency_mp sender_processes=2 receiver_processes=2", 64, 0.17),
        ("osu-6.2.txt", "osu_latency", 4096, 2.94),
        ("osu-6.2.txt", "osu_ireduce", 4096, 6.60),
        ("osu-7.1.txt", "osu_latency", 64, 0.27),
        ("osu-7.1.txt", "osu_barrier", 0, 1.47),  # has no heading
        ("osu-7.1.txt", "osu_bw_persistent", 4096, 4096 / 6773.66),
        ("osu-7.4-options.txt", "osu_latency", 4096, 2.90),
        ("osu-7.4-options.txt", "osu_latency datatype=MPI_INT", 4096, 4.11),
        ("osu-7.4-options.txt", "osu_latency datatype=MPI_FLOAT", 64, 0.22),
        # 8192 B are sent of each 4096 that are counted; 173266 messages a second agree.
        (
            "osu-7.4-options.txt",
            "osu_mbw_mr pairs=1 window_size=64 layout=derived",
            8192,
            8192 / 1419.40,
        ),
        ("osu-7.4-options.txt", "osu_mbw_mr pairs=2 window_size=64", 4096, 4096 / 2850.49),
        ("osu-7.4-options.txt", "osu_mbw_mr pairs=1 window_size=64", 64, 64 / 720.82),
        ("osu-7.4-options.txt", "osu_multi_lat", 65536, 9.97),  # without the percentiles' columns
        (
            "osu-7.4-options.txt",
            "osu_put_latency window_creation=MPI_Win_create synchronization=MPI_Win_lock/unlock",
            4096,
            1.82,
        ),
        ("osu-7.4-options.txt", "osu_bcast_persistent", 4096, 5.55),
        ("osu-7.4-options.txt", "osu_ineighbor_alltoall", 1, 11.46),
        ("osu-tagged.txt", "osu_multi_lat", 4096, 5.00),
        ("imb-multi.txt", "imb_multi_pingpong processes=2 groups=2 group=1", 0, 3.57),
        ("imb-multi.txt", "imb_multi_uniband processes=2 groups=2 group=0", 4096, 1e6 / 846250),
        ("imb-multi.txt", "imb_multi_barrier processes=2 groups=2 group=1", 0, 7.58),
        ("imb-multi.txt", "imb_sendrecv processes=4", 4096, 10.66),
        ("imb-rma.txt", "imb_unidir_put processes=2 mode=aggregate", 64, 0.51),
        ("imb-rma.txt", "imb_unidir_put processes=2 mode=non-aggregate", 64, 0.98),
    ],
)
def test_what_options_print_becomes_curves_of_their_own(
    name: str, curve: str, size: int, time_us: float
) -> None:
    found = read(OUTPUTS / name)
    samples = found.samples[found.samples["size_bytes"] == size]
    kernel, *facts = curve.split()
    wanted = {"kernel": kernel} | dict(fact.split("=") for fact in facts)
    of_curve = samples[identity_columns(samples)].drop(columns="run_id")
    alike = [row[row.notna()].to_dict() == wanted for _, row in of_curve.iterrows()]

    assert samples.loc[alike, "time_us"].tolist() == [pytest.approx(time_us, rel=1e-6)]
    assert found.warnings == []


def test_start_up_tests_are_named_as_such() -> None:
    with pytest.raises(
        InputError, match="contains osu_hello_world, osu_init, which times no messa"
    ):
        read(OUTPUTS / "osu-startup.txt")


@pytest.mark.parametrize(
    "tag", ["0: ", "[0] ", "[1,0]<stdout>:", "[prterun-a-1,0]<stdout>: ", "  "]
)
def test_what_launchers_put_before_each_line_is_left_out(tmp_path: Path, tag: str) -> None:
    lines = (OUTPUTS / "osu-latency.txt").read_text().splitlines()
    path = written(tmp_path, "".join(f"{tag}{line}\n" for line in lines))

    assert points(path) == points(OUTPUTS / "osu-latency.txt")


@pytest.mark.parametrize("reason", ["out-of-mem.; needed X=   2.000 GB;", "time-out.; Time limit"])
def test_sizes_that_imb_gave_up_are_counted(tmp_path: Path, reason: str) -> None:
    title = "# Benchmarking PingPong\n# #processes = 2\n#bytes #repetitions t[usec] Mbytes/sec\n"

    found = read(written(tmp_path, f"{title} 8 10 1.50 5.33\n 4194304 {reason}\n"))

    assert found.samples["size_bytes"].tolist() == [8]
    [warning] = found.warnings
    why = reason.partition(".")[0]
    assert f"imb_pingpong: line 5: the benchmark gave up this size ({why})" in warning.message


@pytest.mark.parametrize(
    ("title", "kernel"),
    [
        ("OSU MPI-CUDA Bi-Directional Bandwidth Test v5.6.3", "osu_bibw"),
        ("OSU MPI Broadcast Latency Test v5.9", "osu_bcast"),
        ("OSU MPI Non-blocking All-to-All Latency Test v7.3", "osu_ialltoall"),
        ("OSU MPI All-to-Allv Personalized Exchange Latency Test v6.2", "osu_alltoallv"),
        ("OSU MPI_Put Latency Test v7.4", "osu_put_latency"),
        ("OSU MPI Multi-threaded Latency Test v5.3.2", "osu_latency_mt"),
        ("OSU MPI_Put-CUDA Bi-directional Bandwidth Test v7.0", "osu_put_bibw"),
        ("OSU MPI_Compare_and_swap latency Test v5.9", "osu_cas_latency"),
        ("OSU MPI Latency Test Persistent v7.5", "osu_latency_persistent"),
        ("OSU MPI Latency Test Test v7.5", "osu_latency"),
        ("OSU MPI Partitioned Latency Test v7.5", "osu_partitioned_latency"),
    ],
)
def test_osu_titles_name_the_program(tmp_path: Path, title: str, kernel: str) -> None:
    metric = "Bandwidth (MB/s)" if "bandwidth" in title.lower() else "Latency (us)"
    text = f"# {title}\n# Size          {metric}\n1                       1.0\n"

    assert points(written(tmp_path, text)) == {kernel: {1: 1.0}}


def test_osu_tables_among_a_jobs_other_words_are_found(tmp_path: Path) -> None:
    table = "# OSU MPI Latency Test v5.6.3\n# Size          Latency (us)\n8      {}\n16     {}\n"
    text = (
        "[node1:12] WARNING: 8 somethings went 1.5 times\n"
        + table.format(1.5, 1.7)
        + "mpiexec: all is well\n"
        + table.format(1.6, 1.8)
    )

    samples = read(written(tmp_path, text)).samples

    assert samples["time_us"].tolist() == [1.5, 1.7, 1.6, 1.8]
    assert samples["pass"].tolist() == [0, 0, 1, 1]


def test_another_tools_table_is_no_part_of_osus(tmp_path: Path) -> None:
    osu = "# OSU MPI Latency Test v7.4\n# Size       Avg Latency(us)\n1    1.5\n"
    imb = "# Benchmarking PingPong\n #bytes #repetitions t[usec] Mbytes/sec\n 8 10 1.50 5.33\n"

    assert points(written(tmp_path, osu + imb)) == {"osu_latency": {1: 1.5}}


def test_rows_that_cannot_be_used_are_left_out_with_a_warning(tmp_path: Path) -> None:
    text = (
        "# OSU MPI Latency Test v7.4\n# Size       Avg Latency(us)        Validation\n"
        "1    1.0    Pass\n2    2.0    Fail\n4    nan    Pass\n8    1."
    )
    path = written(tmp_path, text)

    found = read(path)

    assert found.samples["size_bytes"].tolist() == [1, 2]
    assert [(warning.place, warning.message) for warning in found.warnings] == [
        (str(path), f"osu_latency: {what}")
        for what in (
            "line 6: 2 values under 3 names: the row is skipped",
            "line 5: no usable Avg Latency(us): the row is skipped; write decimals with a point",
            "line 4: the payload arrived damaged; do not trust this time",
        )
    ]


@pytest.mark.parametrize(
    ("heading", "row"),
    [
        ("# OSU MPI Latency Test v7.4\n# Size       Avg Latency(us)\n", "{size} {time}\n"),
        ("# Benchmarking PingPong\n#bytes #repetitions t[usec]\n", "{size} 1000 {time}\n"),
    ],
)
def test_rows_in_another_notation_are_counted_as_left_out(
    tmp_path: Path, heading: str, row: str
) -> None:
    good = row.format(size="8", time="1.5")
    bad = [("16", "0,16"), ("0x20", "1.5"), ("1,024", "2.5")]

    rows = "".join(row.format(size=size, time=time) for size, time in bad)
    found = read(written(tmp_path, heading + good + rows + "10 warnings, 2 notes\n"))

    assert found.samples["size_bytes"].tolist() == [8]
    [warning] = found.warnings
    assert "lines 4, 5 and 6: no usable" in warning.message

    with pytest.raises(InputError, match=r"line 3: no usable .* write decimals with a point"):
        read(written(tmp_path, heading + rows))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("# OSU MPI Latency Test v7.4\n", "contains the heading of a table but no results"),
        ("# Benchmarking PingPong\n#bytes #repetitions t[usec]\n", "but no results"),
        (
            "# Benchmarking PingPong\n#bytes #repetitions t[sec]\n 0 1 1\n",
            "line 3: no known column",
        ),
    ],
)
def test_a_benchmark_that_did_not_run_is_named(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        read(written(tmp_path, text))


def test_every_table_of_imb_becomes_a_run(tmp_path: Path) -> None:
    found = read(OUTPUTS / "imb-mpi1.txt")
    curves = points(OUTPUTS / "imb-mpi1.txt")

    assert len(found.runs) == found.runs["run_id"].nunique() == len(curves) == 19
    assert set(found.runs["tool"]) == {"Intel MPI Benchmarks 2021.11"}
    assert curves["imb_pingpong"][256] == 2.29
    assert curves["imb_barrier"].keys() == {0}
    assert set(found.samples["processes"]) == {"2"}
    assert found.warnings == []


def test_imb_message_rates_become_times() -> None:
    curves = points(OUTPUTS / "imb-bands.txt")

    assert curves["imb_uniband"][256] == pytest.approx(1e6 / 6535606)
    assert curves["imb_biband"][0] == pytest.approx(1e6 / 7687029)


LABELS = {
    "site": "testbed", "partition": "batch", "environ": "openmpi", "placement": "one_node",
    "mpi": "Open MPI v4.1.4, package: Debian", "session": "s1", "check": "OsuLatency",
    "start_utc": "2026-11-21T10:00:00Z", "builder": "spack", "spack_hash": "abcdef",
}  # fmt: skip


@pytest.mark.parametrize("packed", [False, True])
def test_labels_beside_a_curve_say_where_it_was_measured(tmp_path: Path, packed: bool) -> None:
    curve = tmp_path / ("rfm_job.out" + ".gz" * packed)
    text = (OUTPUTS / "osu-latency.txt").read_bytes()
    curve.write_bytes(gzip.compress(text) if packed else text)
    (tmp_path / "rfm_job.out.labels.json").write_text(json.dumps(LABELS))

    gathered = read_files([tmp_path])

    assert gathered.failures == []
    run = gathered.measurements.runs.iloc[0]
    for name in ("site", "partition", "environ", "placement", "session", "builder", "spack_hash"):
        assert run[name] == LABELS[name]
    assert (run["mpi"], run["date"]) == ("Open MPI 4.1.4", "2026-11-21")
    assert json.loads(run["labels"])["check"] == "OsuLatency"
    assert set(gathered.measurements.samples["placement"]) == {"one_node"}


def test_other_labels_tell_curves_apart(tmp_path: Path) -> None:
    for processes in ("2", "16"):
        folder = tmp_path / processes
        folder.mkdir()
        shutil.copy(OUTPUTS / "osu-alltoall.txt", folder)
        (folder / "osu-alltoall.txt.labels.json").write_text(json.dumps({"processes": processes}))

    curves = summarise(read_files([tmp_path]).measurements)

    assert set(curves["processes"]) == {"2", "16"}


def test_labels_may_stand_in_a_comment_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "osu_latency.out"
    table = "# OSU MPI Latency Test v7.4\n# Size       Avg Latency(us)\n"
    path.write_text(
        f"# switchpoint: {json.dumps(LABELS)}\n# rank on a1 under unknown\n"
        f"{table}8         1.5\n{table}16         1.7\n"
    )

    found = read(path)

    assert found.runs["placement"].tolist() == ["one_node"]
    assert found.samples["pass"].tolist() == [0, 0]  # another size is no other pass


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "place",
    [
        pytest.param("# measured at night, by hand\n{label}{table}", id="before-the-heading"),
        pytest.param("\ufeff{label}{table}", id="after-a-byte-order-mark"),
        pytest.param("{table}{label}", id="between-rows"),
    ],
)
def test_a_csv_may_have_labels_and_comments(tmp_path: Path, place: str, end: str) -> None:
    text = place.format(
        label='# switchpoint: {"site": "here"}\n', table="size_bytes,time_us\n8,1.5\n16,1.7\n"
    )

    found = read(written(tmp_path, f"{text}32,2.0\n".replace("\n", end)))

    assert found.runs["site"].tolist() == ["here"]
    assert found.samples["time_us"].tolist() == [1.5, 1.7, 2.0]
    line = text.count("\n") + 1
    with pytest.raises(InputError, match=f"line {line}: time_us is 'x'"):
        read(written(tmp_path, f"{text}32,x\n".replace("\n", end)))


def test_the_line_of_a_bad_heading_below_comments_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, "# a comment\nsize_bytes,time_us,time_us\n8,1.5,1.5\n")

    with pytest.raises(InputError, match="line 2: has column 'time_us' twice"):
        read(path)


def test_a_comment_may_be_the_heading(tmp_path: Path) -> None:
    found = read(written(tmp_path, "#size_bytes,time_us\n8,1.5\n16,1.7\n"))

    assert found.samples["size_bytes"].tolist() == [8, 16]


def test_netpipe_output_may_have_comments(tmp_path: Path) -> None:
    text = '# switchpoint: {"placement": "one_node"}\n       8 12.500000   0.00000061\n'

    found = read(written(tmp_path, text))

    assert found.samples["placement"].tolist() == ["one_node"]
    assert found.samples["time_us"].tolist() == pytest.approx([0.61], rel=0.05)


def test_the_same_output_under_other_labels_is_another_run(tmp_path: Path) -> None:
    identities = set()
    for placement in ("one_node", "two_nodes_one_host"):
        folder = tmp_path / placement
        folder.mkdir()
        shutil.copy(OUTPUTS / "osu-bw.txt", folder)
        labels = folder / "osu-bw.txt.labels.json"
        labels.write_text(json.dumps({"placement": placement}))
        identities.add(read(folder / "osu-bw.txt").runs["run_id"].iloc[0])

    assert len(identities) == 2


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "labels are not JSON"),
        ("[]", "labels are not a JSON object"),
        ('{"site": 3}', "label site is 3"),
        ('{"start_utc": "yesterday"}', "label start_utc is 'yesterday', which is not an ISO 8601"),
        ('{"start_utc": "2026-02-30"}', "label start_utc is '2026-02-30'"),
        (
            '{"start_utc": "2026-11-21T10:00:00+02:00"}',
            "label start_utc is '2026-11-21T10:00:00+02:00', which",
        ),
        ('{"size_bytes": "8"}', "label size_bytes has a reserved name"),
        ('{"run_id": "8"}', "label run_id has a reserved name"),
        ('{"": "here"}', "label '' has no name"),
        ('{"site": "here", "site": "there"}', "label site is given twice"),
    ],
)
def test_labels_that_cannot_be_used_are_named(tmp_path: Path, text: str, problem: str) -> None:
    shutil.copy(OUTPUTS / "osu-bw.txt", tmp_path / "curve")
    (tmp_path / "curve.labels.json").write_text(text)

    with pytest.raises(InputError) as caught:
        read(tmp_path / "curve")
    assert str(caught.value).startswith(f"{tmp_path / 'curve.labels.json'}: {problem[:5]}")
    assert problem in str(caught.value)

    (tmp_path / "curve.labels.json").unlink()
    comment = f"# switchpoint: {text}\n"
    (tmp_path / "curve").write_text(comment + (OUTPUTS / "osu-bw.txt").read_text())
    with pytest.raises(InputError) as caught:
        read(tmp_path / "curve")
    assert str(caught.value).startswith(f"{tmp_path / 'curve'}: line 1: {problem[:5]}")


@pytest.mark.parametrize(
    "start",
    ["2026-11-21", "2026-11-21T10:00", "2026-11-21T10:00:00.5Z", "2026-11-21T10:00+00:00"],
)
def test_a_start_may_be_written_in_any_length_of_iso_8601(tmp_path: Path, start: str) -> None:
    shutil.copy(OUTPUTS / "osu-bw.txt", tmp_path / "curve")
    (tmp_path / "curve.labels.json").write_text(json.dumps({"start_utc": start}))

    assert read(tmp_path / "curve").runs["date"].tolist() == ["2026-11-21"]


def test_a_record_that_is_there_twice_counts_once_among_many_files(tmp_path: Path) -> None:
    """Files are read in parts; the two copies are in different ones."""
    folder = tmp_path / "inputs"
    folder.mkdir()
    write_record(folder / "a.record", footer=False)
    write_record(folder / "z.record")
    for number in range(60):
        rows = f"size_bytes,time_us,number\n8,1.5,{number}\n"
        (folder / f"m{number}.csv").write_text(rows)
    store = Store(tmp_path / "results")

    outcome = import_files([folder], store)

    found = store.read()
    assert (outcome.added, outcome.already_stored, outcome.failures) == (61, 0, [])
    assert len(found.samples) == 60 + len(read(folder / "z.record").samples)
    assert found.runs["complete"].all()
