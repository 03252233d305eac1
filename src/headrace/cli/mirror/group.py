"""The commands of `headrace mirror`; a file alone is run."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from headrace.cli.mirror import failover, run


class _RunByDefault(TyperGroup):
    """`headrace mirror FILE` is `headrace mirror run FILE`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            args = ["run", *args]
        return super().parse_args(ctx, args)


group = typer.Typer(
    cls=_RunByDefault,
    no_args_is_help=True,
    help="Mirror clusters as a properties file of MirrorMaker 2 says: `headrace mirror FILE`. Switch groups over.",
)
group.command("run")(run.run)
group.command("failover")(failover.failover)
