"""Words run.sh, which starts the ranks as the run's own launcher did."""

from __future__ import annotations

import shlex

from switchpoint.reproduction.recipe import Recipe, one_line
from switchpoint.tables.columns import REPRODUCES
from switchpoint.untrusted.kernel_options import own_kernels

#: What each kernel contains, and no other program: it prints it at its end (src/engine/outcome.c).
MARK = "switchpoint: complete kernel="

#: Labels that say how a run was started; the script does the same.
_LAUNCH_LABELS = ("launch", "scheduler_options")


def script_text(recipe: Recipe) -> str:
    """Return the text of the shell script."""
    program = shlex.quote(recipe.kernel)
    exports = [f"export {name}={shlex.quote(value)}" for name, value in recipe.environment.items()]
    given = [f"--label={REPRODUCES}={recipe.run_id}", *recipe.arguments]
    words = " \\\n  ".join(shlex.quote(word) for word in given)
    modules = shlex.join(recipe.words("modules"))
    load = [f"if command -v module >/dev/null; then module load {modules}; fi"] if modules else []
    return "\n".join(
        [
            "#!/bin/sh",
            f"# Repeats run {one_line(recipe.run_id)}; see README.md.",
            "# KERNEL: the program. Default: the one that was built here"
            f"{', or the one in PATH' if recipe.kernel in own_kernels() else ''}.",
            "# LAUNCHER: the command that starts the ranks. Default: the command of that run.",
            "# SITE: the name of this site in the new record.",
            "set -eu",
            'cd "$(dirname "$0")"',
            f"name={program}",
            'for program in "./view/bin/$name" "./build/bin/$name"; do',
            '  if command -v "$program" >/dev/null; then KERNEL="${KERNEL:-$program}"; fi',
            "done",
            *_in_path(recipe),
            'if [ -z "${KERNEL-}" ] || ! command -v "$KERNEL" >/dev/null; then',
            '  echo "run.sh: no program $name; build it as README.md says, or set KERNEL" >&2',
            "  exit 2",
            "fi",
            *load,
            *exports,
            f'set -- "$KERNEL" "--label=site=${{SITE:-$(uname -n)}}" \\\n  {words}',
            'if [ -n "${LAUNCHER-}" ]; then',
            "  # shellcheck disable=SC2086 # the launcher is several words",
            '  exec $LAUNCHER "$@" "--label=launch=$LAUNCHER"',
            "fi",
            *_launch_labels(recipe),
            *_launch(recipe),
            "",
        ]
    )


def _in_path(recipe: Recipe) -> list[str]:
    """Let only kernels of ours be found in PATH: a record may name any other program.

    Programs of others have such names too, as `echo`.
    """
    if recipe.kernel not in own_kernels():
        return []
    return [
        f'if [ -z "${{KERNEL-}}" ] && grep -qsF "{MARK}" "$(command -v "$name")"; then',
        '  KERNEL="$name"',
        "fi",
    ]


def _launch_labels(recipe: Recipe) -> list[str]:
    """Line that lets the new record contain how it was started, as the old one does."""
    labels = [
        f"--label={name}={recipe.header['labels'][name]}"
        for name in _LAUNCH_LABELS
        if recipe.words(name)
    ]
    return [f'set -- "$@" {shlex.join(labels)}'] if labels else []


def _launch(recipe: Recipe) -> list[str]:
    """Return lines that start the ranks as the run's own launcher did."""
    ranks, nodes = len(recipe.header["ranks"]), len(recipe.hosts)
    program, *options = recipe.words("launch") or ["srun"]
    srun = [
        "srun", f"--nodes={nodes}", f"--ntasks={ranks}",
        *([f"--ntasks-per-node={ranks // nodes}"] if ranks > nodes and ranks % nodes == 0 else []),
    ]  # fmt: skip
    if recipe.words("launch") and program != "srun":
        return [f'exec {shlex.join([program, *options])} "$@"']
    asked = [word for word in recipe.words("scheduler_options") if word not in srun]
    allocate = shlex.join([*srun, *asked, *options])
    return [
        'if [ -n "${SLURM_JOB_ID-}" ]; then',
        f'  exec {shlex.join([*srun, *options])} "$@"',
        *([f'fi\nexec {allocate} "$@"'] if recipe.words("launch") else
          [f'fi\nexec mpiexec -n {ranks} "$@"']),
    ]  # fmt: skip
