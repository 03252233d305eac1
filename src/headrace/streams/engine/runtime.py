"""What a sub-topology has in Spark's JVM (`jvm/java/io/headrace/streams`), and frames whose rows differ from batch to batch.

A batch is planned once: its frames read RDDs that ask the runtime for the rows of the batch that runs now. Every such frame says
that its rows lie by the partition of Kafka, which no operator changes, so Spark plans no exchange, and the same job runs again.
"""

from __future__ import annotations

import itertools
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace.errors import StreamsError
from headrace.spark.kafka import ONE_REQUEST, is_local
from headrace.streams.engine.columns import HEADERS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_HELD = f"topic string, partition int, key binary, value binary, headers {HEADERS}, t bigint, numbered boolean"
_STORED = "p int, key binary, value binary"
# What means something else each time: Spark decides it when it plans.
_VOLATILE = re.compile(r"\b(current_timestamp|current_date|now|localtimestamp|current_time|rand|randn|uuid|shuffle|randstr)\(")


@dataclass(frozen=True)
class Output:
    """Rows that a batch puts out, and what becomes of them."""

    kind: str
    """`sink`, `store`, `tick` (stream times), `skip` (records that no serde reads) or `show`."""
    name: str
    """Of a store, or of the operator whose stream time it is."""
    topic: str | None
    """The changelog of a store."""
    frame: DataFrame


