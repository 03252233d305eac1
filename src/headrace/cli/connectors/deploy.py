"""`headrace connectors validate`, `create` and `delete`: one connector."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import typer

from headrace.cli.connectors import options, tables
from headrace.cli.connectors.files import ConnectorFile, read_file
from headrace.cli.connectors.texts import config_errors, plain
from headrace.connect_config.named_plugins import NamedPlugin
from headrace.errors import ConfigError

if TYPE_CHECKING:
    from headrace.cli.connectors.client import RestClient, RestResponse

_CLASS = "connector.class"


def validate(file: options.ConfigFile, url: options.Url = options.DEFAULT_URL, as_json: options.AsJson = False) -> None:
    """Check a configuration and list every error; exit status 1 if there is one. Nothing is changed."""
    connector = read_file(file)
    response = ask_to_validate(options.connect(url), connector, strict=True)
    problems = config_errors(response.object)
    if as_json:
        typer.echo(response.text)
    elif problems:
        tables.show(tables.errors(problems))
        typer.echo(f"error: The configuration of {plain(connector.name)} is invalid; errors: {len(problems)}.", err=True)
    else:
        tables.show(f"The configuration of {plain(connector.name)} is valid.")
    if problems:
        raise typer.Exit(1)


def ask_to_validate(client: RestClient, connector: ConnectorFile, strict: bool = False) -> RestResponse:
    """The answer of a validation; strict: RestError if it is an error answer. Raises ConfigError without a connector class."""
    if not connector.config.get(_CLASS):
        raise ConfigError(f'Missing required configuration "{_CLASS}" which has no default value.')
    path = ("connector-plugins", connector.config[_CLASS], "config", "validate")
    return (client.call if strict else client.ask)("PUT", *path, body=connector.config)


def definitions(client: RestClient, named: Iterable[NamedPlugin]) -> list[dict[str, Any]]:
    """What the worker knows of the options of plugins, under their prefixes; nothing of a plugin that it does not have."""
    all_options = list[dict[str, Any]]()
    for plugin in named:
        path, version = ("connector-plugins", plugin.name, "config"), plugin.version
        response = client.ask("GET", *path, query={"version": version} if version else None)
        if version and not response.ok:
            response = client.ask("GET", *path)
        all_options += [option | {"name": plugin.prefix + option["name"]} for option in response.json] if response.ok else ()
    return all_options


def create(file: options.ConfigFile, url: options.Url = options.DEFAULT_URL, as_json: options.AsJson = False) -> None:
    """Create a connector; an error if there is one of this name.

    JSON is `{"name", "config"}`, with an `initial_state` if you like, or the settings with `name` among them.
    """
    connector = read_file(file)
    response = options.connect(url).call("POST", "connectors", body=connector.body())
    options.say(response, as_json, f"{plain(connector.name)} has been created.")


def delete(name: options.Name, url: options.Url = options.DEFAULT_URL, as_json: options.AsJson = False) -> None:
    """Delete a connector; its offsets stay."""
    response = options.connect(url).call("DELETE", "connectors", name)
    options.say(response, as_json, f"{plain(name)} has been deleted.")
