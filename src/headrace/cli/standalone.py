"""`headrace standalone`: one worker by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headrace.cli.worker import WorkerFile, say_ready

ConnectorFiles = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="CONNECTOR", exists=True, dir_okay=False, readable=True, help="Connectors to create, .json or .properties."
    ),
]


def standalone(file: WorkerFile, connectors: ConnectorFiles = None) -> None:
    """Run a worker by itself, with connectors from files; its offsets are kept in a file, not in Kafka.

    Otherwise like `headrace worker`. More connectors can be created over its REST API.
    """
    from headrace.config import load_properties
    from headrace.runtime import logs
    from headrace.worker_process import run_standalone

    logs.configure()
    run_standalone(load_properties(file), connectors or [], ready=say_ready)
