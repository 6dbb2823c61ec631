"""What the checks read of a site's environments beside what ReFrame itself does."""

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
}  # fmt: skip
_PATH_EXTRAS = ("osu", "imb", "imb_mpi_library")


def environment_extras(site: Site, environment: Mapping[str, Any]) -> Iterator[Fact]:
    """What the checks need to know of a programming environment."""
    name, extras = environment.get("name"), environment.get("extras", {})
    topic = f"environment '{name}'"
    if "mpi" not in environment.get("features", []):
        yield problem(
            site.entry(name), f"{topic} lacks the feature 'mpi', so no check runs with it",
            'add "features": ["mpi"]',
        )  # fmt: skip
    if "mpi" not in extras:
        yield problem(
            site.entry(name), f"{topic} does not say which MPI family it is",
            'add "extras": {"mpi": "openmpi"}, or "mpich" or "intelmpi"',
        )  # fmt: skip
    yield from misspelt(site, topic, extras, _ENVIRON_EXTRAS)
    for key in _PATH_EXTRAS:
        if extras.get(key) and not Path(extras[key]).exists():
            yield problem(
                site.entry(name, key), f"{topic}: {key}: there is no {extras[key]}",
                "correct the path, or delete the line",
            )  # fmt: skip


def misspelt(site: Site, topic: str, extras: Mapping[str, Any], known: set[str]) -> Iterator[Fact]:
    """Extras are free, but one that nearly has the name of one that we read is a typing error."""
    for key in set(extras) - known:
        meant = difflib.get_close_matches(key, known, n=1, cutoff=0.75)
        if meant:
            yield problem(
                site.named(key), f"{topic}: nothing reads extras['{key}']", f"write '{meant[0]}'"
            )
