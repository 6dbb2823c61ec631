"""Names come from where files lie: ReFrame's folders, `--path` patterns, labels of folders."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import write_record
from switchpoint import InputError, Store, import_files, read, read_files
from switchpoint.importing.layout import PathPattern
from switchpoint.tables.columns import identity_columns
from typer.testing import Result

Run = Callable[..., Result]

OUTPUTS = Path(__file__).parent / "outputs"


def placed(root: Path, place: str, name: str = "osu-latency.txt") -> Path:
    """Copy a benchmark's output to where a group would keep it."""
    path = root / place
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(OUTPUTS / name, path)
    return path


def names_of(path: Path) -> dict[str, str]:
    """What a file's only curve is named, its kernel and run aside."""
    samples = read(path).samples
    [row] = samples[identity_columns(samples)].drop_duplicates().to_dict("records")
    return {
        name: text
        for name, text in row.items()
        if name not in {"kernel", "run_id"} and isinstance(text, str)
    }


@pytest.mark.parametrize(
    ("place", "test"),
    [
        ("output/alpha/batch/gnu/OsuLatency_0fbd9ad4/osu.out", "OsuLatency_0fbd9ad4"),
        ("2024/output/alpha/batch/gnu/OsuLatency/more/osu.out", "OsuLatency"),
        ("output/alpha/batch/gnu/OsuLatency_retry2/osu.out", "OsuLatency"),
        ("output/2024-03-05T10:20:30/alpha/batch/gnu/OsuLatency/osu.out", "OsuLatency"),
        ("output/240305T102030+0100/alpha/batch/gnu/OsuLatency/osu.out", "OsuLatency"),
        ("output/of/group/output/alpha/batch/gnu/OsuLatency/osu.out", "OsuLatency"),
    ],
)
def test_reframes_folders_name_site_partition_environment_and_test(
    tmp_path: Path, place: str, test: str
) -> None:
    assert names_of(placed(tmp_path, place)) == {
        "site": "alpha", "partition": "batch", "environ": "gnu", "test": test,
    }  # fmt: skip


@pytest.mark.parametrize("place", ["output/alpha/batch/gnu/osu.out", "out/a/b/c/d/osu.out"])
def test_other_folders_name_nothing_by_themselves(tmp_path: Path, place: str) -> None:
    assert names_of(placed(tmp_path, place)) == {}


def test_perflogs_name_what_the_log_does_not(tmp_path: Path) -> None:
    folder = tmp_path / "perflogs" / "alpha" / "batch"
    folder.mkdir(parents=True)
    (folder / "Stream.log").write_text(
        "result|job_completion_time|latency_8B_value|latency_8B_unit|triad_value|triad_unit\n"
        "pass|2024-03-05T10:20:30|1.5|us|200|GB/s\n"
    )

    found = read(folder / "Stream.log")

    assert found.runs[["site", "partition", "kernel"]].iloc[0].tolist() == [
        "alpha", "batch", "Stream",
    ]  # fmt: skip
    assert found.single_values[["site", "partition", "test", "variable"]].iloc[0].tolist() == [
        "alpha", "batch", "Stream", "triad",
    ]  # fmt: skip


def test_the_store_lists_the_names(tmp_path: Path) -> None:
    placed(tmp_path, "output/alpha/batch/gnu/OsuLatency/osu.out")
    import_files([tmp_path / "output"], Store(tmp_path / "store"))

    [run] = Store(tmp_path / "store").runs(site="alpha").to_dict("records")

    assert (run["partition"], run["environ"], run["kernel"]) == ("batch", "gnu", "osu_latency")
    assert json.loads(run["labels"])["test"] == "OsuLatency"


@pytest.mark.parametrize(
    ("pattern", "place", "names"),
    [
        (
            "{site}/{environ}/{suite}/{test}", "alpha/gnu/osu/latency/1.out",
            {"site": "alpha", "environ": "gnu", "suite": "osu", "test": "latency"},
        ),
        ("{site}/", "alpha/gnu/osu.out", {"site": "alpha"}),  # more folders do not matter
        ("{_}/{site}", "2024/alpha/osu.out", {"site": "alpha"}),
        ("*/{site}", "2024/alpha/osu.out", {"site": "alpha"}),
        ("run-*/np{processes}", "run-7/np16/osu.out", {"processes": "16"}),
        ("{site}-{fabric}", "alpha-ib/osu.out", {"site": "alpha", "fabric": "ib"}),
        ("{site}/{mpi}", "alpha/OpenMPI-4.1.5-GCC-12/x.out",
         {"site": "alpha", "mpi": "Open MPI 4.1.5"}),
        ("{site}/{test}_{processes}.out", "alpha/lat_16.out",
         {"site": "alpha", "test": "lat", "processes": "16"}),
        ("{test}.*", "lat.x.txt", {"test": "lat"}),
    ],
)  # fmt: skip
def test_a_pattern_names_folders_in_their_order(
    tmp_path: Path, pattern: str, place: str, names: dict[str, str]
) -> None:
    placed(tmp_path / "old", place)

    gathered = read_files([tmp_path / "old"], patterns=[PathPattern.parse(pattern)])

    assert gathered.measurements is not None
    samples = gathered.measurements.samples
    assert {name: samples[name].iloc[0] for name in names} == names
    assert set(identity_columns(samples)) == {*names, "kernel", "run_id"}


