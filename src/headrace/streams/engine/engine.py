"""Runs all sub-topologies of an application, each in its own thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, TypeVar
from uuid import uuid4

import structlog

from headrace.config.client_options import client_value
from headrace.errors import HeadraceError, RetriableError, StreamsError
from headrace.kafka.active_standby import ActiveStandbyMember
from headrace.kafka.admin import Admin
from headrace.kafka.groups import Partition
from headrace.kafka.reset_policy import BY_DURATION, reset_ms
from headrace.registry.request_wait import WaitLimit, limit_wait
from headrace.retry import Backoff, retry_until
from headrace.spark import failure
from headrace.spark.destination_topic import fitting_batch_bytes, max_message_bytes
from headrace.streams.config import AT_LEAST_ONCE, StreamsConfig
from headrace.streams.engine.build import build, written_topics
from headrace.streams.engine.delivery import BatchWriter, write_failure
from headrace.streams.engine.repartition_purge import RepartitionTopicPurge
from headrace.streams.engine.runtime import StreamBatch, TaskRuntime
from headrace.streams.engine.source import KafkaTopics, Ranges, consumer
from headrace.streams.engine.store_reader import StoreReader
from headrace.streams.engine.store_table import StoreTable
from headrace.streams.engine.task import StreamTask
from headrace.streams.engine.transactions import TransactionPerBatch
from headrace.streams.nodes import SinkNode
from headrace.streams.stores import StateStore, StoreKind
from headrace.streams.topology import Topology
from headrace.values.times import now_ms

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

log = structlog.get_logger(__name__)

Value = TypeVar("Value")
_POLL_S, _LOCK_TIMEOUT_S, _GLOBALS_S = 0.5, 150.0, 0.1


class KafkaCluster:
    """The access of sub-topologies to Kafka, as long as this instance is the active one."""

    def __init__(self, spark: SparkSession, config: StreamsConfig, admin: Admin, instances: ActiveStandbyMember) -> None:
        """Uses the current generation: commits are refused once another instance has become active."""
        self._spark, self._config = spark, config
        self._topics = KafkaTopics(spark, config.consumer_settings)
        self._producer = config.producer_settings
        self._written: frozenset[str] = frozenset()
        self._limits: Mapping[str, int] = {}
        self._admin, self._instances = admin, instances
        self._generation: int | None = instances.generation
        self._committed_only = config.consumer_settings.get("isolation.level") == "read_committed"

    def runtime(self, partitions: int) -> TaskRuntime:
        """The runtime of a sub-topology in Spark's JVM."""
        config = self._config
        consumers = consumer(config.consumer_settings)
        return TaskRuntime(self._spark, partitions, consumers, self._producer, config.state_dir, self._limits)

    def limit_batch_size(self, topics: Iterable[str]) -> None:
        """Limit producer batches to what the existing topics accept. Raises KafkaFailure, RetriableError."""
        self._written = frozenset(topics)
        limits = self._read_limits()
        fitting = fitting_batch_bytes(limits, client_value("producer", self._producer, "batch.size"))
        self._producer = {**self._producer, "batch.size": str(fitting)}
        self._limits = limits or {}

    def limits(self) -> Mapping[str, int]:
        """The topics' current maximum record sizes in bytes, as far as readable. Raises KafkaFailure, RetriableError."""
        return self._read_limits() or {}

    def _read_limits(self) -> dict[str, int] | None:
        existing_topics = self._admin.topics()
        return max_message_bytes(self._admin, [topic for topic in self._written if topic in existing_topics])

    def ends(self, runtime: TaskRuntime, inputs: Mapping[str, Mapping[Partition, int]]) -> dict[Partition, int] | None:
        """The end offsets of a sub-topology's topics, which are fetched from these offsets on unless they are already."""
        if not runtime.following:
            runtime.follow((name, topic, p, offset) for name, starts in inputs.items() for (topic, p), offset in starts.items())
            return None
        return runtime.ends()

    def run(self, runtime: TaskRuntime, batch: StreamBatch, inputs: Mapping[str, Ranges]) -> None:
        """Compute a batch. Raises ConnectError, RetriableError where another try may help."""
        ranges = [
            (name, *partition, *offsets)
            for name, partition_offsets in inputs.items()
            for partition, offsets in partition_offsets.items()
        ]
        try:
            runtime.run(batch, ranges)
        except Exception as error:
            raise write_failure(error, inputs, self._config.skips_unwritable_results) from error

    def read(self, ranges: Ranges) -> DataFrame:
        """Records of ranges of offsets."""
        return self._topics.read(ranges)

    def write(self, rows: Iterable[DataFrame], number: int) -> None:
        """Write the results of a batch."""
        BatchWriter(self._producer).write(rows, number)

    def offsets(self, partitions: Iterable[Partition], policy: str) -> dict[Partition, int]:
        """Offsets by a reset policy."""
        requested = list(partitions)
        if policy.startswith(BY_DURATION) and requested:
            offsets = self._admin.partition_offsets(requested, now_ms() - reset_ms(policy))
            return {**offsets, **self.offsets([p for p, offset in offsets.items() if offset < 0], "latest")}
        return self._admin.partition_offsets(requested, policy, read_committed=self._committed_only) if requested else {}  # type: ignore[arg-type]

    def committed(self, partitions: Iterable[Partition]) -> dict[Partition, tuple[int, str]]:
        """Committed offsets with their metadata."""
        return self._instances.committed(partitions)

    def commit(self, offsets: Mapping[Partition, tuple[int, str]]) -> None:
        """Commit offsets with metadata, as the active instance."""
        self._instances.commit(offsets, self._generation)

    def transactions(self, subtopology: int) -> TransactionPerBatch | None:
        """The transactions of a sub-topology's batches; None if they are written at least once."""
        if self._config.processing_guarantee == AT_LEAST_ONCE:
            return None
        return TransactionPerBatch(self._config.application_id, subtopology, self._is_active, self._admin.partition_counts)

    def _is_active(self) -> bool:
        return self._generation is not None and self._generation == self._instances.generation

    def refuse_commits(self) -> None:
        """Refuse all commits from now on."""
        self._generation = None


