"""The error of a request that the testbed cannot fulfil, in one line.

The command prints it without a traceback and exits with 2.
"""


class TestbedError(Exception):
    """A problem of the request or of the machine, in one line that names the fix."""
