"""Compares our ping-pong with the baselines OSU, IMB and NetPIPE of the same site and MPI.

A baseline is compared with our mode that exchanges messages in the same pattern.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from switchpoint.comparison.methods import MESSAGES, PEERS, USUAL_WINDOW, WINDOW
from switchpoint.tables.measurements import Measurements

#: Sizes that are compared.
SIZES = [8, 1024, 64 * 1024, 1024 * 1024]

_OURS = "pingpong"
_RESAMPLES = 2000
_SEED = 20261121

#: What two curves must share to be compared. A baseline may not know its partition or environment.
_PLACE = ["site", "mpi", "placement"]


@dataclass
class Pairing:
    """Curves that exchange messages in one pattern at one site with one MPI.

    Attributes
    ----------
    place : dict of str to str
        `site` and `mpi`.
    mode : str
        Our mode, which names the pattern.
    samples : DataFrame
        Samples of our curve and of the baselines, at each placement that both have.
    """

    place: dict[str, str]
    mode: str
    samples: pd.DataFrame


def pairings(measurements: Measurements) -> list[Pairing]:
    """Find what can be compared: each pattern at each site and MPI that both sides measured."""
    samples = _with_known_mpi(measurements.samples)
    if not {*_PLACE, "kernel", "mode"} <= set(samples):
        return []
    samples = samples.assign(**{WINDOW: _windows(samples)})
    pairs = []
    for mode, peers in PEERS.items():
        ours = samples["kernel"].eq(_OURS) & samples["mode"].eq(mode)
        theirs = samples["kernel"].isin(peers)
        if "processes" in samples:  # IMB may print a table for each number of processes
            theirs &= samples["processes"].isna() | samples["processes"].eq("2")
        alike = [*_PLACE, WINDOW]
        places = samples.loc[ours, alike].drop_duplicates().dropna()
        shared = places.merge(samples.loc[theirs, alike].drop_duplicates())
        for (site, mpi, window), rows in shared.groupby(["site", "mpi", WINDOW], observed=True):
            place = {"site": str(site), "mpi": str(mpi)}
            at = samples["site"].eq(place["site"]) & samples["mpi"].eq(place["mpi"])
            at &= samples["placement"].isin(rows["placement"]) & samples[WINDOW].eq(str(window))
            part = samples[at & (ours | theirs)].reset_index(drop=True)
            ours_first = [_OURS, *peers]
            part["kernel"] = pd.Categorical(part["kernel"].astype(str), ours_first)
            part["time_us"] /= part["kernel"].astype("object").map(MESSAGES).fillna(1).astype(float)
            pairs.append(Pairing(place, mode, part))
    return pairs


def baseline_runs(pairings: list[Pairing]) -> set[str]:
    """Runs of the baselines that are compared."""
    return {
        str(run)
        for pairing in pairings
        for run in pairing.samples.loc[pairing.samples["kernel"].ne(_OURS), "run_id"].unique()
    }


def ratios(pairing: Pairing) -> pd.DataFrame:
    """Divide our time by each baseline's, per placement and size.

    Returns
    -------
    DataFrame
        `placement`, `kernel` (the baseline's), `size_bytes`, `ratio` of the medians of passes'
        medians, `low` and `high`, its 95 % bootstrap interval over the passes of both sides (a
        side with a single pass, such as a tool that prints one number, is taken as exact), and
        `our_passes` and `their_passes`.
    """
    rows = []
    chosen = pairing.samples[pairing.samples["size_bytes"].isin(SIZES)]
    units = (
        chosen.groupby(["placement", "kernel", "size_bytes", "run_id", "pass"], observed=True)
        .agg(time_us=("time_us", "median"))
        .reset_index()
    )
    for (placement, size), part in units.groupby(["placement", "size_bytes"], observed=True):
        ours = part.loc[part["kernel"].eq(_OURS), "time_us"].to_numpy(dtype=float)
        if not len(ours):
            continue
        for kernel, theirs in part[part["kernel"].ne(_OURS)].groupby("kernel", observed=True):
            times = theirs["time_us"].to_numpy(dtype=float)
            low, high = _interval(ours, times)
            rows.append(
                {
                    "placement": str(placement), "kernel": str(kernel), "size_bytes": size,
                    "ratio": float(np.median(ours) / np.median(times)), "low": low, "high": high,
                    "our_passes": len(ours), "their_passes": len(times),
                }
            )  # fmt: skip
    columns = [
        "placement", "kernel", "size_bytes", "ratio", "low", "high", "our_passes", "their_passes"
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


def _interval(
    ours: npt.NDArray[np.float64], theirs: npt.NDArray[np.float64]
) -> tuple[float, float]:
    """95 % bootstrap interval of the ratio of medians (Efron and Tibshirani 1993, chapter 13)."""
    random = np.random.default_rng(_SEED)
    medians = [
        np.median(side[random.integers(0, len(side), (_RESAMPLES, len(side)))], axis=1)
        for side in (ours, theirs)
    ]
    low, high = np.quantile(medians[0] / medians[1], [0.025, 0.975])
    return float(low), float(high)


def _windows(samples: pd.DataFrame) -> pd.Series:
    """Return the messages in flight of each sample. Modes that do not stream all have the same."""
    if WINDOW not in samples:
        return pd.Series(USUAL_WINDOW, index=samples.index)
    return samples[WINDOW].astype("object").fillna(USUAL_WINDOW)


def _with_known_mpi(samples: pd.DataFrame) -> pd.DataFrame:
    """Fill in a baseline's MPI if all our runs at its site and in its environment used the same."""
    if not {"site", "environ", "mpi"} <= set(samples) or not samples["mpi"].isna().any():
        return samples
    known = samples.loc[samples["mpi"].notna(), ["site", "environ", "mpi"]].drop_duplicates()
    sure = known.dropna().astype(str).drop_duplicates(["site", "environ"], keep=False)
    places = samples[["site", "environ"]].astype("object").merge(sure, how="left")
    filled = samples["mpi"].astype("object").where(samples["mpi"].notna(), places["mpi"].to_numpy())
    return samples.assign(mpi=pd.Categorical(filled))
