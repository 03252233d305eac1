"""The `headrace` command: one module per command, put together in `app`."""

from __future__ import annotations


def main() -> None:
    """Run the command line of this process; ends the process with status 0, 1 for an error of headrace, 2 for wrong usage."""
    from headrace.cli.app import run  # here, so that headrace.cli's other modules load without the command line's libraries

    run()
