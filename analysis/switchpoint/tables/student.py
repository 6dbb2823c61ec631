"""Student's t distribution, for intervals over few launches and tests over few nights."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from switchpoint.tables.sweeps import Floats

#: The 97.5 % quantile for 1 to 30 degrees of freedom (Student 1908; tables of Fisher and Yates).
_T975 = np.array(
    [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
     2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
     2.052, 2.048, 2.045, 2.042]
)  # fmt: skip

#: The same of a normal distribution, for infinitely many.
_NORMAL = 1.960

#: Standard deviation over median absolute deviation, of normal values.
SD_PER_MAD = 1.4826


def t975(freedom: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the 97.5 % quantile of Student's t, so that plus and minus it hold 95 %.

    Parameters
    ----------
    freedom
        Degrees of freedom, one or more; need not be whole numbers. Between two entries of the
        table the quantile is linear in one over them, within 0.5 % of the true one from 2 on.

    >>> t975([2, 10, 1e9]).round(2).tolist()
    [4.3, 2.23, 1.96]
    """
    known = np.r_[0.0, 1 / np.arange(len(_T975), 0, -1)]
    return np.interp(1 / np.asarray(freedom, dtype=float), known, np.r_[_NORMAL, _T975[::-1]])


def normal_deviate(t: Floats, freedom: Floats) -> Floats:
    """Convert values of Student's t to normal deviates of the same probability.

    Wallace (1959), Annals of Mathematical Statistics 30(4), p. 1124, exact to 0.03 in the deviate
    from 3 degrees of freedom on.
    """
    factor = (8 * freedom + 1) / (8 * freedom + 3)
    return np.asarray(np.sign(t) * factor * np.sqrt(freedom * np.log1p(t**2 / freedom)))


def probability(z: Floats) -> Floats:
    """Return the two-sided probability of normal deviates; 1 for NaN."""
    values = [1.0 if math.isnan(one) else math.erfc(abs(one) / math.sqrt(2)) for one in z.tolist()]
    return np.array(values)
