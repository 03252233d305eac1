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
    wait_until(lambda: first.history.durable and len(first.history.last(9)) == 2, 60, "both are read back")
    first.stop()
    later = started()
    wait_until(lambda: len(later.history.last(9)) == 2, 60, "the next worker reads them")
    assert [event["state"] for event in later.history.last(9, connector="c")] == ["RUNNING"]
    assert (later.audit.durable, admin.topic_configs(name)["retention.ms"]) == (False, "3600000")
    assert admin.topic_configs(name)["cleanup.policy"] == "delete"
    later.stop()
