"""The verdict of the gate in the forms that CI systems read, and single values in the gate."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date, timezone
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from conftest import write_record
from switchpoint import InputError, Store, accept, gate, import_files
from switchpoint.gating.gate import judged_last
from switchpoint.gating.policy import Policy
from synthetic_nights import FIRST, add_nights, from_night, in_placement
from typer.testing import Result

Run = Callable[..., Result]

_HEADING = (
    "result|job_completion_time|job_completion_time_unix|environ|name|partition|system"
    "|triad_value|triad_unit|triad_ref|triad_lower_thres|triad_upper_thres|triad_result"
)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store whose newest session has one finding that fails."""
    store = Store(tmp_path / "store")
    change = from_night(8, in_placement("two_nodes_two_hosts", latency_us=1.2))
    add_nights(store, range(9), change=change)
    return store


def log(
    folder: Path,
    values: list[float],
    unit: str = "GB/s",
    result: str = "pass",
    *,
    first: int = 1709607600,
    site: str = "alpha",
) -> Path:
    """Write the log of a test with a value for each night, the `first` in seconds since 1970."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        f"{result}|x|{first + 86400 * night}.5|gnu|Stream %size=8|batch|{site}|{value}"
        f"|{unit}|200|-0.5|null|pass"
        for night, value in enumerate(values)
    ]
    path = folder / "Stream.log"
    path.write_text("\n".join([_HEADING, *rows]) + "\n")
    return path


STEADY = [200.0, 201.0, 199.0, 200.5, 199.5, 200.2, 199.8, 200.9, 199.1, 200.4]


def test_junit_has_a_failure_for_the_finding_and_passes_the_rest(
    switchpoint: Run, store: Store, tmp_path: Path
) -> None:
    switchpoint("gate", "--store", store.url, "--junit", tmp_path / "gate.xml")

    [suite] = ElementTree.parse(tmp_path / "gate.xml").getroot()
    [failure] = suite.iter("failure")
    assert failure.get("message", "").startswith("latency of `two_nodes_two_hosts`")
    assert (suite.get("tests"), suite.get("failures")) == ("5", "1")
    passed = [case.get("name") for case in suite if not len(case)]
    assert "one_node MPICH pingpong" in passed
    assert not any("two_nodes_two_hosts" in str(name) for name in passed)


def test_gitlab_gets_each_finding_with_a_lasting_fingerprint(
    switchpoint: Run, store: Store, tmp_path: Path
) -> None:
    switchpoint("gate", "--store", store.url, "--gitlab", tmp_path / "gate.json")

    [entry] = json.loads((tmp_path / "gate.json").read_text())
    assert entry["fingerprint"] == gate(store).findings["finding_id"][0]
    assert (entry["check_name"], entry["severity"]) == ("regression", "major")
    assert entry["location"]["lines"]["begin"] == 1


def test_github_gets_annotations_and_a_summary(
    switchpoint: Run, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("# Before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))

    done = switchpoint("gate", "--store", store.url, "--github")

    assert done.exit_code == 1
    [line] = done.stdout.splitlines()
    assert line.startswith("::error title=switchpoint gate regression::latency of `two_nodes")
    assert " %25 [" in line  # GitHub reads percent signs as escapes
    assert summary.read_text().startswith("# Before\n**session night-008: ")


def test_markdown_has_a_row_for_each_finding(
    switchpoint: Run, store: Store, tmp_path: Path
) -> None:
    switchpoint("gate", "--store", store.url, "--markdown", tmp_path / "gate.md")

    rows = [line for line in (tmp_path / "gate.md").read_text().splitlines() if line[:1] == "|"]
    assert len(rows) == 3 and rows[2].startswith("| fails | `")


def test_a_file_that_cannot_be_written_is_named(switchpoint: Run, store: Store) -> None:
    done = switchpoint("gate", "--store", store.url, "--junit", "/nowhere/gate.xml")

    assert done.exit_code == 1, "a finding fails"
    assert done.stdout.startswith("FAIL ")
    assert "/nowhere/gate.xml: cannot be written: No such file or directory" in done.stderr
    passed = switchpoint(
        *("gate", "--store", store.url, "--session", "night-007", "--junit", "/nowhere/gate.xml")
    )
    assert passed.exit_code == 2 and passed.stdout.endswith(": passes\n")


@pytest.mark.parametrize(("latency_us", "code"), [(1.2, 1), (0.8, 2)])
def test_a_verdict_that_cannot_be_kept_is_told_first(
    switchpoint: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    latency_us: float,
    code: int,
) -> None:
    store = Store(tmp_path / "store")
    change = from_night(8, in_placement("two_nodes_two_hosts", latency_us=latency_us))
    add_nights(store, range(9), change=change)

    def refuse(*_: object) -> None:
        raise InputError(store.url, "cannot be written (Read-only file system)")

    monkeypatch.setattr(type(store.files), "write", refuse)  # root may write everywhere
    words = ("gate", "--store", store.url, "--junit", tmp_path / "gate.xml")

    done = switchpoint(*words)

    assert done.exit_code == code
    assert "latency of `two_nodes_two_hosts`" in done.stdout
    junit = (tmp_path / "gate.xml").read_text()
    assert ("latency of `two_nodes_two_hosts`" in junit) == (code == 1)
    assert done.stderr.splitlines()[-1] == (
        f"switchpoint: the findings were not kept: {store.url}: cannot be written (Read-only file"
        " system)"
    )
    kept = gate(store, keep=True)
    assert any("findings of this session were not kept" in one.message for one in kept.warnings)


def test_what_cannot_be_measured_again_is_told(
    switchpoint: Run, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # without settings of any site

    done = switchpoint("gate", "--store", store.url, "--confirm")

    assert done.exit_code == 1
    assert "latency of `two_nodes_two_hosts`" in done.stdout
    assert "switchpoint: the suspected changes were not measured again: " in done.stderr
    assert len(store.findings()) == 1


@pytest.mark.parametrize(("last", "kind"), [(150.0, "regression"), (250.0, "improvement")])
def test_single_values_go_through_the_gate(tmp_path: Path, last: float, kind: str) -> None:
    store = Store(tmp_path / "store")
    import_files([log(tmp_path / "logs", [*STEADY, last])], store)

    verdict = gate(store)

    [found] = verdict.findings.to_dict("records")
    assert (found["kind"], found["metric"]) == (kind, "triad")
    assert found["sentence"].startswith(
        f"triad of `Stream %size=8` {100 * (last / 200 - 1):+.0f} %"
    )
    assert verdict.fails == (kind == "regression")


def test_units_of_time_are_better_when_lower(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    import_files([log(tmp_path / "logs", [*STEADY, 250.0], unit="s")], store)

    assert [*gate(store).findings["kind"]] == ["regression"]


def test_steady_values_and_a_missing_one(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    import_files([log(tmp_path / "logs", STEADY)], store)
    assert gate(store).findings.empty

    other = log(tmp_path / "other", [*STEADY, 200.0])
    other.write_text(other.read_text().replace("Stream", "Copy"))
    import_files([other], store)
    [found] = gate(store).findings.to_dict("records")
    assert (found["kind"], found["metric"]) == ("missing_value", "triad")


def test_an_older_session_has_no_values_of_later_ones(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    import_files([log(tmp_path / "logs", [*STEADY, 100.0, 100.0, 100.0])], store)
    days = sorted(store.single_values()["time_utc"].str[:10])

    assert gate(store, days[len(STEADY) - 1]).findings.empty
    assert gate(store, days[len(STEADY)]).fails


def test_values_of_another_site_are_not_missing(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    add_nights(store, range(4))
    import_files([log(tmp_path / "logs", STEADY)], store)
    assert set(store.single_values()["site"]) == {"alpha"}
    assert "alpha" not in set(store.runs()["site"])

    assert gate(store).findings.empty


def start_of(night: int, hour: float = 2.0) -> int:
    """An hour of a night of `add_nights`, whose runs start at 2, in seconds since 1970."""
    midnight = FIRST.replace(hour=0, tzinfo=timezone.utc)
    return int(midnight.timestamp() + 86400 * night + 3600 * hour)


def test_one_dated_run_does_not_hide_the_values_of_all_nights(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    run = tmp_path / "run.record"
    write_record(run, start_utc="2024-01-01T10:00:00.000000Z", labels={"site": "alpha"})
    import_files([run, log(tmp_path / "logs", [*STEADY, 150.0])], store)

    verdict = gate(store)

    assert (verdict.session, verdict.sessions) == ("2024-03-15", len(STEADY))
    assert [*verdict.findings["kind"]] == ["regression"]
    [told] = verdict.warnings
    assert "are older than the newest single values" in told.message
    assert gate(store, "2024-01-01").findings.empty


def test_values_of_a_site_without_runs_are_judged_by_themselves(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    add_nights(store, range(4))
    import_files([log(tmp_path / "logs", [*STEADY, 150.0], first=start_of(-10))], store)

    whole, own = gate(store), gate(store, site="alpha")

    assert [*whole.findings["kind"]] == [] and whole.session == "night-003"
    assert any("the site 'alpha' are not judged" in one.message for one in whole.warnings)
    assert [*own.findings["kind"]] == ["regression"] and own.session == "2026-11-01"
    with pytest.raises(InputError, match="contains no dated run of the site 'beta'"):
        gate(store, site="beta")
    with pytest.raises(InputError, match="has no session 'monday'"):
        gate(store, "monday", site="alpha")


def test_a_verdict_on_values_alone_is_shown_as_it_was(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    import_files([log(tmp_path / "logs", [*STEADY, 150.0])], store)
    lenient = Policy.model_validate({"minimum_effect": {"value": 0.5}})

    assert gate(store, keep=True).fails and judged_last(store)[0].fails
    gate(store, policy=lenient, keep=True)

    [shown] = judged_last(store)
    assert (shown.session, shown.site, shown.sessions) == ("2024-03-15", "alpha", len(STEADY))
    assert shown.findings.empty


@pytest.mark.parametrize("runs", [True, False])
def test_values_in_the_future_cost_one_warning(tmp_path: Path, runs: bool) -> None:
    """The clock of the machine was ahead in one night, by 50 years."""
    store = Store(tmp_path / "store")
    if runs:
        add_nights(store, range(6), launches=2, placements=["one_node"], modes=["send"])
    ahead = log(tmp_path / "ahead", [150.0], first=start_of(18_000), site="here")
    import_files([log(tmp_path / "logs", STEADY[:6], first=start_of(0), site="here")], store)
    import_files([ahead], store)

    verdict = gate(store)

    assert verdict.session == ("night-005" if runs else "2026-11-06")
    assert verdict.findings.empty
    [told] = [one for one in verdict.warnings if one.kind == "future_session"]
    assert "`2076-02-12`, from 2076-02-12 on; the clock that dated them was ahead" in told.message
    assert gate(store, "2076-02-12").fails


@pytest.fixture
def two_sites(tmp_path: Path) -> Store:
    """A store of values: the newest of the site alpha is bad, the site beta ended before."""
    store = Store(tmp_path / "store")
    for site, values in (("alpha", [*STEADY, 150.0]), ("beta", STEADY[:8])):
        import_files([log(tmp_path / site, values, first=start_of(-10), site=site)], store)
    return store


@pytest.mark.parametrize("runs", [True, False])
def test_a_night_of_values_is_of_one_site(two_sites: Store, runs: bool) -> None:
    if runs:
        add_nights(two_sites, range(2), placements=["one_node"], modes=["send"])

    named = gate(two_sites, "2026-11-01")

    assert (named.session, named.sessions) == ("2026-11-01", len(STEADY))
    assert [*named.findings["kind"]] == ["regression"]
    with pytest.raises(InputError, match="alpha, beta have a session '2026-10-27'; name one with"):
        gate(two_sites, "2026-10-27")
    if not runs:
        newest = gate(two_sites)
        assert newest.findings.to_json() == named.findings.to_json()
        assert any("the site 'beta' are not judged" in one.message for one in newest.warnings)


def test_the_policy_of_the_site_of_values_counts(
    two_sites: Store, tmp_path: Path, switchpoint: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site-configs/alpha"
    site.mkdir(parents=True)
    (site / "settings.py").write_text("site_configuration = {}\n")
    (site / "gate.yaml").write_text("minimum_effect: {value: 0.5}\n")
    words = ("gate", "--store", two_sites.url, "--session", "2026-11-01")
    assert switchpoint(*words).exit_code == 1

    monkeypatch.chdir(tmp_path)

    assert switchpoint(*words).exit_code == 0


@pytest.mark.parametrize("hour", [1.5, 2.2, 9.0])
@pytest.mark.parametrize(("last", "kinds"), [(200.0, []), (150.0, ["regression"])])
def test_a_value_belongs_to_the_nearest_session(
    tmp_path: Path, hour: float, last: float, kinds: list[str]
) -> None:
    """Its job may end before the first kernel of the session starts, or after the last."""
    store = Store(tmp_path / "store")
    add_nights(store, range(6), launches=2)
    first = start_of(0, hour)
    import_files([log(tmp_path / "logs", [*STEADY[:5], last], first=first, site="here")], store)

    verdict = gate(store)

    assert [*verdict.findings["kind"]] == kinds
    assert gate(store, "night-004").findings.empty


def test_a_session_without_its_values_is_told(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    add_nights(store, range(6), launches=2)
    import_files([log(tmp_path / "logs", STEADY[:5], first=start_of(0), site="here")], store)

    assert [*gate(store).findings["kind"]] == ["missing_value"]


@pytest.mark.parametrize("also", ["pingpong", "zoom"])
def test_what_another_check_measured_is_no_session_before(tmp_path: Path, also: str) -> None:
    """Sweeps and zooms in the store are no nights, and nothing of them is missing in a night."""
    store = Store(tmp_path / "store")
    add_nights(store, range(3), launches=2, modes=["send", "ssend", "stream"], check="Sweep")
    add_nights(store, range(3), seed=2, modes=["send"], check="Also", kernel=also)
    logged = log(tmp_path / "logs", STEADY[:3], first=start_of(0), site="here")
    text = logged.read_text()
    for number, check in enumerate(("Sweep", "Also")):
        of_check = logged.with_name(f"{number}.log")
        of_check.write_text(text.replace("Stream %size=8", f"{check} %placement=one_node"))
        import_files([of_check], store)

    for night in (3, 4):
        add_nights(store, [night], launches=2, check="Nightly")
        verdict = gate(store)
        assert verdict.findings.empty, [*verdict.findings["sentence"]]
        assert verdict.sessions == night - 3


def test_values_between_sessions_of_runs_have_nights_of_their_own(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    add_nights(store, [0, 9], launches=2)
    values = [*STEADY[:9], 150.0]
    import_files([log(tmp_path / "logs", values, first=start_of(0), site="here")], store)

    assert [*gate(store).findings["kind"]] == ["regression"]


@pytest.mark.parametrize("slow", [0, 1])
def test_a_session_around_midnight_is_one_night(tmp_path: Path, slow: int) -> None:
    """One test ends at half past eleven, the other an hour later, on another day (UTC)."""
    store = Store(tmp_path / "store")
    for number, hour in enumerate((23.5, 24.5)):
        values = [*STEADY, 150.0 if number == slow else 200.0]
        path = log(tmp_path / f"logs{number}", values, first=start_of(0, hour))
        path.write_text(path.read_text().replace("Stream", f"Stream{number}"))
        import_files([path], store)

    verdict = gate(store)

    [found] = verdict.findings.to_dict("records")
    assert (found["kind"], verdict.session) == ("regression", "2026-11-11")
    assert f"Stream{slow}" in found["sentence"]


def test_tests_that_run_all_day_have_a_night_for_each_day(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    for hour in range(0, 24, 6):
        values = [*STEADY, 150.0]
        import_files([log(tmp_path / f"{hour}", values, first=start_of(0, hour))], store)

    verdict = gate(store)

    assert (verdict.sessions, verdict.fails) == (len(STEADY), True)


def test_a_day_of_maintenance_does_not_divide_other_days_anew(tmp_path: Path) -> None:
    """Tests that run all day: a night lasts from one morning to the next."""
    store = Store(tmp_path / "store")
    for hour in range(7, 31, 6):
        values = [*STEADY[:4], 150.0, *STEADY[5:], 150.0]
        import_files([log(tmp_path / f"{hour}", values, first=start_of(0, hour))], store)
    day = date.fromisoformat(sorted(store.single_values()["time_utc"].astype(str))[16][:10])
    window = {"from": day, "until": day, "reason": "new fans"}

    verdict = gate(store, policy=Policy.model_validate({"maintenance": [window]}))

    assert (verdict.session, verdict.sessions) == (gate(store).session, len(STEADY) - 1)
    assert [*verdict.findings["kind"]] == ["regression"]


@pytest.mark.parametrize("now", [0.0, -1.0])
def test_a_value_that_is_no_longer_positive_is_missing(tmp_path: Path, now: float) -> None:
    store = Store(tmp_path / "store")
    import_files([log(tmp_path / "logs", [*STEADY, now])], store)

    [found] = gate(store).findings.to_dict("records")

    assert (found["kind"], found["fails"]) == ("missing_value", True)
    assert found["sentence"].endswith("is missing: it is 0 or less")


def test_a_value_around_zero_is_never_missing(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    import_files([log(tmp_path / "logs", [0.1, -0.2, 0.1, 0.0, -0.1, 0.2, -0.3])], store)

    assert "missing_value" not in set(gate(store).findings["kind"])


def test_an_accepted_value_is_the_new_normal(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    changed = [*STEADY, 150.0]
    import_files([log(tmp_path / "logs", changed)], store)
    [found] = gate(store, keep=True).findings.to_dict("records")

    accept(store, found["finding_id"], "a new kernel", by="ada")
    assert not gate(store).fails
    import_files([log(tmp_path / "later", [*changed, 151.0, 149.5])], store)
    assert gate(store).findings.empty
    import_files([log(tmp_path / "last", [*changed, 151.0, 149.5, 150.5, 100.0])], store)
    assert [*gate(store).findings["kind"]] == ["regression"]


def test_values_of_maintenance_are_not_compared(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    import_files([log(tmp_path / "logs", [*STEADY, 150.0, STEADY[-1]])], store)
    days = store.single_values()["time_utc"].astype(str).str[:10]
    day = date.fromisoformat(sorted(days)[-2])
    window = {"from": day, "until": day, "reason": "new fans"}
    policy = Policy.model_validate({"maintenance": [window]})

    slow = gate(store, str(day), policy=policy)
    after = gate(store, policy=policy)

    assert gate(store, str(day)).fails and not slow.fails
    assert [*slow.findings["kind"]] == ["regression"]
    assert after.findings.empty and after.sessions == len(STEADY)


def maintenance(*days: int) -> Policy:
    """A policy with some days of November 2026 on which the machine was not as usual."""
    dates = (date(2026, 11, day) for day in days)
    windows = [{"from": day, "until": day, "reason": "new fans"} for day in dates]
    return Policy.model_validate({"maintenance": windows})


def test_values_near_a_session_of_maintenance_are_no_night_of_their_own(tmp_path: Path) -> None:
    """A test ran only in two sessions of maintenance, and ended on the evening before."""
    store = Store(tmp_path / "store")
    add_nights(store, range(9), launches=2, placements=["one_node"], modes=["send"])
    import_files([log(tmp_path / "logs", STEADY[:9], first=start_of(0), site="here")], store)
    for night in (4, 6):
        path = log(tmp_path / f"{night}", [50.0], first=start_of(night, 19.0), site="here")
        path.write_text(path.read_text().replace("Stream", "Extra"))
        import_files([path], store)

    assert [*gate(store).findings["kind"]] == ["missing_value"]
    assert gate(store, policy=maintenance(6, 8)).findings.empty


@pytest.mark.parametrize("result", ["pass", "fail"])
def test_a_value_of_a_day_of_maintenance_is_not_judged_in_the_night_before(
    tmp_path: Path, result: str
) -> None:
    """Each night has two tests, one of which ends in the morning."""
    store = Store(tmp_path / "store")
    import_files([log(tmp_path / "evening", STEADY, first=start_of(0, 20.0))], store)
    path = log(tmp_path / "morning", STEADY[:9], first=start_of(0, 30.0))
    last = log(tmp_path / "last", [150.0], result=result, first=start_of(9, 30.0))
    for one in (path, last):
        one.write_text(one.read_text().replace("Stream", "Morning"))
        import_files([one], store)

    assert gate(store).fails
    verdict = gate(store, policy=maintenance(11))
    assert verdict.session == "2026-11-10" and verdict.findings.empty


def test_single_values_cannot_be_measured_again_and_still_fail(
    switchpoint: Run, tmp_path: Path
) -> None:
    store = Store(tmp_path / "store")
    import_files([log(tmp_path / "logs", [*STEADY, 150.0])], store)

    done = switchpoint("gate", "--store", store.url, "--confirm")

    assert done.exit_code == 1
    assert "triad of `Stream %size=8` -25 %" in done.stdout


def test_references_have_thresholds_that_noise_justifies(switchpoint: Run, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    import_files([log(tmp_path / "logs", STEADY)], store)

    done = switchpoint("references", "--store", store.url)

    assert done.exit_code == 0
    assert yaml.safe_load(done.stdout) == {
        "Stream": {
            "$index": ["$partition", "$environ", "size"],
            "alpha:batch": {"gnu": {8: {"triad": [200.1, -0.05, None, "GB/s"]}}},
        }
    }


@pytest.mark.parametrize(("column", "cell"), [("|environ|", "||"), ("|", "|")])
def test_a_series_of_an_unknown_environment_gets_no_reference(
    switchpoint: Run, tmp_path: Path, column: str, cell: str
) -> None:
    store, path = Store(tmp_path / "store"), log(tmp_path / "logs", STEADY)
    path.write_text(path.read_text().replace("|environ|", column).replace("|gnu|", cell))
    import_files([path], store)

    done = switchpoint("references", "--store", store.url)

    assert (done.exit_code, yaml.safe_load(done.stdout)) == (0, {})
    assert done.stderr == (
        "switchpoint: no series has a reference yet: triad of 'Stream %size=8' on alpha:batch:"
        " ReFrame looks for references by environ, which is not known\n"
    )


def test_references_that_find_nothing_say_so_in_one_line(switchpoint: Run, tmp_path: Path) -> None:
    store, path = Store(tmp_path / "store"), log(tmp_path / "logs", STEADY[:3])
    other = path.with_name("other.log")
    other.write_text(path.read_text().replace("|gnu|", "|mpich|"))
    import_files([path, other], store)

    done = switchpoint("references", "--store", store.url)
    every = switchpoint("references", "--store", store.url, "--verbose")

    assert (done.exit_code, yaml.safe_load(done.stdout)) == (0, {})
    assert done.stderr == (
        "switchpoint: no series has a reference yet: triad of 'Stream %size=8' on alpha:batch+gnu:"
        " 3 values, 5 are needed (1 more of this kind)\n"
    )
    assert "alpha:batch+mpich: 3 values" in every.stderr


@pytest.mark.parametrize("size", ["²", "007", "9" * 5000])
def test_a_parameter_that_is_no_plain_number_stays_a_text(
    switchpoint: Run, tmp_path: Path, size: str
) -> None:
    store, path = Store(tmp_path / "store"), log(tmp_path / "logs", STEADY)
    path.write_text(path.read_text().replace("size=8", f"size={size}"))
    import_files([path], store)

    done = switchpoint("references", "--store", store.url)

    assert done.exit_code == 0, done.output
    assert list(yaml.safe_load(done.stdout)["Stream"]["alpha:batch"]["gnu"]) == [size]
