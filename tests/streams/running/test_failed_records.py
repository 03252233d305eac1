"""Records that fail on a real broker: what is left out leaves no trace, and everything else counts once."""

from __future__ import annotations

import random
from collections.abc import Callable
from string import ascii_letters

import pytest
from pyspark.sql import functions as F

from headrace.streams import Consumed, KafkaStreams, Materialized, Produced, Serdes, StreamsBuilder
from headrace.streams.engine.delivery import write_failure
from headrace.streams.states import State
from tests.streams.running.application import WAIT_S, Application
from tests.support import wait_until


def _numbers(app: Application) -> KafkaStreams:
    builder = StreamsBuilder()
    stream = builder.stream(app.source, Consumed.with_(Serdes.string(), Serdes.string()))
    stream.group_by(lambda key, value: value).count(Materialized.as_("counts"))  # also of what fails beside it
    numbers = stream.map_values(lambda value: value.cast("bigint"))
    numbers.map(lambda key, value: (value.cast("string"), value)).to(app.sink, Produced.with_(Serdes.string(), Serdes.long()))
    return KafkaStreams(builder.build(app.config), app.config)


@pytest.mark.parametrize("guarantee", ["at_least_once", "exactly_once_v2"])
def test_records_that_fail_are_dead_letters_and_the_others_count_once(
    make: Callable[..., Application], topic_name: Callable[[str], str], guarantee: str
):
    dead = topic_name("dead")
    more = {"processing_exception_handler": "continue", "errors_dead_letter_queue_topic_name": dead}
    app = make(processing_guarantee=guarantee, **more)
    app.cluster.create(dead, 1)
    app.send("1", "x", "2", "3", "y", "3", "z")
    expected = {"1": 1, "2": 1, "3": 2, "4": 1}
    with _numbers(app) as streams:
        streams.start()
        assert streams.wait_for(State.RUNNING, State.ERROR, timeout=WAIT_S * 1000), streams.state()
        wait_until(lambda: len(app.cluster.read(dead)) == 3, WAIT_S, "three dead letters")
        app.send("4")
        wait_until(lambda: app.results() == {"1": 1, "2": 2, "3": 3, "4": 4}, WAIT_S, "the numbers")
        wait_until(lambda: dict(streams.store("counts").all()) == expected, WAIT_S, "the counts")
    letters = app.cluster.read(dead)
    assert {letter.value for letter in letters} == {b"x", b"y", b"z"}
    names = {name for letter in letters for name, _ in letter.headers}
    assert {f"__streams.errors.{name}" for name in ("exception", "message", "topic", "offset")} <= names
    with _numbers(app) as streams:
        streams.start()
        assert streams.wait_for(State.RUNNING, State.ERROR, timeout=WAIT_S * 1000), streams.state()
        assert dict(streams.store("counts").all()) == expected


@pytest.mark.parametrize("guarantee", ["at_least_once", "exactly_once_v2"])
def test_a_result_that_a_broker_refuses_is_a_dead_letter(
    make: Callable[..., Application], topic_name: Callable[[str], str], guarantee: str
):
    dead = topic_name("dead")
    more = {"production_exception_handler": "continue", "errors_dead_letter_queue_topic_name": dead}
    app = make(processing_guarantee=guarantee, **more)
    app.cluster.create(dead, 1)
    small = topic_name("small")
    # More than a batch of the producer has: one with several records is split, and into what sizes the topic does not say.
    app.cluster.create(small, 1, {"max.message.bytes": "20000"})
    builder = StreamsBuilder()
    stream = builder.stream(app.source, Consumed.with_(Serdes.string(), Serdes.string()))
    stream.group_by(lambda key, value: value.substr(1, 1)).count(Materialized.as_("counts"))
    stream.to(small, Produced.with_(Serdes.string(), Serdes.string()))
    large = "x" * 50_000
    app.send("a", large, "b", "a")
    with KafkaStreams(builder.build(app.config), app.config) as streams:
        streams.start()
        wait_until(lambda: len(app.cluster.read(dead)) == 1, WAIT_S, lambda: f"a dead letter; {streams.error}")
        app.send("c")
        wait_until(lambda: {one.value for one in app.cluster.read(small)} == {b"a", b"b", b"c"}, WAIT_S, "the results")
        if guarantee == "exactly_once_v2":
            wait_until(lambda: dict(streams.store("counts").all()) == {"a": 2, "b": 1, "c": 1}, WAIT_S, "the counts")
    (letter,) = app.cluster.read(dead)
    assert letter.value == large.encode()
    assert (dict(letter.headers)["__streams.errors.exception"] or b"").endswith(b".RecordTooLargeException")


