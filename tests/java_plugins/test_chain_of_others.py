"""Plugins in Java in the chains of connectors that are not: before, between and behind compiled stages."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from headrace.preview.records import from_objects
from headrace.testing.worker import EmbeddedWorker
from tests.cli.command import headrace
from tests.clusters import Cluster, record
from tests.deployed import Deployed
from tests.java_plugins.archives import PLAIN, REPLACE, SHOUT
from tests.java_plugins.conftest import WORKERS_CONVERTERS
from tests.java_plugins.test_debezium_jdbc import with_schema
from tests.java_plugins.test_source import records_of
from tests.preview.conftest import prepared
from tests.process import worker_properties

Create = Callable[..., Deployed]
TRANSFORMS = "org.apache.kafka.connect.transforms."
JSON = "org.apache.kafka.connect.json.JsonConverter"
HOIST = {
    "transforms.hoist.type": TRANSFORMS + "HoistField$Value", "transforms.hoist.field": "word",
    "transforms.number.type": "headrace.transforms.Sql", "transforms.number.value.n": "length(value.word)",
    "transforms.loud.type": SHOUT,
}  # fmt: skip
"""Lines as `word` with their length as `n`, and what `loud` is."""


@pytest.fixture
def topic(topic_name: Callable[[str], str]) -> str:
    return topic_name("chained")


def source(cluster: Cluster, topic: str, copy: str) -> dict[str, str]:
    """Of a Kafka source that copies a topic of the worker's cluster."""
    rename = {"type": TRANSFORMS + "RegexRouter", "regex": ".*", "replacement": copy}
    return {
        "source.bootstrap.servers": cluster.bootstrap, "source.topic.whitelist": topic,
        "source.auto.offset.reset": "earliest", "source.value.converter": JSON,
        **{f"transforms.copy.{name}": value for name, value in rename.items()},
    }  # fmt: skip


def words(cluster: Cluster, topic: str, *rows: dict[str, Any]) -> None:
    cluster.create(topic)
    cluster.produce(topic, [record(b"k", with_schema(row), headers=[("h", b"7")]) for row in rows])


def test_stages_in_java_stand_between_compiled_ones(connector: Create, cluster: Cluster, topic: str, tmp_path: Path):
    file = tmp_path / "lines.txt"
    file.write_text("one\nfour\nthree\n")
    chain = {**HOIST, "transforms": "hoist,number,loud,again,twice", "transforms.loud.predicate": "odd"}
    chain |= {"predicates": "odd", "predicates.odd.type": "IsOdd", "transforms.again.type": SHOUT, "transforms.again.drop": "4"}
    chain |= {
        "transforms.twice.type": "headrace.transforms.Sql",
        "transforms.twice.value.twice": "concat(value.word, value.word)",
    }
    connector("FileStreamSource", file=str(file), topic=topic, **chain)
    found = records_of(cluster, topic, 2)
    assert [json.loads(r.value or b"") for r in found] == [
        {"word": "ONE", "n": 3, "twice": "ONEONE"}, {"word": "THREE", "n": 5, "twice": "THREETHREE"},
    ]  # fmt: skip
    assert found[0].headers == [("shouted", b"1"), ("shouted", b"1")]


@pytest.mark.slow
def test_a_project_tests_a_chain_with_a_transform_on_the_plugin_path_of_its_worker_file(plugin_path: Path, tmp_path: Path):
    for folder in ("connectors", "tests"):
        (tmp_path / folder).mkdir()
    props = worker_properties("project-test", "http://127.0.0.1:0") | WORKERS_CONVERTERS | {"bootstrap.servers": "localhost:1"}
    props |= {"plugin.path": str(plugin_path), "plugin.discovery": "service_load"}
    (tmp_path / "w.properties").write_text("".join(f"{key}={value}\n" for key, value in props.items()))
    (tmp_path / "project.toml").write_text('[environments.dev]\nurl = "http://w:1"\nworker = "w.properties"\n')
    config = {"connector.class": "FileStreamSource", "topic": "t", **HOIST, "transforms": "hoist,number,loud"}
    (tmp_path / "connectors" / "c.json").write_text(json.dumps({"name": "c", "config": config}))
    expect = [{"topic": "t", "value": {"word": "ONE", "n": 3}}]
    (tmp_path / "tests" / "c.json").write_text(json.dumps({"connector": "c", "records": [{"value": "one"}], "expect": expect}))
    tested = headrace("project", "test", str(tmp_path))
    assert tested.stdout.splitlines() == ["passed  tests/c.json", "1 passed, 0 failed"], tested.stderr


def test_a_record_that_fails_ends_the_task_and_names_its_stage(connector: Create, topic: str, tmp_path: Path):
    file = tmp_path / "lines.txt"
    file.write_text("one\nfour\n")
    chain = {**HOIST, "transforms": "hoist,number,first,loud", "transforms.first.type": SHOUT, "transforms.loud.fail": "4"}
    trace = connector("FileStreamSource", file=str(file), topic=topic, **chain).trace()
    assert "java.lang.IllegalStateException: no luck with 4" in trace
    assert "at transform 'loud'" in trace