class Engine:
    """The tasks of the active instance, from `start` to `stop`.

    failed: called once, on a task's thread, with the error that ended it.
    """

    def __init__(
        self, topology: Topology, config: StreamsConfig, cluster: KafkaCluster, admin: Admin, spark: SparkSession
    ) -> None:
        """Compile the topology. Raises StreamsError, TopologyError, ConfigError; KafkaFailure and RetriableError if the topics'
        record sizes cannot be read.
        """
        cluster.limit_batch_size(written_topics(topology, config))
        self.tasks, self.globals = build(topology, config, cluster, admin)
        self._running_tasks = len(self.tasks)
        self._cluster, self._jobs = cluster, spark.sparkContext
        self._tag = f"{config.application_id}-{uuid4().hex}"  # of the jobs of this engine
        self._poll_s, self._timeout_s = config.poll_ms / 1000, config.task_timeout_ms / 1000
        self._stopping, self._paused = threading.Event(), threading.Event()
        self._threads: list[threading.Thread] = []
        self._on_retry: Callable[[], None] = lambda: None
        self._locks = {task.subtopology: threading.Lock() for task in self.tasks}
        self._failure = threading.Lock()
        self._globals_due = 0.0  # when to update the global tables
        self._repartition_purge = RepartitionTopicPurge(topology, config, admin)

    def start(
        self, ready: Callable[[], None], failed: Callable[[BaseException], None], on_retry: Callable[[], None] = lambda: None
    ) -> None:
        """Restore and run every task. ready: called when all are restored; on_retry: called when a batch is retried."""
        self._on_retry = on_retry
        waiting = threading.Barrier(len(self.tasks), action=ready) if self.tasks else None
        for task in self.tasks:
            args = (task, waiting, failed)
            thread = threading.Thread(target=self._run_task, args=args, name=f"StreamTask-{task.subtopology}", daemon=True)
            self._threads.append(thread)
            thread.start()
        if waiting is None:
            ready()

    def stop(self, timeout_s: float, *, at_once: bool = False) -> bool:
        """Stop after the running batches, or `at_once` in the middle of them; whether all stopped in time."""
        self._stopping.set()
        deadline = time.monotonic() + timeout_s
        others = [thread for thread in self._threads if thread is not threading.current_thread()]
        while (alive := [thread for thread in others if thread.is_alive()]) and (left := deadline - time.monotonic()) > 0:
            if at_once:
                self._jobs.cancelJobsWithTag(self._tag)  # of restores
                for task in self.tasks:
                    task.state.runtime.cancel()
            alive[0].join(min(left, _POLL_S))
        return not alive

    def abandon(self) -> None:
        """Stop without waiting: batches that still run cannot commit any more."""
        self._stopping.set()
        self._cluster.refuse_commits()

    def use_recreated_topics(self, topics: frozenset[str], create: Callable[[], None]) -> set[str]:
        """Continue with deleted internal topics, once `create` has created them again; `refill_changelogs` has to follow.

        Nothing is read or written meanwhile: a batch that waits to write to one of them is cancelled, and run again. Returns the
        repartition topics that held records which nobody had read. Raises RetriableError while a batch does not come to its end,
        and what `create` raises; then nothing has changed here.
        """
        with self._all_locked(topics):
            written = [task.state.runtime.written_offsets() for task in self.tasks]
            unread = {topic for task in self.tasks for topic in task.positions.unread(topics, written)}
            create()
            begin = [task.positions.earliest_offsets(topics) for task in self.tasks]
            for task, offsets in zip(self.tasks, begin, strict=True):
                task.use_recreated_topics(topics, offsets)
        return unread

    def refill_changelogs(self) -> None:
        """Write the stores to those of their changelogs that are new since `use_recreated_topics`. May be called again if it
        fails.
        """
        if any(task.refill.is_due for task in self.tasks):
            with self._all_locked():
                for task in self.tasks:
                    task.refill_changelogs()

    def find_store(self, name: str) -> StateStore:
        """The definition of a store. Raises StreamsError for one that no operator has created."""
        return self._table_of(name)[2]

    @contextmanager
    def open_store(self, name: str) -> Iterator[StoreReader]:
        """A reader of a store, which no batch changes meanwhile. Raises StreamsError if it is closed."""
        task, table, _ = self._table_of(name)
        with self._locks[task.subtopology]:
            yield table.reader()

    def _table_of(self, name: str) -> tuple[StreamTask, StoreTable, StateStore]:
        for task in self.tasks:
            if name in task.state.tables:
                return task, task.state.tables[name], task.state.stores[name]
        for task in self.tasks:
            if name in task.state.global_tables:
                return task, task.state.global_tables[name], StateStore(name, StoreKind.KEY_VALUE)
        raise StreamsError(f"The store {name} holds nothing that can be read.")

    def metrics(self) -> dict[str, dict[str, float]]:
        """The metrics by sub-topology."""
        return {f"sub-topology-{task.subtopology}": dict(task.metrics) for task in self.tasks}

    def store_sizes(self) -> dict[str, dict[str, int]]:
        """The estimated number of rows of each store, by sub-topology."""
        sizes = {}
        for task in self.tasks:
            lock = self._locks[task.subtopology]  # else it may be closed meanwhile; a restore is not waited for
            if lock.acquire(timeout=_POLL_S):
                try:
                    sizes |= {} if self._stopping.is_set() else {f"sub-topology-{task.subtopology}": task.store_sizes()}
                finally:
                    lock.release()
        return sizes

    def pause(self) -> None:
        """Start no further batch."""
        self._paused.set()

    def resume(self) -> None:
        """Continue after `pause`."""
        self._paused.clear()

    @contextmanager
    def _all_locked(self, deleted_topics: frozenset[str] = frozenset()) -> Iterator[None]:
        """Hold the locks of all tasks, so that no batch runs.

        deleted_topics: batches whose producer would wait for them are cancelled: until `delivery.timeout.ms` where it writes to
        them, until `max.block.ms` where it commits offsets of them.
        """
        deadline = time.monotonic() + _LOCK_TIMEOUT_S
        with ExitStack() as locks:
            for task in self.tasks:
                lock = self._locks[task.subtopology]
                while not lock.acquire(timeout=_POLL_S):
                    if time.monotonic() > deadline:
                        raise RetriableError(f"A batch has not come to its end in {_LOCK_TIMEOUT_S:g} s.")
                    if deleted_topics & _topics_of_producer(task):
                        task.state.runtime.cancel_at_once()
                locks.callback(lock.release)
            yield

    def _run_task(self, task: StreamTask, waiting: threading.Barrier | None, failed: Callable[[BaseException], None]) -> None:
        number = task.subtopology
        self._jobs.addJobTag(self._tag)
        self._jobs.setInterruptOnCancel(True)
        try:
            with limit_wait(WaitLimit(self._stopping, partial(_log_schema_wait, number))):
                self._with_retries(task, task.recover)
                if waiting is not None:
                    waiting.wait()
                while not self._stopping.is_set():
                    if not self._run_batch(task):
                        self._wait_for_records(task)
            with self._locks[number]:
                task.commits.commit_done()
        except threading.BrokenBarrierError:
            return
        except BaseException as error:
            if waiting is not None:
                waiting.abort()
            with self._failure:
                first = not self._stopping.is_set()
                self._stopping.set()
            if first:  # outside of the lock, which the other threads need to end, and `failed` waits for them
                failed(_as_streams_error(error, number))
        finally:
            with self._locks[number]:
                task.state.runtime.close()
            with self._failure:
                self._running_tasks -= 1
                if not self._running_tasks:
                    for table in self.globals:
                        table.close()

    def _wait_for_records(self, task: StreamTask) -> None:
        """Wait for records, `poll.ms` at most."""
        runtime = task.state.runtime
        if self._paused.is_set() or not runtime.following:
            self._stopping.wait(self._poll_s)
        else:
            runtime.wait(self._poll_s)

    def _run_batch(self, task: StreamTask) -> bool:
        """Run one batch; whether there was one."""
        if self._paused.is_set():
            return False
        busy = self._with_retries(task, lambda: self._batch(task))
        self._repartition_purge.purge_if_due(task)
        return busy

    def _batch(self, task: StreamTask) -> bool:
        if time.monotonic() >= self._globals_due:
            self._globals_due = time.monotonic() + _GLOBALS_S
            for table in self.globals:
                table.update()
        return task.step()

    def _with_retries(self, task: StreamTask, action: Callable[[], Value]) -> Value:
        """Run the action with the task's lock, retried for `task.timeout.ms` after retriable errors."""
        backoff, reason = Backoff(0.1, 10.0), ""

        def alone(_left_s: float) -> Value:
            with self._locks[task.subtopology]:
                return action()

        def may_help(error: Exception) -> bool:
            nonlocal reason
            translated = failure.as_error(error, f"Sub-topology {task.subtopology}")
            reason = str(translated)
            return isinstance(translated, RetriableError) and not self._stopping.is_set()

        def wait(_pause_s: float) -> bool:
            log.warning("A batch is tried again: %s", reason, subtopology=task.subtopology)
            self._on_retry()
            return self._stopping.wait(backoff.failed())

        return retry_until(alone, self._timeout_s, backoff.first_s, may_help, wait)


def _topics_of_producer(task: StreamTask) -> set[str]:
    """The topics of a task's producer: those with fixed names that it writes to, and those whose offsets it commits."""
    fixed = (node.topic for node in task.plan.program.nodes if isinstance(node, SinkNode))
    sinks = {task.plan.source_reader.topics.full_name(topic) for topic in fixed if isinstance(topic, str)}
    read = set() if task.commits.transactions is None else {topic for topic, _ in task.positions.partitions}
    return sinks | read | {changelog.topic for changelog in task.state.logs.values()}


def _log_schema_wait(number: int, sentence: str | None) -> None:
    if sentence is not None:
        log.warning("A batch waits for schemas: %s", sentence, subtopology=number)


def _as_streams_error(error: BaseException, number: int) -> BaseException:
    if isinstance(error, HeadraceError):
        return error
    translated = failure.as_error(error, f"Sub-topology {number} ended")
    return StreamsError(str(translated)) if not isinstance(translated, StreamsError) else translated
