"""What is imported is right, or a warning names the file, the line and the reason."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from switchpoint import DataWarning, InputError, Store, import_files, read
from switchpoint.tables.columns import identity_columns
from switchpoint.tables.measurements import Measurements
from typer.testing import Result

Run = Callable[..., Result]

LATENCY = "# OSU MPI Latency Test v6.1\n# Size          Latency (us)\n"
BANDWIDTH = "# OSU MPI Bandwidth Test v6.1\n# Size      Bandwidth (MB/s)\n"
PINGPONG = "# Benchmarking PingPong\n# #processes = 2\n#bytes #repetitions t[usec] Mbytes/sec\n"

TIMES = {512: 2.25, 1024: 2.75, 2048: 3.5, 4096: 5.25, 8192: 8.75, 16384: 14.5}


def rows(times: dict[int, float] = TIMES, factor: float = 1) -> str:
    """Rows of OSU's tables."""
    return "".join(f"{size:<12} {time * factor:12.2f}\n" for size, time in times.items())


def written(folder: Path, text: str, name: str = "job.out") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def curves(found: Measurements) -> dict[str, dict[int, float]]:
    """Times by size of each curve, whose name is its identity without the run."""
    samples = found.samples
    names = [name for name in identity_columns(samples) if name != "run_id"]
    result: dict[str, dict[int, float]] = {}
    for row in samples.to_dict("records"):
        known = [f"{row[name]}" for name in names if isinstance(row[name], str)]
        curve = result.setdefault(" ".join(known), {})
        assert row["size_bytes"] not in curve, "two tables in one curve"
        curve[row["size_bytes"]] = round(row["time_us"], 4)
    return result


def told(path: Path, found: Measurements) -> list[str]:
    """The warnings without the file's name, which each has."""
    assert {warning.place for warning in found.warnings} <= {str(path)}
    return [warning.message for warning in found.warnings]


def without(*sizes: int) -> dict[int, float]:
    return {size: time for size, time in TIMES.items() if size not in sizes}


# Units of bits


def log(unit: str, values: dict[str, float], time: str = "2026-03-01T04:05:06") -> str:
    """Return a performance log of a test that ran once."""
    heading = "|".join(f"{name}_value|{name}_unit" for name in values)
    row = "|".join(f"{value!r}|{unit}" for value in values.values())
    start = "result|job_completion_time|display_name|system|partition|environ"
    return f"{start}|{heading}\npass|{time}|Net|beta|main|gnu|{row}\n"


@pytest.mark.parametrize(
    ("unit", "of_a_megabyte"),
    [
        ("MB/s", 1), ("Mb/s", 8), ("Mbps", 8), ("Mbit/s", 8), ("mbits/sec", 8), ("Gb/s", 8e-3),
        ("Gb/sec", 8e-3), ("Gbps", 8e-3), ("kb/s", 8e3), ("kB/s", 1e3), ("GB/s", 1e-3),
        ("MiB/s", 1e6 / 2**20), ("Gib/s", 8e6 / 2**30), ("MBytes/sec", 1), ("B/s", 1e6),
    ],
)  # fmt: skip
def test_bits_are_not_bytes(tmp_path: Path, unit: str, of_a_megabyte: float) -> None:
    values = {f"bw_{size}KiB": 800 * of_a_megabyte for size in (2, 4, 8)}

    found = read(written(tmp_path, log(unit, values), "Net.log"))

    assert found.samples["time_us"].tolist() == pytest.approx([2.56, 5.12, 10.24])
    assert found.warnings == []


@pytest.mark.parametrize("unit", ["mbps", "gb/s", "MB/S", "GBPS", "mib/s"])
def test_a_unit_that_may_mean_bits_or_bytes_makes_no_curve(tmp_path: Path, unit: str) -> None:
    path = written(tmp_path, log(unit, {"bw_2KiB": 800.0, "bw_4KiB": 900.0}), "Net.log")

    found = read(path)

    assert found.samples.empty
    assert found.single_values["value"].tolist() == [800, 900]
    assert (
        f"the unit '{unit}' of bw_2KiB and bw_4KiB may mean bits or bytes" in told(path, found)[0]
    )


# A file that ends within a number


