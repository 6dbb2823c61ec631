"""The metric of a figure: time or bandwidth."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pandas as pd

#: Kernels that send a message and its reply.
PING_PONGS = ["pingpong", "multipair", "echo"]

#: Their modes that time a window of messages instead of a round trip.
STREAMING = ["stream", "sstream", "bistream"]


@dataclass
class Metric:
    """The metric that a figure shows."""

    word: str
    title: str
    unit: str
    inverse: bool  # size divided by time

    def of(self, points: pd.DataFrame, time_column: str = "time_us") -> list[float]:
        """Return the values of the metric for a column of times."""
        times = points[time_column].to_numpy()
        values: list[float] = (
            (points["size_bytes"].to_numpy() / times).tolist() if self.inverse else times.tolist()
        )
        return values

    def at(self, size_bytes: float, time_us: float) -> float:
        """Return the value of the metric at one point."""
        return size_bytes / time_us if self.inverse else time_us


TIME = Metric("time", "Time / µs", "µs", inverse=False)
_ROUND_TRIP = replace(TIME, title="Half round trip / µs")
_STREAM_TIME = replace(TIME, title="Time per message in a stream / µs")
BANDWIDTH = Metric("bandwidth", "Bandwidth / (10⁶ B/s)", "MB/s", inverse=True)


def time_of(curves: pd.DataFrame) -> Metric:
    """Return the meaning of the time of these curves, which have one kernel and mode."""
    ping_pong = "kernel" in curves and curves["kernel"].isin(PING_PONGS).all()
    if not ping_pong or "mode" not in curves:
        return TIME
    return _STREAM_TIME if curves["mode"].isin(STREAMING).all() else _ROUND_TRIP
