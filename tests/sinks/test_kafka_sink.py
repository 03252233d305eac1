"""The Kafka sink: topics of the worker's cluster to another one."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import Any

from headrace.embedded import Broker
from tests.clusters import Cluster, record
from tests.deployed import CONNECTOR_S
from tests.kafka_source.test_faults import silent
from tests.kafka_source.test_metrics import measured
from tests.sinks.sink import Sink
from tests.sinks.test_failures import JSON, RECORDS
from tests.support import wait_until

Make = Callable[..., Sink]
Name = Callable[[str], str]


def test_records_arrive_as_they_are_in_a_topic_that_is_made_for_them(
    cluster: Cluster, source: Cluster, sink: Make, topic_name: Name
) -> None:
    topic, prefix = topic_name("orders"), topic_name("copy") + "."
    cluster.create(topic, partitions=3)
    records = [
        record(b"\xff", b"\x00", [("h", b"1"), ("h", None)], timestamp=1_600_000_000_000, partition=2),
        record(None, b"v", partition=1),
        record(b"gone", None, partition=0),
    ]
    cluster.produce(topic, records)
    settings = {"target_bootstrap_servers": source.bootstrap, "destination_topics_create": "true"}
    one = sink("KafkaSink", topics=topic, destination_topics_prefix=prefix, **settings)
    one.await_offsets({(topic, p): 1 for p in range(3)})
    assert source.read(prefix + topic) == sorted(records, key=lambda r: r.partition)


def test_records_wait_for_a_topic_that_nobody_makes(cluster: Cluster, source: Cluster, sink: Make, topic_name: Name) -> None:
    topic = topic_name("late")
    cluster.create(topic, partitions=2)
    cluster.produce(topic, [record(b"k", b"v", partition=1)])
    settings = {"target_bootstrap_servers": source.bootstrap, "connector_producer_max_block_ms": "1000"}
    route = {
        "transforms": "r", "transforms_r_type": "RegexRouter", "transforms_r_regex": "(.*)", "transforms_r_replacement": "$1-new",
    }  # fmt: skip
    one = sink("KafkaSink", topics=topic, **settings, **route)
    one.await_states("RUNNING", "RUNNING")
    assert source.admin.describe(f"{topic}-new") is None
    source.create(f"{topic}-new")
    wait_until(lambda: source.size(f"{topic}-new") == 1, CONNECTOR_S, "the record arrives")
    one.await_offsets({(topic, 0): 0, (topic, 1): 1})
    assert one.states() == ["RUNNING", "RUNNING"]


def test_a_sink_that_is_stopped_while_its_target_does_not_answer_writes_nothing_more_when_that_is_back(
    cluster: Cluster, source: Cluster, source_broker: Broker, sink: Make, topic_name: Name
) -> None:
    topic, prefix = topic_name("backlog"), topic_name("copy") + "."
    cluster.create(topic)
    source.create(prefix + topic)
    one = sink("KafkaSink", topics=topic, destination_topics_prefix=prefix, target_bootstrap_servers=source.bootstrap)
    cluster.produce(topic, [record(b"k", b"0")])
    one.await_offsets({(topic, 0): 1})
    assert measured(one.worker, one.name)["headrace_task_read_bytes_total"] == len(b"k0")
    size, count, request = 100_000, 120, 1 << 20  # one request was on its way, which nobody can take back

    def in_flight() -> float:
        return measured(one.worker, one.name)["headrace_task_in_flight_bytes"]

    with silent(source_broker):
        cluster.produce(topic, [record(b"k", b"%0*d" % (size, number)) for number in range(1, count)])
        wait_until(lambda: in_flight() > size * (count - 1), CONNECTOR_S, lambda: f"all is on its way: {in_flight()}")
        one.put("stop")
        one.await_states("STOPPED")
    one.put("resume")
    one.await_offsets({(topic, 0): count})
    numbers = [int((r.value or b"")[-5:]) for r in source.read(prefix + topic)]
    assert numbers[-count + 1 :] == [*range(1, count)]
    assert numbers[0] == 0
    assert len(numbers) <= count + request // size


def test_records_that_fail_become_dead_letters_in_the_workers_cluster(
    cluster: Cluster, source: Cluster, sink: Make, topic_name: Name
) -> None:
    topic, letters, prefix = topic_name("mixed"), topic_name("letters"), topic_name("copy") + "."
    cluster.create(topic)
    cluster.produce(topic, RECORDS)
    queue = {
        "errors_deadletterqueue_topic_name": letters,
        "errors_deadletterqueue_topic_replication_factor": "1",
        "errors_deadletterqueue_context_headers_enable": "true",
    }
    target = {"target_bootstrap_servers": source.bootstrap, "destination_topics_create": "true", **JSON, **queue}
    one = sink("KafkaSink", topics=topic, destination_topics_prefix=prefix, errors_tolerance="all", **target)
    one.await_offsets({(topic, 0): 3})
    assert [r.value for r in source.read(prefix + topic)] == [b'{"a":1}', b'{"a":2}']
    (letter,) = cluster.read(letters)
    headers = dict(letter.headers)
    assert (letter.key, letter.value, letter.timestamp) == (b"key", b"broken", RECORDS[1].timestamp)
    assert (headers["h"], headers["__connect.errors.offset"]) == (b"x", b"1")
    one.await_topics(topic)
    assert source.admin.describe(letters) is None


def test_the_record_that_ends_a_task_is_a_dead_letter_and_is_not_passed(
    cluster: Cluster, source: Cluster, sink: Make, topic_name: Name
) -> None:
    topic, letters, prefix = topic_name("mixed"), topic_name("letters"), topic_name("copy") + "."
    cluster.create(topic)
    cluster.produce(topic, RECORDS)
    queue = {"errors_deadletterqueue_topic_name": letters, "errors_deadletterqueue_topic_replication_factor": "1"}
    target = {"target_bootstrap_servers": source.bootstrap, "destination_topics_create": "true", **JSON, **queue}
    one = sink("KafkaSink", topics=topic, destination_topics_prefix=prefix, **target)
    assert f"(topic={topic}, partition=0, offset=1, at reading the value)" in one.trace()
    assert one.offsets() == {(topic, 0): 1}
    assert [r.value for r in source.read(prefix + topic)] == [b'{"a":1}']
    assert [letter.value for letter in cluster.read(letters)] == [b"broken"]


def test_a_chain_that_takes_many_records_at_once_is_written_in_batches(
    cluster: Cluster, source: Cluster, sink: Make, topic_name: Name, events: list[MutableMapping[str, Any]]
) -> None:
    topic, prefix = topic_name("shouts"), topic_name("copy") + "."
    cluster.create(topic)
    cluster.produce(topic, [record(b"k", b'{"n":2}')])
    doubled = {"transforms": "d", "transforms_d_type": "tests.transforms.own_plugins.Doubled", **JSON}
    target = {"target_bootstrap_servers": source.bootstrap, "destination_topics_create": "true"}
    one = sink("KafkaSink", topics=topic, destination_topics_prefix=prefix, **target, **doubled)
    one.await_offsets({(topic, 0): 1})
    assert [r.value for r in source.read(prefix + topic)] == [b'{"n": 4}']
    assert [e["mode"] for e in events if e["event"] == "task.stream-mode"] == ["microbatch"]
