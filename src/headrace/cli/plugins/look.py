"""`headrace plugins list` and `show`: what there is in the directories of `plugin.path`, without a worker."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headrace.cli.connectors import tables
from headrace.cli.progress import progress
from headrace.errors import BadRequestError, NotFoundError

if TYPE_CHECKING:
    from headrace.spark.plugin_scan import ScannedPlugin

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
    from headrace.runtime.java_plugins import is_built_in

    scanned = _scan(path, discovery)
    rows = [
        {
            "class": plugin.class_name,
            "type": plugin.kind,
            "version": plugin.version,
            "location": plugin.path,
            "shadowed": is_built_in(plugin.class_name, Kind(plugin.kind)),
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
    from headrace.connect_config.versions import by_version
    from headrace.spark.plugin_scan import ask_in_own_jvm

    scanned = _scan(path, discovery)
    newest = newest_of(scanned.plugins, plugin)
    if newest is None:
        raise NotFoundError(f"No plugin {plugin} in {', '.join(map(str, path or [DEFAULT_PATH]))}.")
    loaders = {"locations": scanned.locations, "newest": {p.class_name: p.location for p in by_version(scanned.plugins)}}
    request = {"class": newest.class_name, "location": newest.location, "limit": 60_000}
    with progress(f"asking {newest.class_name}"):
        options: list[dict[str, Any]] = ask_in_own_jvm([("plugins", loaders), ("definitions", request)])["options"]
    if as_json:
        typer.echo(json.dumps(options, indent=2))
    else:
        tables.show(tables.definitions(options) if options else f"{newest.class_name} {newest.version} has no options.")


def newest_of(plugins: Sequence[ScannedPlugin], name: str) -> ScannedPlugin | None:
    """The plugin of this class or short name; of several versions, the newest.

    Raises BadRequestError for a short name of several classes, and for a plugin that Kafka Connect does not ask for its options.
    """
    from headrace.connect_config.versions import by_version
    from headrace.plugins import Kind

    named = [p for p in plugins if name == p.class_name] or [p for p in plugins if name in p.aliases]
    classes = sorted({p.class_name for p in named})
    if len(classes) > 1:
        raise BadRequestError(f"{name} is the short name of several plugins: {', '.join(classes)}. Give the whole name of one.")
    newest = by_version(named)[-1] if named else None
    if newest is not None and newest.kind == Kind.CONFIG_PROVIDER:
        raise BadRequestError(f"{newest.class_name} is a config provider, which does not say what its options are.")
    return newest


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