PASSING = {**HOIST, "transforms": "hoist,number,loud", "transforms.loud.passing": "3", "transforms.loud.predicate": "odd",
    "predicates": "odd", "predicates.odd.type": "IsOdd", "predicates.odd.passing": "2"}  # fmt: skip
"""What throws a RetriableException at first."""
RETRY = {"errors.retry.timeout": "-1", "errors.retry.delay.max.ms": "1"}


def test_what_throws_retriable_exceptions_is_called_again(connector: Create, cluster: Cluster, topic: str, tmp_path: Path):
    file = tmp_path / "lines.txt"
    file.write_text("one\n")
    chain = {**PASSING, "value.converter": PLAIN, "value.converter.passing": "2"}
    chain |= {"transforms": "hoist,number,loud,again", "transforms.again.type": "headrace.transforms.Sql"}
    chain |= {"transforms.again.value.n": "4", "transforms.again.predicate": "unless", "transforms.again.negate": "true"}
    chain |= {"predicates": "odd,unless", "predicates.unless.type": "IsOdd", "predicates.unless.passing": "2"}
    connector("FileStreamSource", file=str(file), topic=topic, **chain, **RETRY)
    assert [r.value for r in records_of(cluster, topic, 1)] == [b"Struct{word=ONE,n=3}"]


def test_a_plugin_that_is_called_again_for_ever_holds_up_no_other_connector(
    connector: Create, cluster: Cluster, topic_name: Callable[[str], str], tmp_path: Path
):
    file = tmp_path / "lines.txt"
    file.write_text("one\n")
    stuck = {**PASSING, **RETRY, "transforms.loud.passing": "1000000000"}
    connector("FileStreamSource", file=str(file), topic=topic_name("stuck"), **stuck)
    topics = [topic_name("plain") for _ in range(3)]  # with two lanes one of them would be in the same
    for topic in topics:
        connector("FileStreamSource", file=str(file), topic=topic)
    for end in (1, 2):
        for topic in topics:
            assert len(records_of(cluster, topic, end)) == end
        with file.open("a") as more:
            more.write("two\n")


@pytest.mark.parametrize("timeout", [{}, {"errors.retry.timeout": "1", "errors.retry.delay.max.ms": "1"}], ids=["none", "short"])
def test_what_throws_retriable_exceptions_too_long_ends_the_task(
    connector: Create, topic: str, tmp_path: Path, timeout: dict[str, str]
):
    file = tmp_path / "lines.txt"
    file.write_text("one\n")
    chain = {**PASSING, "transforms.loud.passing": "1000000000"}
    trace = connector("FileStreamSource", file=str(file), topic=topic, **chain, **timeout).trace()
    assert "org.apache.kafka.connect.errors.RetriableException: not yet" in trace
    assert "at transform 'loud'" in trace


def test_records_of_a_feed_pass_transforms_and_become_dead_letters_with_their_stage(
    connector: Create, cluster: Cluster, topic: str, topic_name: Callable[[str], str]
):
    words(cluster, topic, {"id": 1, "n": 1, "word": "one"}, {"n": 2, "word": "two"}, {"n": 3, "word": "three", "more": "x"})
    copy, letters = topic_name("copy"), topic_name("letters")
    chain = {"transforms": "loud,copy", "transforms.loud.type": SHOUT, "transforms.loud.fail": "2"}
    chain |= {"transforms.loud.secret": "hunter2hunter2"}
    letter = {"errors.tolerance": "all", "errors.deadletterqueue.topic.name": letters}
    letter |= {"errors.deadletterqueue.topic.replication.factor": "1", "errors.deadletterqueue.context.headers.enable": "true"}
    connector("KafkaSource", **source(cluster, topic, copy), **chain, **letter)
    found = records_of(cluster, copy, 2)
    assert [json.loads(r.value or b"")["word"] for r in found] == ["ONE", "THREE"]
    assert found[0].headers[-1] == ("shouted", b"1")
    (letter_of_two,) = records_of(cluster, letters, 1)
    headers = dict(letter_of_two.headers)
    assert headers["__connect.errors.exception.message"] == b"no luck with 2 [hidden]"
    assert not any(value and b"hunter2" in value for _, value in letter_of_two.headers)
    assert headers["__connect.errors.exception.class.name"] == b"java.lang.IllegalStateException"
    assert headers["__connect.errors.class.name"] == SHOUT.encode()
    assert letter_of_two.value == with_schema({"n": 2, "word": "two"})


def test_converters_in_java_read_and_write_the_records_of_a_feed(
    connector: Create, cluster: Cluster, topic: str, topic_name: Callable[[str], str]
):
    cluster.create(topic)
    cluster.produce(topic, [record(None, b"one"), record(None, None), record(None, b"two")])
    chain = {"transforms": "hoist,copy", **HOIST, "value.converter": PLAIN, "value.converter.stamp": "yes"}
    connector("KafkaSource", **{**source(cluster, topic, copy := topic_name("copy")), "source.value.converter": PLAIN}, **chain)
    assert [r.value for r in records_of(cluster, copy, 3)] == [
        b"Struct{word=one} by 2.0-beta", b"Struct{} by 2.0-beta", b"Struct{word=two} by 2.0-beta",
    ]  # fmt: skip


