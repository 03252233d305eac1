"""`headrace connectors logs`: what the workers have logged about a connector."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from headrace.cli.connectors import options
from headrace.cli.connectors.texts import plain


def logs(
    name: options.Name,
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, max=1000, help="How many entries at most.")] = 200,
    level: Annotated[str, typer.Option("--level", help="The lowest level: DEBUG, INFO, WARN or ERROR.")] = "INFO",
    task: Annotated[int | None, typer.Option("--task", min=0, help="Of this task only.")] = None,
    url: options.Url = options.DEFAULT_URL,
    as_json: options.AsJson = False,
) -> None:
    """Show the last log entries about a connector, oldest first, of all workers that have any connector."""
    query = {"lines": lines, "level": level, **({} if task is None else {"task": task})}
    response = options.connect(url).call("GET", "headrace", "connectors", name, "logs", query=query)
    if as_json:
        typer.echo(response.text)
        return
    for entry in response.object["entries"]:
        typer.echo(_line(entry))
    options.say_not_reached(response.object, "What they have logged is missing.")


def _line(entry: Mapping[str, Any]) -> str:
    task = "" if entry["task"] is None else f"task {entry['task']}: "
    head = plain(f"{entry['time']} {entry['level']:5} {entry['worker_id']} {task}{entry['event']}")
    details = [(plain(key), plain(value.rstrip(), lines=True)) for key, value in entry["details"].items()]
    short = [f"{key}={value}" for key, value in details if "\n" not in value]
    long = [f"\n  {key}:\n    " + value.replace("\n", "\n    ") for key, value in details if "\n" in value]
    return " ".join([head, *short]) + "".join(long)
