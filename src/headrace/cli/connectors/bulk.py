"""`headrace connectors bulk`: one action on many connectors."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from headrace.cli.connectors import options, tables
from headrace.cli.connectors.texts import plain


class BulkAction(StrEnum):
    """What can be done with many at once."""

    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"
    RESTART_FAILED = "restart-failed"
    RESTART = "restart"


def bulk(
    action: Annotated[BulkAction, typer.Argument(metavar="ACTION", help="pause, resume, stop, restart-failed or restart.")],
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME…", help="The connectors.")] = None,
    failed: Annotated[bool, typer.Option("--failed", help="All that have failed, they or a task of theirs.")] = False,
    url: options.Url = options.DEFAULT_URL,
    as_json: options.AsJson = False,
) -> None:
    """Pause, resume, stop or restart many connectors; exit status 1 if one of them could not be.

    `restart-failed` restarts the connectors and tasks that have failed, `restart` all of them with their tasks.
    """
    if failed == bool(names):
        raise typer.BadParameter("name the connectors, or say --failed.", param_hint="'NAME…'")
    client = options.connect(url)
    if failed:
        connectors = client.call("GET", "connectors", query={"expand": "status"}).object
        names = [name for name, views in connectors.items() if _has_failed(views.get("status") or {})]
        if not names:
            typer.echo("No connector has failed.", err=as_json)
            return
    response = client.call("POST", "headrace", "connectors", "actions", body={"action": action.value, "connectors": names})
    outcomes = response.object["connectors"]
    if as_json:
        typer.echo(response.text)
    else:
        tables.show(
            *(
                f"{plain(outcome['name'])}: {'asked for' if outcome['done'] else plain(outcome['message'])}"
                for outcome in outcomes
            )
        )
    if not all(outcome["done"] for outcome in outcomes):
        raise typer.Exit(1)


def _has_failed(status: dict) -> bool:
    parts = [status["connector"], *status["tasks"]] if status else []
    return any(part["state"] == "FAILED" for part in parts)
