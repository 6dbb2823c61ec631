"""A wrong entry in the catalogue of causes is one sentence: file, entry, field and fix."""

from __future__ import annotations

from pathlib import Path

import pytest
from switchpoint.errors import InputError
from switchpoint.explanation import catalogue

FILE = Path(catalogue.__file__).with_name("catalogue.yaml")


def test_the_catalogue_that_is_shipped_is_sound() -> None:
    known = catalogue.read_catalogue(FILE)

    assert known.settings[0].variable == "btl_tcp_eager_limit"
    assert {entry.origin for entry in known.origins} >= {"inline_limit", "tcp_segment"}


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
            "part 'origins', entry 3 (tcp_segment): needs the fields of one rule: setting; or"
            " message_header, most, whole; or bandwidth_drop, least_size_bytes; correct it",
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
