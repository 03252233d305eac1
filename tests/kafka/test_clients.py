from __future__ import annotations

import logging
import threading

import pytest

from headrace.errors import ConfigError
from headrace.kafka import clients
from headrace.kafka.clients import librdkafka


def test_names_and_units_that_differ_are_translated():
    props = {
        "bootstrap.servers": "a:1, b:2",
        "send.buffer.bytes": "-1",
        "request.timeout.ms": "40000",
        "max.request.size": "2097152",
        "buffer.memory": "33554432",
        "delivery.timeout.ms": str(2**31 - 1),
    }
    settings = librdkafka(props, "producer")
    assert settings["bootstrap.servers"] == "a:1,b:2"
    assert settings["socket.send.buffer.bytes"] == "0"
    assert settings["socket.timeout.ms"] == "40000"
    assert settings["message.max.bytes"] == "2097152"
    assert settings["queue.buffering.max.kbytes"] == "32768"
    assert settings["delivery.timeout.ms"] == "2147483647"


@pytest.mark.parametrize("role", ["consumer", "producer", "admin"])
def test_every_setting_of_the_java_clients_makes_a_client(role):
    numbers = "100000"
    texts = {
        "acks": "all", "allow.auto.create.topics": "true", "auto.offset.reset": "earliest", "bootstrap.servers": "127.0.0.1:1",
        "check.crcs": "true", "client.dns.lookup": "use_all_dns_ips", "client.id": "me", "client.rack": "r1",
        "compression.type": "gzip", "compression.gzip.level": "5", "compression.zstd.level": "3", "enable.auto.commit": "false",
        "enable.idempotence": "true", "enable.metrics.push": "false", "group.id": "g", "group.instance.id": "i",
        "isolation.level": "read_committed", "max.in.flight.requests.per.connection": "5", "partitioner.class":
        "org.apache.kafka.clients.producer.RoundRobinPartitioner", "metadata.recovery.strategy": "rebootstrap",
        "partition.assignment.strategy": "org.apache.kafka.clients.consumer.RangeAssignor,"
        "org.apache.kafka.clients.consumer.CooperativeStickyAssignor", "retries": "2147483647", "security.protocol": "plaintext",
    }  # fmt: skip
    numeric = (
        "auto.commit.interval.ms", "batch.size", "buffer.memory", "connections.max.idle.ms", "delivery.timeout.ms",
        "fetch.max.bytes", "fetch.max.wait.ms", "fetch.min.bytes", "heartbeat.interval.ms", "linger.ms",
        "max.partition.fetch.bytes", "max.poll.interval.ms", "max.request.size", "metadata.max.age.ms",
        "metadata.recovery.rebootstrap.trigger.ms",
        "receive.buffer.bytes", "reconnect.backoff.max.ms", "reconnect.backoff.ms", "request.timeout.ms", "retry.backoff.max.ms",
        "retry.backoff.ms", "send.buffer.bytes", "session.timeout.ms", "socket.connection.setup.timeout.ms",
        "transaction.timeout.ms",
    )  # fmt: skip
    make = {"consumer": clients.consumer, "producer": clients.producer, "admin": clients.admin}[role]
    make({**texts, **dict.fromkeys(numeric, numbers)})


@pytest.mark.parametrize("value", ["0", "-1", "2147483647"])
def test_numbers_that_only_java_takes_are_moved_into_range(value):
    numbers = ("request.timeout.ms", "fetch.max.bytes", "metadata.max.age.ms", "session.timeout.ms", "linger.ms", "batch.size")
    clients.consumer({"group.id": "g", "max.poll.interval.ms": "2147483647", **dict.fromkeys(numbers, value)})
    clients.producer(dict.fromkeys(numbers, value))


def test_what_has_no_counterpart_is_dropped_with_one_line_that_names_no_value(caplog):
    caplog.set_level(logging.DEBUG, "headrace.kafka.clients")
    props = {"key.deserializer": "secret.Deserializer", "interceptor.classes": "x", "my.password": "hunter2"}
    assert set(librdkafka(props, "admin")) == set(librdkafka({}, "admin"))
    assert [r.getMessage() for r in caplog.records if r.thread == threading.get_ident()] == [
        "admin client: settings without a meaning for it were dropped: interceptor.classes, key.deserializer, my.password"
    ]


