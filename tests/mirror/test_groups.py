"""What MirrorCheckpointConnector and MirrorHeartbeatConnector write."""

from __future__ import annotations

import time
from itertools import pairwise

import httpx
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from prometheus_client.parser import text_string_to_metric_families
from pyspark.sql import SparkSession

from headrace.connectors.base import Poll, StoredOffsets, TaskContext
from headrace.connectors.mirror.checkpoint_task import GROUPS, MirrorCheckpointTask
from headrace.connectors.mirror.failover import Failover
from headrace.connectors.mirror.formats import Checkpoint, Heartbeat
from headrace.errors import RetriableError
from headrace.kafka.groups import CommittedOffset, GroupOffsets
from tests.clusters import record
from tests.mirror.flow import FLOW_S, Flow
from tests.support import captured_logs, wait_until

LATENCIES = {f"kafka_connect_{group}_checkpoint_latency_ms{ending}" for group in ("mirror_mirrorcheckpointconnector", "plugins")
             for ending in ("", "_min", "_max", "_avg")}  # fmt: skip


def checkpoint_latencies(flow: Flow, labels: dict[str, str]) -> set[str]:
    """The names of the metrics that have these labels, and perhaps more."""
    families = text_string_to_metric_families(httpx.get(flow.worker.url.rstrip("/") + "/metrics", timeout=100).text)
    return {sample.name for family in families for sample in family.samples if labels.items() <= sample.labels.items()}


def test_a_group_goes_on_in_the_target_where_it_was_in_the_source(flow: Flow) -> None:
    topic, group = f"{flow.name}-read", f"{flow.name}-readers"
    flow.source.create(topic, 2)
    flow.source.produce(topic, [record(partition=n % 2) for n in range(500)])
    in_source, in_target = (GroupOffsets({"bootstrap.servers": c.bootstrap}, group) for c in (flow.source, flow.destination))
    in_source.commit({(topic, p): CommittedOffset(250, f"time {p}") for p in (0, 1)}, 30)
    flow.await_copied(topic, 500)
    name = flow.deploy("MirrorCheckpointConnector", {
        "checkpoints.topic.replication.factor": "1", "refresh.groups.interval.seconds": "1", "sync.group.offsets.enabled": "true",
        "emit.checkpoints.interval.seconds": "1", "sync.group.offsets.interval.seconds": "1",
        "metric.names.formats": "legacy,new",
    })  # fmt: skip
    copy = flow.copy(topic)

    def last() -> dict[int, Checkpoint]:
        found = [Checkpoint.read(r.key, r.value) for r in flow.destination.read(f"{flow.alias}.checkpoints.internal")]
        return {c.partition: c for c in found if (c.group, c.topic) == (group, copy)}

    at_end = {p: Checkpoint(group, copy, p, 250, 250, f"time {p}") for p in (0, 1)}
    wait_until(lambda: last() == at_end, FLOW_S, "checkpoints of the group, at the end of each partition")
    copies = [(copy, 0), (copy, 1)]
    synced = {(copy, p): CommittedOffset(250, f"time {p}") for p in (0, 1)}
    wait_until(lambda: in_target.committed(copies, 30) == synced, FLOW_S, "its offsets, with the texts beside them")
    planned = Failover({**flow.config("MirrorCheckpointConnector"), "groups": group}).plan()
    assert [(s.topic, s.partition, s.upstream, s.start, s.lag, s.exact, s.committed, s.from_source) for s in planned] == [
        (copy, p, 250, 250, 0, True, 250, True) for p in (0, 1)
    ]
    flow.source.admin.commit(group, {(topic, 0): 100})  # it reads again
    wait_until(lambda: last()[0].upstream == 100 and 0 <= last()[0].downstream <= 100, FLOW_S, "a checkpoint further back")
    assert in_target.read([(copy, 0)], 30) == {(copy, 0): 250}, "offsets in the target only ever go forward"
    labels = {"source": flow.alias, "target": f"{flow.name}-b", "group": group, "topic": copy, "partition": "0"}
    wait_until(lambda: checkpoint_latencies(flow, labels) >= LATENCIES, FLOW_S, "latencies of checkpoints")
    flow.remove(name)
    failover = Failover({**flow.config("MirrorCheckpointConnector"), "groups": group})
    back = [switch for switch in failover.plan() if switch.partition == 0]
    failover.commit(back)
    assert in_target.committed(copies, 30) == {(copy, 0): CommittedOffset(back[0].start), (copy, 1): synced[copy, 1]}


