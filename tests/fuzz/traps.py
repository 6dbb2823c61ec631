"""A folder in which whatever starts is seen, and what hostile input would like to start in it."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import yaml

from fuzz.inputs import SEEDS, TESTS

#: Programs that start the ranks of a job, all of them played by the same program here.
LAUNCHERS = (
    "mpiexec", "mpiexec.hydra", "mpiexec.mpich", "mpiexec.openmpi", "mpirun", "mpirun.mpich",
    "mpirun.openmpi", "orterun", "palsrun", "prterun", "prun", "srun", "aprun", "jsrun", "ibrun",
    "lrun",
)  # fmt: skip

#: What no record may start, although it is in PATH.
EVIL = ("evil", "ssh", "rsh", "gdb", "xterm", "nc", "id", "curl")

#: Real programs that the verbs and the script need, and one with which payloads leave a trace.
_NEEDED = ("git", "gcc", "sh", "dirname", "uname", "env", "touch", "cat")

#: Writes down how it was started, one line of JSON each time. It starts nothing.
_LOGGER = """\
#!{python} -IS
import json, os, sys
line = json.dumps([os.path.basename(sys.argv[0]), sys.argv[1:], dict(os.environ), os.getcwd()])
with open({log!r}, "a") as stream:
    stream.write(line + "\\n")