@pytest.mark.parametrize(
    ("pattern", "place"),
    [
        ("{site}/{environ}/{test}", "alpha/gnu/osu.out"),  # fewer folders
        ("beta/{environ}", "alpha/gnu/osu.out"),
        ("{site}/{test}.out", "alpha/gnu/osu.out"),  # the file lies deeper
        ("{site}/{test}.log", "alpha/osu.out"),
    ],
)
def test_a_pattern_that_matches_no_file_stops_the_import(
    switchpoint: Run, tmp_path: Path, pattern: str, place: str
) -> None:
    placed(tmp_path / "old", place)

    result = switchpoint(
        "import", tmp_path / "old", "--store", tmp_path / "store", "--path", pattern
    )

    assert result.exit_code == 2
    assert result.stderr.startswith(f"switchpoint: --path: '{pattern}' matches none of 1 file,")
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("", "has '' as a folder"),
        ("/{site}", "begins with '/'"),
        ("{site}//{test}", "has '' as a folder"),
        ("../{site}", "has '..' as a folder"),
        ("{site", "has an unmatched brace in '{site'"),
        ("site}", "has an unmatched brace"),
        ("{}", "has {}; a name may contain letters"),
        ("{my site}", "a name may contain letters, digits and '_'"),
        ("{site}{test}", "has two adjacent fields"),
        ("{site}*", "has two adjacent fields"),
        ("{site}/{site}", "has {site} twice"),
        ("{_}/*", "contains no name"),
        ("{time_us}", "which is a reserved name"),
        ("{run_id}", "which is a reserved name"),
    ],
)
def test_a_bad_pattern_is_one_line_and_exit_code_2(
    switchpoint: Run, tmp_path: Path, pattern: str, problem: str
) -> None:
    placed(tmp_path / "old", "alpha/osu.out")

    result = switchpoint("import", tmp_path / "old", "--path", pattern, "--store", tmp_path / "s")

    assert result.exit_code == 2
    assert result.stderr.startswith("switchpoint: --path: ")
    assert problem in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_start_that_a_pattern_reads_is_a_time(switchpoint: Run, tmp_path: Path) -> None:
    placed(tmp_path / "old", "2026-11-21/osu.out")
    arguments = ["import", tmp_path / "old", "--store", tmp_path / "s", "--path", "{start_utc}"]
    assert switchpoint(*arguments).exit_code == 0

    placed(tmp_path / "old", "yesterday/osu.out")
    result = switchpoint(*arguments)

    assert result.exit_code == 2
    assert result.stderr.startswith("switchpoint: --path: '{start_utc}' reads {start_utc} from yes")
    assert "not an ISO 8601 time" in result.stderr
    assert result.stderr.count("\n") == 1


def test_of_several_patterns_the_first_that_matches_counts(tmp_path: Path) -> None:
    placed(tmp_path, "a/alpha/gnu/osu.out")
    placed(tmp_path, "b/beta/osu.out", "osu-bw.txt")
    patterns = [PathPattern.parse(text) for text in ("{_}/{site}/{environ}", "{_}/{site}")]

    gathered = read_files([tmp_path], patterns=patterns)

    assert gathered.measurements is not None
    runs = gathered.measurements.runs
    assert {*zip(runs["site"], runs["environ"], strict=True)} == {("alpha", "gnu"), ("beta", None)}


def test_a_pattern_leaves_reframes_folders_alone_unless_it_names_them(tmp_path: Path) -> None:
    placed(tmp_path, "output/alpha/batch/gnu/Osu/osu.out")
    placed(tmp_path, "x/beta/gnu/osu/run/osu.out", "osu-bw.txt")

    def sites(pattern: str) -> set[str]:
        gathered = read_files([tmp_path], patterns=[PathPattern.parse(pattern)])
        assert gathered.measurements is not None
        return set(gathered.measurements.runs["site"].dropna())

    assert sites("{suite}/{site}/{environ}/{test}") == {"alpha", "beta"}
    assert sites("output/{_}/{site}") == {"batch"}


def test_labels_of_a_folder_name_all_below_and_the_nearest_counts(tmp_path: Path) -> None:
    path = placed(tmp_path, "old/alpha/ib/osu.out")
    write_labels(tmp_path / "old", site="all", fabric="eth", mpi="MPICH 3.2", group="us")
    write_labels(tmp_path / "old" / "alpha", site="alpha", fabric="opa", group=None)
    write_labels(tmp_path / "old" / "alpha" / "ib", fabric="ib")

    assert names_of(path) == {"site": "alpha", "fabric": "ib", "mpi": "MPICH 3.2"}
    (path.parent / "osu.out.labels.json").write_text('{"fabric": "hdr"}')
    assert names_of(path)["fabric"] == "hdr"


