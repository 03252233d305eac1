"""`python -m benchmarks.run [NAME …]`: run all benchmarks, or those named."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Sequence

from rich.console import Console

from benchmarks import mirror, monitor, page, scale
from benchmarks.cpu import adopt_orphans
from benchmarks.formats import bench as formats
from benchmarks.many import bench as many
from benchmarks.options import Options
from benchmarks.plugins import bench as plugins
from benchmarks.process import BenchmarkError
from benchmarks.soak import bench as soak
from benchmarks.streams import bench as streams
from benchmarks.transforms import bench as transforms
from benchmarks.workers import bench as workers
from headrace.errors import HeadraceError

BENCHMARKS: dict[str, Callable[[Options, Console], None]] = {
    "mirror": mirror.run,
    "streams": streams.run,
    "streams-latency": streams.run_latency,
    "transforms": transforms.run,
    "formats": formats.run,
    "workers": workers.run,
    "monitor": monitor.run,
    "scale": scale.run,
    "many": many.run,
    "plugins": plugins.run,
    "page": page.run,
    "soak": soak.run,
}
UNNAMED = tuple(name for name in BENCHMARKS if name != "soak")
"""What runs if none is named: a soak measures nothing, and takes its time."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks that the command line names and return the exit status: 0, or 1 if one could not finish."""
    parser = _parser()
    given = parser.parse_args(arguments)
    if unknown := set(given.names) - set(BENCHMARKS):
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}; there are: {', '.join(BENCHMARKS)}")
    rounds = given.rounds or (1 if given.quick else 2)
    options = Options(given.quick, rounds, given.only, tuple(given.sizes), given.minutes, given.seed)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped by SIGTERM"))  # as Ctrl-C: all that runs is stopped
    adopt_orphans()
    console = Console(width=None if sys.stdout.isatty() else 140)
    failed = False
    for name in given.names or UNNAMED:
        try:
            BENCHMARKS[name](options, console)
        except (BenchmarkError, HeadraceError) as error:
            console.print(f"[bold red]{name}:[/] ", end="")
            console.print(str(error), markup=False, highlight=False)
            failed = True
    return int(failed)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks.run", description=__doc__)
    parser.add_argument("names", metavar="NAME", nargs="*", help=f"one of {', '.join(BENCHMARKS)}; none: all but soak")
    parser.add_argument("--quick", action="store_true", help="small counts, one round, nothing saved: to see that it works")
    parser.add_argument("--rounds", type=int, help="how often each side is measured, in turns (default 2)")
    parser.add_argument("--only", choices=["ours", "peer"], help="measure one side alone; saves nothing")
    parser.add_argument("--sizes", type=int, nargs="+", default=[], help="connectors of many, keys of streams-latency")
    parser.add_argument("--minutes", type=float, default=20, help="how long a soak lasts (default 20)")
    parser.add_argument("--seed", type=int, help="the order of a soak's faults (`method.seed` of its results)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
