"""The commands of `headrace plugins`, in the order of its help."""

from __future__ import annotations

import typer

from headrace.cli.plugins import add, look

group = typer.Typer(no_args_is_help=True, help="Look at, and add, plugins of Kafka Connect in Java, for plugin.path.")
group.command("list")(look.list_plugins)
group.command("show")(look.show)
group.command("add")(add.add)
