"""The catalogue of causes: its entries, a site's own, and what is said of a wrong one."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
import yaml
from conftest import RECORDS
from switchpoint.errors import InputError
from switchpoint.explanation import catalogue
from switchpoint.explanation.own_catalogue import add_to_catalogue
from switchpoint.untrusted.settings import may_be_set
from typer.testing import Result

Run = Callable[..., Result]

FILE = Path(catalogue.__file__).with_name("catalogue.yaml")


def test_the_catalogue_that_is_shipped_is_sound() -> None:
    known = catalogue.read_catalogue(FILE)

    assert known.settings[0].variable == "btl_tcp_eager_limit"
    assert {entry.origin for entry in known.origins} >= {"inline_limit", "tcp_segment"}


def test_each_setting_is_listed_among_those_that_a_record_may_set() -> None:
    settings = catalogue.read_catalogue(FILE).settings
    set_to = {f"{setting.environment}=4096" for setting in settings}

    assert {text for text in set_to if not may_be_set(*text.split("=", 1))} == set()


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        (
            "    ends_eager: true\n",
            "",
            "part 'settings', entry 1 (btl_tcp_eager_limit), field 'ends_eager':"
            " is missing; add it",
        ),
        (
            "ends_eager: true",
            "ends_eger: true",
            "part 'settings', entry 1 (btl_tcp_eager_limit), field 'ends_eager':"
            " is missing; add it",
        ),
        (
            "    path: network\n",
            "    path: network\n    header: 56\n",
            "part 'settings', entry 1 (btl_tcp_eager_limit), field 'header':"
            " is not known; correct its name or remove it",
        ),
        (
            "path: network",
            "path: netwrok",
            "part 'settings', entry 1 (btl_tcp_eager_limit), field 'path': input should be"
            " 'shared_memory', 'network' or 'any'; correct it",
        ),
        (
            '    header_bytes: {"4.1": 56, "5.0": 80}\n',
            "",
            "part 'settings', entry 1 (btl_tcp_eager_limit): needs either 'header_bytes' or"
            " 'last_size_offset'; correct it",
        ),
        (
            "    environment: OMPI_MCA_btl_tcp_eager_limit\n",
            "    environment: LD_LIBRARY_PATH\n",
            "part 'settings', entry 1 (btl_tcp_eager_limit): sets no variable of an MPI",
        ),
        (
            "    environment: OMPI_MCA_btl_tcp_eager_limit\n",
            "    environment: GLIBC_TUNABLES=btl_tcp_eager_limit\n",
            "part 'settings', entry 1 (btl_tcp_eager_limit): sets no variable of an MPI",
        ),
        (
            "    layer: ob1\n",
            "    layer: ob2\n",
            "part 'settings', entry 1 (btl_tcp_eager_limit), field 'layer': input should be 'ob1',",
        ),
        (
            "    layer: ob1\n    transport: tcp\n",
            "",
            "part 'settings', entry 1 (btl_tcp_eager_limit): needs 'layer' or 'library'; correct",
        ),
        (
            "    whole: tcp_segment\n    most: 4\n",
            "    whole: tcp_segment\n",
            "part 'origins', entry 4 (tcp_segment): needs the fields of one rule: setting; or"
            " cache_level; or message_header, most, whole; or bandwidth_drop, least_size_bytes;"
            " correct it",
        ),
        ("\norigins:\n", "\norigin:\n", "part 'origins': is missing; add it"),
        ("settings:\n", "settings: [\n", "is not YAML"),
    ],
)
def test_a_wrong_entry_is_named_with_its_field_and_the_fix(
    tmp_path: Path, right: str, wrong: str, said: str
) -> None:
    file = tmp_path / "catalogue.yaml"
    text = FILE.read_text(encoding="utf-8")
    assert right in text
    file.write_text(text.replace(right, wrong, 1), encoding="utf-8")

    with pytest.raises(InputError) as error:
        catalogue.read_catalogue(file)

    assert str(error.value).startswith(f"{file}: ")
    assert said in str(error.value)


#: What a site learned: a header of a new series, and a setting that nobody knew.
HEADER = {
    "variable": "btl_tcp_eager_limit", "environment": "OMPI_MCA_btl_tcp_eager_limit",
    "layer": "ob1", "transport": "tcp", "path": "network", "header_bytes": {"5.1": 96},
    "ends_eager": True, "governs": "eager to rendezvous over TCP", "source": "learned",
    "verified": "Open MPI 5.1.0",
}  # fmt: skip
UNKNOWN = {
    "variable": "UCX_NEW_SEG_SIZE", "environment": "UCX_NEW_SEG_SIZE", "layer": "ucx",
    "path": "network", "last_size_offset": -9, "ends_eager": True, "governs": "eager to rendezvous",
    "source": "learned", "verified": "MPICH 4.0.2 over UCX 1.13.1",
}  # fmt: skip


def known(variable: str) -> catalogue.Setting:
    """The catalogue's entry of a variable."""
    (entry,) = [one for one in catalogue.catalogue().settings if one.variable == variable]
    return entry


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site's catalogue with two entries, which all commands read."""
    file = tmp_path / "learned.yaml"
    for entry in (HEADER, UNKNOWN):
        add_to_catalogue(file, entry)
    monkeypatch.setenv(catalogue.VARIABLE, str(file))
    return file