def test_a_converter_in_java_that_cannot_read_a_record_ends_the_task_and_names_the_step(
    connector: Create, cluster: Cluster, topic: str, topic_name: Callable[[str], str]
):
    cluster.create(topic)
    cluster.produce(topic, [record(None, b"one")])
    reading = {"source.value.converter": PLAIN, "source.value.converter.throw": "toConnectData"}
    chain = {"transforms": "hoist,copy", **HOIST}
    trace = connector("KafkaSource", **{**source(cluster, topic, topic_name("copy")), **reading}, **chain).trace()
    assert "java.lang.IllegalStateException: no luck in toConnectData" in trace
    assert "at reading the value" in trace


OUTBOX = [
    {"field": name, "type": "string", "optional": False} for name in ("id", "aggregatetype", "aggregateid", "type", "payload")
]


def test_debeziums_event_router_sends_rows_of_an_outbox_to_the_topics_that_they_name(
    connector: Create, cluster: Cluster, topic: str
):
    fields: list[dict[str, Any]] = [
        {"field": "before", "type": "struct", "optional": True, "name": "outbox.Value", "fields": OUTBOX},
        {"field": "after", "type": "struct", "optional": True, "name": "outbox.Value", "fields": OUTBOX},
        {"field": "op", "type": "string", "optional": False},
        {"field": "ts_ms", "type": "int64", "optional": True},
    ]
    row = {"id": "e1", "aggregatetype": topic, "aggregateid": "7", "type": "OrderPlaced", "payload": '{"total": 3}'}
    schema = {"type": "struct", "name": "outbox.Envelope", "optional": False, "fields": fields}
    payload = {"before": None, "after": row, "op": "c", "ts_ms": 5}
    cluster.create(topic)
    cluster.produce(topic, [record(None, json.dumps({"schema": schema, "payload": payload}).encode())])
    chain = {"transforms": "outbox", "transforms.outbox.type": "io.debezium.transforms.outbox.EventRouter"}
    chain["transforms.outbox.table.expand.json.payload"] = "true"
    schemas = {"value.converter": JSON, "value.converter.schemas.enable": "false", "key.converter.schemas.enable": "false"}
    connector("KafkaSource", **source(cluster, topic, "unused"), **chain, **schemas)
    (routed,) = records_of(cluster, f"outbox.event.{topic}", 1)
    assert (routed.key, json.loads(routed.value or b"")) == (b'"7"', {"total": 3})
    assert dict(routed.headers)["id"] == b"e1"


def test_a_preview_shows_each_stage(java_worker: EmbeddedWorker, spark):
    config = {"connector.class": "FileStreamSource", "file": "/none", "topic": "t", **HOIST}
    config |= {"transforms": "hoist,number,loud,again", "transforms.again.type": SHOUT, "transforms.again.fail": "4"}
    found = prepared(config)
    one, four = found.run(spark, from_objects([{"value": "one"}, {"value": "four"}], found.topic), describe_topics=False)[
        "records"
    ]
    assert [step["step"] for step in one["steps"]] == [f"{'transform:' if n else ''}{s}" for n, s in enumerate(
        ["input", "hoist", "number", "loud", "again"])]  # fmt: skip
    loud = one["steps"][3]
    assert (loud["type"], json.loads(loud["record"]["value"]["json"])) == (SHOUT, {"word": "ONE", "n": 3})
    assert four["failure"] == {
        "step": "transform:again", "class": "java.lang.IllegalStateException", "message": "no luck with 4", "cause": None,
        "then": "the task fails (errors.tolerance is none)",
    }  # fmt: skip


def test_what_a_transform_in_java_has_not_set_is_null_or_the_default_of_a_required_field(java_worker: EmbeddedWorker, spark):
    config = {
        "connector.class": "FileStreamSource",
        "file": "/none",
        "topic": "t",
        "transforms": "r",
        "transforms.r.type": REPLACE,
    }
    config |= {"value.converter": JSON, "value.converter.schemas.enable": "false"}
    found = prepared(config | {"value.converter.replace.null.with.default": "false"})
    (shown,) = found.run(spark, from_objects([{"value": "one"}], found.topic), describe_topics=False)["records"]
    field = {"unset": 7}
    expected = {"null": None, "unset": 0, "in": field, "all": [field], "named": {"a": field}}
    assert json.loads(shown["output"]["value"]) == expected


def test_a_sinks_records_have_their_offsets(java_worker: EmbeddedWorker, spark):
    config = {"connector.class": "KafkaSink", "topics": "t", "target.bootstrap.servers": "localhost:1", "transforms": "loud"}
    config |= {"transforms.loud.type": SHOUT, "value.converter": JSON, "value.converter.schemas.enable": "true"}
    found = prepared(config)
    value = (with_schema({"n": 1, "word": "one"}) or b"").decode()
    (shown,) = found.run(spark, from_objects([{"value": value, "offset": 3}], found.topic), describe_topics=False)["records"]
    assert json.loads(shown["output"]["value"])["payload"] == {"n": 1, "word": "ONE"}
