"""`headrace worker`: a worker of a group."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

WorkerFile = Annotated[
    Path,
    typer.Argument(metavar="FILE", exists=True, dir_okay=False, readable=True, help="A worker.properties file of Kafka Connect."),
]


def worker(file: WorkerFile) -> None:
    """Run a distributed worker, configured by a worker.properties file of Kafka Connect.

    Keys that begin with `spark.` go to Spark. It runs until Ctrl-C. Its log goes to standard error; `HEADRACE_LOG_LEVEL` (INFO)
    is the level. Standard output is one line, once it takes requests: `rest=http://…`.
    """
    from headrace.config import load_properties
    from headrace.runtime import logs
    from headrace.worker_process import run_distributed

    logs.configure()
    run_distributed(load_properties(file), ready=say_ready)


def say_ready(url: str) -> None:
    """Print where the REST API listens, on standard output, for scripts that wait for it."""
    typer.echo(f"rest={url}")


def say_ready_with_page(url: str) -> None:
    """The same, and where the operator's page is, for people."""
    say_ready(url)
    typer.echo(f"page={url.rstrip('/')}/ui")
