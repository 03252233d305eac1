"""`headrace streams verify`: is an application initialized, and are its internal topics as they have to be?"""

from __future__ import annotations

import typer

from headrace.cli.streams import application


def verify(
    app: application.App,
    config: application.ConfigFile = None,
    set_: application.Settings = None,
    as_json: application.AsJson = False,
) -> None:
    """Check that every internal topic is there and as it has to be; status 1 and what to do, if not. Changes nothing."""
    from headrace.cli.streams import report
    from headrace.streams.initialization import require_initialized

    findings = application.streams(app, config, set_).describe_internal_topics()
    if as_json:
        typer.echo(report.as_json(findings))
    require_initialized(findings)
    if not as_json:
        typer.echo(f"All is well with {len(findings.topics)} internal topics.")
