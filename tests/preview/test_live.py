from __future__ import annotations

import pytest

from headrace.errors import BadRequestError
from headrace.kafka import clients
from headrace.kafka.admin import Admin
from headrace.preview.records import from_objects
from tests.preview.conftest import MIRROR, prepared


@pytest.fixture
def admin(source_broker) -> Admin:
    return Admin({"bootstrap.servers": source_broker.bootstrap})


def fill(broker, topic: str, count: int) -> None:
    producer = clients.producer({"bootstrap.servers": broker.bootstrap})
    for n in range(count):
        producer.produce(topic, f'{{"n":{n}}}', f"k{n}", n % 2, timestamp=1000 + n, headers=[("h", b"x"), ("none", None)])
    assert producer.flush(120) == 0


def mirror(broker, whitelist: str):
    return prepared(MIRROR | {"source.bootstrap.servers": broker.bootstrap, "source.topic.whitelist": whitelist})


def test_the_last_records_of_a_mirrors_topics_are_taken_and_nothing_is_committed(source_broker, admin, topic_name, spark):
    topic, other = topic_name("orders"), topic_name("orders")
    for name in (topic, other):
        admin.create(name, 2, 1)
    fill(source_broker, topic, 10)
    preview = mirror(source_broker, f"{topic}|{other}")
    records = preview.live(3)
    assert [(r.topic, r.partition, r.offset, r.timestamp, r.key) for r in records] == [
        (topic, 1, 3, 1007, b"k7"),
        (topic, 0, 4, 1008, b"k8"),
        (topic, 1, 4, 1009, b"k9"),
    ]
    assert records[0].headers == (("h", b"x"), ("none", None))
    response = preview.run(spark, records, describe_topics=False)
    assert [r["output"]["value"] for r in response["records"]] == ['{"n":7}', '{"n":8}', '{"n":9}']
    assert admin.committed("headrace-preview") == {}
    assert len(preview.live(1000)) == 10


def test_there_may_be_nothing_to_read(source_broker, admin, topic_name):
    topic = topic_name("empty")
    with pytest.raises(BadRequestError, match="No topic of the cluster is one of the connector's"):
        mirror(source_broker, topic).live(1)
    admin.create(topic, 1, 1)
    with pytest.raises(BadRequestError, match=f"are empty, or their newest records are of aborted transactions \\({topic}\\)"):
        mirror(source_broker, topic).live(1)


def test_records_behind_transactions_that_were_aborted_are_found(source_broker, admin, topic_name):
    topic = topic_name("orders")
    admin.create(topic, 1, 1)
    producer = clients.producer({"bootstrap.servers": source_broker.bootstrap, "transactional.id": topic})
    producer.init_transactions(120)
    for n, end in enumerate((producer.commit_transaction, *[producer.abort_transaction] * 3)):
        producer.begin_transaction()
        producer.produce(topic, b"%d" % n)
        producer.flush()
        end(120)
    assert [record.value for record in mirror(source_broker, topic).live(1)] == [b"3"]  # it copies records that were aborted, too
    config = {"source.bootstrap.servers": source_broker.bootstrap, "source.topic.whitelist": topic}
    committed = prepared(MIRROR | config | {"source.isolation.level": "read_committed"})
    assert [record.value for record in committed.live(1)] == [b"0"]


def test_a_sinks_records_come_from_the_workers_cluster(source_broker, admin, topic_name, sink):
    topic = topic_name("sink")
    admin.create(topic, 2, 1)
    fill(source_broker, topic, 4)
    result = prepared({"connector.class": sink, "topics": topic}, bootstrap_servers=source_broker.bootstrap)
    assert [r.timestamp for r in result.live(2)] == [1002, 1003]
    by_pattern = prepared({"connector.class": sink, "topics.regex": f"{topic}.*"}, bootstrap_servers=source_broker.bootstrap)
    assert len(by_pattern.live(100)) == 4


def test_a_connector_that_reads_no_topics_has_no_live_records():
    with pytest.raises(BadRequestError, match="does not read from Kafka: give records"):
        prepared({"connector.class": "FileStreamSource", "topic": "lines"}).live(1)


def test_topics_that_exist_are_known_to(source_broker, admin, topic_name, spark):
    there, absent = topic_name("there"), topic_name("absent")
    admin.create(there, 3, 1)
    config = MIRROR | {"topic.creation.default.partitions": "1", "topic.creation.default.replication.factor": "1"}
    result = prepared(config, bootstrap_servers=source_broker.bootstrap)
    response = result.run(spark, from_objects([{"topic": there, "value": "{}"}, {"topic": absent, "value": "{}"}], "t"))
    first, second = (record["destination"] for record in response["records"])
    assert (first["exists"], first["partitions"], first["create"]) == (True, 3, None)
    assert (second["exists"], second["partitions"], second["create"]["group"]) == (False, None, "default")
