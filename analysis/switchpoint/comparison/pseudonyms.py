"""Replaces names of hosts, users and paths in runs that leave their site.

The same name always becomes the same replacement, so ranks of one host remain ranks of one host.
Names of sites, partitions, environments and placements stay: they name the curves.
"""

from __future__ import annotations

import functools
import getpass
import json
import re
from collections.abc import Iterable
from typing import Any

import pandas as pd

from switchpoint.tables.columns import identity_columns
from switchpoint.tables.identity import IDENTITY

#: An absolute path, or one in a home directory, within any text.
_PATH = re.compile(r"(?<![\w.~/-])~?/(?:[\w.@%+=~-]+/)*[\w.@%+=~-]+/?")

#: A home directory, which names its user.
_HOME = re.compile(r"/(?:home|users?|people)(?:/[a-z])?/(?P<user>[\w.-]{2,})", re.IGNORECASE)

#: Who built a library and where: `root@buildhost`. Versions in specs follow an @ as well.
_BUILDER = re.compile(r"\b[\w.+-]+@(?![\d=:])[\w.-]+")

_ADDRESS = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b|\b[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){3,7}\b")

#: Labels and fields that may contain host names in other forms, such as `a[1-4]`, or commands.
_LEFT_OUT_LABELS = ("launch", "scheduler_options", "modules", "container_image")
_LEFT_OUT: dict[str, Any] = {"arguments": [], "slurm": {}}

#: Words that are names of hosts on some machines, but of much else everywhere.
_COMMON = frozenset({"localhost", "root", "node", "host", "none", "unknown"})


_HOST = "host-"


def is_pseudonym(host: str) -> bool:
    """Return whether the name of a host was replaced."""
    return re.fullmatch(_HOST + r"\d+", host) is not None


class Pseudonyms:
    """Replacements for names.

    Parameters
    ----------
    hosts, users
        The names.
    """

    def __init__(self, hosts: Iterable[str], users: Iterable[str]) -> None:
        self._names: dict[str, str] = {}
        for host in dict.fromkeys(hosts):
            replacement = f"{_HOST}{len(set(self._names.values())) + 1}"
            self._names[host] = self._names.get(host.partition(".")[0], replacement)
            self._names.setdefault(host.partition(".")[0], self._names[host])
        for number, user in enumerate(sorted(set(users)), start=1):
            self._names.setdefault(user, f"user-{number}")
        self._names = {k: v for k, v in self._names.items() if k and k.lower() not in _COMMON}
        self._paths: dict[str, str] = {}
        longest_first = sorted(self._names, key=len, reverse=True)
        alternatives = "|".join(map(re.escape, longest_first))
        self._known = re.compile(rf"(?<![\w-])(?:{alternatives or '(?!)'})(?![\w-])")

    @classmethod
    def of(cls, runs: pd.DataFrame) -> Pseudonyms:
        """Collect the names in the headers of runs, and that of the user who replaces them."""
        headers = [json.loads(text) for text in runs["header"].dropna()]
        hosts = [
            host
            for header in headers
            for rank in header["ranks"]
            for host in (rank["host"], *str(rank.get("topology_address") or "").split("."))
        ]
        texts = [text for name in runs for text in runs[name] if isinstance(text, str)]
        users = {found["user"] for text in texts for found in _HOME.finditer(text)}
        return cls(hosts, users | {*_this_user()})

    def text(self, text: str) -> str:
        """Replace names, paths and addresses in a text."""
        return self._known.sub(
            lambda found: self._names[found[0]],
            _ADDRESS.sub("address", _PATH.sub(lambda found: self._path(found[0]), text)),
        )

    def content(self, content: Any) -> Any:
        """Replace them in all texts of JSON content."""
        if isinstance(content, str):
            return self.text(content)
        if isinstance(content, list):
            return [self.content(entry) for entry in content]
        if isinstance(content, dict):
            return {name: self.content(entry) for name, entry in content.items()}
        return content

    def runs(self, runs: pd.DataFrame) -> pd.DataFrame:
        """Replace them in the runs table. Spack's locks, which are full of paths, are left out."""
        changed = runs.astype(object)
        changed["header"] = changed["header"].map(self._header, na_action="ignore")
        for name in ("program", "spack_spec"):
            changed[name] = changed[name].map(self.text, na_action="ignore")
        changed["labels"] = changed["labels"].map(self._labels_text, na_action="ignore")
        changed["source"] = runs["format"].astype(str) + " " + runs["run_id"].str[:8]
        return changed.assign(lock=None, warnings=None)

    def points(self, points: pd.DataFrame) -> pd.DataFrame:
        """Replace them in labels that are part of the identity of curves."""
        names = [name for name in identity_columns(points) if name not in IDENTITY]
        return points.assign(
            **{name: points[name].map(self.text, na_action="ignore") for name in names}
        )

    def findings(self, findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Replace them in what findings say; their curves are named as in `points`."""
        texts = ("evidence", "suspects", "origin")
        return [
            row
            | {name: self.content(row[name]) for name in texts}
            | {"curve": self._labels(row["curve"])}
            for row in findings
        ]

    def _header(self, text: str) -> str:
        """Replace them in a record's header, in the fields that can contain them."""
        header = json.loads(text) | _LEFT_OUT
        header["labels"] = self._labels(header["labels"])
        header["kernel"] |= {
            name: self.text(header["kernel"].get(name) or "") for name in ("compiler", "flags")
        }
        header["mpi"] = self.content(header["mpi"])
        for name in ("library", "description"):
            header["mpi"][name] = _BUILDER.sub("user@host", header["mpi"].get(name) or "")
        for rank in header["ranks"]:
            rank["host"] = self.text(rank["host"])
            if rank.get("topology_address"):
                rank["topology_address"] = self.text(rank["topology_address"])
            if rank.get("boot_id"):
                rank["boot_id"] = self._numbered("boot", rank["boot_id"])
        return json.dumps(header)

    def _labels_text(self, text: str) -> str:
        return json.dumps(self._labels(json.loads(text)))

    def _labels(self, labels: dict[str, str]) -> dict[str, str]:
        return {
            name: text if name in IDENTITY else self.text(text)
            for name, text in labels.items()
            if name not in _LEFT_OUT_LABELS
        }

    def _path(self, path: str) -> str:
        return self._numbered("/path", path.rstrip("/"))

    def _numbered(self, word: str, name: str) -> str:
        return self._paths.setdefault(f"{word} {name}", f"{word}-{len(self._paths) + 1}")


@functools.cache
def _this_user() -> tuple[str, ...]:
    try:
        return (getpass.getuser(),)
    except (KeyError, OSError):  # a container without an entry for this user
        return ()
