"""`headrace connectors figures`: records per second and ages of a connector, now and in the last hour."""

from __future__ import annotations

from typing import Annotated

import typer

from headrace.cli.connectors import options, tables


def figures(
    name: options.Name,
    points: Annotated[
        int, typer.Option("--lines", "-n", min=1, max=360, metavar="N", help="How many samples at most, one every 10 s.")
    ] = 30,
    url: options.Url = options.DEFAULT_URL,
    as_json: options.AsJson = False,
) -> None:
    """Show the records per second of a connector, and how old they were when they were copied, in the last hour.

    A worker that does not answer is named on standard error, and what the others measure is shown.
    """
    response = options.connect(url).call("GET", "headrace", "connectors", name, "figures", query={"points": points})
    if as_json:
        typer.echo(response.text)
        return
    options.say_not_reached(response.object, "What its tasks there measure is missing.")
    tables.show(tables.figures(response.object), tables.figures_now(response.object))
