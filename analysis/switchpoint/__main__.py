"""The `switchpoint` command, for `python -m switchpoint`."""

from switchpoint.cli.command import main

main()
