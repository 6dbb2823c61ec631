"""Chooses the algorithm of a broadcast or an exchange by size and group (studies 003 and 004)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from switchpoint.errors import InputError
from switchpoint.models.confirmation import Checked
from switchpoint.models.gains import gain_interval, surely_faster
from switchpoint.models.kernels import Options, Problem, kernel_of
from switchpoint.models.libraries.library import Choice, Group, Library, Rule, Rules
from switchpoint.models.links import Place
from switchpoint.models.prediction import Prediction, predict_one, times_by_curve
from switchpoint.models.site_model import SiteModel
from switchpoint.records.rank_layout import RankLayout
from switchpoint.tables.units import size_text

#: Segments in bytes that are tried, unless a message has too many of them; 0: the whole message.
SEGMENTS = (0, 4 << 10, 16 << 10, 64 << 10)
_MOST_SEGMENTS = 64

#: What an advice says.
USE, KEEP, UNKNOWN = "use", "keep the default", "default not known"


@dataclass(frozen=True)
class Advice:
    """What to use for one operation, group and size.

    Attributes
    ----------
    operation : str
        `broadcast` or `exchange`.
    ranks, nodes, size_bytes : int
        The group and the message.
    best, default : Choice or None
        The choice with the shortest predicted time, and what the library chooses by itself (None:
        not known).
    best_us, default_us : Prediction or None
        Their times.
    as_good : tuple of str
        Other choices than which the best is not surely faster.
    gain_interval : tuple of float or None
        The least and the most `gain` that the model's repeats and the errors of predictions make
        likely.
    checked : Checked or None
        What launches with the rule and without it showed.
    """

    operation: str
    ranks: int
    nodes: int
    size_bytes: int
    best: Choice
    best_us: Prediction
    default: Choice | None = None
    default_us: Prediction | None = None
    as_good: tuple[str, ...] = ()
    gain_interval: tuple[float, float] | None = None
    checked: Checked | None = None

    @property
    def verdict(self) -> str:
        """`USE` where the best is surely faster than the default."""
        if self.default_us is None:
            return UNKNOWN
        return USE if surely_faster(self.best_us, self.default_us) else KEEP

    @property
    def gain(self) -> float | None:
        """The predicted time of the default divided by that of the best."""
        return None if self.default_us is None else self.default_us.time_us / self.best_us.time_us

    @property
    def rule(self) -> Choice | None:
        """What to write into a file; None where the library's default stays.

        Without a known default that is the best, unless others are as good. An advice that did not
        win when it was checked is withdrawn.
        """
        return None if self.checked is not None and not self.checked.wins else self.predicted_rule

    @property
    def predicted_rule(self) -> Choice | None:
        """`rule` as if nothing had been checked."""
        sure = self.verdict == USE or (self.verdict == UNKNOWN and not self.as_good)
        return self.best if sure else None


@dataclass(frozen=True)
class Where:
    """Where an operation's ranks are: the curves to use, and the nodes of the ranks."""

    place: Place
    layout: RankLayout
    within: str

    @property
    def group(self) -> Group:
        """How many ranks and nodes there are."""
        return Group(len(self.layout.nodes), len(set(self.layout.nodes)))


def advise(
    model: SiteModel, library: Library, operation: str, where: Where, sizes_bytes: Sequence[int]
) -> tuple[list[Advice], list[str]]:
    """Return the advice for each size that can be predicted, and why others cannot.

    Raises
    ------
    InputError
        If no size can be predicted there.
    """
    algorithms: list[Advice] = []
    notes: list[str] = []
    for size_bytes in sizes_bytes:
        found = _tried(model, library, operation, where, size_bytes)
        if isinstance(found, Advice):
            algorithms.append(found)
        else:
            failed = found
            notes.append(f"no advice on {operation} of {size_text(size_bytes)}: {found.problem}")
    if not algorithms:
        raise failed
    return algorithms, notes


def _tried(
    model: SiteModel, library: Library, operation: str, where: Where, size_bytes: int
) -> Advice | InputError:
    try:
        return _advise_one(model, library, operation, where, size_bytes)
    except InputError as error:
        return error


