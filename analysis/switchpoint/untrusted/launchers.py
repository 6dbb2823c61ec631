"""Which words of a command that starts ranks may be used because a record has them.

Each launcher and each of its options is on a list here, with the number of its values and their
form. So a command cannot contain the name of a program, nor a second command.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence

from switchpoint.untrusted.forms import COUNT, NUMBER, PLACES, WORDS, has_form
from switchpoint.untrusted.settings import known_settings, may_be_set

#: Returns whether the values of an option may be used.
_Check = Callable[[Sequence[str]], bool]

#: Number of an option's values, and their check.
_Option = tuple[int, _Check]

_CONSTRAINT = re.compile(r"[\w.,:|&*()\[\]@-]+", re.ASCII)
_NODES = re.compile(r"[A-Za-z0-9][\w.-]*(\[[0-9,-]+\][\w.-]*)?(,[A-Za-z0-9][\w.-]*"
                    r"(\[[0-9,-]+\][\w.-]*)?)*", re.ASCII)  # fmt: skip
_RANGE = re.compile(r"[0-9]{1,9}(-[0-9]{1,9})?")
_TIME = re.compile(r"([0-9]+-)?[0-9]+(:[0-9]+){0,2}")
_SWITCHES = re.compile(r"[0-9]+(@[0-9:-]+)?")
_RESOURCES = re.compile(r"[A-Za-z0-9][\w.:-]*(,[A-Za-z][\w.:-]*)*", re.ASCII)
_DISTRIBUTION = re.compile(
    r"(\*|block|cyclic|arbitrary|fcyclic|plane=[0-9]+)(:(\*|block|cyclic|fcyclic))*"
    r"(,(no)?pack)?", re.IGNORECASE,
)  # fmt: skip
_BINDING = re.compile(
    r"[a-z_]+(:[0-9a-fx,*-]+)?(,[a-z_]+(:[0-9a-fx,*-]+)?)*", re.ASCII | re.IGNORECASE
)
_CPUS = re.compile(r"[0-9]+([,-][0-9]+)*")
_PMI = re.compile(r"pmix(_v[0-9])?|pmi2|pmi1|none|openmpi|cray_shasta", re.IGNORECASE)


def _one(form: re.Pattern[str]) -> _Option:
    return 1, lambda values: has_form(values[0], form)


def _sets(prefix: str) -> _Option:
    """Two values: what is left of a setting's name, and its value."""
    return 2, lambda values: may_be_set(prefix + values[0], values[1])


def _is_passed_on(values: Sequence[str]) -> bool:
    """Return whether `-x NAME` or `-x NAME=VALUE` passes a setting on."""
    name, assigned, value = values[0].partition("=")
    return may_be_set(name, value) if assigned else name in known_settings()


_FLAG: _Option = 0, lambda _: True
_COUNT, _PLACE = _one(COUNT), _one(PLACES)

#: Options of mpirun and mpiexec that set a variable. Hydra takes NAME VALUE and NAME=VALUE, PALS
#: only the latter: a value in a word of its own would be its program. So they are written as one.
_VARIABLES = frozenset(["env", "genv"])

#: Of mpirun and mpiexec. Open MPI (4 and 5), Hydra (MPICH and Intel MPI) and HPE's PALS share these
#: names, so no option may have another number of values in one of them. They are written with two
#: dashes, which all of these understand: Open MPI 5 takes `-bind-to` for letters, and the next word
#: for the program.
_MPIRUN: Mapping[str, _Option] = {
    **dict.fromkeys(
        ("n", "np", "N", "npernode", "npersocket", "ppn", "perhost", "cpus-per-proc",
         "cpus-per-rank", "timeout", "depth", "usize"),
        _COUNT,
    ),
    **dict.fromkeys(
        ("map-by", "rank-by", "bind-to", "membind", "cpu-bind", "mem-bind"), _PLACE
    ),
    **dict.fromkeys(("cpu-set", "cpu-list"), _one(_CPUS)),
    **dict.fromkeys(
        ("allow-run-as-root", "oversubscribe", "nooversubscribe", "use-hwthread-cpus", "bynode",
         "byslot", "bycore", "bysocket", "bind-to-core", "bind-to-socket", "bind-to-none",
         "pernode", "nolocal", "report-bindings", "display-map", "display-allocation",
         "tag-output", "rr", "genvall", "envall", "print-rank-map", "prepend-rank",
         "disable-hostname-propagation", "disable-auto-cleanup"),
        _FLAG,
    ),
    "mca": _sets("OMPI_MCA_"),
    "gmca": _sets("OMPI_MCA_"),
    "omca": _sets("OMPI_MCA_"),
    "prtemca": _sets("PRTE_MCA_"),
    "x": (1, _is_passed_on),
    "genv": _sets(""),
    "env": _sets(""),
}  # fmt: skip

