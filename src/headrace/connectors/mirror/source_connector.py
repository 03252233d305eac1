"""MirrorSourceConnector of MirrorMaker 2 (KIP-382): topics of another cluster, with their partitions, settings and ACLs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import structlog

from headrace.config import ConfigDef
from headrace.connectors.base import ConnectorContext, Offsets, Props, SourceConnector, SourceOffset, SourcePartition
from headrace.connectors.kafka_source.config import check_reset
from headrace.connectors.kafka_source.source_lag import behind
from headrace.connectors.kafka_source.task import copied_of
from headrace.connectors.mirror import acls
from headrace.connectors.mirror.admin import MirrorAdmin
from headrace.connectors.mirror.clients import client
from headrace.connectors.mirror.config import is_off
from headrace.connectors.mirror.mirrored_topics import MirroredTopics, Missing, decode, encode, missing, round_robin, select
from headrace.connectors.mirror.offsets import check_offsets
from headrace.connectors.mirror.schedule import FIRST_RETRY_S, Job, Schedule, interval_s
from headrace.connectors.mirror.settings import SettingFilter, needed
from headrace.connectors.mirror.source_config import MirrorSourceConfig
from headrace.connectors.mirror.source_task import ASSIGNED, MirrorSourceTask
from headrace.connectors.partition_lag import PartitionLag
from headrace.errors import ConfigError, ConnectError, HeadraceError, RetriableError
from headrace.kafka.failures import KafkaFailure
from headrace.plugins import Kind, plugin

log = structlog.get_logger(__name__)

_STOP_S = 2.0
READ_COMMITTED = (
    "MirrorSourceConnector can only provide exactly-once guarantees when its source consumer is configured with isolation.level "
    "set to 'read_committed'; otherwise, records from aborted and uncommitted transactions will be replicated from the source "
    "cluster to the target cluster."
)
COMPACTED = {"cleanup.policy": "compact"}


def reads_committed(props: Props) -> bool:
    """Whether the source's consumer sees records of committed transactions only."""
    return client(props, "source", "consumer").get("isolation.level") == "read_committed"


