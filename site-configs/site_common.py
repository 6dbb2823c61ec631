"""What all sites share: ReFrame's general options, and how placements become extras.

A site's ``settings.py`` stays a plain ReFrame configuration; see ``template-slurm/settings.py``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from switchpoint.placements import load_placements

#: A poll that starts programs disturbs ranks that are being timed, so the schedulers below ask
#: Slurm rarely; ReFrame's own loop may then turn fast without cost.
GENERAL = {
    "check_search_recursive": True,
    "poll_rate_max": 20,
    "poll_rate_min": 5,
    "report_file": "output/reports/run-report-{sessionid}.json",
}


def placed(placements_file: Path, **extras: Any) -> dict[str, Any]:
    """Features and extras of a partition that offers the placements of a file.

    Each placement is a feature, so that a check selects partitions with ``+one_node``.

    Parameters
    ----------
    placements_file
        The site's ``placements.yaml``.
    **extras
        More extras, such as ``references``.
    """
    site = load_placements(placements_file)
    return {
        "features": list(site.placements),
        "extras": {
            "placements": {name: p.model_dump() for name, p in site.placements.items()},
            "switch_from_node_name": site.switch_from_node_name,
            **extras,
        },
    }
