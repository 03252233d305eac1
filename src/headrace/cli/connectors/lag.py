"""`headrace connectors lag`: how far a connector is behind, by partition."""

from __future__ import annotations

from typing import Annotated

import typer

from headrace.cli.connectors import options, tables


def lag(
    name: options.Name,
    freshness: Annotated[
        bool, typer.Option("--freshness/--no-freshness", help="With times, for which records of the source are read.")
    ] = True,
    url: options.Url = options.DEFAULT_URL,
    as_json: options.AsJson = False,
) -> None:
    """Show how many records, and how much time, each partition of a Kafka source, a mirror or a sink's group is behind.

    A partition is as far as it is delivered and its offset stored. Its freshness is the age of the oldest record that is not.
    """
    query = {} if freshness else {"freshness": "false"}
    response = options.connect(url).call("GET", "headrace", "connectors", name, "lag", query=query)
    if as_json:
        typer.echo(response.text)
        return
    lag = response.object
    tables.show(tables.lag(lag), tables.lag_of_all(lag))
