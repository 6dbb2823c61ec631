"""Files are recognised by content; tidy CSV of any shape becomes curves, or one clear error."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from conftest import write_record
from switchpoint import InputError, read, read_files, summarise
from switchpoint.shapes import identity_columns


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
    assert "2 rows without time_us are left out (the first is line 3)" in found.warnings[0]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("size_bytes\n8\n", "line 1: has neither column time_us nor bandwidth_MBps"),
        ("bytes,time_us\n8,1\n", "line 1: has no column size_bytes"),
        ("size_bytes,time_us\n", "has no rows with time_us"),
        ("size_bytes,time_us\n8,NaN\n", "has no rows with time_us"),
        ("size_bytes,time_us,time_us\n8,1,1\n", "line 1: has column 'time_us' twice"),
        ("size_bytes,time_us,\n8,1,1\n", "line 1: has no name for column 3"),
        ("size_bytes,time_us,count\n8,1,5\n", "line 1: has column 'count', a name that is taken"),
        ("size_bytes,time_us\n8,1\n16,-2\n", "line 3: time_us is -2"),
        ("size_bytes,time_us\n8,0\n", "line 2: time_us is 0"),
        ("size_bytes,time_us\n8,inf\n", "line 2: time_us is inf"),
        ("size_bytes,time_us\n8,quick\n", "line 2: time_us is 'quick', not a number"),
        ("size_bytes,time_us\n8,1\n64K,1\n", "line 3: size_bytes is '64K', not a number"),
        ("size_bytes,time_us\n,1\n", "line 2: size_bytes is ''"),
        ("size_bytes,time_us\n8.5,1\n", "line 2: size_bytes is 8.5"),
        ("size_bytes,time_us\n-8,1\n", "line 2: size_bytes is -8"),
        ("size_bytes,bandwidth_MBps\n0,1\n", "line 2: size_bytes is 0"),
        ("size_bytes,time_us\n8,1,5\n", "line 2"),
    ],
)
def test_a_value_that_cannot_be_is_named_with_its_line(
    tmp_path: Path, text: str, problem: str
) -> None:
    path = written(tmp_path, text)

    with pytest.raises(InputError) as caught:
        read(path)

    assert str(caught.value).startswith(str(path))
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_netpipe_output_is_recognised_by_content(tmp_path: Path) -> None:
    path = written(tmp_path, "       1 12.500000   0.00000061\n    1024 8000.000000   0.00000100\n")

    found = read(path)

    assert found.runs["format"].tolist() == ["netpipe"]
    assert found.samples["size_bytes"].tolist() == [1, 1024]
    assert found.samples["time_us"].tolist() == pytest.approx([0.61, 1.0])


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

    gathered = read_files([record, prose, table, binary, tmp_path, tmp_path / "none"])

    assert sorted(gathered.measurements.runs["format"]) == ["record", "tidy"]
    assert [str(failure).split(": ")[0] for failure in gathered.failures] == [
        str(path) for path in (prose, binary, tmp_path, tmp_path / "none")
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
