"""Finds steps, changes of slope and other anomalies in curves of time against message size.

What timing shows is a `step` or a `slope_change`; that a step is a switch of protocol needs proof.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from switchpoint.cores import workers
from switchpoint.detection import confidence
from switchpoint.detection.disturbances import noise_bursts, off_alone, outliers
from switchpoint.detection.inversions import inversions
from switchpoint.detection.segments import Piece, PieceTable, cut
from switchpoint.explanation.origins import Origins, origins_of_run
from switchpoint.explanation.suspects import Suspects, suspects_of_run
from switchpoint.records.run_facts import conditions
from switchpoint.tables.columns import BOUNDARIES, FINDING_COLUMNS, identity_columns, none_for_nulls
from switchpoint.tables.curves import compare_passes, summarise, summarise_passes
from switchpoint.tables.measurements import Measurements, swept

Floats = npt.NDArray[np.float64]

#: Effects smaller than this are not reported: relative change of time.
SMALLEST_STEP = 0.05
SMALLEST_SLOPE_CHANGE = 0.25

#: A boundary must be at least this probable, before calibration.
LEAST_POSTERIOR = 0.1

#: A curve of fewer sizes is not searched.
FEWEST_SIZES = 6

#: A jump between two lines is one from so many standard errors on, or where the fit wants the
#: boundary with such a posterior: a piece of few sizes aims its line badly.
_JUMP_ERRORS = 2.0
_SURE_POSTERIOR = 0.9

#: From these on a finding is shown first; a suspect lifts a smaller one.
PROMINENT_MAGNITUDE = 0.2
PROMINENT_CONFIDENCE = 0.9

#: Noise never counts as smaller than this, relative: below it curves are not made of lines.
NOISE_FLOOR = 0.005

#: Scatter is read at this quantile of absolute values, and its place in a normal distribution.
_QUANTILE = 0.4
_NORMAL_QUANTILE = 0.5244

#: About so many curves are searched at once, and so many are worth starting processes for.
CURVES_AT_ONCE = 100
WORTH_A_POOL = 600

#: So many launches of one curve are cut together: more take memory and tell little more.
LAUNCHES_TOGETHER = 10

#: What sibling curves have in common, and from how many on their silence refutes a guess.
_SIBLING = ["site", "partition", "mpi", "kernel", "placement"]
_ENOUGH_SIBLINGS = 2

#: Where repeats tell the noise, so much of the scatter between sizes counts as noise too: curves
#: that bend between steps look scattered where sizes are far apart. Where it is all that tells the
#: noise, it counts for more, being read from few points.
SCATTER_SHARE = 0.5
SCATTER_SHARE_ALONE = 1.2

#: What one more piece costs grows with the number of sizes as in an information criterion; so much
#: that noise alone, of 1 to 20 % over 20 to 200 sizes with five repeats, shows something in at most
#: 3 curves of 100.
_PENALTY_PER_LOG = 4.2
_LEAST_PENALTY = 14.0

#: Of that, so much is the price of its line; the rest is that of its place, which several launches
#: of a curve pay together.
_SHARE_OF_LINE = 0.5


def detect(
    source: Measurements | pd.DataFrame, progress: Callable[[], object] = lambda: None
) -> pd.DataFrame:
    """Find steps, changes of slope, and other anomalies in every curve and between curves.

    Parameters
    ----------
    source
        Measurements or their samples table.
    progress
        Called after each curve.

    Returns
    -------
    DataFrame
        One row per finding, the curve's identity columns and:

        kind
            `step`: the time jumps between two neighbouring sizes. `slope_change`: the time per
            byte changes without a jump. `outlier`: one size is off alone. `noise_burst`: passes
            are slower than the others at all sizes. `placement_inversion`, `mode_inversion`,
            `asymmetry`: this curve is slower than another that should be no faster
            (`inversions`).
        size_bytes, last_size_before
            First measured size on the far side and last on the near side.
        magnitude
            Relative change of time, positive when slower: of a step, both lines compared at
            `size_bytes`; of a slope change, compared one octave past it.
        confidence
            From 0 to 1. Of a boundary: how often one like it proved real and in exactly this
            bracket on labelled curves (`confidence`), read from `evidence["posterior"]`, the
            posterior probability against none there and every other place within the two pieces
            around it. Of the others: the probability that noise shows no such thing. It says
            nothing of the cause.
        evidence
            Dictionary: the two lines (`intercept_us`, `per_byte_us`), `jump_us`, relative `noise`,
            `sizes`, `posterior`, how many of the curve's `launches` show a boundary there. Other
            kinds: see docs/reference/findings.md.
        suspects
            List of dictionaries: settings whose value lies in the bracket. Never proof.
        origin
            Dictionary or None: a guess where a step comes from (`origins`). Never proof.
    """
    samples = swept(source.samples if isinstance(source, Measurements) else source)
    identity = identity_columns(samples)
    curves, rows = _scan_all(samples, identity, progress)
    if isinstance(source, Measurements):
        _consult_the_runs(source, rows)
    _count_siblings(curves, identity, rows)
    rows += inversions(curves)
    findings = pd.DataFrame(rows, columns=[*identity, *FINDING_COLUMNS])
    findings["suspects"] = [
        value if isinstance(value, list) else [] for value in findings["suspects"]
    ]
    findings[["origin"]] = none_for_nulls(findings[["origin"]])
    return findings


def count_curves(measurements: Measurements) -> int:
    """How many curves `detect` will search."""
    samples = swept(measurements.samples)
    identity = identity_columns(samples)
    grouped = samples.groupby(identity, dropna=False, observed=True, sort=False)
    return int(grouped.ngroups)


def _scan_all(
    samples: pd.DataFrame, identity: list[str], progress: Callable[[], object]
) -> tuple[pd.DataFrame, list[dict[str, Any]]]:
    """Summarise and search all curves, a part of them at a time, on all cores if there are many."""
    if not identity or samples.empty:
        part = _scan(samples)
        progress()
        return part
    parts, counts = _parts(samples, identity)
    curves, rows = [], []
    with workers(worthwhile=sum(counts) >= WORTH_A_POOL) as apply:
        for count, (points, found) in zip(counts, apply(_scan, parts), strict=True):
            curves.append(points)
            rows += found
            for _ in range(count):
                progress()
    return pd.concat(curves, ignore_index=True), rows


def _parts(samples: pd.DataFrame, identity: list[str]) -> tuple[Iterator[pd.DataFrame], list[int]]:
    """Split samples into parts of about `CURVES_AT_ONCE` curves; and how many each part holds.

    Launches that are cut together stay together.
    """
    by = sorted(identity, key=lambda name: name == "run_id")
    code = samples.groupby(by, dropna=False, observed=True, sort=True).ngroup().to_numpy()
    order = np.argsort(code, kind="stable")
    starts = np.flatnonzero(np.diff(code[order], prepend=-1))
    number = np.arange(len(starts))
    curves, alike = samples.iloc[order[starts]], _alike(identity)
    launch = curves.groupby(alike, dropna=False, observed=True).cumcount() if alike else number
    may_split = np.asarray(launch) % LAUNCHES_TOGETHER == 0
    part = np.maximum.accumulate(np.where(may_split, number // CURVES_AT_ONCE, 0))
    begins = np.flatnonzero(np.diff(part, prepend=-1))
    counts = np.diff([*begins, len(starts)]).tolist()
    edges = itertools.pairwise([*starts[begins], len(order)])
    return (samples.iloc[order[first:last]] for first, last in edges), counts


def _scan(samples: pd.DataFrame) -> tuple[pd.DataFrame, list[dict[str, Any]]]:
    """Summarise some curves and find what each of them shows by itself or with its launches."""
    if samples.empty:
        return summarise(samples), []
    passes = compare_passes(samples)
    table = summarise_passes(samples, passes)
    rows = [
        curve | finding
        for curves, size, launches in _families(table, identity_columns(table))
        for curve, found in zip(curves, detect_launches(size, launches), strict=True)
        for finding in found
    ]
    return table, rows + noise_bursts(samples, passes)


def _consult_the_runs(measurements: Measurements, rows: list[dict[str, Any]]) -> None:
    """Fill in what the run's own facts say: suspects, a guess of the origin, its conditions."""
    runs: dict[str, tuple[Suspects, Origins, dict[str, Any]]] = {}
    for row in rows:
        run_id = row["run_id"]
        if run_id not in runs:
            facts = measurements.facts(run_id)
            runs[run_id] = suspects_of_run(*facts), origins_of_run(*facts), conditions(*facts)
        suspects, origin, during = runs[run_id]
        if row["kind"] in BOUNDARIES:
            row["suspects"] = suspects(row["last_size_before"], row["size_bytes"])
        if row["kind"] == "step":
            row["origin"] = origin(row)
        if row["kind"] == "noise_burst":
            row["evidence"] |= during


