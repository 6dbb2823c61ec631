"""Ends the tests on SIGTERM as on Ctrl-C, so that what they started is stopped."""

from __future__ import annotations

import signal
import threading


def pytest_configure() -> None:
    """Turn SIGTERM into a KeyboardInterrupt, after which pytest ends its fixtures."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)
