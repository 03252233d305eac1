"""What the command line of `python -m benchmarks.run` says."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """What to run.

    `quick`: small counts, nothing saved. `rounds`: how often each side is measured, in turns. `only`: `ours`, `peer`, or
    None for both.
    """

    quick: bool = False
    rounds: int = 2
    only: str | None = None
