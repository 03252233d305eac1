"""Progress of a command on standard error, so that standard output is what the command is for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console


@contextmanager
def progress(first: str) -> Iterator[Callable[[str], None]]:
    """Show what is being done while the block runs: a line that changes on a terminal, a line for each step elsewhere.

    Yields the function that says what comes next.
    """
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield lambda text: console.print(text, markup=False, soft_wrap=True)
        return
    with console.status(first) as status:
        yield status.update
