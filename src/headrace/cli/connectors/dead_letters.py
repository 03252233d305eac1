"""`headrace dead-letters`: records that failed in a chain, looked at, tried again, and replayed once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from headrace.cli.connectors import options, tables
from headrace.cli.connectors.texts import plain
from headrace.dead_letters import NOT_WRITTEN

group = typer.Typer(no_args_is_help=True, help="Records that failed: look at them, try them again, replay them once.")

Topic = Annotated[str, typer.Argument(metavar="TOPIC", help="The dead letter topic.")]
Letters = Annotated[list[str], typer.Argument(metavar="LETTER…", help="Letters as `show` names them: partition:offset.")]
Connector = Annotated[
    str | None,
    typer.Option(
        "--connector",
        metavar="NAME",
        help="The connector of letters that name none, or of the topic if several clusters have it.",
    ),
]


@group.command("list")
def list_topics(url: options.Url = options.DEFAULT_URL, as_json: options.AsJson = False) -> None:
    """List the dead letter topics of all connectors."""
    response = options.connect(url).call("GET", "headrace", "dead-letters")
    if as_json:
        typer.echo(response.text)
    elif response.object["topics"]:
        tables.show(tables.dead_letter_topics(response.object))
    else:
        typer.echo("No connector has a dead letter topic (errors.deadletterqueue.topic.name).")


@group.command("show")
def show(
    topic: Topic,
    count: Annotated[int, typer.Option("--lines", "-n", min=1, max=500, metavar="N", help="How many at most.")] = 20,
    before: Annotated[str, typer.Option("--before", metavar="PLACE", help="Those before a place that `show` has named.")] = "",
    connector: Annotated[
        str, typer.Option("--connector", metavar="NAME", help="One that uses it; needed if several clusters have such a topic.")
    ] = "",
    url: options.Url = options.DEFAULT_URL,
    as_json: options.AsJson = False,
) -> None:
    """Show the newest dead letters of a topic, and why they failed."""
    query = {"count": count, "before": before, "connector": connector}
    response = options.connect(url).call("GET", "headrace", "dead-letters", topic, query=query)
    if as_json:
        typer.echo(response.text)
        return
    older = response.object["before"]
    if response.object["letters"]:
        tables.show(tables.reasons(response.object), tables.letters(response.object))
        if not response.object["counted_all"]:
            typer.echo(f"The reasons are those of the newest {response.object['counted']} letters; older ones are not counted.")
    elif older:
        typer.echo(f"None of the newest records of {plain(topic)} is a dead letter: their transactions were aborted.")
    else:
        typer.echo(f"{plain(topic)} has no {'older ' if before else ''}dead letters.")
    if older:
        typer.echo(f"There are older ones: --before {older}")


@group.command("preview")
def preview(
    topic: Topic,
    letters: Letters,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            metavar="FILE",
            exists=True,
            dir_okay=False,
            readable=True,
            help="A changed configuration, .json or .properties; without it, the connector's as it runs.",
        ),
    ] = None,
    connector: Connector = None,
    url: options.Url = options.DEFAULT_URL,
    as_json: options.AsJson = False,
) -> None:
    """Show what a chain makes of dead letters now, step by step; nothing is written."""
    body: dict[str, Any] = {"letters": letters, "connector": connector}
    if config is not None:
        from headrace.cli.preview import connector_settings

        body["config"] = connector_settings(config)
    response = options.connect(url).call("POST", "headrace", "dead-letters", topic, "preview", body=body)
    if as_json:
        typer.echo(response.text)
        return
    from rich.console import Console

    from headrace.preview.show import show as show_preview

    show_preview(response.object, Console())


@group.command("replay")
def replay(
    topic: Topic,
    letters: Letters,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be written, and write nothing.")] = False,
    again: Annotated[bool, typer.Option("--again", help="Also those that have been replayed already.")] = False,
    connector: Connector = None,
    url: options.Url = options.DEFAULT_URL,
    as_json: options.AsJson = False,
) -> None:
    """Write dead letters where they belong, each once; exit status 1 if any was not, because it failed, was refused, or the chain
    drops it.

    Those of a sink go back to the topic that they were read from, those of a source through its chain to where that leads.
    """
    body = {"letters": letters, "connector": connector, "dry_run": dry_run, "again": again}
    response = options.connect(url).call("POST", "headrace", "dead-letters", topic, "replay", body=body)
    if as_json:
        typer.echo(response.text)
    else:
        tables.show(tables.replayed(response.object))
    if any(letter["outcome"] in NOT_WRITTEN for letter in response.object["letters"]):
        raise typer.Exit(1)
