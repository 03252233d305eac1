"""A sink task's chain: from Kafka's bytes to the records of the sink."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from headrace.connectors.sink import COLUMNS
from headrace.converters.base import Writers
from headrace.kafka.groups import Partition
from headrace.record import RecordColumns
from headrace.runtime.chain import Steps, TaskChain, stamped
from headrace.runtime.failed_records import stop_at_failure
from headrace.runtime.record_counts import RecordCounts
from headrace.runtime.sink.plan import SinkPlan
from headrace.runtime.tolerance import report
from headrace.transforms.chain import INPUT, Readers
from headrace.values.scope import filter_here
from headrace.values.sql import lit

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_LETTER = ("topic", "key", "value", "headers", "partition")


def sink_steps(plan: SinkPlan, writers: Writers) -> Steps:
    """The steps of a sink task."""
    converters = plan.converters
    reading = Readers(converters.key, converters.value, converters.header)
    return Steps(plan.connector, plan.task, reading, plan.stages, writers, plan.tolerance, sink=True)


def sink_record(frame: DataFrame) -> RecordColumns:
    """The record columns of a frame of Kafka records, read by Spark or by a lane."""
    return RecordColumns(
        topic=frame["topic"],
        key=frame["key"],
        value=frame["value"],
        headers=frame["headers"],
        timestamp=frame["timestamp"],
        partition=frame["partition"],
        offset=frame["offset"],
        origin={part: frame[part] for part in ("topic", "partition", "offset")},
    )


class SinkChain(TaskChain):
    """From the frame of Spark's Kafka source to `SinkBatch.frame`."""

    def __init__(self, plan: SinkPlan, writers: Writers, frame: DataFrame, counts: RecordCounts) -> None:
        """frame: of `headrace.spark.kafka.read_stream`; counts: its records count as read in it."""
        self.counts = counts
        super().__init__(sink_steps(plan, writers), sink_record(frame))

    @property
    def fails(self) -> bool:
        """Whether a record can fail at all."""
        return self.compiled().fails

    @staticmethod
    def within(incoming: DataFrame, ranges: Mapping[Partition, tuple[int, int]]) -> DataFrame:
        """The records of these ranges of offsets."""
        conditions = (
            f"(in_topic = {lit(topic)} AND in_partition = {partition} AND in_offset >= {start} AND in_offset < {end})"
            for (topic, partition), (start, end) in ranges.items()
        )
        return filter_here(incoming, " OR ".join(conditions))

    def transformed(self, incoming: DataFrame) -> DataFrame:
        """All columns after the chain; `records` and `letters` select from them."""
        return self.compiled().apply(incoming, [*INPUT, *self._origin])

    def records(self, transformed: DataFrame) -> DataFrame:
        """The records that have not failed, for the sink.

        With tolerance none, reading the frame fails at the first failed record (`headrace.runtime.failed_records`), as a sink
        may read the frame in any order and more than once.
        """
        frame = transformed
        if self.fails:
            tolerates = self._steps.tolerance.all
            frame = filter_here(frame, "failure IS NULL") if tolerates else stop_at_failure(frame, self._report())
        sources = {"offset": "in_offset", "original_topic": "in_topic", "original_partition": "in_partition"}
        return frame.selectExpr(*(f"{sources.get(name, name)} AS {name}" for name in COLUMNS))

    def letters(self, transformed: DataFrame) -> DataFrame:
        """All records as dead letters: columns of Spark's Kafka writer, the origin's, `in_timestamp` and `failure`."""
        letter = self.letter()
        letter |= {"headers": stamped(letter["headers"], "in_timestamp")}
        return transformed.selectExpr(
            *(f"{letter[name]} AS {name}" for name in _LETTER), *self._origin, "in_timestamp", "failure"
        )

    def _report(self) -> str:
        return report(self._origin, self._steps.tolerance.messages, sink=True)
