"""What a figure shows of a curve: its time or its bandwidth."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pandas as pd

#: Kernels that send a message to and fro.
PING_PONGS = ["pingpong", "multipair", "echo"]

#: Their modes that time a window of messages, not a round trip.
STREAMING = ["stream", "sstream", "bistream"]


@dataclass
class Metric:
    """What a figure shows of a curve."""

    word: str
    title: str
    unit: str
    inverse: bool  # size over time instead of time

    def of(self, points: pd.DataFrame, time_column: str = "time_us") -> pd.Series[float]:
        """Values of the metric for a column of times."""
        return points["size_bytes"] / points[time_column] if self.inverse else points[time_column]


TIME = Metric("time", "Time / µs", "µs", inverse=False)
_ROUND_TRIP = replace(TIME, title="Half round trip / µs")
_STREAM_TIME = replace(TIME, title="Time per message in a stream / µs")
BANDWIDTH = Metric("bandwidth", "Bandwidth / (10⁶ B/s)", "MB/s", inverse=True)


def time_of(curves: pd.DataFrame) -> Metric:
    """Say what the time of these curves is: they are of one kernel and mode, as far as known."""
    ping_pong = "kernel" in curves and curves["kernel"].isin(PING_PONGS).all()
    if not ping_pong or "mode" not in curves:
        return TIME
    return _STREAM_TIME if curves["mode"].isin(STREAMING).all() else _ROUND_TRIP