@pytest.mark.parametrize(
    ("heading", "row", "cut"),
    [
        (LATENCY, "{size} {time:.2f}", 1),
        (LATENCY, "{size} {time:.2f}", 3),
        ("# Benchmarking Bcast\n#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]\n",
         "{size} 99 1.50 {time:.2f} {time:.2f}", 2),
        ("", "{size} {rate:.6f} {sec:.8f}", 2),
        ("size_bytes,time_us\n", "{size},{time:.2f}", 1),
        ("size_bytes,bandwidth_MBps\n", "{size},{rate:.2f}", 1),
        ("size_bytes,time_us,net\n", "{size},{time:.2f},eth", 1),
    ],
)  # fmt: skip
def test_a_last_row_without_a_line_end_counts_only_if_it_is_whole(
    tmp_path: Path, heading: str, row: str, cut: int
) -> None:
    text = heading + "\n".join(
        row.format(size=size, time=time, rate=8 * size / time / 1.048576, sec=time / 1e6)
        for size, time in TIMES.items()
    )
    whole, path = written(tmp_path, text, "whole"), written(tmp_path, text[:-cut], "cut")

    assert sorted(read(whole).samples["size_bytes"]) == list(TIMES)
    found = read(path)
    assert sorted(found.samples["size_bytes"]) == list(TIMES)[:-1]
    line = len(text.splitlines())
    [warning] = told(path, found)
    assert f"line {line}: " in warning and "its last number may be cut" in warning


def test_a_log_that_ends_within_its_last_value_loses_that_row(tmp_path: Path) -> None:
    text = log("us", {"lat_2KiB": 3.5, "lat_4KiB": 4.5})
    heading, row = text.replace("lat_4KiB_value|lat_4KiB_unit", "lat_4KiB_unit|lat_4KiB_value") \
        .replace("4.5|us", "us|4.5").splitlines()  # fmt: skip
    path = written(tmp_path, f"{heading}\n{row}\n{row[:-2]}", "Net.log")

    found = read(path)

    assert curves(found) == {"beta main gnu Net lat": {2048: 3.5, 4096: 4.5}}
    assert "line 3: the file or line ends within this row" in told(path, found)[0]


# Several tables in one file


def test_tables_that_are_glued_together_are_both_read(tmp_path: Path) -> None:
    text = LATENCY + rows().rstrip("\n") + BANDWIDTH + rows()

    found = read(written(tmp_path, text))

    assert curves(found).keys() == {"osu_latency", "osu_bw"}
    assert curves(found)["osu_latency"] == TIMES
    assert curves(found)["osu_bw"][512] == round(512 / 2.25, 4)
    assert found.warnings == []


def test_a_table_of_another_metric_without_a_title_is_skipped(tmp_path: Path) -> None:
    path = written(tmp_path, LATENCY + rows() + "# Size      Bandwidth (MB/s)\n" + rows())

    found = read(path)

    assert curves(found) == {"osu_latency": TIMES}
    assert told(path, found) == [
        "osu_latency: line 9: the columns 'Size  Bandwidth (MB/s)' are not those of osu_latency,"
        " the last title: the table is skipped"
    ]


def test_rows_of_two_tables_in_turn_belong_to_neither(tmp_path: Path) -> None:
    mine, theirs = (LATENCY + rows()).splitlines(), (LATENCY + rows(factor=9)).splitlines()
    both = [line for pair in zip(mine, theirs, strict=True) for line in pair]

    with pytest.raises(InputError, match="line 6: rows of several tables are mixed"):
        read(written(tmp_path, "\n".join(both) + "\n"))


def test_ranks_that_each_print_a_table_are_separate_curves(tmp_path: Path) -> None:
    mine, theirs = (LATENCY + rows()).splitlines(), (LATENCY + rows(factor=9)).splitlines()
    pairs = zip(mine, theirs, strict=True)
    path = written(tmp_path, "".join(f"0: {one}\n1: {other}\n" for one, other in pairs))

    found = read(path)

    assert curves(found)["osu_latency 1"] == TIMES
    assert curves(found)["osu_latency 2"] == {size: round(9 * t, 4) for size, t in TIMES.items()}
    ranks, tables = told(path, found)
    assert "ranks 0, 1 each printed a table, as separate programs do" in ranks
    assert "the tables from lines 5 and 6 differ by up to a factor of 9" in tables


def test_tables_of_different_commands_or_far_apart_are_curves_of_their_own(
    tmp_path: Path,
) -> None:
    command = "$ mpirun -n 2 --host {} ./osu_latency\n"
    near = command.format("n1,n2") + LATENCY + rows() + command.format("n1,n3") + LATENCY + rows()
    far = (LATENCY + rows()) + (LATENCY + rows(factor=1.5))
    again = (LATENCY + rows()) + (LATENCY + rows(factor=1.02))

    assert "follow different commands" in read(written(tmp_path, near, "near")).warnings[0].message
    found = read(written(tmp_path, far, "far"))
    assert curves(found)["osu_latency 2"][512] == 3.38
    assert "differ by up to a factor of 1.5" in found.warnings[0].message
    passes = read(written(tmp_path, again, "again"))
    assert passes.warnings == [] and set(passes.samples["pass"]) == {0, 1}


