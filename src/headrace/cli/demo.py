"""`headrace demo`: the main job on two embedded clusters."""

from __future__ import annotations

import shutil
import tempfile
import threading
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from headrace.signals import stop_on_signals


def demo(
    leave: Annotated[bool, typer.Option("--exit", help="End when everything has been compared, instead of at Ctrl-C.")] = False,
) -> None:
    """Mirror real data between two embedded Kafka clusters, and prove that every record arrived.

    It starts two clusters and a worker, loads all flights that left New York in 2013 with the weather, creates a mirror over the
    REST API, and compares source and copy by counts and a checksum. Exit status 0: everything matched.
    """
    from headrace.demo.run import run
    from headrace.runtime import logs

    stop = threading.Event()
    stop_on_signals(stop)
    scratch = Path(tempfile.mkdtemp(prefix="headrace-demo-"))
    try:
        with (scratch / "worker.log").open("w", encoding="utf-8") as log:
            logs.configure(log)
            if not run(Console(), scratch, leave, stop):
                raise typer.Exit(1)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
