"""How far a query has copied that writes without a pause, asked while it runs (`Marks.java`)."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headrace.kafka.groups import Partition
from headrace.spark.kafka import is_local, java_producer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_FLUSH_MS = 1000
_CLASS = "io.headrace.Marks"


@dataclass(frozen=True)
class Durable:
    """records: acknowledged since the query began; ends: by source partition, the offset before which all is acknowledged."""

    records: int
    ends: Mapping[Partition, int]


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

        return frame.where(f"headrace_mark({lit(self.run)}, topic, partition, offset)") if self.kept else frame

    def producer(self, settings: Mapping[str, str]) -> dict[str, str]:
        """The Java producer settings that have acknowledgements counted."""
        others = settings.get("interceptor.classes")
        return {**settings, "headrace.run": self.run, "interceptor.classes": ",".join(filter(None, [_CLASS, others]))}

    def durable(self, options: Mapping[str, str]) -> Durable | None:
        """What is acknowledged of all that has come by until now; None if the brokers do not say so within a second.

        options: of the sink that the query writes to. Raises what Java raises if Spark is gone.
        """
        with java_producer(self._spark, options) as producer:
            count, *lines = self._java.durable(self.run, producer, _FLUSH_MS).splitlines() or [""]
        parts = (line.split("\t") for line in lines)
        return Durable(int(count), {(topic, int(p)): int(end) for topic, p, end in parts}) if count else None

    def close(self) -> None:
        """The query is over."""
        if self.kept:
            self._java.close(self.run)