def test_a_table_that_a_copy_has_twice_counts_once(tmp_path: Path) -> None:
    path = written(tmp_path, (LATENCY + rows()) * 2)

    found = read(path)

    assert curves(found) == {"osu_latency": TIMES}
    [warning] = told(path, found)
    assert warning == "osu_latency: line 11: the same table as from line 3, which counts once"


def test_osus_title_says_which_accelerator_it_was_built_for(tmp_path: Path) -> None:
    text = LATENCY + rows() + LATENCY.replace("MPI", "MPI-ROCM") + rows(factor=3)

    assert curves(read(written(tmp_path, text))).keys() == {"osu_latency", "osu_latency rocm"}


@pytest.mark.parametrize(
    "heading", ["Size          Latency (us)", "Size  Latency (us)  Latency (us)"]
)
def test_columns_without_a_name_are_no_reason_to_drop_one(tmp_path: Path, heading: str) -> None:
    beside = "".join(f"{size} {time:.2f} {9 * time:.2f}\n" for size, time in TIMES.items())

    with pytest.raises(InputError, match=r"3 values under 2 names|names a column twice"):
        read(written(tmp_path, f"{LATENCY.splitlines()[0]}\n# {heading}\n{beside}"))


@pytest.mark.parametrize(
    ("second", "line", "what"),
    [
        (PINGPONG + "512 9 1.50 1.00\n", 9, "a table of Intel MPI Benchmarks begins"),
        ("0: 512 bytes 9 times --> 9.50 Mbps in 8.22 usec\n", 1, "a table of OSU"),
        ("size_bytes,time_us\n512,8\n", 9, "a table of CSV begins"),
        (BANDWIDTH.replace("MB/s", "GB/s") + rows(), 10, "are not known"),
    ],
)  # fmt: skip
def test_a_second_tool_or_unit_is_reported(
    tmp_path: Path, second: str, line: int, what: str
) -> None:
    path = written(tmp_path, LATENCY + rows() + second)

    found = read(path)

    assert len(found.samples) in (1, len(TIMES))
    [warning] = told(path, found)
    assert f"line {line}: " in warning and what in warning


# Rows that are none


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ("2048   3.50  <-- here\n", "is no plain row and is skipped"),
        ("2048   3.50*\n", "is no plain row and is skipped"),
        ("2K     3.50\n", "is no plain row and is skipped"),
        ("2048   3.504096  5.25\n", "3 values under 2 names"),
        ("2048   3\n", "has other decimals than the other rows"),
        ("2048\n", "1 value under 2 names"),
    ],
)
def test_a_row_that_is_not_plain_is_reported_with_its_line(
    tmp_path: Path, row: str, what: str
) -> None:
    lines = (LATENCY + rows()).splitlines(keepends=True)
    lines[4] = row
    path = written(tmp_path, "".join(lines))

    found = read(path)

    assert curves(found) == {"osu_latency": without(2048)}
    [warning] = told(path, found)
    assert warning.startswith("osu_latency: line 5: ") and what in warning


PRINTED = [
    *(f" {n}: {size:7} bytes 1000 times --> {size * 8 / time:8.2f} Mbps in {time:9.2f} usec\n"
      for n, (size, time) in enumerate(TIMES.items()))
]  # fmt: skip


@pytest.mark.parametrize(
    "spoil",
    [
        "> {}".format,
        "| {} |".format,
        "+{}".format,
        "\x1b[31m{}\x1b[0m".format,
        "\x1b[1m{}".format,
        "Nov 28 07:37:08 {}".format,
        "2026-11-28T07:00:01Z {}".format,
        "1: {}".format,
        "n17: {}".format,
        "17:{}".format,
        "job.out:{}".format,
        "`{}`".format,
        "#{}".format,
        "error: no route to host{}".format,
        "{} us".format,
        "{}WARNING: low memory".format,
        lambda row: ";".join(row.split()),
        lambda row: ",".join(row.split()),
        lambda row: "<td>" + "</td><td>".join(row.split()) + "</td>",
        lambda row: row.replace("4096", "4'096"),
        lambda row: row.replace("4096", "4,096"),
    ],
)
@pytest.mark.parametrize("which", [slice(0, 1), slice(3, 4), slice(-1, None), slice(3, None)])
def test_a_row_in_other_clothes_is_read_or_reported(
    tmp_path: Path, spoil: Callable[[str], str], which: slice
) -> None:
    """Mails, terminals, `grep`, drawn tables and launchers change rows, also the first and last."""
    tables = [(LATENCY, rows().splitlines()), (PINGPONG, imb_rows()), ("", PRINTED)]
    for number, (heading, table) in enumerate(tables):
        lines = [row.rstrip() for row in table]
        lines[which] = [spoil(row) for row in lines[which]]
        path = written(tmp_path, heading + "\n".join(lines) + "\n", f"{number}.out")

        found = read(path)

        [times] = curves(found).values()
        assert times.items() <= TIMES.items() and (times == TIMES or told(path, found))


