"""Placements: what a site offers, and what to request from the scheduler.

A placement is declared once in a site's ``placements.yaml``. The checks ask for it by name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from switchpoint.errors import InputError
from switchpoint.strict_yaml import FieldLines, NotYamlError, plain_problem, read_yaml

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

#: The placements for comparisons between sites.
BUILT_IN = ("one_node", "one_node_network", "two_nodes_one_host", "two_nodes_two_hosts")


class PlacementError(InputError):
    """A placements file that cannot be used. The text names the file, the line and the field.

    Parameters
    ----------
    file
        The file.
    problem
        The problem and its fix.
    line
        Line of the first problem, counted from 1.
    each
        Every problem with its line, if there are several.
    """

    def __init__(
        self,
        file: Path,
        problem: str,
        line: int | None = None,
        each: Sequence[tuple[int | None, str]] = (),
    ) -> None:
        super().__init__(file if line is None else f"{file}:{line}", problem)
        self.file = file
        self.each = list(each) or [(line, problem)]


class Placement(BaseModel):
    """Where the ranks of a job must be, how to request it, and what must be proved."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    #: One line that describes the placement.
    summary: str
    #: Number of nodes. The ranks are divided evenly over them.
    nodes: int = Field(ge=1)
    #: Number of different switches (or hosts, chassis, hypervisors) above the nodes.
    switches: int = Field(default=1, ge=1)
    #: The path that the bytes must take.
    path: Literal["shared_memory", "network"]
    #: Options for the scheduler, such as ``--switches=1``.
    scheduler_options: tuple[str, ...] = ()
    #: Options for the launcher, such as ``--distribution=cyclic``.
    launcher_options: tuple[str, ...] = ()
    #: The rate of the link that the bytes cross, in Gbit/s, for comparisons with what is measured.
    link_Gbps: float | None = Field(default=None, gt=0)  # noqa: N815 (the unit's own capitals)
    #: Environment variables that force the path, by MPI family (``extras['mpi']`` of the
    #: programming environment); ``any`` applies to all of them.
    environment: dict[str, dict[str, str]] = {}

    @field_validator("switches")
    @classmethod
    def _no_more_switches_than_nodes(cls, switches: int, info: Any) -> int:
        if "nodes" in info.data and switches > info.data["nodes"]:
            raise ValueError(f"{info.data['nodes']} node(s) cannot be under {switches} switches")
        return switches

    def variables(self, mpi_family: str) -> dict[str, str]:
        """Return environment variables that force this placement's path for ``mpi_family``."""
        return {**self.environment.get("any", {}), **self.environment.get(mpi_family, {})}

    def on_nodes(self, nodes: int) -> Placement:
        """Return this placement with another number of nodes, over the same kind of path.

        Counts of features grow with it: ``[rack1*1&rack2*1]`` of two nodes is
        ``[rack1*2&rack2*2]`` of four.

        Raises
        ------
        ValueError
            If it cannot have so many nodes.
        """
        if nodes == self.nodes:
            return self
        if self.nodes == 1 or nodes == 1:
            raise ValueError(
                f"the placement has {self.nodes} node{'s'[: self.nodes > 1]}, and the path within"
                " one node is another than the path between several"
            )
        if nodes < self.switches:
            raise ValueError(f"{nodes} nodes cannot be under {self.switches} switches")

        def scaled(count: re.Match[str]) -> str:
            wanted, rest = divmod(int(count[1]) * nodes, self.nodes)
            if rest:
                raise ValueError(
                    f"{nodes} nodes cannot be divided as {' '.join(self.scheduler_options)} divides"
                    f" {self.nodes}"
                )
            return f"*{wanted}"

        options = tuple(re.sub(r"\*(\d+)", scaled, option) for option in self.scheduler_options)
        return self.model_copy(update={"nodes": nodes, "scheduler_options": options})


class Placements(BaseModel):
    """A site's ``placements.yaml``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    #: Regular expression with one group that extracts the switch (host, chassis) from a node's
    #: name, for sites whose Slurm has no topology plugin.
    switch_from_node_name: str | None = None
    placements: dict[str, Placement]

    @field_validator("placements")
    @classmethod
    def _names_are_identifiers(cls, placements: dict[str, Placement]) -> dict[str, Placement]:
        for name in placements:
            if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
                raise ValueError(f"'{name}': use lower-case letters, digits and underscores")
        return placements

    @field_validator("switch_from_node_name")
    @classmethod
    def _one_group(cls, pattern: str | None) -> str | None:
        if pattern is None:
            return None
        try:
            groups = re.compile(pattern).groups
        except re.error as error:
            raise ValueError(f"not a regular expression: {error}") from error
        if groups != 1:
            raise ValueError("needs exactly one group, such as '^(rack[0-9]+)'")
        return pattern


def load_placements(path: str | Path) -> Placements:
    """Read and check a site's placements.

    Parameters
    ----------
    path
        The site's ``placements.yaml``.

    Raises
    ------
    PlacementError
        It names the file, each wrong field and its problem.
    """
    path = Path(path)
    try:
        content = read_yaml(path)
    except OSError as error:
        raise PlacementError(path, f"cannot be read: {error.strerror}; check the path") from error
    except NotYamlError as error:
        reason = f"not YAML: {error.problem}; correct it here or just above"
        raise PlacementError(path, reason, error.line) from error
    try:
        return Placements.model_validate(content)
    except ValidationError as error:
        lines = FieldLines(path)
        each = [
            (
                lines.of(*problem["loc"]),
                f"{'.'.join(map(str, problem['loc'])) or 'top level'}: {_complaint(problem)}",
            )
            for problem in error.errors()
        ]
        first, rest = each[0], each[1:]
        later = [f"line {line}: {problem}" if line else problem for line, problem in rest]
        raise PlacementError(path, "; ".join([first[1], *later]), first[0], each) from error


def _complaint(problem: ErrorDetails) -> str:
    """Return pydantic's problem of a field, with the existing fields if it is unknown."""
    if problem["type"] == "extra_forbidden":
        fields = Placement.model_fields if len(problem["loc"]) > 1 else Placements.model_fields
        return f"not permitted; the fields are {', '.join(fields)}"
    if not problem["loc"]:
        return "contains no placements; begin it with `placements:`"
    return plain_problem(problem)
