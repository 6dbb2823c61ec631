"""The baseline's shape of each curve: its segments, and how much of a time is latency.

Each segment is a line, time = latency + bytes * time per byte. Changes are measured relative to it.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pandas as pd

from switchpoint.detection.launches import detect_launches
from switchpoint.gating.by_session import by_session, row_medians
from switchpoint.gating.points import Points
from switchpoint.tables.curves import median_by
from switchpoint.tables.findings import BOUNDARIES
from switchpoint.tables.sweeps import Floats, Indices

#: Boundaries below this confidence do not divide a curve.
_LEAST_CONFIDENCE = 0.5

#: Of a curve whose sizes have no repeats, the relative error of a time.
_UNKNOWN_ERROR = 0.02


@dataclass(frozen=True)
class Shapes:
    """Every size of every curve, and the segments that contain them.

    Attributes
    ----------
    curve, size, segment : array of int
        Of each size of each curve, called a place: its curve, bytes, and its segment, numbered over
        all curves. Ordered by curve and size.
    log_time : array of float
        Median over the baseline sessions of the logarithm of the time in microseconds.
    latency_share : array of float
        Which part of that time is latency, by the line of the segment.
    scatter : array of float
        Median absolute deviation of `log_time` over the sessions; 0 with fewer than three.
    segment_curve : array of int
        The curve of each segment.
    latency_us, per_byte_us : array of float
        The line of each segment.
    place : array of int
        Of each point: its place, or -1 if the baseline has no such size.
    """

    curve: Indices
    size: Indices
    segment: Indices
    log_time: Floats
    latency_share: Floats
    scatter: Floats
    segment_curve: Indices
    latency_us: Floats
    per_byte_us: Floats
    place: Indices

    def lines(self, segment: Indices | int, size: Indices) -> Floats:
        """Return the times of segments' lines at some sizes, in microseconds."""
        return np.asarray(self.latency_us[segment] + self.per_byte_us[segment] * size)


def shapes_of(points: Points) -> Shapes:
    """Pool the baseline sessions, and divide each curve into segments."""
    curve, session = points.curve, points.session
    past = session < points.sessions - 1
    code, sizes = pd.factorize(points.size, sort=True)  # products of sizes could overflow
    count = max(len(sizes), 1)
    key = curve * count + code
    known, place_of_past = np.unique(key[past], return_inverse=True)
    place = np.searchsorted(known, key)
    place = np.where(np.isin(key, known), place, -1)
    per_session = by_session(
        place_of_past,
        session[past],
        points.log_time[past],
        (len(known), max(points.sessions - 1, 1)),
    )
    log_time, scatter = _centre(per_session)
    of_curve, size = known // count, sizes[known % count]
    error = median_by(place_of_past, points.error[past]) if len(known) else np.zeros(0)
    segment, segment_curve = _segments(of_curve, size, log_time, error)
    latency, per_byte = _lines(segment, segment_curve, size, np.exp(log_time))
    total = latency[segment] + per_byte[segment] * size
    return Shapes(
        of_curve,
        size,
        segment,
        log_time,
        latency[segment] / total,
        scatter,
        segment_curve,
        latency,
        per_byte,
        place,
    )


def _centre(per_session: Floats) -> tuple[Floats, Floats]:
    """Return median and median absolute deviation of each row; every row has a value."""
    centre = row_medians(per_session)
    scatter = row_medians(np.abs(per_session - centre[:, None]))
    few = np.isfinite(per_session).sum(axis=1) < 3
    return centre, np.where(few, 0.0, scatter)


def _segments(
    curve: Indices, size: Indices, log_time: Floats, error: Floats
) -> tuple[Indices, Indices]:
    """Number the segments of all curves; return that of each place, and the curve of each."""
    edges = (
        np.flatnonzero(np.r_[True, np.diff(curve) > 0, True]) if len(curve) else np.zeros(1, int)
    )
    error = np.where(error > 0, error, _UNKNOWN_ERROR)
    begins = np.zeros(len(size), dtype=bool)
    begins[edges[:-1]] = True
    for first, end in itertools.pairwise(edges):
        part = slice(first, end)
        sizes = _boundaries(size[part].astype(float), np.exp(log_time[part]), error[part])
        begins[part] |= np.isin(size[part], sizes)
    return np.cumsum(begins) - 1, curve[begins]


def _boundaries(size: Floats, time: Floats, error: Floats) -> list[int]:
    """Return the first sizes after the boundaries of a curve."""
    return [
        finding["size_bytes"]
        for finding in detect_launches(size, [(time, error)])[0]
        if finding["kind"] in BOUNDARIES and finding["confidence"] >= _LEAST_CONFIDENCE
    ]


def _lines(
    segment: Indices, segment_curve: Indices, size: Indices, time: Floats
) -> tuple[Floats, Floats]:
    """Return latency and time per byte of each segment, both at least 0, by least squares.

    Deviations are relative to the times. The latency of a segment of one size is taken to be the
    time of the curve's smallest size.
    """
    count = len(segment_curve)

    def total(values: Floats) -> Floats:
        return np.asarray(np.bincount(segment, values, minlength=count), dtype=float)

    weight = 1 / time**2
    w, wx, wy = total(weight), total(weight * size), total(weight * time)
    wxx, wxy = total(weight * size * size), total(weight * size * time)
    spread = w * wxx - wx**2
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.where(spread > 1e-12 * w * wxx, (w * wxy - wx * wy) / spread, 0.0)
        slope = np.maximum(slope, 0.0)
        latency = (wy - slope * wx) / w
        negative = latency <= 0
        latency, slope = np.where(negative, 0.0, latency), np.where(negative, wxy / wxx, slope)
    first = np.searchsorted(segment, np.arange(count))
    alone = (np.bincount(segment, minlength=count) == 1) & (size[first] > 0)
    smallest = time[first[np.searchsorted(segment_curve, segment_curve)]]
    first_time = time[first]
    shared = np.minimum(first_time, smallest)
    latency = np.where(alone, shared, latency)
    return latency, np.where(alone, (first_time - shared) / np.maximum(size[first], 1), slope)
