"""Chains of transforms in a mirror that runs: routing, topics, failures, dead letters."""

from __future__ import annotations

import json
from collections.abc import Callable, MutableMapping
from typing import Any

from tests.clusters import Cluster, record
from tests.deployed import CONNECTOR_S
from tests.kafka_source.mirror import Mirror
from tests.support import wait_until

JSON = "org.apache.kafka.connect.json.JsonConverter"
T = "org.apache.kafka.connect.transforms."
SCHEMALESS = {
    "source.value.converter": JSON, "source.value.converter.schemas.enable": "false",
    "value.converter": JSON, "value.converter.schemas.enable": "false",
}  # fmt: skip
WITH_SCHEMAS = {"source.value.converter": JSON, "value.converter": JSON}
CAST = {"transforms": "cast", "transforms.cast.type": T + "Cast$Value", "transforms.cast.spec": "n:int32"}


def values(cluster: Cluster, topic: str) -> list[Any]:
    return [None if r.value is None else json.loads(r.value) for r in cluster.read(topic)]


def envelope(schema: dict[str, Any], payload: Any) -> bytes:
    return json.dumps({"schema": schema, "payload": payload}).encode()


def test_a_chain_filters_changes_and_routes_before_topics_are_made(
    source: Cluster, destination: Cluster, mirror: Callable[..., Mirror], topic_name: Callable[[str], str]
) -> None:
    topic = topic_name("orders")
    source.create(topic, partitions=2)
    source.produce(topic, [record(b"k", b'{"n":"%d","secret":"x"}' % n, [("a", b"\x00")], partition=n % 2) for n in range(6)])
    source.produce(topic, [record(b"gone", None)])
    one = mirror(topic, {
        **SCHEMALESS,
        "transforms": "live,prune,cast,where,route", "predicates": "dead",
        "predicates.dead.type": T + "predicates.RecordIsTombstone",
        "transforms.live.type": T + "Filter", "transforms.live.predicate": "dead",
        "transforms.prune.type": T + "ReplaceField$Value", "transforms.prune.exclude": "secret",
        "transforms.cast.type": T + "Cast$Value", "transforms.cast.spec": "n:int32",
        "transforms.where.type": T + "InsertField$Value", "transforms.where.topic.field": "from",
        "transforms.route.type": "RegexRouter",
        "transforms.route.regex": ".*\\.(.*)", "transforms.route.replacement": "routed-$1",
        "topic.creation.groups": "routed", "topic.creation.routed.include": "routed-.*", "topic.creation.routed.partitions": "2",
    })  # fmt: skip
    routed = "routed-" + (one.prefix + topic).rpartition(".")[2]
    wait_until(lambda: destination.size(routed) >= 6, CONNECTOR_S, lambda: f"copied; {one.status()}")
    copies = destination.read(routed)
    assert sorted(json.loads(r.value or b"")["n"] for r in copies) == list(range(6))
    assert all(json.loads(r.value or b"") == {"n": json.loads(r.value or b"")["n"], "from": one.prefix + topic} for r in copies)
    assert all((r.key, r.headers, r.timestamp) == (b"k", [("a", b"\x00")], 1_700_000_000_000) for r in copies)
    assert {r.partition for r in copies} == {0, 1}  # the rule's two partitions, those of the source
    wait_until(lambda: one.offsets() == {f"{topic}:0": 3, f"{topic}:1": 2}, CONNECTOR_S, f"all counts; {one.offsets()}")
    one.await_topics(routed)
    assert destination.admin.describe(one.prefix + topic) is None


def test_topics_that_depend_on_the_record_are_made_in_time(
    source: Cluster, destination: Cluster, mirror: Callable[..., Mirror], topic_name: Callable[[str], str]
) -> None:
    topic, day = topic_name("daily"), 86_400_000
    source.create(topic)
    source.produce(topic, [record(b"k", b"%d" % n, timestamp=1_700_000_000_000 + n * day) for n in range(3)])
    one = mirror(topic, {"transforms": "day", "transforms.day.type": "TimestampRouter"})
    made = [f"{one.prefix}{topic}-202311{d}" for d in (14, 15, 16)]
    wait_until(lambda: all(destination.size(t) == 1 for t in made), CONNECTOR_S, lambda: f"one record in each; {one.status()}")
    one.await_topics(*made)


