"""Compares a site's settings with the site itself, and finds all problems at once.

It only reads settings, placements, modules, compilers and Slurm. The trial submits jobs.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from switchpoint.sites.doctor import Fact, program_output
from switchpoint.sites.environments import FAMILIES, Compiler, ask_compiler
from switchpoint.sites.extras import environment_extras, misspelt
from switchpoint.sites.launching import interfaces_of
from switchpoint.sites.requests import examine_requests, option
from switchpoint.sites.settings_file import Site, dicts, file_problems, problem, system_here
from switchpoint.sites.slurm import Slurm, ask_slurm
from switchpoint.sites.trial import try_two_ranks

#: Extras of a partition that the checks read.
_PARTITION_EXTRAS = {"placements", "switch_from_node_name", "references", "most_ranks"}


def examine_site(settings: Path, trial_s: float | None = None) -> Iterator[Fact]:
    """Check a site's files, and then what they request.

    Parameters
    ----------
    settings
        The site's ``settings.py``.
    trial_s
        How long in seconds each environment's job of two ranks may wait to start. Without it no
        job is submitted.
    """
    site = Site(settings)
    found = list(file_problems(site))
    yield from found
    if any(fact.topic == "shape" for fact in found):
        return
    if any(fact.topic == "files" for fact in found):
        trial_s = None
    system = system_here(site)
    partitions = dicts(system.get("partitions"))
    # The settings of a computing centre also have partitions that are not measured.
    offering = [p for p in partitions if p.get("extras", {}).get("placements")]
    if partitions and not offering and site.placements_load:
        yield problem(
            site.entry(partitions[0].get("name")), "no partition offers a placement",
            'add **site_common.placed(HERE / "placements.yaml") to one',
        )  # fmt: skip
    slurm = ask_slurm()
    for partition in offering or partitions:
        yield from _examine_partition(site, system, partition, slurm, trial_s)


def _examine_partition(
    site: Site,
    system: Mapping[str, Any],
    partition: Mapping[str, Any],
    slurm: Slurm,
    trial_s: float | None,
) -> Iterator[Fact]:
    name = str(partition.get("name"))
    topic = f"partition '{name}'"
    facts = [
        *_back_ends(site, partition),
        *_partition_extras(site, partition),
        *examine_requests(site, partition, slurm),
    ]
    yield from facts
    environments = _environments(site, system, partition)
    for environ in partition.get("environs", []):
        if environ not in environments:
            yield problem(
                site.named(environ), f"{topic}: there is no environment '{environ}'",
                f"those defined are {', '.join(environments) or 'none'}",
            )  # fmt: skip
    ready = []
    for environ in _measured(partition, environments):
        found = list(_examine_environment(site, system, partition, environments[environ], slurm))
        yield from found
        # The trial's program is compiled outside of images.
        if all(fact.state == "ok" for fact in found) and not _image(environments[environ]):
            ready.append(environ)
    offered = [
        (placement["nodes"], placement_name)
        for placement_name, placement in partition.get("extras", {}).get("placements", {}).items()
        if isinstance(placement, Mapping) and isinstance(placement.get("nodes"), int)
    ]
    blocked = any(fact.topic in (topic, "Slurm") and fact.state != "ok" for fact in facts)
    if trial_s is None or blocked or not ready or not offered:
        return
    # The smallest placement is tried: problems of launcher and MPI are the same everywhere.
    _, smallest = min(offered)
    full_name = f"{system.get('name')}:{name}"
    for environ, result in try_two_ranks(site.settings, full_name, ready, smallest, trial_s):
        if result.state == "ok":
            yield Fact(f"{name}: {environ}", "ok", result.found)
        else:
            output = f"{topic}, environment '{environ}': {result.found}"
            place = site.entry(environ, "launcher_options")
            yield Fact(f"{name}: {environ}", result.state, output, result.fix, place)


def _environments(
    site: Site, system: Mapping[str, Any], partition: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """Return environments by name; those for this partition or system have priority."""
    targets = ["*", system.get("name"), f"{system.get('name')}:{partition.get('name')}"]
    found: dict[str, tuple[int, dict[str, Any]]] = {}
    for environment in dicts(site.content.get("environments")):
        for target in environment.get("target_systems", ["*"]):
            if target in targets:
                rank, name = targets.index(target), str(environment.get("name"))
                if name not in found or found[name][0] < rank:
                    found[name] = rank, environment
    return {name: environment for name, (_, environment) in found.items()}


def _measured(
    partition: Mapping[str, Any], environments: Mapping[str, Mapping[str, Any]]
) -> list[str]:
    """Return the partition's environments for MPI, or all if none has the feature."""
    listed = [name for name in partition.get("environs", []) if name in environments]
    for_mpi = [
        name
        for name in listed
        if "mpi" in environments[name].get("features", [])
        or "mpi" in environments[name].get("extras", {})
    ]
    return for_mpi or listed


def _back_ends(site: Site, partition: Mapping[str, Any]) -> Iterator[Fact]:
    """Check that ReFrame knows launcher and scheduler, and that their programs exist."""
    from reframe.core.backends import getlauncher, getscheduler
    from reframe.core.exceptions import ConfigError

    topic = f"partition '{partition.get('name')}'"
    for kind, look_up, choice in (
        ("launcher", getlauncher, "srun, mpirun or mpiexec"),
        ("scheduler", getscheduler, "slurm, scontrol (ours, after its import) or local"),
    ):
        name = partition.get(kind)
        try:
            look_up(name)
        except ConfigError:
            yield problem(
                site.named(name), f"{topic}: ReFrame does not know {kind} '{name}'",
                f"use {choice}, or one that this file registers", topic,
            )  # fmt: skip
    if partition.get("launcher") == "srun" and shutil.which("srun") is None:
        yield problem(
            site.named("srun"), f"{topic}: program srun is missing",
            "put Slurm's commands on the path", topic,
        )  # fmt: skip
    if partition.get("scheduler") == "slurm":
        message = program_output("sacct", "--noheader", "--starttime=now")
        if not shutil.which("sacct") or re.search(r"disabled|error", message, re.IGNORECASE):
            yield problem(
                site.named("slurm"),
                f"{topic}: the scheduler 'slurm' needs sacct, which does not work here",
                'use "scontrol", with `import switchpoint.sites.scontrol_scheduler`', topic,
            )  # fmt: skip


