"""Runs connectors and tasks in this process: creates their instances, and connects them to Kafka and Spark.

The worker decides nothing: the herder (`headrace.cluster`) decides which connectors and tasks run here, and when.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import structlog

from headrace.connect_config.common import SinkConnectorConfig, SourceConnectorConfig
from headrace.connect_config.enrich import chain_definition
from headrace.connect_config.ignored import ignored_by_converters
from headrace.connect_config.settings import ConnectorSettings, connector_settings
from headrace.connect_config.validation import connector_class
from headrace.connectors.base import (
    Connector,
    ConnectorContext,
    Measured,
    Offsets,
    OffsetTask,
    Props,
    Stored,
    StoredOffsets,
    Task,
    TaskContext,
)
from headrace.connectors.hosted import Conversion, HostedClients, HostedPoll, HostedTask
from headrace.kafka.admin import Admin, shared
from headrace.kafka.client_settings import same_connection
from headrace.kafka.group_transactions import GroupMetadata, GroupOffsets, GroupTransactions, Write
from headrace.kafka.transactional_ids import fence, transactional_id
from headrace.plugin_metrics import PluginMetrics
from headrace.plugins import Kind
from headrace.runtime.data_loss_log import DataLossLog
from headrace.runtime.delivery import Ports
from headrace.runtime.exactly_once import ExactlyOnce, OffsetPorts, interval_ms, own_transactions
from headrace.runtime.hosted import converters_of, plan_hosted, plan_hosted_sink, plan_polled, with_secrets_of
from headrace.runtime.hosted_work import HostedWork
from headrace.runtime.metrics import Metrics, TaskRecorder
from headrace.runtime.plan import TaskPlan, client_settings, plan_source_task
from headrace.runtime.running_connector import RunningConnector, check_tasks_max
from headrace.runtime.sink.delivery import SinkPorts
from headrace.runtime.sink.partitions import SinkPartitions
from headrace.runtime.sink.plan import SinkPlan, plan_sink_task
from headrace.runtime.sink.worker_sink_task import WorkerSinkTask
from headrace.runtime.stores import OffsetStore, TopicStore
from headrace.runtime.task import TaskEvents, TaskRunner, WorkerTask
from headrace.runtime.worker_config import WorkerConfig
from headrace.runtime.worker_source_task import SourceDependencies, WorkerSourceTask
from headrace.spark import destination_topic
from headrace.spark.java_plugin import JavaPlugin
from headrace.spark.transactions import TaskTransactions
from headrace.topics.creation import topic_creation
from headrace.topics.creator import TopicCreator
from headrace.topics.planning import settings_hook
from headrace.transforms.stages import Stage, register_metrics
from headrace.values.times import now_ms

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = structlog.get_logger(__name__)

_COMMIT_S, _FENCE_S = 30.0, 30.0
Settings = TypeVar("Settings", SourceConnectorConfig, SinkConnectorConfig)


@dataclass(frozen=True)
class TaskNumber:
    """A task among those of its connector."""

    connector: str
    task: int
    tasks: int
    """How many tasks the connector has."""


@dataclass(frozen=True)
class _NewTask(Generic[Settings]):
    """A task that is being started."""

    connector: type[Connector]
    instance: Any
    context: TaskContext
    settings: Settings
    """The connector's settings, resolved."""
    props: Props
    """The task's configuration, resolved."""
    recorder: TaskRecorder
    events: TaskEvents