def test_topics_of_the_records_of_several_partitions_are_made_one_after_the_other(
    source: Cluster, mirror: Callable[..., Mirror], topic_name: Callable[[str], str], events: list[MutableMapping[str, Any]]
) -> None:
    topic, count = topic_name("many"), 40
    source.create(topic, partitions=2)
    sent = [record(b"k", json.dumps({"to": f"{topic}-{n // 2}"}).encode(), partition=n % 2) for n in range(2 * count)]
    source.produce(topic, sent)
    sql = {"transforms": "sql", "transforms.sql.type": "headrace.transforms.Sql", "transforms.sql.topic": "value:to::string"}
    one = mirror(topic, {**SCHEMALESS, **sql})
    one.await_stored({f"{topic}:0": count - 1, f"{topic}:1": count - 1})
    one.await_topics(*(f"{topic}-{n}" for n in range(count)))
    assert [e for e in events if e["event"] == "task.retry" and e["connector"] == one.name] == []


def test_the_first_bad_record_ends_the_task_and_what_precedes_it_is_there_once(
    source: Cluster, destination: Cluster, mirror: Callable[..., Mirror], topic_name: Callable[[str], str],
    events: list[MutableMapping[str, Any]],
) -> None:  # fmt: skip
    topic = topic_name("bad")
    source.create(topic)
    lines = [b'{"n":"%d"}' % n for n in range(10)]
    lines[4] = b'{"n":"four"}'
    source.produce(topic, [record(b"k", line) for line in lines])
    one = mirror(topic, {**SCHEMALESS, **CAST})
    trace = one.trace()
    assert trace.splitlines()[0] == (
        "org.apache.kafka.connect.errors.ConnectException: Tolerance exceeded in error handler: "
        f"record topic={topic}, partition=0, offset=4, at transform 'cast'"
    )
    assert "Caused by: org.apache.kafka.connect.errors.DataException: Value (four) was out of range" in trace
    assert "Caused by: java.lang.NumberFormatException: " in trace
    assert values(destination, one.prefix + topic) == [{"n": n} for n in range(4)]
    assert one.offsets() == {f"{topic}:0": 3}
    one.restart("?includeTasks=true&onlyFailed=true")
    failed = lambda: [e for e in events if e["event"] == "task.failed" and e["connector"] == one.name]  # noqa: E731
    wait_until(lambda: len(failed()) == 2, CONNECTOR_S, lambda: f"it fails again; {one.status()}")
    assert "offset=4" in one.trace()
    assert values(destination, one.prefix + topic) == [{"n": n} for n in range(4)]  # nothing twice


def test_what_precedes_a_record_for_an_impossible_topic_is_stored(
    source: Cluster, destination: Cluster, mirror: Callable[..., Mirror], topic_name: Callable[[str], str]
) -> None:
    topic = topic_name("impossible")
    source.create(topic)
    source.produce(topic, [*(record(b"k", b"%d" % n) for n in range(9)), record(b"k", None)])
    router = mirror(topic, {
        "predicates": "gone", "predicates.gone.type": T + "predicates.RecordIsTombstone", "transforms": "route",
        "transforms.route.type": "RegexRouter", "transforms.route.regex": ".*", "transforms.route.replacement": "im/possible",
        "transforms.route.predicate": "gone",
    })  # fmt: skip
    assert "im/possible" in router.trace()
    assert router.offsets() == {f"{topic}:0": 8}
    assert destination.size(router.prefix + topic) == 9


def test_a_record_that_overflows_the_stack_ends_its_own_task_only(
    source: Cluster, mirror: Callable[..., Mirror], topic_name: Callable[[str], str]
) -> None:
    deep, topic = topic_name("deep"), topic_name("flat")
    for name in (deep, topic):
        source.create(name)
    matched = {
        **SCHEMALESS,
        "transforms": "sql", "transforms.sql.type": "headrace.transforms.Sql",
        "transforms.sql.value.t": "regexp_replace(value:t::string, '(a|b)*', '')",
    }  # fmt: skip
    plain = mirror(topic, SCHEMALESS)
    failing = mirror(deep, matched)
    source.produce(topic, [record(b"k", b'{"t":"a"}')])
    source.produce(deep, [record(b"k", b'{"t":"a"}'), record(b"k", json.dumps({"t": "ab" * 200_000}).encode())])
    trace = failing.trace()
    assert (
        "A transform or converter needs too deep a stack for this record" in trace
        and f"topic={deep}, partition=0, offset=1" in trace
    )
    source.produce(topic, [record(b"k", b'{"t":"b"}')])
    plain.await_copied(topic, 2)
    plain.await_states("RUNNING", "RUNNING")


