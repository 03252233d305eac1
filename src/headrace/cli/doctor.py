"""`headrace doctor`: what would keep a worker from its work."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from headrace.cli.worker import FromEnv, OptionalWorkerFile, read_settings

ConnectorFiles = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="CONNECTOR", exists=True, dir_okay=False, readable=True, help="Connectors whose clusters are looked at."
    ),
]


def doctor(
    file: OptionalWorkerFile = None,
    connectors: ConnectorFiles = None,
    from_env: FromEnv = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object instead of lines.")] = False,
    timeout_s: Annotated[float, typer.Option("--timeout", min=0.1, help="Seconds that each call of a cluster may take.")] = 10.0,
) -> None:
    """Check a worker file, this machine and the clusters, and say in one line each what is wrong and how to mend it.

    Looked at: versions, Java, jars, the settings, ports, whether the brokers answer, the internal topics, permissions, clocks; of
    connectors the clusters that they name. Nothing is changed. Exit status 0: nothing is wrong (there may be warnings), 1:
    something is.
    """
    from headrace.cluster.standalone.connector_files import connector_config
    from headrace.config.redaction import redact
    from headrace.doctor.finding import Severity
    from headrace.doctor.run import examine, worst

    files = connectors or []
    if file and _is_connector(file):  # the worker has no file: the environment alone configures it
        file, files = None, [file, *files]
    settings = read_settings(file, from_env)
    read = [connector_config(path)[:2] for path in files]
    findings = []
    for finding in examine(settings, read, timeout_s):
        findings.append(finding)
        if not as_json:
            typer.echo(finding.line())
    worst_status = worst(findings)
    if as_json:
        body = {"status": worst_status, "findings": [finding.body() for finding in findings]}
        typer.echo(redact(json.dumps(body, indent=2)))
    if worst_status is Severity.WRONG:
        raise typer.Exit(1)


def _is_connector(file: Path) -> bool:
    """Whether a file is that of a connector, and not of a worker. Raises ConfigError, SetupError for one that cannot be read."""
    from headrace.config import load_properties

    return file.suffix == ".json" or "connector.class" in load_properties(file)
