"""`headrace connectors history` and `headrace audit`: what happened to a connector, and who changed what."""

from __future__ import annotations

from typing import Annotated

import typer

from headrace.cli.connectors import options, tables

Lines = Annotated[int, typer.Option("--lines", "-n", min=0, metavar="N", help="How many at most.")]
Before = Annotated[
    str, typer.Option("--before", metavar="TIME", help="Those before a time, as `before` in the --json of newer ones.")
]


def history(
    name: options.Name,
    lines: Lines = 50,
    before: Before = "",
    url: options.Url = options.DEFAULT_URL,
    as_json: options.AsJson = False,
) -> None:
    """Show the states that a connector and its tasks went through, with the causes of failures."""
    response = options.connect(url).call(
        "GET", "headrace", "connectors", name, "history", query={"lines": lines, "before": before}
    )
    if as_json:
        typer.echo(response.text)
    elif response.object["entries"]:
        tables.show(tables.history(response.object))
    else:
        typer.echo("No change of its state is known.")


def audit(
    lines: Lines = 50,
    connector: Annotated[str, typer.Option("--connector", metavar="NAME", help="Of this connector only.")] = "",
    user: Annotated[str, typer.Option("--user", metavar="USER", help="By this user only.")] = "",
    before: Before = "",
    url: options.Url = options.DEFAULT_URL,
    as_json: options.AsJson = False,
) -> None:
    """Show who changed what over REST or the page: when, from where, with which result."""
    query = {"lines": lines, "connector": connector, "user": user, "before": before}
    response = options.connect(url).call("GET", "headrace", "audit", query=query)
    if as_json:
        typer.echo(response.text)
    elif response.object["entries"]:
        tables.show(tables.audit(response.object))
    else:
        typer.echo("No change is known.")
