"""Several launches of a check in one session."""

import reframe as rfm
from reframe.core.builtins import parameter


class LaunchesMixin(rfm.RegressionTestPlugin):
    """Runs a check several times in a session.

    List this mixin before the check's other bases: ReFrame then varies the launch last, and runs
    all variants once before any of them runs again.
    """

    #: Number of the launch.
    #:
    #: :type: :class:`int`
    launch = parameter(range(1, 4), type=int, loggable=True)
