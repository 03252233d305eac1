"""Header converters in Java, and headers that converters of keys and values read and write (KIP-440), in compiled chains."""

from __future__ import annotations

import operator
from collections.abc import Callable

import pytest

from headrace.testing.registry import SchemaRegistry
from tests.clusters import Cluster, record
from tests.deployed import Deployed
from tests.java_plugins.archives import DESCRIBE, IS_ODD, LABEL, SHOUT
from tests.java_plugins.test_chain_of_others import source, words
from tests.java_plugins.test_metrics import await_sample
from tests.java_plugins.test_source import records_of

Create = Callable[..., Deployed]
INSERT = {
    "transforms.insert.type": "org.apache.kafka.connect.transforms.InsertHeader",
    "transforms.insert.header": "site", "transforms.insert.value.literal": "berlin",
}  # fmt: skip


@pytest.fixture
def topic(topic_name: Callable[[str], str]) -> str:
    return topic_name("labelled")


def test_a_header_converter_is_given_the_topic_and_the_name_of_the_header(
    connector: Create, cluster: Cluster, topic: str, topic_name: Callable[[str], str]
):
    cluster.create(topic)
    cluster.produce(topic, [record(b"k", b"v", [("h", b"x")])])
    copy = topic_name("copy")
    chain = {"transforms": "copy,insert,say", **INSERT, "transforms.say.type": DESCRIBE, "header.converter": LABEL}
    converters = {"source.value.converter": LABEL, "value.converter": "org.apache.kafka.connect.storage.StringConverter"}
    connector("KafkaSource", **{**source(cluster, topic, copy), **converters}, **chain)
    (found,) = records_of(cluster, copy, 1)
    untouched, inserted, (name, said) = found.headers
    assert (untouched, inserted) == (("h", b"x"), ("site", f"{copy}/site=berlin".encode()))
    assert name == "seen"
    assert (said or b"").startswith(f"{copy}/seen=".encode())
    assert f"header h STRING String x of {topic}/h header site".encode() in (said or b"")


def test_converters_of_keys_and_values_read_and_write_headers(
    connector: Create, cluster: Cluster, topic: str, topic_name: Callable[[str], str]
):
    cluster.create(topic)
    cluster.produce(topic, [record(b"k", b"one", [("h", b"x"), ("label", b"first")]), record(None, b"two")])
    copy = topic_name("copy")
    converters = {f"{of}{part}.converter": LABEL for of in ("", "source.") for part in ("key", "value")}
    chain = {"transforms": "copy,insert", **INSERT}
    connector("KafkaSource", **{**source(cluster, topic, copy), **converters}, **chain)
    one, two = records_of(cluster, copy, 2)
    written = [("written", f"{copy} key".encode()), ("written", f"{copy} value".encode())]
    assert (one.key, one.value) == (b"first k", b"one")  # the key's converter has taken out what the value's would have read
    assert one.headers == [("h", b"x"), ("site", b"berlin"), *written]
    assert (two.key, two.value, two.headers) == (None, b"two", [("site", b"berlin"), *written])


def test_predicates_and_converters_in_a_chain_show_their_metrics_and_what_was_called_again(
    connector: Create, cluster: Cluster, topic: str, topic_name: Callable[[str], str]
):
    words(cluster, topic, *({"n": n, "word": "w"} for n in range(3)))
    copy = topic_name("copy")
    chain = {"transforms": "copy,loud,insert", **INSERT, "transforms.loud.type": SHOUT, "transforms.insert.predicate": "odd"}
    chain |= {"predicates": "odd", "predicates.odd.type": IS_ODD, "transforms.loud.predicate": "odd"}
    chain |= {"transforms.loud.passing": "2", "errors.retry.timeout": "-1", "errors.retry.delay.max.ms": "1"}
    copying = connector("KafkaSource", **source(cluster, topic, copy), **chain, header_converter=LABEL)
    odd = [("shouted", f"{copy}/shouted=1".encode()), ("site", f"{copy}/site=berlin".encode())]
    assert [r.headers[1:] for r in records_of(cluster, copy, 3)] == [[], odd, []]
    await_sample(copying, "kafka_connect_plugins_odd", 3)  # each attempt asks it again, as in Kafka Connect
    await_sample(copying, "kafka_connect_plugins_written", 1, operator.ge)  # which of its instances is shown is not defined
    await_sample(copying, "kafka_connect_task_error_metrics_total_retries", 2)


def test_plugins_are_called_once_for_each_record_though_it_waits_for_its_topic_and_its_schema(
    connector: Create, cluster: Cluster, topic: str, topic_name: Callable[[str], str]
):
    words(cluster, topic, *({"n": n, "word": "w", f"more{n % 3}": "x"} for n in range(9)))
    copy = topic_name("copy")
    chain = {"transforms": "copy,insert", **INSERT, "transforms.insert.predicate": "odd"}
    chain |= {"predicates": "odd", "predicates.odd.type": IS_ODD}
    with SchemaRegistry() as registry:
        registry.store.levels[None] = "NONE"
        chain |= {"value.converter": "io.confluent.connect.json.JsonSchemaConverter"}
        chain |= {"value.converter.schema.registry.url": registry.url}
        copying = connector("KafkaSource", **source(cluster, topic, copy), **chain)
        assert [len(r.headers) for r in records_of(cluster, copy, 9)] == [1, 2] * 4 + [1]
    await_sample(copying, "kafka_connect_plugins_odd", 4)
