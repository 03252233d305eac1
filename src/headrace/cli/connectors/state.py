"""`headrace connectors pause`, `resume`, `stop` and `restart`: the state that a connector should be in."""

from __future__ import annotations

from typing import Annotated

import typer

from headrace.cli.connectors import options, tables
from headrace.cli.connectors.texts import plain


def pause(name: options.Name, url: options.Url = options.DEFAULT_URL, as_json: options.AsJson = False) -> None:
    """Let a connector rest; its tasks stay where they are."""
    response = options.connect(url).call("PUT", "connectors", name, "pause")
    options.say(response, as_json, f"{plain(name)} is being paused.")


def resume(name: options.Name, url: options.Url = options.DEFAULT_URL, as_json: options.AsJson = False) -> None:
    """Let a paused or stopped connector run."""
    response = options.connect(url).call("PUT", "connectors", name, "resume")
    options.say(response, as_json, f"{plain(name)} is being resumed.")


def stop(name: options.Name, url: options.Url = options.DEFAULT_URL, as_json: options.AsJson = False) -> None:
    """End a connector's tasks; its configuration and offsets stay."""
    response = options.connect(url).call("PUT", "connectors", name, "stop")
    options.say(response, as_json, f"{plain(name)} is being stopped.")


def restart(
    name: options.Name,
    tasks: Annotated[bool, typer.Option("--include-tasks", "--tasks", help="Its tasks as well.")] = False,
    only_failed: Annotated[bool, typer.Option("--only-failed", help="Only what has failed.")] = False,
    task: Annotated[int | None, typer.Option("--task", metavar="N", min=0, help="This task alone.")] = None,
    url: options.Url = options.DEFAULT_URL,
    as_json: options.AsJson = False,
) -> None:
    """Restart a connector; without options the connector itself, not its tasks."""
    if task is not None:
        if tasks or only_failed:
            raise typer.BadParameter("goes without --include-tasks and --only-failed.", param_hint="'--task'")
        response = options.connect(url).call("POST", "connectors", name, "tasks", str(task), "restart")
        options.say(response, as_json, f"Task {task} of {plain(name)} is being restarted.")
        return
    query = {"includeTasks": str(tasks).lower(), "onlyFailed": str(only_failed).lower()}
    response = options.connect(url).call("POST", "connectors", name, "restart", query=query)
    options.say(response, as_json, f"{plain(name)} is being restarted.")
    if response.text and not as_json:
        tables.show(tables.states(response.json))
