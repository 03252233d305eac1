"""Records that fail, and a sink that fails."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from pathlib import Path
from typing import Any

from tests.clusters import Cluster, record
from tests.sinks.sink import Sink, await_lines, lines
from tests.sinks.unsteady import Unsteady

Make = Callable[..., Sink]
Name = Callable[[str], str]
JSON = {"value_converter": "org.apache.kafka.connect.json.JsonConverter", "value_converter_schemas_enable": "false"}
RECORDS = [record(b"k", b'{"a":1}'), record(b"key", b"broken", [("h", b"x")]), record(None, b'{"a":2}')]


def test_failed_records_become_dead_letters(cluster: Cluster, sink: Make, topic_name: Name, file: Path) -> None:
    topic, letters = topic_name("mixed"), topic_name("letters")
    cluster.create(topic)
    cluster.produce(topic, RECORDS)
    queue = {
        "errors_tolerance": "all",
        "errors_deadletterqueue_topic_name": letters,
        "errors_deadletterqueue_topic_replication_factor": "1",
        "errors_deadletterqueue_context_headers_enable": "true",
    }
    one = sink("FileStreamSink", topics=topic, file=str(file), **JSON, **queue)
    one.await_offsets({(topic, 0): 3})
    assert lines(file) == ["{a=1}", "{a=2}"]
    (letter,) = cluster.read(letters)
    assert (letter.key, letter.value, letter.timestamp) == (b"key", b"broken", RECORDS[1].timestamp)
    headers = dict(letter.headers)
    assert headers["h"] == b"x"
    assert (headers["__connect.errors.topic"], headers["__connect.errors.offset"]) == (topic.encode(), b"1")
    assert headers["__connect.errors.stage"] == b"VALUE_CONVERTER"
    one.await_topics(topic)


def test_a_failed_record_ends_a_task_that_tolerates_none(
    cluster: Cluster, sink: Make, topic_name: Name, file: Path, events: list[MutableMapping[str, Any]]
) -> None:
    topic = topic_name("mixed")
    cluster.create(topic)
    cluster.produce(topic, RECORDS)
    log = {"errors_log_enable": "true", "errors_log_include_messages": "true"}
    one = sink("FileStreamSink", topics=topic, file=str(file), **JSON, **log)
    trace = one.trace()
    assert "Tolerance exceeded in error handler" in trace
    assert f"(topic={topic}, partition=0, offset=1, at reading the value)" in trace
    assert lines(file) == ["{a=1}"], "what precedes it is written"
    assert one.offsets() == {(topic, 0): 1}
    (entry,) = [e for e in events if e["event"] == "record.failed"]
    assert entry["record_timestamp"] == str(RECORDS[1].timestamp) and not {"key", "value"} & entry.keys()
    one.put("stop")
    one.await_states("STOPPED")
    change = {"partition": {"kafka_topic": topic, "kafka_partition": 0}, "offset": {"kafka_offset": 2}}
    one.worker.call("PATCH", one.path + "/offsets", {"offsets": [change]})
    one.put("resume")
    await_lines(file, ["{a=1}", "{a=2}"])


def test_a_file_that_takes_no_more_ends_the_task_with_a_sentence(cluster: Cluster, sink: Make, topic_name: Name) -> None:
    topic = topic_name("full")
    cluster.create(topic)
    cluster.produce(topic, [record(None, b"1")])
    one = sink("FileStreamSink", topics=topic, file="/dev/full")
    assert (
        f"Records could not be copied (topic={topic}, partition=0, offset=0): Couldn't write to file '/dev/full': No space"
        in one.trace()
    )
    assert one.offsets() == {}


def test_a_sink_that_asks_for_it_is_handed_the_same_batch_again(cluster: Cluster, sink: Make, topic_name: Name) -> None:
    topic = topic_name("retried")
    cluster.create(topic)
    cluster.produce(topic, [record(None, b"%d" % n) for n in range(5)])
    with Unsteady.failing(times=2) as seen:
        one = sink("Unsteady", topics=topic)
        one.await_offsets({(topic, 0): 5})
    assert len(seen) == 3
    assert len({(batch.id, tuple(batch.offsets.items())) for batch in seen}) == 1
    assert seen[0].offsets == {(topic, 0): (0, 5)}
    assert one.states() == ["RUNNING", "RUNNING"]


def test_a_dead_letter_that_is_refused_takes_no_other_record_with_it(cluster: Cluster, sink: Make, topic_name: Name) -> None:
    topic, letters = topic_name("refused"), topic_name("letters")
    cluster.create(topic)
    cluster.create(letters, configs={"max.message.bytes": "1000"})
    cluster.produce(topic, [record(None, b"broken" * 1000), record(None, b"broken"), record(None, b"1")])
    queue = {"errors_deadletterqueue_topic_name": letters, "errors_deadletterqueue_topic_replication_factor": "1"}
    with Unsteady.failing(times=0):
        one = sink("Unsteady", topics=topic, errors_tolerance="all", **JSON, **queue)
        assert f"Could not produce message to dead letter queue. topic={letters}" in one.trace()
        two = sink("Unsteady", topics=topic, errors_tolerance="none", **JSON, **queue)
        assert "Tolerance exceeded in error handler" in two.trace(), "not the error of the letter"
    assert one.offsets() == two.offsets() == {}


def test_any_other_error_of_a_sink_ends_its_task(cluster: Cluster, sink: Make, topic_name: Name) -> None:
    topic = topic_name("refused")
    cluster.create(topic)
    cluster.produce(topic, [record(None, b"x")])
    with Unsteady.failing(times=9, error=ValueError("the table is read only")):
        one = sink("Unsteady", topics=topic)
        trace = one.trace()
    assert trace.startswith(
        "org.apache.kafka.connect.errors.ConnectException: Exiting WorkerSinkTask due to unrecoverable exception.\nCaused by: "
    )
    assert "the table is read only" in trace
    assert one.offsets() == {}
    one.await_topics(topic)
