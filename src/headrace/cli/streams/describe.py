"""`headrace streams describe`: the topology as Kafka Streams describes it."""

from __future__ import annotations

import typer

from headrace.cli.streams import application


def describe(app: application.App, config: application.ConfigFile = None, set_: application.Settings = None) -> None:
    """Print the topology as Kafka's `Topology.describe()` does; no cluster is asked."""
    topology, _ = application.load(app, config, set_, draft=True)
    typer.echo(topology.describe(), nl=False)
