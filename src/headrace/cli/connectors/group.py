"""The commands of `headrace connectors`, in the order of its help."""

from __future__ import annotations

import typer

from headrace.cli.connectors import (
    apply,
    bulk,
    deploy,
    events,
    figures,
    lag,
    loggers,
    logs,
    look,
    offsets,
    plugins,
    schemas,
    state,
)

group = typer.Typer(no_args_is_help=True, help="Look at connectors, deploy and control them, over the REST API of a worker.")

_LOOK, _DEPLOY, _CONTROL, _WORKER = "Look", "Deploy", "Control", "The worker"
group.command("list", rich_help_panel=_LOOK)(look.list_connectors)
group.command("describe", rich_help_panel=_LOOK)(look.describe)
group.command("topics", rich_help_panel=_LOOK)(look.topics)
group.command("lag", rich_help_panel=_LOOK)(lag.lag)
group.command("figures", rich_help_panel=_LOOK)(figures.figures)
group.command("schemas", rich_help_panel=_LOOK)(schemas.schemas)
group.command("logs", rich_help_panel=_LOOK)(logs.logs)
group.command("history", rich_help_panel=_LOOK)(events.history)
group.command("validate", rich_help_panel=_DEPLOY)(deploy.validate)
group.command("create", rich_help_panel=_DEPLOY)(deploy.create)
group.command("apply", rich_help_panel=_DEPLOY)(apply.apply)
group.command("delete", rich_help_panel=_DEPLOY)(deploy.delete)
group.command("pause", rich_help_panel=_CONTROL)(state.pause)
group.command("resume", rich_help_panel=_CONTROL)(state.resume)
group.command("stop", rich_help_panel=_CONTROL)(state.stop)
group.command("restart", rich_help_panel=_CONTROL)(state.restart)
group.command("bulk", rich_help_panel=_CONTROL)(bulk.bulk)
group.add_typer(offsets.group, name="offsets", rich_help_panel=_CONTROL)
group.command("plugins", rich_help_panel=_WORKER)(plugins.plugins)
group.add_typer(loggers.group, name="loggers", rich_help_panel=_WORKER)
