"""A worker whose Spark is started by what needs it: `python -m tests.conformance.worker PROPERTIES`.

`headrace worker` starts Spark at once, so that the first task does not wait for it. Most of what a worker's start costs is that,
and a scenario without tasks has nothing of it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from headrace.config import load_properties
from headrace.runtime import logs
from headrace.worker_process import run_distributed


def main(file: str) -> None:
    """Run until SIGTERM."""
    logs.configure()
    run_distributed(load_properties(Path(file)), starts_spark=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
