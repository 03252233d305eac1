"""`headrace connectors offsets show`, `set` and `reset` (KIP-875)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from headrace.cli.connectors import options, tables
from headrace.cli.connectors.texts import plain
from headrace.errors import ConfigError

group = typer.Typer(no_args_is_help=True, help="Show, set or reset the offsets of a connector.")

OffsetsFile = Annotated[
    Path | None,
    typer.Argument(metavar="FILE", exists=True, dir_okay=False, readable=True,
                   help='JSON as `show --json` prints it: `{"offsets": [{"partition": {…}, "offset": {…}}]}`.'),
]  # fmt: skip
Partitions = Annotated[list[str] | None, typer.Option("--partition", metavar="JSON", help="A partition; may be repeated.")]
Offsets = Annotated[
    list[str] | None, typer.Option("--offset", metavar="JSON", help="Its offset, for each `--partition`; `null` resets it.")
]


@group.command("show")
def show(name: options.Name, url: options.Url = options.DEFAULT_URL, as_json: options.AsJson = False) -> None:
    """Show the committed offset of each partition."""
    response = options.connect(url).call("GET", "connectors", name, "offsets")
    if as_json:
        typer.echo(response.text)
    elif response.json["offsets"]:
        tables.show(tables.offsets(response.json))
    else:
        tables.show("No offsets are committed.")


@group.command("set")
def set_(
    name: options.Name,
    file: OffsetsFile = None,
    partition: Partitions = None,
    offset: Offsets = None,
    url: options.Url = options.DEFAULT_URL,
    as_json: options.AsJson = False,
) -> None:
    """Set offsets of a stopped connector, those of FILE or of the options; partitions that are not named keep theirs."""
    if (file is None) == (partition is None) or len(partition or []) != len(offset or []):
        raise typer.BadParameter("give FILE, or --partition and --offset equally often.", param_hint="'FILE'")
    body = _from_file(file) if file else _from_options(partition or [], offset or [])
    response = options.connect(url).call("PATCH", "connectors", name, "offsets", body=body)
    options.say(response, as_json, plain(response.json["message"]))


@group.command("reset")
def reset(name: options.Name, url: options.Url = options.DEFAULT_URL, as_json: options.AsJson = False) -> None:
    """Forget all offsets of a stopped connector, so that it starts from the beginning."""
    response = options.connect(url).call("DELETE", "connectors", name, "offsets")
    options.say(response, as_json, plain(response.json["message"]))


def _from_file(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ConfigError(f"The offsets file {file} is not valid JSON: {error}") from None


def _from_options(partitions: Sequence[str], offsets: Sequence[str]) -> dict[str, Any]:
    pairs = zip(partitions, offsets, strict=True)
    return {"offsets": [{"partition": _parsed("--partition", p), "offset": _parsed("--offset", o)} for p, o in pairs]}


def _parsed(option: str, text: str) -> Any:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise typer.BadParameter(f"{text} is not valid JSON: {error}", param_hint=f"'{option}'") from None
    if not isinstance(value, dict) and (value is not None or option == "--partition"):
        raise typer.BadParameter(f"{text} is no JSON object.", param_hint=f"'{option}'")
    return value
