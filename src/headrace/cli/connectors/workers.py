"""`headrace workers`: the workers of the group, and what each of them does."""

from __future__ import annotations

import typer

from headrace.cli.connectors import options, tables
from headrace.cli.connectors.texts import plain


def workers(url: options.Url = options.DEFAULT_URL, as_json: options.AsJson = False) -> None:
    """Show the workers of the group, what each of them runs, and which do not answer."""
    response = options.connect(url).call("GET", "headrace", "workers")
    if as_json:
        typer.echo(response.text)
        return
    tables.show(tables.workers(response.object))
    if response.object["problem"]:
        typer.echo(plain(response.object["problem"]), err=True)