def imb_rows() -> list[str]:
    return [f"{size:9} 1000 {time:9.2f} {size / time:9.2f}" for size, time in TIMES.items()]


def test_a_time_stamp_in_brackets_is_no_rank(tmp_path: Path) -> None:
    lines = (LATENCY + rows()).splitlines(keepends=True)
    stamped = [f"[12:00:0{n}] {line}" for n, line in enumerate(lines)]

    assert curves(read(written(tmp_path, "".join(stamped)))) == {"osu_latency": TIMES}


def test_netpipes_rows_below_another_tools_table_are_reported(tmp_path: Path) -> None:
    file_of_netpipe = "".join(
        f"{size:8} {size * 8 / time:f} {time / 1e6:.8f}\n" for size, time in TIMES.items()
    )
    text = PINGPONG + "\n".join(imb_rows()) + "\n\n# All processes\n" + file_of_netpipe
    path = written(tmp_path, text)

    found = read(path)

    assert curves(found) == {"imb_pingpong 2": TIMES}
    assert told(path, found) == [
        "line 12: a table of NetPIPE begins, which is skipped: import it from its own file"
    ]


def test_rows_below_a_heading_that_was_cut_are_reported(tmp_path: Path) -> None:
    text = LATENCY + "512 2.25\nMin Latency(us)  Iterations\n"
    text += "".join(f"{size} {time:.2f} 1.00 100\n" for size, time in TIMES.items())
    path = written(tmp_path, text)

    assert told(path, read(path)) == [
        "osu_latency: line 5: rows of another form than the table's begin, which are skipped"
    ]


def test_the_rest_of_a_row_in_two_lines_is_no_row(tmp_path: Path) -> None:
    text = LATENCY + rows()
    place = text.index("4096") + 1
    path = written(tmp_path, text[:place] + "\n" + text[place:])

    found = read(path)

    assert curves(found) == {"osu_latency": without(4096)}
    assert told(path, found) == [
        "osu_latency: line 6: 1 value under 2 names: the row is skipped",
        "osu_latency: line 7: it may be the rest of the row before, which is cut: it is skipped",
    ]


@pytest.mark.parametrize("cut", ["3.5", "204"])
def test_a_csvs_row_in_two_lines_is_no_row(tmp_path: Path, cut: str) -> None:
    text = csv_text().replace(cut, f"{cut}\n", 1)
    path = written(tmp_path, text, "curve.csv")

    found = read(path)

    [times] = curves(found).values()
    assert times.items() < TIMES.items()
    assert "may be cut" in told(path, found)[-1]


def csv_text() -> str:
    return "size_bytes,time_us\n" + "".join(f"{s},{t:.2f}\n" for s, t in TIMES.items())


@pytest.mark.parametrize("copies", [2, 3])
def test_a_csv_that_was_joined_with_itself_counts_once(tmp_path: Path, copies: int) -> None:
    heading, rest = csv_text().split("\n", 1)
    path = written(tmp_path, f"{heading}\n" + copies * rest, "curve.csv")

    found = read(path)

    assert list(curves(found).values()) == [TIMES]
    [warning] = told(path, found)
    assert "the same 6 rows begin again: they count once" in warning


@pytest.mark.parametrize("copy", ["\ufeff{}".format, lambda text: text.replace("\n", "\r\n")])
def test_a_copy_that_differs_in_its_line_ends_is_the_same_run(
    tmp_path: Path, copy: Callable[[str], str]
) -> None:
    text = LATENCY + rows()
    (tmp_path / "a.out").write_bytes(text.encode())
    (tmp_path / "b.out").write_bytes(copy(text).encode())
    store = Store(tmp_path / "store")

    import_files([tmp_path / "a.out", tmp_path / "b.out"], store)

    assert len(store.runs()) == 1


@pytest.mark.parametrize(
    "text",
    [LATENCY + rows(), PINGPONG + "\n".join(imb_rows()) + "\n", "".join(PRINTED), csv_text()],
)
def test_a_file_to_which_a_job_still_writes_counts_once(tmp_path: Path, text: str) -> None:
    lines = text.splitlines(keepends=True)
    store = Store(tmp_path / "store")
    path = tmp_path / "job.out"
    for end in (-1, None, None):
        path.write_text("".join(lines[:end]))
        imported = import_files([path], store)

    assert imported.added == 0
    assert sorted(store.read().samples["size_bytes"]) == [*TIMES]
    path.write_text(text + "\n")
    imported = import_files([path], store)
    [warning] = imported.warnings
    assert not imported.nothing  # so that the command says so, and does not fail
    what = "6 rows were imported from this file before: they count once"
    assert warning == DataWarning("imported_before", what, str(path))


