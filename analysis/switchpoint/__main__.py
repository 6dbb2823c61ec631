"""The `switchpoint` command, for `python -m switchpoint`."""

from switchpoint.cli import main

main()
