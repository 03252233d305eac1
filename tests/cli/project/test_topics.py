"""Topics and streams applications of a project, on a real broker."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from headrace.cli.app import app
from headrace.errors import ConfigError
from tests.clusters import Cluster
from tests.support import wait_until

NO_WORKER = "http://localhost:1"  # nothing listens there: without connectors no worker is asked


def project(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["project", *arguments], env={"COLUMNS": "200", "TERM": "dumb", "NO_COLOR": "1"})


@pytest.fixture
def name(topic_name: Callable[[str], str]) -> str:
    return topic_name("project")


@pytest.fixture
def folder(tmp_path: Path, destination: Cluster, name: str) -> Path:
    """A project with one topic, and one application that counts its records by value."""
    (tmp_path / "project.toml").write_text(
        dedent(f"""
        [environments.dev]
        url = "{NO_WORKER}"
        [environments.dev.kafka]
        bootstrap.servers = "{{{{kafka}}}}"
        [environments.dev.values]
        kafka = "{destination.bootstrap}"
        days = 86400000
        [applications.words]
        app = "words.py"
        config = "words.properties"
        """)
    )
    declare(tmp_path, name)
    (tmp_path / "words.properties").write_text(f"application.id={name}-app\n")
    (tmp_path / "words.py").write_text(
        dedent(f"""
        from headrace.streams import Materialized, StreamsBuilder

        def topology():
            builder = StreamsBuilder()
            builder.stream("{name}").group_by(lambda key, value: value).count(Materialized.as_("counts"))
            return builder
        """)
    )
    return tmp_path


def declare(folder: Path, name: str, partitions: int = 2, replicas: int = 1, more: str = "") -> None:
    """Write `topics.toml`."""
    (folder / "topics.toml").write_text(
        f'[{name}]\npartitions = {partitions}\nreplication.factor = {replicas}\nretention.ms = "{{{{days}}}}"\n{more}\n'
    )


def drift(folder: Path) -> tuple[int, dict[str, Any]]:
    result = project("drift", str(folder), "--json")
    return result.exit_code, json.loads(result.stdout)


def refusal(command: str, folder: Path) -> str:
    result = project(command, str(folder), *(["--yes"] if command == "apply" else []))
    assert result.exit_code == 1 and isinstance(result.exception, ConfigError), result.output
    return result.exception.message


def test_plan_shows_apply_creates_and_drift_compares_topics_and_internal_topics(folder: Path, destination: Cluster, name: str):
    changelog, repartition = f"{name}-app-counts-changelog", f"{name}-app-counts-repartition"
    planned = project("plan", str(folder))
    assert planned.exit_code == 3, planned.output
    assert f"+ {name}: new" in planned.output
    assert f"+ {changelog}" in planned.output and "repartition, partitions: 2" in planned.output
    assert destination.admin.describe(name) is None
    (folder / "connectors").mkdir()
    (folder / "connectors" / "c.json").write_text('{"name": "c", "config": {}}')
    status, differences = drift(folder)
    assert (status, [one["topic"] for one in differences["topics"]]) == (3, [name])
    assert differences["not_known"][-1].startswith(f"No worker can be reached at {NO_WORKER}")
    (folder / "connectors" / "c.json").unlink()
    (folder / "connectors").rmdir()
    status, differences = drift(folder)
    assert status == 3
    assert [(one["topic"], one["what"]) for one in differences["topics"]] == [(name, "topic")]
    assert len(differences["not_known"]) == 1 and name in differences["not_known"][0]  # its source topic is not there

    applied = project("apply", str(folder), "--yes")
    assert applied.exit_code == 0, applied.output
    assert f"Topic {name} has been created." in applied.output and "Application words has been initialized." in applied.output
    partitions = {topic: len(info.partitions) for topic, info in destination.admin.find([name, changelog, repartition]).items()}
    assert partitions == {name: 2, changelog: 2, repartition: 2}
    assert destination.admin.topic_configs(name, own_only=True) == {"retention.ms": "86400000"}
    assert project("plan", str(folder)).exit_code == 0
    assert drift(folder) == (0, {"connectors": {}, "topics": [], "applications": {}, "not_known": []})

    destination.alter(name, {"retention.ms": "1"})
    destination.alter(changelog, {"cleanup.policy": "delete"})
    status, differences = drift(folder)
    assert status == 3
    assert [(one["connector"], one["what"], one["wanted"], one["actual"]) for one in differences["topics"]] == [
        (None, "retention.ms", "86400000", "1")
    ]
    assert [(one["name"], one["state"]) for one in differences["applications"]["words"]] == [(changelog, "misconfigured")]
    shown = project("drift", str(folder))
    assert shown.exit_code == 3 and "86400000" in shown.output and 'should not contain "delete"' in shown.output

    assert changelog in refusal("apply", folder)
    assert destination.admin.topic_configs(name, own_only=True) == {"retention.ms": "1"}  # nothing is done if anything is refused
    destination.alter(changelog, {"cleanup.policy": "compact"})
    assert project("apply", str(folder), "--yes").exit_code == 0
    destination.await_settings(name, {"retention.ms": "86400000"})
    assert destination.admin.topic_configs(name, own_only=True) == {"retention.ms": "86400000"}
    assert drift(folder)[0] == 0


def test_partitions_are_added_and_what_kafka_cannot_change_is_refused_before_anything_is_done(
    folder: Path, destination: Cluster, name: str
):
    text = (folder / "project.toml").read_text()
    (folder / "project.toml").write_text(text[: text.index("[applications")])
    assert project("apply", str(folder), "--yes").exit_code == 0
    declare(folder, name, partitions=3)
    assert project("plan", str(folder)).exit_code == 3
    assert project("apply", str(folder), "--yes").exit_code == 0
    wait_until(lambda: len(destination.admin.find([name])[name].partitions) == 3, 120, "three partitions")

    declare(folder, name, partitions=1)
    assert "Kafka takes no partitions away" in refusal("plan", folder)
    declare(folder, name, partitions=20_000)
    assert "excessively large" in refusal("plan", folder).lower()
    declare(folder, name, partitions=3, replicas=2)
    assert "kafka-reassign-partitions.sh" in refusal("plan", folder)
    declare(folder, name, partitions=3, more='cleanup.policy = "nonsense"')
    assert "cleanup.policy" in refusal("apply", folder)
    declare(folder, name, partitions=3, more=f'["{name}-new"]\npartitions = 1\nreplication.factor = 9\n')
    assert "Unable to replicate the partition 9 time" in refusal("apply", folder)


def test_more_partitions_of_a_topic_that_an_initialized_application_reads_are_refused(folder: Path, name: str):
    assert project("apply", str(folder), "--yes").exit_code == 0
    declare(folder, name, partitions=3)
    assert "requires 3 partitions, but the existing topic on the broker has 2" in refusal("plan", folder)


def test_internal_topics_of_which_some_are_missing_are_not_completed(folder: Path, destination: Cluster, name: str):
    assert project("apply", str(folder), "--yes").exit_code == 0
    destination.admin.delete([f"{name}-app-counts-changelog"])
    assert "Some but not all internal topics are missing" in refusal("apply", folder)
    status, differences = drift(folder)
    assert status == 3 and [one["state"] for one in differences["applications"]["words"]] == ["missing"]