def test_another_launch_that_writes_over_a_file_is_stored(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    for factor in (1, 1.1):
        import_files([written(tmp_path, LATENCY + rows(factor=factor))], store)

    assert len(store.read().samples) == 2 * len(TIMES)


def test_joined_files_whose_labels_contradict_each_other_are_refused(tmp_path: Path) -> None:
    """The labels of a file count for all its tables, so that those of one would name the other."""
    text = '# switchpoint: {{"site": "{}"}}\n' + LATENCY + rows()
    path = written(tmp_path, text.format("alpha") + text.format("beta"))

    with pytest.raises(InputError, match="line 10: label site has another value"):
        read(path)

    path = written(tmp_path, text.format("alpha") + text.format("alpha").replace("8.75", "8.80"))
    assert set(read(path).runs["site"]) == {"alpha"}


@pytest.mark.parametrize("heading", [LATENCY, PINGPONG])
def test_numbers_of_other_programs_are_no_points(tmp_path: Path, heading: str) -> None:
    row = "{:<9} {:9.2f}\n" if heading == LATENCY else "{:<9} 100 {:9.2f} 10.00\n"
    lines = [row.format(size, time) for size, time in TIMES.items()]
    numbers = "20260301 040506\n20260301 120000 7 8\n12 34 56 78 90\n"
    text = (
        heading + lines[0] + "12345 678\n77 88 99 11\n" + "".join(lines[1:]) + "cput=1\n" + numbers
    )
    path = written(tmp_path, text)

    [times] = curves(read(path)).values()

    assert times == TIMES


def test_a_table_that_goes_on_after_another_line_is_read_and_the_line_reported(
    tmp_path: Path,
) -> None:
    lines = (LATENCY + rows()).splitlines(keepends=True)
    lines.insert(5, "[n1:7] a warning of 2 things\n")
    lines.insert(6, "UCX  WARN  a second one\n")
    lines.insert(8, "\n")
    path = written(tmp_path, "".join(lines) + "done\n" + "524288 99.50\n")

    found = read(path)

    assert curves(found) == {"osu_latency": TIMES}
    assert told(path, found) == [
        "osu_latency: line 7: 'UCX  WARN  a second one' is no row; the table goes on after it",
        "osu_latency: line 9: a blank line is no row; the table goes on after it",
        "osu_latency: line 13: a row after the end of the table is skipped",
    ]


def test_osu_and_netpipe_are_read_from_files_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = written(tmp_path, "\ufeff" + LATENCY + rows())

    assert curves(read(path)) == {"osu_latency": TIMES}


def test_netpipe_in_seconds_is_read(tmp_path: Path) -> None:
    text = " 7: 4096 bytes 900 times --> 5952.38 Mbps in 0.000005250 sec\n"

    assert curves(read(written(tmp_path, text))) == {"netpipe": {4096: 5.25}}


def test_a_row_above_its_heading_or_behind_other_text_is_reported(tmp_path: Path) -> None:
    title, heading = LATENCY.splitlines()
    text = f"{title}\n256 2.00\n{heading}\n# Datatype: MPI_CHAR.128 1.75\n{rows()}"
    path = written(tmp_path, text)

    found = read(path)

    assert curves(found) == {"osu_latency": TIMES}
    assert told(path, found) == [
        "osu_latency: line 2: a row without a heading above it is skipped",
        "osu_latency: line 4: a row behind other text is skipped",
    ]


def test_a_second_heading_below_a_title_is_reported(tmp_path: Path) -> None:
    heading = LATENCY.splitlines()[1]
    path = written(tmp_path, f"{LATENCY}{rows()}{heading}\n{rows(factor=1.1)}")

    found = read(path)

    assert set(found.samples["pass"]) == {0, 1}
    assert "line 9: a second heading below one title" in told(path, found)[0]


def test_a_title_that_is_there_twice_keeps_the_facts_above_it(tmp_path: Path) -> None:
    threads = "# Number of Sender threads: 1\n# Number of Receiver threads: 4\n"
    title, heading = LATENCY.splitlines()

    found = read(written(tmp_path, f"{threads}{title}\n{title}\n{heading}\n{rows()}"))

    assert curves(found) == {"osu_latency 1 4": TIMES}


def test_the_group_of_a_table_is_known_also_if_the_other_groups_rows_are_lost(
    tmp_path: Path,
) -> None:
    text = (
        "# Benchmarking Multi-Barrier\n# ( 2 groups of 2 processes each running simultaneous )\n"
        "Group #repetitions t_min[usec] t_max[usec] t_avg[usec]\n\n0 10 1.25 1.50 1.40\n"
    )

    assert curves(read(written(tmp_path, text))) == {"imb_multi_barrier 2 2 0": {0: 1.4}}


# Logs


def test_a_log_that_grows_and_its_report_count_each_sample_once(tmp_path: Path) -> None:
    store, path = Store(tmp_path / "store"), tmp_path / "Net.log"
    nights = [log("us", {"lat_2KiB": 3.0 + n, "lat_4KiB": 4.0 + n}, f"2026-03-0{n}T04:05:06")
              for n in (1, 2, 3)]  # fmt: skip
    added = []
    for night in (1, 2, 3):
        heading = nights[0].splitlines()[0]
        path.write_text(
            "\n".join([heading, *(text.splitlines()[1] for text in nights[:night])]) + "\n"
        )
        added.append(import_files([path], store).added)
    values = {f"beta:main:lat_{size}KiB": [time, 1, None, None, "us", "pass"]
              for size, time in ((2, 5.0), (4, 6.0))}  # fmt: skip
    case = {"name": "Net", "display_name": "Net", "system": "beta", "partition": "main",
            "environ": "gnu", "job_completion_time": "2026-03-02T04:05:06+01:00",
            "perfvalues": values}  # fmt: skip
    report = {"session_info": {"version": "4.6"}, "runs": [{"testcases": [case]}]}
    outcome = import_files([written(tmp_path, json.dumps(report), "r.json")], store)

    assert added == [1, 1, 1]
    assert (outcome.added, outcome.already_stored) == (0, 1)
    samples = store.read().samples.sort_values("time_us")
    assert samples["time_us"].tolist() == [4, 5, 5, 6, 6, 7]


def test_sessions_whose_rows_a_copy_has_mixed_are_kept_apart(tmp_path: Path) -> None:
    heading = "result|job_completion_time|display_name|system|message_size|time_value|time_unit\n"
    row = "pass|2026-03-0{day}T04:05:06|Net|beta|{size}|{time}|us\n"
    mixed = heading + "".join(
        row.format(day=day, size=size, time=time * (1 if day == 1 else 9))
        for size, time in TIMES.items()
        for day in (1, 2)
    )

    samples = read(written(tmp_path, mixed, "Net.log")).samples

    runs = samples.groupby("run_id", sort=False, observed=True)
    first, second = (part["time_us"].tolist() for _, part in runs)
    assert sorted([first, second]) == [[*TIMES.values()], [9 * time for time in TIMES.values()]]


@pytest.mark.parametrize(
    "names",
    [
        "latency_p50 latency_p90 latency_p99", "time_7B time_70B time_405B", "time_2 time_4 time_8",
        "build_gcc8 build_gcc9 build_gcc11", "bw_2019 bw_2021 bw_2024",
        "score_v1 score_v2 score_v4", "init_np4 init_np8 init_np16",
        "lat_omp1 lat_omp2 lat_omp4", "setup_10M",
    ],
)  # fmt: skip
def test_what_is_no_message_size_stays_a_single_value(tmp_path: Path, names: str) -> None:
    values = dict.fromkeys(names.split(), 1.5)

    found = read(written(tmp_path, log("s", values), "Net.log"))

    assert found.samples.empty
    assert found.single_values["variable"].tolist() == list(values)


@pytest.mark.parametrize("name", ["osu_lat_{}", "train_time_{}B"])  # bytes, or billions
def test_numbers_that_are_taken_for_sizes_are_reported(tmp_path: Path, name: str) -> None:
    names = [name.format(size) for size in (8, 64, 512)]
    path = written(tmp_path, log("us", dict.fromkeys(names, 1.5)), "Net.log")

    found = read(path)

    assert found.samples["size_bytes"].tolist() == [8, 64, 512]
    assert told(path, found) == [
        f"the numbers at the ends of {names[0]}, {names[1]} and {names[2]} are taken for message"
        " sizes in bytes"
    ]


def test_a_value_with_another_unit_than_its_curve_is_reported(tmp_path: Path) -> None:
    text = log("us", {"lat_2KiB": 3.5})
    path = written(tmp_path, text + text.splitlines()[1][:-1] + "\n", "Net.log")

    found = read(path)

    assert len(found.samples) == 1
    assert told(path, found) == ["1 value of lat_2KiB with the unit 'u' is no point of its curve"]


# CSV


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("Unnamed: 0", "{n}"),
        ("index", "{n}"),
        ("when", "2026-03-01T04:05:{n:02}"),
        ("time_ms", "{ms}"),
        ("stddev", "0.{n}0"),
    ],
)
def test_a_column_that_differs_at_each_size_names_no_curve(
    tmp_path: Path, column: str, value: str
) -> None:
    lines = [
        f"{size},{time},eth," + value.format(n=n, ms=time / 1e3)
        for n, (size, time) in enumerate(TIMES.items())
    ]
    path = written(
        tmp_path, "\n".join([f"size_bytes,time_us,net,{column}", *lines]) + "\n", "t.csv"
    )

    found = read(path)

    assert curves(found) == {"eth": TIMES}
    assert re.search(
        f"column '{column}' (has other values at each|is left out)", told(path, found)[0]
    )


