"""A short run of `make fuzz`, the same each time, and every input that once broke something."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from switchpoint import Store

from fuzz.inputs import corpus, hostile_files
from fuzz.judgement import VERBS, judge, of_store
from fuzz.own_files import KINDS, Sound, damaged_files, judge_own

#: Files that are imported together; the verbs then run once for all of them.
TOGETHER = 16


@pytest.mark.parametrize("path", corpus(), ids=lambda path: path.name)
def test_what_once_broke_something_is_one_line_or_a_result(path: Path) -> None:
    assert judge([(path.name, path.read_bytes())], verbs=[]).problems == []


@pytest.mark.slow
def test_every_verb_works_on_what_once_broke_something() -> None:
    files = [(path.name, path.read_bytes()) for path in corpus()]

    assert judge(files, page=True).problems == []


@pytest.mark.slow
@settings(
    max_examples=3,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(st.lists(hostile_files(), min_size=TOGETHER, max_size=TOGETHER))
def test_hostile_files_cost_only_themselves(files: list[tuple[str, bytes]]) -> None:
    assert judge(files).problems == []


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Sound:
    """Sound files of each kind that Switchpoint writes."""
    return Sound(tmp_path_factory.mktemp("sound"))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files_of_our_own_are_one_line_or_a_result(sound: Sound, kind: str) -> None:
    @settings(
        max_examples=3,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(damaged_files(sound, kind))
    def run(damaged: tuple[str, str, bytes]) -> None:
        assert judge_own(sound, *damaged).problems == []

    run()


@pytest.mark.slow
@pytest.mark.parametrize("table", ["runs", "facts", "samples", "curves", "parameters", "findings",
                                   "values"])  # fmt: skip
def test_every_verb_works_without_the_rows_of_a_table(
    sound: Sound, tmp_path: Path, table: str
) -> None:
    store = shutil.copytree(sound.store.url, tmp_path / "results")
    emptied = list((store / table).rglob("*.parquet"))
    for path in emptied:
        rows = pq.read_table(path, partitioning=None).slice(0, 0)
        pq.write_table(rows.replace_schema_metadata(None), path)

    assert emptied
    texts = [words for words in VERBS if "--json" not in words]
    assert of_store(tmp_path, Store(store), only=texts) == []


@pytest.mark.slow
def test_fuzzing_counts_each_round_of_each_target(tmp_path: Path) -> None:
    """Kernels need a build with sanitizers, and own files most of a minute."""
    targets = ["importers", "killed writers", "imports again", "flipped bits"]
    command = [sys.executable, "-m", "fuzz", "--rounds=1", f"--failures={tmp_path / 'failures'}"]

    done = subprocess.run(
        [*command, *(f"--only={target}" for target in targets)],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert [line.split(":")[0] for line in lines] == [*targets, "in all"]
    assert lines[0].startswith("importers: 288 inputs, ")
    assert lines[1].startswith("killed writers: 1 rounds, 1 killed writers, 0 problems, ")
    assert lines[2].startswith("imports again: 4 imports again, 0 problems, ")
    assert lines[4] == (
        "in all: 308 hostile files, 0 argument lists, 0 problems, 0 hangs, 0 too large"
    )
    assert not (tmp_path / "failures").exists()