def _count_siblings(curves: pd.DataFrame, identity: list[str], rows: list[dict[str, Any]]) -> None:
    """Say of each guessed origin in how many sibling curves a step recurs; drop what does not.

    Siblings are curves of the same site, MPI, kernel and placement: other modes, launches,
    settings.
    """
    guessed = [row for row in rows if row.get("origin")]
    alike = [name for name in _SIBLING if name in identity]
    if not guessed or not alike:
        return
    family = Counter(
        _key(row, alike) for row in curves[identity].drop_duplicates().to_dict("records")
    )
    steps: dict[Any, list[dict[str, Any]]] = {}
    for row in rows:
        if row["kind"] == "step":
            steps.setdefault(_key(row, alike), []).append(row)
    for row in guessed:
        key = _key(row, alike)
        others = family[key] - 1
        recurs = {
            _key(other, identity)
            for other in steps[key]
            if _key(other, identity) != _key(row, identity)
            and other["last_size_before"] <= row["size_bytes"]
            and row["last_size_before"] <= other["size_bytes"]
        }
        if others >= _ENOUGH_SIBLINGS and len(recurs) < others / 2:
            row["origin"] = None
        elif others:
            row["origin"]["evidence"].append(f"recurs in {len(recurs)} of {others} sibling curves")