def test_a_column_that_names_curves_stays(tmp_path: Path) -> None:
    lines = [f"{size},{nodes}.5,{nodes}" for size in (8, 16, 32) for nodes in (2, 4, 8)]
    found = read(written(tmp_path, "\n".join(["size_bytes,time_us,nodes", *lines]) + "\n", "t.csv"))

    assert curves(found).keys() == {"2", "4", "8"}
    assert found.warnings == []


def test_a_row_that_lacks_a_field_is_skipped_with_its_line(tmp_path: Path) -> None:
    text = "size_bytes,time_us,mode\n8,1.5,send\n16,1.75\n32,2.5,send\n64,3.5,\n"
    path = written(tmp_path, text, "t.csv")

    found = read(path)

    assert found.samples["size_bytes"].tolist() == [8, 32, 64]
    assert told(path, found)[0] == "line 3: fewer than 3 fields: the row is skipped"


def test_a_row_of_a_csv_with_a_remark_is_reported(tmp_path: Path) -> None:
    lines = [f"{size},{time},eth" for size, time in TIMES.items()]
    lines[2] += "  slow?"
    path = written(tmp_path, "\n".join(["size_bytes,time_us,net", *lines]) + "\n", "t.csv")

    assert "line 4: no other row has the names of this one" in told(path, read(path))[0]


