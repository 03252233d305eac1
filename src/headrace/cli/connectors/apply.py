"""`headrace connectors apply`: bring the connectors to what files say, after a diff and a check of all of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from headrace.cli.connectors import options, tables
from headrace.cli.connectors.deploy import ask_to_validate
from headrace.cli.connectors.files import ConnectorFile, read_all
from headrace.cli.connectors.texts import config_errors, diff_lines, plain
from headrace.config.diff import Action, Diff, plan, summary
from headrace.config.secrets import Secrets
from headrace.errors import ConfigError, ConnectError, HeadraceError

if TYPE_CHECKING:
    from headrace.cli.connectors.client import Answer, RestClient

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
    apply_files(files, url, yes=yes, dry_run=dry_run, prune=prune, as_json=as_json)


def apply_files(
    files: Mapping[str, ConnectorFile],
    url: str,
    *,
    yes: bool = False,
    dry_run: bool = False,
    prune: bool = False,
    as_json: bool = False,
) -> bool:
    """What `apply` does, for configurations that are read already; returns whether there was anything to do.

    Raises ConfigError if one is invalid, ConnectError.
    """
    client = options.connect(url)
    diffs = differences(client, files, prune)
    secrets = _checked(client, files)
    shown = [diff.masked(secrets.get(diff.name, Secrets())) for diff in diffs]
    todo = [diff for diff in diffs if diff.action is not Action.KEEP]
    asked = bool(todo) and not (yes or dry_run)
    if asked or not as_json:  # with --json standard output is for the machine
        lines = [line for diff in shown for line in diff_lines(diff)]
        tables.show(*lines, Text(f"{summary(shown)}.", style="bold"), err=as_json)
    if asked:
        typer.confirm("Do this?", abort=True, err=True)
    answers = {} if dry_run else _carry_out(client, todo, files, quiet=as_json)
    if as_json:
        typer.echo(json.dumps({"connectors": [_as_json(diff, answers.get(diff.name)) for diff in shown]}, ensure_ascii=False))
    return bool(todo)


def differences(client: RestClient, files: Mapping[str, ConnectorFile], prune: bool = False) -> list[Diff]:
    """What is to be done with each connector that is wanted, and with `prune` with those that are not. Raises ConnectError."""
    connectors = client.call("GET", "connectors", query={"expand": "info"}).object
    running = {name: info["info"]["config"] for name, info in connectors.items()}
    return plan(running, {name: file.config for name, file in files.items()}, prune)


def _checked(client: RestClient, files: Mapping[str, ConnectorFile]) -> dict[str, Secrets]:
    """The secrets of every wanted configuration, by name. Raises ConfigError with all errors of those that are invalid."""
    problems: list[str] = []
    secrets: dict[str, Secrets] = {}
    for name, file in files.items():
        sentences, secrets[name] = _check(client, file)
        problems += [f"{file.file} ({plain(name)}): {plain(problem, lines=True)}" for problem in sentences]
    if problems:
        raise ConfigError("Nothing has been done, because not every configuration is valid:\n" + "\n".join(problems))
    return secrets


def _check(client: RestClient, file: ConnectorFile) -> tuple[list[str], Secrets]:
    """The errors of a configuration, and its secrets by what the worker knows of its options."""
    try:
        answer = ask_to_validate(client, file)
    except ConfigError as error:
        return [error.message], Secrets()
    if not answer.ok:
        return [answer.message], Secrets()
    problems = [f"{option}: {error}" for option, error in config_errors(answer.object)]
    return problems, Secrets(config.get("definition") for config in answer.object["configs"])


def _carry_out(client: RestClient, todo: Sequence[Diff], files: Mapping[str, ConnectorFile], quiet: bool) -> dict[str, Answer]:
    """Do it, one connector after the other, up to the first that fails; returns the answers by name.

    Raises ConnectError with the name of the one that failed, and of those that were done before it.
    """
    done: dict[str, Answer] = {}
    for diff in todo:
        try:
            done[diff.name] = _do(client, diff, files)
        except HeadraceError as error:
            before = ", ".join(map(plain, done)) or "nothing"
            raise ConnectError(f"{plain(diff.name)}: {error.message} Done before it: {before}.") from None
        if not quiet:
            tables.show(f"{plain(diff.name)} has been {_DONE[diff.action]}.")
    return done


def _do(client: RestClient, diff: Diff, files: Mapping[str, ConnectorFile]) -> Answer:
    if diff.action is Action.DELETE:
        return client.call("DELETE", "connectors", diff.name)
    file = files[diff.name]
    if diff.action is Action.CREATE:
        return client.call("POST", "connectors", body=file.body())
    return client.call("PUT", "connectors", diff.name, "config", body=file.config)


def _as_json(diff: Diff, answer: Answer | None) -> dict[str, Any]:
    """A diff for a machine; `answer`: of the REST API, null if nothing was done, or it said nothing."""
    return {**asdict(diff), "answer": answer.json if answer else None}
