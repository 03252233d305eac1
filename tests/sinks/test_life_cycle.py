"""A FileStreamSink's life: it delivers, pauses, stops, and continues at the committed offsets."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import OFFSET_INVALID, Consumer, TopicPartition

from headrace.errors import RestError
from headrace.kafka.admin import Admin
from headrace.runtime.sink.partitions import SinkPartitions
from headrace.values.times import now_ms
from tests.clusters import Cluster, record
from tests.deployed import CONNECTOR_S
from tests.runtime.test_sink_plan import plan
from tests.sinks.sink import Sink, await_lines, lines
from tests.support import wait_until

Make = Callable[..., Sink]
Name = Callable[[str], str]
FILE, STRING = "FileStreamSink", "org.apache.kafka.connect.storage.StringConverter"


def test_a_sink_resumes_at_the_committed_offsets(cluster: Cluster, sink: Make, topic_name: Name, file: Path) -> None:
    topic = topic_name("numbers")
    cluster.create(topic, partitions=2)
    cluster.produce(topic, [record(None, b"%d" % n, partition=n % 2) for n in range(10)])
    one = sink(FILE, topics=topic, file=str(file), value_converter=STRING)
    one.await_offsets({(topic, 0): 5, (topic, 1): 5})
    assert sorted(lines(file)) == [str(n) for n in range(10)]
    assert [n for n in lines(file) if int(n) % 2] == ["1", "3", "5", "7", "9"]
    one.await_topics(topic)

    one.put("pause")
    one.await_states("PAUSED", "PAUSED")
    cluster.produce(topic, [record(None, b"paused")])
    one.put("resume")
    one.await_offsets({(topic, 0): 6, (topic, 1): 5})

    one.put("stop")
    one.await_states("STOPPED")
    cluster.produce(topic, [record(None, b"stopped", partition=1)])
    one.put("resume")
    one.await_offsets({(topic, 0): 6, (topic, 1): 6})
    assert lines(file)[10:] == ["paused", "stopped"]

    one.worker.call("POST", one.path + "/restart?includeTasks=true")
    cluster.produce(topic, [record(None, b"restarted")])
    wait_until(lambda: lines(file)[12:] == ["restarted"], CONNECTOR_S, f"one more line, not {lines(file)}")
    assert list(file.parent.iterdir()) == [file], "nothing is left beside it"


def test_a_sink_begins_at_the_records_of_so_long_ago(cluster: Cluster, topic_name: Name) -> None:
    topic, reset = topic_name("old"), "consumer.override.auto.offset.reset"
    cluster.create(topic, partitions=3)
    cluster.produce(topic, [record(), record(timestamp=now_ms()), record(partition=1)])
    of_a_day = plan({"topics": topic, reset: "by_duration:P1D"}, {"bootstrap.servers": cluster.bootstrap})
    start = SinkPartitions(Admin(of_a_day.consumer), of_a_day).start([(topic, p) for p in range(3)])
    assert start.positions == {(topic, 0): 1, (topic, 1): 1, (topic, 2): 0}
    assert {*start.looked_up} == {*start.positions}, "to be committed: a restart would begin at later records"


def test_a_sink_waits_for_its_topic(cluster: Cluster, sink: Make, topic_name: Name, file: Path) -> None:
    topic = topic_name("later")
    one = sink(FILE, topics=topic, file=str(file), value_converter=STRING, consumer_override_allow_auto_create_topics="false")
    one.await_states("RUNNING", "RUNNING")
    cluster.create(topic)
    cluster.produce(topic, [record(None, b"first")])
    await_lines(file, ["first"])


def test_offsets_are_altered_while_the_sink_is_stopped(cluster: Cluster, sink: Make, topic_name: Name, file: Path) -> None:
    topic = topic_name("again")
    cluster.create(topic, partitions=2)
    cluster.produce(topic, [record(None, b"%d" % n, partition=n % 2) for n in range(4)])
    one = sink(FILE, topics=topic, file=str(file), value_converter=STRING, consumer_override_group_id=topic)
    one.await_offsets({(topic, 0): 2, (topic, 1): 2})
    assert cluster.admin.committed(topic) == {(topic, 0): 2, (topic, 1): 2}, "of the group that the connector names"
    change = {"partition": {"kafka_topic": topic, "kafka_partition": 0}, "offset": {"kafka_offset": 1}}
    with pytest.raises(RestError, match="Connectors must be in the STOPPED state"):
        one.worker.call("PATCH", one.path + "/offsets", {"offsets": [change]})
    one.put("stop")
    one.await_states("STOPPED")
    gone = {"partition": {"kafka_topic": topic, "kafka_partition": 1}, "offset": None}
    answer = one.worker.call("PATCH", one.path + "/offsets", {"offsets": [change, gone]})
    assert answer == {"message": "The offsets for this connector have been altered successfully"}
    assert one.offsets() == {(topic, 0): 1}
    one.put("resume")
    one.await_offsets({(topic, 0): 2, (topic, 1): 2})
    assert sorted(lines(file)[4:]) == ["1", "2", "3"]


def test_removing_one_offset_does_not_touch_the_others(cluster: Cluster, sink: Make, topic_name: Name, file: Path) -> None:
    topic, group = topic_name("kept"), topic_name("group")
    cluster.create(topic, partitions=2)
    one = sink(FILE, topics=topic, file=str(file), consumer_override_group_id=group, initial_state="STOPPED")
    one.await_states("STOPPED")
    gone = {"partition": {"kafka_topic": topic, "kafka_partition": 1}, "offset": None}
    with pytest.raises(RestError, match="Failed to alter consumer group offsets"):  # there is no such group
        one.worker.call("PATCH", one.path + "/offsets", {"offsets": [gone]})
    outsider = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": group})
    outsider.commit(offsets=[TopicPartition(topic, 0, 1, "kept"), TopicPartition(topic, 1, 1)], asynchronous=False)
    one.worker.call("PATCH", one.path + "/offsets", {"offsets": [gone]})
    assert one.offsets() == {(topic, 0): 1}
    kept, removed = outsider.committed([TopicPartition(topic, 0), TopicPartition(topic, 1)], timeout=60)
    outsider.close()
    assert (kept.metadata, removed.offset) == ("kept", OFFSET_INVALID), "not deleted and committed again"


def test_what_is_lost_is_told_and_reading_goes_on(
    cluster: Cluster, sink: Make, topic_name: Name, file: Path, events: list[MutableMapping[str, Any]]
) -> None:
    topic = topic_name("expired")
    cluster.create(topic)
    cluster.produce(topic, [record(None, b"%d" % n) for n in range(10)])
    cluster.delete_before(topic, 6)
    one = sink(FILE, topics=topic, file=str(file), value_converter=STRING, initial_state="STOPPED")
    one.await_states("STOPPED")
    change = {"partition": {"kafka_topic": topic, "kafka_partition": 0}, "offset": {"kafka_offset": 3}}
    one.worker.call("PATCH", one.path + "/offsets", {"offsets": [change]})
    one.put("resume")
    await_lines(file, ["6", "7", "8", "9"])
    lost = next(e for e in events if e["event"] == "sink.offsets.lost")
    assert (lost["topic"], lost["partition"], lost["first"], lost["last"], lost["log_level"]) == (topic, 0, 3, 5, "warning")


def test_topics_that_match_are_active_until_a_configuration_leaves_them_out(
    cluster: Cluster, sink: Make, topic_name: Name, file: Path
) -> None:
    stem = topic_name("found")
    cluster.create(f"{stem}-a")
    cluster.produce(f"{stem}-a", [record(None, b"a")])
    settings = {"topics_regex": f"{stem}-.*", "consumer_override_metadata_max_age_ms": "500", "tasks_max": "2"}
    one = sink(FILE, file=str(file), value_converter=STRING, **settings)
    one.await_states("RUNNING", "RUNNING", "RUNNING")
    await_lines(file, ["a"])
    cluster.create(f"{stem}-b", partitions=2)
    cluster.produce(f"{stem}-b", [record(None, b"b0"), record(None, b"b1", partition=1)])
    # While the tasks notice the new topic, one after the other, two of them may deliver the same records (docs/sinks.md).
    wait_until(lambda: set(lines(file)) == {"a", "b0", "b1"}, CONNECTOR_S, "the records of both topics")
    one.await_offsets({(f"{stem}-a", 0): 1, (f"{stem}-b", 0): 1, (f"{stem}-b", 1): 1})
    one.await_topics(f"{stem}-a", f"{stem}-b")

    one.configure({"topics.regex": f"{stem}-b"})
    one.await_topics(f"{stem}-b")
