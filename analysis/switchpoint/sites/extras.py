"""Checks the parts of a site's environments that the checks read and ReFrame does not."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from switchpoint.sites.doctor import Fact
from switchpoint.sites.settings_file import Site, problem

#: Extras of an environment that the checks read.
_ENVIRON_EXTRAS = {
    "mpi", "launcher", "launcher_options", "osu", "imb", "imb_mpi_library", "netpipe", "spack_mpi",
    "container_image",
}  # fmt: skip
_PATH_EXTRAS = ("osu", "imb", "imb_mpi_library")


def environment_extras(site: Site, environment: Mapping[str, Any]) -> Iterator[Fact]:
    """Check what the checks need to know about a programming environment."""
    name, extras = environment.get("name"), environment.get("extras", {})
    topic = f"environment '{name}'"
    if "mpi" not in environment.get("features", []):
        yield problem(
            site.entry(name),
            f"{topic} does not have the feature 'mpi', so no check uses it",
            'add "features": ["mpi"]',
        )
    if "mpi" not in extras:
        yield problem(
            site.entry(name),
            f"{topic} does not name its MPI family",
            'add "extras": {"mpi": "openmpi"}, or "mpich" or "intelmpi"',
        )
    yield from misspelt(site, topic, extras, _ENVIRON_EXTRAS)
    for key in _PATH_EXTRAS:
        if extras.get(key) and not Path(extras[key]).exists():
            yield problem(
                site.entry(name, key),
                f"{topic}: {key}: {extras[key]} does not exist",
                "correct the path, or delete the line",
            )


def misspelt(site: Site, topic: str, extras: Mapping[str, Any], known: set[str]) -> Iterator[Fact]:
    """Find misspelt extras: unknown ones with a name close to one that the checks read."""
    for key in set(extras) - known:
        meant = difflib.get_close_matches(key, known, n=1, cutoff=0.75)
        if meant:
            yield problem(
                site.named(key), f"{topic}: no check reads extras['{key}']", f"write '{meant[0]}'"
            )
