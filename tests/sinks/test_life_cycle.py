"""A FileStreamSink's life: it delivers, pauses, stops, and goes on at the committed offsets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.clusters import Cluster, record
from tests.sinks.sink import SINK_S, Sink
from tests.support import wait_until

Make = Callable[..., Sink]
Name = Callable[[str], str]
FILE, STRING = "FileStreamSink", "org.apache.kafka.connect.storage.StringConverter"


def lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def test_a_sink_goes_on_at_the_committed_offsets(cluster: Cluster, sink: Make, topic_name: Name, file: Path) -> None:
    topic = topic_name("numbers")
    cluster.create(topic, partitions=2)
    cluster.produce(topic, [record(None, b"%d" % n, partition=n % 2) for n in range(10)])
    one = sink(FILE, topics=topic, file=str(file), value_converter=STRING)
    one.await_offsets({(topic, 0): 5, (topic, 1): 5})
    assert sorted(lines(file)) == [str(n) for n in range(10)]
    assert [n for n in lines(file) if int(n) % 2] == ["1", "3", "5", "7", "9"]
    assert one.topics() == {topic}

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
    wait_until(lambda: lines(file)[12:] == ["restarted"], SINK_S, f"one more line, not {lines(file)}")