"""

_VICTIM = "precious\n"


@dataclass(frozen=True)
class Started:
    """A program that ran in a trap: its name, its arguments, its variables and its folder."""

    name: str
    arguments: list[str]
    environment: dict[str, str]
    folder: str


class Trap:
    """A folder with programs that log how they are started, and files that nothing may touch.

    Attributes
    ----------
    folder : Path
        `bin` is the only folder in PATH; `home` contains a victim; a file `ran` appears if a
        payload ran.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin, self.home = folder / "bin", folder / "home"
        self.log, self.ran = folder / "log", folder / "home" / "ran"
        self.victim = self.home / "victim.txt"
        self.evil = folder / "prefix" / "bin" / "evil"
        for made in (self.bin, self.home, self.evil.parent):
            made.mkdir(parents=True)
        self.victim.write_text(_VICTIM)
        text = _LOGGER.format(python=sys.executable, log=str(self.log))
        logging = [self.bin / name for name in (*LAUNCHERS, *EVIL, "pingpong", "zoom", "spack")]
        for path in [*logging, self.evil]:
            path.write_text(text)
            path.chmod(0o755)
        for name in _NEEDED:
            if found := shutil.which(name):
                (self.bin / name).symlink_to(found)

    @property
    def environment(self) -> dict[str, str]:
        """The variables of whatever runs here."""
        return {"PATH": str(self.bin), "HOME": str(self.home), "LC_ALL": "C.UTF-8"}

    def started(self) -> list[Started]:
        """Return what has run since this was last asked."""
        if not self.log.exists():
            return []
        lines = self.log.read_text().splitlines()
        self.log.unlink()
        return [Started(*json.loads(line)) for line in lines]

    @property
    def commands(self) -> list[str]:
        """Texts that run something if a shell, a launcher or Python reads them."""
        ran, victim = self.ran, self.victim
        return [
            f"$(touch {ran})", f"`touch {ran}`", f"; touch {ran} ;", f"'; touch {ran}; '",
            f'"; touch {ran}; "', f"x\ntouch {ran}\n", f"| touch {ran}", f"&& touch {ran}",
            f"x & touch {ran} &", f"touch${{IFS}}{ran}", f"> {victim}", f"a > {victim}", "evil",
            f"{self.evil}", "sh -c evil", f"sh -c 'touch {ran}'", ": -n 1 evil", ":", "--", "-",
            f"-n 1 touch {ran} : -n 1", "../../home/victim.txt", str(victim), "~/victim.txt", "..",
            ".", "*", "$HOME", "${LAUNCHER}", "a b", "", "\x1b]0;owned\x07", "a\tb", "\\", "%s{}",
            f"--record={victim}", "--record", "--label", "-x", "LD_PRELOAD=/evil.so", f"@{victim}",
            f"file:{victim}", "{{7*7}}", f"!!python/object/apply:os.system ['touch {ran}']",
            "<script>alert(1)</script>", "=cmd|' /C calc'!A0", "x" * 300,
        ]  # fmt: skip

    @property
    def launches(self) -> list[str]:
        """Words of launchers' options: good ones, those that start or write, and lone ones."""
        ran, victim, evil = self.ran, self.victim, self.evil
        return [
            "-n 2", "-np 2", "--np 2", "-n", "--np", "-N 1", "--map-by core", "--map-by",
            "--bind-to none", "-bind-to core", "--bind-to", "--mca btl self,vader", "--mca btl",
            "--mca", "--mca plm_rsh_agent evil", f"--mca orte_launch_agent {evil}", "-x UCX_TLS",
            "-x UCX_TLS=tcp", "-x", "-x LD_PRELOAD=/evil.so", "-x PATH", "--oversubscribe",
            "-genv UCX_TLS tcp", "-genv UCX_TLS", f"-genv LD_PRELOAD {evil}", "-gtool evil:0",
            "-env", "--output-filename", f"--output-filename {victim}", f"--report-uri {victim}",
            f"--report-pid {victim}", f"--hostfile {victim}", f"--app {victim}", "--host a",
            f"-configfile {victim}", f"-f {victim}", "--xterm 0", "--debug", "-wdir /", "-wdir",
            f"--prolog=touch {ran}", f"--prolog={evil}", f"--epilog={evil}", "--export=ALL",
            "--export=ALL,LD_PRELOAD=/evil.so", f"--task-prolog={evil}", f"--output={victim}",
            f"-o {victim}", f"--error={victim}", "--multi-prog", "--bcast=/x", f"-D{self.home}",
            f"--chdir={self.home}", "--mpi=pmix", "--mpi", "--cpu-bind=cores", "--cpu-bind",
            "-n2", "-c1", "-w a1", "-w", "--exclusive", "--exclusive evil", "-l evil", "--label",
            "--constraint=[a*1&b*1]", "--partition=cpu", "--preload-binary", "--enable-recovery",
            "--timeout 5", "--allow-run-as-root", "--", "-", ":", "-launcher ssh", "--rr evil",
            f"-launcher-exec {evil}", "-info", "--version", "--help", "--tune", f"--tune {victim}",
            f"-am {victim}", "--personality evil", "--display map", "-s dirty", "--nice=5",
            "--nice",
        ]  # fmt: skip

    @property
    def arguments(self) -> list[str]:
        """Words of a kernel's command line."""
        return [
            "--mode=send", "--mode", "send", "--sizes=8,64", "--sizes", "8", "--passes", "1",
            "--samples=2", "--record", f"--record={self.victim}", str(self.victim), "--label",
            "--label=a=b", f"--label=a={self.commands[0]}", f"--label=record={self.victim}",
            "--quiet", "--quiet=1", "--seed=7", "--seed", "--help", "--version", "--tree=1,2",
            "--brackets=send:1-9", "--window=--record", "--warmup", "--ucx-protocols", "sh", "-c",
            "--record=", "--rec", f"--rec={self.victim}", "--start=barrier", "--start", "--",
        ]  # fmt: skip

    @property
    def variables(self) -> dict[str, str]:
        """Variables of a record's MPI, most of which start, load or write something."""
        ran, victim, evil = str(self.ran), str(self.victim), str(self.evil)
        return {
            "UCX_TLS": "tcp", "OMPI_MCA_btl": "self,tcp", "UCX_RNDV_THRESH": "8k",
            "LD_PRELOAD": evil, "PATH": str(self.evil.parent), "LAUNCHER": "evil", "KERNEL": evil,
            "IFS": "x", "ENV": victim, "BASH_ENV": victim, "I_MPI_GTOOL": f"{evil}:0",
            "I_MPI_HYDRA_REMOTE_SHELL": evil, "I_MPI_TUNING_BIN_DUMP": victim, "UCX_GDB_COMMAND":
            evil, "UCX_LOG_FILE": victim, "UCX_STATS_DEST": f"file:{victim}", "UCX_MODULE_DIR":
            str(self.evil.parent), "OMPI_MCA_plm_rsh_agent": evil, "OMPI_MCA_orte_launch_agent":
            "evil", "OMPI_MCA_pml_monitoring_filename": victim, "OMPI_MCA_mca_component_path": evil,
            "OMPI_MCA_mca_base_env_list": f"LD_PRELOAD={evil}", "PRTE_MCA_plm_ssh_agent": evil,
            "MPIR_CVAR_QMPI_TOOL_LIST": evil, "MPIR_CVAR_MEMDUMP": "1", "FI_HOOK": "x",
            "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": victim, "FI_PROVIDER_PATH": evil,
            "MPICH_MPIIO_STATS_FILE": victim, "MPIR_CVAR_CH4_NETMOD": "ofi", f"X; touch {ran}": "1",
            "UCX_TLS; touch": "1", "PSM2_DEVICES": "self,shm", "OMPI_MCA_evil": "1",
            "PMIX_MCA_pfexec": evil, "HFI_UNIT": "1", "OMPI_MCA_coll_tuned_dynamic_rules_filename":
            victim, "FI_TCP_IFACE": "lo", "MV2_SHMEM_DIR": victim,
        }  # fmt: skip


