"""`headrace lineage`: where data comes from and goes to."""

from __future__ import annotations

from typing import Annotated

import typer

from headrace.cli.connectors import options, tables
from headrace.errors import NotFoundError


def lineage(
    connector: Annotated[str, typer.Option("--connector", metavar="NAME", help="What this connector reaches.")] = "",
    topic: Annotated[str, typer.Option("--topic", metavar="TOPIC", help="What this topic reaches.")] = "",
    application: Annotated[str, typer.Option("--application", metavar="ID", help="What this streams application reaches.")] = "",
    columns: Annotated[bool, typer.Option("--columns", help="Of which columns the columns of records are made.")] = False,
    dot: Annotated[bool, typer.Option("--dot", help="For Graphviz.")] = False,
    mermaid: Annotated[bool, typer.Option("--mermaid", help="For Mermaid.")] = False,
    url: options.Url = options.DEFAULT_URL,
    as_json: options.AsJson = False,
) -> None:
    """Show which topics connectors and streams applications read and write, and so where data comes from and goes to."""
    if dot + mermaid + as_json > 1:
        raise typer.BadParameter("takes one of --json, --dot and --mermaid.")
    if columns and (dot or mermaid):
        raise typer.BadParameter("takes --columns as a table or with --json.")
    query = {"connector": connector, "topic": topic, "application": application, "columns": str(columns).lower()}
    response = options.connect(url).call("GET", "headrace", "lineage", query=query)
    asked = {"connector": connector, "topic": topic, "application": application}
    names = " or ".join(f"{kind} '{name}'" for kind, name in asked.items() if name)
    if as_json:
        typer.echo(response.text)
    if names and not response.object["nodes"]:
        raise NotFoundError(f"Nothing is known of {names}.")
    if as_json:
        return
    options.say_not_reached(response.object, "Streams applications that report to them, and schemas used there, are missing.")
    if dot or mermaid:
        from headrace.rest.lineage import as_dot, as_mermaid  # here, so that `--help` does not wait for it

        typer.echo((as_dot if dot else as_mermaid)(response.object))
    elif columns:
        tables.show(tables.columns(response.object["columns"]))
    elif response.object["edges"]:
        tables.show(tables.lineage(response.object))
    else:
        typer.echo("No data has flowed through a connector yet.")