def _key(row: Mapping[Any, Any], names: list[str]) -> tuple[str, ...]:
    return tuple(str(row[name]) for name in names)


def _families(
    table: pd.DataFrame, identity: list[str]
) -> Iterator[tuple[list[dict[str, Any]], Floats, list[tuple[Floats, Floats]]]]:
    """Yield launches of one curve at the same sizes: identities, sizes, times with their errors."""
    families: dict[Any, list[tuple[dict[str, Any], pd.DataFrame]]] = {}
    for curve, points in _each_curve(table, identity):
        sizes = tuple(points["size_bytes"])
        families.setdefault((_key(curve, _alike(identity)), sizes), []).append((curve, points))
    for (_, sizes), members in families.items():
        for first in range(0, len(members), LAUNCHES_TOGETHER):
            some = members[first : first + LAUNCHES_TOGETHER]
            times = [points["time_us"].to_numpy(dtype=float) for _, points in some]
            errors = [points["error_us"].to_numpy(dtype=float) for _, points in some]
            launches = [(time, error / time) for time, error in zip(times, errors, strict=True)]
            yield [curve for curve, _ in some], np.array(sizes, dtype=float), launches


def _alike(identity: list[str]) -> list[str]:
    """What launches of one curve have in common."""
    return [name for name in identity if name != "run_id"]


def _each_curve(
    table: pd.DataFrame, identity: list[str]
) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    if not identity:
        yield {}, table
        return
    for values, points in table.groupby(identity, dropna=False, observed=True, sort=False):
        yield dict(zip(identity, values, strict=True)), points


def prominent(findings: pd.DataFrame) -> pd.Series[bool]:
    """Tell the findings that a reader wants first: large and sure, or with a suspect."""
    large = findings["magnitude"].abs() >= PROMINENT_MAGNITUDE
    sure = findings["confidence"] >= PROMINENT_CONFIDENCE
    return (large & sure) | findings["suspects"].map(bool)