def test_words_count_more_than_places_and_labels_of_folders_more_than_patterns(
    tmp_path: Path,
) -> None:
    path = placed(tmp_path, "output/alpha/batch/gnu/Osu/osu.out")
    write_labels(tmp_path, environ="from-labels")
    pattern = PathPattern.parse("output/{site}/{partition}/{environ}")

    gathered = read_files([tmp_path], patterns=[pattern])
    assert gathered.measurements is not None
    assert set(gathered.measurements.runs["environ"]) == {"from-labels"}
    path.write_text('# switchpoint: {"environ": "from-file"}\n' + path.read_text())
    assert names_of(path) == {
        "site": "alpha", "partition": "batch", "environ": "from-file", "test": "Osu",
    }  # fmt: skip


def test_a_tables_own_column_counts_more_than_any_label(tmp_path: Path) -> None:
    path = tmp_path / "curves.csv"
    path.write_text("size_bytes,time_us,site\n8,1,own\n")
    write_labels(tmp_path, site="other", mode="send")

    assert names_of(path) == {"site": "own", "mode": "send"}


def test_a_given_file_has_the_same_identity_as_in_its_folder(tmp_path: Path) -> None:
    path = placed(tmp_path, "output/alpha/batch/gnu/Osu/osu.out")
    write_labels(tmp_path / "output", fabric="ib")

    alone = read(path).runs["run_id"].tolist()
    gathered = read_files([tmp_path])
    assert gathered.measurements is not None
    assert gathered.measurements.runs["run_id"].tolist() == alone


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"site": 3}', '{"start_utc": "yesterday"}', '{"time_us": "1"}']
)
def test_labels_of_a_folder_that_cannot_be_used_are_one_line(
    switchpoint: Run, tmp_path: Path, content: str
) -> None:
    placed(tmp_path / "all", "old/a.out")
    placed(tmp_path / "all", "old/b.out", "osu-bw.txt")
    placed(tmp_path / "all", "good.out")
    labels = tmp_path / "all" / "old" / "switchpoint.labels.json"
    labels.write_text(content)

    result = switchpoint("import", tmp_path / "all", "--store", tmp_path / "store")

    assert result.stdout.startswith("1 run added")
    [line] = result.stderr.splitlines()
    assert line.startswith(f"switchpoint: {labels}: label")
    assert line.endswith("(2 files)")


def test_our_own_checks_results_keep_their_identity(tmp_path: Path) -> None:
    own = {
        "site": "testbed", "partition": "batch", "environ": "openmpi", "placement": "one_node",
        "check": "PingPong",
    }  # fmt: skip
    text = (
        f"# switchpoint: {json.dumps(own | {'mpi': 'MPICH 4.0.2'})}\n"
        + (OUTPUTS / "osu-bw.txt").read_text()
    )
    folder = tmp_path / "output" / "testbed" / "batch" / "openmpi" / "PingPong_0fbd9ad4"
    identities = []
    for place in (tmp_path / "elsewhere", folder):
        place.mkdir(parents=True)
        write_record(place / "pingpong.record", labels=own)
        (place / "osu_bw.out").write_text(text)
        found = read_files([place]).measurements
        assert found is not None
        identities.append(
            (sorted(found.runs["run_id"]), identity_columns(found.samples),
             sorted(found.runs["labels"]))
        )  # fmt: skip

    assert identities[0] == identities[1]
    outcome = import_files([tmp_path], Store(tmp_path / "store"))
    assert (outcome.added, outcome.already_stored) == (2, 0)


def test_a_record_without_labels_is_named_by_its_place(tmp_path: Path) -> None:
    folder = tmp_path / "output" / "alpha" / "batch" / "gnu" / "ByHand"
    folder.mkdir(parents=True)
    record = write_record(folder / "run.record", labels={"placement": "one_node"})

    assert names_of(record) == {
        "site": "alpha", "partition": "batch", "mpi": "Open MPI 4.1.4", "environ": "gnu",
        "placement": "one_node", "mode": "send", "test": "ByHand",
    }  # fmt: skip


def test_names_that_are_no_utf_8_are_kept_as_escapes(tmp_path: Path) -> None:
    folder = tmp_path / "old" / "alph\udce9"
    folder.mkdir(parents=True)
    shutil.copy(OUTPUTS / "osu-bw.txt", folder / "b\udcffw.out")

    outcome = import_files(
        [tmp_path / "old"], Store(tmp_path / "store"), patterns=[PathPattern.parse("{site}")]
    )

    assert outcome.failures == []
    [run] = Store(tmp_path / "store").runs().to_dict("records")
    assert run["site"] == r"alph\xe9"
    assert run["source"].endswith(r"b\xffw.out")


def test_a_pattern_given_from_python_is_checked_too() -> None:
    with pytest.raises(InputError, match="contains no name"):
        PathPattern.parse("results")


def write_labels(folder: Path, **labels: str | None) -> None:
    (folder / "switchpoint.labels.json").write_text(json.dumps(labels))
