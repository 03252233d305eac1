"""From configurations to what a task will do: a value, made without touching a network, a clock or Spark.

The worker's settings, the connector's and the task's come together here: client settings by Kafka Connect's order of precedence
(built-in, worker `producer.`…, connector `producer.override.`…), converters, the rules for new topics.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headrace.connectors.base import Props
from headrace.converters.base import Converter, load
from headrace.errors import ConfigError
from headrace.runtime.worker_config import WorkerConfig
from headrace.topics.creation import TopicCreation, topic_creation

# Kafka Connect's producer settings for source tasks (Worker.baseProducerProps), but for three: idempotence keeps the order with
# several requests in flight; big batches and a short linger are worth 40 % of throughput; and a record is only too large when the
# broker says so (docs/decisions/0004).
_PRODUCER = {
    "acks": "all",
    "delivery.timeout.ms": "2147483647",
    "enable.idempotence": "true",
    "batch.size": "262144",
    "linger.ms": "5",
    "max.request.size": "33554432",
}


@dataclass(frozen=True)
class TaskPlan:
    """What one source task will do.

    connector, task: who; props: the task configuration; producer, admin: Java client settings for the destination; creation: the
    rules for new topics, None when Connect creates none for this connector; key_converter, value_converter: for what is written.
    """

    connector: str
    task: int
    props: Props
    producer: Mapping[str, str]
    admin: Mapping[str, str]
    creation: TopicCreation | None
    key_converter: Converter
    value_converter: Converter


def plan_source_task(name: str, task: int, config: Props, props: Props, worker: WorkerConfig) -> TaskPlan:
    """The plan of a source task.

    config: the connector's configuration; props: the task's. Raises ConfigError, in Kafka's words, for what is wrong in either.
    """
    clients = client_settings(f"connector-producer-{name}-{task}", "producer", config, worker)
    return TaskPlan(
        connector=name,
        task=task,
        props=props,
        producer=_PRODUCER | clients,
        admin=client_settings(f"connector-adminclient-{name}-{task}", "admin", config, worker),
        creation=topic_creation(config, worker.topic_creation_enable),
        key_converter=converter("key.converter", config, worker),
        value_converter=converter("value.converter", config, worker),
    )


def client_settings(client_id: str, kind: str, config: Props, worker: WorkerConfig) -> dict[str, str]:
    """Java settings of a client of the worker's cluster for one connector (connect-worker.md §8).

    kind: "producer", "consumer" or "admin". The connector's `<kind>.override.` keys come last and win.
    """
    prefix = f"{kind}.override."
    overrides = {k.removeprefix(prefix): v for k, v in config.items() if k.startswith(prefix) and v is not None}
    return {"client.id": client_id} | worker.client_props(kind) | overrides


def converter(option: str, config: Props, worker: WorkerConfig) -> Converter:
    """The converter of this option (`key.converter`, `value.converter`).

    If the connector names one, only the connector's settings count for it; else the worker's do. Raises ConfigError.
    """
    source = config if config.get(option) else worker.originals
    name = source.get(option)
    if not name:
        raise ConfigError.missing(option)
    settings = {k.removeprefix(option + "."): v for k, v in source.items() if k.startswith(option + ".")}
    return load(name, settings, is_key=option == "key.converter")
