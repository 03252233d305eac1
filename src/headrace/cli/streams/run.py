"""`headrace streams run`: runs an application until it is stopped."""

from __future__ import annotations

import threading
from typing import Annotated

import typer

from headrace.cli.streams import application
from headrace.signals import stop_on_signals


def run(
    app: application.App,
    config: application.ConfigFile = None,
    set_: application.Settings = None,
    metrics: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Serve metrics for Prometheus there; without HOST on every interface.")
    ] = None,
    await_init: Annotated[
        bool, typer.Option("--await-init", help="Wait until its internal topics are initialized, then start (KIP-698).")
    ] = False,
) -> None:
    """Run an application until it is stopped (Ctrl-C); further instances of it stand by, and take over when it is gone."""
    from headrace.runtime import logs
    from headrace.streams.exposition import StreamsCollector, serve_metrics
    from headrace.streams.states import State

    logs.configure()
    streams = application.streams(app, config, set_)
    signalled = threading.Event()
    stop_on_signals(signalled)

    def changed(new: State, old: State) -> None:
        typer.echo(f"{old} -> {new}")
        if new is State.ERROR:
            signalled.set()

    with serve_metrics(StreamsCollector(streams.config.application_id, streams), metrics):
        streams.set_state_listener(changed)
        if not await_init or streams.await_initialization(stopping=signalled):
            streams.start()
            signalled.wait()
        streams.close()
    if streams.error is not None:
        raise streams.error
