"""`headrace plugins list` and `show`: what there is in the directories of `plugin.path`, without a worker."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from headrace.cli.connectors import tables
from headrace.cli.progress import progress
from headrace.errors import NotFoundError

PATH_HELP = "A directory of `plugin.path`; may be repeated."
Paths = Annotated[list[Path] | None, typer.Option("--path", metavar="DIR", help=PATH_HELP)]
Discovery = Annotated[
    str, typer.Option(help="As `plugin.discovery`: service_load, hybrid_warn, hybrid_fail or only_scan.", metavar="MODE")
]
DEFAULT_PATH = Path("plugins")


def list_plugins(
    path: Paths = None,
    discovery: Discovery = "hybrid_warn",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the plugins in directories as a worker with such a `plugin.path` finds them; by default in `./plugins`.

    Also what keeps others from being used. The first look at a directory takes some seconds, later ones none until it changes.
    """
    from headrace.plugins import Kind
    from headrace.runtime.java_plugins import has_own

    scanned = _scan(path, discovery)
    rows = [
        {
            "class": plugin.class_name,
            "type": plugin.kind,
            "version": plugin.version,
            "location": plugin.path,
            "shadowed": has_own(plugin.class_name, Kind(plugin.kind)),
        }
        for plugin in scanned.plugins
    ]
    if as_json:
        problems = [{"location": problem.path, "text": problem.text} for problem in scanned.problems]
        typer.echo(json.dumps({"plugins": rows, "problems": problems}, indent=2))
        return
    tables.show(tables.plugin_locations(rows))
    for problem in scanned.problems:
        typer.echo(str(problem), err=True)


def show(
    plugin: Annotated[str, typer.Argument(metavar="CLASS", help="A class, or its short name.")],
    path: Paths = None,
    discovery: Discovery = "hybrid_warn",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show the options of a plugin."""
    from headrace.spark.plugin_scan import ask_alone

    scanned = _scan(path, discovery)
    named = [p for p in scanned.plugins if plugin == p.class_name] or [p for p in scanned.plugins if plugin in p.aliases]
    if not named:
        raise NotFoundError(f"No plugin {plugin} in {', '.join(map(str, path or [DEFAULT_PATH]))}.")
    newest = named[-1]
    loaders = {"locations": scanned.locations, "newest": {p.class_name: p.location for p in scanned.plugins}}
    question = {"class": newest.class_name, "location": newest.location, "limit": 60_000}
    with progress(f"asking {newest.class_name}"):
        options: list[dict[str, Any]] = ask_alone([("plugins", loaders), ("definitions", question)])["options"]
    if as_json:
        typer.echo(json.dumps(options, indent=2))
    else:
        tables.show(tables.definitions(options))


def _scan(path: Sequence[Path] | None, discovery: str) -> Any:
    from headrace.config import validators
    from headrace.errors import ConfigError
    from headrace.runtime import logs
    from headrace.runtime.worker_config import WorkerConfig
    from headrace.spark.plugin_scan import scan

    logs.configure()
    option = WorkerConfig.definition().options["plugin.discovery"]
    assert isinstance(option.validator, validators.CaseInsensitiveValidString)
    try:
        option.validator(option.name, discovery)
    except ConfigError as error:
        raise typer.BadParameter(error.message, param_hint="'--discovery'") from None
    with progress("looking for plugins") as report:
        return scan(list(map(str, path or [DEFAULT_PATH])), discovery, report)
