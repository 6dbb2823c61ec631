"""Reads the settings that `model recommend --write` wrote, and names their rules by a digest."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath

from switchpoint.errors import InputError

#: The label of a run that a check of recommendations reads, and its values.
RULES_LABEL, WITH, WITHOUT = "rules", "recommended", "default"

#: The label of a run with rules: which ones it used, as `RulesFolder.digest`.
DIGEST_LABEL = "rules_digest"

#: Between the digests of several settings files.
_AND = "+"

_DIGITS = 12


@dataclass(frozen=True)
class RulesFolder:
    """What the settings files of a folder say.

    Attributes
    ----------
    variables : dict
        Those of all settings files; empty if there is none.
    digest : str
        A short name of the rules: other rules have another one. Several settings files have one
        each, with `+` between them.
    """

    variables: dict[str, str]
    digest: str


def read_rules(folder: str | os.PathLike[str]) -> RulesFolder:
    """Read the settings files of a folder, and the files that they name.

    Raises
    ------
    InputError
        If one of them cannot be read.
    """
    variables: dict[str, str] = {}
    digests = []
    for file in sorted(Path(folder).glob("*.env")):
        try:
            own = settings_in(file.read_text(encoding="utf-8"))
            named = {Path(value) for value in own.values() if value.startswith("/")}
            texts = {path.name: path.read_text(encoding="utf-8") for path in named}
        except OSError as error:
            raise InputError(
                error.filename or file, f"cannot be read: {error.strerror}; write the rules again"
            ) from None
        except ValueError:  # not UTF-8, or a quote without its end
            raise InputError(
                file, "is not a settings file of NAME=VALUE; write the rules again"
            ) from None
        variables |= own
        digests.append(digest_of(own, texts))
    return RulesFolder(variables, _AND.join(digests))


def settings_in(text: str) -> dict[str, str]:
    """Return the variables of a settings file, which a shell can read."""
    words = shlex.split(text, comments=True)
    return dict(word.split("=", 1) for word in words if "=" in word)


def digest_of(settings: Mapping[str, str], files: Mapping[str, str]) -> str:
    """Return the digest of settings: a variable that names a file counts as the file's text.

    >>> one = digest_of({"RULES_FILE": "/a/rules.conf"}, {"rules.conf": "1"})
    >>> one == digest_of({"RULES_FILE": "/b/rules.conf"}, {"rules.conf": "1"})
    True
    >>> one == digest_of({"RULES_FILE": "/a/rules.conf"}, {"rules.conf": "2"})
    False
    """
    said = {name: files.get(PurePath(value).name, value) for name, value in settings.items()}
    text = json.dumps(said, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def uses(digests: object, digest: str) -> bool:
    """Return whether a run's label names a digest among others."""
    return digest in str(digests).split(_AND)
