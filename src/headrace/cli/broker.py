"""`headrace broker`: a real single-node Kafka in the foreground."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Annotated

import typer

from headrace.cli.progress import progress
from headrace.cli.settings import setting
from headrace.signals import stop_on_signals

_POLL_INTERVAL_S = 0.5
"""How soon the end of a broker that nobody stopped is noticed."""

PortOption = Annotated[int, typer.Option(min=0, max=65535, metavar="N", help="Port on 127.0.0.1; 0 takes a free one.")]
DataOption = Annotated[
    Path | None,
    typer.Option(
        file_okay=False, metavar="DIR", help="Keep the data there, and take up what is there. Without it nothing is kept."
    ),
]


def broker(
    port: PortOption = 9092,
    data: DataOption = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A setting of server.properties; may be repeated.")
    ] = None,
) -> None:
    """Run a real single-node Kafka for development and tests.

    It listens on 127.0.0.1 only and runs until Ctrl-C. Standard output is one line: `bootstrap.servers=127.0.0.1:9092`.
    """
    from headrace.embedded import Broker

    settings = dict(map(setting, set_ or []))
    stop = threading.Event()
    kafka = Broker(port, data, settings)
    with progress("starting Kafka") as report:
        kafka.start(report)
    try:
        stop_on_signals(stop)
        typer.echo(f"bootstrap.servers={kafka.bootstrap}")
        storage = f"its data and log are kept in {kafka.data}" if data else "nothing is kept"
        typer.echo(f"Kafka is ready; {storage}. Ctrl-C stops it.", err=True)
        while not stop.wait(_POLL_INTERVAL_S):
            kafka.check()
    finally:
        kafka.stop()
