"""Transforms, predicates and converters in Java, in the chains of connectors."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from headrace.testing.worker import EmbeddedWorker
from tests.clusters import Cluster
from tests.deployed import CONNECTOR_S, Deployed
from tests.java_plugins.archives import COUNTING, IS_ODD, PLAIN, SHOUT
from tests.java_plugins.test_metrics import await_sample
from tests.java_plugins.test_source import OWN, await_line, records_of
from tests.support import wait_until

Create = Callable[..., Deployed]
LOUD = {"transforms": "loud", "transforms.loud.type": "Shout"}


@pytest.fixture
def topic(topic_name: Callable[[str], str]) -> str:
    return topic_name("chained")


def validated(worker: EmbeddedWorker, config: dict[str, str]) -> dict[str, Any]:
    body = {"name": "c", "connector.class": COUNTING, "topic": "t", **config}
    answer = worker.call("PUT", f"/connector-plugins/{COUNTING}/config/validate", body)
    return {c["definition"]["name"]: c for c in answer["configs"] if c["definition"]}


def test_the_options_of_a_transform_are_checked_by_its_class(java_worker: EmbeddedWorker):
    found = validated(java_worker, {**LOUD, "transforms.loud.drop": "-2"})
    assert found["transforms.loud.drop"]["value"]["errors"] == [
        "Invalid value -2 for configuration drop: Value must be at least -1"
    ]
    assert found["transforms.loud.drop"]["definition"]["group"] == "Transforms: loud"
    assert found["transforms.loud.fail"]["value"] == {
        "name": "transforms.loud.fail", "value": "-1", "recommended_values": [], "errors": [], "visible": True,
    }  # fmt: skip


def test_the_plugins_of_a_chain_are_listed(java_worker: EmbeddedWorker):
    listed = {(p["class"], p["type"]) for p in java_worker.call("GET", "/connector-plugins?connectorsOnly=false")}
    assert {(SHOUT, "transformation"), (IS_ODD, "predicate"), (PLAIN, "converter")} <= listed


def test_transforms_in_java_with_kafkas_own_and_a_converter_in_java(connector: Create, cluster: Cluster, topic: str):
    chain = {**LOUD, "transforms": "loud,name", "transforms.loud.drop": "2", "transforms.loud.predicate": "odd"}
    chain |= {"transforms.loud.negate": "true", "predicates": "odd", "predicates.odd.type": "IsOdd"}
    chain |= {"transforms.name.type": "org.apache.kafka.connect.transforms.ExtractField$Value", "transforms.name.field": "word"}
    connector(COUNTING, topic=topic, records="4", **chain, value_converter="PlainConverter")
    assert [r.value for r in records_of(cluster, topic, 3)] == [None, b"odd", b"odd"]


def test_headraces_own_transforms_follow_those_in_java(connector: Create, cluster: Cluster, topic: str):
    chain = {**LOUD, "transforms": "loud,own", "transforms.own.type": "headrace.transforms.Sql"}
    chain |= {"transforms.own.value.twice": "value.n * 2"}
    connector(COUNTING, topic=topic, records="2", **chain)
    assert [json.loads(r.value or b"") for r in records_of(cluster, topic, 2)] == [
        {"n": 0, "word": None, "twice": 0}, {"n": 1, "word": "ODD", "twice": 2},
    ]  # fmt: skip


_INSERT, _CAST = (f"org.apache.kafka.connect.transforms.{name}$Value" for name in ("InsertField", "Cast"))
BEFORE_SPARK = {
    "transforms": "z,nan,cast,loud,own", "transforms.z.type": _INSERT, "transforms.z.static.field": "z",
    "transforms.z.static.value": "-0.0", "transforms.nan.type": _INSERT, "transforms.nan.static.field": "nan",
    "transforms.nan.static.value": "NaN", "transforms.cast.type": _CAST, "transforms.cast.spec": "z:float64,nan:float32",
    "transforms.own.type": "headrace.transforms.Sql", "transforms.own.value.twice": "value.n * 2",
}  # fmt: skip
BETWEEN = {
    "transforms": "own,loud", "transforms.own.type": "headrace.transforms.Sql",
    "transforms.own.value.z": "double('-0.0')", "transforms.own.value.nan": "float('NaN')",
}  # fmt: skip


@pytest.mark.parametrize("chain", [BEFORE_SPARK, BETWEEN], ids=["before Spark", "between Spark's"])
def test_what_json_has_no_number_for_is_kept_between_java_and_spark(
    connector: Create, cluster: Cluster, topic: str, chain: dict[str, str]
):
    connector(COUNTING, topic=topic, records="1", **{**LOUD, **chain})
    [found] = records_of(cluster, topic, 1)
    twice = ',"twice":0' if chain is BEFORE_SPARK else ""
    assert found.value == b'{"n":0,"word":null,"z":-0.0,"nan":"NaN"%s}' % twice.encode()


def test_a_record_that_fails_ends_the_task_after_those_before_it(connector: Create, cluster: Cluster, topic: str):
    fails = {"transforms.loud.fail": "2", "transforms.loud.secret": "hunter2hunter2"}
    trace = connector(COUNTING, topic=topic, records="4", **LOUD, **fails).trace()
    assert "TRANSFORMATION by org.example.Shout failed for the record at source offset {at=3}" in trace
    assert "Caused by: java.lang.IllegalStateException: no luck with 2 [hidden]" in trace
    assert "hunter2" not in trace
    assert len(records_of(cluster, topic, 2)) == 2


@pytest.mark.parametrize("delivered", ["by Kafka's code", "by Spark"])
def test_what_throws_retriable_exceptions_is_called_again_and_counted(
    connector: Create, cluster: Cluster, topic: str, delivered: str
):
    chain = {**LOUD, "errors.retry.timeout": "-1", "errors.retry.delay.max.ms": "1", "transforms.loud.passing": "3"}
    if delivered == "by Spark":
        chain |= {"transforms": "loud,own", **{name: value for name, value in OWN.items() if name != "transforms"}}
    source = connector(COUNTING, topic=topic, records="1", **chain)
    assert [json.loads(r.value or b"")["n"] for r in records_of(cluster, topic, 1)] == [0]
    await_sample(source, "kafka_connect_task_error_metrics_total_retries", 3)


def test_a_task_that_fails_before_it_has_given_a_record_has_counted_what_was_called_again(connector: Create, topic: str):
    chain = {"transforms.loud.type": "Shout", "transforms.loud.passing": "3", "transforms.loud.fail": "0", **OWN}
    chain |= {"transforms": "loud,own", "errors.retry.timeout": "-1", "errors.retry.delay.max.ms": "1"}
    source = connector(COUNTING, topic=topic, records="1", **chain)
    assert "no luck with 0" in source.trace()
    await_sample(source, "kafka_connect_task_error_metrics_total_retries", 3)


def test_a_task_that_calls_a_transform_again_for_ever_can_be_stopped(connector: Create, topic: str, tmp_path: Path):
    journal = tmp_path / "journal"
    chain = {**LOUD, "transforms": "loud,own", "transforms.own.type": "headrace.transforms.Sql", "transforms.own.value.n": "1"}
    chain |= {"errors.retry.timeout": "-1", "transforms.loud.passing": "1000000000"}
    source = connector(COUNTING, topic=topic, records="1", journal=str(journal), **chain)
    await_line(journal, "start at 0")
    source.put("stop")
    source.await_states("STOPPED")
    await_line(journal, "stop")


@pytest.mark.parametrize(
    ("chain", "fails"),
    [
        ({**LOUD, "transforms.loud.throw": "configure"}, "configure"),
        ({"value.converter": "PlainConverter", "value.converter.throw": "configure"}, "configure"),
        ({"value.converter": "PlainConverter", "value.converter.throw": "fromConnectData"}, "fromConnectData"),
        (
            {**LOUD, "transforms.loud.predicate": "odd", "predicates": "odd", "predicates.odd.type": "IsOdd"}
            | {"predicates.odd.throw": "yes"},
            "test",
        ),
        ({"header.converter": "Label", "header.converter.refuse": "0"}, "header"),
        ({"transforms": "made", "transforms.made.type": "ThrowingConstructor"}, "constructor"),
    ],
    ids=["transform", "converter", "conversion", "predicate", "header", "constructor"],
)
def test_what_throws_in_a_chain_fails_the_task_with_its_own_trace(
    connector: Create, topic: str, chain: dict[str, str], fails: str
):
    trace = connector(COUNTING, topic=topic, **chain).trace()
    assert re.search(rf"java\.lang\.IllegalStateException: no luck (in|with) (its )?{fails}", trace)


def test_what_throws_when_it_is_closed_can_be_deleted(connector: Create, cluster: Cluster, topic: str):
    chain = {**LOUD, "transforms.loud.throw": "close", "transforms.loud.predicate": "odd", "predicates": "odd"}
    chain |= {"predicates.odd.type": "IsOdd", "predicates.odd.throw": "close"}
    source = connector(
        COUNTING, topic=topic, records="1", **chain, value_converter="PlainConverter", value_converter_throw="close"
    )
    records_of(cluster, topic, 1)
    source.delete()


def test_a_record_that_fails_is_left_out_where_errors_are_tolerated(connector: Create, cluster: Cluster, topic: str):
    connector(COUNTING, topic=topic, records="4", **LOUD, **{"transforms.loud.fail": "2", "errors.tolerance": "all"})
    assert [json.loads(r.value or b"")["n"] for r in records_of(cluster, topic, 3)] == [0, 1, 3]


def test_versions_of_transforms_and_converters_run_side_by_side(connector: Create, cluster: Cluster, topic: str):
    chain = {"transforms": "old,new", "value.converter": "PlainConverter", "value.converter.stamp": "yes"}
    for alias in ("old", "new"):
        chain |= {f"transforms.{alias}.type": "Shout", f"transforms.{alias}.route": "yes"}
    chain |= {"transforms.old.plugin.version": "1.0", "value.converter.plugin.version": "[1.0,2.0-alpha)"}
    connector(COUNTING, topic=topic, records="1", **chain)
    assert [r.value for r in records_of(cluster, f"{topic}-1.0-2.0-beta", 1)] == [b"Struct{n=0} by 1.0"]


def test_a_version_that_is_not_there_is_refused_with_those_that_are(java_worker: EmbeddedWorker):
    chain = {**LOUD, "transforms.loud.plugin.version": "3.0", "value.converter": PLAIN, "value.converter.plugin.version": "3.0"}
    found = validated(java_worker, chain)
    for option, name in (("transforms.loud.plugin.version", SHOUT), ("value.converter.plugin.version", PLAIN)):
        (why,) = found[option]["value"]["errors"]
        assert why == f"Plugin {name} not found that matches the version range [3.0,3.0], available versions: [1.0, 2.0-beta]"


def test_a_dead_letter_of_a_source_in_java_is_replayed_through_its_chain(
    connector: Create, cluster: Cluster, topic: str, topic_name: Callable[[str], str]
):
    letters = topic_name("letters")
    source = connector(
        COUNTING, topic=topic, records="2", transforms="cast",
        transforms_cast_type="org.apache.kafka.connect.transforms.Cast$Value", transforms_cast_spec="word:int32",
        errors_tolerance="all", errors_deadletterqueue_topic_name=letters,
        errors_deadletterqueue_topic_replication_factor="1", errors_deadletterqueue_context_headers_enable="true",
    )  # fmt: skip
    wait_until(lambda: cluster.size(letters) == 1, CONNECTOR_S, "a dead letter")
    source.configure({"transforms": ""})
    replay = f"/headrace/dead-letters/{letters}/replay"
    (done,) = source.worker.call("POST", replay, {"letters": ["0:0"]})["letters"]
    assert (done["outcome"], done["topic"]) == ("replayed", topic)
    copy = next(r for r in cluster.read(topic, settled=True) if r.key == b'"1"' or b"odd" in (r.value or b""))
    assert json.loads(copy.value or b"") == {"n": 1, "word": "odd"}
