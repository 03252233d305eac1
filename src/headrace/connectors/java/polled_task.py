"""A source task in Java whose records Spark takes: a hosted thread polls, and what it has polled is delivered range by range.

A range is cut, read by Spark, written, its offsets are stored, and then it is acknowledged, which the Java task receives
(`commitRecord`, `commit`). A range that could not be delivered is cut again, and has the same records.
"""

from __future__ import annotations

import json
import uuid
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import structlog

from headrace.connectors.base import Poll, Progress, Props, SourcePartition, StoredOffsets, TaskContext
from headrace.connectors.hosted import Conversion, HostedPoll, HostedTask
from headrace.connectors.java.kafka_task import JavaTask, OfConnector
from headrace.errors import ConnectError
from headrace.record import RecordColumns
from headrace.spark.connect_host import HostListener, PluginError, PluginHost, hiding
from headrace.sql_functions import F

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = structlog.get_logger(__name__)

BATCH = 100_000
"""Records of one range, at most: a batch of Spark costs some 50 ms, however small it is."""
_START_WAIT_MS, _POLL_MS = 500, 30_000
"""So long one question whether the task has started waits, or one for records: many idle tasks cost what they ask."""
_NEEDS_METADATA = {
    "org.apache.kafka.connect.mirror.MirrorSourceConnector": "The Java class MirrorSourceConnector needs the offset of each "
    "record that it has written, which is not known where Spark writes: with exactly-once support, with dead letters, and "
    "with transforms or converters of headrace's own. Use headrace's own class of this name, by leaving out connector.engine.",
}
"""Classes that do without something that they must have, and say nothing, if their records are written by Spark."""


def _same(topic: str) -> str:
    return topic


_STOP_MS = 5_000
"""What Kafka Connect gives a task to stop; it ends later by itself, and is not heard any more."""


