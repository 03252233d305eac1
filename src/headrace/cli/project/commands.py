"""The commands of `headrace project`. Exit status 3 says that there is a difference, 1 that something is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from headrace.cli.changes import PlannedChanges, apply_changes
from headrace.cli.connectors import options
from headrace.cli.connectors.apply import ConnectorChanges
from headrace.cli.connectors.texts import plain
from headrace.cli.project import folder
from headrace.cli.project.drift import project_drift
from headrace.config.redaction import redact
from headrace.errors import HeadraceError, SetupError

CHANGES = 3
"""Exit status: what runs is not what the project says."""

Folder = Annotated[Path, typer.Argument(metavar="[FOLDER]", exists=True, file_okay=False, help="The project.")]
Env = Annotated[str | None, typer.Option("--env", "-e", envvar="HEADRACE_ENV", help="The environment; by default the first.")]

group = typer.Typer(
    no_args_is_help=True,
    help="A folder with topics, streams applications and connectors, values per environment, and tests of chains.",
)

_PROJECT = """\
[environments.dev]
url = "http://localhost:8083"
[environments.dev.kafka]
bootstrap.servers = "{{kafka}}"
[environments.dev.values]
kafka = "localhost:9092"
replicas = 1

[environments.prod]
url = "http://connect.example.com:8083"
[environments.prod.kafka]
bootstrap.servers = "{{kafka}}"
[environments.prod.values]
kafka = "kafka-1:9092,kafka-2:9092"
replicas = 3

# A streams application, whose internal topics `apply` creates before the first start:
# [applications.revenue]
# app = "apps/revenue.py:topology"
# config = "apps/revenue.properties"
"""
_TOPICS = """\
[orders]
partitions = 1
replication.factor = "{{replicas}}"
cleanup.policy = "delete"
"""
_CONNECTOR = {
    "name": "orders",
    "config": {
        "connector.class": "KafkaSource",
        "source.bootstrap.servers": "{{kafka}}",
        "source.topic.whitelist": "orders",
        "destination.topics.prefix": "copy.",
        "source.value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "source.value.converter.schemas.enable": "false",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
        "transforms": "mask",
        "transforms.mask.type": "org.apache.kafka.connect.transforms.MaskField$Value",
        "transforms.mask.fields": "card",
        "topic.creation.default.partitions": "-1",
        "topic.creation.default.replication.factor": "{{replicas}}",
    },
}
_TEST = {
    "connector": "orders",
    "records": [{"topic": "orders", "value": '{"id": 1, "card": "4111"}'}],
    "expect": [{"topic": "copy.orders", "value": {"id": 1, "card": ""}}],
}


@group.command()
def init(target: Annotated[Path, typer.Argument(metavar="FOLDER", help="A folder that is empty, or not there.")]) -> None:
    """Make a project with an example: a topic, a mirror that masks a field, two environments, a test."""
    try:
        _make(target)
    except OSError as error:
        raise SetupError(f"The project {target} cannot be made ({error.strerror}); name a folder that can be written.") from error


def _make(target: Path) -> None:
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise SetupError(f"{target} is there and not empty; name another folder.")
    for name, text in {
        folder.FILE: _PROJECT,
        folder.TOPICS: _TOPICS,
        "connectors/orders.json": json.dumps(_CONNECTOR, indent=2) + "\n",
        "tests/orders.json": json.dumps(_TEST, indent=2) + "\n",
    }.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_text(text, encoding="utf-8")
        typer.echo(target / name)


@group.command()
def plan(target: Folder = Path(), env: Env = None, as_json: options.AsJson = False) -> None:
    """Check topics, applications and connectors, and show what `apply` would change; exit status 0: nothing, 3: something,
    1: something is wrong, or cannot be compared.
    """
    changes = _changes(target, folder.environment(target, env))
    if apply_changes(changes, dry_run=True, as_json=as_json):
        raise typer.Exit(CHANGES)
    if any(diff.not_known for kind in changes.values() for diff in kind.diffs):
        raise typer.Exit(1)


@group.command()
def apply(
    target: Folder = Path(),
    env: Env = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: options.AsJson = False,
) -> None:
    """Create and change topics, initialize streams applications (KIP-698), create and change connectors, in this order, after
    showing what changes. None is deleted.
    """
    chosen = folder.environment(target, env)
    apply_changes(_changes(target, chosen), yes=yes, as_json=as_json)


@group.command()
def drift(target: Folder = Path(), env: Env = None, as_json: options.AsJson = False) -> None:
    """Say which connectors differ from their files, which topics from the project or their rules (KIP-158), and which internal
    topics from their plan (KIP-698); exit status 3 if any does, 1 if one cannot be compared.
    """
    differences = project_drift(target, folder.environment(target, env))
    if as_json:
        typer.echo(json.dumps(differences.json(), ensure_ascii=False))
    else:
        differences.show()
    if differences.differs:
        raise typer.Exit(CHANGES)
    if differences.not_known:
        raise typer.Exit(1)


def _changes(target: Path, env: folder.Environment) -> dict[str, PlannedChanges]:
    """What makes everything as the project says, kind by kind, as far as the folder has it. Raises HeadraceError."""
    topics, applications = folder.topics(target, env), folder.applications(target, env)
    connectors = folder.connectors(target, env)
    changes: dict[str, PlannedChanges] = {}
    if topics:
        from headrace.cli.project.topics import TopicChanges
        from headrace.kafka.inspection import InspectingAdmin

        changes["topics"] = TopicChanges(InspectingAdmin(env.client_settings()), topics)
    if applications:
        from headrace.cli.project.streams import ApplicationChanges, streams_of

        planned = {name: topic.partitions for name, topic in topics.items()}
        changes["applications"] = ApplicationChanges(streams_of(applications, env.client_settings()), planned)
    if connectors or not changes:
        changes["connectors"] = ConnectorChanges(options.connect(env.worker_url(), env.url_setting()), connectors)
    return changes


@group.command()
def test(target: Folder = Path(), env: Env = None) -> None:
    """Run the tests of chains: records in, records out, by preview; nothing is asked of a cluster. Exit status 1 if one fails."""
    from headrace.cli.preview import default_worker, preview_session
    from headrace.cli.project import chains
    from headrace.runtime import logs
    from headrace.runtime.worker_config import spark_settings

    chosen = folder.environment(target, env)
    tests = folder.chain_tests(target)
    if not tests:
        raise SetupError(f"{target / 'tests'} has no test; a test is a file NAME.json.")
    logs.configure(level="WARNING")
    connectors = folder.connectors(target, chosen)
    worker = default_worker(chosen.worker, lambda props: preview_session(spark_settings(props)))
    spark = preview_session(worker.spark_conf())
    failed = 0
    for test in tests:
        if test.connector not in connectors:
            names = f"; there are {', '.join(connectors)}" if connectors else ", as the project has none"
            problems = [f"there is no connector {test.connector}{names}"]
        else:
            try:
                problems = chains.run(test, connectors[test.connector].config, worker, spark)
            except HeadraceError as error:
                problems = [error.message]
        failed += bool(problems)
        typer.echo(f"{'failed' if problems else 'passed'}  {test.file.relative_to(target)}")
        for text in problems:
            typer.echo(f"        {plain(redact(text), lines=True)}")
    typer.echo(f"{len(tests) - failed} passed, {failed} failed")
    if failed:
        raise typer.Exit(1)
