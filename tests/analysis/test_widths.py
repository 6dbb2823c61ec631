"""What every verb prints fits the terminal, and ends no line with blanks in a pipe."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import RECORDS, SIZES, write_record
from switchpoint.cli.command import app
from typer.testing import CliRunner, Result

Run = Callable[..., Result]

RECORD = RECORDS / "proof" / "openmpi-zoom-000.record.gz"

#: Verbs of the store, of its model, and others.
OF_STORE = (
    "detect", "detect --all", "explain", "explain --all",
    "explain --near=64k", "reach", "reach --switches", "ladder", "claims", "gate", "store ls",
    "compare mpi=Open_MPI mpi=MPICH", "compare --all mpi=Open_MPI mpi=MPICH", "references",
    "model fit --output={folder}/again.yaml",
)  # fmt: skip
OF_MODEL = (
    "model predict {folder}/model.yaml ring --placement=one_node_network",
    "model recommend {folder}/model.yaml --placement=one_node_network",
)
OTHERS = ("doctor", "catalogue list", f"catalogue list --run={RECORD}", f"reproduce {RECORD}")

#: Lines that are made to be copied, and so are never broken.
COPIED = re.compile(r" *(/|cd |.*MPI_DIR=)|use it: ")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the store of recorded runs at one site, and the model of them."""
    folder = tmp_path_factory.mktemp("widths")
    names = ("explain/openmpi-tcp-zoom", "explain/mpich-tcp-zoom")
    files = [str(RECORDS / f"{name}.record.gz") for name in names]
    for number, mpi in enumerate(("Open MPI v4.1.4", "MPICH Version: 4.0.2")):
        labels = {
            "site": "testbed", "placement": "one_node_network", "fabric": "roce-over-connectx-5",
            "environ": "a-long-name-of-an-environment", "partition": "standard-memory",
        }  # fmt: skip
        written = write_record(
            folder / f"{number}.record", run_id=f"{number}" * 32, labels=labels,
            slower=1 + 0.4 * number, sizes=SIZES[::2],
            mpi={"library": mpi, "standard": "3.1", "cvars": {},
            "environment": {}},
        )  # fmt: skip
        files.append(str(written))
    for arguments in (
        ["import", *files, "--store", f"{folder}/store"],
        ["model", "fit", *files[-2:], "--output", f"{folder}/model.yaml"],
    ):
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 0, done.stderr
    return folder


@pytest.mark.parametrize("columns", [80, 120, None])
@pytest.mark.parametrize("verb", [*OF_STORE, *OF_MODEL, *OTHERS])
def test_what_a_verb_prints_fits(recorded: Path, verb: str, columns: int | None) -> None:
    words = [word.replace("_MPI", " MPI").format(folder=recorded) for word in verb.split()]
    words += ["--store", f"{recorded}/store"] if verb in OF_STORE else []
    terminal = {"COLUMNS": f"{columns}", "TTY_COMPATIBLE": "1", "NO_COLOR": "1"}

    done = CliRunner().invoke(app, words, env=terminal if columns else {"TTY_COMPATIBLE": "0"})

    assert done.exit_code in {0, 1, 2}, done.exception
    lines = re.sub(r"\x1b\[[\d;]*m", "", done.stdout).splitlines()
    wide = [line for line in lines if len(line.rstrip()) > (columns or 200)]
    assert [line for line in wide if not COPIED.match(line)] == []
    if columns is None:
        assert [line for line in lines if line != line.rstrip()] == []