#: What only Open MPI's launchers know: those that are called after Hydra end at them.
_OPEN_MPI_ALONE = frozenset(["mca", "gmca", "omca", "prtemca", "x"])

_HYDRA: Mapping[str, _Option] = {
    name: option for name, option in _MPIRUN.items() if name not in _OPEN_MPI_ALONE
}

#: Of srun, which also takes what a job asks the scheduler for. Each is written as one word with its
#: value.
_SRUN: Mapping[str, _Option] = {
    **dict.fromkeys(
        ("ntasks", "n", "ntasks-per-node", "ntasks-per-core", "ntasks-per-socket",
         "ntasks-per-gpu", "cpus-per-task", "c", "cores-per-socket", "sockets-per-node",
         "threads-per-core", "cpus-per-gpu", "core-spec", "S", "wait", "W", "thread-spec"),
        _COUNT,
    ),
    **dict.fromkeys(("nodes", "N"), _one(_RANGE)),
    **dict.fromkeys(
        ("mem", "mem-per-cpu", "mem-per-gpu", "tmp", "mincpus", "kill-on-bad-exit", "nice",
         "cpu-freq", "hint", "exclusive", "delay-boot"),
        _one(WORDS),
    ),
    **dict.fromkeys(("cpu-bind", "mem-bind", "gpu-bind", "accel-bind"), _one(_BINDING)),
    **dict.fromkeys(("distribution", "m"), _one(_DISTRIBUTION)),
    **dict.fromkeys(
        ("partition", "p", "account", "A", "qos", "q", "reservation", "job-name", "J", "licenses",
         "cluster-constraint", "clusters", "M", "network", "wckey"),
        _one(WORDS),
    ),
    **dict.fromkeys(("constraint", "C"), _one(_CONSTRAINT)),
    **dict.fromkeys(("nodelist", "w", "exclude", "x"), _one(_NODES)),
    **dict.fromkeys(("time", "t", "time-min"), _one(_TIME)),
    "switches": _one(_SWITCHES),
    **dict.fromkeys(
        ("gres", "gpus", "G", "gpus-per-node", "gpus-per-task", "gpus-per-socket"),
        _one(_RESOURCES),
    ),
    **dict.fromkeys(
        ("contiguous", "overlap", "exact", "overcommit", "O", "oversubscribe", "s", "unbuffered",
         "u", "label", "l", "spread-job", "use-min-nodes", "resv-ports"),
        _FLAG,
    ),
    "mpi": _one(_PMI),
    "export": _one(re.compile("ALL|NONE|NIL")),
}  # fmt: skip

#: Options of srun that are flags, unless a value follows after `=`.
_PERHAPS_FLAGS = frozenset(["exclusive", "kill-on-bad-exit", "nice", "resv-ports"])

_APRUN: Mapping[str, _Option] = {
    **dict.fromkeys(("n", "N", "d", "j", "S", "sn", "r"), _COUNT),
    "cc": _one(re.compile("cpu|numa_node|none|depth|[0-9][0-9,:x-]*")),
    "m": _one(NUMBER),
    "ss": _FLAG,
}

#: Of launchers that lead to another one: only numbers.
_COUNTS: Mapping[str, _Option] = dict.fromkeys(("n", "N", "T", "np", "o", "p"), _COUNT)

