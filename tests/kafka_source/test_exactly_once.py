"""A worker with `exactly.once.source.support=enabled`: records and their offsets in one transaction (KIP-618)."""

from __future__ import annotations

import json
from collections.abc import Callable

import httpx
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from headrace.connectors.mirror.formats import OffsetSync
from headrace.spark.plane import cores
from headrace.testing.worker import EmbeddedWorker
from tests.clusters import Cluster, record
from tests.deployed import CONNECTOR_S, Deployed
from tests.kafka_source.mirror import Mirror
from tests.kafka_source.test_faults import await_all, await_more, copied
from tests.sending import Sender
from tests.support import wait_until

PARTITIONS = 3
SOON_S = 30
"""Less than a transaction of Kafka's clients waits for brokers (60 s)."""


@pytest.fixture
def mirror(exact_mirror: Callable[..., Mirror]) -> Callable[..., Mirror]:
    partitions = {"topic.creation.default.partitions": str(PARTITIONS)}
    return lambda whitelist, config=None: exact_mirror(whitelist, {**partitions, **(config or {})})


def test_records_and_offsets_are_committed_together_and_once(
    mirror: Callable[..., Mirror], source: Cluster, destination: Cluster, topic_name: Callable[[str], str]
) -> None:
    topic = topic_name("topic")
    source.create(topic, PARTITIONS)
    sent = [record(b"k%d" % n, b"%d" % n, [("h", b"x")], 1_700_000_000_000 + n, n % PARTITIONS) for n in range(300)]
    source.produce(topic, sent)
    one = mirror(topic)
    end = 99
    wait_until(lambda: list(one.offsets().values()) == [end] * PARTITIONS, CONNECTOR_S, lambda: f"all is copied; {one.status()}")
    copied = destination.read(one.prefix + topic, settled=True)
    assert sorted(copied) == sorted(sent)
    one.await_topics(one.prefix + topic)
    producer = Producer({"bootstrap.servers": source.bootstrap, "transactional.id": topic})
    producer.init_transactions()
    producer.begin_transaction()
    producer.produce(topic, b"last", partition=0)
    producer.commit_transaction()
    ends = {f"{topic}:{n}": end for n in range(PARTITIONS)} | {f"{topic}:0": end + 2}
    wait_until(lambda: one.offsets() == ends, CONNECTOR_S, lambda: f"the marker's offset is stored, too; {one.offsets()}")
    assert one.states() == ["RUNNING", "RUNNING"]


def test_offset_syncs_of_a_mirror_let_no_group_skip_a_record(
    exact: EmbeddedWorker, source: Cluster, destination: Cluster, topic_name: Callable[[str], str]
) -> None:
    topic, alias, name = topic_name("topic"), topic_name("a"), topic_name("mirror")
    source.create(topic)
    sides = {"source": (alias, source), "target": (f"{alias}-b", destination)}
    one = Deployed(exact, name, {
        "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector", "tasks.max": "1", "topics": topic,
        "exactly.once.support": "required", "source.consumer.isolation.level": "read_committed", "replication.factor": "1",
        "offset-syncs.topic.replication.factor": "1", "offset.lag.max": "0", "heartbeats.replication.enabled": "false",
        **{f"{side}.cluster.alias": of for side, (of, _) in sides.items()},
        **{f"{side}.cluster.bootstrap.servers": cluster.bootstrap for side, (_, cluster) in sides.items()},
    })  # fmt: skip
    one.create()
    producer = Producer({"bootstrap.servers": source.bootstrap, "transactional.id": topic})
    producer.init_transactions()
    for number, end in enumerate((producer.commit_transaction, producer.abort_transaction, producer.commit_transaction)):
        producer.begin_transaction()
        for n in range(3):
            producer.produce(topic, b"%d" % (3 * number + n), partition=0)
        end()
    last = next(offset for offset, value in places(source, topic).items() if value == b"8")

    def syncs() -> list[OffsetSync]:
        return [OffsetSync.read(r.key, r.value) for r in source.read(f"mm2-offset-syncs.{alias}-b.internal")]

    wait_until(lambda: any(sync.upstream >= last for sync in syncs()), CONNECTOR_S, lambda: f"{syncs()}; {one.status()}")
    copies = {value: offset for offset, value in places(destination, f"{alias}.{topic}").items()}
    assert sorted(copies) == [b"0", b"1", b"2", b"6", b"7", b"8"]
    for sync in syncs():
        after = [value for offset, value in places(source, topic).items() if offset > sync.upstream]
        assert all(copies[value] > sync.downstream for value in after), sync
    one.delete()


