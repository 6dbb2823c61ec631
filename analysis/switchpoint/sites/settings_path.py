"""Finds a site's ReFrame settings by a name, a folder or a file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from switchpoint.errors import InputError
from switchpoint.shipped import shipped

#: The folder of a user's own sites, in the current folder.
OWN_SITES = Path("site-configs")
SETTINGS = "settings.py"


def find_settings(site: str) -> Path:
    """Return the path of a site's ``settings.py``.

    Parameters
    ----------
    site
        A settings file, a folder with a ``settings.py``, or the name of such a folder in
        ``site-configs`` here or among the included sites.

    Raises
    ------
    InputError
        If there is none; it lists the existing names.
    """
    if _is_file(Path(site)):
        return Path(site)
    if _is_file(Path(site) / SETTINGS):
        return Path(site) / SETTINGS
    try:
        return named_settings(site)
    except InputError:
        if not os.path.isdir(site):  # noqa: PTH112  a name may be too long for a path
            raise
    raise InputError(site, f"contains no {SETTINGS}; make a site with `switchpoint init site NAME`")


def named_settings(site: str) -> Path:
    """Return the path of a site's ``settings.py`` by its name alone.

    Names from records are looked for only in this way: they come from anywhere, and ReFrame
    executes the file.

    Raises
    ------
    InputError
        If there is none; it lists the existing names.
    """
    if Path(site).name == site and site != "..":
        for folder in (OWN_SITES, shipped("site-configs")):
            if _is_file(folder / site / SETTINGS):
                return folder / site / SETTINGS
    raise InputError(
        site,
        "there is no such site, folder or file; the sites here are "
        f"{', '.join(dict.fromkeys(_names()))}; `switchpoint init site NAME` makes a new one",
    )


def _is_file(path: Path) -> bool:
    """Return whether there is such a file; a name from a record may be too long for one."""
    return os.path.isfile(path)  # noqa: PTH113  which is false for any name


def _names() -> Iterator[str]:
    for sites in (OWN_SITES, shipped("site-configs")):
        for settings in sorted(sites.glob(f"*/{SETTINGS}")):
            yield settings.parent.name
