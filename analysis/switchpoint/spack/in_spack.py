"""Prints what Spack alone knows as one line of JSON; `spack python` runs this file.

in_spack.py facts          its configuration: clingo, repositories, install tree, mirrors
in_spack.py defaults NAME  the default of each variant of a package
"""

import importlib.util
import json
import sys
from typing import Any


def facts() -> dict[str, Any]:
    """What Spack is set up with; nothing of it is fetched."""
    import spack.config  # type: ignore[import-not-found]
    import spack.repo  # type: ignore[import-not-found]
    import spack.store  # type: ignore[import-not-found]

    tree = spack.config.get("config:install_tree", {})
    return {
        "clingo": importlib.util.find_spec("clingo") is not None,
        "install_tree": str(spack.store.STORE.root),
        "padded": bool(isinstance(tree, dict) and tree.get("padded_length")),
        "binary_mirrors": [
            name
            for name, mirror in spack.config.get("mirrors", {}).items()
            if not (isinstance(mirror, dict) and mirror.get("binary") is False)
        ],
        "repositories": [repository.namespace for repository in spack.repo.PATH.repos],
    }


def defaults(name: str) -> dict[str, str]:
    """Defaults of variants; of one that is there more than once, the first."""
    import spack.repo

    found: dict[str, str] = {}
    for variants in spack.repo.PATH.get_pkg_class(name).variants.values():
        for variant, definition in variants.items():
            value = definition.default
            text = ",".join(value) if isinstance(value, (list, tuple)) else str(value)
            found.setdefault(variant, text)
    return found


def main() -> None:
    """Command line of this program."""
    what, *names = sys.argv[1:]
    print("answer: " + json.dumps(facts() if what == "facts" else defaults(*names)))


if __name__ == "__main__":
    main()
