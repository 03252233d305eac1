"""`headrace connectors list`, `describe` and `topics`: what there is, and how it is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headrace.cli.connectors import options, tables
from headrace.cli.connectors.deploy import definitions
from headrace.cli.connectors.texts import plain
from headrace.config.secrets import Secrets
from headrace.connect_config.named_plugins import named_plugins

if TYPE_CHECKING:
    from headrace.cli.connectors.client import RestClient, RestResponse


def list_connectors(url: options.Url = options.DEFAULT_URL, as_json: options.AsJson = False) -> None:
    """List all connectors: type, state, running tasks of all, version, and what went wrong first."""
    client = options.connect(url)
    if as_json:
        typer.echo(client.call("GET", "connectors", query={"expand": ["info", "status"]}).text)
        return
    # Asked for both at once, a worker leaves out a connector that has no status yet.
    connectors, status = (client.call("GET", "connectors", query={"expand": view}).object for view in ("info", "status"))
    connectors = {name: {**views, **status.get(name, {})} for name, views in connectors.items()}
    if not connectors:
        tables.show("There are no connectors.")
        return
    tables.show(tables.connector_list(connectors, _versions(client, connectors)))


def _versions(client: RestClient, connectors: dict[str, Any]) -> dict[str, str]:
    """The version of each connector class, by all its names; asked for only if a worker does not send it with the status."""
    if all((views.get("status") or {}).get("connector", {}).get("version") for views in connectors.values()):
        return {}
    plugins = client.call("GET", "connector-plugins").json
    return {alias: plugin.get("version") or "" for plugin in plugins for alias in _aliases(plugin["class"])}


def _aliases(plugin: str) -> tuple[str, ...]:
    """What `connector.class` may say for a class: its name, its simple name, and that without `Connector`."""
    simple = plugin.rpartition(".")[2]
    return plugin, simple, simple.removesuffix("Connector")


def describe(name: options.Name, url: options.Url = options.DEFAULT_URL, as_json: options.AsJson = False) -> None:
    """Show all about a connector: configuration, states with their traces, topics, offsets.

    With `--json`: an object of the answers of the REST API, `info`, `status`, `topics`, `offsets`.
    """
    client = options.connect(url)
    info = client.call("GET", "connectors", name)
    parts = {"status": _read_status(client, name)}
    parts |= {part: client.ask("GET", "connectors", name, part) for part in ("topics", "offsets")}
    if as_json:
        responses = {"info": info.object, **{part: response.json for part, response in parts.items()}}
        typer.echo(json.dumps(responses, ensure_ascii=False))
        return
    config = info.json["config"]
    tables.show(
        f"{plain(name)} ({info.json['type']})",
        tables.settings(config, Secrets(definitions(client, named_plugins(config)))),
        *_status(parts["status"]),
        _topics(parts["topics"], name),
        *_offsets(parts["offsets"]),
    )


def _read_status(client: RestClient, name: str) -> RestResponse:
    """The status with what is headrace's own; or without, of a worker of Kafka Connect."""
    details = client.ask("GET", "headrace", "connectors", name, "status")
    return details if details.ok else client.ask("GET", "connectors", name, "status")


def _status(response: RestResponse) -> list[Any]:
    if not response.ok:
        return [f"status: {plain(response.message)}"]
    return [tables.states(response.json), *tables.streams(response.json), *tables.traces(response.json)]


def _topics(response: RestResponse, name: str) -> str:
    if not response.ok:
        return f"topics: {plain(response.message)}"
    return f"topics: {', '.join(map(plain, sorted(response.json[name]['topics']))) or 'none used so far'}"


def _offsets(response: RestResponse) -> list[Any]:
    if not response.ok:
        return [f"offsets: {plain(response.message)}"]
    return ["offsets:", tables.offsets(response.json)] if response.json["offsets"] else ["offsets: none committed so far"]


def topics(
    name: options.Name,
    reset: Annotated[bool, typer.Option("--reset", help="Forget the topics used so far.")] = False,
    url: options.Url = options.DEFAULT_URL,
    as_json: options.AsJson = False,
) -> None:
    """List the topics that a connector has used since its creation or the last reset, one per line."""
    client = options.connect(url)
    if reset:
        response = client.call("PUT", "connectors", name, "topics", "reset")
        options.say(response, as_json, f"The topics of {plain(name)} have been reset.")
        return
    response = client.call("GET", "connectors", name, "topics")
    if as_json:
        typer.echo(response.text)
        return
    for topic in sorted(response.json[name]["topics"]):
        typer.echo(plain(topic))
