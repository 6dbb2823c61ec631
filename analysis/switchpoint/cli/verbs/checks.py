"""`switchpoint checks`."""

from __future__ import annotations


def command() -> None:
    """Print the folder of the ReFrame checks, for `reframe -c "$(switchpoint checks)"`."""
    from switchpoint.shipped import shipped

    print(shipped("checks"))
