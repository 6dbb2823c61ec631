"""What of the normal distribution and of Student's t several stages need."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

#: Standard deviation over median absolute deviation, of normal values.
SD_PER_MAD = 1.4826


def t975(freedom: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the 97.5 % quantile of Student's t, so that plus and minus it hold 95 %.

    >>> t975([2, 10, 1e9]).round(2).tolist()
    [4.3, 2.23, 1.96]
    """
    from scipy.special import stdtrit  # it takes a while to load, and few verbs need it

    return np.asarray(stdtrit(np.asarray(freedom, dtype=float), 0.975))
