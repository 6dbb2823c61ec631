"""Finds a site's ReFrame settings by a name, a folder or a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from switchpoint.errors import InputError
from switchpoint.shipped import shipped

#: Where a user's own sites are, in the current folder.
OWN_SITES = Path("site-configs")
SETTINGS = "settings.py"


def find_settings(site: str) -> Path:
    """Path of a site's ``settings.py``.

    Parameters
    ----------
    site
        A settings file, a folder with a ``settings.py``, or the name of such a folder in
        ``site-configs`` here or among the sites that are shipped.

    Raises
    ------
    InputError
        If there is none; it lists the names that there are.
    """
    if Path(site).is_file():
        return Path(site)
    # Only a name is looked for among the sites; all else, such as `..`, is a path.
    is_name = Path(site).name == site and site != ".."
    sites = [OWN_SITES, shipped("site-configs")] if is_name else []
    for folder in [Path(site), *(folder / site for folder in sites)]:
        if (folder / SETTINGS).is_file():
            return folder / SETTINGS
    if Path(site).is_dir():
        raise InputError(
            site, f"holds no {SETTINGS}; make a site with `switchpoint init site NAME`"
        )
    raise InputError(
        site,
        "there is no such site, folder or file; the sites here are "
        f"{', '.join(dict.fromkeys(_names()))}; `switchpoint init site NAME` makes a new one",
    )


def _names() -> Iterator[str]:
    for sites in (OWN_SITES, shipped("site-configs")):
        for settings in sorted(sites.glob(f"*/{SETTINGS}")):
            yield settings.parent.name