def test_a_group_that_does_not_answer_leaves_the_others(flow: Flow, spark: SparkSession) -> None:
    topic, silent, steady = f"{flow.name}-read", f"{flow.name}-silent", f"{flow.name}-steady"
    flow.source.admin.commit(steady, {(topic, 0): 250})
    group = Consumer({"bootstrap.servers": flow.source.bootstrap, "group.id": silent})
    settings = {"bootstrap.servers": flow.source.bootstrap, "transactional.id": silent, "transaction.timeout.ms": "900000"}
    hanging = Producer(settings)
    hanging.init_transactions(120)
    hanging.begin_transaction()
    hanging.send_offsets_to_transaction([TopicPartition(topic, 0, 1)], group.consumer_group_metadata(), 120)
    group.close()
    task = MirrorCheckpointTask(TaskContext("steady", 0))
    stable = {"source.admin.isolation.level": "read_committed", "admin.timeout.ms": "3000", GROUPS: f"{silent},{steady}"}
    task.start({**flow.config("MirrorCheckpointConnector"), **stable, "emit.checkpoints.interval.seconds": "1"})

    def poll() -> Poll | None:
        try:
            return task.poll(spark, StoredOffsets([]))
        except RetriableError:
            return None

    found = wait_until(poll, FLOW_S, "a checkpoint of the group that answers")
    task.stop()
    hanging.abort_transaction(120)
    assert found and [partition for partition, _ in found.progress.offsets] == [
        {"group": steady, "partition": 0, "topic": flow.copy(topic)}
    ]


def test_without_the_source_the_last_checkpoints_say_where_to_start(flow: Flow) -> None:
    away = {"source.cluster.bootstrap.servers": "127.0.0.1:1", "groups": f"{flow.name}-readers"}
    config = flow.config("MirrorCheckpointConnector") | away
    found = Failover(config, source_s=1).plan()
    assert {(s.topic, s.from_source, s.exact) for s in found} == {(flow.copy(f"{flow.name}-read"), False, False)}


def test_without_the_source_groups_are_committed_in_the_target_all_the_same(flow: Flow, spark: SparkSession) -> None:
    group, busy, copy = f"{flow.name}-left", f"{flow.name}-busy", flow.copy(f"{flow.name}-read")
    positions = [(copy, 0, 40, 30), (copy, 9, 1, 1), (f"{copy}-deleted", 0, 1, 1)]
    written = [*(Checkpoint(group, *position) for position in positions), Checkpoint(busy, copy, 0, 40, 30)]
    flow.destination.produce(f"{flow.alias}.checkpoints.internal", [record(key=c.key(), value=c.value()) for c in written])
    away = {"source.cluster.bootstrap.servers": "127.0.0.1:1", "sync.group.offsets.enabled": "true", "admin.timeout.ms": "5000",
            "offset-syncs.topic.location": "target"}  # fmt: skip
    flow.destination.create(f"mm2-offset-syncs.{flow.alias}.internal")
    task = MirrorCheckpointTask(TaskContext("left", 0))
    task.start({**flow.config("MirrorCheckpointConnector"), **away, GROUPS: f"{group},{busy}"})
    with flow.destination.member(busy, copy), captured_logs() as logs, pytest.raises(RetriableError):
        task.poll(spark, StoredOffsets([]))
    task.stop()
    assert flow.destination.admin.committed(group, 30, [(copy, 0)]) == {(copy, 0): 30}
    assert flow.destination.admin.committed(busy, 30, [(copy, 0)]) == {}
    refusals = [(line["log_level"], line["event"]) for line in logs if "Unable to sync offsets" in line["event"]]
    reason = "This is likely caused by consumers currently using this group in the target cluster."
    assert refusals == [("warning", f"Unable to sync offsets for consumer group {busy}. {reason}")], (
        "and none of what is not there"
    )


def test_heartbeats_come_every_second(flow: Flow) -> None:
    begun = time.time() * 1000

    def beats() -> list[Heartbeat]:
        found = [Heartbeat.read(r.key, r.value) for r in flow.destination.read("heartbeats")]
        return [b for b in found if b.source == flow.alias and b.target == f"{flow.name}-b" and b.timestamp > begun]

    wait_until(lambda: beats()[2:], FLOW_S, "heartbeats")
    found = beats()
    assert all(later.timestamp - earlier.timestamp >= 1000 for earlier, later in pairwise(found))
