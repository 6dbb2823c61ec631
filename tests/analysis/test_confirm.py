"""Only what recurs fails the gate, and what it goes away without is named.

The cluster is played: its launches take as long as its nodes and settings say, with a scatter that
is known. The plan, the records and everything that reads them are real.
"""

from __future__ import annotations

import itertools
import json
import re
import shutil
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import write_record
from switchpoint import Store, gate, read_files
from switchpoint.gating.confirm import Confirmation, Recurrence, applied, confirm
from switchpoint.gating.kept import keep_verdict
from switchpoint.gating.sessions import select_sessions
from switchpoint.gating.suspects import suspects_of
from switchpoint.gating.trials import LABEL, Trial, write_plan
from switchpoint.gating.verdict import Verdict

SIZES = [8, 64, 512, 2048, 8192, 16384, 32768]
PLACEMENTS = {"one_node": ["a1"], "two_nodes": ["a1", "b1"]}
LIMIT = "btl_tcp_eager_limit"

#: When launches begin that measure again, in UTC.
START = datetime(2026, 11, 28, 3)


@dataclass
class Cluster:
    """Nodes, settings and how much slower each makes a launch.

    Attributes
    ----------
    folder : Path
        For its records.
    slow_nodes : dict
        By node.
    slow_limit : float
        With the eager limit below its usual value.
    eager_limit : int
        The site's default.
    disturbed : float
        All launches of a night.
    scatter : float
        Standard deviation of the logarithm of how slow each launch is.
    step_at : int or None
        The first size after a switch.
    broken : bool
        Whether no job starts.
    elsewhere : dict
        Nodes of a launch on two nodes that are not as usual, by its number.
    instead : list of str
        Nodes that Slurm chooses instead of those that stay, if one is to be avoided.
    environment : dict
        Variables of the launches.
    arguments : list of str
        Of the kernel.
    build : str
        The name of the Spack build; empty for a build without Spack.
    slow_builds : dict
        By build.
    again : tuple of float
        How much slower each round is that measures again, one after the other.
    alone : float
        How much slower it is without some of the sizes.
    takes_s : dict
        Seconds of a launch that measures again, by its number of ranks.
    """

    folder: Path
    slow_nodes: dict[str, float] = field(default_factory=dict)
    slow_limit: float = 1.0
    eager_limit: int = 65536
    disturbed: float = 1.0
    scatter: float = 0.01
    step_at: int | None = None
    broken: bool = False
    elsewhere: dict[int, list[str]] = field(default_factory=dict)
    instead: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    arguments: list[str] = field(default_factory=lambda: ["pingpong"])
    build: str = ""
    slow_builds: dict[str, float] = field(default_factory=dict)
    again: tuple[float, ...] = (1.0,)
    alone: float = 1.0
    takes_s: dict[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._numbers = itertools.count(1)
        self._random = np.random.default_rng(20261122)
        self.plans: list[list[Trial]] = []
        self.seconds = 0.0

    def continue_from(self, other: Cluster) -> None:
        """Number launches, and draw how slow they are, from where another cluster did."""
        self._numbers, self._random = deepcopy((other._numbers, other._random))

    def nights(self, store: Store, *numbers: int) -> None:
        """Measure three launches of each placement in each night, and store them."""
        if self.build:
            # A lock with several roots is kept, but no program can be traced to it.
            lock = {"roots": [], "concrete_specs": {}, "build": self.build}
            (self.folder / "spack.lock").write_text(json.dumps(lock))
        records = [
            self._launch(
                self.elsewhere.get(launch, nodes) if len(nodes) > 1 else nodes,
                {"session": f"night-{number}", "placement": placement},
                f"2026-11-{number:02d}T02:{launch:02d}:00.000000Z",
                {},
                self.slow_builds.get(self.build, 1.0),
            )
            for number in numbers
            for launch, (placement, nodes) in itertools.product(range(3), PLACEMENTS.items())
        ]
        store.add(read_files(records).measurements)

    def measure(self, plan: Sequence[Trial], left_s: float) -> tuple[list[Path], list[str]]:
        """Do what the check does with a plan."""
        self.plans.append(list(plan))
        path = self.folder / "plan.json"
        write_plan(plan, path)
        if self.broken:
            return [], ["no node is free"]
        starts = [self.seconds]
        for trial in plan:
            starts.append(starts[-1] + self.takes_s.get(trial.ranks, 10.0))
        self.seconds = starts.pop()
        content = json.loads(path.read_text())
        return [
            self._launch(
                self._chosen(trial["nodes"], trial["avoided"]),
                {"session": "again", "placement": trial["placement"], LABEL: trial["name"]},
                (START + timedelta(seconds=start)).isoformat(timespec="microseconds") + "Z",
                trial["environment"],
                self.again[trial["number"] % len(self.again)]
                * (self.alone if {*SIZES} - {*trial["sizes_bytes"]} else 1.0)
                * self.slow_builds.get(self._build_of(trial, content["locks"]), 1.0),
            )
            for start, trial in zip(starts, content["trials"], strict=True)
        ], []  # fmt: skip

    def _build_of(self, trial: dict[str, Any], locks: dict[str, dict[str, str]]) -> str:
        """Return the build that a trial's lock names."""
        when = "before" if trial["built_before"] else "now"
        lock = locks.get(trial["environ"], {}).get(when)
        return str(json.loads(Path(lock).read_text())["build"]) if lock else ""

    def _chosen(self, nodes: Sequence[str], avoided: Sequence[str]) -> list[str]:
        """Return the nodes of a launch: others take the place of those that are avoided."""
        kept = self.instead if avoided and self.instead else nodes
        return [*kept, *(node.replace("1", "2") for node in avoided)]

    def _launch(
        self,
        nodes: Sequence[str],
        labels: dict[str, str],
        start: str,
        changed: dict[str, Any],
        slower: float,
    ) -> Path:
        number = next(self._numbers)
        limit = int(changed.get(f"OMPI_MCA_{LIMIT}") or self.eager_limit)
        slower *= self.disturbed * float(np.exp(self._random.normal(0, self.scatter)))
        slower *= max(self.slow_nodes.get(node, 1.0) for node in nodes)
        slower *= self.slow_limit if limit < 65536 else 1.0
        return write_record(
            self.folder / f"{number}.record",
            run_id=f"{number:032x}",
            labels={"site": "here", "partition": "batch", "environ": "openmpi", **labels},
            start_utc=start,
            sizes=SIZES,
            arguments=self.arguments,
            step_at=self.step_at,
            slower=slower,
            mpi={
                "library": "Open MPI v4.1.4, package: Debian OpenMPI",
                "standard": "3.1",
                "cvars": {LIMIT: limit, "job": number},
                "environment": self.environment,
            },
            ranks=[rank_on(node, rank) for rank, node in enumerate((nodes * 2)[:2])],
        )


def rank_on(node: str, rank: int) -> dict[str, Any]:
    conditions = {
        "load1": 0.1, "steal_ticks": 0, "involuntary_switches": 1,
        "interfaces": [{"name": "lo", "mtu": 65536, "rx_bytes": 0, "tx_bytes": 0}],
    }  # fmt: skip
    return {"rank": rank, "host": node, "cpus_allowed": [rank], "before": conditions}


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    return Cluster(tmp_path)


def judged(
    cluster: Cluster,
    change: dict[str, Any],
    budget_s: float = 1800.0,
    disturbed_before: float = 1.0,
) -> Judged:
    """Measure six nights, change the cluster, measure another and confirm what it shows.

    The fifth night may be disturbed.
    """
    store = Store(cluster.folder / "results")
    six_nights(cluster, store, disturbed_before)
    for name, value in change.items():
        setattr(cluster, name, value)
    cluster.nights(store, 7)
    return judged_session(cluster, store, "night-7", budget_s)


#: Stores of six nights that other tests need as well, and the clusters then, by how those were.
_MEASURED: dict[str, tuple[Path, Cluster]] = {}


def six_nights(cluster: Cluster, store: Store, disturbed_before: float) -> None:
    """Measure six nights, or copy those of a cluster that was like this one."""
    alike = f"{replace(cluster, folder=Path())} {disturbed_before}"
    if alike in _MEASURED:
        folder, then = _MEASURED[alike]
        shutil.copytree(folder, store.url)
        cluster.continue_from(then)
        return
    cluster.nights(store, *range(1, 5))
    cluster.disturbed = disturbed_before
    cluster.nights(store, 5)
    cluster.disturbed = 1.0
    cluster.nights(store, 6)
    folder = cluster.folder / "six-nights"
    shutil.copytree(store.url, folder)
    _MEASURED[alike] = folder, deepcopy(cluster)


def judged_session(
    cluster: Cluster, store: Store, session: str, budget_s: float = 1800.0
) -> Judged:
    """Judge a session, and confirm on a cluster that nothing else disturbs."""
    verdict = gate(store, session)
    cluster.disturbed = 1.0
    nights = select_sessions(store, session, None, 30)
    suspects = suspects_of(verdict.findings, store, nights)
    confirmations = confirm(suspects, cluster.measure, budget_s, lambda: cluster.seconds)
    return Judged(verdict, confirmations, applied(verdict, confirmations))


@dataclass
class Judged:
    """The verdict before and after."""

    before: Verdict
    confirmations: list[Confirmation]
    after: Verdict


def test_a_night_without_a_change_has_nothing_to_measure_again(cluster: Cluster) -> None:
    found = judged(cluster, {})

    assert not found.before.fails
    assert cluster.plans == []


def test_a_disturbed_night_does_not_fail_after_it_was_measured_again(cluster: Cluster) -> None:
    found = judged(cluster, {"disturbed": 1.2})

    assert found.before.fails
    assert not found.after.fails
    assert {one.outcome for one in found.confirmations} == {Recurrence.GONE}
    assert "not seen again in 3 more launches" in found.after.findings["sentence"].iloc[0]


def test_a_size_is_measured_again_among_the_others_of_its_curve(cluster: Cluster) -> None:
    store = Store(cluster.folder / "results")
    cluster.nights(store, *range(1, 7))
    cluster.step_at = SIZES[-1]
    cluster.nights(store, 7)
    cluster.step_at, cluster.alone = None, 2.0

    found = judged_session(cluster, store, "night-7")

    assert found.before.fails
    assert {one.outcome for one in found.confirmations} == {Recurrence.GONE}


@pytest.mark.parametrize(
    ("again", "outcome"), [({"step_at": 512}, "recurs"), ({"disturbed": 2.0}, "not seen again")]
)
def test_a_curve_that_is_slower_as_a_whole_has_not_moved_its_switch(
    cluster: Cluster, again: dict[str, Any], outcome: str
) -> None:
    store = Store(cluster.folder / "results")
    cluster.step_at = 16384
    cluster.nights(store, *range(1, 7))
    cluster.step_at = 512
    cluster.nights(store, 7)
    findings = gate(store, "night-7").findings
    cluster.step_at = 16384
    for name, value in again.items():
        setattr(cluster, name, value)

    suspects = suspects_of(findings, store, select_sessions(store, "night-7", None, 30))
    confirmed = confirm(suspects, cluster.measure, 1800.0, lambda: cluster.seconds)

    assert {*findings["kind"]} == {"moved_switch"}
    for one in confirmed:
        assert outcome in one.sentence and "beyond that of the sizes beside them" in one.sentence


def test_a_setting_is_named_if_the_change_goes_away_without_it(cluster: Cluster) -> None:
    found = judged(cluster, {"eager_limit": 32768, "slow_limit": 1.3})

    assert found.after.fails
    failing = found.after.findings[found.after.findings["fails"].astype(bool)]
    assert set(failing["state"]) == {"confirmed"}
    for sentence in failing["sentence"]:
        assert "recurs in 6 more launches" in sentence
        assert "confirmed cause: btl_tcp_eager_limit = 32768, before 65536" in sentence
        assert re.search(r"\(without it in `(one_node|two_nodes)` `send` -2\d %", sentence)


@pytest.mark.parametrize(
    ("again", "fails"),
    [((1.0, 1.3, 1.6), True), ((1.1, 1.12, 1.14), True), ((0.8, 1.05, 1.3), False)],
)
def test_what_is_not_sure_fails_if_it_looks_more_like_the_change_than_like_none(
    cluster: Cluster, again: tuple[float, ...], fails: bool
) -> None:
    cluster.again = again
    found = judged(cluster, {"disturbed": 1.3}, budget_s=35.0)

    assert {one.outcome for one in found.confirmations} == {Recurrence.UNSURE}
    assert found.after.fails == fails
    [told] = found.after.findings.to_dict("records")
    assert told["state"] == "suspected"
    assert "not sure in 3 more launches: time " in told["sentence"]
    assert told["sentence"].endswith(", so it still fails" if fails else ", too little to fail")


def test_a_build_is_named_if_the_change_goes_away_with_the_lock_before(cluster: Cluster) -> None:
    cluster.build = "old"
    found = judged(cluster, {"build": "new", "slow_builds": {"new": 1.3}})

    failing = found.after.findings[found.after.findings["fails"].astype(bool)]
    assert {*failing["state"]} == {"confirmed"}
    for sentence in failing["sentence"]:
        assert "confirmed cause: Spack's lock (without it in `" in sentence


def test_a_setting_that_was_repaired_and_comes_back_is_named_again(cluster: Cluster) -> None:
    lowered = {"eager_limit": 32768, "slow_limit": 1.3}
    store = Store(cluster.folder / "results")
    keep_verdict(store, judged(cluster, lowered).after)
    cluster.eager_limit = 65536
    cluster.nights(store, 8)
    cluster.eager_limit = 32768
    cluster.nights(store, 9)

    found = judged_session(cluster, store, "night-9")

    failing = found.after.findings[found.after.findings["fails"].astype(bool)]
    assert len(failing)
    for sentence in failing["sentence"]:
        assert "confirmed cause: btl_tcp_eager_limit = 32768, before 65536" in sentence


def test_a_value_that_differs_from_job_to_job_is_not_tried(cluster: Cluster) -> None:
    judged(cluster, {"eager_limit": 32768, "slow_limit": 1.3})

    tried = {name for plan in cluster.plans for trial in plan for name in trial.environment}
    assert tried == {f"OMPI_MCA_{LIMIT}"}


def test_a_setting_that_names_a_file_is_not_made_because_a_record_says_so(
    cluster: Cluster,
) -> None:
    cluster.environment = {"UCX_TLS": "tcp", "OMPI_MCA_mca_component_path": "/tmp/stranger"}
    judged(cluster, {"disturbed": 1.2, "environment": {"UCX_TLS": "all"}, "slow_limit": 1.2,
                     "eager_limit": 4096})  # fmt: skip

    made = {name for plan in cluster.plans for trial in plan for name in trial.environment}
    assert made == {"UCX_TLS", f"OMPI_MCA_{LIMIT}"}


def test_settings_that_start_something_are_named_and_not_tried(cluster: Cluster) -> None:
    cluster.environment = {"I_MPI_GTOOL": "evil:0", "I_MPI_HYDRA_REMOTE_SHELL": "evil"}
    found = judged(cluster, {"disturbed": 1.3, "environment": {}})

    assert not any(trial.environment for plan in cluster.plans for trial in plan)
    [sentence, *_] = found.after.findings["sentence"]
    assert sentence.endswith(
        "not tried, because no record may set it: I_MPI_GTOOL, I_MPI_HYDRA_REMOTE_SHELL"
    )


def test_only_options_of_the_kernels_are_given_again(cluster: Cluster) -> None:
    """A `--record` with its file as the next word would let a record overwrite any file."""
    cluster.arguments = [
        "pingpong", "--record", "/home/victim", "--warmup", "5", "sh", "--evil=1", "--seed", "3",
        "--window=8", "--mode", "send", "--label",
    ]  # fmt: skip
    judged(cluster, {"disturbed": 1.3})

    given = {trial.options for plan in cluster.plans for trial in plan}
    assert given == {("--warmup=5", "--window=8")}


def test_a_slow_node_is_named_and_the_other_is_not(cluster: Cluster) -> None:
    found = judged(cluster, {"slow_nodes": {"b1": 1.3}})

    [sentence] = found.after.findings.loc[found.after.findings["fails"].astype(bool), "sentence"]
    assert "`two_nodes`" in sentence
    assert "confirmed cause: node b1 (without it -2" in sentence
    assert "node a1" not in sentence


def test_a_slow_node_is_named_if_one_launch_did_not_run_on_it(cluster: Cluster) -> None:
    found = judged(cluster, {"slow_nodes": {"b1": 1.3}, "elsewhere": {2: ["a1", "b2"]}})

    [sentence] = found.after.findings.loc[found.after.findings["fails"].astype(bool), "sentence"]
    assert "confirmed cause: node b1" in sentence


def test_no_node_is_named_if_launches_without_one_were_without_the_other_too(
    cluster: Cluster,
) -> None:
    found = judged(cluster, {"slow_nodes": {"b1": 1.3}, "instead": ["c2"]})

    assert any(trial.avoided for plan in cluster.plans for trial in plan)
    assert {one.outcome for one in found.confirmations} == {Recurrence.RECURS}
    assert "node a1" not in "".join(found.after.findings["sentence"])
    assert "node b1" not in "".join(found.after.findings["sentence"])


def test_two_findings_of_one_job_are_each_measured_on_their_own_nodes(cluster: Cluster) -> None:
    store = Store(cluster.folder / "results")
    cluster.nights(store, *range(1, 7))
    cluster.slow_nodes = {"b1": 1.3}
    cluster.nights(store, 7)
    nights = select_sessions(store, "night-7", None, 30)
    [on_b1] = suspects_of(gate(store, "night-7").findings, store, nights)
    [trial] = on_b1.trials
    on_b2 = replace(on_b1, finding_id="other", trials=[replace(trial, nodes=("a1", "b2"))])

    first, second = confirm([on_b2, on_b1], cluster.measure, 1800.0, lambda: cluster.seconds)

    assert first.outcome is Recurrence.GONE
    assert second.outcome is Recurrence.RECURS
    assert [cause.split(" (")[0] for cause in second.causes] == ["node b1"]


def test_more_launches_are_measured_until_the_node_is_sure(cluster: Cluster) -> None:
    found = judged(cluster, {"slow_nodes": {"b1": 4.0}, "scatter": 0.5})

    [sentence] = found.after.findings.loc[found.after.findings["fails"].astype(bool), "sentence"]
    assert "confirmed cause: node b1" in sentence
    assert len([plan for plan in cluster.plans if any(trial.avoided for trial in plan)]) > 1


def test_a_disturbed_night_before_does_not_hide_that_a_change_recurs(cluster: Cluster) -> None:
    found = judged(cluster, {"slow_nodes": {"b1": 1.3}}, disturbed_before=4.0)

    [sentence] = found.after.findings.loc[found.after.findings["fails"].astype(bool), "sentence"]
    assert "confirmed cause: node b1" in sentence


def test_launches_of_a_variant_are_apart_and_their_order_turns(cluster: Cluster) -> None:
    judged(cluster, {"slow_nodes": {"b1": 1.3}})

    variants = [trial.variant for trial in cluster.plans[-1]]
    rounds = [variants[start : start + 3] for start in (0, 3, 6)]
    assert sorted(rounds[0]) == ["", "node a1", "node b1"]
    assert rounds[0] == rounds[2] == rounds[1][::-1]


def test_a_cause_is_sought_where_it_can_be_found_in_time(cluster: Cluster) -> None:
    store = Store(cluster.folder / "results")
    cluster.nights(store, *range(1, 7))
    cluster.slow_nodes = {"b1": 1.3}
    cluster.nights(store, 7)
    nights = select_sessions(store, "night-7", None, 30)
    [quick] = suspects_of(gate(store, "night-7").findings, store, nights)
    [trial] = quick.trials
    labels = {"ranks": "4"}
    slow = replace(quick, finding_id="slow", trials=[replace(trial, ranks=4, labels=labels)])
    cluster.takes_s = {4: 60.0}  # so 210 s for both once, and 90 or 540 s for the nodes

    first, second = confirm([slow, quick], cluster.measure, 420.0, lambda: cluster.seconds)

    assert first.outcome is second.outcome is Recurrence.RECURS
    assert first.causes == []
    assert [cause.split(" (")[0] for cause in second.causes] == ["node b1"]
    assert cluster.seconds == 300.0


def test_a_cause_is_sought_in_the_job_that_takes_least_time(cluster: Cluster) -> None:
    store = Store(cluster.folder / "results")
    cluster.nights(store, *range(1, 7))
    cluster.slow_nodes = {"b1": 1.3}
    cluster.nights(store, 7)
    nights = select_sessions(store, "night-7", None, 30)
    [quick] = suspects_of(gate(store, "night-7").findings, store, nights)
    [trial] = quick.trials
    long = replace(trial, ranks=4, labels={"ranks": "4"})
    slow = replace(quick, trials=[long], where="long")
    both = replace(quick, trials=[long, trial], jobs=[slow, replace(quick, where="quick")])
    cluster.takes_s = {4: 60.0}  # so 210 s for both once, and 90 or 540 s for the nodes

    [found] = confirm([both], cluster.measure, 420.0, lambda: cluster.seconds)

    assert [re.sub("%.*", "%", cause) for cause in found.causes] == [
        "node b1 (without it in quick -23 %"
    ]
    assert cluster.seconds == 300.0


def test_nothing_is_begun_that_would_not_end_in_time(cluster: Cluster) -> None:
    found = judged(cluster, {"slow_nodes": {"b1": 1.3}}, budget_s=35.0)

    assert len(cluster.plans) == 1
    assert {one.outcome for one in found.confirmations} == {Recurrence.RECURS}
    assert "confirmed cause" not in "".join(found.after.findings["sentence"])


def test_what_cannot_be_measured_again_still_fails_and_says_why(cluster: Cluster) -> None:
    found = judged(cluster, {"slow_nodes": {"b1": 1.3}, "broken": True})

    assert found.after.fails
    assert (
        "could not be measured again: no node is free" in found.after.findings["sentence"].iloc[0]
    )
