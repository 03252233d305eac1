"""`headrace project drift`: how what runs differs from a project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import typer

from headrace.cli.connectors import options, tables
from headrace.cli.connectors.apply import differences
from headrace.cli.connectors.texts import plain
from headrace.cli.project import folder
from headrace.config.diff import Action, Diff
from headrace.config.redaction import redact
from headrace.errors import HeadraceError


@dataclass
class ProjectDrift:
    """The differences, and what could not be compared."""

    connectors: list[Diff] = field(default_factory=list)
    topics: list[Mapping[str, Any]] = field(default_factory=list)
    """Members of TopicDrift, and `connector`: whose rule it is, None for a topic that the project declares."""
    applications: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """By name: the internal topics that are not as they have to be, as `headrace streams plan --json` prints them."""
    not_known: list[str] = field(default_factory=list)
    """What could not be compared, and why: a sentence each."""

    @property
    def differs(self) -> bool:
        """Whether anything differs."""
        return bool(self.connectors or self.topics or self.applications)

    def json(self) -> dict[str, Any]:
        """For a machine."""
        connectors = {
            diff.name: "missing" if diff.action is Action.CREATE else [setting.key for setting in diff.settings]
            for diff in self.connectors
        }
        not_known = list(map(redact, self.not_known))
        return {"connectors": connectors, "topics": self.topics, "applications": self.applications, "not_known": not_known}

    def show(self) -> None:
        """For a terminal."""
        for diff in self.connectors:
            keys = ", ".join(setting.key for setting in diff.settings)
            typer.echo(f"{plain(diff.name)}: {'is not there' if diff.action is Action.CREATE else f'differs in {plain(keys)}'}")
        for application, topics in self.applications.items():
            for topic in topics:
                typer.echo(
                    f"{plain(application)}: internal topic {topic['name']} is {topic['state']}. {' '.join(topic['problems'])}"
                )
        if self.topics:
            tables.show(tables.drift(self.topics))
        for sentence in self.not_known:
            typer.echo(plain(redact(sentence)), err=True)


def project_drift(target: Path, env: folder.Environment) -> ProjectDrift:
    """Compare topics, streams applications and connectors with a project.

    A cluster or a worker that does not answer is among what is not known. Raises ConfigError, SetupError for what is wrong with
    the project.
    """
    drift = ProjectDrift()
    _topics(target, env, drift)
    _applications(target, env, drift)
    if connectors := folder.connectors(target, env):
        client = options.connect(env.worker_url(), env.url_setting())
        try:
            diffs = differences(client, connectors)
        except HeadraceError as error:  # what was found before it counts
            drift.not_known.append(error.message)
            return drift
        drift.connectors = [diff for diff in diffs if diff.action is not Action.KEEP]
        drift.not_known += [
            f"{diff.name}: {', '.join(diff.not_known)}: the worker hides the running value from this user; ask as one of the "
            "role admin, or give the value by a config provider."
            for diff in diffs
            if diff.not_known
        ]
        for name in sorted(connectors.keys() - {diff.name for diff in drift.connectors if diff.action is Action.CREATE}):
            try:
                response = client.call("GET", "headrace", "connectors", name, "topics", "drift").object
                drift.topics += [{"connector": name, **difference} for difference in response["drift"]]
            except HeadraceError as error:  # its cluster is away, perhaps: the others are looked at
                drift.not_known.append(f"{name}: {error.message}")
    return drift


def _topics(target: Path, env: folder.Environment, drift: ProjectDrift) -> None:
    if not (declared := folder.topics(target, env)):
        return
    from headrace.cli.project.topics import declared_drift
    from headrace.kafka.inspection import InspectingAdmin

    admin = InspectingAdmin(env.client_settings())
    try:
        by_topic = declared_drift(admin, declared)
    except HeadraceError as error:
        drift.not_known.append(f"{folder.TOPICS}: {error.message}")
        return
    drift.topics += [{"connector": None, **asdict(difference)} for differences in by_topic.values() for difference in differences]


def _applications(target: Path, env: folder.Environment, drift: ProjectDrift) -> None:
    if not (applications := folder.applications(target, env)):
        return
    from headrace.cli.project.streams import streams_of

    for name, streams in streams_of(applications, env.client_settings()).items():
        try:
            differing = [topic for topic in streams.describe_internal_topics().json() if topic["state"] != "ok"]
        except HeadraceError as error:
            drift.not_known.append(f"{name}: {error.message}")
            continue
        if differing:
            drift.applications[name] = differing
