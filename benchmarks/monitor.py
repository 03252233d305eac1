"""How long a look of the partition monitor (KIP-310) takes at a source of 10,000 partitions, and what it asks of the brokers."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from rich.console import Console

from benchmarks import report
from benchmarks.cpu import CpuTime, foreign_share
from benchmarks.options import Options
from benchmarks.process import BenchmarkError
from headrace.config.java_pattern import java_regex
from headrace.connectors.kafka_source.monitor import PartitionMonitor, TopicMonitorSettings
from headrace.embedded import Broker
from headrace.kafka.admin import Admin
from headrace.kafka.topic_info import TopicInfo

PARTITIONS, LOOKS = 100, 10
_CREATE_S, _LOOK_S = 300, 60
_REQUESTS = "-Dorg.slf4j.simpleLogger.log.kafka.request.logger=debug"
"""Has a broker log every request that it has answered."""
CLIENT = "partition-monitor"


@contextmanager
def logging_requests() -> Iterator[None]:
    """Brokers that are started meanwhile log every request."""
    before = os.environ.get("JAVA_TOOL_OPTIONS")
    os.environ["JAVA_TOOL_OPTIONS"] = _REQUESTS
    try:
        yield
    finally:
        del os.environ["JAVA_TOOL_OPTIONS"]
        if before is not None:
            os.environ["JAVA_TOOL_OPTIONS"] = before


def requests(broker: Broker, client: str) -> list[str]:
    """The requests of a client that such a broker has answered, by their names, in order."""
    mark = f'"clientId":"{client}"'
    lines = broker.log.read_text(errors="replace").splitlines()
    return [line.partition('"requestApiKeyName":"')[2].partition('"')[0] for line in lines if mark in line[:400]]


def run(options: Options, console: Console) -> None:
    """Measure, print the table, and write results/monitor.json unless the run is quick."""
    topics = 10 if options.quick else 100
    before = CpuTime.now()
    with logging_requests(), Broker(name="monitor") as broker:
        _create(broker.bootstrap, topics)
        took_ms, asked = looks(broker, topics * PARTITIONS)
    foreign = foreign_share(before)
    rows = [report.Row(f"look-{topics * PARTITIONS}", "ms", took_ms, []), report.Row("requests", "a look", [asked], [])]
    report.show("Partition monitor", "-", rows, console)
    report.warn_if_busy(foreign, console)
    if not options.quick:
        method = {"topics": topics, "partitions": PARTITIONS, "looks": LOOKS, "foreign_cpu": [foreign]}
        console.print(f"written: {report.save('monitor', rows, method)}")


def looks(broker: Broker, expected: int) -> tuple[list[float], float]:
    """Let a monitor look LOOKS times; returns the ms of each look but the first, which connects, and the requests of one."""
    took, enough = list[float](), threading.Event()
    admin = Admin({"bootstrap.servers": broker.bootstrap, "client.id": CLIENT})

    def listing(timeout_s: float) -> dict[str, TopicInfo]:
        begun = time.monotonic()
        found = admin.topics(timeout_s)
        took.append((time.monotonic() - begun) * 1000)
        if len(took) > LOOKS:
            enough.set()
        return found

    monitor = PartitionMonitor(listing, TopicMonitorSettings(java_regex("look-.*"), _LOOK_S, interval_s=0.2), lambda: None)
    monitor.start()
    if not enough.wait((LOOKS + 1) * _LOOK_S):
        raise BenchmarkError(f"The monitor has not looked {LOOKS} times.")
    monitor.stop(_LOOK_S)
    if len(monitor.partitions) != expected:
        raise BenchmarkError(f"The monitor has found {len(monitor.partitions)} partitions of {expected}.")
    asked = [name for name in requests(broker, CLIENT) if name != "API_VERSIONS"]
    return took[1:], len(asked) / len(took)


def _create(bootstrap: str, topics: int) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    for number in range(topics):
        topic = NewTopic(f"look-{number}", PARTITIONS, 1)
        for future in admin.create_topics([topic], operation_timeout=_CREATE_S, request_timeout=_CREATE_S).values():
            future.result(_CREATE_S)
    deadline = time.monotonic() + _CREATE_S
    while len(admin.list_topics(timeout=_LOOK_S).topics) < topics:  # the broker makes the logs before it shows the next topics
        if time.monotonic() > deadline:
            raise BenchmarkError(f"{topics} topics were created, and the broker does not show them within {_CREATE_S} s.")
        time.sleep(0.5)