def test_two_tables_in_a_csv_are_no_repeats_if_they_are_far_apart(tmp_path: Path) -> None:
    text = "size_bytes,time_us\n" + "".join(
        f"{size},{time * factor}\n" for factor in (1, 9) for size, time in TIMES.items()
    )
    path = written(tmp_path, text, "t.csv")

    found = read(path)

    assert curves(found)["1"] == TIMES
    assert "the tables from lines 2 and 8 differ by up to a factor of 9" in told(path, found)[0]


def test_the_command_names_file_line_and_reason(switchpoint: Run, tmp_path: Path) -> None:
    text = LATENCY + rows().replace("3.50", "3.50 !")
    path = written(tmp_path, text)

    imported = switchpoint("import", path, "--store", tmp_path / "store")
    detected = switchpoint("detect", path, "--json")

    assert imported.exit_code == 0
    for result in (imported, detected):
        assert f"{path}: osu_latency: line 5: '2048" in result.stderr
        assert "is no plain row and is skipped" in result.stderr


# Columns that say something about each other

WITH_RATES = [f"{size:>8} 1000 {time:.2f} {size / time:.2f}" for size, time in TIMES.items()]
SMALL = [f"{size:>8} 1000 {1.2 + size / 4000:.2f} {size / (1.2 + size / 4000):.2f}"
         for size in (1, 2, 4, 8, 16, 32, 64)]  # fmt: skip
NETPIPE = [f"{size:>8} {size * 8 / time / 1.048576:.6f} {time / 1e6:.8f}"
           for size, time in TIMES.items()]  # fmt: skip


def swapped(row: str) -> str:
    *before, one, other = row.split()
    return " ".join([*before, other, one])


@pytest.mark.parametrize("large", [False, True])
def test_a_table_whose_times_and_rates_are_swapped_is_no_table(tmp_path: Path, large: bool) -> None:
    last = [f"{2**n} 100 {2**n / 5000:.2f} {5000:.2f}" for n in range(18, 22)]
    wrong = "\n".join(map(swapped, last if large else SMALL))
    right = PINGPONG.replace("PingPong", "PingPing") + "\n".join(WITH_RATES)
    path = written(tmp_path, f"{PINGPONG}{wrong}\n\n{right}\n")
    found = read(path)

    assert {*found.samples["kernel"]} == {"imb_pingping"}
    assert told(path, found) == [
        "imb_pingpong: line 4: the columns of times and rates are swapped: the table is skipped;"
        " correct the file"
    ]


def test_single_long_times_do_not_make_a_table_swapped(tmp_path: Path) -> None:
    late = {1: 0.68, 2: 0.70, 4: 9.89, 8: 82.76, 16: 0.61, 32: 0.60, 64: 63.57}
    rows = [f"{size} 1000 {time:.2f} {size / time:.2f}" for size, time in late.items()]
    for first in ([], ["0 1000 0.65 0.00"]):
        found = read(written(tmp_path, PINGPONG + "\n".join([*first, *rows]) + "\n"))
        assert len(found.samples) == len(first) + len(rows)


