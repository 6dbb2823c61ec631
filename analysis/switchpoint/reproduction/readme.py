"""Words README.md, which says how to build the kernel, run it, and what differed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from switchpoint.reproduction.checkout import SOURCES, has_commit
from switchpoint.reproduction.differences import Difference, differences
from switchpoint.reproduction.recipe import Recipe, one_line
from switchpoint.sites.doctor import mpi_libraries
from switchpoint.tables.mpi_names import mpi_name

_LOCK_NOTE = (
    "\nThe lock is for its own machine, and `site/packages.yaml` lists what it took from there."
    "\nOn another machine set `SWITCHPOINT_SITE` to the folder of another packages.yaml, and"
    "\nconcretize again: `spack -e . concretize --force`.\n"
)


def readme_text(recipe: Recipe, found: list[Difference] | None) -> str:
    """Return the text; `found` are the `differences`, if they are known already."""
    commit = one_line(recipe.header["kernel"].get("git_commit") or "")
    program = shlex.quote(one_line(recipe.kernel))
    changed = " (with local changes to its sources)" if commit.endswith("+") else ""
    facts = "\n".join(f"- **{term}**: {_plain(text)}" for term, text in recipe.facts())
    table = _table(differences(recipe) if found is None else found)
    return f"""# Run {_plain(one_line(recipe.run_id)[:8])} again

{facts}

## Build the kernel

Commit {_plain(commit) or "unknown"}{changed}. {_sources(recipe)}

```sh
{_build(recipe)}
```
{_LOCK_NOTE if recipe.lock is not None else ""}
## Run it

`./run.sh` starts the ranks as that run did. Its arguments, settings and launcher come from the
record: read it first if you do not know who made the record. On another machine set `LAUNCHER` to
the command that starts them. It must place the ranks as listed above; the record then proves the
placement. Open MPI passes `OMPI_MCA_*` to other hosts itself, but other variables need
`mpiexec -x NAME`.

```sh
SITE=here ./run.sh
switchpoint import {program}.record
```

## What differed on the machine that wrote this folder

{table}
"""


def _sources(recipe: Recipe) -> str:
    if has_commit(recipe.commit):
        return f"`{SOURCES}/` contains the sources at that commit."
    return (
        f"The checkout that wrote this folder does not have it: clone Switchpoint to "
        f"`{SOURCES}/`, and check it out there."
    )


def _build(recipe: Recipe) -> str:
    if recipe.lock is not None:
        return "spack -e . install"
    return (
        f"cmake -S {SOURCES}/src -B build -DMPI_C_COMPILER={_wrapper(recipe)}"
        " -DBUILD_TESTING=OFF\ncmake --build build"
    )


def _table(differences: list[Difference]) -> str:
    rows = "\n".join(f"| {d.topic} | {_plain(d.there)} | {_plain(d.here)} |" for d in differences)
    return f"| | there | here |\n|---|---|---|\n{rows}" if differences else "No known difference."


def _wrapper(recipe: Recipe) -> str:
    """Return the compiler wrapper of the run's MPI library in PATH, or ``mpicc``."""
    library = mpi_name(recipe.header["mpi"].get("library", ""))
    for path, name in mpi_libraries().items():
        if name == library:
            return Path(path).name
    return "mpicc"


def _plain(text: str) -> str:
    """Escape a text so that Markdown does not read it as a table or code."""
    return re.sub(r"([|`<*_\[\]])", r"\\\1", one_line(text))
