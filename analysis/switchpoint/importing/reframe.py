"""Tells ReFrame's own results apart, which are not curves: values in time without a size."""

from __future__ import annotations

import re

_REPORT = re.compile(rb'^\s*\{\s*"session_info"\s*:\s*\{')


def recognised(head: bytes) -> str | None:
    """Say what of ReFrame's a file is, if it is a performance log or a JSON run report."""
    if head.startswith(b"result|job_completion_time|"):
        return "is a performance log of ReFrame's, values without a message size"
    if _REPORT.match(head):
        return "is a run report of ReFrame's, values without a message size"
    return None
