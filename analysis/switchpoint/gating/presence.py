"""What is missing in the current session: silence is no pass."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from switchpoint.errors import InputError
from switchpoint.gating.points import Points
from switchpoint.limits import JSON_BYTES
from switchpoint.models.rules_files import DIGEST_LABEL, RULES_LABEL
from switchpoint.regular_files import read_limited
from switchpoint.tables.sweeps import Floats, Indices

#: A curve is expected if it was in this share of the sessions from its first to its last, and in as
#: many sessions, or in all sessions if there are fewer.
_LEAST_SHARE = 0.5
_LEAST_SESSIONS = 2

#: Sessions that are read to know how many launches and sizes a curve has.
_RECENT = 5


@dataclass(frozen=True)
class Fewer:
    """Curves that have fewer launches or sizes in the current session.

    Attributes
    ----------
    what : str
        `launches` or `sizes`.
    curves : array of int
        Rows of `Points.curves`.
    now, before : int
        The numbers of most of these curves.
    change : float
        The relative change of the curve that lost most.
    """

    what: str
    curves: Indices
    now: int
    before: int
    change: float


@dataclass(frozen=True)
class Absent:
    """What the current session lacks.

    Attributes
    ----------
    missing : array of int
        The curves that baseline sessions measured and the current session lacks.
    fewer : list of Fewer
    all_new : bool
        Whether no curve of the current session was measured in a baseline session.
    other_rules : dict
        Curves of baseline sessions that go on under other rules of `switchpoint tune`, each with
        its curve in the current session, which is the first with these rules. They are not missing.
    """

    missing: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    fewer: list[Fewer] = field(default_factory=list)
    all_new: bool = False
    other_rules: dict[int, int] = field(default_factory=dict)


def absent(points: Points) -> Absent:
    """Compare what the current session measured with what the baseline sessions did.

    Sessions count whatever was accepted of their times since.
    """
    there = _presence(points.launches["curve"].to_numpy(), points)
    before, now = there[:, :-1].any(axis=1), there[:, -1] > 0
    missing = _missing(there)
    going_on = _under_other_rules(points.curves, there, missing)
    return Absent(
        np.setdiff1d(missing, np.array([*going_on], dtype=np.intp)),
        [*_fewer_of(points)],
        not (before & now).any(),
        {curve: other for curve, other in going_on.items() if not there[other, :-1].any()},
    )


def _under_other_rules(curves: pd.DataFrame, there: Floats, missing: Indices) -> dict[int, int]:
    """Return missing curves of which the current session has one that differs in its rules alone.

    Two curves of one session are no such pair: that session measured two folders of rules.
    """
    if DIGEST_LABEL not in curves:
        return {}
    alike = _numbers(curves, DIGEST_LABEL)
    has_rules = curves[DIGEST_LABEL].notna().to_numpy()
    going_on = {}
    for curve in missing.tolist() if len(missing) else ():
        others = has_rules & (alike == alike[curve]) & (there[:, -1] > 0)
        others &= ~(there * there[curve]).any(axis=1)
        if has_rules[curve] and others.any():
            going_on[curve] = int(np.argmax(others))
    return going_on


def _numbers(curves: pd.DataFrame, *without: str) -> Indices:
    """Number curves such that those which differ in these columns alone have the same number."""
    keys = curves.drop(columns=[name for name in without if name in curves])
    return keys.groupby([*keys], dropna=False).ngroup().to_numpy()


def _presence(row: Indices, points: Points) -> Floats:
    there = np.zeros((len(points.curves), points.sessions))
    there[row, points.launches["session_number"].to_numpy()] = 1
    return there


def _missing(there: Floats) -> Indices:
    """Return the rows that are expected in the last column and not there."""
    past = there[:, :-1]
    sessions = past.shape[1]
    if not sessions:
        return np.zeros(0, dtype=np.intp)
    number = past.sum(axis=1)
    first = np.argmax(past > 0, axis=1)
    last = sessions - 1 - np.argmax(past[:, ::-1] > 0, axis=1)
    often = number >= _LEAST_SHARE * (last - first + 1)
    expected = often & (number >= min(_LEAST_SESSIONS, sessions))
    return np.flatnonzero(expected & (there[:, -1] == 0))


def missing_values(series: Indices, session: Indices, sessions: int) -> Indices:
    """Return the series of single values that baseline sessions had and the last one lacks."""
    there = np.zeros((int(series.max(initial=-1)) + 1, sessions))
    there[series, session] = 1
    return _missing(there)


def _fewer_of(points: Points) -> Iterator[Fewer]:
    """Yield what the current session has less of: launches, or sizes."""
    first = max(points.sessions - 1 - _RECENT, 0)
    launches = points.launches[points.launches["session_number"] >= first]
    yield from _fewer("launches", _counts(launches, first, points.sessions))
    recent = (points.session >= first) & _with_rules_of_now(points)[points.launch]
    sizes = pd.DataFrame(
        {
            "curve": points.curve[recent],
            "session_number": points.session[recent],
            "size": points.size[recent],
        }
    ).drop_duplicates()
    yield from _fewer("sizes", _counts(sizes, first, points.sessions))


def _with_rules_of_now(points: Points) -> npt.NDArray[np.bool_]:
    """Return of each launch whether its session had the rules of the current one, or none.

    Launches with rules and those without have the sizes of these rules.
    """
    launches, curves = points.launches, points.curves
    if DIGEST_LABEL not in curves:
        return np.ones(len(launches), dtype=bool)
    of_launch = launches["curve"].to_numpy()
    beside = pd.DataFrame(
        {
            "series": _numbers(curves, DIGEST_LABEL, RULES_LABEL)[of_launch],
            "session": launches["session_number"].to_numpy(),
        }
    )
    digests = curves[DIGEST_LABEL].fillna("").to_numpy()[of_launch]
    rules = beside.assign(digests=digests).groupby(["series", "session"])["digests"].agg(frozenset)
    then = rules[pd.MultiIndex.from_frame(beside)].to_numpy()
    now = rules.reindex(pd.MultiIndex.from_frame(beside.assign(session=points.sessions - 1)))
    return np.asarray(then == now.to_numpy())


def _counts(rows: pd.DataFrame, first: int, sessions: int) -> pd.DataFrame:
    """Count rows by curve and session; NaN without any."""
    counts = rows.pivot_table(index="curve", columns="session_number", aggfunc="size")
    return counts.reindex(columns=range(first, sessions))


def _fewer(what: str, number: pd.DataFrame) -> Iterator[Fewer]:
    if number.iloc[:, :-1].empty:
        return
    # Of an even number of sessions, as many as half of them had: not less than usual.
    before = number.iloc[:, :-1].quantile(0.5, axis=1, interpolation="lower")
    now = number.iloc[:, -1]
    less = (now < before) & now.notna()
    if less.any():
        (had, has), _ = Counter(zip(before[less], now[less], strict=True)).most_common(1)[0]
        change = float((now / before - 1)[less].min())
        yield Fewer(what, number.index[less].to_numpy(), int(has), int(had), change)


def failures_of_report(path: Path) -> list[tuple[str, str]]:
    """Return name and reason of each test in a ReFrame run report that did not pass.

    The name contains the system, partition and environment: a test that fails in one of them may
    pass in another.

    Raises
    ------
    InputError
        If it is not a run report.
    """
    try:
        report = json.loads(read_limited(path, JSON_BYTES))
        cases = [case for run in report["runs"] for case in run["testcases"]]
        return [
            (_name(case), _reason(case))
            for case in cases
            if case["result"] not in ("pass", "xfail")
        ]
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror}; check the path") from None
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise InputError(
            path, f"is not a run report of ReFrame ({error}); give its --report-file"
        ) from None


def _name(case: Mapping[str, Any]) -> str:
    """Return the name of a test case as the check `Gate` writes it, so that their IDs are equal.

    >>> _name({"name": "T", "system": "alpha", "partition": "batch", "environ": "gnu"})
    'T @alpha:batch+gnu'
    >>> _name({"name": "T", "display_name": "T %size=8 @alpha:batch+gnu"})
    'T %size=8 @alpha:batch+gnu'
    """
    name = str(case.get("display_name") or case["name"])
    where = ":".join(str(case[part]) for part in ("system", "partition") if case.get(part))
    environ = f"+{case['environ']}" if case.get("environ") else ""
    return f"{name} @{where}{environ}" if where or environ else name


def _reason(case: Mapping[str, Any]) -> str:
    phase = f" in the phase {case['fail_phase']}" if case.get("fail_phase") else ""
    reason = str(case.get("fail_reason") or "").strip().splitlines()
    verb = {"fail": "failed", "skip": "was skipped", "abort": "was aborted"}
    words = verb.get(str(case["result"]), f"ended as {case['result']}")
    return f"{words}{phase}{': ' + reason[0] if reason else ''}"
