"""Chooses the algorithms that are faster than the library's own choice in every launch."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from switchpoint.comparison.algorithms import Race, races
from switchpoint.errors import InputError
from switchpoint.models.kernels import LIBRARY
from switchpoint.models.libraries import mpich, open_mpi
from switchpoint.models.libraries.library import Library
from switchpoint.models.recommend import LIBRARIES
from switchpoint.models.repeats import LEAST_LAUNCHES
from switchpoint.records.rank_layout import layout_of
from switchpoint.records.terms import differing, run_terms
from switchpoint.tables.measurements import Measurements, without_damaged
from switchpoint.tables.mpi_names import OPERATION_NAMES, mpi_family
from switchpoint.tables.sweeps import Floats
from switchpoint.tuning.facts import NAME, Group, Tuning, Winner, operation_of

if TYPE_CHECKING:
    from switchpoint.records.header import Header

#: A rule is written where every launch gains more.
LEAST_GAIN = 0.05

#: The probability that a launch is not within its bounds. All launches have to agree, so that many
#: algorithms need no smaller one.
_RISK = 0.05

#: Open MPI's own fan-out of a chain, which a rule has to give.
_CHAIN, _CHAIN_FAN_OUT = "chain", 4

#: Larger numbers cannot be in Open MPI's file.
_LARGEST = 2**20 - 1

#: What one file cannot distinguish.
_PLACE = ("mpi", "placement", "environ", "site", "partition")

#: What launches on nodes of one kind share, and the library's name, without which `differing` does
#: not know that a setting was not set.
_KIND_OF_NODES = frozenset(["MPI library", "CPU model", "cores online"])

_One = tuple[dict[str, Any], int, Race]
_Headers: TypeAlias = "Sequence[Header]"


def tune(
    measurements: Measurements,
    *,
    least_gain: float = LEAST_GAIN,
    commutative: bool = False,
    **place: str | None,
) -> Tuning:
    """Choose for each collective, number of ranks and size the algorithm that surely wins.

    Parameters
    ----------
    measurements
        With runs in which the mode `library` and its algorithms were measured (`--algorithms`), at
        least three of each collective and number of ranks. They took turns, so the library's own
        choice is always in the race.
    least_gain
        An algorithm wins if every launch gains more, with its error (95 %).
    commutative
        Whether programs reduce only with operations that commute, as all built-in ones do. Some of
        Open MPI's algorithms give wrong results otherwise, and have no rules.
    **place
        `mpi`, `placement`, `environ`, `site`, `partition` of the runs to use, if there are several.

    Raises
    ------
    InputError
        If there is no such run, or too few of them, or they are of several places or were run with
        several settings.

    Notes
    -----
    A neighbouring size keeps the algorithm of the smaller one if it wins there too, and no other
    one is faster by more than the least gain.
    """
    measurements, notes = without_damaged(measurements, "tune")
    found = _of_one_place(races(measurements), place)
    first = found[0][0]
    mpi = str(first.get("mpi"))
    library = LIBRARIES.get(mpi_family(mpi))
    if library is None:
        raise InputError("tune", f"no rules can be written for {mpi}, only for Open MPI and MPICH")
    groups: list[Group] = []
    headers: list[Header] = []
    for identity, ranks, race in found:
        kernel = str(identity["kernel"])
        launches = [measurements.facts(run)[0] for run in race.runs]
        problem = _problem(library, kernel, ranks, race)
        if problem:
            notes.append(f"{kernel} on {ranks} rank{'s'[: ranks != 1]}: {problem}")
        else:
            _refuse_unlike(f"{kernel} on {ranks} ranks", launches)
            groups.append(_group(library, kernel, race, launches, least_gain, commutative, notes))
            headers += launches
    if not groups:
        raise InputError("tune", "; ".join(notes))
    starts = sorted(str(header["start_utc"]) for header in headers)
    return Tuning(
        library=library.name,
        mpi=mpi,
        site=_text(first.get("site")),
        environ=_text(first.get("environ")),
        placement=_text(first.get("placement")),
        hosts=sorted({str(one.get("host")) for header in headers for one in header["ranks"]}),
        first_utc=starts[0],
        last_utc=starts[-1],
        least_gain=least_gain,
        groups=sorted(groups, key=lambda group: (group.kernel, group.ranks)),
        notes=list(dict.fromkeys(notes)),
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _of_one_place(found: list[_One], place: Mapping[str, str | None]) -> list[_One]:
    """Return the races of the library's own calls at the place that was asked for.

    Raises
    ------
    InputError
        If they are of several places, or of none.
    """
    chosen = [one for one in found if one[0]["mode"] == LIBRARY]
    for name, wanted in place.items():
        if wanted is None:
            continue
        there = sorted({str(identity.get(name)) for identity, _, _ in chosen})
        chosen = [one for one in chosen if str(one[0].get(name)) == wanted]
        if not chosen:
            known = ", ".join(there)
            raise InputError(f"--{name}", f"no launch has '{wanted}'; they have: {known}")
    if not chosen:
        raise InputError("tune", f"no run measured the algorithms of the mode {LIBRARY}")
    for name in _PLACE:
        there = sorted({str(identity.get(name)) for identity, _, _ in chosen})
        if len(there) > 1:
            raise InputError(
                "tune",
                f"the launches differ in {name}, which a rules file cannot distinguish: choose one"
                f" of {', '.join(there)} with --{name}",
            )
    seen: dict[tuple[str, int], Mapping[str, Any]] = {}
    for identity, ranks, _ in chosen:
        other = seen.setdefault((str(identity["kernel"]), ranks), identity)
        if other is not identity:
            names = [name for name in identity if str(identity[name]) != str(other.get(name))]
            raise InputError(
                "tune",
                f"there are several curves of {identity['kernel']} on {ranks} ranks, which differ"
                f" in {' and '.join(names)}; give files of one of them",
            )
    return chosen


def _problem(library: Library, kernel: str, ranks: int, race: Race) -> str | None:
    """Return why there can be no rule, in words."""
    if ranks < 2:
        return "a rule needs two ranks or more; measure with more"
    if operation_of(kernel) not in library.operations:
        return f"the rules file of {library.name} does not count its bytes; it keeps its choice"
    if len(race.runs) < LEAST_LAUNCHES:
        count = len(race.runs)
        return (
            f"{count} launch{'es'[: 2 * (count != 1)]}, but rules need {LEAST_LAUNCHES};"
            " measure again"
        )
    return None


def _refuse_unlike(what: str, headers: _Headers) -> None:
    """Raise InputError if launches of one race ran on other kinds of nodes or with other settings.

    A job may get other nodes for each launch, so that their names may differ.
    """
    launches = [[_kind_of_launch(header)] for header in headers]
    for term, values in differing(launches):
        known = ", ".join(sorted(set().union(*values)))
        raise InputError(
            "tune",
            f"the launches of {what} differ in {term} ({known}), which a rules file cannot"
            " distinguish; give files of launches that agree",
        )


def _kind_of_launch(header: Header) -> dict[str, str]:
    terms = {
        term: value
        for term, value in run_terms(header, None).items()
        if term in _KIND_OF_NODES or term.startswith("setting ")
    }
    return {"ranks on nodes": layout_of(header).process_map} | terms


def _group(
    library: Library, kernel: str, race: Race, headers: _Headers, least_gain: float,
    commutative: bool, notes: list[str],
) -> Group:  # fmt: skip
    """Return the winners of one collective."""
    layout = layout_of(headers[0])
    ranks = len(layout.nodes)
    problems = [why_no_rule(library, kernel, name, ranks, commutative) for name in race.names]
    can_win = np.array([not problem for problem in problems])
    low, high = race.each_launch(_RISK)
    mean, _ = race.together()
    enough = np.sum(~np.isnan(race.slower), axis=0) >= LEAST_LAUNCHES
    sure = enough & (low > np.log1p(least_gain))
    left_out = np.flatnonzero((sure & ~can_win[:, None]).any(axis=1))
    notes += [
        f"{kernel} on {ranks} ranks: {race.names[one]} has no rule: {problems[one]}"
        for one in left_out
    ]
    picks = _picks(np.where(sure & can_win[:, None], mean, -np.inf), np.log1p(least_gain))
    winners = []
    for size, pick in picks:
        number, fan_out, segment_bytes = as_written(library, kernel, race.names[pick], headers)
        winners.append(
            Winner(
                size_bytes=int(race.sizes[size]),
                algorithm=race.names[pick],
                number=number,
                fan_out=fan_out,
                segment_bytes=segment_bytes,
                gain=float(np.exp(mean[pick, size])),
                gain_low=float(np.exp(low[pick, size])),
                gain_high=float(np.exp(high[pick, size])),
                launches=int(np.sum(~np.isnan(race.slower[:, pick, size]))),
            )
        )
    return Group(
        kernel=kernel,
        ranks=ranks,
        nodes=len(set(layout.nodes)),
        sizes_bytes=race.sizes.tolist(),
        winners=winners,
    )


def _picks(gains: Floats, least: float) -> Iterator[tuple[int, int]]:
    """Yield the index of each size that has a winner, and of its algorithm.

    Parameters
    ----------
    gains : array of float, shape (algorithms, sizes)
        Logarithms; minus infinity where an algorithm does not win.
    least
        A gain that is worth another algorithm than that of the size before.
    """
    before = -1
    for size, column in enumerate(gains.T):
        best = int(column.argmax())
        if not np.isfinite(column[best]):
            before = -1
            continue
        if before >= 0 and column[before] >= column[best] - least:
            best = before
        yield size, best
        before = best


def why_no_rule(library: Library, kernel: str, name: str, ranks: int, commutative: bool) -> str:
    """Return why an algorithm can have no rule in the library's file; empty if it can have one."""
    operation = operation_of(kernel)
    if re.fullmatch(NAME, name) is None:
        return "it is not a name"
    if library is mpich.MPICH and not mpich.can_have_rule(operation, name, ranks):
        return f"the file of {library.name} cannot name it for all calls"
    unsafe = library is open_mpi.OPEN_MPI and open_mpi.needs_commuting(operation, name)
    if unsafe and not commutative:
        return (
            "it gives wrong results if an operation does not commute; --commutative says that"
            " all do"
        )
    return ""


def as_written(library: Library, kernel: str, name: str, headers: _Headers) -> tuple[int, int, int]:
    """Return the numbers of Open MPI's file that make it do what was measured.

    They are the algorithm's number, the fan-out and the segment's bytes.
    """
    if library is mpich.MPICH:
        return 0, 0, 0
    number = headers[0].get("plan", {}).get("algorithms", {}).get(f"{LIBRARY}:{name}")
    if number is None or not 0 < number <= _LARGEST:
        raise InputError(
            "tune",
            "the records do not have the numbers that Open MPI's file needs; measure again with the"
            " kernels of this version",
        )
    prefix = f"coll_tuned_{OPERATION_NAMES.get(kernel, kernel)}_algorithm"
    settings = headers[0].get("mpi", {}).get("cvars", {})

    def setting(name: str, default: int) -> int:
        value = settings.get(f"{prefix}_{name}", default)
        return value if isinstance(value, int) and 0 <= value <= _LARGEST else default

    fan_out = setting("chain_fanout", _CHAIN_FAN_OUT) if name == _CHAIN else 0
    return number, fan_out, setting("segmentsize", 0)