class JavaPolledTask(OfConnector, HostedPoll):
    """One task of a source connector in Java whose records have to come to Spark."""

    poll_interval_s = 0.0  # the host waits for records itself

    def __init__(self, context: TaskContext) -> None:
        super().__init__(context)
        self._id = f"{context.id}@{uuid.uuid4().hex[:12]}"
        self._to = 0
        self._props: Props = {}
        self._started = False  # whether the host was requested to start it
        self._at_work = False  # whether the host has started it
        self._retries_before = 0  # of Java tasks that were restarted
        self._retries_of_last_range = 0  # of the present one, as of its last range
        self._unsettled = False  # whether a range may have been delivered that is not acknowledged
        self._passwords: list[str] = []
        self._host: PluginHost = self.connector.host

    def start(self, props: Props) -> None:
        """Start the Java task, and wait for it. Raises PluginError for what it throws, ConnectError if it cannot work here.

        If it delivers exactly once it starts with its first poll: it must read its offsets after older tasks are fenced off.
        """
        why = _NEEDS_METADATA.get(self.connector.plugin_name)
        if why:
            raise ConnectError(why)
        self._props = props
        if not self.context.exactly_once:
            self._begin()
            while not self._await_start() and not self.context.stopping.is_set():
                pass

    def as_kafka_task(self) -> HostedTask:
        """The task run by Kafka Connect's own classes instead."""
        return JavaTask.of(self.connector)(self.context)

    def convert_by(self, conversion: Conversion) -> None:
        """Take the converters that make the bytes of the records."""
        self._conversion = conversion

    def partitions(self) -> list[SourcePartition]:
        """None: the Java task itself asks for the offsets that it continues from."""
        return []

    def poll(self, spark: SparkSession, stored: StoredOffsets) -> Poll | None:
        """The next range; None if there is none for 30 s, or if the task stops.

        Raises PluginError for an exception of the task.
        """
        if self._unsettled and self.context.exactly_once:
            self._restart_java_task()
        self._begin()
        if not self._await_start():
            return None
        wait_ms = 0 if self.context.stopping.is_set() else _POLL_MS  # who sets it calls `wake_up` then
        with hiding(self._passwords):
            cut = self._host.ask("task.cut", id=self._id, most=BATCH, travels=self.connector.host.in_executors, wait=wait_ms)
        self._retries_of_last_range = cut["retries"]
        if cut["to"] == cut["from"]:
            return None
        self._to, self._unsettled = cut["to"], True
        offsets = [(json.loads(partition), json.loads(offset)) for partition, offset in cut["offsets"]]
        summary = f"records {cut['from']} to {cut['to'] - 1} of task {self.context.id}"
        progress = Progress([(p, o) for p, o in offsets if p is not None], frozenset(cut["topics"]), summary)
        return Poll(self._frame(spark, cut), self._record(), progress, destination=_same)

    def committed(self, progress: Progress) -> None:
        """Tell the task that the range is written."""
        self._unsettled = False
        self._host.ask("task.acknowledge", id=self._id, to=self._to)

    @property
    def retries(self) -> int:
        """How often its plugins were called again, after its last range, too, if it failed."""
        return self._retries_before + self._retries_now()

    def _retries_now(self) -> int:
        if self._started:
            try:
                return self._host.ask("task.retries", id=self._id)
            except Exception as error:  # it is being stopped, or its process or the session has ended
                log.debug("plugin.retries.unknown", cause=str(error))
        return self._retries_of_last_range

    def wake_up(self) -> None:
        """Wake up a poll that waits."""
        if self._started:
            with suppress(PluginError):  # it has been stopped meanwhile, or its process has ended: then nothing waits
                self._host.ask("task.wakeUp", id=self._id)

    def stop(self) -> None:
        """Stop the thread; if the task does not return from a poll in time, it is left behind and nothing of it counts."""
        if not self._started:
            return
        self._retries_of_last_range = self._retries_now()
        self._started = self._at_work = False
        try:
            self._host.ask("task.stop", id=self._id, wait=_STOP_MS)
        except PluginError as error:
            log.warning("plugin.stop.failed", plugin=self.connector.plugin_name, cause=f"{error.java_class}: {error}")
        finally:
            self._host.forget(self._id)
            self._host.release()

    def _await_start(self) -> bool:
        """Whether the Java task has started, after waiting a little. Raises PluginError."""
        if not self._at_work:
            with hiding(self._passwords):
                self._at_work = self._host.ask("task.awaitStart", id=self._id, wait=_START_WAIT_MS)
        return self._at_work

    def _restart_java_task(self) -> None:
        """Restart the Java task, so that it resumes at the stored offsets."""
        self.stop()
        self._id, self._unsettled = f"{self.context.id}@{uuid.uuid4().hex[:12]}", False
        self._retries_before, self._retries_of_last_range = self._retries_before + self._retries_of_last_range, 0

    def _begin(self) -> None:
        if self._started:
            return
        self._host = self.connector.host_for(self.context.connector, self._conversion.heap)
        self._started = True
        self._passwords = [*self.connector.passwords(self._props), *self._conversion.secrets]
        self._host.listen(self._id, HostListener(lambda: None, lambda _trace: None, self.context.stored))
        context = self.context
        with hiding(self._passwords):  # plugins show their settings in what they throw when they are configured
            self._host.ask(
                "task.start",
                id=self._id,
                name=context.connector,
                number=context.task,
                context=f"[{context.connector}|task-{context.task}] ",
                **{"class": self.connector.plugin_name},
                location=self.connector.location,
                props=dict(self._props),
                key=self._conversion.key,
                value=self._conversion.value,
                header=self._conversion.header,
                stages=self._conversion.stages,
                secrets=self._conversion.secrets,
                retry=self._conversion.retry or None,
                transactional=context.own_transactions,
            )

    def _frame(self, spark: SparkSession, cut: dict[str, Any]) -> Any:
        self._host.read_rows_here(self._id)
        reader = spark.read.format("io.headrace.PolledRecords").option("task", self._id)
        # Executors cannot ask this process: what they read comes with their Spark task (hence `travels`).
        carried = str(self.connector.host.in_executors).lower()
        return reader.option("from", cut["from"]).option("to", cut["to"]).option("carried", carried).load()

    def _record(self) -> RecordColumns:
        return RecordColumns(
            topic=F.col("topic"),
            key=F.col("key"),
            value=F.col("value"),
            headers=F.col("headers"),
            timestamp=F.timestamp_millis("timestamp"),
            partition=F.col("partition"),
            origin={"source partition": F.col("source_partition"), "source offset": F.col("source_offset")},
            failure=F.col("failure"),
        )
