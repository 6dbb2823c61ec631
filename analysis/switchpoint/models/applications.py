"""The applications that can be predicted: their patterns, sizes and units of work."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from switchpoint.models.patterns import applications as patterns
from switchpoint.models.patterns.application_messages import NUMBER_BYTES
from switchpoint.models.patterns.linear_equations import linear
from switchpoint.models.patterns.pattern import Pattern

if TYPE_CHECKING:
    from switchpoint.models.kernels import Problem

_SERIAL, _ONE_RANK = "serial", "one_rank"

#: The quality of `jpeg` for which the length of a stream is known.
QUALITY = 75


@dataclass(frozen=True)
class Application:
    """How to predict an application.

    Attributes
    ----------
    rated_by : dict
        By each mode that can be predicted: the mode of rank 0 alone whose runs show its rate.
    sizes_bytes : list of int
        What to predict if nobody says: the check's sizes.
    work : str
        What a rate is the time of.
    check : str
        The check that measures the rate.
    pattern : callable
        Returns the pattern of a problem on some ranks; the arguments are the problem, the ranks
        and the rate in microseconds.
    messages : callable
        Returns at least how many messages a problem has.
    refuse : callable
        Returns why a problem has no pattern, and the fix; None if it has one.
    assumes : str
        What depends on the data, and is taken to be equal or a mean.
    fewer : str
        The option that makes fewer messages, in words.
    """

    rated_by: dict[str, str]
    sizes_bytes: list[int]
    work: str
    check: str
    pattern: Callable[[Problem, int, float], Pattern]
    messages: Callable[[Problem], int]
    refuse: Callable[[Problem], str | None]
    assumes: str = ""
    fewer: str = ""


def pattern_of_application(problem: Problem, rate_us: float) -> Pattern:
    """Return the pattern of an application; in modes of rank 0 alone the others do nothing."""
    application = APPLICATIONS[problem.kernel]
    alone = _alone(problem) and problem.kernel != "voting"  # whose ranks vote in its serial mode
    pattern = application.pattern(problem, 1 if alone else problem.ranks, rate_us)
    idle = problem.ranks - len(pattern.programs)
    return Pattern([*pattern.programs, *([] for _ in range(idle))])


def assumption_of(problem: Problem) -> str:
    """Return what a prediction takes for granted of the data; empty if nothing."""
    application = APPLICATIONS.get(problem.kernel)
    if application is None or problem.ranks == 1 or _alone(problem):
        return ""
    return application.assumes


def rated_by(kernel: str, mode: str) -> str | None:
    """Return the mode whose runs show the compute rate of a mode; None: that of the kernel."""
    return APPLICATIONS[kernel].rated_by.get(mode) if kernel in APPLICATIONS else None


def _alone(problem: Problem) -> bool:
    return problem.mode.endswith((_SERIAL, _ONE_RANK))


def _voting(problem: Problem, ranks: int, rate_us: float) -> Pattern:
    return patterns.voting(problem.mode, ranks, problem.size_bytes, rate_us)


def _backpropagation(problem: Problem, ranks: int, rate_us: float) -> Pattern:
    hidden, epochs = problem.options.hidden, problem.options.epochs
    return patterns.backpropagation(ranks, problem.size_bytes, rate_us, hidden, epochs)


def _linear(problem: Problem, ranks: int, rate_us: float) -> Pattern:
    name = problem.mode.partition("_")[0]
    return linear(name, ranks, problem.size_bytes, rate_us, problem.options.block)


def _divided(
    pattern: Callable[[int, int, float], Pattern],
) -> Callable[[Problem, int, float], Pattern]:
    """Give a pattern that has no options the arguments of `Application.pattern`."""
    return lambda problem, ranks, rate_us: pattern(ranks, problem.size_bytes, rate_us)


def _blocks(problem: Problem) -> int:
    return -(-math.isqrt(problem.size_bytes // NUMBER_BYTES) // problem.options.block)


def _whole(unit_bytes: int, name: str) -> Callable[[Problem], str | None]:
    """Refuse sizes that are not a number of such units, as the kernel does."""

    def refuse(problem: Problem) -> str | None:
        size = problem.size_bytes
        if size > 0 and size % unit_bytes == 0:
            return None
        above = (size // unit_bytes + 1) * unit_bytes
        return f"{size:,} B are not one or more {name} of {unit_bytes:,} B; use {above:,}"

    return refuse


def _square(number_bytes: int) -> Callable[[Problem], str | None]:
    """Refuse sizes that are no square matrix."""

    def refuse(problem: Problem) -> str | None:
        order = math.isqrt(problem.size_bytes // number_bytes)
        if order > 0 and order * order * number_bytes == problem.size_bytes:
            return None
        possible = [number_bytes * n * n for n in (order, order + 1) if n]
        return (
            f"{problem.size_bytes:,} B are not a square matrix of numbers of {number_bytes} B; use"
            f" {' or '.join(f'{size:,}' for size in possible)}"
        )

    return refuse


def _suits_jpeg(problem: Problem) -> str | None:
    quality = problem.options.quality
    if quality != QUALITY:
        return f"is known at --option quality={QUALITY} only, not {quality}"
    return _whole(patterns.BLOCK_BYTES, "blocks")(problem)


def _suits_psrs(problem: Problem) -> str | None:
    least_bytes = patterns.KEY_BYTES * problem.ranks**2
    if why := _whole(patterns.KEY_BYTES, "keys")(problem):
        return why
    if problem.size_bytes < least_bytes and not _alone(problem):
        return (
            f"{problem.ranks} ranks need {least_bytes:,} B or more for their samples, not"
            f" {problem.size_bytes:,}; use larger sizes or fewer ranks"
        )
    return None


def _pairs(problem: Problem) -> int:
    return problem.ranks * (problem.ranks - 1)


_MODES = {"parallel": _ONE_RANK, _ONE_RANK: _ONE_RANK, _SERIAL: _SERIAL}
_KIB = 1024

APPLICATIONS = {
    "voting": Application(
        dict.fromkeys(["everywhere", "shares", _SERIAL], _SERIAL), [64 * _KIB, 1024 * _KIB],
        "counting one vote", "Voting",
        _voting, lambda problem: 2 * _pairs(problem), _whole(patterns.VOTE_BYTES, "votes"),
    ),
    "jpeg": Application(
        _MODES, [64 * _KIB, 1024 * _KIB],
        "compressing one block of 64 x 64 pixels", "JpegCompression",
        _divided(patterns.jpeg), lambda problem: 4 * problem.ranks, _suits_jpeg,
        f"a block's stream is taken to have {patterns.STREAM_BYTES:,} B, the mean of the kernel's"
        " images",
    ),
    "backpropagation": Application(
        _MODES, [64 * _KIB, 256 * _KIB],
        "learning one pattern once, for each hidden unit", "BackPropagation",
        _backpropagation, lambda problem: (2 * problem.options.epochs + 1) * problem.ranks,
        _whole(patterns.PATTERN_BYTES, "patterns"),
        fewer="a smaller --option epochs",
    ),
    "psrs": Application(
        _MODES, [64 * _KIB, 1024 * _KIB],
        "merging one key once; n keys are sorted in n log2(n) of it", "SortingByRegularSampling",
        _divided(patterns.psrs), lambda problem: 2 * _pairs(problem) + 5 * problem.ranks,
        _suits_psrs, "each rank is taken to get equally many keys between two pivots",
    ),
    "fft": Application(
        _MODES, [64 * _KIB, 1024 * _KIB],
        "one number in one of the log2(n^2) stages of n x n numbers", "FastFourierTransform",
        _divided(patterns.fft), lambda problem: 2 * (_pairs(problem) + problem.ranks),
        _square(patterns.COMPLEX_BYTES),
    ),
    "linear": Application(
        {
            name + form: name + (form or f"_{_ONE_RANK}")
            for name in ("lu", "inv", "mult") for form in ("", f"_{_SERIAL}", f"_{_ONE_RANK}")
        },
        [32 * _KIB, 512 * _KIB],
        "one multiply-add: n^3 / 3 for lu, 4 n^3 / 3 for inv, n^3 for mult", "LinearEquations",
        _linear, lambda problem: 3 * (_blocks(problem) + 1) * problem.ranks,
        _square(NUMBER_BYTES), fewer="a larger --option block",
    ),
}  # fmt: skip