class TaskRuntime:
    """Stores, consumers and producer of one sub-topology, and its batch."""

    def __init__(
        self,
        spark: SparkSession,
        partitions: int,
        consumer: Mapping[str, str],
        producer: Mapping[str, str],
        state_dir: str | None,
    ) -> None:
        """partitions: how many its topics have; consumer, producer: Java settings; state_dir: scratch, else the system's.

        Raises StreamsError if tasks of Spark run elsewhere.
        """
        if not is_local(spark):
            raise StreamsError(
                "A streams application keeps its state in its own process: spark.master has to be local[…], not "
                f"{spark.sparkContext.master}."
            )
        jvm: Any = spark._jvm
        self.spark, self._jvm = spark, jvm
        self._pieces = jvm.io.headrace.streams.TaskRuntime.pieces(partitions, spark.sparkContext.defaultParallelism)
        self._numbers = itertools.count()
        self.holds = False
        if state_dir is not None:
            Path(state_dir).mkdir(parents=True, exist_ok=True)
        self._directory = tempfile.mkdtemp(prefix="headrace-streams-", dir=state_dir)
        context = spark.sparkContext._jsc.sc()  # type: ignore[union-attr]
        settings = {**ONE_REQUEST, **producer}
        self._java = jvm.io.headrace.streams.TaskRuntime(context, self._directory, self._pieces, dict(consumer), settings)
        self.id: str = self._java.id()

    def input(self, name: str, schema: str, partition: str) -> DataFrame:
        """The records of an input, of each batch. partition: the column with the number of the partition."""
        return self._frame(self._java.input(name), self._attributes(schema), partition)

    def scan(self, store: str) -> DataFrame:
        """All rows of a store: p, key, value."""
        return self._frame(self._java.scan(store), self._attributes(_STORED), "p")

    def once(self, frame: DataFrame) -> DataFrame:
        """The frame, computed once in each batch; it has a column p."""
        execution = _execution(frame)
        rows = self._java.once(f"once-{next(self._numbers)}", self._rows(frame))
        return self._frame(rows, execution.analyzed().output(), "p")

    def program(self, outputs: Iterable[Output]) -> Any:
        """The job that computes outputs."""
        given = list(outputs)
        return self._java.program([self._rows(one.frame) for one in given], [[one.kind, one.name, one.topic] for one in given])

    def create(self, store: str) -> None:
        """Make a store."""
        self._java.createStore(store)

    def clear(self, store: str) -> None:
        """Throw away what a store holds."""
        self._java.clearStore(store)

    def size(self, store: str) -> int:
        """About how many rows a store has."""
        return self._java.storeSize(store)

    def load(self, store: str, rows: DataFrame) -> None:
        """Put rows into a store, those of a key in their order: p, key, value (NULL deletes), t."""
        self._java.load(store, _execution(rows.select("p", "key", "value", "t")).toRdd())

    def expire(self, store: str, partition: int, behind: int, limit: int) -> None:
        """Delete the rows of a task before a time, which stands `behind` bytes before the end of the key."""
        self._java.expire(store, partition, behind, limit)

    def set_clocks(self, clocks: Mapping[str, Mapping[int, int]]) -> None:
        """Tell operators the stream times of their tasks."""
        self._java.clearClocks()
        for node, times in clocks.items():
            for partition, time in times.items():
                self._java.setClock(node, partition, time)

    def begin(self, number: int, *, holds: bool) -> None:
        """Begin a batch. holds: its records stay here, for `held`, instead of being sent."""
        self.holds = holds
        self._java.begin(number, holds)

    def range(self, name: str, topic: str, partition: int, start: int, end: int) -> None:
        """A range of offsets that an input has in this batch."""
        self._java.range(name, topic, partition, start, end)

    def give(self, name: str, records: bytes) -> None:
        """The records that an input has in this batch, in place of ranges: in the form of `RecordBytes.java`."""
        self._java.give(name, records)

    def run(self, program: Any, partitions: Sequence[int]) -> None:
        """Run the batch over some partitions. What it makes is acknowledged then, and in no store yet."""
        self._java.run(program, list(partitions))

    def held(self) -> list[DataFrame]:
        """What a batch made that `holds`: no frame if that is nothing."""
        if not self._java.heldCount():
            return []
        return [self._frame(self._java.heldRows(), self._attributes(_HELD), None)]

    def held_bytes(self) -> bytes:
        """The same in the form of `RecordBytes.java`."""
        return bytes(self._java.heldBytes())

    def ticks(self) -> list[tuple[str, int, int]]:
        """The stream times that the batch has come to: operator, partition, time."""
        found = list(self._java.ticks())
        return list(zip(found[::3], found[1::3], found[2::3], strict=True))

    def skipped(self) -> list[tuple[str, int, int]]:
        """Topic, partition and offset of the first records that were left out."""
        rows = [text.split("\t") for text in self._java.skipped()]
        return [(topic, int(partition), int(offset)) for topic, partition, offset in rows]

    def apply(self) -> None:
        """Take the changes of the batch into the stores."""
        self._java.apply()

    def changed(self, store: str) -> int:
        """How many rows the batch changed in a store."""
        return self._java.changed(store)

    def end(self) -> None:
        """The batch is over."""
        self._java.end()

    def close(self) -> None:
        """Close everything, and delete the state."""
        if self._directory:
            self._java.close()
            shutil.rmtree(self._directory, ignore_errors=True)
            self._directory = ""

    def _attributes(self, schema: str) -> Any:
        return _execution(self.spark.createDataFrame([], schema)).analyzed().output()

    def _rows(self, frame: DataFrame) -> Any:
        execution = _execution(frame)
        plan = execution.executedPlan().toString()
        if "Exchange" in plan:
            raise StreamsError(f"A plan moves rows between partitions, which no batch can repeat:\n{plan}")
        return execution.toRdd()

    def _frame(self, rows: Any, attributes: Any, partition: str | None) -> DataFrame:
        from pyspark.sql import DataFrame

        jvm = self._jvm
        every = [attributes.apply(i) for i in range(attributes.size())]
        by = jvm.PythonUtils.toSeq([one for one in every if one.name() == partition])
        physical = jvm.org.apache.spark.sql.catalyst.plans.physical
        layout = physical.UnknownPartitioning(0) if partition is None else physical.HashPartitioning(by, self._pieces)
        none, session = jvm.scala.Option.empty(), self.spark._jsparkSession
        plan = jvm.org.apache.spark.sql.execution.LogicalRDD(
            attributes, rows, layout, jvm.PythonUtils.toSeq([]), False, none, session, none, none
        )
        dataset = getattr(getattr(jvm.org.apache.spark.sql.classic, "Dataset$"), "MODULE$")
        return DataFrame(dataset.ofRows(session, plan), self.spark)


def is_volatile(frames: Iterable[DataFrame]) -> bool:
    """Whether frames use functions whose value Spark decides when it plans, such as the present time."""
    return any(_VOLATILE.search(_execution(frame).analyzed().toString()) for frame in frames)


def _execution(frame: DataFrame) -> Any:
    """Spark's plans of a frame."""
    java: Any = frame._jdf
    return java.queryExecution()
