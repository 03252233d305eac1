"""Which part of a chain the host of a hosted task does, and what is left to be compiled."""

from __future__ import annotations

import pytest

from headrace.connect_config.common import SinkConnectorConfig, SourceConnectorConfig
from headrace.connectors.base import TaskContext
from headrace.connectors.hosted import Conversion, HostedClients
from headrace.runtime.distributed_config import DistributedConfig
from headrace.runtime.hosted import plan_hosted, plan_hosted_sink, plan_polled, with_secrets_of
from headrace.runtime.plan import TaskPlan, plan_source_task
from headrace.runtime.sink.plan import plan_sink_task
from headrace.runtime.standalone_config import StandaloneConfig
from headrace.runtime.worker_config import WorkerConfig
from headrace.spark.java_plugin import JavaPlugin

STRING = "org.apache.kafka.connect.storage.StringConverter"
WORKER = StandaloneConfig({"key.converter": STRING, "value.converter": STRING, "offset.storage.file.filename": "/o"})
HOIST = "org.apache.kafka.connect.transforms.HoistField$Value"
KAFKAS = {"transforms.k.type": HOIST, "transforms.k.field": "f"}
OWN = {"transforms.o.type": "headrace.transforms.Sql", "transforms.o.topic": "'t'"}


def tasks_plan(whole: dict[str, str]) -> TaskPlan:
    return plan_source_task("c", 0, SourceConnectorConfig(whole), {}, WORKER)


def polled(config: dict[str, str]) -> tuple[TaskPlan, Conversion]:
    """The plan of a task whose records Spark delivers, and what its host does."""
    whole = {"name": "c", "connector.class": "C", **config}
    return plan_polled(tasks_plan(whole), whole, WORKER)


def hosted(config: dict[str, str], worker: WorkerConfig = WORKER) -> tuple[Conversion, HostedClients] | None:
    """What Kafka Connect's own classes are told, if they run the task."""
    whole = {"name": "c", "connector.class": "C", **config}
    return plan_hosted(tasks_plan(whole), whole, worker)


def aliases(conversion: Conversion) -> list[str]:
    return [stage["alias"] for stage in conversion.stages]


def test_without_transforms_the_connectors_converters_make_the_bytes():
    plan, conversion = polled({"value.converter": "JsonConverter", "value.converter.schemas.enable": "false"})
    assert conversion.key == {"class": STRING, "location": None, "props": {}}
    assert conversion.value["props"] == {"schemas.enable": "false"}
    assert type(plan.converters.value).__name__ == "ByteArrayConverter"
    assert plan.source_value_converter is None


def test_kafkas_own_transforms_are_left_to_the_host():
    plan, conversion = polled({"transforms": "k", **KAFKAS})
    assert conversion.stages == [
        {
            "alias": "k", "class": HOIST, "location": None, "props": {"type": HOIST, "field": "f"}, "predicate": None,
            "predicate_alias": None, "negate": False,
        }
    ]  # fmt: skip
    assert plan.stages == ()


def test_a_predicate_keeps_options_that_are_called_as_those_of_a_transformation():
    predicate = {"predicates": "p", "predicates.p.type": "RecordIsTombstone", "predicates.p.negate": "own"}
    _, conversion = polled(
        {"transforms": "k", **KAFKAS, "transforms.k.predicate": "p", "transforms.k.negate": "true", **predicate}
    )
    (stage,) = conversion.stages
    assert stage["predicate"]["props"] == {"type": "RecordIsTombstone", "negate": "own"}
    assert (stage["negate"], stage["props"]) == (True, {"type": HOIST, "field": "f"})


def test_what_follows_one_of_headraces_own_is_compiled_from_json_with_schemas():
    plan, conversion = polled({"transforms": "k,o,l", **KAFKAS, **OWN, **{k.replace(".k.", ".l."): v for k, v in KAFKAS.items()}})
    assert aliases(conversion) == ["k"]
    assert [stage.alias for stage in plan.stages] == ["o", "l"]
    assert conversion.value["props"] == {"schemas.enable": "true"}
    assert type(plan.converters.value).__name__ == "StringConverter"


def test_where_errors_are_tolerated_kafkas_own_are_compiled_so_that_dead_letters_have_their_records():
    plan, conversion = polled({"transforms": "k", **KAFKAS, "errors.tolerance": "all"})
    assert aliases(conversion) == []
    assert [stage.alias for stage in plan.stages] == ["k"]


def test_kafka_connects_own_classes_run_what_is_all_in_java():
    read = {f"topic.creation.default.{what}": "3" for what in ("partitions", "replication.factor")} | {"errors.tolerance": "all"}
    told = hosted({"transforms": "k", **KAFKAS, **read, "x": "y"})
    assert told is not None
    conversion, clients = told
    assert aliases(conversion) == ["k"]
    assert clients.settings == {"name": "c", "connector.class": "C", **read}
    assert clients.producer["client.id"] == "connector-producer-c-0"


def test_the_producers_of_kafka_connects_own_classes_wait_for_brokers_keep_the_order_and_send_soon():
    names = ("max.block.ms", "max.in.flight.requests.per.connection", "linger.ms")
    overrides: dict[str, str] = dict(zip([f"producer.override.{name}" for name in names], ("7", "2", "5"), strict=True))
    for config, of_kafka in (({}, ("9223372036854775807", "1", "1")), (overrides, ("7", "2", "5"))):
        whole = {"name": "c", "connector.class": "C", "topics": "t", "errors.deadletterqueue.topic.name": "d", **config}
        sink_plan = plan_sink_task(TaskContext("c", 0), SinkConnectorConfig(whole), {}, WORKER)
        of_source, of_sink = hosted(config), plan_hosted_sink(sink_plan, whole, WORKER)
        assert of_source is not None
        for _, clients in (of_source, of_sink):
            assert tuple(clients.producer[name] for name in names) == of_kafka


@pytest.mark.parametrize(
    "config",
    [{"transforms": "o", **OWN}, {"errors.tolerance": "all", "errors.deadletterqueue.topic.name": "letters"}],
    ids=["a transform of headrace's own", "dead letters"],
)
def test_what_kafka_connect_does_not_do_is_done_by_spark(config: dict[str, str]):
    assert hosted(config) is None


def test_acks_that_exclude_idempotence_are_not_refused_by_the_producer():
    # Java refuses them only where enable.idempotence is named: then only the user may have done it.
    acks = tasks_plan({"name": "c", "connector.class": "C", "producer.override.acks": "1"}).producer
    assert (acks["acks"], "enable.idempotence" in acks) == ("1", False)


def test_transactions_are_written_by_spark():
    topics = {f"{kind}.storage.topic": kind for kind in ("config", "offset", "status")}
    once = {"group.id": "g", "bootstrap.servers": "b:1", "exactly.once.source.support": "enabled", **topics}
    assert hosted({}, DistributedConfig({**once, "key.converter": STRING, "value.converter": STRING})) is None


def test_secrets_of_the_connector_are_hidden_in_its_tasks_whatever_their_names_there():
    class Connector(JavaPlugin):
        @classmethod
        def passwords(cls, props):
            return [props["pin"], "hunter2"]

    conversion = with_secrets_of(Connector, {"pin": "4711-0815"}, Conversion({}, {}, {}, secrets=["of-a-transform", "hunter2"]))
    assert conversion.secrets == ["of-a-transform", "4711-0815", "hunter2"]