_JSRUN: Mapping[str, _Option] = {
    **dict.fromkeys(
        ("n", "nrs", "a", "tasks_per_rs", "c", "cpu_per_rs", "g", "gpu_per_rs", "r",
         "rs_per_host", "p", "np"),
        _COUNT,
    ),
    **dict.fromkeys(("d", "launch_distribution"), _one(re.compile("cyclic|packed|plane:[0-9]+"))),
    **dict.fromkeys(("b", "bind"), _one(re.compile("none|rs|packed(:smt)?(:[0-9]+)?"))),
}  # fmt: skip

#: The options of each program that starts the ranks of a job.
_LAUNCHERS: Mapping[str, Mapping[str, _Option]] = {
    **dict.fromkeys(
        ("mpiexec", "mpiexec.openmpi", "mpirun", "mpirun.openmpi", "orterun", "palsrun",
         "prterun", "prun"),
        _MPIRUN,
    ),
    **dict.fromkeys(("mpiexec.hydra", "mpiexec.mpich", "mpirun.mpich"), _HYDRA),
    "srun": _SRUN,
    "aprun": _APRUN,
    "jsrun": _JSRUN,
    **dict.fromkeys(("ibrun", "lrun"), _COUNTS),
}  # fmt: skip


def launch_words(text: str) -> list[str]:
    """Split a command that starts ranks into words; none if one of them may not be used.

    >>> launch_words("mpirun -np 2 -bind-to core")
    ['mpirun', '--np', '2', '--bind-to', 'core']
    >>> launch_words("mpirun -n 2 sh -c id"), launch_words("mpirun -n 1 a : -n 1 b")
    ([], [])
    """
    launcher, *words = _split(text) or [""]
    known = _LAUNCHERS.get(launcher)
    options = None if known is None else _options(words, known)
    return [] if options is None else [launcher, *options]


def scheduler_words(text: str) -> list[str]:
    """Split options of a Slurm job into words; none if one of them may not be used."""
    return _options(_split(text), _SRUN) or []


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text) if text.isprintable() else []
    except ValueError:  # an unclosed quote
        return []


def _options(words: Sequence[str], known: Mapping[str, _Option]) -> list[str] | None:
    """Return options and their values as they may be given; None if one of them may not be."""
    options: list[str] = []
    rest = list(words)
    while rest:
        first = _first_option(rest, known)
        if first is None:
            return None
        name, values, given, rest = first
        options += _written(name, values, known) or given
    return options


def _written(name: str, values: list[str], known: Mapping[str, _Option]) -> list[str]:
    """Return the words of an option such that no launcher can take a value for a program."""
    dashed = f"--{name}" if len(name) > 1 else f"-{name}"
    if known in (_MPIRUN, _HYDRA):
        return [dashed, "=".join(values)] if name in _VARIABLES else [dashed, *values]
    if known is _SRUN:
        return ["=".join([dashed, *values]) if len(name) > 1 else "".join([dashed, *values])]
    return []


#: Name and values of an option, the words that gave it, and those after them.
_Found = tuple[str, list[str], list[str], list[str]]


def _first_option(words: Sequence[str], known: Mapping[str, _Option]) -> _Found | None:
    parts = re.fullmatch(r"--?([A-Za-z][\w-]*)(?:=(.*))?", words[0], re.ASCII)
    if parts is None:
        return None
    name, value = parts.groups()
    if known is _SRUN:
        name, value = _of_srun(words[0], name, value)
    if name not in known:
        return None
    count, check = known[name]
    if value is None and known is _SRUN and name in _PERHAPS_FLAGS:
        count, check = _FLAG
    if name in _VARIABLES and "=" in "".join(words[1:2]):
        assigned = words[1].split("=", 1)
        return (name, assigned, [], list(words[2:])) if check(assigned) else None
    joined = value is not None
    values = [value] if value is not None else list(words[1 : 1 + count])
    if (joined and count != 1) or len(values) < count or not check(values):
        return None
    end = 1 if joined else 1 + count
    return name, values, list(words[:end]), list(words[end:])


def _of_srun(word: str, name: str, value: str | None) -> tuple[str, str | None]:
    """Return name and value of an option of srun, which joins `-n2` and has one dash for letters.

    An option that is neither has no name.
    """
    if word.startswith("--"):
        return (name if len(name) > 1 else ""), value
    return word[1], word[2:] or None