def test_an_empty_message_without_a_time_shows_swapped_columns(tmp_path: Path) -> None:
    path = written(tmp_path, PINGPONG + "0 1000 0.00 1.20\n512 1000 227.56 2.25\n")
    with pytest.raises(InputError, match="line 4: the columns of times and rates are swapped"):
        read(path)


def test_a_file_of_netpipe_whose_times_and_rates_are_swapped_is_refused(tmp_path: Path) -> None:
    rows = [f"{size} {time / 1e6:.8f} {size * 8 / time / 1.048576:.6f}"
            for size, time in ((1, 1.2), (2, 1.2), (4, 1.2), (8, 1.21), (16, 1.22))]  # fmt: skip
    path = written(tmp_path, "\n".join(rows) + "\n", "np.out")
    with pytest.raises(InputError, match="line 1: the columns of times and rates are swapped"):
        read(path)


@pytest.mark.parametrize(("of", "line"), [("IMB", 6), ("NetPIPE", 3)])
@pytest.mark.parametrize("column", [-1, -2])
def test_a_row_whose_time_and_rate_do_not_agree_is_reported(
    tmp_path: Path, of: str, line: int, column: int
) -> None:
    rows = [*(WITH_RATES if of == "IMB" else NETPIPE)]
    fields = rows[2].split()
    fields[column] = f"9{fields[column]}" if column == -1 else fields[column][1:]
    if fields[column].startswith("."):
        fields[column] = f"7{fields[column]}"
    rows[2] = " ".join(fields)
    path = written(tmp_path, (PINGPONG if of == "IMB" else "") + "\n".join(rows) + "\n", "np.out")
    found = read(path)

    [sizes] = curves(found).values()
    assert {*sizes} == {*TIMES} - {2048}
    [sentence] = told(path, found)
    assert f"line {line}: time and rate do not agree as in the other rows" in sentence


def test_a_column_of_units_is_that_of_the_numbers_or_the_file_is_refused(tmp_path: Path) -> None:
    def table(heading: str, *units: str) -> Path:
        rows = [
            f"{size},{time},{unit}"
            for (size, time), unit in zip(TIMES.items(), units * (6 // len(units)), strict=True)
        ]
        return written(tmp_path, "\n".join([f"size_bytes,{heading}", *rows]) + "\n", "t.csv")

    for heading, unit in (("time_us,unit", "us"), ("bandwidth_MBps,unit", "MB/s"),
                          ("time (ms),Time unit", "ms"), ("time_us,bw_unit", "MB/s")):  # fmt: skip
        assert "".join(curves(read(table(heading, unit)))) == "", heading
    assert {*curves(read(table("time_us,unit", "node 3")))} == {"node 3"}
    for heading, units, line in (
        ("time_us,unit", ("ms",), 2), ("time_us,unit", ("us", "ms"), 3),
        ("time_us,time_unit", ("s",), 2), ("bandwidth_MBps,units", ("GB/s",), 2),
        ("time_us,unit", ("MB/s",), 2), ("time_us,size_unit", ("KiB",), 2),
        ("bandwidth_MBps,unit", ("Mbps",), 2),
    ):  # fmt: skip
        with pytest.raises(InputError, match=rf"line {line}: column '.*unit.*' says '"):
            read(table(heading, *units))


def test_decimal_commas_are_read_between_semicolons_and_reported_between_commas(
    tmp_path: Path,
) -> None:
    rows = [f"{size};{time:.2f}".replace(".", ",") for size, time in TIMES.items()]
    text = "\n".join(["size_bytes;time_us", *rows]) + "\n"
    assert curves(read(written(tmp_path, text, "semi.csv"))) == {"": TIMES}

    commas = "\n".join(["size_bytes,time_us,rep", *rows]).replace(";", ",") + "\n"
    path = written(tmp_path, commas, "commas.csv")
    assert told(path, read(path))[0].startswith("line 2: time_us is 2 and 'rep' is 25: if this is")
    counted = "size_bytes,time_us,rep\n" + "".join(f"{8 * n},{n},{n}\n" for n in range(1, 9))
    assert read(written(tmp_path, counted, "counted.csv")).warnings == []
    ranks = "".join(f"{8 * n},{n * ranks},{ranks}\n" for ranks in (16, 64) for n in range(1, 9))
    named = written(tmp_path, f"size_bytes,time_us,ranks\n{ranks}", "named.csv")
    assert read(named).warnings == []