def places(cluster: Cluster, topic: str) -> dict[int, bytes]:
    """The values of the committed records in the one partition of a topic, by offset."""
    cluster.read(topic, settled=True)
    settings = {"bootstrap.servers": cluster.bootstrap, "group.id": "reader", "isolation.level": "read_committed"}
    consumer = Consumer({**settings, "enable.auto.commit": False, "enable.partition.eof": True})
    consumer.assign([TopicPartition(topic, 0, 0)])
    found: dict[int, bytes] = {}
    while message := consumer.poll(120):
        if message.error():  # the end
            break
        found[message.offset() or 0] = message.value() or b""
    consumer.close()
    return found


def test_a_connectors_own_offset_topic_has_its_offsets_and_the_workers_a_copy(
    mirror: Callable[..., Mirror], source: Cluster, destination: Cluster, topic_name: Callable[[str], str]
) -> None:
    topic, own = topic_name("topic"), topic_name("own-offsets")
    source.create(topic)
    source.produce(topic, [record(value=b"%d" % n) for n in range(5)])
    one = mirror(topic, {"offsets.storage.topic": own})
    partition = f"{topic}:0"
    wait_until(lambda: one.offsets() == {partition: 4}, CONNECTOR_S, lambda: f"all is copied; {one.status()}")
    key = json.dumps([one.name, {"topic:partition": partition}], separators=(",", ":")).encode()
    topic_id = source.admin.topic_ids([topic])[topic]

    def at(offset: int) -> bytes:
        return b'{"topicId":"%s","offset":%d}' % (topic_id.encode(), offset)

    for where in (own, "exact-offset"):
        wait_until(lambda where=where: stored(destination, where, key) == at(4), CONNECTOR_S, f"the offset in {where}")
    one.put("stop")
    one.await_states("STOPPED")
    change = {"offsets": [{"partition": {"topic:partition": partition}, "offset": {"offset": 2}}]}
    one.worker.call("PATCH", f"{one.path}/offsets", change)
    assert stored(destination, own, key) == stored(destination, "exact-offset", key) == b'{"offset":2}'
    one.put("resume")
    wait_until(lambda: one.offsets() == {partition: 4}, CONNECTOR_S, "the last two are copied again")
    copied = destination.read(one.prefix + topic, settled=True)
    assert sorted(r.value or b"" for r in copied) == [b"0", b"1", b"2", b"3", b"3", b"4", b"4"]
    one.put("stop")
    one.await_states("STOPPED")
    one.worker.call("DELETE", f"{one.path}/offsets")
    assert one.offsets() == {}
    assert stored(destination, own, key) is stored(destination, "exact-offset", key) is None


def test_what_precedes_a_record_that_fails_is_committed_and_tolerated_ones_are_dead_letters(
    mirror: Callable[..., Mirror], source: Cluster, destination: Cluster, topic_name: Callable[[str], str]
) -> None:
    topic, letters = topic_name("topic"), topic_name("letters")
    source.create(topic)
    source.produce(topic, [record(value=value) for value in (b'{"a":"1"}', b'{"a":"x"}', b'{"a":"3"}')])
    cast = {
        "source.value.converter": "org.apache.kafka.connect.json.JsonConverter", "source.value.converter.schemas.enable": "false",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter", "value.converter.schemas.enable": "false",
        "transforms": "cast", "transforms.cast.type": "org.apache.kafka.connect.transforms.Cast$Value",
        "transforms.cast.spec": "a:int32",
    }  # fmt: skip
    one = mirror(topic, cast)
    trace = one.trace()
    assert "Tolerance exceeded in error handler" in trace
    assert f"topic={topic}, partition=0, offset=1" in trace
    assert [r.value for r in destination.read(one.prefix + topic, settled=True)] == [b'{"a":1}']
    assert one.offsets() == {f"{topic}:0": 0}
    one.configure({
        "errors.tolerance": "all", "errors.deadletterqueue.topic.name": letters,
        "errors.deadletterqueue.topic.replication.factor": "1",
    })  # fmt: skip
    wait_until(lambda: one.offsets() == {f"{topic}:0": 2}, CONNECTOR_S, lambda: f"all is copied; {one.status()}")
    copied = destination.read(one.prefix + topic, settled=True)  # records without a key: each run takes any partition
    assert sorted(r.value or b"" for r in copied) == [b'{"a":1}', b'{"a":3}']
    assert [r.value for r in destination.read(letters, settled=True)] == [b'{"a":"x"}']