@plugin("org.apache.kafka.connect.mirror.MirrorSourceConnector", Kind.SOURCE)
class MirrorSourceConnector(SourceConnector):
    """Makes a copy of every topic that `topics` names, and deals its partitions to tasks."""

    task_class = MirrorSourceTask

    def __init__(self, context: ConnectorContext) -> None:
        super().__init__(context)
        self._props: dict[str, str] = {}
        self._topics = MirroredTopics()
        self._schedule: Schedule | None = None
        self._missed_acls = False

    @classmethod
    def definition(cls) -> ConfigDef:
        """MirrorMaker's options, and those of headrace."""
        return MirrorSourceConfig.definition()

    @classmethod
    def copy_of(cls, config: Props, topic: str) -> str:
        """The copy's name, by the replication policy. Raises ConfigError."""
        settings = MirrorSourceConfig(config)
        return settings.policy.remote(settings.source_cluster_alias, topic)

    @classmethod
    def exactly_once_support(cls, config: Props) -> bool:
        """Whether each record can be delivered exactly once: if only committed records are read."""
        return reads_committed(config)

    @classmethod
    def alter_offsets(cls, config: Props, changes: Sequence[tuple[SourcePartition, SourceOffset | None]]) -> bool:
        """Agree to offsets in MirrorMaker's form. Raises ConnectError in Kafka's words."""
        return check_offsets(changes, ["cluster", "topic"], partition=True)

    @classmethod
    def lag(cls, config: Props, tasks: Sequence[Props], offsets: Offsets, *, ages: bool) -> list[PartitionLag]:
        """The lag of the tasks' partitions, or, without tasks, of partitions with offsets. Raises KafkaFailure."""
        mine = MirrorSourceConfig(config).source_cluster_alias
        assigned = {partition: n for n, task in enumerate(tasks) for partition in decode(task[ASSIGNED])}
        copied = copied_of(assigned, [(p, o) for p, o in offsets if p.get("cluster") == mine], earliest=True)
        return behind(client(config, "source", "consumer"), client(config, "source", "admin"), copied, ages)

    @classmethod
    def problems(cls, props: Props) -> Mapping[str, Sequence[str]]:
        """MirrorMaker's own rules for several options."""
        problems: dict[str, list[str]] = {}
        if (props.get("exactly.once.support") or "").strip().lower() == "required" and not reads_committed(props):
            problems["exactly.once.support"] = [READ_COMMITTED]
        syncs = any(key.startswith(("offset-syncs-", "offset-syncs.topic.")) for key in props)
        if is_off(props, "emit.offset-syncs.enabled") and syncs:
            text = "MirrorSourceConnector can't setup offset-syncs feature while emit.offset-syncs.enabled set to false"
            problems["emit.offset-syncs.enabled"] = [text]
        reset = "source.consumer.auto.offset.reset"
        try:
            check_reset(reset, client(props, "source", "consumer")["auto.offset.reset"])
        except ConfigError as error:
            problems[reset] = [str(error)]
        return problems

    def start(self, props: Props) -> None:
        """Find the topics, make their copies, and keep both in step from here on. Raises ConfigError.

        A cluster that cannot be reached is tried again, in a few seconds and for as long as it takes.
        """
        self._config = config = MirrorSourceConfig(props)
        self._props = dict(props)
        if not config.enabled:
            return
        self._source, self._target = (MirrorAdmin(client(props, side, "admin")) for side in ("source", "target"))
        ready = self._prepared()
        self._schedule = Schedule(f"mirror-{self.context.name}", self._jobs(ready))
        self._schedule.start()

    def _prepared(self) -> bool:
        try:
            self._create_offset_syncs()
            self._topics = self._find_topics()
            self._create(missing(self._topics, self._target.partition_counts(self._config.timeout_s)))
        except ConfigError:  # two topics have one copy
            raise
        except HeadraceError as error:
            log.warning("mirror.not-ready", cause=str(error), hint="it is tried again in a few seconds")
            return False
        log.info("mirror.started", topics=len(self._topics.counts), partitions=len(self._topics.partitions))
        return True

    def _jobs(self, ready: bool) -> list[Job]:
        config = self._config
        every = interval_s(config.refresh_topics_enabled, config.refresh_topics_interval_seconds)
        jobs = [Job("refreshing topics", self._refresh, every, after_s=every if ready else FIRST_RETRY_S)]
        if config.sync_topic_acls_enabled:
            jobs.append(Job("syncing topic ACLs", self._sync_acls, config.sync_topic_acls_interval_seconds))
        if config.sync_topic_configs_enabled:
            jobs.append(Job("syncing topic configs", self._sync_configs, config.sync_topic_configs_interval_seconds))
        return jobs

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """One configuration per task: everything of the connector, and the partitions of the task."""
        dealt = round_robin(self._topics.partitions, max_tasks)
        return [{**self._props, ASSIGNED: encode(mine), "task.index": str(n)} for n, mine in enumerate(dealt)]

    def stop(self) -> None:
        """End the jobs."""
        if self._schedule is not None:
            self._schedule.stop(_STOP_S)

    def _find_topics(self) -> MirroredTopics:
        config, selection = self._config, self._config.selection
        return select(self._source.topics(config.timeout_s, selection.accepts), selection, config.source_cluster_alias)

    def _refresh(self) -> None:
        """Check the topics; tasks are reconfigured if the source's partitions have changed, or a copy was deleted."""
        self._create_offset_syncs()
        try:
            topics = self._find_topics()
        except ConfigError as error:
            self.context.raise_error(error)
            return
        lacks = missing(topics, self._target.partition_counts(self._config.timeout_s))
        if topics == self._topics and not lacks:
            return
        log.info("mirror.topics.changed", topics=len(topics.counts), partitions=len(topics.partitions), missing=len(lacks.create))
        self._topics = topics
        self._create(lacks)
        self.context.request_reconfiguration()

    def _create_offset_syncs(self) -> None:
        config = self._config
        if config.emit_offset_syncs_enabled:
            side = self._source if config.offset_syncs_topic_location == "source" else self._target
            create_compacted(side, config.offset_syncs_topic, config.offset_syncs_topic_replication_factor, config.timeout_s)

    def _create(self, lacks: Missing) -> None:
        """Create copies and add partitions; what the target rejects is logged, and the others are created all the same."""
        timeout, filter_ = self._config.timeout_s, self._setting_filter()
        for topic, settings in self._source.settings(lacks.create, timeout).items():
            copy, count = self._topics.copies[topic], self._topics.counts[topic]
            configs, factor = filter_.of_new_topic(settings), self._config.replication_factor
            create = partial(self._target.create, copy, count, factor, configs, timeout, exist_ok=True)
            if _try(f"Could not create topic {copy}.", create):
                log.info("mirror.topic.created", topic=copy, partitions=count)
        for copy, count in lacks.grow.items():
            _try(f"Could not create topic-partitions for {copy}.", lambda: self._target.add_partitions(copy, count, timeout))  # noqa: B023

    def _setting_filter(self) -> SettingFilter:
        return SettingFilter(self._config.config_properties_exclude, self._config.use_defaults_from == "source")

    def _sync_configs(self) -> None:
        """Sync the settings of the topics to their copies."""
        timeout, topics, filter_ = self._config.timeout_s, self._topics, self._setting_filter()
        present = self._target.partition_counts(timeout)
        copies = {topic: copy for topic, copy in topics.copies.items() if copy in present}
        source_settings, current = self._source.settings(copies, timeout), self._target.settings(copies.values(), timeout)
        for topic, copy in copies.items():
            if changes := needed(filter_.changes(source_settings[topic]), current[copy]):
                settings = {change.name: change.value for change in changes}
                self._change(copy, lambda: self._target.alter(copy, settings, timeout))  # noqa: B023

    def _change(self, copy: str, action: Callable[[], None]) -> None:
        try:
            action()
        except KafkaFailure as failure:
            if failure.code == "UNSUPPORTED_VERSION":
                target = self._config.target_cluster_alias
                text = f"the target cluster '{target}' is not compatible with IncrementalAlterConfigs API"
                self.context.raise_error(ConnectError(text))
            log.warning("Could not alter configuration of topic %s.", copy, cause=str(failure))

    def _sync_acls(self) -> None:
        """Sync the ACLs of the names that `topics` accepts, but for those to write, to the names of the copies.

        By name, as in MirrorMaker: also those of `*`, and of topics that do not exist yet. What the target refuses, perhaps for
        want of an authorizer, is tried again after the interval.
        """
        config = self._config
        remote = partial(config.policy.remote, config.source_cluster_alias)
        source_acls = self._source.topic_acls(config.timeout_s)
        if not source_acls and not self._missed_acls:  # the client does not say which of the two it is
            hint = "there are none, or no authorizer; sync.topic.acls.enabled=false leaves them out"
            log.info("mirror.acls.missing", cluster=config.source_cluster_alias, hint=hint)
        self._missed_acls = not source_acls
        target_acls = acls.acls_to_copy(source_acls, config.selection.accepts, remote)
        try:
            if target_acls:
                self._target.create_acls(target_acls, config.timeout_s)
        except KafkaFailure as failure:
            if isinstance(failure, RetriableError):
                raise
            log.warning("Could not sync ACLs of topics.", cause=str(failure))


def create_compacted(admin: MirrorAdmin, topic: str, replication_factor: int, timeout_s: float) -> bool:
    """Create one of MirrorMaker's own topics, of one partition, unless it exists; returns whether it is there.

    If the cluster does not allow it, that is logged: the mirror continues, perhaps somebody else creates the topic. Raises
    RetriableError if the cluster cannot be reached.
    """
    try:
        if admin.describe(topic, timeout_s) is None:
            admin.create(topic, 1, replication_factor, COMPACTED, timeout_s, exist_ok=True)
    except KafkaFailure as failure:
        if isinstance(failure, RetriableError):
            raise
        hint = "nothing is written to it until it is there: create it, or allow it to be created"
        log.warning("mirror.topic.refused", topic=topic, cause=str(failure), hint=hint)
        return False
    return True


def _try(refusal: str, action: Callable[[], object]) -> object:
    """The result of an action; None, and a warning, if Kafka refuses it."""
    try:
        return action()
    except KafkaFailure as failure:
        log.warning(refusal, cause=str(failure))
        return None
