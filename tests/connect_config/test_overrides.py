import pytest

from headrace.connect_config import overrides
from headrace.errors import ConfigError, ConnectError

KEYS = ("acks", "sasl.jaas.config", "security.protocol", "linger.ms")


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("All", KEYS),
        ("None", ()),
        ("Principal", ("sasl.jaas.config", "security.protocol")),
        ("Allowlist", ("acks", "linger.ms")),
        ("org.apache.kafka.connect.connector.policy.NoneConnectorClientConfigOverridePolicy", ()),
    ],
)
def test_each_policy_allows_what_kafkas_does(name, allowed):
    refuse = overrides.policy(name, ["acks", "linger.ms"])
    assert tuple(key for key in KEYS if refuse(key) is None) == allowed


def test_the_refusal_names_policy_and_setting():
    assert overrides.policy("None")("acks") == (
        "The 'None' policy does not allow 'acks' to be overridden in the connector configuration."
    )


def test_an_unknown_policy_is_refused_with_those_there_are():
    with pytest.raises(ConfigError, match="which name matches Nope, available classes are: All, None, Principal, Allowlist"):
        overrides.policy("Nope")


def test_a_client_is_not_made_with_what_the_policy_refuses():
    config = {"admin.override.bootstrap.servers": "away:9092", "admin.override.security.protocol": "SSL", "x": "y"}
    assert overrides.permitted(config, "producer", overrides.policy("None")) == {}
    assert len(overrides.permitted(config, "admin", overrides.policy("All"))) == 2
    sentence = (
        r"^Client Config Overrides not allowed: The 'Principal' policy does not allow 'bootstrap\.servers' to be \S+ in the"
    )
    with pytest.raises(ConnectError, match=sentence):
        overrides.permitted(config, "admin", overrides.policy("Principal"))


def test_values_are_read_as_the_client_would():
    values = overrides.validate({"consumer.override.max.poll.records": "5", "x": "y"}, "consumer", overrides.policy("All"))
    assert [(value.name, value.value) for value in values] == [("max.poll.records", 5)]
    with pytest.raises(ConfigError, match=r"Invalid value x for configuration max\.poll\.records: Not a number of type INT"):
        overrides.validate({"consumer.override.max.poll.records": "x"}, "consumer", overrides.policy("All"))


@pytest.mark.parametrize("option", ["partitioner.class", "key.serializer", "sasl.login.class"])
def test_a_class_that_cannot_exist_is_an_error_and_that_of_a_user_may(option):
    for name in ("java.lang.String", "org.apache.kafka.clients.producer.RoundRobinPartitioner", "com.example.Mine"):
        (value,) = overrides.validate({f"producer.override.{option}": f" {name} "}, "producer", overrides.policy("All"))
        assert value.value == name
    for name in ("NoSuch", "org.apache.kafka.NoSuch", "java.lang.NoSuch"):
        with pytest.raises(ConfigError) as refused:
            overrides.validate({f"producer.override.{option}": name}, "producer", overrides.policy("All"))
        assert str(refused.value) == f"Invalid value {name} for configuration {option}: Class {name} could not be found."
