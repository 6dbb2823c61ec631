"""Recommends from a site model alone: algorithms by size and group, process maps, grains."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from switchpoint.errors import InputError
from switchpoint.models.collectives import Advice, Where, advise
from switchpoint.models.grains import GrainAdvice, break_even_grains
from switchpoint.models.libraries.library import BROADCAST, EXCHANGE, Library
from switchpoint.models.libraries.mpich import MPICH
from switchpoint.models.libraries.open_mpi import OPEN_MPI
from switchpoint.models.libraries.own_kernels import OWN_KERNELS
from switchpoint.models.links import Place, curve_of
from switchpoint.models.prediction import WITHIN, layout_on
from switchpoint.models.refusals import check_ranks
from switchpoint.models.site_model import Curve, SiteModel
from switchpoint.models.sort_maps import MapAdvice, best_maps
from switchpoint.tables.mpi_names import mpi_family

#: What can be asked.
MAP, GRAIN = "map", "grain"
QUESTIONS = (BROADCAST, EXCHANGE, MAP, GRAIN)

#: The libraries whose algorithms are known, by family; others get those of the kernels.
LIBRARIES = {library.name: library for library in (OPEN_MPI, MPICH)}

_RANKS = (4,)
_SORT_RANKS = 7
_SORT_BYTES = (200_000, 3_200_000)
_GRAIN_BYTES = (4, 4000, 40_000)
_LARGEST_BYTES = 1 << 20


@dataclass(frozen=True)
class Recommendation:
    """What follows from a model for one placement.

    Attributes
    ----------
    site, mpi, environ : str or None
        Of the model's curves (`environ` is the last field).
    placement : str
        Where the ranks are.
    nodes : int
        How many there are.
    library : Library
        Whose algorithms were compared.
    algorithms : list of Advice
        For each operation, number of ranks and size.
    maps : list of MapAdvice
        For each array.
    grains : list of GrainAdvice
        For each number of ranks and message.
    notes : list of str
        What limits them.
    """

    site: str | None
    mpi: str | None
    placement: str
    nodes: int
    library: Library
    algorithms: list[Advice] = field(default_factory=list)
    maps: list[MapAdvice] = field(default_factory=list)
    grains: list[GrainAdvice] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    environ: str | None = None


def recommend(
    model: SiteModel,
    *,
    placement: str,
    about: Sequence[str] = QUESTIONS,
    ranks: Sequence[int] = _RANKS,
    nodes: int | None = None,
    cores: int | None = None,
    sizes_bytes: Sequence[int] = (),
    sort_ranks: int = _SORT_RANKS,
    own_kernels: bool = False,
    within: str = WITHIN,
    **place: str | None,
) -> Recommendation:
    """Recommend algorithms, process maps and grains for a placement.

    Parameters
    ----------
    model
        As from `fit_model` or `load_model`.
    placement
        The model's curves between nodes, or within one.
    about
        Some of `QUESTIONS`.
    ranks
        The sizes of groups; they are divided evenly over the nodes.
    nodes, cores
        How many nodes, and how many cores each has. By default those of the model's runs.
    sizes_bytes
        Of messages, and of the sorted array. By default powers of two up to the largest measured
        size or 1 MiB, and the studies' sizes for the map and the grain.
    sort_ranks
        Ranks of the merge sort's tree.
    own_kernels
        Compare the algorithms of our kernels in place of those of the model's MPI.
    within
        The placement whose link joins ranks of one node.
    **place
        `mpi`, `environ`, `partition`: which curves, if the model has several.

    Returns
    -------
    Recommendation
        A question that the model cannot answer is named in `notes`, unless it is the only one.

    Raises
    ------
    InputError
        If the model lacks what is needed for all questions, or an argument does not suit.
    """
    _check_questions(about)
    curve = curve_of(model, Place(placement, **place), "send")
    known = LIBRARIES.get(mpi_family(curve.mpi or ""))
    library = OWN_KERNELS if own_kernels or known is None else known
    # Curves of the other placement are those of the same MPI.
    where = Place(placement, curve.mpi, place.get("environ"), place.get("partition"))
    count = nodes or curve.nodes
    found = Recommendation(model.site, curve.mpi, placement, count, library, environ=curve.environ)
    if known is None and not own_kernels and {BROADCAST, EXCHANGE} & set(about):
        found.notes.append(
            f"the algorithms of {curve.mpi or 'this MPI'} are not described here; these are those"
            " of the kernels"
        )
    asked = _Asked(model, curve, where, count, cores, within, list(sizes_bytes))
    _answer(found, asked, about, ranks, sort_ranks)
    return found


def _check_questions(about: Sequence[str]) -> None:
    for question in about:
        if question not in QUESTIONS:
            raise InputError("--about", f"'{question}' is not one of {', '.join(QUESTIONS)}")
    if not about:
        raise InputError("--about", f"names nothing; choose from {', '.join(QUESTIONS)}")


@dataclass(frozen=True)
class _Asked:
    model: SiteModel
    curve: Curve
    place: Place
    nodes: int
    cores: int | None
    within: str
    sizes_bytes: list[int]

    def where(self, ranks: int) -> Where:
        """Divide ranks evenly over the nodes."""
        check_ranks(ranks)
        if ranks % self.nodes:
            raise InputError(
                "--ranks",
                f"{ranks} cannot be divided evenly over {self.nodes} nodes; use a multiple, or"
                " --nodes",
            )
        if (self.nodes == 1) != (self.curve.nodes == 1):
            measured = "one node" if self.curve.nodes == 1 else f"{self.curve.nodes} nodes"
            raise InputError(
                "--nodes",
                f"{self.nodes} does not suit placement '{self.place.placement}', which"
                f" was measured on {measured}; choose another --placement",
            )
        of_ranks = tuple(rank * self.nodes // ranks for rank in range(ranks))
        return Where(self.place, layout_on(self.curve, of_ranks, self.cores), self.within)

    def message_sizes(self) -> list[int]:
        """Return the sizes to advise on: those asked for, or powers of two that were measured."""
        if self.sizes_bytes:
            return self.sizes_bytes
        largest = max((one.last_size_bytes for one in self.curve.segments), default=1)
        largest = min(largest, _LARGEST_BYTES)
        return [1 << bit for bit in range(largest.bit_length()) if 1 << bit <= largest]


def _answer(
    found: Recommendation, asked: _Asked, about: Sequence[str], ranks: Sequence[int],
    sort_ranks: int,
) -> None:  # fmt: skip
    """Answer each question; one that cannot be answered becomes a note if there are others."""
    notes: list[str] = []
    failed: list[InputError] = []
    for question in about:
        with _noting(question, failed, notes):
            notes += _answer_one(found, asked, question, ranks, sort_ranks)
    if len(failed) == len(about):
        raise failed[0]
    if asked.nodes > asked.curve.nodes:
        notes.append(
            f"{asked.nodes} nodes are taken to be joined as the {asked.curve.nodes} that were"
            " measured, by a switch that is never the bottleneck"
        )
    found.notes.extend(dict.fromkeys(notes))


@contextmanager
def _noting(question: str, failed: list[InputError], notes: list[str]) -> Iterator[None]:
    """Turn an error into a note."""
    try:
        yield
    except InputError as error:
        failed.append(error)
        notes.append(f"no advice on {question}: {error.problem}")


def _answer_one(
    found: Recommendation, asked: _Asked, question: str, ranks: Sequence[int], sort_ranks: int
) -> list[str]:
    """Add the answer to one question; return its notes."""
    model, notes = asked.model, []
    if question in (BROADCAST, EXCHANGE):
        for count in ranks:
            algorithms, missing = advise(
                model, found.library, question, asked.where(count), asked.message_sizes()
            )
            found.algorithms.extend(algorithms)
            notes += missing + [note for one in algorithms for note in one.best_us.notes]
    elif question == MAP:
        nodes = asked.nodes
        sizes = asked.sizes_bytes or list(_SORT_BYTES)
        maps = best_maps(model, asked.where(nodes), sort_ranks, nodes, sizes)
        found.maps.extend(maps)
        notes += [note for one in maps for note in (one.best_us or one.one_node_us).notes]
    else:
        sizes = asked.sizes_bytes or list(_GRAIN_BYTES)
        for count in ranks:
            grains = break_even_grains(model, asked.where(count), sizes)
            found.grains.extend(grains)
            notes += [note for one in grains for note in one.notes]
    return notes
