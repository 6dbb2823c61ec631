"""Finds what was both simulated and measured, and compares the two, point by point."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import pandas as pd

from switchpoint.data_warnings import DataWarning
from switchpoint.models.kernel_arguments import options_by_run, options_of
from switchpoint.models.repeats import Repeats, interval, pass_medians, repeats_by
from switchpoint.models.simgrid import LINKS_OF, links_of, one_word, simulated_name
from switchpoint.records.rank_layout import layout_of
from switchpoint.tables.columns import identity_columns
from switchpoint.tables.measurements import Measurements

#: The columns of `beside_measured`.
COLUMNS = [
    "site", "placement", "mpi", "environ", "kernel", "mode", "ranks_on_nodes", "size_bytes",
    "simulated_us", "measured_us", "measured_low_us", "measured_high_us", "launches", "error",
]  # fmt: skip


def beside_measured(measurements: Measurements) -> pd.DataFrame:
    """Compare simulated points with measured ones of the same site, placement, MPI and ranks.

    Parameters
    ----------
    measurements
        Runs of both kinds. A run is simulated if it has the label `LINKS_OF`, as those of the
        checks `Scale` and `SimulatedTwin` do.

    Returns
    -------
    DataFrame
        `COLUMNS`; a row for each measured curve and size that was simulated with the same ranks on
        each node and the same options, on the links of the same environment. If a point was
        simulated several times, the last one counts. `measured_us` is the median over launches,
        with its 95 % interval (over passes, if there are fewer than three launches); `error` is
        the measured time over the simulated one, minus 1. A run with an option that no kernel
        takes is left out (`left_out_of_simulated` names it).
    """
    samples = measurements.samples
    if not _has_simulated(measurements):
        return pd.DataFrame(columns=COLUMNS)
    samples = samples[samples["run_id"].isin(options_by_run(measurements)[0])]
    is_simulated = samples[LINKS_OF].notna()
    if not is_simulated.any():
        return pd.DataFrame(columns=COLUMNS)
    simulated_us = _simulated_us(samples[is_simulated], measurements)
    kernels = set(samples.loc[is_simulated, "kernel"])
    candidates = samples[~is_simulated & samples["kernel"].isin(kernels)]
    rows = []
    for named, key, repeats in _measured(candidates, measurements):
        medians = repeats.medians_us()
        for place, size in enumerate(repeats.size_bytes):
            at_us = simulated_us.get((key, int(size)))
            if at_us is None:
                continue
            middle = float(medians[0, place])
            low, high = interval(medians[:, place]) or (middle, middle)
            rows.append(
                {name: named.get(name) for name in COLUMNS} | {
                    "ranks_on_nodes": key.process_map, "size_bytes": int(size),
                    "simulated_us": at_us, "measured_us": middle, "measured_low_us": low,
                    "measured_high_us": high, "launches": len(repeats.runs),
                    "error": middle / at_us - 1,
                }
            )  # fmt: skip
    return pd.DataFrame(rows, columns=COLUMNS)


def left_out_of_simulated(measurements: Measurements) -> list[DataWarning]:
    """Return a warning for each run that `beside_measured` leaves out because of its options."""
    return options_by_run(measurements)[1] if _has_simulated(measurements) else []


def _has_simulated(measurements: Measurements) -> bool:
    return LINKS_OF in measurements.samples and not measurements.samples.empty


class _Key(NamedTuple):
    """What a simulated curve and a measured one have in common; names are in one word."""

    simulated_site: str
    links: str
    placement: str | None
    kernel: str | None
    mode: str | None
    nodes: tuple[int, ...]
    process_map: str
    options: str


def _simulated_us(
    samples: pd.DataFrame, measurements: Measurements
) -> dict[tuple[_Key, int], float]:
    """Return the time of each simulated point; of several simulations that of the last."""
    runs = measurements.runs.sort_values("start_utc", kind="stable")
    turn = {str(run_id): number for number, run_id in enumerate(runs["run_id"])}
    identity = identity_columns(samples)
    found = []
    for named, repeats in repeats_by(pass_medians(samples, identity), identity):
        key = _key(str(named["site"]), str(named[LINKS_OF]), named, measurements)
        found.append((turn[str(named["run_id"])], key, repeats))
    return {
        (key, int(size)): float(time_us)
        for _, key, repeats in sorted(found, key=lambda one: one[0])
        for size, time_us in zip(repeats.size_bytes, repeats.medians_us()[0], strict=True)
    }


def _measured(
    samples: pd.DataFrame, measurements: Measurements
) -> Iterator[tuple[dict[str, Any], _Key, Repeats]]:
    """Yield each measured curve over its launches. They also agree in what no label says."""
    identity = identity_columns(samples)
    passes = pass_medians(samples, identity)
    run_ids = passes["run_id"].astype(str)
    where = {run: str(_ranks_and_options(run, measurements)) for run in set(run_ids)}
    same = [name for name in identity if name != "run_id"]
    for named, repeats in repeats_by(passes.assign(_where=run_ids.map(where)), [*same, "_where"]):
        links = links_of(named.get("environ"), named.get("mpi"))
        run = {**named, "run_id": repeats.runs[0]}
        yield named, _key(simulated_name(named.get("site")), links, run, measurements), repeats


def _key(
    simulated_site: str, links: str, run: Mapping[str, Any], measurements: Measurements
) -> _Key:
    placement, kernel, mode = (run.get(name) for name in ("placement", "kernel", "mode"))
    where = _ranks_and_options(run["run_id"], measurements)
    word = None if placement is None else one_word(placement)
    return _Key(simulated_site, links, word, kernel, mode, *where)


def _ranks_and_options(
    run_id: object, measurements: Measurements
) -> tuple[tuple[int, ...], str, str]:
    """Return the node of each rank of a run, the same as a map, and the kernel's own options."""
    header, _ = measurements.facts(str(run_id))
    layout = layout_of(header)
    return layout.nodes, layout.process_map, str(options_of(header))
