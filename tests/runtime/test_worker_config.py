import logging

import pytest

from headrace.errors import ConfigError
from headrace.runtime.distributed_config import DistributedConfig
from headrace.runtime.standalone_config import StandaloneConfig, read_worker_config
from headrace.runtime.worker_config import WorkerConfig

BASE = {
    "bootstrap.servers": "localhost:9092",
    "group.id": "g",
    "key.converter": "StringConverter",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "config.storage.topic": "c",
    "offset.storage.topic": "o",
    "status.storage.topic": "s",
}
# Name → default, as Kafka Connect 4.3 has them; those that differ on purpose are in the tests below.
DEFAULTS = {
    "task.shutdown.graceful.timeout.ms": 5000,
    "offset.flush.interval.ms": 60000,
    "offset.flush.timeout.ms": 5000,
    "header.converter": "org.apache.kafka.connect.storage.SimpleHeaderConverter",
    "connector.client.config.override.policy": "All",
    "config.providers": [],
    "plugin.path": None,
    "topic.creation.enable": True,
    "topic.tracking.enable": True,
    "topic.tracking.allow.reset": True,
    "admin.listeners": None,
    "session.timeout.ms": 10000,
    "heartbeat.interval.ms": 3000,
    "rebalance.timeout.ms": 60000,
    "worker.sync.timeout.ms": 3000,
    "worker.unsync.backoff.ms": 300000,
    "connect.protocol": "sessioned",
    "scheduled.rebalance.max.delay.ms": 300000,
    "exactly.once.source.support": "disabled",
    "offset.storage.partitions": 25,
    "status.storage.partitions": 5,
    "config.storage.replication.factor": 3,
    "inter.worker.key.generation.algorithm": "HmacSHA256",
    "inter.worker.key.size": None,
    "inter.worker.key.ttl.ms": 3600000,
    "inter.worker.verification.algorithms": ["HmacSHA256"],
    "request.timeout.ms": 40000,
    "retry.backoff.ms": 100,
    "metadata.max.age.ms": 300000,
    "connections.max.idle.ms": 540000,
    "metrics.sample.window.ms": 30000,
    "security.protocol": "PLAINTEXT",
    "sasl.mechanism": "GSSAPI",
}


def test_defaults_are_those_of_kafka_connect():
    config = DistributedConfig(BASE)
    assert {name: config[name] for name in DEFAULTS} == DEFAULTS


def test_the_clusters_address_has_a_default():
    assert DistributedConfig({k: v for k, v in BASE.items() if k != "bootstrap.servers"}).bootstrap_servers == ["localhost:9092"]


def test_converters_may_be_named_shortly():
    assert DistributedConfig(BASE).key_converter == "org.apache.kafka.connect.storage.StringConverter"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("group.id", None, 'Missing required configuration "group.id" which has no default value.'),
        ("key.converter", None, 'Missing required configuration "key.converter" which has no default value.'),
        ("key.converter", "NoSuch", "Invalid value NoSuch for configuration key.converter: Class NoSuch could not be found."),
        (
            "listeners",
            "",
            "Invalid value for listeners, at least one URL is expected, ex: http://localhost:8080,https://localhost:8443.",
        ),
        ("listeners", "http://h:1,,", "Empty URL found when parsing listeners list."),
        ("listeners", "ftp://h:1", 'Listener protocol must be either "http" or "https".'),
        ("admin.listeners", "http://:1,", "Configuration 'admin.listeners' values must not be empty."),
        (
            "offset.storage.partitions",
            "0",
            "Invalid value 0 for configuration offset.storage.partitions: Number of partitions must be positive, or -1 to use "
            "the broker's default",
        ),
        (
            "status.storage.replication.factor",
            "-2",
            "Invalid value -2 for configuration status.storage.replication.factor: Replication factor must be positive and not "
            "larger than the number of brokers in the Kafka cluster, or -1 to use the broker's default",
        ),
        ("connect.protocol", "x", "Invalid value x for configuration connect.protocol: Invalid Connect protocol compatibility"),
        (
            "exactly.once.source.support",
            "x",
            "Invalid value x for configuration exactly.once.source.support: String must be one of (case insensitive): "
            "DISABLED, ENABLED, PREPARING",
        ),
        (
            "inter.worker.verification.algorithms",
            "",
            "Invalid value [] for configuration inter.worker.verification.algorithms: At least one signature verification "
            "algorithm must be provided",
        ),
        (
            "inter.worker.verification.algorithms",
            "HmacMD5",
            "Invalid value HmacSHA256 for configuration inter.worker.signature.algorithm: Signature algorithm must be present "
            "in inter.worker.verification.algorithms list",
        ),
        (
            "inter.worker.key.size",
            "8",
            "Unable to create key generator with algorithm HmacSHA256 and key size 8: Key length must be at least 40 bits",
        ),
        (
            "metrics.recording.level",
            "info",
            "Invalid value info for configuration metrics.recording.level: String must be one of: INFO, DEBUG",
        ),
        (
            "scheduled.rebalance.max.delay.ms",
            "-1",
            "Invalid value -1 for configuration scheduled.rebalance.max.delay.ms: Value must be at least 0",
        ),
        ("plugin.path", "", "Configuration 'plugin.path' must not be empty. Valid values include: any non-empty value"),
        (
            "sasl.login.refresh.window.factor",
            "x",
            "Invalid value x for configuration sasl.login.refresh.window.factor: Not a number of type DOUBLE",
        ),
        (
            "connector.client.config.override.policy",
            "Nope",
            "Failed to find any class that implements ConnectorClientConfigOverridePolicy and which name matches Nope, available "
            "classes are: All, None, Principal, Allowlist",
        ),
    ],
)
def test_a_bad_setting_is_refused_in_kafkas_words(name, value, message):
    props = {k: v for k, v in (BASE | {name: value}).items() if v is not None}
    with pytest.raises(ConfigError) as error:
        DistributedConfig(props)
    assert error.value.message == message