@pytest.mark.usefixtures("own")
def test_a_sites_own_catalogue_adds_settings_and_what_is_known_of_others() -> None:
    assert known("UCX_NEW_SEG_SIZE").last_size_offset == -9
    limit = known("btl_tcp_eager_limit")
    assert limit.header_bytes == {"4.1": 56, "5.0": 80, "5.1": 96}
    assert (limit.verified or "").endswith("5.0.11; Open MPI 5.1.0")
    assert known("UCX_RNDV_THRESH").automatic == ["unset", "auto"]


def test_a_changed_file_is_read_again_and_without_it_the_shipped_one_counts(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_to_catalogue(own, UNKNOWN | {"last_size_offset": -10})
    assert known("UCX_NEW_SEG_SIZE").last_size_offset == -10
    monkeypatch.delenv(catalogue.VARIABLE)
    assert known("btl_tcp_eager_limit").header_bytes == {"4.1": 56, "5.0": 80}


def test_what_is_learned_again_is_joined_and_everything_else_stays(own: Path) -> None:
    own.write_text(own.read_text() + "segments: []\n")
    add_to_catalogue(
        own, HEADER | {"header_bytes": {"5.2": 104}, "verified": "Open MPI 5.1.0; Open MPI 5.2.0"}
    )

    content = yaml.safe_load(own.read_text())
    names = [entry["variable"] for entry in content["settings"]]
    assert sorted(names) == ["UCX_NEW_SEG_SIZE", "btl_tcp_eager_limit"]
    (again,) = [one for one in content["settings"] if one["variable"] == "btl_tcp_eager_limit"]
    assert again["header_bytes"] == {"5.1": 96, "5.2": 104}
    assert again["verified"] == "Open MPI 5.1.0; Open MPI 5.2.0"


def test_an_entry_that_is_not_valid_leaves_the_file_as_it_was(own: Path) -> None:
    before = own.read_bytes()
    with pytest.raises(InputError, match=r"entry 1 \(UCX_NEW_SEG_SIZE\), field 'layer'"):
        add_to_catalogue(own, UNKNOWN | {"layer": "ucs"})
    assert own.read_bytes() == before
    own.write_text("settings: [\n")
    with pytest.raises(InputError, match="is not YAML"):
        add_to_catalogue(own, UNKNOWN)
    assert own.read_text() == "settings: [\n"


def _add_numbered(file: Path, number: int) -> None:
    add_to_catalogue(file, UNKNOWN | {"variable": f"UCX_{number}"})


def test_processes_that_add_at_once_lose_nothing(tmp_path: Path) -> None:
    file = tmp_path / "learned.yaml"
    with ProcessPoolExecutor(4) as pool:
        list(pool.map(_add_numbered, [file] * 12, range(12)))
    names = {entry["variable"] for entry in yaml.safe_load(file.read_text())["settings"]}
    assert names == {f"UCX_{number}" for number in range(12)}


def test_export_prints_what_was_verified_as_the_catalogue_writes_it(
    switchpoint: Run, own: Path, tmp_path: Path
) -> None:
    add_to_catalogue(own, UNKNOWN | {"variable": "UCX_GUESSED", "verified": None})
    done = switchpoint("catalogue", "export")

    assert done.exit_code == 0
    printed = yaml.safe_load(done.stdout)
    assert [entry["variable"] for entry in printed["settings"]] == [
        "btl_tcp_eager_limit", "UCX_NEW_SEG_SIZE",
    ]  # fmt: skip
    file = tmp_path / "contribution.yaml"
    file.write_text(done.stdout)
    assert len(catalogue.read_catalogue(file, catalogue.OwnCatalogue).settings) == 2


def test_export_without_a_catalogue_or_anything_verified_says_what_to_do(
    switchpoint: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(catalogue.VARIABLE, raising=False)
    for name, said in (
        (None, "is not set; let it name the catalogue of your site"),
        ("missing.yaml", "is no file; name your catalogue, or unset it"),
        ("empty.yaml", "has no setting that was verified"),
    ):
        if name is not None:
            (tmp_path / "empty.yaml").touch()
            monkeypatch.setenv(catalogue.VARIABLE, str(tmp_path / name))
        done = switchpoint("catalogue", "export")
        assert done.exit_code == 2
        [line] = done.stderr.splitlines()
        assert said in line


@pytest.mark.usefixtures("own")
def test_list_shows_every_setting_and_where_it_was_seen(switchpoint: Run) -> None:
    lines = switchpoint("catalogue", "list").stdout.splitlines()
    [known_here] = [line for line in lines if line.startswith("UCX_NEW_SEG_SIZE")]
    assert "MPICH 4.0.2 over UCX 1.13.1" in known_here
    [documented] = [line for line in lines if line.startswith("PSM2_MQ_RNDV_HFI_THRESH")]
    assert documented.rstrip().endswith("not seen here")


def test_list_shows_the_layers_of_a_run_and_the_values_of_its_settings(switchpoint: Run) -> None:
    record = RECORDS / "explain" / "mpich-tcp-zoom.record.gz"
    done = switchpoint("catalogue", "list", record)

    assert done.stdout.splitlines()[:2] == [
        "MPICH 4.0.2, network",
        "layers: ucx (self, tcp)",
    ]
    # Long cells continue on lines of their own.
    listed = [line for line in done.stdout.splitlines()[3:] if not line.startswith(" ")]
    rows = {line.split()[0]: line for line in listed}
    assert rows["UCX_TCP_TX_SEG_SIZE"].split()[1:3] == ["8192", "default"]
    assert "UCX_SYSV_SEG_SIZE" not in rows

    printed = json.loads(switchpoint("catalogue", "list", "--json", record).stdout)
    assert printed["stack"]["transports"]["ucx"] == ["self", "tcp"]
    (setting,) = [
        row for row in printed["settings"] if row["variable"] == "UCX_RNDV_THRESH"
    ]  # fmt: skip
    assert (setting["value"], setting["set_by"]) == (None, None)


def test_list_of_a_file_that_is_no_record_is_one_clear_error(switchpoint: Run) -> None:
    done = switchpoint("catalogue", "list", FILE)
    assert done.exit_code == 2
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("file", "variable", "message"),
    [
        ("missing/own.yaml", None, "the folder {folder}/missing does not exist; make it"),
        ("wrong.yaml", None, "{folder}/wrong.yaml: part 'bad': is not known"),
        ("own.yaml", "none.yaml", "SWITCHPOINT_CATALOGUE: 'none.yaml' is no file"),
    ],
)
def test_prove_starts_nothing_if_a_catalogue_cannot_be_used(
    switchpoint: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str,
    variable: str | None, message: str,
) -> None:  # fmt: skip
    (tmp_path / "wrong.yaml").write_text("bad:\n")
    if variable:
        monkeypatch.setenv("SWITCHPOINT_CATALOGUE", variable)

    done = switchpoint(
        "prove", "-o", tmp_path / "proof", "--learn", tmp_path / file,
        "--", "touch", tmp_path / "started",
    )  # fmt: skip

    assert done.exit_code == 2
    assert message.format(folder=tmp_path) in done.stderr
    assert not (tmp_path / "started").exists()
