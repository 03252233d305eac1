"""The runtime of a sub-topology in Spark's JVM (`jvm/java/io/headrace/streams`), and frames whose rows differ from batch to
batch.

A batch is planned once: its frames read RDDs that get the rows of the current batch from the runtime. Every such frame is
declared as partitioned by Kafka's partition, which no operator changes, so Spark plans no exchange, and the same job runs again.
"""

from __future__ import annotations

import itertools
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from headrace.errors import StreamsError
from headrace.spark.kafka import ONE_REQUEST
from headrace.streams.config import DEFAULT_ROCKSDB_MEMORY_MB, ROCKSDB_MEMORY_MB
from headrace.streams.engine.session import require_local

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_ROWS_AT_ONCE = 10_000  # of a range
_STORED = "p int, key binary, value binary"


@dataclass(frozen=True)
class Output:
    """Rows that a batch outputs, and their destination."""

    kind: str
    """`sink`, `store`, `version` (rows of a versioned store), `tick` (stream times), `due` (punctuations), `skip` (skipped
    records) or `show` (rows for functions in this process).
    """
    name: str
    """The name of the store, or of the operator of a stream time."""
    topic: str | None
    """The changelog of a store."""
    frame: DataFrame


@dataclass(frozen=True)
class StreamBatch:
    """One batch of a job."""

    program: Any
    """The job, as `TaskRuntime.program` gives it."""
    number: int
    partitions: Sequence[int]
    """The partitions with records."""
    commits: bool = False
    """Whether its results are part of a transaction."""


class RecordFailedError(StreamsError):
    """A record cannot be processed, or its results cannot be written."""

    def __init__(self, exception: str, text: str, trace: str) -> None:
        """exception: its class in Java; text: its message."""
        super().__init__(text.strip().partition("\n")[0])
        self.exception, self.text, self.trace = exception, text, trace

    @property
    def is_production_error(self) -> bool:
        """Whether a result cannot be written."""
        return self.exception.startswith("org.apache.kafka.")


