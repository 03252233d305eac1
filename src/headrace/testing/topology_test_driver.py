"""`TopologyTestDriver`: a topology on its own, without a broker, one record after the other, as Kafka's driver for tests does it.

The same operators run as in an application, on Spark, and state and internal topics are in memory. Every record is a batch of its
own, so that each gives the results that Kafka Streams gives without a cache; that takes some tenths of a second. `pipe_batch`
takes many at once, which gives one result per key like an application that has them in one batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from headrace.errors import ArgumentError, StreamsError
from headrace.record import HEADERS_TYPE
from headrace.streams import serde_values
from headrace.streams.config import StreamsConfig
from headrace.streams.durations import Duration, milliseconds
from headrace.streams.engine import formats
from headrace.streams.engine.build import assemble
from headrace.streams.engine.registry_formats import with_schema_lookup
from headrace.streams.internal_topics import derive
from headrace.streams.nodes import SinkNode
from headrace.streams.serdes import Serde
from headrace.streams.stores import StateStore, StoreKind
from headrace.streams.topology import Topology
from headrace.testing.topics_in_memory import Row, TopicsInMemory, as_bytes
from headrace.values.times import now_ms

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class TestRecord:
    """A record that a topology wrote."""

    __test__ = False  # not a test, whatever pytest thinks of the name

    key: Any
    """A value of Python, as `value` is."""
    value: Any
    timestamp: int
    """In ms."""
    headers: tuple[tuple[str, bytes | None], ...] = ()
    """Names and values."""


class TopologyTestDriver:
    """A topology with its state, from here to `close`, or to the end of a `with` block."""

    def __init__(
        self,
        topology: Topology,
        config: Mapping[str, Any] | None = None,
        spark: SparkSession | None = None,
        topics: TopicsInMemory | None = None,
        wall_clock_time: int | None = None,
    ) -> None:
        """Compile the topology. spark: a session, else the process's own; topics: those that an earlier driver left, from which
        state is restored; wall_clock_time: where the clock of processors begins, in ms.

        Raises StreamsError, TopologyError, ConfigError.
        """
        from headrace.streams.engine.session import session

        for source in topology.sources():
            if source.pattern is not None:
                raise StreamsError(
                    f"{source.name} reads the topics that match {source.pattern.pattern}, and the driver does not know which "
                    "there will be: read topics by their names in a test."
                )
        self.config = StreamsConfig({"application.id": "test", "bootstrap.servers": "nowhere:9092", **(config or {})})
        self._spark = session(self.config.spark_settings, spark)
        self.topics = topics or TopicsInMemory(self._spark)
        self.topics.spark = self._spark
        self._read: dict[str, int] = {}
        sources = {
            topic: 1 for source in topology.sources() for topic in source.topics if topic not in topology.repartition_topics
        }
        counts = {**sources, **dict.fromkeys(topology.global_topics, 1)}
        internal = {topic.name: topic.partitions for topic in derive(topology, self.config, counts.get, counts)}
        counts |= internal
        self._tasks, self._globals = assemble(topology, self.config, self.topics, counts)
        self._inputs = {topic for task in self._tasks for topic, _ in task.positions.partitions} | topology.global_topics
        sinks = {node.topic for node in topology.nodes.values() if isinstance(node, SinkNode) and isinstance(node.topic, str)}
        self._outputs = {*sinks, *internal, self.config.dead_letter_topic}
        self._now = now_ms() if wall_clock_time is None else wall_clock_time
        for task in self._tasks:
            task.state.runtime.set_now(self._now)
            task.recover()
        if any(task.plan.is_punctuation_due() for task in self._tasks):  # processors begin to work before the first record
            self._work()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Commit what has been done, and delete the state."""
        for task in self._tasks:
            task.commits.commit_done()
            task.state.runtime.close()
        for table in self._globals:
            table.close()

    def create_input_topic(self, topic: str, key_serde: Serde, value_serde: Serde) -> TestInputTopic:
        """A topic to pipe records into."""
        return TestInputTopic(self, topic, key_serde, value_serde)

    def create_output_topic(self, topic: str, key_serde: Serde, value_serde: Serde) -> TestOutputTopic:
        """A topic to read results from."""
        return TestOutputTopic(self, topic, key_serde, value_serde)

    def store(self, name: str) -> Any:
        """A state store by name, to be read as `KafkaStreams.store` gives it. Raises StreamsError if there is none."""
        from headrace.streams.queries import ReadOnlyStore

        for task in self._tasks:
            if (table := task.state.tables.get(name)) is not None:
                return ReadOnlyStore(task.state.stores[name], lambda: nullcontext(table.reader()))
            if (global_table := task.state.global_tables.get(name)) is not None:
                store = StateStore(name, StoreKind.KEY_VALUE)
                return ReadOnlyStore(store, lambda: nullcontext(global_table.reader()))
        raise StreamsError(f"There is no store {name} with a table in this topology.")

    def advance_wall_clock_time(self, advance: Duration) -> None:
        """Advance the wall-clock time of processors, and call the schedules that are due then."""
        self._now += milliseconds(advance, "advance")
        for task in self._tasks:
            task.state.runtime.set_now(self._now)
        self._work()

    def pipe(self, topic: str, rows: Iterable[tuple[bytes | None, bytes | None, int, Any]]) -> None:
        """Put records into a topic and let the topology do all that follows from them. Raises ArgumentError for a topic that it
        does not read.
        """
        if topic not in self._inputs:
            raise ArgumentError(f"Unknown topic: {topic}")
        for key, value, timestamp, headers in rows:
            self.topics.append(topic, key, value, timestamp, headers)
        for table in self._globals:
            table.update()
        self._work()

    def _work(self) -> None:
        while sum(task.step() for task in self._tasks):
            pass

    def read(self, topic: str) -> list[Row]:
        """What has come into a topic since the last call. Raises ArgumentError for one that nothing writes."""
        if topic not in self._outputs and topic not in self.topics.rows:
            raise ArgumentError(f"Unknown topic: {topic}")
        rows, begin = self.topics.rows.get(topic, []), self._read.get(topic, 0)
        self._read[topic] = len(rows)
        return rows[begin:]

    def encoded(self, serde: Serde, values: list[Any], topic: str, part: str) -> list[bytes | None]:
        """The bytes of values of Python, as keys or values (part) of a topic."""
        from pyspark.sql.types import StructField, StructType

        if serde_values.encodes_in_python(serde):
            return list(map(serde_values.encoder(serde), values))
        kind = formats.type_of(serde)
        frame = self._spark.createDataFrame([(value,) for value in values], StructType([StructField("x", kind)]))
        frame, failure = formats.written(frame, "x", part, serde, kind, topic, part)
        return [as_bytes(row[0]) for row in frame.select(failure).collect()]

    def decoded(self, serde: Serde, values: list[bytes | None], topic: str, part: str) -> list[Any]:
        """The values of bytes of a topic, as Python."""
        if serde_values.decodes_in_python(serde):
            return list(map(serde_values.decoder(serde, formats.type_of(serde)), values))
        given_rows = self._spark.createDataFrame(
            [(topic, value, None) for value in values], f"topic string, {part} binary, headers {HEADERS_TYPE}"
        )

        def rows() -> list[Any]:
            frame, value, _ = formats.read(given_rows, part, serde)
            return [row[0] for row in frame.select(value).collect()]

        return with_schema_lookup(rows)


