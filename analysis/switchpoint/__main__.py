"""The `switchpoint` command, also for `python -m switchpoint`."""

import signal


def main() -> None:
    """Run the command. If Ctrl-C comes before it is loaded, it ends without a traceback too."""
    as_usual = signal.signal(signal.SIGINT, signal.SIG_DFL)
    from switchpoint.cli.streams import check_streams, failures_in_words

    check_streams()
    with failures_in_words():
        from switchpoint.cli.command import run

        signal.signal(signal.SIGINT, as_usual)
        run()


if __name__ == "__main__":
    main()