class Worker:
    """Creates and starts connectors and tasks in this process, and keeps their metrics (`metrics`)."""

    def __init__(
        self,
        config: WorkerConfig,
        offsets: OffsetStore,
        topics: TopicStore,
        spark: Callable[[], SparkSession],
        session: Callable[[], GroupMetadata],
        writes: GroupTransactions | None = None,
        own_offsets: Callable[[Props], OffsetStore] | None = None,
    ) -> None:
        """spark: returns the session of this process, created at the first call; session: returns a new task's group metadata,
        with which brokers verify that its worker is still a member; writes: transactions of the group, None without a group;
        own_offsets: returns the offset store of a connector with this (resolved) configuration, None: all use `offsets`.
        """
        self.config, self.spark, self._writes = config, spark, writes
        self._topics, self._session = topics, session
        self.offsets_of = own_offsets or (lambda _config: offsets)
        self.metrics = Metrics(config.metrics_window_ms, config.metrics_samples)

    def start_connector(self, props: Props, context: ConnectorContext) -> RunningConnector:
        """Create and start the connector of this configuration, whose placeholders are resolved here.

        Raises a HeadraceError if it cannot run; then the instance is stopped again.
        """
        try:
            started = self._start_connector(props, context)
        except BaseException:
            self.metrics.started("connector", ok=False)
            raise
        self.metrics.started("connector", ok=True)
        return started

    def _start_connector(self, props: Props, context: ConnectorContext) -> RunningConnector:
        config = self.config.resolver.resolve(props)
        props = config.props
        cls = connector_class(props)
        self.metrics.connector(context.name, str(cls.plugin_kind), cls.plugin_name, cls.version)
        settings = connector_settings(props, cls.plugin_kind)
        _log_ignored(cls, settings)
        chain_definition(props)  # as the next line: fails here instead of in every task
        if cls.plugin_kind == Kind.SOURCE:
            topic_creation(props, self.config.topic_creation_enable)
        registered = PluginMetrics({"connector": context.name})
        self.metrics.follow_connector(context.name, registered.measures)
        instance = cls(replace(context, stored=self._stored(context.name, props), metrics=registered))
        try:
            instance.start(props)
        except BaseException:
            with suppress(Exception):  # what the start has raised is what counts
                instance.stop()
            raise
        return RunningConnector(instance, cls.version, instance.task_class_name, config, settings)

    def start_task(self, who: TaskNumber, config: Props, props: Props, events: TaskEvents) -> TaskRunner:
        """Create and start a task on its own thread. Raises a HeadraceError if its plan is invalid, or there are too many.

        config, props: of the connector and of the task, with placeholders, which are resolved here.
        """
        config, props = self.config.resolver.resolve(config).props, self.config.resolver.resolve(props).props
        cls = connector_class(config)
        settings = connector_settings(config, cls.plugin_kind)
        check_tasks_max(settings, who.tasks)  # stored ones may be of another `tasks.max`
        context = TaskContext(
            who.connector,
            who.task,
            threading.Event(),
            who.tasks,
            self.config.exactly_once_enabled,
            interval_ms(settings, self.config),
            self._stored(who.connector, config),
            own_transactions(settings, self.config),
            PluginMetrics({"connector": who.connector, "task": str(who.task)}),
        )
        instance: Task = cls.task_for(config)(context)
        recorder = self.metrics.task(who.connector, who.task, str(cls.plugin_kind))
        if isinstance(settings, SinkConnectorConfig):
            work: WorkerTask = self._sink_work(_NewTask(cls, instance, context, settings, props, recorder, events))
        else:
            instance, work = self._source_work(_NewTask(cls, instance, context, settings, props, recorder, events))
        recorder.follow_task_measures(partial(_own_measures, instance, context.metrics))
        runner = TaskRunner(instance, work, events, recorder)
        runner.start()
        return runner

    def _source_work(self, new: _NewTask[SourceConnectorConfig]) -> tuple[Task, WorkerTask]:
        task, context, config = new.instance, new.context, new.settings.originals
        name = context.connector
        plan = plan_source_task(name, context.task, new.settings, new.props, self.config)
        self._register_metrics(plan.stages, context.metrics)
        store, group_metadata = self.offsets_of(config), self._session()
        put: Callable[[Offsets], None] = lambda offsets: store.put(name, list(offsets), group_metadata)  # noqa: E731
        if isinstance(task, HostedPoll):
            hosted = plan_hosted(plan, config, self.config)
            if hosted is not None:
                kafka_task = task.as_kafka_task()
                return kafka_task, self._hosted_work(kafka_task, new, (hosted[0], replace(hosted[1], store=put)))
            plan, conversion = plan_polled(plan, config, self.config)
            task.convert_by(with_secrets_of(new.connector, config, conversion))
        needs = SourceDependencies(
            spark=self.spark,
            ports=self._ports(new, plan, put),
            read_offsets=lambda partitions: StoredOffsets(store.get(name, partitions)),
            recorder=new.recorder,
            streams=new.events.streams,
            record_losses=DataLossLog(plan.losses, plan.task, shared(plan.admin), plan.producer).write,
            exactly=self._exactly_once(new, plan, store, group_metadata) if self.config.exactly_once_enabled else None,
        )
        return task, WorkerSourceTask(plan, task, needs)

    def _hosted_work(self, task: HostedTask, new: _NewTask[Any], hosted: tuple[Conversion, HostedClients]) -> HostedWork:
        note = partial(self._note_topic, new.context.connector, new.context.task)
        conversion = with_secrets_of(new.connector, new.settings.originals, hosted[0])
        return HostedWork(new.props, task, (conversion, hosted[1]), note, new.recorder)

    def _register_metrics(self, stages: Sequence[Stage], metrics: PluginMetrics) -> None:
        if any(hasattr(part, "user") for stage in stages for part in (stage.transformation, stage.predicate)):
            self.spark()  # counters of plugins that run in Python processes are Spark's
            register_metrics(stages, metrics)

    def _stored(self, name: str, config: Props) -> Stored:
        """A function that reads a connector's stored offsets; config: resolved."""
        return lambda partitions: [offset for _, offset in self.offsets_of(config).get(name, partitions)]

    def _exactly_once(
        self, new: _NewTask[SourceConnectorConfig], plan: TaskPlan, store: OffsetStore, group_metadata: GroupMetadata
    ) -> ExactlyOnce:
        name = plan.connector
        ports = OffsetPorts(
            is_current=lambda: group_metadata() is not None and new.events.is_current(),
            read_configs=new.events.read_configs,
            fence_zombies=new.events.fence_zombies,
            topic=store.topic,
            records=lambda offsets: store.records(name, list(offsets)),
            copy_offsets=lambda offsets: store.copy_offsets(name, list(offsets), group_metadata),
        )
        producer_id = transactional_id(self.config.worker_group or "", name, plan.task)
        for key, needed in (("transactional.id", producer_id), ("enable.idempotence", "true")):
            if (value := plan.producer.get(key, needed)) != needed:
                log.warning(
                    "The value '%s' for the '%s' property will be ignored as it cannot be overridden for source tasks with "
                    "exactly-once support. The value '%s' will be used instead.",
                    *(value, key, needed),
                )
        return ExactlyOnce(f"{name}-{plan.task}", TaskTransactions(producer_id, plan.producer), ports, new.recorder)

    def fence(self, name: str, config: Props, tasks: int) -> None:
        """Fence the producers of a connector's tasks, on any worker (KIP-618). tasks: their number. Raises KafkaFailure.

        config: the connector's, with placeholders.
        """
        config = self.config.resolver.resolve(config).props
        ids = [transactional_id(self.config.worker_group or "", name, task) for task in range(tasks)]
        fence(client_settings(f"connector-adminclient-{name}", "producer", config, self.config), ids, _FENCE_S)

    def _sink_work(self, new: _NewTask[SinkConnectorConfig]) -> WorkerTask:
        task, context = new.instance, new.context
        plan = plan_sink_task(context, new.settings, new.props, self.config, converters_of(task))
        self._register_metrics(plan.stages, context.metrics)
        if isinstance(task, HostedTask):
            return self._hosted_work(task, new, plan_hosted_sink(plan, new.settings.originals, self.config))
        admin = shared(plan.consumer)
        partitions = SinkPartitions(admin, plan)
        creator = TopicCreator(shared(plan.letter_admin), None, context.stopping, plan.letter_producer)
        ports = SinkPorts(
            commit_offsets=self._commits(plan, admin),
            ensure_dead_letters=creator.ensure_dead_letters,
            message_limits=lambda topics: destination_topic.max_message_bytes(shared(plan.letter_admin), topics),
            is_active=lambda topic: self._is_active(plan.connector, topic),
            record_active=lambda topic: self._record_active(plan.connector, plan.task, topic),
            are_available=partitions.are_available,
            recorder=new.recorder,
            streams=new.events.streams,
        )
        return WorkerSinkTask(plan, task, partitions, ports, self.spark)

    def _commits(self, plan: SinkPlan, admin: Admin) -> Callable[[str, GroupOffsets], None]:
        """The commit function of a sink: as a member of the worker group if it uses the worker's own cluster and credentials."""
        writes, group_metadata = self._writes, self._session()
        if writes is None or not same_connection(plan.consumer, self.config.internal_client_props()):
            return admin.commit

        def commit(group: str, offsets: GroupOffsets) -> None:
            writes.write(Write(offsets={group: offsets}), group_metadata, _COMMIT_S)

        return commit

    def _is_active(self, connector: str, topic: str) -> bool:
        return not self.config.topic_tracking_enable or topic in self._topics.topics(connector)

    def _note_topic(self, connector: str, task: int, topic: str) -> None:
        if not self._is_active(connector, topic):
            self._record_active(connector, task, topic)

    def _record_active(self, connector: str, task: int, topic: str) -> None:
        self._topics.put_topic(connector, topic, task, now_ms())

    def _ports(self, new: _NewTask[SourceConnectorConfig], plan: TaskPlan, store_offsets: Callable[[Offsets], None]) -> Ports:
        admin, stopping = shared(plan.admin), new.context.stopping
        hook = settings_hook(new.connector, new.settings.originals)
        creator = TopicCreator(admin, plan.creation, stopping, plan.producer, settings_for_new_topic=hook)
        return Ports(
            missing_topics=creator.missing,
            ensure_topics=creator.ensure,
            renew_topics=partial(creator.renew, create=new.instance.renews_topics),
            ensure_dead_letters=creator.ensure_dead_letters,
            is_active=lambda topic: self._is_active(plan.connector, topic),
            record_active=lambda topic: self._record_active(plan.connector, plan.task, topic),
            store_offsets=store_offsets,
            look_up=lambda topic: destination_topic.look_up_to_write(admin, topic, stopping),
        )


def _own_measures(task: Task, registered: PluginMetrics) -> list[Measured]:
    """A task's own measures, and those that it and the plugins of its chain have registered."""
    measures = task.measures() if isinstance(task, OffsetTask | HostedTask) else ()
    return [*measures, *registered.measures()]


def _log_ignored(cls: type[Any], settings: ConnectorSettings) -> None:
    """Log options without effect. Of a connector in Java only the common ones: it, and mostly its converters, run in Java."""
    ignored = settings.definition().without_effect(settings.originals)
    if not issubclass(cls, JavaPlugin):
        ignored |= cls.definition().without_effect(settings.originals)
        ignored |= ignored_by_converters(settings.originals)
    for option, reason in ignored.items():
        log.warning("connector.option.ignored", option=option, reason=reason)
