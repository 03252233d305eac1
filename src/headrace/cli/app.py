"""The application: its commands, its help, and how an error ends it."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from headrace import __version__
from headrace.cli import broker, demo, dev, doctor, hash_password, preview, standalone, worker
from headrace.cli.connectors.dead_letters import group as dead_letters
from headrace.cli.connectors.drift import group as topics
from headrace.cli.connectors.events import audit
from headrace.cli.connectors.group import group as connectors
from headrace.cli.connectors.lineage import lineage
from headrace.cli.connectors.options import close_clients
from headrace.cli.connectors.workers import workers
from headrace.cli.jars.group import group as jars
from headrace.cli.mirror.group import group as mirror
from headrace.cli.plugins.group import group as plugins
from headrace.cli.project.commands import group as project
from headrace.cli.streams.group import group as streams
from headrace.config.redaction import redact
from headrace.errors import HeadraceError
from headrace.runtime import logs

app = typer.Typer(
    name="headrace",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(show_version: bool) -> None:
    if show_version:
        print(f"headrace {__version__}")
        raise typer.Exit


@app.callback()
def headrace(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    """Kafka Connect in Python, with Spark as the engine.

    It takes Kafka Connect's worker files, connector configurations and REST clients as they are.

    To see it at work: `headrace demo`. To try connectors of your own: `headrace dev`.
    """
    context.call_on_close(close_clients)


# in the order of the help
_RUN, _REST, _STREAMS, _LOCAL = "Run", "Over REST", "Streams", "On this machine"
app.command("worker", rich_help_panel=_RUN)(worker.worker)
app.command("standalone", rich_help_panel=_RUN)(standalone.standalone)
app.add_typer(mirror, name="mirror", rich_help_panel=_RUN)
app.add_typer(connectors, name="connectors", rich_help_panel=_REST)
app.add_typer(project, name="project", rich_help_panel=_REST)
app.add_typer(topics, name="topics", rich_help_panel=_REST)
app.add_typer(dead_letters, name="dead-letters", rich_help_panel=_REST)
app.command("lineage", rich_help_panel=_REST)(lineage)
app.command("audit", rich_help_panel=_REST)(audit)
app.command("workers", rich_help_panel=_REST)(workers)
app.add_typer(streams, name="streams", rich_help_panel=_STREAMS)
app.command("doctor", rich_help_panel=_LOCAL)(doctor.doctor)
app.command("preview", rich_help_panel=_LOCAL)(preview.preview)
app.command("demo", rich_help_panel=_LOCAL)(demo.demo)
app.command("dev", rich_help_panel=_LOCAL)(dev.dev)
app.command("broker", rich_help_panel=_LOCAL)(broker.broker)
app.add_typer(jars, name="jars", rich_help_panel=_LOCAL)
app.add_typer(plugins, name="plugins", rich_help_panel=_LOCAL)
app.command("hash-password", rich_help_panel=_LOCAL)(hash_password.hash_password)


def run() -> None:
    """Run the process's arguments; ends the process. An error of headrace is its sentence on standard error, and status 1.

    Warnings are logged on standard error, redacted, where the command does not set up its log itself. What a client of Kafka
    complains about is not among them: the command says that in its own sentence.
    """
    logs.configure(level="WARNING", clients=False)
    try:
        app(prog_name="headrace")
    except HeadraceError as error:
        sys.exit(redact(f"error: {error}"))