def test_what_precedes_a_record_whose_chain_throws_is_committed(
    mirror: Callable[..., Mirror], source: Cluster, destination: Cluster, topic_name: Callable[[str], str]
) -> None:
    topic = topic_name("topic")
    source.create(topic)
    source.produce(topic, [record(value=value) for value in (b"1", b"ab" * 200_000, b"3")])
    sql = {"transforms": "sql", "transforms.sql.type": "headrace.transforms.Sql"}
    one = mirror(topic, {**sql, "transforms.sql.value": "encode(regexp_replace(string(value), '(a|b)*', ''), 'utf-8')"})
    assert "too deep a stack for this record" in one.trace()
    assert [r.value for r in destination.read(one.prefix + topic, settled=True)] == [b"1"]
    assert one.offsets() == {f"{topic}:0": 0}


def test_new_tasks_start_after_those_before_them_were_fenced_off(
    mirror: Callable[..., Mirror], source: Cluster, destination: Cluster, topic_name: Callable[[str], str]
) -> None:
    topic = topic_name("topic")
    source.create(topic, PARTITIONS)
    one = mirror(topic, {"tasks.max": "2"})
    one.await_states("RUNNING", "RUNNING", "RUNNING")
    assert fencing_counts(destination, one.name) == [2]
    one.configure({"tasks.max": "3"})
    one.await_states("RUNNING", "RUNNING", "RUNNING", "RUNNING")
    assert fencing_counts(destination, one.name) == [2, 3]
    source.produce(topic, [record(value=b"%d" % n, partition=n % PARTITIONS) for n in range(9)])
    assert len(one.await_copied(topic, 9)) == 9


def test_a_task_that_is_fenced_off_again_and_again_goes_on_and_writes_each_record_once(
    mirror: Callable[..., Mirror], source: Cluster, destination: Cluster, topic_name: Callable[[str], str]
) -> None:
    topic = topic_name("topic")
    source.create(topic, PARTITIONS)
    one = mirror(topic)
    with Sender(source.bootstrap, topic, PARTITIONS) as sender:
        await_more([one], topic)
        for _ in range(3):  # while it writes, or commits
            fencing = Producer({"bootstrap.servers": destination.bootstrap, "transactional.id": f"exact-{one.name}-0"})
            fencing.init_transactions(60)
            await_more([one], topic)
        sender.stop()
    await_all([one], sender)
    assert [copied(one, topic, partition) for partition in range(PARTITIONS)] == [sender.values(n) for n in range(PARTITIONS)]
    assert one.states() == ["RUNNING", "RUNNING"]


@pytest.mark.parametrize("tasks", [1, 10 * cores()])
def test_tasks_whose_target_takes_nothing_hold_up_none_that_begins(
    mirror: Callable[..., Mirror], source: Cluster, destination: Cluster, topic_name: Callable[[str], str], tasks: int
) -> None:
    refused, target, topic = topic_name("refused"), topic_name("target"), topic_name("topic")
    one = mirror_to(target, tasks, refused, (source, destination), mirror)
    destination.admin.delete([target])
    source.produce(refused, [record(partition=n) for n in range(tasks)])
    wait_until(lambda: waiting(one) == tasks, CONNECTOR_S, lambda: f"{waiting(one)} tasks wait for the topic; {one.status()}")
    source.create(topic)
    source.produce(topic, [record()])
    other = mirror(topic)
    copied = lambda: destination.read(other.prefix + topic)  # noqa: E731
    wait_until(copied, SOON_S, lambda: f"the other one's is taken; {other.status()}")
    other.await_stored({f"{topic}:0": 0})


