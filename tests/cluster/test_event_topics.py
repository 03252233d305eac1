"""The topics of history and audit on a real broker: created with their retention, read by who comes later."""

from __future__ import annotations

from collections.abc import Callable

from headrace.cluster.event_log import EventLogs, EventTopic, kafka_event_logs
from headrace.kafka.admin import Admin
from headrace.kafka.log import CompactedLog, LogFactory
from tests.clusters import Cluster
from tests.support import wait_until


def test_events_outlive_the_worker_that_wrote_them(destination: Cluster, topic_name: Callable[[str], str]):
    props = {"bootstrap.servers": destination.bootstrap}
    admin, name = Admin(props), topic_name("history")

    def make(topic: str) -> LogFactory:
        return lambda on_record: CompactedLog(topic, props, props, on_record, admin=admin)

    def started() -> EventLogs:
        logs = kafka_event_logs({"history": EventTopic(name, 1, 3_600_000), "audit": None}, admin, make)
        logs.start()
        return logs

    first = started()
    first.history.add(connector="c", state="RUNNING")
    first.history.add(connector="d", state="FAILED", cause="x")
    wait_until(lambda: first.history.durable and len(first.history.last(9)) == 2, 180, "both are read back")
    first.stop()
    later = started()
    wait_until(lambda: len(later.history.last(9)) == 2, 180, "the next worker reads them")
    assert [event["state"] for event in later.history.last(9, connector="c")] == ["RUNNING"]
    assert (later.audit.durable, admin.topic_configs(name)["retention.ms"]) == (False, "3600000")
    assert admin.topic_configs(name)["cleanup.policy"] == "delete"
    later.stop()


def test_an_event_that_the_topic_does_not_take_is_kept_in_memory(destination: Cluster, topic_name: Callable[[str], str]):
    props = {"bootstrap.servers": destination.bootstrap}
    name = topic_name("history")
    destination.create(name, 1, {"max.message.bytes": "1000"})
    logs = kafka_event_logs(
        {"history": EventTopic(name, 1, 3_600_000), "audit": None},
        Admin(props),
        lambda topic: lambda on_record: CompactedLog(topic, props, props, on_record),
    )
    logs.start()
    wait_until(lambda: logs.history.durable, 180, "the topic is read")
    logs.history.add(connector="c", state="FAILED", cause="x" * 2000)
    wait_until(lambda: logs.history.last(9), 180, "it is kept")
    logs.history.add(connector="d", state="RUNNING")
    wait_until(lambda: len(logs.history.last(9)) == 2, 180, "both are known")
    assert [r.key for r in destination.read(name)] == [b"d"]
    logs.stop()
