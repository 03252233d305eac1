"""`headrace connectors plugins`: what a worker can run, and the options of each (KIP-769)."""

from __future__ import annotations

from typing import Annotated

import typer

from headrace.cli.connectors import options, tables

Plugin = Annotated[
    str | None,
    typer.Argument(metavar="PLUGIN", help="A class, or its short name: show its options."),
]
All = Annotated[bool, typer.Option("--all", help="Transforms, predicates and converters, too.")]


def plugins(
    plugin: Plugin = None,
    every: All = False,
    url: options.Url = options.DEFAULT_URL,
    as_json: options.AsJson = False,
) -> None:
    """List the connectors that a worker has, or the options of one plugin of any kind."""
    if every and plugin is not None:
        raise typer.BadParameter("goes without PLUGIN.", param_hint="'--all'")
    client = options.connect(url)
    if plugin is None:
        response = client.call("GET", "connector-plugins", query={"connectorsOnly": str(not every).lower()})
    else:
        response = client.call("GET", "connector-plugins", plugin, "config")
    if as_json:
        typer.echo(response.text)
    else:
        tables.show((tables.plugins if plugin is None else tables.definitions)(response.json))