def test_a_target_that_is_deleted_under_a_busy_task_holds_up_no_other(
    mirror: Callable[..., Mirror], source: Cluster, destination: Cluster, topic_name: Callable[[str], str]
) -> None:
    busy, target = topic_name("busy"), topic_name("target")
    one = mirror_to(target, 1, busy, (source, destination), mirror)
    topics = [topic_name("topic") for _ in range(cores())]  # one in each lane
    for topic in topics:
        source.create(topic)
        source.produce(topic, [record()])
    others = {topic: mirror(topic) for topic in topics}
    for topic, other in others.items():
        other.await_stored({f"{topic}:0": 0})
    destination.admin.delete([target])
    source.produce(busy, [record(b"k", b"%d" % n) for n in range(50_000)])  # it still has some when the topic is missed
    wait_until(lambda: waiting(one), CONNECTOR_S, lambda: f"records wait for the topic; {one.status()}")
    for topic in topics:
        source.produce(topic, [record()])
    for topic, other in others.items():
        wait_until(lambda: other.offsets() == {f"{topic}:0": 1}, SOON_S, lambda: f"the others go on; {other.status()}")  # noqa: B023


def mirror_to(target: str, tasks: int, topic: str, clusters: tuple[Cluster, Cluster], mirror: Callable[..., Mirror]) -> Mirror:
    """A mirror of a new topic with a partition for each task, to a new topic that nobody creates again, once it has copied."""
    source, destination = clusters
    source.create(topic, tasks)
    source.produce(topic, [record(partition=n) for n in range(tasks)])
    destination.create(target, tasks)
    one = mirror(topic, {
        **{f"topic.creation.default.{rule}": None for rule in ("partitions", "replication.factor", "retention.ms")},
        "tasks.max": str(tasks), "transforms": "route", "transforms.route.type": "RegexRouter",
        "transforms.route.regex": ".*", "transforms.route.replacement": target,
    })  # fmt: skip
    one.await_stored({f"{topic}:{n}": 0 for n in range(tasks)})
    return one


def waiting(one: Mirror) -> int:
    """How many tasks have handed over records that no broker has acknowledged."""
    text = httpx.get(one.worker.url.rstrip("/") + "/metrics", timeout=100).text
    lines = [line for line in text.splitlines() if "in_flight_bytes{" in line and f'"{one.name}"' in line]
    return sum(float(line.rpartition(" ")[2]) > 0 for line in lines)


def test_transactions_are_measured(
    mirror: Callable[..., Mirror], source: Cluster, destination: Cluster, topic_name: Callable[[str], str]
) -> None:
    topic = topic_name("topic")
    source.create(topic)
    source.produce(topic, [record(value=b"%d" % n) for n in range(7)])
    one = mirror(topic, {"transaction.boundary": "interval", "transaction.boundary.interval.ms": "200"})
    wait_until(lambda: one.offsets() == {f"{topic}:0": 6}, CONNECTOR_S, lambda: f"all is copied; {one.status()}")

    def sizes() -> dict[str, float]:
        text = httpx.get(one.worker.url.rstrip("/") + "/metrics", timeout=100).text
        lines = [line for line in text.splitlines() if "transaction_size" in line and one.name in line]
        return {line.partition("{")[0].rpartition("_")[2]: float(line.rpartition(" ")[2]) for line in lines}

    # The offsets are there with the transaction, the measurement comes after it.
    wait_until(lambda: sizes() == {"min": 7, "max": 7, "avg": 7}, CONNECTOR_S, lambda: f"its size is measured, not {sizes()}")


def test_a_transaction_is_committed_before_the_broker_would_abort_it(
    mirror: Callable[..., Mirror], source: Cluster, topic_name: Callable[[str], str]
) -> None:
    topic = topic_name("topic")
    source.create(topic)
    source.produce(topic, [record(value=b"%d" % n) for n in range(7)])
    hour = {"transaction.boundary": "interval", "transaction.boundary.interval.ms": "3600000"}
    one = mirror(topic, {**hour, "producer.override.transaction.timeout.ms": "1000"})
    wait_until(lambda: one.offsets() == {f"{topic}:0": 6}, CONNECTOR_S, lambda: f"all is committed; {one.status()}")


def stored(cluster: Cluster, topic: str, key: bytes) -> bytes | None:
    """The last value of a key in a compacted topic."""
    return {r.key: r.value for r in cluster.read(topic)}.get(key)


def fencing_counts(cluster: Cluster, connector: str) -> list[int]:
    """The task counts that the config topic has of a connector, in order."""
    key = f"tasks-fencing-{connector}".encode()
    return [json.loads(r.value)["task-count"] for r in cluster.read("exact-config") if r.key == key and r.value]
