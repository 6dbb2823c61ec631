"""Writes a platform file for SimGrid, with the factors that make SMPI follow the fitted lines."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence
from xml.sax.saxutils import quoteattr

from switchpoint.errors import InputError
from switchpoint.models.links import Place, curve_of
from switchpoint.models.site_model import Curve, Segment, SiteModel
from switchpoint.printable import printable
from switchpoint.tables.units import size_text

#: How SimGrid can connect hosts, and into how many factors their number is divided for it.
TOPOLOGIES = {"star": 0, "fat_tree": 2, "torus": 3, "dragonfly": 4}

#: Label of a simulated run: the environment of the curves whose links its platform has.
LINKS_OF = "links_of"

#: What the name of a model's site ends with in simulated runs.
_SIMULATED = "-simulated"

#: SimGrid's hosts compute at this speed; the kernels' messages do not depend on it.
_SPEED = "10Gf"

#: Lines of a segment with a smaller share of the first line's latency count as this share, since
#: SimGrid takes no negative latency.
_LEAST_FACTOR = 1e-6


def platform(
    model: SiteModel,
    place: Place,
    hosts: int,
    within: str | None = "one_node",
    topology: str = "star",
) -> str:
    """Return a platform of hosts, as XML.

    Parameters
    ----------
    model
        As from `fit_model` or `load_model`.
    place
        The placement whose ping-pong each pair of hosts has.
    hosts
        How many.
    within
        The placement whose ping-pong ranks of one host have; None for that of `place`.
    topology
        One of `TOPOLOGIES`. Messages that pass several links of it take longer than the ping-pong.

    Returns
    -------
    str
        Latency and bandwidth of a link are those of the first and the last segment; the factors
        `smpi/lat-factor` and `smpi/bw-factor` turn them into the line of each segment.

    Raises
    ------
    InputError
        If the model lacks the placement, its lines make no platform, or the number of hosts makes
        no such topology.
    """
    curve = curve_of(model, place, "send")
    if curve.not_fitted:
        raise InputError(
            model.source,
            f"send on {curve.placement} has a segment without a line"
            f" ({curve.not_fitted[0].reason}); measure more sizes there and fit again",
        )
    network = _network(topology, hosts)
    latency_us, per_byte_us = _base(curve, model.source)
    near = _near(model, place, within)
    near_latency_us, near_per_byte_us = _base(near, model.source)
    cores = curve.cores_per_machine or 1
    settings = {
        "smpi/lat-factor": _factors(curve, lambda one: max(one.start_us.value / latency_us,
                                                           _LEAST_FACTOR)),
        "smpi/bw-factor": _factors(curve, lambda one: per_byte_us / max(one.per_byte_us.value,
                                                                        per_byte_us * 1e-3)),
        "network/crosstraffic": "0",
    }  # fmt: skip
    if curve.eager_last_size_bytes is not None:
        threshold = str(curve.eager_last_size_bytes + 1)
        settings |= {"smpi/async-small-thresh": threshold,
                     "smpi/send-is-detached-thresh": threshold}  # fmt: skip
    lines = [
        "<?xml version='1.0'?>",
        '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
        f"<!-- {_comment(model, curve)} -->",
        '<platform version="4.1">',
        "  <config>",
        *(f"    <prop id={quoteattr(name)} value={quoteattr(value)}/>"
          for name, value in settings.items()),
        "  </config>",
        f'  <cluster id="site" prefix="host" suffix="" radical="0-{hosts - 1}" speed="{_SPEED}"',
        f'           core="{cores}" lat="{latency_us / 2:.6g}us" bw="{1 / per_byte_us:.6g}MBps"',
        f'           loopback_lat="{near_latency_us:.6g}us"',
        f'           loopback_bw="{1 / near_per_byte_us:.6g}MBps"{network}/>',
        "</platform>",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def platform_notes(
    model: SiteModel,
    place: Place,
    within: str | None = "one_node",
    sizes_bytes: Sequence[int] = (),
) -> list[str]:
    """Say which messages on a platform take times that were not measured.

    Parameters
    ----------
    model, place, within
        As of `platform`.
    sizes_bytes
        The messages that will be sent; none: any.

    Returns
    -------
    list of str
        A sentence for each link that does not cover them.
    """
    notes = []
    for curve in (curve_of(model, place, "send"), _near(model, place, within)):
        first, last = curve.segments[0].first_size_bytes, curve.segments[-1].last_size_bytes
        beyond = [size_text(size) for size in sizes_bytes if not first <= size <= last]
        if beyond or not sizes_bytes:
            notes.append(
                f"send on {curve.placement} was measured from {size_text(first)} to"
                f" {size_text(last)}; {' and '.join(beyond) or 'messages of other sizes'}"
                f" {'is' if len(beyond) == 1 else 'are'} extrapolated"
            )
    return list(dict.fromkeys(notes))


def _near(model: SiteModel, place: Place, within: str | None) -> Curve:
    """Return the curve of ranks of the same host."""
    near = place if within is None else dataclasses.replace(place, placement=within)
    return curve_of(model, near, "send")


def one_word(text: str) -> str:
    """Write a text so that a shell that does not quote it, such as smpirun, takes it as one word.

    >>> one_word("My Cluster --record=*")
    'My_Cluster_--record=_'
    """
    return re.sub(r"[^\w.,:=+@%/-]", "_", text)


def simulated_name(site: str | None) -> str:
    """Return the name of the site of runs that are simulated on a model of a site, in one word."""
    return one_word((site or "model") + _SIMULATED)


def links_of(environ: str | None, mpi: str | None) -> str:
    """Name the curves of a model for `LINKS_OF`, in one word."""
    return one_word(environ or mpi or "any")


def _network(topology: str, hosts: int) -> str:
    """Return the attributes of a topology; a star, with one switch, needs none.

    >>> _network("torus", 64)
    ' topology="TORUS" topo_parameters="4,4,4"'
    """
    if topology not in TOPOLOGIES:
        raise InputError(
            "--topology", f"'{topology}' is not known; use one of {', '.join(TOPOLOGIES)}"
        )
    dimensions = TOPOLOGIES[topology]
    if not dimensions:
        return ""
    sides = _sides(hosts, dimensions)
    if min(sides) == 1:
        raise InputError(
            "--hosts",
            f"{hosts} hosts make no {topology}, which has {dimensions} dimensions; use a power of"
            " two such as 64",
        )
    if topology == "torus":
        parameters = ",".join(map(str, sides))
    elif topology == "fat_tree":  # as many links up from a switch as down
        parameters = f"2;{sides[0]},{sides[1]};1,{sides[0]};1,1"
    else:  # groups of chassis of routers, with one link for each pair, and hosts on a router
        parameters = ";".join([f"{side},1" for side in sides[:-1]] + [str(sides[-1])])
    return f' topology="{topology.upper()}" topo_parameters="{parameters}"'


def _sides(hosts: int, dimensions: int) -> list[int]:
    """Divide a number into factors that are as equal as possible, the smallest first."""
    if dimensions == 1:
        return [hosts]
    most = round(hosts ** (1 / dimensions))
    side = next(each for each in range(most, 0, -1) if hosts % each == 0)
    return [side, *_sides(hosts // side, dimensions - 1)]


def _base(curve: Curve, source: str) -> tuple[float, float]:
    """Return the latency of the first segment in us, and the time per byte of the last."""
    if not curve.segments:
        raise InputError(source, f"send on {curve.placement} has no segment; fit again")
    latency_us = curve.segments[0].start_us.value
    per_byte_us = curve.segments[-1].per_byte_us.value
    if latency_us <= 0 or per_byte_us <= 0:
        raise InputError(
            source,
            f"send on {curve.placement} has a latency of {latency_us:g} us and"
            f" {per_byte_us:g} us a byte, which make no link; measure smaller and larger sizes",
        )
    return latency_us, per_byte_us


def _factors(curve: Curve, factor_of: Callable[[Segment], float]) -> str:
    """Write a factor for each segment, as SMPI reads them: from which size, and the factor."""
    starts = [0, *(one.first_size_bytes for one in curve.segments[1:])]
    return ";".join(
        f"{start}:{factor_of(segment):.6g}"
        for start, segment in zip(starts, curve.segments, strict=True)
    )


def _comment(model: SiteModel, curve: Curve) -> str:
    """Return where the platform comes from; no two hyphens in a row, which would end a comment."""
    words = [model.site, curve.mpi, curve.placement, f"fitted {model.made_utc}"]
    text = printable(", ".join(word for word in words if word))
    return re.sub("-(?=-)", "- ", text)