def test_an_unknown_algorithm_is_refused_with_those_there_are():
    with pytest.raises(ConfigError, match="the algorithm is not supported by this worker; the supported algorithms are: "):
        DistributedConfig(BASE | {"inter.worker.signature.algorithm": "x"})


def test_minus_one_leaves_partitions_and_replication_to_the_broker():
    config = DistributedConfig(BASE | {"offset.storage.partitions": "-1", "config.storage.replication.factor": "-1"})
    assert (config.offset_partitions, config.config_replication_factor) == (-1, -1)


def test_unknown_settings_are_kept_and_are_no_error(caplog):
    with caplog.at_level(logging.WARNING):
        config = DistributedConfig(BASE | {"some.thing": "x", "internal.key.converter": "y"})
    assert config.originals["some.thing"] == "x"
    assert "internal.key.converter is ignored" in caplog.text


@pytest.mark.parametrize(
    ("listeners", "worker_id"),
    [
        (None, "localhost:8083"),
        ("http://127.0.0.1:9000", "localhost:9000"),
        ("http://connect-1:8083", "connect-1:8083"),
        ("https://a:1,http://b:2", "b:2"),
    ],
)
def test_the_worker_is_named_by_the_address_it_is_reached_at(listeners, worker_id):
    config = DistributedConfig(BASE | ({"listeners": listeners} if listeners else {}))
    assert config.worker_id() == worker_id
    assert config.rest_url() == f"http://{worker_id}/"


def test_without_listeners_only_this_machine_can_connect():
    assert [listener.host for listener in DistributedConfig(BASE).listening()] == ["127.0.0.1"]
    assert DistributedConfig(BASE | {"listeners": "http://:8083"}).listening()[0].everywhere


def test_an_advertised_address_wins_and_a_free_port_is_filled_in():
    config = DistributedConfig(BASE | {"listeners": "http://x:0", "rest.advertised.host.name": "proxy"})
    assert config.worker_id(bound_port=4711) == "proxy:4711"


def test_admin_listeners_are_the_same_others_or_none():
    assert DistributedConfig(BASE).admin_listening() is None
    assert DistributedConfig(BASE | {"admin.listeners": ""}).admin_listening() == []
    admin = DistributedConfig(BASE | {"admin.listeners": "http://localhost:9"}).admin_listening()
    assert admin is not None
    assert admin[0].port == 9


def test_spark_settings_pass_through():
    assert DistributedConfig(BASE).spark_conf() == {}
    given = {"spark.master": "local[2]", "spark.sql.x": "1"}
    assert DistributedConfig(BASE | given).spark_conf() == given


def test_settings_of_clients_are_cut_out_by_prefix():
    config = DistributedConfig(BASE | {"producer.acks": "1"})
    assert config.client_props("producer") == {"bootstrap.servers": "localhost:9092", "acks": "1"}
    assert config.internal_client_props()["group.id"] == "g"


@pytest.mark.parametrize(("support", "enabled"), [("disabled", False), ("PREPARING", False), ("enabled", True)])
def test_exactly_once_is_switched_on_in_two_steps(support, enabled):
    assert DistributedConfig(BASE | {"exactly.once.source.support": support}).exactly_once_enabled == enabled


def test_a_worker_that_is_alone_needs_a_file_and_no_topics():
    alone = {k: v for k, v in BASE.items() if k.endswith("converter")} | {"offset.storage.file.filename": "/x/offsets"}
    config = read_worker_config(alone)
    assert isinstance(config, StandaloneConfig)
    assert (config.offset_file, config.worker_group, config.exactly_once_enabled) == ("/x/offsets", None, False)
    assert "session.timeout.ms" not in WorkerConfig.definition().options
    with pytest.raises(ConfigError, match=r"offset\.storage\.file\.filename"):
        StandaloneConfig(BASE)


def test_a_worker_with_a_group_is_distributed():
    assert isinstance(read_worker_config(BASE | {"offset.storage.file.filename": "/x"}), DistributedConfig)
