"""The plan of a sink task, from configurations: a value, computed without network, clock or Spark."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from headrace.config import Type, parse_type
from headrace.connect_config.common import SinkConnectorConfig
from headrace.connect_config.rules import GROUP_OVERRIDE
from headrace.connectors.base import Props, TaskContext
from headrace.converters.base import Used
from headrace.errors import ConfigError
from headrace.kafka.reset_policy import BY_DURATION, reset_ms
from headrace.runtime import plugin_instances
from headrace.runtime.plan import CONSUMER_ID, LETTER_PRODUCER_ID, client_settings, converters
from headrace.runtime.tolerance import Tolerance, tolerance
from headrace.runtime.worker_config import WorkerConfig
from headrace.spark.topic_writer import PRODUCER
from headrace.transforms.chain import Converters
from headrace.transforms.stages import Stage, stages

RESETS = ("earliest", "latest", "none")


@dataclass(frozen=True)
class SinkPlan:
    """All settings of one sink task."""

    connector: str
    task: int
    tasks: int
    """How many tasks the connector has."""
    props: Props
    """The task configuration."""
    topics: tuple[str, ...] | None
    """The topic names; None: `topics.regex` selects topics."""
    consumes: Callable[[str], bool]
    """Whether the connector reads a topic (`SinkConnectorConfig.consumes`)."""
    group: str
    """The consumer group that offsets are committed to."""
    consumer: Mapping[str, str]
    letter_producer: Mapping[str, str]
    letter_admin: Mapping[str, str]
    """Java client settings, as `consumer` and `letter_producer`."""
    reset: str
    """`auto.offset.reset`: start of a partition without a committed offset."""
    check_interval_s: float
    """Interval of checks for new topics and partitions."""
    batch_records: int | None
    """Maximum records of a batch; None: the sink's default."""
    converters: Converters
    """The converters of read records."""
    stages: tuple[Stage, ...]
    """The chain."""
    tolerance: Tolerance
    """The handling of failed records."""

    @property
    def all_converters(self) -> list[object]:
        """The converters as a list."""
        return [self.converters.key, self.converters.value, self.converters.header]


def group_of(name: str, config: Mapping[str, str], worker: WorkerConfig) -> str:
    """The consumer group of a sink connector."""
    return config.get(GROUP_OVERRIDE) or worker.client_props("consumer").get("group.id") or f"connect-{name}"


def plan_sink_task(
    context: TaskContext, settings: SinkConnectorConfig, props: Props, worker: WorkerConfig, used: Used | None = None
) -> SinkPlan:
    """The plan of a sink task.

    settings: the connector's; props: the task's; used: returns the class to use for a converter that is named. Raises
    ConfigError, in Kafka's words, if a setting is invalid, and ConnectError as `client_settings` does.
    """
    config: Props = settings.originals
    name, task = context.connector, context.task
    failures = tolerance(settings)
    letters: Props = config if failures.dead_letters else {}  # else Kafka Connect makes no such clients: nothing is refused
    consumer = {"auto.offset.reset": "earliest"} | client_settings(f"{CONSUMER_ID}{name}-{task}", "consumer", config, worker)
    plan = SinkPlan(
        connector=name,
        task=task,
        tasks=context.tasks,
        props=props,
        topics=tuple(settings.topics) or None,
        consumes=settings.consumes,
        group=group_of(name, config, worker),
        consumer=consumer,
        letter_producer=PRODUCER | client_settings(f"{LETTER_PRODUCER_ID}{name}-{task}", "producer", letters, worker),
        letter_admin=client_settings(f"connector-dlq-adminclient-{name}-{task}", "admin", letters, worker),
        reset=_reset(consumer["auto.offset.reset"]),
        check_interval_s=_number("metadata.max.age.ms", consumer, 300_000) / 1000,
        batch_records=_number("max.poll.records", consumer, 0) or None,
        converters=converters(config, worker, used),
        stages=tuple(stages(config)),
        tolerance=failures,
    )
    plugin_instances.assign_owner(name, task, plan.stages, plan.all_converters, plan.tolerance.retry)
    return plan


def _reset(policy: str) -> str:
    policy = policy.strip()
    if policy.startswith(BY_DURATION):
        reset_ms(policy)
    elif policy not in RESETS:
        policies = ", ".join((*RESETS, "by_duration:PT1H30M"))
        raise ConfigError.invalid("auto.offset.reset", policy, f"it has to be one of {policies}")
    return policy


def _number(name: str, consumer: Mapping[str, str], default: int) -> int:
    return parse_type(name, consumer.get(name, str(default)), Type.INT)