class TaskRuntime:
    """Stores, consumers and producer of one sub-topology, and its batch."""

    def __init__(
        self,
        spark: SparkSession,
        partitions: int,
        consumer: Mapping[str, str],
        producer: Mapping[str, str],
        state_dir: str | None,
        limits: Mapping[str, int] | None = None,
    ) -> None:
        """partitions: the number of its topics' partitions; consumer, producer: Java settings; state_dir: for scratch files, else
        the system's; limits: by topic, its maximum record size in bytes.

        Raises ConfigError if tasks of Spark run elsewhere.
        """
        require_local(spark.sparkContext.master or "")
        jvm: Any = spark._jvm
        self.spark, self._jvm = spark, jvm
        self.partitions = range(partitions)
        self._pieces = jvm.io.headrace.streams.BatchPieces.fewest(partitions, spark.sparkContext.defaultParallelism)
        self._numbers = itertools.count()
        self._socket = ""
        self.following = False
        """Whether records are fetched ahead, from where the next batch begins."""
        self.volatile = False
        """Whether a plan has functions whose value Spark fixes when it plans, such as the present time."""
        if state_dir is not None:
            Path(state_dir).mkdir(parents=True, exist_ok=True)
        self._directory = tempfile.mkdtemp(prefix="headrace-streams-", dir=state_dir)
        context = spark.sparkContext._jsc.sc()  # type: ignore[union-attr]
        settings = {**ONE_REQUEST, **producer}
        self._java = jvm.io.headrace.streams.TaskRuntime(
            context, self._directory, _memory_bytes(spark), partitions, self._pieces, dict(consumer), settings
        )
        self._limits = dict(limits or {})
        self._stores, self._clocks = self._java.stores(), self._java.clocks()
        self.id: str = self._java.id()

    def input(self, name: str, schema: str, partition: str) -> DataFrame:
        """The records of an input in each batch. partition: the column with the number of the partition."""
        return self._frame(self._java.input(name), self._attributes(schema), partition)

    def scan(self, store: str) -> DataFrame:
        """All rows of a store: p, key, value."""
        return self._frame(self._java.scan(store), self._attributes(_STORED), "p")

    def compute_once(self, frame: DataFrame) -> DataFrame:
        """The frame, computed once in each batch; it has a column p."""
        execution = _execution(frame)
        rows = self._java.once(f"once-{next(self._numbers)}", self._rows(frame))
        return self._frame(rows, execution.analyzed().output(), "p")

    def program(self, outputs: Iterable[Output]) -> Any:
        """The job that computes outputs."""
        computed, session = list(outputs), cast(Any, self.spark._jsparkSession)
        rows = [self._rows(output.frame) for output in computed]
        parts = [[output.kind, output.name, output.topic] for output in computed]
        return self._java.program(session.sessionState().conf(), rows, parts)

    def create(self, store: str, *, persistent: bool, tail: int = 0) -> None:
        """Create a store, on disk or in memory. tail: the bytes behind the user's keys, which begin with a time."""
        self._stores.create(store, persistent, tail)

    def track_totals(self, index: str) -> None:
        """Maintain the totals of an index of sizes: rows and bytes."""
        self._stores.addUp(index)

    def clear(self, store: str) -> None:
        """Delete all rows of a store."""
        self._stores.clear(store)

    def size(self, store: str) -> int:
        """The estimated number of rows of a store."""
        return self._stores.size(store)

    def get(self, store: str, key: bytes) -> bytes | None:
        """The row of a key in any task: time and value."""
        row = self._java.get(store, key)
        return None if row is None else bytes(row)

    def between(self, store: str, partition: int, start: bytes, end: bytes | None) -> Iterator[tuple[bytes, bytes]]:
        """The rows of a task from a key to another one, exclusive (None: to its last), in order: key, then time and value."""
        prefix = partition.to_bytes(4, "big")
        begin, stop = prefix + start, (partition + 1).to_bytes(4, "big") if end is None else prefix + end
        while True:
            parts = _parts(bytes(self._java.range(store, begin, stop, _ROWS_AT_ONCE)))
            yield from ((key[4:], row) for key, row in zip(parts[::2], parts[1::2], strict=True))
            if len(parts) < 2 * _ROWS_AT_ONCE:
                return
            begin = parts[-2] + b"\0"

    def load(self, store: str, rows: DataFrame) -> None:
        """Put rows into a store, ordered for each key: p, key, value (NULL deletes), t."""
        self._java.load(store, _execution(rows.select("p", "key", "value", "t")).toRdd())

    def expire(self, store: str, partition: int, behind: int, limit: int) -> None:
        """Delete the rows of a task before a time, which is `behind` bytes before the end of the key."""
        self._stores.expire(store, partition, behind, limit)

    def delete_before(self, store: str, partition: int, limit: int) -> None:
        """Delete the rows of a task whose key begins with a number (8 bytes) below a limit."""
        self._stores.deleteBefore(store, partition, limit)

    def rows_read(self) -> int:
        """The number of store rows read so far."""
        return self._stores.rowsRead()

    def metrics(self) -> dict[str, float]:
        """The metrics of the runtime: store rows read, and bytes of RocksDB's cache and write buffers, which all sub-topologies
        of this process share.
        """
        return {"rows-read": self.rows_read(), "block-cache-usage": self._stores.memoryUsed()}

    def expire_versions(self, store: str, partition: int, limit: int) -> None:
        """Delete versions of a task that were replaced by another version of their key before a time."""
        self._stores.expireVersions(store, partition, limit)

    def follow(self, starts: Iterable[tuple[str, str, int, int]]) -> None:
        """Fetch records ahead of the batches. starts: input, topic, partition, offset."""
        self._java.follow(_lines(starts))
        self.following = True

    def stop_following(self) -> None:
        """The next batch begins elsewhere: `follow` has to be called again."""
        self.following = False

    def ends(self) -> dict[tuple[str, int], int] | None:
        """The end offsets of followed topics, as far as known; None if they are not followed (any more)."""
        lines = self._java.ends() if self.following else None
        self.following = lines is not None
        return None if lines is None else {(topic, int(p)): int(end) for topic, p, end in _values(lines)}

    def socket(self) -> str:
        """The path of the socket by which processors in Python workers reach the stores."""
        if not self._socket:
            self._socket = tempfile.mkdtemp(prefix="headrace-")
            self._java.serve(f"{self._socket}/s")  # the path of a socket has to be short
        return f"{self._socket}/s"

    def is_punctuation_due(self, nodes: Sequence[str]) -> bool:
        """Whether a wall-clock punctuation of processors is due, or one of them has not run yet."""
        due = self._clocks.due("\t".join(nodes))
        return 0 <= due <= self._clocks.now()

    def set_now(self, time_ms: int) -> None:
        """Set the wall-clock time of processors."""
        self._clocks.setNow(time_ms)

    def wait(self, timeout_s: float) -> bool:
        """Wait for records; whether there are any."""
        return self._java.waitForRecords(int(timeout_s * 1000))

    def fence(self, transactional_id: str) -> None:
        """Write in transactions from now on, and fence off other producers with this id."""
        self._java.fence(transactional_id)

    def commit(self, group: str, offsets: Mapping[tuple[str, int], tuple[int, str]]) -> None:
        """Commit the results of the batch together with the offsets of a group. After an error `fence` has to be called first."""
        self._java.commit(group, _lines((*partition, *committed) for partition, committed in offsets.items()))

    def may_be_committed(self) -> bool:
        """Whether the last `commit`, even if it failed, may have committed the transaction."""
        return self._java.mayBeCommitted()

    def can_write(self) -> bool:
        """Whether a failed batch has left no open transaction."""
        return self._java.canWrite()

    def set_stream_times(self, stream_times: Mapping[str, Mapping[int, int]]) -> None:
        """Set the stream times of operators and tasks."""
        self._clocks.clear()
        for node, times in stream_times.items():
            for partition, time in times.items():
                self._clocks.set(node, partition, time)

    def set_input(self, name: str, records: bytes) -> None:
        """Set the records of an input in this batch, instead of ranges, in the format of `RecordBytes.java`."""
        self._java.give(name, records)

    def run(self, batch: StreamBatch, ranges: Iterable[tuple[str, str, int, int, int]] = ()) -> None:
        """Compute a batch. Its results are acknowledged then, but not applied to stores yet.

        ranges: of inputs without `set_input`: input, topic, partition, first offset, and the one after the last. Raises
        RecordFailedError if a record failed and writes are deferred; Py4J's errors for everything else.
        """
        try:
            self._java.run(batch.program, batch.number, _lines(ranges), _lines([batch.partitions]))
        except Exception as error:
            if failure := list(self._java.failure()):
                raise RecordFailedError(*failure) from error
            raise

    def defer_writes(self) -> None:
        """Write nothing of a batch before all of it is computed, so that a batch with a failed record writes nothing."""
        self._java.beCareful(_lines(self._limits.items()))

    def update_limits(self, limits: Mapping[str, int]) -> bool:
        """Set the topics' current maximum record sizes; whether one of them has grown."""
        more = any(limit > self._limits.get(topic, limit) for topic, limit in limits.items())
        if more:
            self._limits = dict(limits)
            self.defer_writes()
        return more

    def set_dead_letter_cause(self, failure: RecordFailedError) -> None:
        """Set the error of the record that `dead_letters` writes next."""
        self._java.setLetter(failure.exception, failure.text, failure.trace)

    def written_offsets(self) -> dict[tuple[str, int], int]:
        """By partition, the offset after the last record that complete batches have written."""
        return {(topic, int(partition)): int(end) for topic, partition, end in _values(self._java.written())}

    def forget_topics(self, topics: Iterable[str]) -> None:
        """Forget the written offsets of deleted topics."""
        for topic in topics:
            self._java.forget(topic)

    def cancel(self) -> None:
        """Abort the running batch with an error, also while its transaction is being committed."""
        self._java.cancel(False)

    def cancel_at_once(self) -> None:
        """Abort the running batch without waiting for brokers: its transaction stays open until the next one begins."""
        self._java.cancel(True)

    def results_bytes(self) -> bytes:
        """The results of a batch without a broker, in the format of `RecordBytes.java`."""
        return bytes(self._java.heldBytes())

    def stream_times(self) -> list[tuple[str, int, int]]:
        """The stream times after the batch: operator, partition, time."""
        return [(node, int(partition), int(time)) for node, partition, time in _values(self._java.ticks())]

    def skipped(self) -> list[tuple[str, int, int, str]]:
        """Topic, partition and offset of the first skipped records; or, of expired records of a store, its name, the partition,
        the time, and the name.
        """
        return [(topic, int(partition), int(offset), store) for store, topic, partition, offset in _values(self._java.skipped())]

    def skipped_count(self) -> int:
        """The number of skipped records."""
        return self._java.skips()

    def apply(self) -> None:
        """Apply the changes of the batch to the stores, and its stream times."""
        self._java.apply()

    def changed_rows(self, store: str) -> int:
        """The number of rows of a store that the batch changed."""
        return self._java.changed(store)

    def end(self) -> None:
        """End the batch."""
        self._java.end()

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called: there is no state any more."""
        return not self._directory

    def close(self) -> None:
        """Close everything, and delete the state."""
        if self._directory:
            self._java.close()
            shutil.rmtree(self._directory, ignore_errors=True)
            if self._socket:
                shutil.rmtree(self._socket, ignore_errors=True)
            self._directory = ""

    def _attributes(self, schema: str) -> Any:
        sql = self._jvm.org.apache.spark.sql
        return sql.catalyst.types.DataTypeUtils.toAttributes(sql.types.StructType.fromDDL(schema))

    def _rows(self, frame: DataFrame) -> Any:
        execution, checks = _execution(frame), self._jvm.io.headrace.streams.PlanChecks
        self.volatile = self.volatile or checks.isVolatile(execution.analyzed())  # here, as what is computed once hides its plan
        if checks.movesRows(execution.executedPlan()):
            cause = RuntimeError(execution.executedPlan().toString())
            raise StreamsError("A plan moves rows between partitions, which no batch can repeat.") from cause
        return execution.toRdd()

    def _frame(self, rows: Any, attributes: Any, partition: str | None) -> DataFrame:
        from pyspark.sql import DataFrame

        jvm = self._jvm
        every = [attributes.apply(i) for i in range(attributes.size())]
        by = jvm.PythonUtils.toSeq([attribute for attribute in every if attribute.name() == partition])
        physical = jvm.org.apache.spark.sql.catalyst.plans.physical
        layout = physical.UnknownPartitioning(0) if partition is None else physical.HashPartitioning(by, self._pieces)
        none, session = jvm.scala.Option.empty(), self.spark._jsparkSession
        plan = jvm.org.apache.spark.sql.execution.LogicalRDD(
            attributes, rows, layout, jvm.PythonUtils.toSeq([]), False, none, session, none, none
        )
        dataset = getattr(getattr(jvm.org.apache.spark.sql.classic, "Dataset$"), "MODULE$")
        return DataFrame(dataset.ofRows(session, plan), self.spark)


def _parts(source: bytes) -> list[bytes]:
    """The parts of some bytes, each with its length in front."""
    parts, position = [], 0
    while position < len(source):
        begin = position + 4
        position = begin + int.from_bytes(source[position:begin], "big")
        parts.append(source[begin:position])
    return parts


def _lines(rows: Iterable[Iterable[object]]) -> str:
    """Values for Java as one text: a list would cost a Py4J call per element."""
    return "\n".join("\t".join(map(str, row)) for row in rows)


def _values(lines: str) -> list[list[str]]:
    """The values of such a text from Java."""
    return [line.split("\t") for line in lines.split("\n")] if lines else []


def _memory_bytes(spark: SparkSession) -> int:
    """The memory limit of RocksDB's cache and write buffers, in bytes."""
    return int(spark.conf.get(ROCKSDB_MEMORY_MB, None) or DEFAULT_ROCKSDB_MEMORY_MB) << 20


def _execution(frame: DataFrame) -> Any:
    """Spark's plans of a frame."""
    java: Any = frame._jdf
    return java.queryExecution()