class TestInputTopic:
    """Where records come from."""

    __test__ = False

    def __init__(self, driver: TopologyTestDriver, topic: str, key_serde: Serde, value_serde: Serde) -> None:
        self._driver, self._topic, self._serdes = driver, topic, (key_serde, value_serde)

    def pipe_input(self, key: Any, value: Any, timestamp: int | None = None) -> None:
        """One record; its time is now unless it is given, in ms."""
        self.pipe_list([(key, value, timestamp)])

    def pipe_list(self, records: Iterable[tuple[Any, ...]]) -> None:
        """Records as (key, value) or (key, value, timestamp), one after the other."""
        for row in self._rows(records):
            self._driver.pipe(self._topic, [row])

    def pipe_batch(self, records: Iterable[tuple[Any, ...]]) -> None:
        """The same in one batch."""
        self._driver.pipe(self._topic, self._rows(records))

    def _rows(self, records: Iterable[tuple[Any, ...]]) -> list[tuple[bytes | None, bytes | None, int, Any]]:
        batch = list(records)
        keys = self._driver.encoded(self._serdes[0], [record[0] for record in batch], self._topic, "key")
        values = self._driver.encoded(self._serdes[1], [record[1] for record in batch], self._topic, "value")
        now = now_ms()
        times = [record[2] if len(record) > 2 and record[2] is not None else now for record in batch]
        return [(key, value, at, None) for key, value, at in zip(keys, values, times, strict=True)]


class TestOutputTopic:
    """Where results go to."""

    __test__ = False

    def __init__(self, driver: TopologyTestDriver, topic: str, key_serde: Serde, value_serde: Serde) -> None:
        self._driver, self._topic, self._serdes = driver, topic, (key_serde, value_serde)

    def read_records(self) -> list[TestRecord]:
        """All records that have not been read yet."""
        rows = self._driver.read(self._topic)
        if not rows:
            return []
        keys = self._driver.decoded(self._serdes[0], [row[4] for row in rows], self._topic, "key")
        values = self._driver.decoded(self._serdes[1], [row[5] for row in rows], self._topic, "value")
        return [TestRecord(k, v, row[3], tuple(row[6] or ())) for k, v, row in zip(keys, values, rows, strict=True)]

    def read_key_values(self) -> list[tuple[Any, Any]]:
        """Key and value of all records that have not been read yet."""
        return [(record.key, record.value) for record in self.read_records()]
