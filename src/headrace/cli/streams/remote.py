"""`headrace streams list` and `ask`: applications that report to a worker, over its REST API."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headrace.cli.connectors import options
from headrace.errors import ConnectError
from headrace.retry import poll_until

if TYPE_CHECKING:
    from headrace.cli.connectors.client import RestClient

_POLL_INTERVAL_S = 1.0


class Command(StrEnum):
    """What an application can be asked for."""

    INIT = "init"
    VERIFY = "verify"


def show(url: options.Url = options.DEFAULT_URL, as_json: options.AsJson = False) -> None:
    """List the applications that report to the workers (`headrace.report.url`): state, lag, internal topics, what is wrong."""
    from headrace.cli.connectors import tables

    response = options.connect(url).call("GET", "headrace", "streams")
    if as_json:
        typer.echo(response.text)
    elif applications := response.object["applications"]:
        tables.show(tables.applications(applications))
    else:
        typer.echo("No application reports to a worker; see headrace.report.url in docs/options-streams.md.")


def ask(
    application: Annotated[str, typer.Argument(metavar="APPLICATION", help="The application.id.")],
    command: Annotated[Command, typer.Argument(metavar="COMMAND", help="init or verify.")],
    setup_if_incomplete: Annotated[
        bool, typer.Option("--setup-if-incomplete", help="If some are missing, create those, empty; what they held is lost.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Of init: show what would be created only.")] = False,
    timeout: Annotated[
        float, typer.Option("--timeout", min=1, metavar="SECONDS", help="How long to wait for its answer.")
    ] = 60.0,
    url: options.Url = options.DEFAULT_URL,
    as_json: options.AsJson = False,
) -> None:
    """Have an application that reports to a worker verify or create its internal topics; status 1 if it could not.

    It does so itself, with its own rights. `init` needs an instance that waits: `headrace streams run --await-init`.
    """
    client = options.connect(url)
    body = {"command": command.value, "setup_if_incomplete": setup_if_incomplete, "dry_run": dry_run}
    requested = client.call("POST", "headrace", "streams", application, "commands", body=body).object
    ended = _await(client, requested, timeout)
    if as_json:
        import json

        typer.echo(json.dumps(ended, ensure_ascii=False))
    else:
        typer.echo("\n".join([ended["message"], *ended["topics"]]))
    if ended["state"] != "done":
        raise typer.Exit(1)


def _await(client: RestClient, requested: dict[str, Any], timeout_s: float) -> dict[str, Any]:
    """The command when it has ended. Raises ConnectError if it does not in time."""

    def ended(_left_s: float) -> dict[str, Any] | None:
        applications = client.call("GET", "headrace", "streams").object["applications"]
        commands = (command for application in applications for command in application["commands"])
        return next((c for c in commands if c["id"] == requested["id"] and c["state"] not in ("waiting", "sent")), None)

    if command := poll_until(ended, timeout_s, _POLL_INTERVAL_S):
        return command
    raise ConnectError(f"{requested['instance']} has not answered yet; `headrace streams list` shows whether it reports.")
