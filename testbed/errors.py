"""What the testbed says when it cannot do what was asked: one line for a person.

The command prints it without a traceback and exits with 2.
"""


class TestbedError(Exception):
    """A fault of the request or of the machine, in one line that names the fix."""
