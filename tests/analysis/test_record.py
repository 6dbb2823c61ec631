"""Run records are read whole, or refused in one line that names the file and the fix."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import RECORDS, SIZES, write_record
from switchpoint import RecordError, Store, import_files, read_facts, read_header, read_record
from switchpoint.records.activity import activity_table
from switchpoint.records.run_facts import prove
from switchpoint.records.terms import run_terms
from switchpoint.sites.placement_proof import contradictions
from switchpoint.sites.placements import Placement
from switchpoint.tables.from_records import from_record
from switchpoint.tables.measurements import concat


def test_a_record_gives_header_samples_and_footer(tmp_path: Path) -> None:
    record = read_record(write_record(tmp_path / "run.record"))

    assert record.run_id == "0123456789abcdef0123456789abcdef"
    assert record.complete
    assert record.warnings == []
    assert len(record.samples) == len(SIZES) * 3 * 4 == record.footer["samples"]
    assert set(record.samples["size_bytes"]) == set(SIZES)
    assert record.samples["mode"].unique().tolist() == ["send"]
    assert record.samples["time_us"].gt(0).all()


POINT = {"mode": "x" * 80, "size_bytes": 8}


@pytest.mark.parametrize("packed", [False, True])
def test_a_record_of_many_parts_is_read_whole(tmp_path: Path, packed: bool) -> None:
    path = write_record(tmp_path / "run.record", sizes=[8], passes=1)
    header, heading, *rows, footer = path.read_text().splitlines()
    count = 400_000  # rows of 12 MB, and a footer of 5 MB: several parts of both
    ending = json.loads(footer) | {"samples": count, "points": [POINT] * 50_000}
    rows = [f"send,{8 * row},0,0,1,{row + 1}.5" for row in range(count)]
    text = "\n".join([header, heading, *rows, json.dumps(ending)]).encode() + b"\n"
    path.write_bytes(gzip.compress(text, 1) if packed else text)

    record = read_record(path)

    assert record.warnings == []
    assert record.samples["size_bytes"].tolist() == list(range(0, 8 * count, 8))
    assert record.samples["time_us"].iloc[[0, -1]].tolist() == [1.5, count + 0.5]
    assert record.footer == ending


@pytest.mark.parametrize("path", sorted(RECORDS.glob("*.gz")), ids=lambda path: path.stem)
def test_real_records_are_read_without_a_warning(path: Path) -> None:
    record = read_record(path)

    assert record.warnings == []
    assert len(record.samples) == record.footer["samples"]
    counted = record.samples.groupby(["mode", "size_bytes"], observed=True).size()
    told = {
        (point["mode"], point["size_bytes"]): point["kept"] for point in record.footer["points"]
    }
    assert counted.to_dict() == told


def test_the_window_of_a_stream_is_part_of_its_curve(tmp_path: Path) -> None:
    plan = {"seed": 1, "passes": 3, "window": 64, "windows": {"stream": 16}}
    streamed = tmp_path / "stream.record"
    text = write_record(tmp_path / "send.record", plan=plan).read_text()
    streamed.write_text(text.replace("\nsend,", "\nstream,"), encoding="utf-8")

    assert set(from_record(read_record(streamed)).samples["window_size"]) == {"16"}
    assert from_record(read_record(tmp_path / "send.record")).samples["window_size"].isna().all()


def test_what_a_kernel_was_told_about_its_buffers_is_part_of_its_curve(tmp_path: Path) -> None:
    plan = {"seed": 1, "passes": 3, "rotate_mib": 0, "buffer_offset_bytes": 32, "pause_us": 1500000}
    told = write_record(tmp_path / "told.record", plan=plan)
    samples = from_record(read_record(told)).samples
    assert set(samples["buffer_offset_bytes"]) == {"32"}
    assert set(samples["pause_us"]) == {"1500000"}
    assert "rotate_mib" not in samples


def test_a_record_from_before_windows_were_recorded_keeps_its_identity(tmp_path: Path) -> None:
    plan = {"seed": 1, "passes": 3, "window": 64, "windows": {"stream": 16}}
    old = write_record(tmp_path / "old.record", run_id="0" * 32)
    new = write_record(tmp_path / "new.record", run_id="1" * 32, plan=plan)
    for path in (old, new):
        half = path.read_text().replace("\nsend,1,", "\nstream,1,")  # a size in another mode
        path.write_text(half, encoding="utf-8")
    runs = [from_record(read_record(path)) for path in (old, new)]

    assert "window_size" not in runs[0].samples
    curves = concat(runs).sweeps
    modes = [str(curve["mode"]) for curve in curves.identities()]
    alike = dict.fromkeys(zip(modes, curves.same_but_for_the_run().tolist(), strict=True))
    assert sorted(mode for mode, _ in alike) == ["send", "stream", "stream"]


def test_how_calls_started_and_whose_time_counts_are_part_of_the_curve(tmp_path: Path) -> None:
    plan: dict[str, Any] = {"seed": 1, "passes": 3}
    plan |= {"start": "agreed", "time_of": {"send": "slowest"}}
    agreed = from_record(read_record(write_record(tmp_path / "agreed.record", plan=plan))).samples
    alone = plan | {"start": None, "time_of": {"send": "root"}}
    at_root = from_record(read_record(write_record(tmp_path / "root.record", plan=alone))).samples

    assert (set(agreed["start"]), set(agreed["time_of"])) == ({"agreed"}, {"slowest"})
    assert not {"start", "time_of"} & set(at_root)  # the kernel has no other definition


def test_what_tcp_sent_again_counts_once_for_ranks_that_share_a_network(tmp_path: Path) -> None:
    facts = read_facts(write_record(tmp_path / "run.record"))
    assert facts.footer is not None
    assert prove(facts.header, facts.footer).tcp_retransmissions is None  # an old record

    for before, after in zip(facts.header["ranks"], facts.footer["ranks"], strict=True):
        before["before"]["tcp_retransmissions"], after["after"]["tcp_retransmissions"] = 10, 13
    assert prove(facts.header, facts.footer).tcp_retransmissions == 3

    facts.header["ranks"][1]["net_namespace"] = 1
    assert prove(facts.header, facts.footer).tcp_retransmissions == 6


@pytest.mark.parametrize(
    ("machines", "path"),
    [
        (["one", "other"], "network"),
        (["same", "same"], "shared_memory"),
        ([None, None], "shared_memory"),
    ],
)
def test_nodes_with_an_operating_system_of_their_own_share_no_memory(
    tmp_path: Path, machines: list[str | None], path: str
) -> None:
    facts = read_facts(write_record(tmp_path / "run.record"))
    assert facts.footer is not None
    for rank, (place, machine) in enumerate(zip(("n1", "n2"), machines, strict=True)):
        facts.header["ranks"][rank] |= {"host": place, "boot_id": machine}
        [interface] = facts.footer["ranks"][rank]["after"]["interfaces"]
        interface |= {"rx_bytes": 100, "tx_bytes": 100}  # the payload left no trace here

    found = prove(facts.header, facts.footer)

    assert (found.path, found.interface) == (path, None)


def test_traffic_of_other_programs_is_no_path_of_the_ranks(tmp_path: Path) -> None:
    facts = read_facts(write_record(tmp_path / "run.record"))
    assert facts.footer is not None
    assert prove(facts.header, facts.footer).path == "network"  # by the interfaces alone

    def carried(bytes_: int, untold: int = 0) -> str:
        assert facts.footer is not None
        for before, after in zip(facts.header["ranks"], facts.footer["ranks"], strict=True):
            before["before"] |= {"tcp_socket_bytes": 500, "untold_sockets": 0}
            after["after"] |= {"tcp_socket_bytes": 500 + bytes_, "untold_sockets": untold}
        return prove(facts.header, facts.footer).path

    moved = facts.footer["verification"]["bytes_moved"]
    assert carried(moved) == "network"
    assert carried(0) == "shared_memory"
    assert carried(0, untold=1) == "network"  # a socket that does not tell may have carried it
    assert carried(-500) == "network"  # nor do those that were closed

    for rank in facts.header["ranks"]:
        rank["before"]["interfaces"][0]["name"] = "mlx5_0/1"
    for rank in facts.footer["ranks"]:
        rank["after"]["interfaces"][0]["name"] = "mlx5_0/1"
    assert carried(0) == "network"  # no socket sees what InfiniBand carries


def test_gzip_is_unpacked_whatever_the_name(tmp_path: Path) -> None:
    plain = write_record(tmp_path / "plain")
    packed = tmp_path / "packed"
    packed.write_bytes(gzip.compress(plain.read_bytes()))

    assert read_record(packed).samples.equals(read_record(plain).samples)
    assert read_facts(packed).footer == read_facts(plain).footer


@pytest.mark.parametrize("kept", [0.999, 0.9, 0.5])
def test_of_a_truncated_record_the_complete_rows_are_used(tmp_path: Path, kept: float) -> None:
    path = write_record(tmp_path / "cut.record")
    whole = read_record(path).samples
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * kept)])

    record = read_record(path)

    assert not record.complete
    assert record.warnings[0].kind == "truncated"
    assert 0 < len(record.samples) <= len(whole)
    assert record.samples.equals(whole.head(len(record.samples)))


def test_a_last_row_without_its_line_end_is_not_trusted(tmp_path: Path) -> None:
    path = write_record(tmp_path / "cut.record", footer=False)
    rows = len(read_record(path).samples)
    path.write_bytes(path.read_bytes()[:-2])  # the time of the last row loses a digit

    assert len(read_record(path).samples) == rows - 1


def test_a_record_cut_right_after_its_header_has_no_samples(tmp_path: Path) -> None:
    path = write_record(tmp_path / "cut.record")
    path.write_bytes(path.read_bytes().split(b"\n")[0] + b"\n")

    assert read_record(path).samples.empty


def test_facts_are_read_without_samples(tmp_path: Path) -> None:
    path = write_record(tmp_path / "run.record")

    facts = read_facts(path)

    assert facts.header == read_header(path)
    assert facts.footer == read_record(path).footer
    assert not hasattr(facts, "samples")


def test_reading_facts_loads_no_pandas(tmp_path: Path) -> None:
    path = write_record(tmp_path / "run.record")
    program = (
        "import sys, switchpoint; switchpoint.read_facts(sys.argv[1]);"
        "assert not {'pandas', 'pyarrow', 'plotly'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program, str(path)], check=True)


def test_a_kernels_own_columns_are_read_as_numbers(tmp_path: Path) -> None:
    path = write_record(tmp_path / "run.record", sizes=[1, 2, 4])
    lines = path.read_text().splitlines()
    header = json.loads(lines[0])
    header["columns"].append("wait_us")
    lines[0] = json.dumps(header)
    lines[1] += ",wait_us"
    lines[2:-1] = [line + ",0.5" for line in lines[2:-1]]
    path.write_text("\n".join(lines) + "\n")

    assert read_record(path).samples["wait_us"].eq(0.5).all()


def test_a_thinned_record_is_whole_although_fewer_rows_are_kept_than_taken(tmp_path: Path) -> None:
    path = write_record(tmp_path / "run.record", sizes=[8])
    lines = path.read_text().splitlines()
    footer = json.loads(lines[-1])
    footer["points"] = [{"mode": "send", "size_bytes": 8, "count": 1200, "kept": 12, "stride": 100}]
    path.write_text("\n".join([*lines[:-1], json.dumps(footer)]) + "\n")

    record = read_record(path)

    assert record.complete
    assert record.warnings == []


def test_a_footer_that_counts_other_rows_than_there_are_is_warned_of(tmp_path: Path) -> None:
    path = write_record(tmp_path / "run.record")
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:5], *lines[6:]]) + "\n")

    assert "edited or damaged" in read_record(path).warnings[0].message


def test_a_shortened_sweep_is_warned_of_when_it_is_stored_and_not_again(tmp_path: Path) -> None:
    path = write_record(tmp_path / "short.record")
    *rows, footer = path.read_text().splitlines()
    shortened = json.loads(footer) | {"shortened": True}
    path.write_text("\n".join([*rows, json.dumps(shortened), ""]))
    (warning,) = read_record(path).warnings
    assert "shortened: its time budget of" in warning.message

    told = [import_files([path], Store(tmp_path / "store")).warnings for _ in range(2)]

    assert told == [[warning], []]


def write_started(path: Path, **start: float) -> Path:
    """Write a record whose calls of 1 B take 0.7 us, of 8 B 1.1 us, and of 64 KiB 40 us."""
    *rows, footer = write_record(path).read_text().splitlines()
    points = [
        {"mode": "library", "size_bytes": size, "median_us": time_us}
        for size, time_us in ((65536, 40.0), (1, 0.7), (8, 1.1))
    ]
    started = json.loads(footer) | {"points": points, "start": start}
    path.write_text("\n".join([*rows, json.dumps(started), ""]))
    return path


def test_times_below_the_error_of_the_clocks_are_warned_of(tmp_path: Path) -> None:
    path = write_started(tmp_path / "run.record", late_calls=0, clock_error_us=1.26)
    (warning,) = read_record(path).warnings
    assert "below the 1.26 us by which the clocks" in warning.message
    assert "library up to 8 B;" in warning.message

    path = write_started(tmp_path / "run.record", late_calls=0, clock_error_us=0.52)
    assert read_record(path).warnings == []


def test_many_late_calls_are_warned_of(tmp_path: Path) -> None:
    path = write_started(tmp_path / "run.record", calls=900, late_calls=200, clock_error_us=0)
    (warning,) = read_record(path).warnings
    assert "200 of 900 calls started late" in warning.message

    path = write_started(tmp_path / "run.record", calls=9000, late_calls=200, clock_error_us=0)
    assert read_record(path).warnings == []


def test_damaged_payloads_are_warned_of(tmp_path: Path) -> None:
    path = write_record(tmp_path / "run.record")
    path.write_text(path.read_text().replace('"errors": 0', '"errors": 3'))

    assert "3 payloads arrived damaged" in read_record(path).warnings[0].message


def test_damaged_payloads_of_points_are_warned_of(tmp_path: Path) -> None:
    """The count of the whole run may be another one, as after an edit."""
    path = write_record(tmp_path / "run.record")
    *lines, last = path.read_text().splitlines()
    footer = json.loads(last)
    footer["points"] = [
        {"mode": "send", "size_bytes": size, "payload_errors": errors}
        for size, errors in ((1, 0), (2, 2), (4, 3))
    ]
    path.write_text("\n".join([*lines, json.dumps(footer)]) + "\n")

    assert footer["verification"]["errors"] == 0
    assert "5 payloads arrived damaged" in read_record(path).warnings[0].message


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        (["ranks", 1, "host"], None, "header field 'ranks.1.host' has the wrong type"),
        (["plan", "seed"], "one", "header field 'plan.seed' has the wrong type"),
        (["labels", "site"], 3, "header field 'labels.site' has the wrong type"),
        (["mpi", "cvars"], [], "header field 'mpi.cvars' has the wrong type"),
        (["ranks", 0, "before"], {}, "header field 'ranks.0.before.load1' is missing"),
        (["ranks", 0, "topology"], {}, "header field 'ranks.0.topology.sockets' is missing"),
        (["ranks", 0, "ptrace_scope"], "0", "header field 'ranks.0.ptrace_scope' has the wrong"),
        (["columns"], ["mode"], "header field 'columns' lacks 'size_bytes'"),
        (["clock"], 1, "header field 'clock' has the wrong type"),
    ],
)
def test_a_wrong_header_field_is_named(
    tmp_path: Path, field: list[str | int], value: object, problem: str
) -> None:
    path = write_record(tmp_path / "bad.record")
    head, rest = path.read_text().split("\n", 1)
    header = json.loads(head)
    part = header
    for name in field[:-1]:
        part = part[name]
    part[field[-1]] = value
    path.write_text(f"{json.dumps(header)}\n{rest}")

    with pytest.raises(RecordError) as caught:
        read_facts(path)

    assert str(caught.value).startswith(f"{path}: line 1: {problem}")
    assert str(caught.value).endswith("; measure again")


STACK: dict[str, Any] = {
    "ucx": {
        "version": "1.13.1",
        "settings": {"UCX_RNDV_THRESH": "auto", "UCX_TLS": "all"},
        "sizes": ["UCX_RNDV_THRESH"],
    },
    "libfabric": {"version": "1.17", "settings": {"FI_TCP_IFACE": None}, "sizes": []},
    "selected": {"pml": ["ucx"], "mtl": [], "btl": []},
    "tcp": {"tcp_rmem": [4096, 131072, 6291456], "tcp_congestion_control": "cubic"},
    "glibc": {
        "version": "2.36",
        "settings": {"glibc.cpu.hwcaps": ""},
        "sizes": [],
        "cpu_flags": ["erms", "fsrm"],
    },
}
ENDPOINT: dict[str, Any] = {
    "lanes": ["sysv/memory", "cma/memory"],
    "tag_send": [
        {"first_bytes": 0, "last_bytes": 8255, "protocol": "egr/bcopy", "path": None},
        {"first_bytes": 8256, "last_bytes": None, "protocol": "rndv", "path": None},
    ],
    "count": 1,
}


def with_stack(path: Path, stack: Any, endpoints: Any) -> Path:
    """Write a record that tells what lies below MPI."""
    header, *rest, footer = write_record(path).read_text().splitlines()
    head, end = json.loads(header), json.loads(footer)
    head["mpi"]["stack"] = stack
    for rank in end["ranks"]:
        rank["ucx_endpoints"] = endpoints
    path.write_text("\n".join([json.dumps(head), *rest, json.dumps(end)]) + "\n")
    return path


def test_what_lies_below_mpi_is_read(tmp_path: Path) -> None:
    facts = read_facts(with_stack(tmp_path / "run.record", STACK, [ENDPOINT]))

    assert facts.footer is not None
    assert facts.header["mpi"]["stack"] == STACK
    assert facts.footer["ranks"][1]["ucx_endpoints"] == [ENDPOINT]
    unknown: dict[str, Any] = {"ucx": None, "libfabric": None, "selected": {}, "tcp": {}}
    for older in (unknown, unknown | {"glibc": None}):
        assert read_facts(with_stack(tmp_path / "none.record", older, [])).footer is not None


@pytest.mark.parametrize(
    ("stack", "problem"),
    [
        ([], "mpi.stack' has the wrong type"),
        ({"ucx": "1.13"}, "mpi.stack.ucx' has the wrong type"),
        ({"ucx": {"settings": {}, "sizes": []}}, "mpi.stack.ucx.version' is missing"),
        ({"ucx": STACK["ucx"] | {"settings": {"A": 1}}}, "mpi.stack.ucx.settings.A' has the wrong"),
        ({"ucx": STACK["ucx"] | {"sizes": [1]}}, "mpi.stack.ucx.sizes.0' has the wrong type"),
        ({"libfabric": {"version": "1", "settings": {"A": []}, "sizes": []}},
         "mpi.stack.libfabric.settings.A' has the wrong type"),
        ({"selected": {"pml": "ucx"}}, "mpi.stack.selected.pml' has the wrong type"),
        ({"tcp": {"tcp_rmem": {}}}, "mpi.stack.tcp.tcp_rmem"),
        ({"glibc": STACK["glibc"] | {"cpu_flags": 1}}, "mpi.stack.glibc.cpu_flags' has the wrong"),
    ],
)  # fmt: skip
def test_a_wrong_field_of_what_lies_below_mpi_is_named(
    tmp_path: Path, stack: object, problem: str
) -> None:
    with pytest.raises(RecordError, match="line 1: header field '") as caught:
        read_facts(with_stack(tmp_path / "bad.record", stack, []))

    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("endpoints", "problem"),
    [
        ({}, "ranks.0.ucx_endpoints' has the wrong type"),
        ([{"tag_send": []}], "ranks.0.ucx_endpoints.0.lanes' is missing"),
        ([ENDPOINT | {"lanes": [None]}], "ranks.0.ucx_endpoints.0.lanes.0' has the wrong type"),
        ([ENDPOINT | {"tag_send": [{"first_bytes": -1, "last_bytes": 1, "protocol": "a"}]}],
         "ranks.0.ucx_endpoints.0.tag_send.0.first_bytes' is wrong"),
        ([ENDPOINT | {"tag_send": [{"first_bytes": 0, "protocol": "a"}]}],
         "ranks.0.ucx_endpoints.0.tag_send.0.last_bytes' is missing"),
        ([ENDPOINT | {"count": "many"}], "ranks.0.ucx_endpoints.0.count' has the wrong type"),
    ],
)  # fmt: skip
def test_a_wrong_field_of_an_endpoint_is_named(
    tmp_path: Path, endpoints: object, problem: str
) -> None:
    with pytest.raises(RecordError, match="footer field '") as caught:
        read_facts(with_stack(tmp_path / "bad.record", STACK, endpoints))

    assert problem in str(caught.value)


def test_a_record_names_its_kernel(tmp_path: Path) -> None:
    path = write_record(tmp_path / "nameless.record", kernel={"version": "1.0"})

    with pytest.raises(RecordError, match=r"header field 'kernel\.name' is missing"):
        read_facts(path)


def test_fields_that_a_header_does_not_have_yet_or_any_more_are_no_error(tmp_path: Path) -> None:
    path = write_record(tmp_path / "old.record", mpi={}, kernel={"name": "a"}, plan={"later": [1]})

    assert read_record(path).header["plan"] == {"later": [1]}


def spoilt(tmp_path: Path, number: int, line: str) -> Path:
    """Write a record whose line of that number, from 1, is replaced."""
    path = write_record(tmp_path / "bad.record")
    lines = path.read_text().splitlines()
    lines[number - 1] = line
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    ("number", "line", "problem"),
    [
        (1, "not json", "line 1: is not a run record"),
        (1, '{"record": "other"}', "line 1: is not a run record"),
        (
            1,
            '{"record": "switchpoint", "schema": 7}',
            "schema 7, but this Switchpoint reads schema 1",
        ),
        (1, '{"record": "switchpoint", "schema": 1}', "'run_id' is missing"),
        (2, "mode,size", "line 2: the CSV heading 'mode,size'"),
        (5, "send,8,0,0,10,fast", "line 5: malformed row"),
        (5, "send,8,0,0", "line 5: malformed row"),
        (5, "send,eight,0,0,10,1.0", "line 5: malformed row"),
        (5, "send,8,0,0,10,-1.0", "line 5: size 8 B with time -1.0 us"),
        (5, "send,8,0,0,10,nan", "line 5: size 8 B with time nan us"),
        (5, "send,-8,0,0,10,1.0", "line 5: size -8 B"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, number: int, line: str, problem: str) -> None:
    path = spoilt(tmp_path, number, line)

    with pytest.raises(RecordError) as caught:
        read_record(path)

    assert str(caught.value).startswith(str(path))
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is empty"),
        (b"\n\n", "begins with an empty line"),
        (b"\x7fELF\0\0\0\0", "is a binary file"),
        (gzip.compress(b"x" * 10000, mtime=0)[:40], "cannot be read"),
    ],
)
def test_what_is_no_text_is_named(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "bad.record"
    path.write_bytes(content)

    for read in (read_record, read_facts):
        with pytest.raises(RecordError, match=problem):
            read(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"none\.record: No such file or directory"):
        read_record(tmp_path / "none.record")


MERGESORT = RECORDS / "openmpi-mergesort-two-nodes.record.gz"


def test_activity_is_a_table_of_what_each_rank_did_when() -> None:
    footer = read_facts(MERGESORT).footer
    assert footer is not None
    table = activity_table(footer)

    assert set(table["phase"]) == {"compute", "send", "receive", "wait"}
    assert len(table) == len(footer["points"]) * (1 * 7 + 2 * 10 + 4 * 4)  # root, inner, leaves
    assert table["start_us"].le(table["end_us"]).all()
    busy = table.assign(us=table["end_us"] - table["start_us"]).query("rank == 0")
    covered = busy.groupby("size_bytes")["us"].sum() / busy.groupby("size_bytes")["length_us"].max()
    assert covered.between(0.99, 1).all()
    assert activity_table({"samples": 0}).empty


@pytest.mark.parametrize(
    ("spans", "words"),
    [
        ([[0, 9, 1.0, 2.0]], "has an impossible span, [0, 9, 1.0, 2.0] (tree 200000 B)"),
        ([[0, 0, 2.0, 1.0]], "has an impossible span, [0, 0, 2.0, 1.0]"),
        ([[7, 0, 0, 1]], "has an impossible span, [7, 0, 0, 1]"),
        ([[0.0, 0, 0, 1]], "has an impossible span, [0.0, 0, 0, 1]"),
        ([[0, False, 0, 1]], "has an impossible span, [0, False, 0, 1]"),
        ([[0, 0, 0, 1e300]], "has an impossible span, [0, 0, 0, 1e+300]"),
        ([[0, 0, "0", "1"]], "has an impossible span, [0, 0, '0', '1']"),
        ([[0, 0]], "has an impossible span, [0, 0]"),
        ([1], "has a point whose 'spans' are not arrays"),
        (None, "has a point whose 'spans' are not arrays"),
    ],
)
def test_damaged_activity_is_refused_in_one_line(tmp_path: Path, spans: object, words: str) -> None:
    *lines, last = gzip.decompress(MERGESORT.read_bytes()).decode().splitlines()
    footer = json.loads(last)
    footer["activity"]["points"][0]["spans"] = spans
    path = tmp_path / "run.record"
    path.write_text("\n".join([*lines, json.dumps(footer)]) + "\n")

    for reader in (read_record, read_facts):
        with pytest.raises(RecordError) as caught:
            reader(path)
        assert str(path) in str(caught.value)
        assert words in str(caught.value)
        assert "\n" not in str(caught.value)


def test_what_lies_below_mpi_is_a_term_of_a_run(tmp_path: Path) -> None:
    facts = read_facts(write_record(tmp_path / "run.record"))
    assert facts.footer is not None
    facts.header["mpi"]["stack"] = {
        "ucx": {"version": "1.15.0", "settings": {}}, "libfabric": None, "selected": {},
        "tcp": {"tcp_congestion_control": "bbr"}, "glibc": STACK["glibc"],
    }  # fmt: skip
    facts.footer["ranks"][0]["ucx_endpoints"] = [ENDPOINT]

    terms = run_terms(facts.header, facts.footer)

    assert terms["UCX"] == "1.15.0"
    assert terms["glibc"] == "2.36"
    assert terms["kernel's tcp_congestion_control"] == "bbr"
    assert terms["UCX's transports"] == ", ".join(sorted(ENDPOINT["lanes"]))
    assert "libfabric" not in terms


@pytest.mark.parametrize(("share", "path"), [(0.34, "network"), (0.02, "shared_memory")])
def test_a_collective_may_send_its_payload_to_a_node_once(
    tmp_path: Path, share: float, path: str
) -> None:
    # A hierarchical broadcast to three other ranks sends one copy of three over the network.
    facts = read_facts(write_record(tmp_path / "run.record"))
    assert facts.footer is not None
    payload = facts.footer["verification"]["bytes_moved"]
    header, footer = json.loads(json.dumps([facts.header, facts.footer]))
    for rank in (2, 3):
        header["ranks"].append(json.loads(json.dumps(header["ranks"][0])) | {"rank": rank})
        footer["ranks"].append(json.loads(json.dumps(footer["ranks"][0])) | {"rank": rank})
    for before, after in zip(header["ranks"], footer["ranks"], strict=True):
        before["host"] = "a1" if before["rank"] < 2 else "a2"
        before["before"] |= {"tcp_socket_bytes": 0, "untold_sockets": 0}
        sent = int(share * payload) if before["rank"] in {0, 2} else 0
        after["after"] |= {"tcp_socket_bytes": sent, "untold_sockets": 0}

    assert prove(header, footer).path == path


@pytest.mark.parametrize(
    ("adapter", "environment", "complaints"),
    [
        ("mlx5_0/1", {}, 1),
        ("mlx5_0/1", {"UCX_TLS": "tcp,self"}, 0),
        ("eth0", {}, 0),
    ],
)
def test_tcp_beside_a_fabric_that_nobody_used_is_an_error(
    tmp_path: Path, adapter: str, environment: dict[str, str], complaints: int
) -> None:
    facts = read_facts(write_record(tmp_path / "run.record"))
    assert facts.footer is not None
    facts.header["mpi"]["environment"] = environment
    moved = facts.footer["verification"]["bytes_moved"]
    for before, after in zip(facts.header["ranks"], facts.footer["ranks"], strict=True):
        before |= {"host": f"n{before['rank']}", "boot_id": str(before["rank"])}
        port = {"name": adapter, "speed_Mbps": 200000, "mtu": None, "rx_bytes": 5, "tx_bytes": 5}
        before["before"] |= {"interfaces": [port], "tcp_socket_bytes": 0, "untold_sockets": 0}
        after["after"] |= {"interfaces": [port], "tcp_socket_bytes": moved, "untold_sockets": 0}
    two_nodes = Placement(summary="x", nodes=2, switches=1, path="network")

    found = contradictions(two_nodes, facts.header, facts.footer, "^(n)")

    assert len([one for one in found if "mlx5_0/1 at 200 Gbit/s" in one]) == complaints
