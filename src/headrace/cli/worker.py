"""`headrace worker`: a worker of a group."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

WorkerFile = Annotated[
    Path,
    typer.Argument(metavar="FILE", exists=True, dir_okay=False, readable=True, help="A worker.properties file of Kafka Connect."),
]


OptionalWorkerFile = Annotated[
    Path | None,
    typer.Argument(metavar="FILE", exists=True, dir_okay=False, readable=True, help="A worker.properties file of Kafka Connect."),
]
FromEnv = Annotated[
    bool,
    typer.Option(
        "--from-env",
        help="Take settings from environment variables, too: CONNECT_GROUP_ID is group.id (`_` a dot, `__` an underscore, "
        "`___` a hyphen), HEADRACE_PROPERTIES the text of a properties file. They win over FILE.",
    ),
]


def worker(file: OptionalWorkerFile = None, from_env: FromEnv = False) -> None:
    """Run a distributed worker, configured by a worker.properties file of Kafka Connect.

    Keys that begin with `spark.` go to Spark. It runs until Ctrl-C. Its log goes to standard error; `HEADRACE_LOG_LEVEL` (INFO)
    is the level. Standard output is one line, once it takes requests: `rest=http://…`.
    """
    from headrace.config import environment
    from headrace.runtime import logs, spark_start

    level = environment.log_level(os.environ) if from_env and not os.environ.get("HEADRACE_LOG_LEVEL") else None
    logs.configure(level=level)
    properties = read_settings(file, from_env)
    spark_start.start_early(properties)  # beside the import of the rest

    from headrace.worker_process import run_distributed

    run_distributed(properties, ready=say_ready)


def read_settings(file: Path | None, from_env: bool) -> dict[str, str]:
    """A worker's properties, of a file, of the environment, or of both. Raises ConfigError; BadParameter without any."""
    if file is None and not from_env:
        raise typer.BadParameter(
            "name a worker file, or take the settings from the environment with --from-env.", param_hint="FILE"
        )
    from headrace.config import environment, load_properties

    properties = dict(load_properties(file)) if file else {}
    return properties | (environment.worker_properties(os.environ) if from_env else {})


def say_ready(url: str) -> None:
    """Print where the REST API listens, on standard output, for scripts that wait for it."""
    typer.echo(f"rest={url}")


def say_ready_with_page(url: str) -> None:
    """The same, and where the operator's page is, for people."""
    say_ready(url)
    typer.echo(f"page={url.rstrip('/')}/ui")
