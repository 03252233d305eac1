"""`headrace streams run`: an application at work, until it is told to end."""

from __future__ import annotations

import threading

import typer

from headrace.cli.streams import application
from headrace.signals import stop_on_signals


def run(app: application.App, config: application.ConfigFile = None, set_: application.Settings = None) -> None:
    """Run an application until it is told to end (Ctrl-C); further instances of it stand by, and take over when it is gone."""
    from headrace.streams.states import State

    streams = application.streams(app, config, set_)
    told = threading.Event()
    stop_on_signals(told)

    def changed(new: State, old: State) -> None:
        typer.echo(f"{old} -> {new}")
        if new is State.ERROR:
            told.set()

    streams.set_state_listener(changed)
    streams.start()
    told.wait()
    streams.close()
    if streams.error is not None:
        raise streams.error
