"""How far a query has copied that writes without a pause, asked while it runs (`Marks.java`)."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headrace.kafka.groups import Partition
from headrace.spark.kafka import is_local, java_producer
from headrace.spark.seen import BYTES, MILLIS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_FLUSH_MS = 1000
_CLASS = "io.headrace.Marks"


@dataclass(frozen=True)
class Ages:
    """Of so many records since this was asked last: how long after their timestamps they were seen, in ms."""

    records: int
    last: int
    least: int
    most: int
    sum: int


@dataclass(frozen=True)
class Read:
    """Of a source partition: everything before the offset `end` is acknowledged, so many records since the query began. bytes (of
    keys and values), and how old records were when they came by: since this was asked last.
    """

    end: int
    acknowledged: int
    bytes: int
    ages: Ages


@dataclass(frozen=True)
class Written:
    """Of a partition of the target: so many records are acknowledged since the query began. From record number `since` on (the
    first is 1), which has the offset `first`, nothing else was written between two; -1: its offset is not known. ages: when they
    were acknowledged, since this was asked last.
    """

    records: int
    since: int
    first: int
    ages: Ages

    def after(self, count: int) -> int | None:
        """Which offset the record after the first `count` ones has at least; None if that is not known."""
        known = self.since <= count <= self.records and self.first >= 0
        return self.first + count - self.since + 1 if known else None


@dataclass(frozen=True)
class Durable:
    """How far a query has come since it began, by partitions of the source and of the target."""

    read: Mapping[Partition, Read]
    written: Mapping[Partition, Written]

    @property
    def records(self) -> int:
        """How many are acknowledged."""
        return sum(one.records for one in self.written.values())

    @property
    def ends(self) -> dict[Partition, int]:
        """By source partition, the offset before which all is acknowledged."""
        return {partition: one.end for partition, one in self.read.items()}


class Marks:
    """The marks of one query. Only a session whose tasks run in this process leaves any."""

    def __init__(self, spark: SparkSession, name: str) -> None:
        """name: what the query is called, for people; it need not be unique."""
        self._spark, self.run = spark, f"{name}-{uuid.uuid4().hex[:8]}"
        self.kept = is_local(spark)
        """Whether there are any."""
        if self.kept:
            self._java.open(self.run)

    @property
    def _java(self) -> Any:
        jvm: Any = self._spark._jvm
        return jvm.io.headrace.Marks

    def of(self, frame: DataFrame) -> DataFrame:
        """The frame (columns of Spark's Kafka source), each of whose records leaves a mark when it comes by."""
        from headrace.values.sql import lit

        if not self.kept:
            return frame
        return frame.where(f"headrace_mark({lit(self.run)}, topic, partition, offset, {MILLIS}, {BYTES})")

    def producer(self, settings: Mapping[str, str]) -> dict[str, str]:
        """The Java producer settings that have acknowledgements counted."""
        others = settings.get("interceptor.classes")
        return {**settings, "headrace.run": self.run, "interceptor.classes": ",".join(filter(None, [_CLASS, others]))}

    def durable(self, options: Mapping[str, str]) -> Durable | None:
        """What is acknowledged of all that has come by until now; None if the brokers do not say so within a second.

        options: of the sink that the query writes to. Raises what Java raises if Spark is gone, or a record will not be written.
        """
        with java_producer(self._spark, options) as producer:
            return parse(self._java.durable(self.run, producer, _FLUSH_MS))

    def close(self) -> None:
        """The query is over."""
        if self.kept:
            self._java.forget(self.run)


def parse(told: str) -> Durable | None:
    """What `Marks.durable` tells, a line for each partition; None if it does not know."""
    read: dict[Partition, Read] = {}
    written: dict[Partition, Written] = {}
    lines = [line.split("\t") for line in told.splitlines()]
    for kind, topic, partition, first, second, third, *ages in lines[:-1]:
        known = (int(first), int(second), int(third), Ages(*map(int, ages)))
        if kind == "read":
            read[topic, int(partition)] = Read(*known)
        else:
            written[topic, int(partition)] = Written(*known)
    return Durable(read, written) if lines else None