def test_settings_of_another_role_are_dropped():
    assert "acks" not in librdkafka({"acks": "1"}, "consumer")
    assert "isolation.level" not in librdkafka({"isolation.level": "read_committed"}, "producer")


def test_defaults_are_those_of_the_java_clients():
    assert librdkafka({}, "consumer")["isolation.level"] == "read_uncommitted"
    producer = librdkafka({}, "producer")
    assert (producer["partitioner"], producer["enable.idempotence"]) == ("murmur2_random", "true")


@pytest.mark.parametrize("against", [{"acks": "1"}, {"max.in.flight.requests.per.connection": "6"}, {"retries": "0"}])
def test_idempotence_is_off_where_other_settings_speak_against_it(against):
    assert librdkafka(against, "producer")["enable.idempotence"] == "false"
    clients.producer(against)


def test_a_compression_level_counts_for_its_own_codec_only():
    given = {"compression.type": "gzip", "compression.zstd.level": "9"}
    assert "compression.level" not in librdkafka(given, "producer")
    assert librdkafka({**given, "compression.type": "zstd"}, "producer")["compression.level"] == "9"


@pytest.mark.parametrize(("codec", "level", "librdkafkas"), [("zstd", 22, "12"), ("zstd", -131072, "-1"), ("lz4", 17, "12")])
def test_a_compression_level_beyond_librdkafkas_is_its_last_one(codec: str, level: int, librdkafkas: str) -> None:
    given = {"compression.type": codec, f"compression.{codec}.level": str(level)}
    assert librdkafka(given, "producer")["compression.level"] == librdkafkas
    clients.producer(given)


def test_a_delivery_timeout_above_the_transaction_timeout_is_lowered():
    props = {"transactional.id": "t", "delivery.timeout.ms": "2147483647", "transaction.timeout.ms": "30000"}
    assert librdkafka(props, "producer")["delivery.timeout.ms"] == "30000"
    clients.producer(props)


@pytest.mark.parametrize(
    ("props", "poll_ms"),
    [
        ({}, 300_000),
        ({"session.timeout.ms": "600000"}, 600_000),
        ({"session.timeout.ms": "600000", "max.poll.interval.ms": "700000"}, 700_000),
        ({"max.poll.interval.ms": "10000"}, 45_000),
    ],
)
def test_a_consumer_has_a_poll_interval_of_at_least_its_session(props, poll_ms):
    made = {"bootstrap.servers": "127.0.0.1:1", "group.id": "g", **props}
    assert librdkafka(made, "consumer")["max.poll.interval.ms"] == str(poll_ms)
    clients.consumer(made).close()


def test_the_new_group_protocol_takes_no_session_settings():
    props = {"group.protocol": "consumer", "group.id": "g", "session.timeout.ms": "10000", "heartbeat.interval.ms": "3000"}
    assert "session.timeout.ms" not in librdkafka(props, "consumer")
    clients.consumer(props)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("linger.ms", "soon", "Invalid value soon for configuration linger.ms: Not a number of type INT"),
        ("security.protocol", "TLS", "Invalid value TLS for configuration security.protocol: String must be one of: PLAINTEXT, "
         "SSL, SASL_PLAINTEXT, SASL_SSL"),
        ("compression.type", "rar", 'Cannot create a Kafka producer client from these settings: Invalid value "rar" for '
         'configuration property "compression.codec"'),
    ],
)  # fmt: skip
def test_a_bad_value_is_named(name, value, message):
    with pytest.raises(ConfigError) as raised:
        clients.producer({name: value})
    assert str(raised.value) == message


def test_an_unknown_offset_reset_is_refused():
    with pytest.raises(ConfigError, match=r"auto\.offset\.reset: must be one of: earliest, latest, none"):
        librdkafka({"auto.offset.reset": "by_duration:PT1H"}, "consumer")
