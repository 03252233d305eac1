"""`headrace streams init`: create the internal topics of an application (KIP-698)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from headrace.cli.streams import application

if TYPE_CHECKING:
    from headrace.streams import KafkaStreams

DryRun = Annotated[bool, typer.Option("--dry-run", help="Check everything and show what would be created only.")]
IfIncomplete = Annotated[
    bool,
    typer.Option("--setup-if-incomplete", help="If some are missing, create those, empty; what they held is lost."),
]
Check = Annotated[bool, typer.Option("--check", help="Create nothing; the exit status says what is there.")]
_NONE_THERE, _SOME_MISSING, _MISCONFIGURED, _NO_SOURCE = 3, 4, 5, 6
Timeout = Annotated[float | None, typer.Option("--timeout", min=0.1, metavar="SECONDS", help="How long all may take.")]


def init(
    app: application.App,
    config: application.ConfigFile = None,
    set_: application.Settings = None,
    setup_if_incomplete: IfIncomplete = False,
    timeout: Timeout = None,
    dry_run: DryRun = False,
    check: Check = False,
    as_json: application.AsJson = False,
) -> None:
    """Create the internal topics before the first start, or after a reset: all of them, or none.

    It is refused if all are there, if some are (unless `--setup-if-incomplete`), if one is misconfigured, or if a source topic is
    missing. With `--check` nothing is created, and the status says how it is: 0 all are there and as they have to be, 3 none is
    there, 4 some are missing, 5 one is misconfigured, 6 a source topic is missing.
    """
    from headrace.cli.streams import report
    from headrace.streams.initialization import InitParameters, topics_to_create

    streams = application.streams(app, config, set_)
    timeout_ms = None if timeout is None else round(timeout * 1000)
    if check:
        _check(streams, timeout_ms, as_json)
    parameters = InitParameters(setup_if_incomplete)
    findings = streams.describe_internal_topics(timeout=timeout_ms) if dry_run or as_json else None
    if dry_run and findings:
        created, done = topics_to_create(findings, parameters), "would be created"
    else:
        created = streams.init(parameters, *([] if timeout_ms is None else [timeout_ms]))
        done = "has been created"
    if as_json and findings:
        typer.echo(report.as_json(findings, () if dry_run else created))
        return
    for topic in created:
        typer.echo(f"{topic.name} {done}: {topic.kind}, partitions: {topic.partitions}.")
    if not created:
        typer.echo("The topology has no internal topics; nothing is to be set up.")


def _check(streams: KafkaStreams, timeout_ms: int | None, as_json: bool) -> NoReturn:
    """Say how the topics are, and exit. timeout_ms: how long that may take."""
    from headrace.cli.streams import report
    from headrace.errors import MissingSourceTopicError

    try:
        findings = streams.describe_internal_topics(timeout=timeout_ms)
    except MissingSourceTopicError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(_NO_SOURCE) from None
    if as_json:
        typer.echo(report.as_json(findings))
    else:
        report.show_topics(findings)
    missing = findings.verification.missing
    if findings.verification.misconfigured:
        raise typer.Exit(_MISCONFIGURED)
    raise typer.Exit(0 if not missing else _NONE_THERE if len(missing) == len(findings.topics) else _SOME_MISSING)
