"""`headrace streams plan`: the internal topics of an application, and how those on the cluster are."""

from __future__ import annotations

import typer

from headrace.cli.streams import application


def plan(
    app: application.App,
    config: application.ConfigFile = None,
    set_: application.Settings = None,
    as_json: application.AsJson = False,
) -> None:
    """Show the internal topics with partitions and settings, and which of them exist; changes nothing."""
    from headrace.cli.streams import report

    findings = application.streams(app, config, set_).describe_internal_topics()
    if as_json:
        typer.echo(report.as_json(findings))
    else:
        report.show_topics(findings)