#: Options as people give them to mpirun and to srun, and words that may be values or programs.
_USUAL = (
    (
        "-n 2", "-np 2", "--np 2", "-bind-to none", "--bind-to core", "--map-by core", "-ppn 2",
        "-genv UCX_TLS tcp", "-x UCX_TLS", "-x UCX_TLS=tcp", "--mca btl self,vader", "-envall",
        "--mca pml ob1", "--rr", "--pernode", "--report-bindings", "--display-map", "--tag-output",
        "-env UCX_TLS tcp", "--rank-by slot", "--timeout 5", "-prepend-rank", "--cpu-set 0",
        "--use-hwthread-cpus", "--oversubscribe", "--perhost=2", "--nolocal", "-genvall",
        "--allow-run-as-root", "-bynode", "--N 1", "-usize 2", "--cpu-list 0,1", "-mca pml ob1",
    ),
    (
        "-n 2", "--ntasks=2", "--mpi=pmix", "--cpu-bind=cores", "-n2", "--exclusive", "-c 1",
        "-m cyclic", "-l", "--label", "--nice", "--nice=5", "--kill-on-bad-exit", "-N1", "-p cpu",
        "--constraint=[a*1&b*1]", "--export=ALL", "--overlap", "-w a1", "--time=1:00", "-O",
    ),
)  # fmt: skip
_VALUES = ("2", "core", "tcp", "evil", "-n", "--np", "-x", "--mca", "-genv", "UCX_TLS=tcp", "-w")

#: Labels that may be used as part of a command.
_COMMAND_LABELS = ("launch", "scheduler_options", "modules")

_LABELS = ("site", "placement", "session", "environ", "partition", "check", "reproduces", "rules",
           "trial", "spack_spec")  # fmt: skip


def headers(draw: Random, trap: Trap) -> dict[str, Any]:
    """Return the header of a run record that wants something to run, or to be overwritten."""
    header: dict[str, Any] = json.loads(SEEDS["mpich-memory.record"].split(b"\n", 1)[0])

    def hostile() -> str:
        return draw.choice(trap.commands)

    labels = {"site": "local", "placement": "one_node", "environ": "mpich", "partition": "mpich",
              "session": "night-0"}  # fmt: skip
    header["labels"] = labels
    if draw.random() < 0.8:
        labels |= _command_labels(draw, trap)
    for name in (*_COMMAND_LABELS, *_LABELS):
        if draw.random() < 0.05:
            labels[name] = hostile()
    if draw.random() < 0.2:
        labels[hostile()] = hostile()
    header["arguments"] = ["pingpong", *_some(draw, trap.arguments, 8)]
    if draw.random() < 0.2:
        header["arguments"].append(hostile())
    names = _some(draw, sorted(trap.variables), 12)
    header["mpi"]["environment"] = {name: trap.variables[name] for name in names}
    if draw.random() < 0.2:
        header["mpi"]["environment"][draw.choice(["UCX_TLS", "OMPI_MCA_btl"])] = hostile()
    for part, name in (("kernel", "name"), ("kernel", "git_commit"), ("kernel", "spec_hash"),
                       ("mpi", "library"), ("kernel", "compiler")):  # fmt: skip
        if draw.random() < 0.1:
            header[part][name] = hostile()
    if draw.random() < 0.2:
        header["ranks"][0]["host"] = hostile()
    if draw.random() < 0.2:
        spoil(draw, header, hostile())
    return header


def _command_labels(draw: Random, trap: Trap) -> dict[str, str]:
    """Return the labels of which a script makes commands: sound ones and others."""
    of_srun = draw.random() < 0.3
    launchers = ["srun"] if of_srun else [*LAUNCHERS[:11]]
    usual = [*_USUAL[of_srun]]
    words = [*_some(draw, usual, 3)]
    if draw.random() < 0.5:
        words.insert(draw.randint(0, len(words)), draw.choice([*trap.launches, *_VALUES]))
    if draw.random() < 0.2:
        words.append(draw.choice(trap.commands))
    if draw.random() < 0.1:
        launchers = [*LAUNCHERS[11:], "sh", "env", "evil", str(trap.evil), "touch", "./evil"]
    wanted = _some(draw, [*_USUAL[1]], 3) + _some(draw, trap.launches, draw.randint(0, 1))
    return {
        "launch": " ".join([draw.choice(launchers), *words]),
        "scheduler_options": " ".join(wanted),
        "modules": " ".join(_some(draw, ["gcc/12.2", "openmpi", "../evil", "/evil", "-x"], 2)),
    }