def detect_launches(
    size: Floats, launches: list[tuple[Floats, Floats]]
) -> list[list[dict[str, Any]]]:
    """Find steps and changes of slope in each of several launches of one curve.

    Launches share where their boundaries are, not how large they are. What looks like a boundary
    in all of them together needs less evidence in each; a launch that shows nothing there gets
    none.

    Parameters
    ----------
    size : array of float, shape (n,)
        Bytes, ascending, each once.
    launches : list of (time, standard_error), each an array of float, shape (n,)
        Median time in microseconds; its relative standard error.

    Returns
    -------
    list of list of dict
        Of each launch `FINDING_COLUMNS` without suspects and origin, by size: boundaries and
        outliers.
    """
    if len(size) < FEWEST_SIZES:
        return [[] for _ in launches]
    penalty = piece_penalty(len(size))
    noises = [point_noise(size, time, error) for time, error in launches]
    tables = [
        PieceTable(size, time, noise, penalty)
        for (time, _), (noise, _, _) in zip(launches, noises, strict=True)
    ]
    prices = _prices(tables)
    steps = [
        _boundaries(table, cut(table.cost, price), price)
        for table, price in zip(tables, prices, strict=True)
    ]
    shown = Counter(finding["size_bytes"] for one in steps for finding in one)
    for finding in itertools.chain(*steps):
        finding["evidence"]["launches"] = shown[finding["size_bytes"]]
    return [
        sorted(
            found + outliers(size, change, errors, float(np.median(noise))),
            key=lambda finding: int(finding["size_bytes"]),
        )
        for found, (noise, change, errors) in zip(steps, noises, strict=True)
    ]


def _prices(tables: list[PieceTable]) -> list[Floats]:
    """What a piece that begins at each size costs in each launch: its place and its line.

    Launches are first cut at the same places, each place paid once and a line by each launch. The
    places where a launch shows something in that cut are paid for when it is cut by itself.
    """
    prices = [np.full(len(table.size), table.penalty) for table in tables]
    if len(tables) == 1:
        return prices
    together = prices[0] * (1 - _SHARE_OF_LINE + _SHARE_OF_LINE * len(tables))
    pieces = cut(np.sum([table.cost for table in tables], axis=0), together)
    for table, price in zip(tables, prices, strict=True):
        shown = _boundaries(table, pieces, price)
        price[np.isin(table.size, [finding["size_bytes"] for finding in shown])] *= _SHARE_OF_LINE
    return prices


def _boundaries(table: PieceTable, pieces: list[Piece], price: Floats) -> list[dict[str, Any]]:
    """Describe the boundaries between pieces that are large and certain enough."""
    found = (_judge(table, left, right, price) for left, right in itertools.pairwise(pieces))
    return [finding for finding in found if finding is not None]


def piece_penalty(sizes: int) -> float:
    """Cost of one more piece in a curve of so many sizes, in units of the noise squared."""
    return max(_PENALTY_PER_LOG * float(np.log(sizes)), _LEAST_PENALTY)


def point_noise(
    size: Floats, time: Floats, standard_error: Floats
) -> tuple[Floats, Floats, Floats]:
    """Relative noise of each point: the repeats' own and what differs from size to size.

    Errors estimated from few repeats are now and then far too small: no point counts as surer than
    the curve's points usually are. What differs from size to size is read from how far each point
    lies from the straight line between its neighbours, at a low quantile because both sides of
    every step are far from it. A point that alone is off the lines through its neighbours on either
    side is given the noise that it shows. Returned with what `off_alone` found.
    """
    off, left, right = _off_the_neighbours(size, time)
    variance = np.maximum(standard_error, np.median(standard_error)) ** 2 + NOISE_FLOOR**2
    # For each guess of the scatter, how far the points are off in units of the noise it implies.
    guesses = np.r_[0.0, np.geomspace(NOISE_FLOOR, 1.0, 40)][:, None]
    total = variance + guesses**2
    expected = np.sqrt(total[:, 1:-1] + left**2 * total[:, :-2] + right**2 * total[:, 2:])
    off_in_noise = np.quantile(np.abs(off) / expected, _QUANTILE, axis=1)
    scatter = float(np.interp(0.0, _NORMAL_QUANTILE - off_in_noise, guesses[:, 0]))
    scatter *= SCATTER_SHARE if np.median(standard_error) > 0 else SCATTER_SHARE_ALONE
    noise = np.sqrt(variance + scatter**2)
    change, errors = off_alone(size, time, noise)
    return np.maximum(noise, np.abs(change)), change, errors