@pytest.mark.parametrize(
    ("guarantee", "compression"), [("at_least_once", "none"), ("exactly_once_v2", "none"), ("at_least_once", "zstd")]
)
def test_a_row_that_is_too_large_for_its_changelog_leaves_a_dead_letter_and_no_trace(
    make: Callable[..., Application], topic_name: Callable[[str], str], guarantee: str, compression: str
):
    dead = topic_name("dead")
    more = {"production_exception_handler": "continue", "errors_dead_letter_queue_topic_name": dead}
    app = make(processing_guarantee=guarantee, producer_compression_type=compression, **more)
    app.cluster.create(dead, 1)
    materialized = Materialized.as_("kept").with_logging_enabled({"max.message.bytes": "20000"})
    builder = StreamsBuilder()
    stream = builder.stream(app.source, Consumed.with_(Serdes.string(), Serdes.string()))
    last = stream.group_by(lambda key, value: value.substr(1, 1)).reduce(lambda old, new: new, materialized)
    last.to_stream().map_values(lambda value: value.substr(1, 9)).to(app.sink, Produced.with_(Serdes.string(), Serdes.string()))
    large = "x" + "".join(random.Random(1).choices(ascii_letters, k=50_000))  # more than 20,000 bytes however it is compressed
    small = [*"abcdefghijklm"]  # a few bytes each: they fit beside the large one into its batch, which splits without an end
    app.send("a", large, *small)
    with KafkaStreams(builder.build(app.config), app.config) as streams:
        streams.start()
        wait_until(lambda: len(app.cluster.read(dead)) == 1, WAIT_S, lambda: f"a dead letter; {streams.error}")
        rows = {key: key for key in small}
        if compression == "none":
            app.send("x")
            rows["x"] = "x"
        else:
            rows["y"] = "y" * 50_000  # which is small on its way
            app.send(rows["y"])
        results = {one[:9] for one in rows.values()}
        wait_until(lambda: {(one.value or b"").decode() for one in app.cluster.read(app.sink)} == results, WAIT_S, "the results")
        wait_until(lambda: dict(streams.store("kept").all()) == rows, WAIT_S, "the rows")
        changelog, admin = f"{app.id}-kept-changelog", app.cluster.admin
        admin.alter(changelog, {"max.message.bytes": "100000"})
        wait_until(lambda: admin.topic_configs(changelog)["max.message.bytes"] == "100000", WAIT_S, "its limit is raised")
        app.send(large)  # which fits by now
        wait_until(lambda: streams.store("kept").get("x") == large, WAIT_S, lambda: f"the large row; {streams.error}")
        assert streams.state() is State.RUNNING
    (letter,) = app.cluster.read(dead)
    assert letter.value == large.encode()
    assert (dict(letter.headers)["__streams.errors.exception"] or b"").endswith(b".RecordTooLargeException")


@pytest.mark.parametrize("limited_by", ["broker", "producer"])
def test_a_result_that_is_too_large_is_named_where_no_handler_leaves_it_out(make: Callable[..., Application], limited_by: str):
    app = make(**({} if limited_by == "broker" else {"producer_max_request_size": "20000"}))
    app.cluster.admin.alter(app.sink, {"max.message.bytes": "20000" if limited_by == "broker" else "1000000"})
    builder = StreamsBuilder()
    stream = builder.stream(app.source, Consumed.with_(Serdes.string(), Serdes.string()))
    stream.map_values(lambda value: F.repeat(value, 10)).to(app.sink, Produced.with_(Serdes.string(), Serdes.string()))
    app.send("a", "y" * 5_000, partition=1)
    with KafkaStreams(builder.build(app.config), app.config) as streams:
        streams.start()
        assert streams.wait_for(State.ERROR, timeout=WAIT_S * 1000)
    sentence = str(streams.error)
    assert f"A result of 50000 bytes of key, value and headers is too large for topic '{app.sink}'." in sentence
    assert f"It follows from a record of {app.source}-1 offset 0 to 1. Raise max.message.bytes of the topic" in sentence


@pytest.mark.parametrize("skips", [False, True])
def test_a_handler_is_no_help_where_it_is_set(skips: bool):
    error = type("org.apache.kafka.common.errors.RecordTooLargeException", (Exception,), {})("too large")
    sentence = str(write_failure(error, {"in": {("in", 0): (5, 7)}}, skips))
    assert "follows from a record of in-0 offset 5 to 6" in sentence
    assert ("production.exception.handler" in sentence) != skips
    assert sentence.endswith(".")