def rules_of(algorithms: Sequence[Advice]) -> Rules:
    """Return the rules that follow from advice, from size 0 on; none where all is the default.

    A rule begins at the size for which it was predicted. A size between two predictions keeps the
    rule of the smaller one, and beyond the largest one the library decides.
    """
    by_group: dict[tuple[str, int], list[Advice]] = {}
    for advice in algorithms:
        by_group.setdefault((advice.operation, advice.ranks), []).append(advice)
    found: dict[tuple[str, int], list[Rule]] = {}
    for key, own in by_group.items():
        rules = [Rule(0, None)]
        for advice in sorted(own, key=lambda one: one.size_bytes):
            if advice.rule != rules[-1].choice:
                rules.append(Rule(advice.size_bytes, advice.rule))
        if rules[-1].choice is not None:
            rules.append(Rule(max(one.size_bytes for one in own) + 1, None))
        if len(rules) > 1 and rules[1].first_size_bytes == 0:
            rules.pop(0)
        if any(rule.choice for rule in rules):
            found[key] = rules
    return found


def _advise_one(
    model: SiteModel, library: Library, operation: str, where: Where, size_bytes: int
) -> Advice:
    group = where.group
    default = library.default(operation, group, size_bytes, _version(model, where.place))
    choices = [] if default is None else [default]
    for choice in _each_choice(library, operation, group.ranks, size_bytes):
        if not any(choice.same_pattern(other) for other in choices):
            choices.append(choice)
    if not choices:
        first = _problem(Choice(library.algorithms[operation][0]), group.ranks, size_bytes)
        raise InputError(operation, str(kernel_of(first.kernel).refuse(first)))
    times = {
        choice: found
        for choice in choices
        if (found := _predict(model, choice, where, size_bytes, must=choice == default))
    }
    if not times:
        _predict(model, choices[0], where, size_bytes, must=True)
    best = min(times, key=lambda choice: times[choice].time_us)
    default_us = times[default] if default is not None else None
    as_good = tuple(
        str(choice)
        for choice, time in times.items()
        if choice != best and not surely_faster(times[best], time)
    )
    gains = None
    if default is not None and default_us is not None:
        gains = _gains(model, (best, times[best]), (default, default_us), where, size_bytes)
    return Advice(
        operation, group.ranks, group.nodes, size_bytes, best, times[best], default, default_us,
        as_good, gains,
    )  # fmt: skip


def _gains(
    model: SiteModel, best: tuple[Choice, Prediction], default: tuple[Choice, Prediction],
    where: Where, size_bytes: int,
) -> tuple[float, float]:  # fmt: skip
    """Return the interval of the gain of the best choice over the default."""
    if best[0] == default[0]:
        return 1.0, 1.0
    by_curve = [
        times_by_curve(
            model, _problem(choice, where.group.ranks, size_bytes), where.place, where.layout,
            where.within,
        )
        for choice, _ in (best, default)
    ]  # fmt: skip
    return gain_interval(best[1].time_us, default[1].time_us, *by_curve)


def _version(model: SiteModel, place: Place) -> str:
    """Return the MPI of the curves that are used."""
    names = {curve.mpi for curve in model.curves if curve.placement == place.placement}
    return place.mpi or (str(next(iter(names))) if len(names) == 1 else "")


def _each_choice(library: Library, operation: str, ranks: int, size_bytes: int) -> Iterator[Choice]:
    """Yield the algorithms that suit the group, with each length of segments."""
    for algorithm in library.algorithms[operation]:
        for segment in SEGMENTS if algorithm.segmented else (0,):
            if segment and not size_bytes / _MOST_SEGMENTS <= segment < size_bytes:
                continue
            choice = Choice(algorithm, segment)
            if _suits(choice, ranks, size_bytes):
                yield choice


def _suits(choice: Choice, ranks: int, size_bytes: int) -> bool:
    problem = _problem(choice, ranks, size_bytes)
    return kernel_of(problem.kernel).refuse(problem) is None


def _problem(choice: Choice, ranks: int, size_bytes: int) -> Problem:
    algorithm = choice.algorithm
    options = Options(segment=choice.segment_bytes or max(size_bytes, 1))
    return Problem(algorithm.kernel, algorithm.mode, ranks, size_bytes, options)


def _predict(
    model: SiteModel, choice: Choice, where: Where, size_bytes: int, *, must: bool
) -> Prediction | None:
    """Predict a choice; unless it must be, None if the model has no line for its messages."""
    problem = _problem(choice, where.group.ranks, size_bytes)
    try:
        return predict_one(model, problem, where.place, where.layout, where.within)
    except InputError:
        if must:
            raise
        return None
