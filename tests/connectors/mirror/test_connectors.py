"""What the connectors do while a cluster is away, or does not allow something; without a worker."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from headrace.connectors.base import ConnectorContext, SourceConnector
from headrace.connectors.mirror.checkpoint_connector import MirrorCheckpointConnector
from headrace.connectors.mirror.checkpoint_task import GROUPS
from headrace.connectors.mirror.heartbeat import MirrorHeartbeatConnector
from headrace.connectors.mirror.mirrored_topics import decode
from headrace.connectors.mirror.schedule import NEVER_S, Job, Schedule, interval_s
from headrace.connectors.mirror.source_connector import MirrorSourceConnector
from headrace.connectors.mirror.source_task import ASSIGNED
from headrace.errors import ConfigError, RetriableError
from headrace.kafka.failures import KafkaFailure
from tests.clusters import Cluster
from tests.support import captured_logs, wait_until

AWAY = {
    "name": "mirror", "source.cluster.alias": "A", "target.cluster.alias": "B", "admin.timeout.ms": "300",
    "source.cluster.bootstrap.servers": "127.0.0.1:1", "target.cluster.bootstrap.servers": "127.0.0.1:1",
}  # fmt: skip
Start = Callable[..., tuple[MirrorSourceConnector, list[Exception]]]


def task_configs(kind: type[SourceConnector], props: dict[str, str]) -> list[dict[str, str]]:
    """Those of a connector that has just been started."""
    connector = kind(ConnectorContext("mirror", lambda: None, lambda _: None))
    try:
        connector.start(props)
        return connector.task_configs(1)
    finally:
        connector.stop()


def test_while_the_groups_are_not_known_tasks_stay_as_they_are() -> None:
    with pytest.raises(RetriableError, match="have not been loaded yet"):
        task_configs(MirrorCheckpointConnector, AWAY)
    assert task_configs(MirrorCheckpointConnector, {**AWAY, "enabled": "false"}) == []


def test_heartbeats_begin_although_their_topic_cannot_be_created_yet() -> None:
    assert len(task_configs(MirrorHeartbeatConnector, AWAY)) == 1


def test_a_negative_interval_means_that_a_task_is_not_wanted() -> None:
    assert task_configs(MirrorHeartbeatConnector, {**AWAY, "emit.heartbeats.interval.seconds": "-1"}) == []
    assert task_configs(MirrorCheckpointConnector, {**AWAY, "emit.checkpoints.interval.seconds": "-1"}) == []


def test_what_is_switched_off_has_no_tasks() -> None:
    assert task_configs(MirrorSourceConnector, {**AWAY, "enabled": "false"}) == []
    assert task_configs(MirrorHeartbeatConnector, {**AWAY, "emit.heartbeats.enabled": "false"}) == []


@pytest.fixture
def mirroring() -> Iterator[Start]:
    """Started connectors, with the errors that they report."""
    with ExitStack() as started:

        def start(**changes: str) -> tuple[MirrorSourceConnector, list[Exception]]:
            errors = list[Exception]()
            connector = MirrorSourceConnector(ConnectorContext("mirror", lambda: None, errors.append))
            started.callback(connector.stop)
            connector.start({**AWAY, **{name.replace("_", "."): value for name, value in changes.items()}})
            return connector, errors

        yield start


def test_jobs_that_are_switched_off_are_not_there_or_never_come(mirroring: Start) -> None:
    def jobs(**changes: str) -> dict[str, float]:
        return {job.what: job.interval_s for job in mirroring(**changes)[0]._jobs(ready=True)}

    assert jobs() == {"refreshing topics": 600, "syncing topic ACLs": 600, "syncing topic configs": 600}
    off = jobs(refresh_topics_enabled="false", sync_topic_acls_enabled="false", sync_topic_configs_enabled="false")
    assert off == {"refreshing topics": NEVER_S}


def test_defaults_of_the_source_are_written_where_that_is_asked_for(mirroring: Start) -> None:
    assert not mirroring()[0]._setting_filter().source_defaults
    assert mirroring(use_defaults_from="source")[0]._setting_filter().source_defaults


def test_a_target_that_cannot_alter_single_settings_fails_the_connector(mirroring: Start) -> None:
    connector, errors = mirroring()

    def refuse(code: str) -> None:
        raise KafkaFailure(code, "no")

    connector._change("A.t", lambda: refuse("POLICY_VIOLATION"))
    assert not errors
    connector._change("A.t", lambda: refuse("UNSUPPORTED_VERSION"))
    assert [str(error) for error in errors] == ["the target cluster 'B' is not compatible with IncrementalAlterConfigs API"]


def test_a_job_with_a_negative_interval_is_never_run() -> None:
    calls: list[str] = []
    other = threading.Event()
    schedule = Schedule("jobs", [Job("off", lambda: calls.append("off"), -1), Job("once", other.set, interval_s(True, -1))])
    schedule.start()
    assert other.wait(180)
    schedule.stop(60)
    assert calls == []


def test_a_job_with_an_interval_of_zero_makes_pauses() -> None:
    begun = list[float]()
    schedule = Schedule("jobs", [Job("often", lambda: begun.append(time.monotonic()), interval_s(True, 0))])
    schedule.start()
    wait_until(lambda: len(begun) > 1, 180, "a second run")
    schedule.stop(60)
    assert begun[1] - begun[0] > 0.9


def test_topics_and_groups_are_mirrored_where_the_mirrors_own_topics_are_refused(
    source: Cluster, topic_name: Callable[[str], str]
) -> None:
    topic, group = topic_name("refused"), topic_name("group")
    source.create(topic)
    source.admin.commit(group, {(topic, 0): 0})
    props = {
        **AWAY, "source.cluster.alias": topic, "target.cluster.alias": f"{topic}-b", "admin.timeout.ms": "30000",
        "source.cluster.bootstrap.servers": source.bootstrap, "target.cluster.bootstrap.servers": source.bootstrap,
        "topics": topic, "groups": group, "heartbeats.replication.enabled": "false", "replication.factor": "1",
        "offset-syncs.topic.replication.factor": "3", "checkpoints.topic.replication.factor": "3",  # there is one broker
    }  # fmt: skip
    with captured_logs() as logs:
        (mirrored,) = task_configs(MirrorSourceConnector, props)
        task_configs(MirrorSourceConnector, {**props, "source.cluster.alias": f"{topic}-c", "replication.factor": "3"})
    said = [line for line in logs if line["event"].startswith(("mirror.topic.created", "Could not create topic"))]
    assert [(line["event"], line.get("topic")) for line in said] == [
        ("mirror.topic.created", f"{topic}.{topic}"),
        (f"Could not create topic {topic}-c.{topic}.", None),
    ]
    assert decode(mirrored[ASSIGNED]) == [(topic, 0)]
    assert source.admin.describe(f"{topic}.{topic}") is not None
    (translated,) = task_configs(MirrorCheckpointConnector, props)
    assert translated[GROUPS] == group


def test_a_mirror_of_two_topics_into_one_copy_is_failed_also_when_the_second_one_comes_later(
    source: Cluster, topic_name: Callable[[str], str]
) -> None:
    topic, errors = topic_name("one-copy"), list[Exception]()
    source.create(topic)
    props = {
        **AWAY, "source.cluster.alias": topic, "target.cluster.alias": f"{topic}-b", "admin.timeout.ms": "30000",
        "source.cluster.bootstrap.servers": source.bootstrap, "target.cluster.bootstrap.servers": source.bootstrap,
        "topics": f"{topic},{topic}-2", "heartbeats.replication.enabled": "false", "replication.factor": "1",
        "emit.offset-syncs.enabled": "false", "replication.policy.renames": f"{topic}:{topic}.{topic}-2",
        "refresh.topics.interval.seconds": "1", "sync.topic.configs.enabled": "false", "sync.topic.acls.enabled": "false",
    }  # fmt: skip
    connector = MirrorSourceConnector(ConnectorContext("mirror", lambda: None, errors.append))
    connector.start(props)
    source.create(f"{topic}-2")
    wait_until(lambda: errors, 180, "an error of the connector")
    connector.stop()
    assert "would both be mirrored" in str(errors[0])
    assert source.admin.describe(f"mm2-offset-syncs.{topic}-b.internal") is None, "offset syncs are switched off"
    with pytest.raises(ConfigError, match="would both be mirrored"):
        connector.start(props)
