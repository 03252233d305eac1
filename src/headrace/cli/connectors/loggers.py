"""`headrace connectors loggers show` and `set`: the log levels of a worker, or of all of them (KIP-495, KIP-976)."""

from __future__ import annotations

from typing import Annotated

import typer

from headrace.cli.connectors import options, tables
from headrace.cli.connectors.texts import plain

group = typer.Typer(no_args_is_help=True, help="Show or set the log levels of workers.")

Logger = Annotated[str, typer.Argument(metavar="LOGGER", help="Its name; what is below it follows. `root` is all.")]


@group.command("show")
def show(
    logger: Annotated[str | None, typer.Argument(metavar="LOGGER", help="Only this one.")] = None,
    url: options.Url = options.DEFAULT_URL,
    as_json: options.AsJson = False,
) -> None:
    """Show the level of each logger of this worker, and when it was changed."""
    response = options.connect(url).call("GET", "admin", "loggers", *([logger] if logger else []))
    if as_json:
        typer.echo(response.text)
    else:
        tables.show(tables.loggers({logger: response.json} if logger else response.json))


@group.command("set")
def set_(
    logger: Logger,
    level: Annotated[str, typer.Argument(metavar="LEVEL", help="TRACE, DEBUG, INFO, WARN, ERROR, FATAL or OFF.")],
    cluster: Annotated[bool, typer.Option("--cluster", help="On every worker, not on this one alone.")] = False,
    url: options.Url = options.DEFAULT_URL,
    as_json: options.AsJson = False,
) -> None:
    """Set the level of a logger and those below it, until the worker ends."""
    query = {"scope": "cluster" if cluster else "worker"}
    response = options.connect(url).call("PUT", "admin", "loggers", logger, query=query, body={"level": level})
    where = "every worker" if cluster else f"{len(response.json)} logger(s) of this worker"
    options.say(response, as_json, f"The level of {plain(logger)} is {plain(level.upper())} now, for {where}.")