def _off_the_neighbours(size: Floats, time: Floats) -> tuple[Floats, Floats, Floats]:
    """Relative distance of inner points from the chord of their neighbours, and its two weights."""
    share = np.diff(size)[1:] / (size[2:] - size[:-2])
    left = share * time[:-2] / time[1:-1]
    right = (1 - share) * time[2:] / time[1:-1]
    return 1 - left - right, left, right


def _judge(table: PieceTable, left: Piece, right: Piece, price: Floats) -> dict[str, Any] | None:
    """Describe the boundary between two pieces, or None where it is too small or too uncertain."""
    posterior = _posterior(table, left, right, price)
    if posterior < LEAST_POSTERIOR:
        return None
    last_before, first_after = float(table.size[left[1]]), float(table.size[right[0]])
    before, before_error = table.line(*left, first_after)
    after, after_error = table.line(*right, first_after)
    jump = after - before
    clear = abs(jump) >= _JUMP_ERRORS * np.hypot(before_error, after_error)
    jumps = abs(jump) >= SMALLEST_STEP * before and (clear or posterior >= _SURE_POSTERIOR)
    kind, magnitude = "step", jump / before
    if not jumps or _lines_meet(table, left, right):
        bend = _change_an_octave_on(table, left, right)
        if abs(bend) >= SMALLEST_SLOPE_CHANGE:
            kind, magnitude = "slope_change", bend
        elif not jumps:
            return None
    return {
        "kind": kind,
        "size_bytes": int(first_after),
        "last_size_before": int(last_before),
        "magnitude": magnitude,
        "confidence": confidence.confidence(kind, posterior, last_before, first_after),
        "evidence": {
            "before": _line_as_words(table, left),
            "after": _line_as_words(table, right),
            "jump_us": jump,
            "noise": float(np.median(table.noise)),
            "sizes": right[1] - left[0] + 1,
            "posterior": posterior,
        },
    }


def _change_an_octave_on(table: PieceTable, left: Piece, right: Piece) -> float:
    """Relative change of time at twice the first size past a boundary, one line to the other."""
    octave = 2 * float(table.size[right[0]])
    return table.line(*right, octave)[0] / table.line(*left, octave)[0] - 1


def _lines_meet(table: PieceTable, left: Piece, right: Piece) -> bool:
    """Whether two pieces' lines cross within one size of their boundary, and so make a bend."""
    steeper = table.slope[right] - table.slope[left]
    if steeper == 0:
        return False
    crossing = (table.intercept[left] - table.intercept[right]) / steeper
    return bool(table.size[left[1] - 1] <= crossing <= table.size[right[0] + 1])


def _posterior(table: PieceTable, left: Piece, right: Piece, price: Floats) -> float:
    """Probability of a boundary exactly here among all places in the two pieces and none at all.

    Places next to either end count too: what looks like a step may be one odd first size.
    """
    first, last = left[0], right[1]
    places = np.arange(first + 1, last + 1)
    misfits = table.misfit[first, places - 1] + table.misfit[places, last] + price[places]
    logs = -0.5 * np.r_[misfits, table.misfit[first, last]]
    odds = np.exp(logs - logs.max())
    return float(odds[right[0] - first - 1] / odds.sum())


def _line_as_words(table: PieceTable, piece: Piece) -> dict[str, float]:
    return {
        "first_size_bytes": int(table.size[piece[0]]),
        "last_size_bytes": int(table.size[piece[1]]),
        "intercept_us": float(table.intercept[piece]),
        "per_byte_us": float(table.slope[piece]),
    }
