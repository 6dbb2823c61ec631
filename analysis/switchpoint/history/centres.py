"""The centre of some values: their mean, to which those far off add no more than others.

Huber (1964), Annals of Mathematical Statistics 35(1), pp. 73-101, in one step from the median. A
mean scatters less than a median, above all where values have two levels; a few that are far off
change a median less.
"""

from __future__ import annotations

import numpy as np

from switchpoint.tables.sweeps import Floats

#: A value further from the middle than this many standard deviations counts as if it were so far.
_REACH = 1.5

#: Variance of such a centre over that of a mean, of normal values.
CENTRE_VARIANCE = 1.04


def near(off: Floats, deviation: Floats) -> Floats:
    """Return how far values are from their median, but no further than what counts.

    The median and the mean of these is the centre.

    Parameters
    ----------
    off : array of float
        How far each value is from the median.
    deviation : array of float
        Their standard deviation, of the same shape or to be repeated; NaN if it is not known, and
        the median is the centre then.
    """
    reach = np.nan_to_num(_REACH * deviation)
    return np.asarray(np.clip(off, -reach, reach))
