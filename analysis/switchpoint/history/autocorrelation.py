"""How alike neighbouring nights are, and how little their mean then says.

Nights follow each other as an autoregressive process of first order: a night is like the one before
it, and the less like another the further back that is.
"""

from __future__ import annotations

import numpy as np

from switchpoint.tables.sweeps import Floats, Indices

#: No correlation is larger.
MOST = 0.9


def correlation(past: Floats, centre: Floats, stratum: Indices) -> Floats:
    """Return the correlation of each series' neighbouring nights, from 0 to 0.9.

    It is that of all similar series, and its standard error more: few nights do not tell it well.

    Parameters
    ----------
    past : array of float, shape (series, nights)
        NaN where there is no night.
    centre : array of float, shape (series,)
        Of the nights that were not disturbed.
    stratum : array of int, shape (series,)
        Series with the same number are similar.
    """
    off = np.nan_to_num(past - centre[:, None])
    length = np.sqrt((off**2).sum(axis=1, keepdims=True))
    off /= np.where(length > 0, length, 1)  # series count alike, however much they scatter
    products = (off[:, 1:] * off[:, :-1]).sum(axis=1)
    squares = (off**2).sum(axis=1)
    found = np.zeros(len(past))
    for one in np.unique(stratum):
        here = stratum == one
        total = squares[here].sum()
        found[here] = products[here].sum() / total if total > 0 else 0.0
        found[here] += 1 / np.sqrt(max(np.isfinite(past[here]).sum(), 1))
    return np.clip(found, 0.0, MOST)


def variance_of_mean(correlated: Floats, nights: int) -> Floats:
    """Return the variance of the mean of so many neighbouring nights over that of one night."""
    back = np.arange(1, nights)
    together = (1 - back / nights) * correlated[:, None] ** back
    return np.asarray((1 + 2 * together.sum(axis=1)) / nights)


def variance_of_centre(correlated: Floats) -> Floats:
    """Return the variance of the centre of many nights over what it is of independent ones."""
    return (1 + correlated) / (1 - correlated)
