import pytest

from headrace.config import REQUIRED
from headrace.connectors.kafka_source.config import KafkaSourceConfig
from headrace.errors import ConfigError

MINIMAL = {"source.bootstrap.servers": "s:9092", "source.topic.whitelist": "a,b"}
BYTES = "org.apache.kafka.common.serialization.ByteArrayDeserializer"


def test_the_options_have_the_defaults_of_the_proposal():
    options = KafkaSourceConfig.definition().options
    assert {name: option.default for name, option in options.items()} == {
        "source.bootstrap.servers": REQUIRED,
        "source.topic.whitelist": REQUIRED,
        "source.auto.offset.reset": "earliest",
        "source.group.id": None,
        "destination.topics.prefix": "",
        "include.message.headers": True,
        "topic.list.timeout.ms": 60000,
        "topic.list.poll.interval.ms": 300000,
        "reconfigure.tasks.on.leader.change": False,
        "poll.loop.timeout.ms": 1000,
        "max.shutdown.wait.ms": 2000,
        "source.max.poll.records": 500,
        "source.key.deserializer": BYTES,
        "source.value.deserializer": BYTES,
        "source.key.converter": None,
        "source.value.converter": None,
        "source.enable.auto.commit": True,
        "destination.partition": "auto",  # of headrace
        "batch.max.records": 500000,  # of headrace
        "stream.mode": "auto",  # of headrace
        "stream.realtime.batch.ms": 5000,  # of headrace
        "source.data.loss": "fail",  # of headrace
        "source.data.loss.topic": None,  # of headrace
        "source.data.loss.topic.replication.factor": -1,  # of headrace
    }
    assert all(option.doc for option in options.values())


def test_two_options_are_enough():
    config = KafkaSourceConfig(MINIMAL)
    assert config.source_bootstrap_servers == ["s:9092"]
    assert config.whitelist.fullmatch("b")
    assert (config.group_id, config.enable_auto_commit, config.auto_offset_reset) == (None, True, "earliest")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"source.bootstrap.servers": ""}, "At least one bootstrap server must be configured in source.bootstrap.servers"),
        ({"source.topic.whitelist": "("}, "( is an invalid regex for config source.topic.whitelist"),
        (
            {"source.auto.offset.reset": "none"},
            "Invalid value none for configuration source.auto.offset.reset: String must be one of: earliest, latest",
        ),
        (
            {"connector.consumer.auto.offset.reset": "none"},
            "Invalid value none for configuration connector.consumer.auto.offset.reset: String must be one of: earliest, latest",
        ),
        (
            {"connector.consumer.key.deserializer": "my.Deserializer"},
            "Invalid value my.Deserializer for configuration connector.consumer.key.deserializer: String must be one of: "
            "org.apache.kafka.common.serialization.ByteArrayDeserializer, "
            "org.apache.kafka.common.serialization.BytesDeserializer, org.apache.kafka.common.serialization.StringDeserializer",
        ),
        (
            {"destination.partition": "x"},
            "Invalid value x for configuration destination.partition: String must be one of: auto, source, partitioner",
        ),
        (
            {"source.value.deserializer": "com.example.Avro"},
            "Invalid value com.example.Avro for configuration source.value.deserializer: String must be one of: "
            "org.apache.kafka.common.serialization.ByteArrayDeserializer, "
            "org.apache.kafka.common.serialization.BytesDeserializer, "
            "org.apache.kafka.common.serialization.StringDeserializer",
        ),
        (
            {"topic.list.poll.interval.ms": "0"},
            "Invalid value 0 for configuration topic.list.poll.interval.ms: Value must be at least 1",
        ),
        (
            {"connector.consumer.enable.auto.commit": "maybe"},
            "Invalid value maybe for configuration connector.consumer.enable.auto.commit: "
            "Expected value to be either true or false",
        ),
    ],
)
def test_a_bad_value_is_told_with_what_would_be_right(change, message):
    with pytest.raises(ConfigError) as error:
        KafkaSourceConfig({**MINIMAL, **change})
    assert str(error.value) == message


@pytest.mark.parametrize("missing", MINIMAL)
def test_two_options_are_required(missing):
    props = {name: value for name, value in MINIMAL.items() if name != missing}
    with pytest.raises(ConfigError) as error:
        KafkaSourceConfig(props)
    assert str(error.value) == f'Missing required configuration "{missing}" which has no default value.'


def test_overrides_of_the_consumer_count_for_what_the_connector_does_itself():
    config = KafkaSourceConfig(
        {
            **MINIMAL,
            "source.group.id": "a",
            "connector.consumer.group.id": "b",
            "connector.consumer.enable.auto.commit": "false",
            "connector.consumer.auto.offset.reset": "latest",
            "connector.consumer.value.deserializer": "org.apache.kafka.common.serialization.StringDeserializer",
        }
    )
    assert (config.group_id, config.enable_auto_commit, config.auto_offset_reset) == ("b", False, "latest")
    assert [config.deserializer(side).rpartition(".")[2] for side in ("key", "value")] == [
        "ByteArrayDeserializer",
        "StringDeserializer",
    ]


def test_all_problems_of_a_configuration_are_found_at_once():
    values = KafkaSourceConfig.definition().validate({"source.topic.whitelist": "(", "max.shutdown.wait.ms": "soon"})
    assert {value.name for value in values if value.errors} == {
        "source.bootstrap.servers",
        "source.topic.whitelist",
        "max.shutdown.wait.ms",
    }
