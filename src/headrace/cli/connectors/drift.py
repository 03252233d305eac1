"""`headrace topics drift`: whether topics still are as the rules say that created them."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from headrace.cli.connectors import options, tables
from headrace.cli.connectors.texts import plain
from headrace.errors import RestError

group = typer.Typer(no_args_is_help=True, help="Topics of connectors, compared with their rules.")


@group.callback()
def topics() -> None:
    """Topics of connectors, compared with their rules."""


@group.command("drift")
def drift(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME…]", help="Connectors; all connectors without any.")] = None,
    url: options.Url = options.DEFAULT_URL,
    as_json: options.AsJson = False,
) -> None:
    """Show how topics differ from the `topic.creation.` rules of their connectors (KIP-158); exit status 1 if any does.

    A connector whose cluster does not answer is named on standard error, and the others are shown.
    """
    client = options.connect(url)
    chosen = names or sorted(client.call("GET", "connectors").json)
    differences, silent = [], False
    for name in chosen:
        try:
            response = client.call("GET", "headrace", "connectors", name, "topics", "drift").object
            differences += [{"connector": name, **difference} for difference in response["drift"]]
        except RestError as error:
            silent = True
            typer.echo(f"{plain(name)}: {error.message}", err=True)
    if as_json:
        typer.echo(json.dumps({"drift": differences}, ensure_ascii=False))
    elif differences:
        tables.show(tables.drift(differences))
    elif not silent:
        typer.echo("Every topic is as its rule says.")
    if differences or silent:
        raise typer.Exit(1)
