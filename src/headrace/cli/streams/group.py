"""The commands of `headrace streams`, in the order of its help."""

from __future__ import annotations

import typer

from headrace.cli.streams import describe, init, plan, remote, run, verify

group = typer.Typer(
    no_args_is_help=True,
    help="Look at streams applications, set up their internal topics before the first start (KIP-698), and run them.",
)
group.command("describe")(describe.describe)
group.command("plan")(plan.plan)
group.command("init")(init.init)
group.command("verify")(verify.verify)
group.command("run")(run.run)
group.command("list")(remote.show)
group.command("ask")(remote.ask)