def _partition_extras(site: Site, partition: Mapping[str, Any]) -> Iterator[Fact]:
    """Check that a partition has its placements as features, and references only for them."""
    name, extras = partition.get("name"), partition.get("extras", {})
    topic = f"partition '{name}'"
    placements = extras.get("placements", {})
    for placement in placements:
        if placement not in partition.get("features", []):
            yield problem(
                site.entry(name),
                f"{topic}: placement '{placement}' is not among its features, so no check finds it",
                "let placed(...) set features and extras", topic,
            )  # fmt: skip
    yield from misspelt(site, topic, extras, _PARTITION_EXTRAS)
    for environ, expected in extras.get("references", {}).items():
        if environ not in partition.get("environs", []):
            yield problem(
                site.named(environ), f"{topic}: references: no environment '{environ}'",
                f"those of the partition are {', '.join(partition.get('environs', []))}",
            )  # fmt: skip
        for placement in expected:
            if placement not in placements:
                yield problem(
                    site.named(placement), f"{topic}: references: no placement '{placement}'",
                    f"those of the partition are {', '.join(placements)}",
                )  # fmt: skip


def _examine_environment(
    site: Site,
    system: Mapping[str, Any],
    partition: Mapping[str, Any],
    environment: Mapping[str, Any],
    slurm: Slurm,
) -> Iterator[Fact]:
    """Load the modules as a job does, and check that the compiler wrapper has the right MPI."""
    name = environment.get("name")
    topic = f"environment '{name}'"
    yield from environment_extras(site, environment)
    if _image(environment):
        yield _examined_image(site, partition, environment)
        return
    cc = str(environment.get("cc", "cc"))
    found = ask_compiler(system.get("modules_system", "nomod"), system, partition, environment)
    family = environment.get("extras", {}).get("mpi")
    if found.problem:
        yield problem(
            site.entry(name, found.culprit or "cc"), f"{topic}: {found.problem}", found.fix
        )
    elif found.mpi is None:
        yield problem(
            site.entry(name, "cc"), f"{topic}: '{cc}' does not belong to a known MPI",
            "name the MPI's own compiler wrapper",
        )  # fmt: skip
    elif family in FAMILIES and found.mpi.name not in FAMILIES[family]:
        yield problem(
            site.entry(name, "mpi"),
            f"{topic}: extras['mpi'] says '{family}', but '{cc}' compiles for "
            f"{found.mpi.name} {found.mpi.version}",
            "name the wrapper of this MPI, or correct extras['mpi']",
        )
    else:
        yield Fact(
            f"{partition.get('name')}: {name}", "ok",
            f"{found.mpi.name} {found.mpi.version}, {found.path}",
        )  # fmt: skip
    if partition.get("launcher") == "srun" and slurm.nodes:
        yield from _launch_problems(site, environment, slurm, found)


def _image(environment: Mapping[str, Any]) -> str:
    return str(environment.get("extras", {}).get("container_image", ""))


def _examined_image(
    site: Site, partition: Mapping[str, Any], environment: Mapping[str, Any]
) -> Fact:
    """Check what a container needs outside of its image, whose MPI is not asked."""
    name, image = environment.get("name"), _image(environment)
    if not partition.get("container_platforms"):
        return problem(
            site.entry(name, "container_image"),
            f"environment '{name}' is in an image, but partition '{partition.get('name')}' names "
            "no runtime",
            'add "container_platforms": [{"type": "Apptainer"}] to the partition',
        )
    if image.startswith("/") and not Path(image).exists():
        return problem(
            site.entry(name, "container_image"),
            f"environment '{name}': container_image: {image} does not exist",
            "correct the path",
        )  # fmt: skip
    return Fact(f"{partition.get('name')}: {name}", "ok", f"in the image {image}, not examined")


def _launch_problems(
    site: Site, environment: Mapping[str, Any], slurm: Slurm, compiler: Compiler
) -> Iterator[Fact]:
    """Check that srun can launch this environment's MPI: both must use the same PMI."""
    extras = environment.get("extras", {})
    if "launcher" in extras:
        return
    wanted = option(extras.get("launcher_options", []), "--mpi", "--mpi")
    spoken = interfaces_of(compiler.path)
    if wanted and spoken and wanted.partition("_")[0] not in spoken:
        yield problem(
            site.entry(environment.get("name"), "launcher_options"),
            f"environment '{environment.get('name')}': srun uses --mpi={wanted}, but the "
            f"library of {compiler.path} supports {spoken[0]}: ranks would start alone, or none",
            f"write --mpi={spoken[0]} in launcher_options",
        )
    if wanted and slurm.launch_types and wanted not in slurm.launch_types:
        yield problem(
            site.entry(environment.get("name"), "launcher_options"),
            f"environment '{environment.get('name')}': srun has no --mpi={wanted}",
            f"this cluster has: {', '.join(sorted(slurm.launch_types - {'none'})) or 'none'}",
        )
