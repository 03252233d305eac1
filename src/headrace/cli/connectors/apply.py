"""`headrace connectors apply`: bring the connectors to what files say, after a diff and a check of all of them."""

from __future__ import annotations

from collections.abc import Mapping
from http.client import FORBIDDEN
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headrace.cli.changes import apply_changes
from headrace.cli.connectors import options
from headrace.cli.connectors.deploy import ask_to_validate, definitions
from headrace.cli.connectors.files import ConnectorFile, read_all
from headrace.cli.connectors.texts import config_errors, plain
from headrace.config.diff import Action, Config, Diff, plan
from headrace.config.secrets import HIDDEN, Secrets
from headrace.connect_config.named_plugins import named_plugins
from headrace.errors import ConfigError

if TYPE_CHECKING:
    from headrace.cli.connectors.client import RestClient, RestResponse

Paths = Annotated[
    list[Path],
    typer.Argument(metavar="FILE_OR_DIR", exists=True, readable=True,
                   help="Configurations, .json or .properties; of a folder all that are in it."),
]  # fmt: skip
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Check and show the diff only.")]
Prune = Annotated[bool, typer.Option("--prune", help="Delete the connectors that are not in the folder.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the diff and the answers as JSON (docs/cli.md).")]
_DONE = {Action.CREATE: "created", Action.CHANGE: "changed", Action.DELETE: "deleted"}


def apply(
    paths: Paths,
    yes: Yes = False,
    dry_run: DryRun = False,
    prune: Prune = False,
    url: options.Url = options.DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Create and change connectors until they are as the files say.

    All configurations are checked before the first change: if one is invalid, nothing is done. Then the diff is shown, passwords
    hidden, and you are asked.
    """
    if prune and not any(path.is_dir() for path in paths):
        raise typer.BadParameter("needs a folder.", param_hint="'--prune'")
    files = {file.name: file for file in read_all(paths)}
    changes = ConnectorChanges(options.connect(url), files, prune)
    apply_changes({"connectors": changes}, yes=yes, dry_run=dry_run, as_json=as_json)


class ConnectorChanges:
    """What makes the connectors of a worker those of files."""

    def __init__(self, client: RestClient, files: Mapping[str, ConnectorFile], prune: bool = False) -> None:
        """Compare, and have the worker check every configuration; prune: delete what no file has. Raises ConnectError."""
        self._client, self._files = client, files
        self.problems: list[str] = []
        defined = {file.name: self._check(file) for file in files.values()}
        running = running_configs(client)
        diffs = _plan(client, running, files, prune)
        for diff in diffs:
            if diff.action is Action.CHANGE:
                defined[diff.name] += self._leaving(running[diff.name], files[diff.name].config)
        self.diffs = [diff.masked(Secrets(defined.get(diff.name, ()))) for diff in diffs]

    def carry_out(self, diff: Diff) -> RestResponse:
        """Do it over REST."""
        if diff.action is Action.DELETE:
            return self._client.call("DELETE", "connectors", diff.name)
        file = self._files[diff.name]
        if diff.action is Action.CREATE:
            return self._client.call("POST", "connectors", body=file.body())
        return self._client.call("PUT", "connectors", diff.name, "config", body=file.config)

    def sentence(self, diff: Diff) -> str:
        """That it has been done."""
        return f"{plain(diff.name)} has been {_DONE[diff.action]}."

    def _check(self, file: ConnectorFile) -> list[dict[str, Any] | None]:
        """The definitions of the options of a configuration; its errors are among the problems."""
        try:
            response = ask_to_validate(self._client, file)
            sentences = (
                [f"{option}: {error}" for option, error in config_errors(response.object)] if response.ok else [response.message]
            )
        except ConfigError as error:
            sentences, response = [error.message], None
        self.problems += [f"{file.file} ({plain(file.name)}): {plain(sentence, lines=True)}" for sentence in sentences]
        return [config.get("definition") for config in response.object["configs"]] if response and response.ok else []

    def _leaving(self, running: Config, wanted: Config) -> list[dict[str, Any]]:
        """The definitions of the options of plugins that are to go: what goes with them may be a password, too."""
        staying = named_plugins(wanted)
        return definitions(self._client, [plugin for plugin in named_plugins(running) if plugin not in staying])


def running_configs(client: RestClient) -> dict[str, Config]:
    """The configurations of all connectors. Raises ConnectError."""
    connectors = client.call("GET", "connectors", query={"expand": "info"}).object
    return {name: info["info"]["config"] for name, info in connectors.items()}


def differences(client: RestClient, files: Mapping[str, ConnectorFile]) -> list[Diff]:
    """What is to be done with each connector that is wanted. Raises ConnectError."""
    return _plan(client, running_configs(client), files)


def _plan(
    client: RestClient, running: Mapping[str, Config], files: Mapping[str, ConnectorFile], prune: bool = False
) -> list[Diff]:
    values = (value for name in files for value in running.get(name, {}).values())
    hides = any(value is not None and HIDDEN in value for value in values) and not _sees_all(client)
    return plan(running, {name: file.config for name, file in files.items()}, prune, hides)


def _sees_all(client: RestClient) -> bool:
    """Whether secrets are shown to the user: to who may read the audit, and to everybody by a worker that has none."""
    return client.ask("GET", "headrace", "audit", query={"lines": "1"}).status != FORBIDDEN
