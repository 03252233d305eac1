"""`python -m headrace.cli`: the `headrace` command."""

from headrace.cli import main

main()
