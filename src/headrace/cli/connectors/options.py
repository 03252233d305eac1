"""What the commands share: their common options and arguments, and how they print."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headrace.cli.connectors.texts import plain

if TYPE_CHECKING:
    from headrace.cli.connectors.client import RestClient, RestResponse

DEFAULT_URL = "http://localhost:8083"
_OPEN = ExitStack()
"""The clients of the command that runs."""


def _check_name(name: str) -> str:
    if not name:
        raise typer.BadParameter("the name of a connector is not empty.")
    return name


Url = Annotated[str, typer.Option("--url", metavar="URL", envvar="HEADRACE_URL", help="The REST API of any worker.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the answer of the REST API as it is.")]
Name = Annotated[str, typer.Argument(metavar="NAME", callback=_check_name, help="The connector's name.")]
ConfigFile = Annotated[
    Path,
    typer.Argument(metavar="FILE", exists=True, dir_okay=False, readable=True,
                   help="The connector's configuration, .json or .properties."),
]  # fmt: skip


def connect(url: str, named_by: str | None = None) -> RestClient:
    """A client of the worker at this address, until the command ends; nothing is asked yet.

    named_by: as of RestClient. Raises ConfigError if it is no address.
    """
    from headrace.cli.connectors.client import RestClient  # here, so that `--help` does not wait for the HTTP library

    return _OPEN.enter_context(closing(RestClient(url, named_by=named_by)))


def close_clients() -> None:
    """Close the connections of the command, which has ended."""
    _OPEN.close()


def say_not_reached(response: Mapping[str, Any], missing: str) -> None:
    """Name the workers that did not answer on standard error, with a sentence of what is missing for it."""
    if silent := response["not_reached"]:
        typer.echo(f"Not reached: {', '.join(map(plain, silent))}. {missing}", err=True)


def say(response: RestResponse, as_json: bool, sentence: str) -> None:
    """Print what was done: the sentence, or with `--json` the answer as it came, if it has a body."""
    if not as_json:
        typer.echo(sentence)
    elif response.text:
        typer.echo(response.text)
