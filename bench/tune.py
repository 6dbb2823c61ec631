"""Holds measured rules for collectives beside the default, and beside rules from means.

Four nodes with links of 100 Mbit/s and one rank each, so that messages decide, not cores. Each
launch measures the library's choice and all its algorithms in turns. `switchpoint tune` writes
rules from these launches; other rules take the algorithm with the smallest mean of three launches,
without the default in the race and without a test, as tuners with OSU's programs do. Fresh launches
with each and with none then alternate.

With --budget, an algorithm that is nowhere faster in the first launch is not measured again, and
the launches of an MPI take no longer than so many minutes, half of them with rules.
Usage: ``.venv/bin/python bench/tune.py [LAUNCHES] [MPI...] [--only OPERATION] [--sizes S]
[--budget MINUTES] [--keep FOLDER]``
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from arguments import add_count, add_mpis, one_of, parser
from on_testbed import (
    ROOT,
    kernel,
    launch_on_all,
    measured,
    run,
    sharing_cores,
    srun_words,
    testbed,
)
from switchpoint import Measurements, check_tuning, tune, write_tuning
from switchpoint.comparison.algorithms import races
from switchpoint.models.recommend import LIBRARIES
from switchpoint.models.rules_files import (
    DIGEST_LABEL,
    RULES_LABEL,
    WITH,
    WITHOUT,
    RulesFolder,
    read_rules,
)
from switchpoint.tuning.facts import Group, Tuning, Winner
from switchpoint.tuning.files import comments
from switchpoint.tuning.tune import LEAST_LAUNCHES, as_written, why_no_rule

SHAPE = ROOT / "bench" / "shapes" / "slow-links.yaml"
NODES = 4
OPERATIONS = ["broadcast", "allreduce", "allgather", "alltoall", "reduce", "reduce_scatter"]
MPICH_LIBRARY = Path("/usr/lib/x86_64-linux-gnu/libmpich.so.12")
#: Visits with one call each.
QUICK = [
    *("--mode=library", "--samples=1", "--block-time=0", "--warmup=1"),
    *("--time-budget=240", "--quiet"),
]
PASSES = 9

TUNED, MEANS = "tune", "smallest mean"


class Budget:
    """Minutes that the launches may take; none starts that would probably end too late."""

    def __init__(self, minutes: float) -> None:
        self.end = time.monotonic() + 60 * minutes
        self.longest_s = 0.0

    def launches(self, count: int) -> Iterator[int]:
        """Yield the numbers of the launches, or of rounds of them, that fit."""
        for number in range(count):
            start = time.monotonic()
            if start + self.longest_s > self.end:
                return
            yield number
            self.longest_s = max(self.longest_s, time.monotonic() - start)


class Site:
    """The running testbed, one MPI on it, and the folder of its records."""

    def __init__(self, name: str, mpi: str, folder: Path, sizes: str) -> None:
        self.name, self.mpi, self.folder, self.sizes = name, mpi, folder, sizes

    def race(self, operations: list[str], launches: int, minutes: float) -> Measurements:
        """Measure each operation and its algorithms, in rounds."""
        algorithms = dict.fromkeys(operations, "all")
        for turn in Budget(minutes).launches(launches):
            for operation in operations:
                if not algorithms[operation]:
                    continue
                record = self.folder / f"race-{operation}-{turn}.record"
                options = [f"--algorithms={algorithms[operation]}", *self._options(record)]
                program = kernel(self.mpi, operation)
                launch_on_all(self.name, self.mpi, NODES, [program, *options], self.folder)
                if turn == 0 and minutes < math.inf:
                    algorithms[operation] = ",".join(_promising(measured([record])))
        return measured(self.folder.glob("race-*.record"))

    def compare(
        self, operations: list[str], rules: dict[str, RulesFolder], launches: int, minutes: float
    ) -> Measurements:
        """Measure each operation with each folder of rules and with none, in rounds."""
        sides = [("default", None), *rules.items()]
        for turn in Budget(minutes).launches(launches):
            for operation in operations:
                for place in range(len(sides)):
                    self._measure(operation, turn, *sides[(turn + place) % len(sides)])
        return measured(self.folder.glob("fresh-*.record"))

    def _measure(self, operation: str, turn: int, side: str, rules: RulesFolder | None) -> None:
        record = self.folder / f"fresh-{operation}-{side.replace(' ', '-')}-{turn}.record"
        labels = [f"--label={RULES_LABEL}={WITH if rules else WITHOUT}"]
        variables = sharing_cores(self.mpi)
        if rules is not None:
            labels.append(f"--label={DIGEST_LABEL}={rules.digest}")
            variables = variables | rules.variables
        words = srun_words(self.mpi, NODES, NODES)
        program = kernel(self.mpi, operation)
        run(self.name, [*words, program, *self._options(record), *labels], variables, self.folder)

    def _options(self, record: Path) -> list[str]:
        return [f"--sizes={self.sizes}", f"--passes={PASSES}", *QUICK, f"--record={record}"]


def _promising(measurements: Measurements) -> list[str]:
    """Return the algorithms that are faster than the default at some size of the only launch."""
    [(_, _, race)] = races(measurements)
    faster = np.nan_to_num(race.slower[0]).max(axis=1) > 0
    return [name for name, fast in zip(race.names, faster, strict=True) if fast]


def by_means(tuning: Tuning, measurements: Measurements) -> Tuning:
    """Return the rules that take the smallest mean of three launches at each size."""
    groups = []
    library = LIBRARIES[tuning.library]
    for identity, ranks, race in races(measurements):
        group_kernel, runs = str(identity["kernel"]), race.runs[:LEAST_LAUNCHES]
        headers = [measurements.facts(one)[0] for one in runs]
        samples = measurements.samples
        samples = samples[samples["run_id"].isin(runs)]
        means = samples.groupby(["mode", "size_bytes"], observed=True)["time_us"].mean().unstack(0)
        names = [
            one
            for one in race.names
            if f"library:{one}" in means
            and not why_no_rule(library, group_kernel, one, ranks, True)
        ]
        if not names:
            continue
        best = means[[f"library:{name}" for name in names]].idxmin(axis=1)
        winners = []
        for size, mode in best.items():
            name, gain = mode.partition(":")[2], means.loc[size, "library"] / means.loc[size, mode]
            number, fan_out, segment = as_written(library, group_kernel, name, headers)
            winners.append(
                Winner(
                    size_bytes=size, algorithm=name, number=number, fan_out=fan_out,
                    segment_bytes=segment, gain=gain, gain_low=gain, gain_high=gain,
                    launches=len(runs),
                )
            )  # fmt: skip
        groups.append(
            Group(
                kernel=group_kernel, ranks=ranks, nodes=NODES, sizes_bytes=race.sizes.tolist(),
                winners=winners,
            )
        )  # fmt: skip
    return tuning.model_copy(update={"groups": groups})


def print_rows(mpi: str, choice: str, checked: Tuning) -> None:
    """Print a row for each operation."""
    for group in checked.groups:
        found = [one.checked for one in group.winners if one.checked is not None]
        slower = sum(one.gain < 1 for one in found)
        surely = sum(one.with_us[1] > one.without_us[2] for one in found)
        saved = sum(1 - 1 / one.gain for one in found) / len(group.sizes_bytes)
        kept = [one for one in found if one.wins]
        saved_kept = sum(1 - 1 / one.gain for one in kept) / len(group.sizes_bytes)
        print(
            f"| {mpi} | {group.kernel} | {choice} | {len(found)} of {len(group.sizes_bytes)} |"
            f" {slower} | {surely} | {100 * saved:+.1f} % | {len(kept)} |"
            f" {100 * saved_kept:+.1f} % |",
            flush=True,
        )


def examine(site: Site, operations: list[str], launches: int, minutes: float) -> None:
    """Tune, write, measure again, and print what each choice gained."""
    site.folder.mkdir(parents=True)
    begin = time.monotonic()
    raced = site.race(operations, launches, minutes / 2)
    tunings = {TUNED: tune(raced, commutative=True)}
    tunings[MEANS] = by_means(tunings[TUNED], raced)
    folders = {}
    for choice, tuning in tunings.items():
        if tuning.rules():
            folders[choice] = site.folder / f"rules-{choice.replace(' ', '-')}"
            write_tuning(tuning, folders[choice], MPICH_LIBRARY)
    rules = {choice: read_rules(folder) for choice, folder in folders.items()}
    left = minutes - (time.monotonic() - begin) / 60
    fresh = site.compare(operations, rules, launches, left)
    for choice, folder in folders.items():
        checked = check_tuning(folder, fresh)
        print_rows(site.mpi, choice, checked)
        if choice == TUNED:
            write_tuning(checked, folder, MPICH_LIBRARY)
            print(*(f"# {line}" for line in comments(checked)), sep="\n", flush=True)
    used = (time.monotonic() - begin) / 60
    print(f"# {site.mpi}: {used:.1f} minutes on {NODES} nodes", flush=True)


def main() -> None:
    """Print the table."""
    options = parser(__doc__)
    add_count(options, "launches", LEAST_LAUNCHES, least=LEAST_LAUNCHES)
    add_mpis(options)
    options.add_argument(
        "--only", action="append", type=one_of("operation", OPERATIONS), metavar="OPERATION"
    )
    options.add_argument("--sizes", default="1K:1M", help="as a kernel takes them")
    options.add_argument("--budget", type=float, default=math.inf, metavar="MINUTES")
    options.add_argument("--keep", type=Path, metavar="FOLDER")
    given = options.parse_args()
    print(
        "| MPI | operation | rules of | sizes with a rule | slower than the default | surely slower"
        " | time saved, mean over all sizes | confirmed | time saved by these |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    with testbed(shape=SHAPE) as name, tempfile.TemporaryDirectory(dir=".") as scratch:
        for mpi in given.mpis:
            folder = (given.keep or Path(scratch)).resolve() / mpi
            site = Site(name, mpi, folder, given.sizes)
            examine(site, given.only or OPERATIONS[:3], given.launches, given.budget)
    print(f"{given.launches} launches of each side")


if __name__ == "__main__":
    main()
