"""What the command line of `python -m benchmarks.run` says."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """What to run.

    `quick`: small counts, nothing saved. `rounds`: how often each side is measured, in turns. `only`: `ours`, `peer`, or
    None for both. `sizes`: those that `many` (connectors) and `streams-latency` (keys) measure; none: their own.
    `minutes`, `seed`: how long a soak lasts, and what makes its order of faults (None: the time).
    """

    quick: bool = False
    rounds: int = 2
    only: str | None = None
    sizes: tuple[int, ...] = ()
    minutes: float = 20
    seed: int | None = None