def test_tolerated_records_become_dead_letters_with_their_context(
    source: Cluster,
    destination: Cluster,
    mirror: Callable[..., Mirror],
    topic_name: Callable[[str], str],
    events: list[MutableMapping[str, Any]],
) -> None:
    topic, letters = topic_name("some"), topic_name("letters")
    source.create(topic)
    lines = [b'{"n":"1"}', b"no json", b'{"n":"two"}', b'{"n":"3"}']
    source.produce(topic, [record(b"key%d" % n, line, [("h", b"v")]) for n, line in enumerate(lines)])
    one = mirror(topic, {
        **SCHEMALESS, **CAST, "errors.tolerance": "all", "errors.deadletterqueue.topic.name": letters,
        "errors.deadletterqueue.topic.replication.factor": "1", "errors.deadletterqueue.context.headers.enable": "true",
        "errors.log.enable": "true", "errors.log.include.messages": "true",
    })  # fmt: skip
    wait_until(lambda: destination.size(letters) == 2, CONNECTOR_S, lambda: f"two letters; {one.status()}")
    wait_until(lambda: one.offsets() == {f"{topic}:0": 3}, CONNECTOR_S, "all stored")
    assert values(destination, one.prefix + topic) == [{"n": 1}, {"n": 3}]
    broken, failed = destination.read(letters)
    assert (broken.key, broken.value, broken.headers[0]) == (b"key1", b"no json", ("h", b"v"))
    assert (failed.key, failed.value, failed.timestamp) == (b"key2", b'{"n":"two"}', 1_700_000_000_000)
    context = {name.removeprefix("__connect.errors."): (text or b"").decode() for name, text in failed.headers[1:]}
    assert context["topic"] == topic
    assert (context["partition"], context["offset"], context["task.id"]) == ("0", "2", "0")
    assert (context["connector.name"], context["stage"]) == (one.name, "TRANSFORMATION")
    assert context["class.name"] == T + "Cast$Value"
    assert context["exception.class.name"] == "org.apache.kafka.connect.errors.DataException"
    assert context["exception.message"] == "Value (two) was out of range for requested data type"
    assert "Caused by: java.lang.NumberFormatException" in context["exception.stacktrace"]
    assert dict(broken.headers)["__connect.errors.stage"] == b"VALUE_CONVERTER"
    one.await_topics(one.prefix + topic)
    logged = [event for event in events if event["event"] == "record.failed"]
    assert [(event["key"], event["value"]) for event in logged] == [("key1", "no json"), ("key2", '{"n":"two"}')]
    assert logged[1]["place"] == f"topic={topic}, partition=0, offset=2, at transform 'cast'"


def test_schemas_may_change_from_record_to_record(
    source: Cluster, destination: Cluster, mirror: Callable[..., Mirror], topic_name: Callable[[str], str]
) -> None:
    topic = topic_name("schemas")
    source.create(topic)

    def struct(*fields: str) -> dict[str, Any]:
        return {"type": "struct", "optional": False, "fields": [{"type": "string", "optional": True, "field": f} for f in fields]}

    source.produce(topic, [record(b"k", envelope(struct("n"), {"n": str(i)})) for i in range(3)])
    names_a_field = {"transforms.sql.type": "headrace.transforms.Sql", "transforms.sql.value.twice": "value.n * 2"}
    one = mirror(topic, {**WITH_SCHEMAS, **CAST, **names_a_field, "transforms": "cast,sql"})
    copy = one.prefix + topic
    one.await_copied(topic, 3)
    source.produce(topic, [record(b"k", envelope(struct("n", "m"), {"n": str(i), "m": "x"})) for i in range(3, 5)])
    source.produce(topic, [record(b"k", envelope(struct("n"), {"n": "5"})), record(b"k", None)])
    wait_until(lambda: destination.size(copy) == 7, CONNECTOR_S, lambda: f"seven; {one.status()}")
    found = values(destination, copy)
    payloads = [v and v["payload"] for v in found]
    twice = [{"n": 0, "twice": 0}, {"n": 1, "twice": 2}, {"n": 2, "twice": 4}]
    more = [{"n": 3, "m": "x", "twice": 6}, {"n": 4, "m": "x", "twice": 8}, {"n": 5, "twice": 10}]
    assert payloads == [*twice, *more, None]
    assert [f["type"] for f in found[3]["schema"]["fields"]] == ["int32", "string", "int32"]
