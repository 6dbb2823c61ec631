"""One table in each format, with every damage, is right or told; see `fuzz.differential`."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.differential import DAMAGES, FORMATS, Format, drawn_case, verdicts


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_no_damage_makes_a_silently_wrong_number(form: Format, tmp_path: Path) -> None:
    case = drawn_case(form, 0)

    wrong = [
        (damage, verdict.why)
        for damage in DAMAGES
        for _, verdict in verdicts(case, damage, tmp_path)
        if verdict.kind == "wrong"
    ]

    assert wrong == []


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_a_sound_table_is_the_same_in_each_format(form: Format, tmp_path: Path) -> None:
    [(_, verdict)] = verdicts(drawn_case(form, 0), "none", tmp_path)

    assert verdict.kind == "right"
