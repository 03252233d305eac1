"""The commands of `headrace project`. Exit status 3 says that there is a difference, 1 that something is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from headrace.cli.connectors import options, tables
from headrace.cli.connectors.apply import apply_files, differences
from headrace.cli.connectors.texts import plain
from headrace.cli.project import folder
from headrace.config.diff import Action
from headrace.errors import HeadraceError, RestError, SetupError

CHANGES = 3
"""Exit status: what runs is not what the project says."""

Folder = Annotated[Path, typer.Argument(metavar="[FOLDER]", exists=True, file_okay=False, help="The project.")]
Env = Annotated[str | None, typer.Option("--env", "-e", envvar="HEADRACE_ENV", help="The environment; by default the first.")]

group = typer.Typer(no_args_is_help=True, help="A folder with connectors, values per environment, and tests of their chains.")

_PROJECT = """\
[environments.dev]
url = "http://localhost:8083"
[environments.dev.values]
kafka = "localhost:9092"
replicas = 1

[environments.prod]
url = "http://connect.example.com:8083"
[environments.prod.values]
kafka = "kafka-1:9092,kafka-2:9092"
replicas = 3
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
    """Make a project with an example: a mirror that masks a field, two environments, a test."""
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise SetupError(f"{target} is there and not empty; name another folder.")
    for name, text in {
        folder.FILE: _PROJECT,
        "connectors/orders.json": json.dumps(_CONNECTOR, indent=2) + "\n",
        "tests/orders.json": json.dumps(_TEST, indent=2) + "\n",
    }.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_text(text, encoding="utf-8")
        typer.echo(target / name)


@group.command()
def plan(target: Folder = Path(), env: Env = None, as_json: options.AsJson = False) -> None:
    """Check every connector, and show what `apply` would change; exit status 0: nothing, 3: something, 1: something is wrong."""
    chosen = folder.environment(target, env)
    if apply_files(folder.connectors(target, chosen), chosen.url, dry_run=True, as_json=as_json):
        raise typer.Exit(CHANGES)


@group.command()
def apply(
    target: Folder = Path(),
    env: Env = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: options.AsJson = False,
) -> None:
    """Create and change connectors until they are as the project says, after showing what changes. None is deleted."""
    chosen = folder.environment(target, env)
    apply_files(folder.connectors(target, chosen), chosen.url, yes=yes, as_json=as_json)


@group.command()
def drift(target: Folder = Path(), env: Env = None, as_json: options.AsJson = False) -> None:
    """Say which connectors differ from their files, and which topics from their rules (KIP-158); exit status 3 if any does,
    1 if one cannot be compared.
    """
    chosen = folder.environment(target, env)
    client = options.connect(chosen.url)
    wanted = folder.connectors(target, chosen)
    changed = [diff for diff in differences(client, wanted) if diff.action is not Action.KEEP]
    topics, silent = [], []
    for name in sorted(wanted.keys() - {diff.name for diff in changed if diff.action is Action.CREATE}):
        try:
            answer = client.call("GET", "headrace", "connectors", name, "topics", "drift").object
            topics += [{"connector": name, **difference} for difference in answer["drift"]]
        except RestError as error:  # its cluster is away, perhaps: the others are looked at
            silent.append(f"{name}: {error.message}")
    if as_json:
        connectors = {
            diff.name: "missing" if diff.action is Action.CREATE else [setting.key for setting in diff.settings]
            for diff in changed
        }
        typer.echo(json.dumps({"connectors": connectors, "topics": topics, "not_known": silent}, ensure_ascii=False))
    else:
        for diff in changed:
            keys = ", ".join(setting.key for setting in diff.settings)
            typer.echo(f"{plain(diff.name)}: {'is not there' if diff.action is Action.CREATE else f'differs in {plain(keys)}'}")
        if topics:
            tables.show(tables.drift(topics))
        for sentence in silent:
            typer.echo(plain(sentence), err=True)
    if changed or topics:
        raise typer.Exit(CHANGES)
    if silent:
        raise typer.Exit(1)


@group.command()
def test(target: Folder = Path(), env: Env = None) -> None:
    """Run the tests of chains: records in, records out, by preview; nothing is asked of a cluster. Exit status 1 if one fails."""
    from headrace.cli.preview import default_worker
    from headrace.cli.project import chains
    from headrace.runtime import logs
    from headrace.spark.session import session

    chosen = folder.environment(target, env)
    tests = folder.chain_tests(target)
    if not tests:
        raise SetupError(f"{target / 'tests'} has no test; a test is a file NAME.json.")
    logs.configure(level="WARNING")
    connectors, worker = folder.connectors(target, chosen), default_worker(chosen.worker)
    spark = session({"spark.master": "local[1]", "spark.sql.codegen.factoryMode": "NO_CODEGEN"})
    failed = 0
    for test in tests:
        if test.connector not in connectors:
            problems = [f"there is no connector {test.connector}; there are {', '.join(connectors)}"]
        else:
            try:
                problems = chains.run(test, connectors[test.connector].config, worker, spark)
            except HeadraceError as error:
                problems = [error.message]
        failed += bool(problems)
        typer.echo(f"{'failed' if problems else 'passed'}  {test.file.relative_to(target)}")
        for text in problems:
            typer.echo(f"        {plain(text, lines=True)}")
    typer.echo(f"{len(tests) - failed} passed, {failed} failed")
    if failed:
        raise typer.Exit(1)