def _some(draw: Random, of: Sequence[str], most: int) -> list[str]:
    return draw.choices(of, k=draw.randint(0, most))


def spoil(draw: Random, value: Any, word: str) -> None:
    """Put a word in the place of a text, a number or a name anywhere in a structure."""
    places = [*_places(value)]
    holder, name = draw.choice(places)
    if isinstance(holder, dict) and draw.random() < 0.2:
        holder[word] = holder.pop(name)
    else:
        holder[name] = word


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each place of a value that is no structure itself."""
    for name, part in [*(value.items() if isinstance(value, dict) else enumerate(value))]:
        if isinstance(part, dict | list):
            yield from _places(part)
        else:
            yield value, name


def record_of(header: dict[str, Any]) -> bytes:
    """Return a record with a header, and rows and a footer that are sound."""
    rest = SEEDS["mpich-memory.record"].split(b"\n", 1)[1]
    return json.dumps(header).encode() + b"\n" + rest


def locks(draw: Random, trap: Trap) -> bytes:
    """Return a lock of Spack that wants something to run."""
    lock = json.loads((TESTS / "spack/locks/release.lock").read_bytes())
    hostile = [*trap.commands, str(trap.evil), str(trap.evil.parents[1]), "-fplugin=/evil.so"]
    for _ in range(draw.randint(1, 2)):
        node = draw.choice([*lock["concrete_specs"].values()])
        word = draw.choice(hostile)
        compilers = {"compilers": {"c": word, "cxx": word}}
        match draw.randint(0, 6):
            case 0:
                node["external"] = {"path": word, "module": None, "extra_attributes": {}}
            case 1:
                path = draw.choice(["/usr", word])
                node["external"] = {"path": path, "module": None, "extra_attributes": compilers}
            case 2:
                node.setdefault("parameters", {})["cflags"] = [word]
            case 3:
                node[draw.choice(["name", "version", "namespace", "hash"])] = word
            case 4:
                lock["roots"][0][draw.choice(["spec", "hash"])] = word
            case 5:
                node["external"] = {"path": "/usr", "module": [word], "extra_attributes": {}}
            case _:
                spoil(draw, lock, word)
    return json.dumps(lock).encode()


def catalogues(draw: Random, trap: Trap) -> str:
    """Return a catalogue of causes whose settings are hostile."""
    words = [*trap.commands, *trap.variables]
    entry = {
        "variable": draw.choice(words), "environment": draw.choice(words), "library": "MPICH",
        "ends_eager": draw.random() < 0.5, "governs": draw.choice(words), "verified": "MPICH 4.0.2",
        "last_size_offset": draw.randint(-9, 9), "source": draw.choice(words),
    }  # fmt: skip
    return json.dumps({"settings": [entry]})


def rules_files(draw: Random, trap: Trap) -> dict[str, str]:
    """Return settings files, by name, as a folder of recommendations may have them."""
    lines = []
    for _ in range(draw.randint(1, 2)):
        name, value = draw.choice([*trap.variables.items()])
        lines.append((name, draw.choice([value, value, draw.choice(trap.commands)])))
    text = "".join(f"export {name}={value}\n" for name, value in lines)
    return {"openmpi.env": text, "openmpi-bcast.rules": draw.choice(trap.commands)}


def models(draw: Random, trap: Trap, sound: Mapping[str, Any]) -> bytes:
    """Return a site model with a hostile name or value."""
    model = json.loads(json.dumps(sound))
    for curve in model["curves"]:
        if draw.random() < 0.3:
            curve[draw.choice(["placement", "environ", "mpi"])] = draw.choice(trap.commands)
    spoil(draw, model, draw.choice(trap.commands))
    return yaml.safe_dump(model).encode()


def lay(folder: Path, header: dict[str, Any], lock: bytes | None) -> Path:
    """Write a record, and its lock beside it."""
    folder.mkdir(parents=True)
    record = folder / "hostile.record"
    record.write_bytes(record_of(header))
    if lock is not None:
        (folder / "spack.lock").write_bytes(lock)
    return record


def environment_of_commands(trap: Trap, catalogue: Path) -> dict[str, str]:
    """Return the variables of the verbs: no other process takes part."""
    return trap.environment | {
        "SWITCHPOINT_CATALOGUE": str(catalogue),
        "SWITCHPOINT_EXECUTOR": "serial",
        "TMPDIR": os.environ.get("TMPDIR", "/tmp"),
    }
