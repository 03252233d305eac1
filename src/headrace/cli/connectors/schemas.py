"""`headrace connectors schemas`: the schemas of a registry that a connector reads and writes."""

from __future__ import annotations

import typer

from headrace.cli.connectors import options, tables


def schemas(name: options.Name, url: options.Url = options.DEFAULT_URL, as_json: options.AsJson = False) -> None:
    """Show which schemas of a registry the running tasks of a connector have read and written, and since when."""
    response = options.connect(url).call("GET", "headrace", "connectors", name, "schemas")
    if as_json:
        typer.echo(response.text)
        return
    options.say_not_reached(response.object, "What its tasks there use is missing.")
    tables.show(tables.schemas(response.object))
