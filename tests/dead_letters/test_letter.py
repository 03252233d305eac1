from __future__ import annotations

import pytest

from headrace.dead_letters.letter import Letter, LetterId
from headrace.dead_letters.topics import choose, letter_topics
from headrace.errors import BadRequestError
from headrace.preview.records import RawRecord

DLQ = "errors.deadletterqueue.topic.name"


def letter(at: int = 7, **context: str) -> Letter:
    names = {name.replace("_", "."): value for name, value in context.items()}
    headers = [("h", b"x"), *((f"__connect.errors.{name}", value.encode()) for name, value in names.items())]
    return Letter.of(RawRecord("letters", 0, at, 1000 + at, b"k", b"\xff", headers))


def test_a_letter_is_what_its_headers_say_and_its_record_is_the_original():
    parsed = letter(12, topic="orders", partition="3", offset="12", connector_name="c", task_id="1", stage="VALUE_CONVERTER")
    assert (parsed.connector, parsed.topic) == ("c", "orders")
    assert parsed.record == RawRecord("orders", 3, 12, 1012, b"k", b"\xff", (("h", b"x"),))
    shown = parsed.json()
    assert shown["origin"] == {"topic": "orders", "partition": 3, "offset": 12}
    assert (shown["task"], shown["stage"], shown["value"], shown["headers"]) == (
        1, "VALUE_CONVERTER", {"base64": "/w=="}, [["h", "x"]],
    )  # fmt: skip


def test_a_letter_without_context_has_no_origin():
    bare = letter()
    assert (bare.id, bare.topic, bare.json()["origin"]) == (LetterId(0, 7), None, None)
    assert bare.original_record("orders").topic == "orders"


def test_of_a_long_value_the_beginning_is_shown():
    long = Letter.of(RawRecord("letters", 0, 0, 0, None, ("ä" * 9000).encode()))
    assert (long.json()["value"], long.json()["value_bytes"]) == ("ä" * 4096, 18000)
    headers = [("h", b"x" * 9000), ("__connect.errors.exception.stacktrace", b"at"), ("__connect.errors.topic", b"o")]
    whole = RawRecord("letters", 0, 0, 0, b"k" * 8192, ("ä" * 9000).encode(), headers)
    held = Letter.beginning_of(whole)
    assert held.json() == Letter.of(whole).json()
    assert [len(part or b"") for part in (held.record.key, held.record.value, held.record.headers[0][1])] == [8192, 8193, 8193]
    reason = Letter.reason_of(whole)
    assert (reason.record.key, reason.record.value, reason.record.headers, reason.context) == (None, None, (), {"topic": "o"})
    odd = Letter.of(RawRecord("letters", 0, 0, 0, None, ("x" + "ä" * 9000).encode()))
    assert odd.json()["value"] == "x" + "ä" * 4095


@pytest.mark.parametrize("text", ["", "1", "a:1", "1:-2", "1:2:3", "0:99999999999999999999", 3])
def test_what_names_no_letter_is_refused(text: object):
    with pytest.raises(BadRequestError, match="names no dead letter"):
        LetterId.parse(text)


def test_a_topic_is_of_every_connector_that_names_it_in_its_cluster():
    far = {DLQ: "x", "producer.override.bootstrap.servers": "far:9092"}
    configs = {"b": {DLQ: "x"}, "a": {DLQ: " x "}, "c": {}, "d": {DLQ: "w"}, "e": far}
    topics = letter_topics(configs, lambda config: config.get("producer.override.bootstrap.servers"))
    assert [(topic.name, topic.cluster, list(topic.configs)) for topic in topics] == [
        ("w", None, ["d"]), ("x", None, ["a", "b"]), ("x", "far:9092", ["e"]),
    ]  # fmt: skip
    assert [choose(topics, *which) for which in (("w", None), ("w", "gone"), ("x", "b"), ("x", "e"))] == [
        topics[0], topics[0], topics[1], topics[2],
    ]  # fmt: skip
    assert [next(iter(choose(topics, "x", name).configs)) for name in ("a", "b")] == ["a", "b"]  # whose credentials are used
    for connector in (None, "gone"):
        with pytest.raises(
            BadRequestError, match="Several clusters have a dead letter topic 'x'; name the connector: one of a, b, e"
        ):
            choose(topics, "x", connector)
